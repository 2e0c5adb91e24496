"""The simulated benchmark of capabilities and propensities, and the layout that joins them."""

import numpy as np
import pandas as pd
import pytest

import measurement_layouts as ml
from measurement_layouts.linking import band, logistic
from measurement_layouts.scenarios.propensities import benchmark
from measurement_layouts.scenarios.propensities.dimensions import DIMENSIONS
from measurement_layouts.validation.prediction.cross_validate import cross_validate
from measurement_layouts.validation.prediction.layouts import FittedLayout
from measurement_layouts.validation.prediction.splits import Items


@pytest.fixture(scope="module")
def cohort():
    return benchmark.benchmark_cohort()


def test_half_of_the_items_have_no_answer():
    items = benchmark.benchmark_items()
    assert items["answerable"].value_counts().to_dict() == {0: 180, 1: 180}
    lower, upper = (items[f"{end}[ultracrepidarianism]"] for end in ("lower", "upper"))
    answerable = items["answerable"] == 1
    assert set(upper[answerable]) == set(-lower[~answerable]) == {3}
    assert set(-lower[answerable]) == set(upper[~answerable]) == {1, 2, 3}
    demands = items[[f"demand[{name}]" for name in benchmark.DEMANDS]]
    assert demands.shape == (360, 18)
    assert set(demands.to_numpy().ravel()) == {0, 1, 2, 3, 4, 5}


def test_one_band_matters():
    """An incited subject loses much by it; one near 0 loses little by the three others together."""
    items = benchmark.benchmark_items()

    def inside(theta, name):
        return band(theta, *(items[f"{end}[{name}]"].to_numpy() for end in ("lower", "upper")))

    others = [inside(0.3, name) for name in DIMENSIONS if name != "ultracrepidarianism"]
    assert np.prod(others, axis=0).mean() > 0.9
    withholds, pronounces = (inside(theta, "ultracrepidarianism") for theta in (-1.5, 1.5))
    answerable = items["answerable"] == 1
    assert withholds[answerable].mean() < 0.75 < 0.9 < withholds[~answerable].mean()
    assert pronounces[~answerable].mean() < 0.75 < 0.9 < pronounces[answerable].mean()


def test_ultracrepidarianism_is_as_published(cohort):
    theta = cohort.profiles["propensity[ultracrepidarianism]"]
    assert cohort.evaluation.subjects == list(theta.index)
    assert len(theta) == 30
    assert theta[["4o -2", "4o 0", "4o +2", "Qwen 3-4B-T +2"]].tolist() == [-1.55, 0.22, 0.84, 1.55]
    same = cohort.profiles.drop(columns=theta.name).iloc[:3]
    assert same.nunique().eq(1).all()  # an incitement changes nothing else


def test_outcomes_follow_capabilities_and_bands(cohort):
    """The layout, written out by hand; its mean success to 4 standard errors of 360 outcomes."""
    items, profiles = cohort.evaluation.items, cohort.profiles
    chance = np.ones((30, 360))
    for name in benchmark.DEMANDS:
        margin = profiles[[f"capability[{name}]"]].to_numpy() - items[f"demand[{name}]"].to_numpy()
        chance *= logistic(margin, 2)
    for name in DIMENSIONS:
        ends = (items[f"{end}[{name}]"].to_numpy() for end in ("lower", "upper"))
        chance *= band(profiles[[f"propensity[{name}]"]].to_numpy(), *ends)
    noise = profiles[["noise"]].to_numpy()
    chance = (1 - noise) * chance + noise / 2
    se = np.sqrt((chance * (1 - chance)).mean(axis=1) / 360)
    rates = cohort.evaluation.success_rates().to_numpy()
    assert (np.abs(rates - chance.mean(axis=1)) < 4 * se).all()
    shuffled = chance.mean(axis=1)[np.random.default_rng(1).permutation(30)]
    assert not (np.abs(rates - shuffled) < 4 * se).all()  # twin: profiles of others


def test_the_cohort_is_deterministic(cohort):
    again, other = (benchmark.benchmark_cohort(seed) for seed in (1, 2))
    pd.testing.assert_frame_equal(cohort.evaluation.successes, again.evaluation.successes)
    assert not cohort.evaluation.successes.equals(other.evaluation.successes)
    names = {latent.name for latent in benchmark.joined_layout().latents}
    assert {column.partition("[")[0] for column in cohort.profiles.columns} == names


def test_the_assessors_see_what_those_of_the_paper_see(cohort):
    sizes = [len(columns) for columns in benchmark.FEATURES.values()]
    assert sizes == [18, 20, 26]
    for columns in benchmark.FEATURES.values():
        assert set(columns) <= set(cohort.evaluation.items.columns) - {"answerable"}


@pytest.mark.slow
def test_the_layout_predicts_what_the_forest_predicts_and_says_why(cohort):
    """Subjects of one model; the profile names the propensity that the incitement moved."""
    chosen = cohort.evaluation.select(subjects=["4o -2", "4o 0", "4o +2"])
    layout = benchmark.joined_layout()
    sets = dict(list(benchmark.FEATURES.items())[1:2])
    sampling = {"draws": 200, "tune": 300, "chains": 2}
    methods = sets | {"layout": FittedLayout(layout, **sampling)}
    found = cross_validate(methods, chosen, split=Items(folds=3), progressbar=False)
    gain = found.differences()
    assert gain.loc["layout", "auroc_high"] > 0
    assert gain.loc["layout", "brier_low"] < 0
    fit = ml.fit(layout, chosen, reruns=0, seed=1, progressbar=False, **sampling)
    profiles = fit.profiles()
    place = (profiles["node"] == "propensity") & (profiles["label"] == "ultracrepidarianism")
    found = profiles[place].set_index("subject")
    truth = cohort.profiles.loc[found.index, "propensity[ultracrepidarianism]"]
    assert ((found["mean"] - truth).abs() < 3 * found["sd"]).all()
    assert found.loc["4o -2", "high"] < found.loc["4o +2", "low"]


@pytest.mark.slow
def test_forests_that_know_the_propensity_predict_better(cohort):
    """The first verdict on assessors, on a third of the subjects and half of the folds."""
    chosen = cohort.evaluation.select(subjects=cohort.evaluation.subjects[::3])
    base, one, _ = benchmark.FEATURES
    methods = {name: benchmark.FEATURES[name] for name in (base, one)}
    found = cross_validate(methods, chosen, split=Items(folds=5), seed=1, progressbar=False)
    assert found.differences().loc[one, "auroc_low"] > 0
