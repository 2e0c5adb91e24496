"""Curves of success over properties."""

import numpy as np
import pandas as pd
import pytest

import measurement_layouts as ml
from measurement_layouts.linking import band
from measurement_layouts.reports.curves import Curves


def test_a_curve_averages_forecasts_over_the_items(fitted, evaluation):
    """With draws so few that all are used, and 40 items, the mean is that of the forecasts."""
    curves = {curve.column.name: curve for curve in Curves(fitted, 0.9).of(0)}
    for name, value in (("difficulty", 3.0), ("shift", 1)):
        drawn = curves[name].forecast.set_index("value")["mean"]
        moved = fitted.forecast(evaluation.items.assign(**{name: value}), subjects=["Ann"])
        np.testing.assert_allclose(drawn[value], moved.data["mean"].mean(), rtol=1e-12)


def test_observed_rates_and_expectations_add_up(fitted, evaluation):
    forecast = fitted.forecast(evaluation.items, subjects=["Ann"]).data["mean"].to_numpy().ravel()
    for curve in Curves(fitted, 0.9).of(0):
        seen = curve.observed
        assert seen["trials"].sum() == 40
        total = evaluation.successes.loc["Ann"].sum()
        np.testing.assert_allclose(seen["rate"] @ seen["trials"], total, rtol=1e-12)
        np.testing.assert_allclose(seen["expected"] @ seen["trials"], forecast.sum(), rtol=1e-12)
        assert (seen["low"] <= seen["rate"]).all()
        assert (seen["rate"] <= seen["high"]).all()


@pytest.fixture(scope="module")
def banded():
    rng = np.random.default_rng(2)
    leaning = ml.Propensity("leaning", low=-3, high=3)
    low, high = (ml.MetaFeature(name, low=-3, high=np.inf) for name in ("low", "high"))
    layout = ml.Layout("bands", ml.Success("right", band(leaning, low, high)))
    lows = rng.uniform(-3, 0, 12)
    items = pd.DataFrame({"low": lows, "high": np.where(np.arange(12) < 3, np.inf, lows + 2)})
    outcomes = pd.DataFrame(rng.integers(0, 2, (1, 12)), ["Ann"], items.index)
    known = ml.Evaluation.from_wide(outcomes, items)
    return ml.fit(layout, known, method="grid", draws=40, chains=2, seed=1, progressbar=False)


def test_an_end_of_a_band_moves_no_curve_by_itself(banded):
    low, high = Curves(banded, 0.9).of(0)
    assert low.forecast is None
    assert low.observed["trials"].sum() == 12
    assert high.observed["trials"].sum() == 9  # infinite ends have no place on the axis


def test_some_items_stand_for_all_of_them(many_items, layout):
    """Of 400 items 40 are averaged over; the curve is that of all to a hundredth."""
    known = ml.Evaluation.from_wide(
        pd.DataFrame(1, ["Ann"], many_items.index).assign(**{many_items.index[0]: 0}), many_items
    )
    fit = ml.fit(layout, known, method="grid", draws=40, chains=2, seed=1, progressbar=False)
    curve = Curves(fit, 0.9).of(0)[1].forecast.set_index("value")["mean"]
    every = fit.forecast(many_items.assign(shift=1)).data["mean"].mean()
    assert abs(curve[1] - every) < 0.01


@pytest.fixture
def many_items():
    rng = np.random.default_rng(3)
    columns = {"difficulty": rng.beta(1, 3, 400) * 6, "shift": rng.choice([-1, 0, 1], 400)}
    return pd.DataFrame(columns).rename(index=lambda number: f"item-{number}")
