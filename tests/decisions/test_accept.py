"""Items accepted at a required success: exact posteriors, brute force, and held-out shares."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from helpers.coins import PASSED
from scipy.stats import beta

import measurement_layouts as ml
from measurement_layouts.decisions.accept import NOT_CLAIMABLE
from measurement_layouts.validation.prediction.assessor import point_forecast


def interval_forecast(mean, low):
    """Make a forecast of one subject from means and lower ends."""
    found = point_forecast(np.array([mean]), ["Ann"], [f"i{place}" for place in range(len(mean))])
    return ml.Forecast(found.data.assign(low=(("subject", "item"), np.array([low]))), 0.9)


def outcomes_of(rows, subjects=("Ann",)):
    names = [f"i{place}" for place in range(len(rows[0]))]
    wide = pd.DataFrame(rows, list(subjects), names)
    return ml.Evaluation.from_wide(wide, pd.DataFrame(index=names))


@pytest.mark.parametrize("confidence", [0.6, 0.8, 0.95])
def test_a_lower_end_accepts_with_the_exact_probability(coins, confidence):
    """Of a Beta posterior, an item is accepted just where P(p >= s) >= c."""
    forecast = coins.forecast(pd.DataFrame(index=["new"]), prob=2 * confidence - 1)
    for success in (0.6, 0.7, 0.8, 0.85, 0.88, 0.92, 0.95):
        accepted = ml.decisions.accept(forecast, success).table.set_index("subject")["accepted"]
        for name, (won, lost) in PASSED.items():
            exact = beta.sf(success, 1 + won, 1 + lost)
            if abs(exact - confidence) > 0.03:  # six Monte Carlo errors of 8,000 draws
                assert accepted[name] == (exact >= confidence)


def test_the_mean_accepts_other_items():
    """Twin: whoever takes the mean for the lower end accepts what is not sure."""
    forecast = interval_forecast([0.95, 0.93, 0.5], [0.91, 0.6, 0.2])
    cautious = ml.decisions.accept(forecast, 0.9)
    daring = ml.decisions.accept(forecast, 0.9, cautious=False)
    assert cautious.table["accepted"].tolist() == [True, False, False]
    assert daring.table["accepted"].tolist() == [True, True, False]
    assert (cautious.rule, daring.rule) == (
        "the lower end of the interval of the items each is at least 0.9",
        "the mean of the items each is at least 0.9",
    )


def test_together_is_the_largest_set_by_brute_force():
    rng = np.random.default_rng(4)
    for _ in range(20):
        mean = rng.uniform(0.3, 1, 8)
        forecast = interval_forecast(mean, np.full(8, np.nan))
        found = ml.decisions.accept(forecast, 0.8, together=True).table["accepted"].to_numpy()
        sizes = [
            size
            for size in range(1, 9)
            if any(mean[list(part)].mean() >= 0.8 for part in combinations(range(8), size))
        ]
        assert found.sum() == max(sizes, default=0)
        assert not found.any() or mean[found].mean() >= 0.8


def test_shares_are_held_against_outcomes():
    mean = np.repeat([0.95, 0.2], [60, 40])
    rows = [[1] * 57 + [0] * 3 + [0] * 40, [1] * 40 + [0] * 20 + [0] * 40]
    forecast = point_forecast(np.array([mean, mean]), ["Ann", "Bob"], [f"i{k}" for k in range(100)])
    accepted = ml.decisions.accept(forecast, 0.9)
    found = accepted.check(outcomes_of(rows, ["Ann", "Bob"]))
    assert found["accepted"].tolist() == [60, 60]
    assert found["coverage"].tolist() == [0.6, 0.6]
    assert found["share"].tolist() == pytest.approx([0.95, 2 / 3])
    assert found["verdict"].tolist() == ["holds", "fails"]
    assert found.loc["Ann", "low"] == pytest.approx(beta.ppf(0.05, 57, 4))
    assert found.loc["Ann", "high"] == pytest.approx(beta.ppf(0.95, 58, 3))
    few = accepted.check(outcomes_of(rows, ["Ann", "Bob"]), fewest=61)
    assert few["verdict"].tolist() == [NOT_CLAIMABLE] * 2
    assert accepted.subjects.loc["Ann"].tolist() == [100, 60, 0.6, pytest.approx(0.95)]


def test_a_share_just_below_is_within_error():
    forecast = point_forecast(np.full((1, 100), 0.95), ["Ann"], [f"i{k}" for k in range(100)])
    found = ml.decisions.accept(forecast, 0.9).check(outcomes_of([[1] * 88 + [0] * 12]))
    assert found["verdict"].tolist() == ["within error"]


@pytest.mark.trust("promises", "accepted items succeed as often as required")
def test_of_calibrated_forecasts_accepted_items_succeed_often_enough():
    """Simulation with known truth: log-odds with a common error that the interval knows of."""
    rng = np.random.default_rng(8)
    subjects, items, sd = 400, 100, 0.7
    centre = rng.normal(1, 2, (subjects, items))
    shift = sd * rng.normal(size=(subjects, 1))
    low = 1 / (1 + np.exp(-(centre - 1.645 * sd)))
    truth = 1 / (1 + np.exp(-(centre + shift)))
    names = [f"s{k}" for k in range(subjects)], [f"i{k}" for k in range(items)]
    forecast = point_forecast(1 / (1 + np.exp(-centre)), *names)
    cells = ("subject", "item")
    forecast = ml.Forecast(forecast.data.assign(low=(cells, low)), 0.9)
    for together in (False, True):
        chosen = ml.decisions.accept(forecast, 0.9, together=together).table["accepted"]
        chosen = chosen.to_numpy().reshape(subjects, items)
        there = chosen.any(axis=1)
        mean = np.where(chosen, truth, 0).sum(axis=1)[there] / chosen.sum(axis=1)[there]
        assert (mean >= 0.9).mean() >= 0.95 - 3 * np.sqrt(0.05 * 0.95 / there.sum())
    daring = ml.decisions.accept(forecast, 0.9, cautious=False, together=True).table["accepted"]
    daring = daring.to_numpy().reshape(subjects, items)
    mean = np.where(daring, truth, 0).sum(axis=1) / np.maximum(daring.sum(axis=1), 1)
    assert (mean[daring.any(axis=1)] >= 0.9).mean() < 0.8, "twin: means know of no common error"


def test_steps_of_outcomes_are_refused():
    frame = pd.DataFrame({"outcome": ["grade"]})
    data = point_forecast(np.array([[0.5]]), ["Ann"], ["i0 grade >= 1"]).data
    graded = ml.Forecast(data, 0.9, frame)
    vars(graded)["rows"] = type("Rows", (), {"outcome": ["grade"]})()
    with pytest.raises(ml.DataError, match="step of grade"):
        ml.decisions.accept(graded)


@pytest.mark.parametrize("success", [0, 1, "most", True])
def test_a_success_that_is_no_share_is_refused(success):
    with pytest.raises(ml.FitError, match="success="):
        ml.decisions.accept(point_forecast(np.array([[0.5]]), ["Ann"], ["i0"]), success)


def test_forecasts_of_trained_cells_are_not_accepted():
    """A baseline's forecast of what it learnt from is NaN."""
    forecast = point_forecast(np.array([[np.nan, 0.99]]), ["Ann"], ["i0", "i1"])
    for together in (False, True):
        chosen = ml.decisions.accept(forecast, 0.9, together=together).table["accepted"]
        assert chosen.tolist() == [False, True]
    assert isinstance(forecast.data, xr.Dataset)
