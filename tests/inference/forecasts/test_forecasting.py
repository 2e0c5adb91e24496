"""Forecasts: the mean over draws of a formula written by hand, and flags of what was trained on.

Tolerance 1e-12: means over 300 draws of probabilities, each rounded to about 1e-16.
"""

import numpy as np
import pandas as pd
import pytest
from helpers import hand_written, small_layouts

import measurement_layouts as ml
from measurement_layouts import DataError, FitError

ROUNDING = 1e-12


def by_hand(fit, items, subject):
    """Success probabilities (draws, items), a draw at a time."""
    own = fit.posterior.sel(subject=subject).stack(sample=("chain", "draw"))
    failure = float(fit.constants["meanFailure"].sel(subject=subject))
    return np.stack(
        [
            hand_written.animal_ai_success(
                items, {name: values[k] for name, values in profile.items()}, failure
            )
            for profile in [{name: own[name].to_numpy() for name in hand_written.ANIMAL_AI}]
            for k in range(own.sizes["sample"])
        ]
    )


def test_means_and_intervals(fitted, new_items):
    forecast = fitted.forecast(new_items, prob=0.8)
    for subject in fitted.subjects:
        exact = by_hand(fitted, new_items, subject)
        ours = forecast.data.sel(subject=subject)
        assert np.abs(ours["mean"] - exact.mean(axis=0)).max() < ROUNDING
        low, high = np.quantile(exact, [0.1, 0.9], axis=0)
        assert np.abs(ours["low"] - low).max() < ROUNDING
        assert np.abs(ours["high"] - high).max() < ROUNDING


def test_the_mean_failure_of_the_training_outcomes_travels_along(fitted, cohort, new_items):
    """The pull of the noise does not change with the items to be forecast."""
    whole = fitted.forecast(new_items).data["mean"]
    one = fitted.forecast(new_items.iloc[[2]]).data["mean"]
    assert np.abs(whole.isel(item=2) - one.isel(item=0)).max() < ROUNDING
    for subject, rate in cohort.success_rates().items():
        assert fitted.constants["meanFailure"].sel(subject=subject).item() == 1 - rate


def test_labelled_layouts(rng):
    layout = small_layouts.labelled()
    items = pd.DataFrame(rng.uniform(0, 5, (4, 2)), columns=["demand[CEc]", "demand[AS]"])
    outcomes = pd.DataFrame([[1, 0, 1, 0]], index=["Ann"])
    draws = rng.uniform(0, 5, (1, 2, 25, 2))
    fit = small_layouts.crafted(
        layout, ml.Evaluation.from_wide(outcomes, items), {"ability": draws}
    )
    demands = items[["demand[AS]", "demand[CEc]"]].to_numpy()
    margin = draws.reshape(50, 1, 2) - demands
    exact = np.prod(1 / (1 + np.exp(-margin)), axis=2).mean(axis=0)
    assert np.abs(fit.forecast(items).data["mean"].to_numpy()[0] - exact).max() < ROUNDING


def test_without_meta_features():
    """Every item is the same coin."""
    evaluation = small_layouts.counts([1, 0], [1, 1])
    draws = np.array([[[0.2, 0.9, 0.7, 0.4]]])
    fit = small_layouts.crafted(small_layouts.coin(), evaluation, {"p": draws})
    data = fit.forecast(pd.DataFrame(index=["x", "y", "z"]), prob=0.5).data
    for name, value in {"mean": 0.55, "low": 0.35, "high": 0.75}.items():
        assert np.abs(data[name].to_numpy() - value).max() < ROUNDING
    assert data.sizes == {"subject": 1, "item": 3}


def test_intervals_hold_their_mass_of_the_draws(fitted, new_items):
    """Of 300 draws, 90 % lie in a 90 % interval, but for one at each end."""
    forecast = fitted.forecast(new_items, prob=0.9).data
    exact = by_hand(fitted, new_items, "Bob")
    own = forecast.sel(subject="Bob")
    held = (exact >= own["low"].to_numpy()) & (exact <= own["high"].to_numpy())
    assert np.abs(held.mean(axis=0) - 0.9).max() <= 2 / 300


# --- items ---------------------------------------------------------------------------------------


def test_outside_the_range_is_forecast_and_flagged(fitted, new_items):
    new_items.loc["new-2", "rewardSize"] = 3.0
    new_items.loc["new-5", "rewardDistance"] = -9.0
    forecast = fitted.forecast(new_items)
    flagged = forecast.data["extrapolated"].to_series()
    assert flagged[flagged].index.tolist() == ["new-2", "new-5"]
    assert np.isfinite(forecast.data["mean"]).all()
    exact = by_hand(fitted, new_items, "Ann").mean(axis=0)
    assert np.abs(forecast.data["mean"].sel(subject="Ann") - exact).max() < ROUNDING
    assert "7 items, 2 of them outside a declared range, " in repr(forecast)


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("rewardSize", np.nan, "rewardSize is missing"),
        ("rewardSize", np.inf, "rewardSize is infinite on 1"),
        ("rewardSize", "big", "rewardSize is not a number"),
    ],
)
def test_items_that_cannot_be_forecast(fitted, new_items, column, value, message):
    new_items[column] = new_items[column].astype(object)
    new_items.loc["new-2", column] = value
    with pytest.raises(DataError, match=message):
        fitted.forecast(new_items)


# --- subjects ------------------------------------------------------------------------------------


@pytest.mark.parametrize("prob", [0, 1, -0.1, "x", True])
def test_mass_of_the_interval(fitted, new_items, prob):
    with pytest.raises(FitError, match=r"prob=.*; give a number between 0 and 1"):
        fitted.forecast(new_items, prob=prob)


# --- what was trained on -------------------------------------------------------------------------


def trained(fit, items):
    return fit.forecast(items).data["trained"].to_pandas()


def test_training_items_are_known_per_subject(fitted, cohort):
    seen = trained(fitted, cohort.items)
    assert seen.to_numpy().tolist() == (cohort.trials > 0).to_numpy().tolist()
    assert not seen.loc["Dot"].all()  # Dot attempted half of them
    assert not trained(fitted, cohort.items.rename(index=lambda name: f"other {name}")).any(
        axis=None
    )


def test_an_item_is_known_by_its_name_whatever_has_changed(fitted, items):
    changed = items.copy()
    changed.loc["item-03", "rewardSize"] += 0.01
    changed.loc["item-04", "colour"] = "blue"  # nothing the layout knows of
    changed = changed.rename(index={"item-05": "item-50"})
    seen = trained(fitted, changed).loc["Ann"]
    assert seen[~seen].index.tolist() == ["item-50"]
