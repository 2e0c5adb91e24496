"""Simulated outcomes: as often as expected, pulled towards the subject's own mean failure."""

import numpy as np
import pandas as pd
import pytest
from helpers import hand_written, small_layouts
from scipy import stats

import measurement_layouts as ml
from measurement_layouts import DataError, FitError
from measurement_layouts.inference.model.features import read_features
from measurement_layouts.inference.simulate import draw_outcomes, expected_success, simulate
from measurement_layouts.linking import mean_failure, mixture


@pytest.fixture
def profiles():
    return small_layouts.profiles()


def expected(layout, items, profiles):
    return expected_success(layout, read_features(layout, items), profiles, len(items))


def test_expected_success_is_the_formula_by_hand(animal_ai, items, profiles):
    """With the mean failure that solves its own equation, to the 1e-12 it is solved to."""
    for row, (_, profile) in zip(
        expected(animal_ai, items, profiles), profiles.iterrows(), strict=True
    ):
        by_hand = hand_written.animal_ai_success(items, profile, 1 - row.mean())
        assert np.abs(row - by_hand).max() < 1e-11


@pytest.mark.parametrize("noise", [0.0, 0.3, 0.999, 1.0])
def test_the_mean_failure_in_closed_form(noise):
    """A sure thing with noise: f = n (1 - p) and p = 1 - n + n f, so p = 1 / (1 + n)."""
    layout = ml.Layout(
        "lapses", ml.Success("done", mixture(1.0, by=ml.Noise("noise"), toward=mean_failure))
    )
    found = expected_success(layout, {}, pd.DataFrame({"noise": [noise]}), items=3)
    assert found.shape == (1, 3)
    assert found == pytest.approx(1 / (1 + noise), abs=1e-11)


def test_frequencies_are_as_expected(animal_ai, items, profiles):
    """20,000 trials per cell, 72 cells: the sum of squared binomial errors is chi-squared.

    The normal approximation holds where 10 successes and failures are expected; p = 1e-4.
    """
    trials = 20_000
    counts = simulate(animal_ai, items, profiles, seed=11, trials=trials)
    p = expected(animal_ai, items, profiles)
    usable = trials * np.minimum(p, 1 - p) > 10
    assert usable.sum() > 60

    def statistic(p):
        errors = counts.successes.to_numpy() - trials * p
        return (errors**2 / (trials * p * (1 - p)))[usable].sum()

    limit = stats.chi2.isf(1e-4, usable.sum())
    assert statistic(p) < limit
    assert statistic(p**1.05) > limit  # twins that must fail: a little less everywhere,
    assert statistic(p[::-1]) > limit  # and the profiles of other subjects
    assert (counts.trials == trials).all(axis=None)


def test_labelled_profiles(rng):
    layout = small_layouts.labelled()
    items = pd.DataFrame(rng.uniform(0, 5, (4, 2)), columns=["demand[AS]", "demand[CEc]"])
    people = pd.DataFrame({"ability[CEc]": [1.0, 5.0], "ability[AS]": [2.0, 0.0]}, ["Ann", "Bob"])
    margin = people[["ability[AS]", "ability[CEc]"]].to_numpy()[:, None] - items.to_numpy()
    exact = np.prod(1 / (1 + np.exp(-margin)), axis=2)
    assert np.abs(expected(layout, items, people) - exact).max() < 1e-12


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        (1.5, r"noiseLevel lies in \[0,"),
        (np.nan, "noiseLevel lies in .* have"),
        ("low", "noiseLevel lies in .* have"),
    ],
)
def test_profiles_outside_the_range(animal_ai, items, profiles, cell, message):
    profiles["noiseLevel"] = profiles["noiseLevel"].astype(object)
    profiles.loc["Bob", "noiseLevel"] = cell
    with pytest.raises(DataError, match=message):
        simulate(animal_ai, items, profiles, seed=1)


def test_bad_input(animal_ai, items, profiles):
    with pytest.raises(DataError, match="the profiles have no column noiseLevel; the columns are"):
        simulate(animal_ai, items, profiles.drop(columns="noiseLevel"), seed=1)
    with pytest.raises(DataError, match="profiles: this is a dict; give a pandas DataFrame"):
        simulate(animal_ai, items, profiles.to_dict(), seed=1)
    with pytest.raises(
        DataError, match=r"profiles: the subject name\(s\) Ann occur more than once"
    ):
        simulate(animal_ai, items, profiles.iloc[[0, 0]], seed=1)
    with pytest.raises(DataError, match="XPos: the items have no column"):
        simulate(animal_ai, items.drop(columns="XPos"), profiles, seed=1)
    for option in ({"seed": -1}, {"seed": "x"}, {"seed": 1, "trials": 0}):
        with pytest.raises(FitError, match="give a whole number of at least"):
            simulate(animal_ai, items, profiles, **option)


def test_items_and_outcomes_of_one_seed_have_nothing_in_common():
    """A coin's outcomes from the seed of the numbers that its items show; twin: the same stream."""
    demand = ml.MetaFeature("shown", low=0, high=1)
    even = ml.Success("heads", ml.Capability("p", low=0, high=1) + 0 * demand)
    numbers = np.random.default_rng(1).random(2000)
    items = pd.DataFrame({"shown": numbers}, index=map(str, range(2000)))
    truth = pd.DataFrame({"p": [0.5]}, index=["Ann"])

    def together(outcomes):
        return abs(np.corrcoef(numbers, outcomes.successes.loc["Ann"])[0, 1])

    layout, limit = ml.Layout("coin", even), 4 / np.sqrt(2000)  # standard errors of a correlation
    assert together(ml.simulate(layout, items, truth, seed=1)) < limit
    assert together(draw_outcomes(layout, items, truth, np.random.default_rng(1))) > 0.8
