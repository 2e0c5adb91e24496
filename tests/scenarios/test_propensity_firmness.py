"""The layout of two parameters: its formula, and scales other than -3 to 3."""

import numpy as np
import pandas as pd
import pytest
from helpers.small_layouts import crafted
from scipy import integrate, stats

import measurement_layouts as ml
from measurement_layouts.linking import uncertain_band
from measurement_layouts.scenarios import propensities

ITEMS = propensities.battery("risk_aversion").drop(columns="propensity")


def forecast(layout, items, **profile):
    """Forecast of a subject whose profile is known exactly."""
    outcomes = pd.DataFrame([np.arange(len(items)) % 2], ["Ann"], items.index)
    draws = {name: np.full((1, 1, 4), value) for name, value in profile.items()}
    found = crafted(layout, ml.Evaluation.from_wide(outcomes, items), draws)
    return found.forecast(items.rename("new {}".format)).data["mean"].to_numpy().ravel()


def chance(low, high, place, wobble, noise):
    """The same by SciPy's quadrature."""

    def inside(state):
        at = uncertain_band(state, low - 0.5, high + 0.5, spread=0.5, slope=8.0)
        return float(at) * stats.norm.pdf(state, place, wobble)

    ends = place - 8 * wobble, place + 8 * wobble
    within = integrate.quad(inside, *ends, limit=200, points=np.linspace(*ends, 12))[0]
    return (1 - noise) * within + noise / 3


@pytest.mark.parametrize("furthest", [3, 5])
def test_success_is_averaged_over_states(furthest):
    lows, highs = [-furthest, -1.0, 0.0], [0.0, 1.0, furthest]
    items = pd.DataFrame({"lower": lows, "upper": highs}, index=list("abc"))
    own = {"propensity": 0.8, "wobble": 0.7, "noise": 0.1}
    found = forecast(propensities.firmness_layout(furthest), items, **own)
    expected = [chance(low, high, *own.values()) for low, high in zip(lows, highs, strict=True)]
    assert found == pytest.approx(expected, abs=1e-5)


def test_without_a_wobble_it_is_the_recommended_layout():
    items = ITEMS.drop_duplicates()
    own = {"propensity": 0.8, "noise": 0.1}
    one = forecast(propensities.recommended_layout(), items, **own)
    two = forecast(propensities.firmness_layout(), items, wobble=1e-6, **own)
    assert two == pytest.approx(one, abs=1e-5)
    assert abs(forecast(propensities.firmness_layout(), items, wobble=0.5, **own) - one).max() > 0.1


def test_the_check_says_when_no_band_ends_near_a_place():
    """Bands that hold the whole scale say nothing of a wobble; those of the battery do."""
    outcomes = pd.DataFrame([np.arange(60) % 3 > 0, np.arange(60) % 2], ["Ann", "Bob"])
    verdicts = []
    for items in (ITEMS.iloc[:60], ITEMS.iloc[:60].assign(lower=-3.0, upper=3.0)):
        evaluation = ml.Evaluation.from_wide(outcomes.set_axis(items.index, axis=1), items)
        found = ml.check(propensities.firmness_layout(), evaluation).latents.set_index("node")
        verdicts.append(found.loc["wobble", ["verdict", "shrinkage"]])
    assert verdicts[0]["shrinkage"] > 0.5 > 2 * verdicts[1]["shrinkage"]
    assert verdicts[1]["verdict"] != "informed"
