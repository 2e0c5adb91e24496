"""Joint posteriors by the default call: against quadrature, in simulations, and a reference."""

import numpy as np
import pandas as pd
import pytest
from helpers import joint_references as references
from helpers.real_folders import study
from scipy.stats import kstest

import measurement_layouts as ml

SIMULATIONS = 100


@pytest.fixture(scope="module", params=[(3, 300, 1), (10, 300, 7)], ids=str)
def cohort(request):
    """A cohort, its default fit, and its posterior by quadrature."""
    outcomes = references.drawn(*request.param[:2], False, request.param[2])
    evaluation = references.evaluation(*outcomes)
    fit = ml.fit(references.layout(False), evaluation, seed=1, progressbar=False)
    return outcomes, fit, references.Quadrature(*outcomes)


def test_mean_spread_and_differences_are_those_of_quadrature(cohort):
    """Within four Monte Carlo errors; a truncated and latticed sampler is far off."""
    outcomes, fit, exact = cohort
    assert set(fit.diagnostics()["status"]) <= {"ok", "few draws", "few divergences"}
    count = len(fit.subjects)

    def distances(draws):
        return [
            abs(value - exact.summary()[name][0]) / error
            for name, (value, error) in references.summary(draws, count).items()
        ]

    assert max(distances(references.quantities(fit))) < 4
    twin = references.truncated_and_latticed(*outcomes, np.random.default_rng(1))
    twin = {name: values.reshape(4, -1) for name, values in twin.items()}
    assert max(distances(twin)) > 10


def test_a_new_subject_is_forecast_as_quadrature_says(cohort):
    _, fit, exact = cohort
    items = pd.DataFrame(index=["i0"])
    data = fit.forecast(items, subjects=pd.DataFrame(index=["new"])).data
    interval = np.array([data["low"].item(), data["high"].item()])
    errors = 0.08, 0.01  # four Monte Carlo errors of each end, of three subjects
    assert (np.abs(interval - exact.of_a_new_subject()) < errors).all()


def test_two_equal_subjects_are_not_tied():
    successes = np.array([[6], [6], [1], [9]])
    evaluation = references.evaluation(successes, np.full((4, 1), 12))
    fit = ml.fit(references.layout(False), evaluation, draws=500, seed=1, progressbar=False)
    apart = references.quantities(fit)["difference of two"]
    assert not (apart == 0).any()
    error = 0.5 / np.sqrt(references.effective(apart))
    assert abs((apart > 0).mean() - 0.5) < 4 * error


@pytest.mark.slow
def test_true_values_have_uniform_ranks():
    """Ten subjects of 300 trials: the ranks of a truncated and latticed sampler are not uniform."""
    ranks = references.ranks(10, 300, SIMULATIONS, 3, references.fitted)
    assert min(kstest(values, "uniform").pvalue for values in ranks.values()) > 0.001
    twin = references.ranks(10, 300, 2 * SIMULATIONS, 3, references.truncated_and_latticed)
    assert min(kstest(values, "uniform").pvalue for values in twin.values()) < 1e-4


@pytest.mark.slow
def test_the_reference_of_a_1pl_is_found():
    """Means and sds of 501 values; the mean of the abilities trades with all difficulties."""
    folder = study("inference_gym_1pl", "answers.csv", "truth.csv")
    values, status = references.of_one_parameter(folder, seed=1)
    assert status == "ok"
    assert values[["mean_distance", "sd_distance"]].to_numpy().max() < 4.5
    assert values.loc["mean", "effective"] > 2000
