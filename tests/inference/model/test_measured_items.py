"""Measured demands from data to fits, forecasts, loo and refusals."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy.special import expit
from scipy.stats import binom

import measurement_layouts as ml
from measurement_layouts import DataError, FitError, LayoutError
from measurement_layouts.evaluations.measured import measured_columns
from measurement_layouts.inference.forecasts.likelihood import Attempted, log_likelihood
from measurement_layouts.inference.model.features import read_features
from measurement_layouts.linking import logistic, product
from measurement_layouts.validation import criticise, loo

KINDS, LEVELS = ("reading", "reasoning"), (0, 1, 2)
SHORT = {"draws": 100, "tune": 150, "chains": 2, "seed": 1, "reruns": 0, "progressbar": False}
PROFILES = pd.DataFrame(
    {"ability[reading]": [1.5, 2.0, 0.5], "ability[reasoning]": [1.0, 1.0, 2.5]},
    index=["Ann", "Bob", "Cyd"],
)


def layout():
    ability = ml.Capability("ability", low=-1, high=4, unit="level", labels=KINDS)
    demand = ml.Measured("demand", levels=LEVELS, unit="level", labels=KINDS)
    each = ml.Derived("each", logistic(ability - demand, slope=2))
    return ml.Layout("exam", ml.Success("right", product(each, over="dimension")))


def demands(count=40, seed=3):
    chances = np.random.default_rng(seed).dirichlet([0.5] * 3, (count, 2))
    names = [f"q{number}" for number in range(count)]
    coordinates = {"item": names, "dimension": list(KINDS), "level": list(LEVELS)}
    return xr.DataArray(chances, coordinates, name="demand")


def success(given, able):
    """Probabilities of success by levels, and their weights: (items, 3, 3)."""
    weights = given.values[:, 0, :, None] * given.values[:, 1, None, :]
    levels = np.array(LEVELS)
    parts = [expit(2 * (one - levels)) for one in able]
    return parts[0][:, None] * parts[1][None, :], weights


@pytest.fixture(scope="module")
def study():
    """Ann and Bob tried each item once, Cyd four times."""
    columns = measured_columns(demands())
    once = ml.simulate(layout(), columns, PROFILES[:2], seed=1)
    often = ml.simulate(layout(), columns, PROFILES[2:], seed=2, trials=4)
    evaluation = ml.Evaluation(
        once.items,
        pd.concat([once.successes, often.successes]),
        pd.concat([once.trials, often.trials]),
    )
    return evaluation, ml.fit(layout(), evaluation, **SHORT)


def test_a_forecast_is_the_mean_over_the_levels(study):
    evaluation, fit = study
    new = evaluation.items[:5].rename("new-{}".format)
    forecast = fit.forecast(new, subjects=["Ann"])
    draws = fit.posterior["ability"].sel(subject="Ann").values.reshape(-1, 2)
    means = np.zeros(5)
    for able in draws:
        right, weights = success(demands()[:5], able)
        means += (right * weights).sum(axis=(1, 2)) / len(draws)
    np.testing.assert_allclose(forecast.data["mean"].to_numpy()[0], means, atol=1e-6)


def test_derived_nodes_are_means_too(study):
    evaluation, fit = study
    found = {
        name: fit.derive(name, evaluation.items[:4]).sel(subject="Ann").mean(("chain", "draw"))
        for name in ("each", "right")
    }
    draws = fit.posterior["ability"].sel(subject="Ann").values.reshape(-1, 2)
    parts = expit(2 * (draws[:, None, :, None] - np.array(LEVELS)))  # (draws, 1, label, level)
    each = (parts * demands().values[:4]).sum(axis=-1)
    np.testing.assert_allclose(found["each"], each.mean(axis=0), atol=1e-9)
    np.testing.assert_allclose(found["right"], each.prod(axis=-1).mean(axis=0), atol=1e-9)


@pytest.mark.parametrize("who", ["Ann", "Cyd"])
def test_log_likelihood_averages_the_counts(study, who):
    """Of one trial and of four: the probability of what happened, averaged over the levels."""
    _, fit = study
    row = fit.subjects.index(who)
    items = Attempted.of(fit, row)
    draws = fit.posterior["ability"].sel(subject=who).values
    for places, values in log_likelihood(fit, row, items):
        right, weights = success(demands()[places], draws[1, 7])
        counts = items.successes[places, None, None], items.trials[places, None, None]
        exact = np.log((weights * binom.pmf(*counts, right)).sum(axis=(1, 2)))
        np.testing.assert_allclose(values[:, 1, 7], exact, rtol=1e-9)
    assert np.isfinite(loo(fit).elpd_i).all()


def test_to_pymc_has_the_form_of_the_subjects_trials(study):
    evaluation, _ = study
    once, often = (ml.to_pymc(layout(), evaluation, who) for who in ("Ann", "Cyd"))
    assert type(once["right"].owner.op).__name__ == "BinomialRV"
    assert type(often["right"].owner.op).__name__ != "BinomialRV"


def test_simulated_trials_share_their_level():
    """Ratio of variances, 4,000 cells: sqrt(2 / 4000) times two or so is its standard error."""
    chances = np.tile([0.5, 0.0, 0.5], (4000, 1))
    given = xr.DataArray(chances, {"item": np.arange(4000), "level": list(LEVELS)}, name="hard")
    able = ml.Capability("able", low=-1, high=4)
    outcome = logistic(able - ml.Measured("hard", levels=LEVELS), slope=3)
    who = pd.DataFrame({"able": [1.0]}, index=["Ann"])
    exam = ml.Layout("exam", ml.Success("right", outcome))
    found = ml.simulate(exam, measured_columns(given), who, seed=1, trials=10)
    rates, expected = expit([3.0, -3.0]), 0.5
    variance = 10 * expected * (1 - expected) + 90 * rates.var()
    assert abs(found.successes.to_numpy().var() / variance - 1) < 0.06


def test_what_takes_trials_as_independent_refuses_several(study):
    evaluation, fit = study
    assert criticise(fit, evaluation, subjects=["Ann", "Bob"]) is not None
    with pytest.raises(FitError, match="demand is measured in layout 'exam': all trials"):
        criticise(fit, evaluation)
    with pytest.raises(FitError, match="explain: demand of layout 'exam' is measured"):
        fit.explain("q0", "Ann")


def test_items_without_probabilities_are_refused(study):
    evaluation, _ = study
    bare = pd.DataFrame(index=["a", "b"])
    answers = ml.Evaluation.from_wide(pd.DataFrame([[1, 0]], ["Ann"], ["a", "b"]), bare)
    with pytest.raises(DataError, match=r"demand is measured.*demand 0\[reading\].*with_measured"):
        ml.fit(layout(), answers, **SHORT)
    broken = evaluation.items.copy()
    broken.loc["q3", "demand 1[reasoning]"] += 0.2
    with pytest.raises(DataError, match=r"do not add up to 1 in 1 cell.*q3 \(demand\[reasoning\]"):
        read_features(layout(), broken)


# --- what a layout cannot hold -------------------------------------------------------------------


def measured(**changes):
    return ml.Measured("hard", **{"levels": (0, 1, 2)} | changes)


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: measured(levels=()), "hard:"),
        (lambda: measured(levels=(1, 1)), "hard:"),
        (lambda: ml.Graded("grade", logistic(ml.Bias("b") - measured())), "grade:"),
        (
            lambda: ml.Layout(
                "x",
                ml.Success("ok", logistic(ml.Bias("b") - measured() + ml.Unseen("part", 0.0, 1.0))),
            ),
            "hard:",
        ),
    ],
)
def test_layouts_that_cannot_be(make, told):
    with pytest.raises(LayoutError, match=told):
        make()


def test_a_joint_layout_is_refused():
    """With a population, in a product and beside an ease per item; what it names is accepted."""
    spread = ml.Spread("spread")
    skill = ml.Capability("skill", prior=ml.Prior("Normal", mu=0, sigma=spread))
    ease = ml.Bias("ease", per="item", prior=ml.Prior("ZeroSumNormal", sigma=ml.Spread("eases")))
    for right in (
        logistic(skill - measured()),
        logistic(ml.Bias("b") + ease - measured()) * logistic(ml.Capability("c", low=0, high=1)),
        product(
            logistic(
                ml.Capability("d", labels=("x", "y"), prior=skill.prior)
                - measured(labels=("x", "y"))
            ),
            over="dimension",
        ),
    ):
        with pytest.raises(LayoutError, match=r"hard: it is measured, .*MetaFeature.*per='item'"):
            ml.Layout("x", ml.Success("ok", right))
    instead = ml.MetaFeature("hard", low=0, high=2)
    assert ml.Layout("x", ml.Success("ok", logistic(skill + ease - instead))).joint


def test_a_written_layout_is_read_again():
    made = layout()
    written = made.to_dict()
    assert [node["name"] for node in written["nodes"]] == ["ability", "demand", "each", "right"]
    again = ml.Layout.from_dict(written)
    assert again.fingerprint == made.fingerprint
    assert again.meta_features == made.meta_features
