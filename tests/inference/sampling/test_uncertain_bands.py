"""Calibration where annotators err: 90 % of 90 % intervals hold the truth.

Every end truly lies up to a whole level from where it was annotated. Subjects are drawn from the
prior. Each meets errors of its own: were they shared, all subjects would miss or hit together, and
no binomial limit would hold. Bands are two levels wide or more: below that, the steepness of the
true width is another one than that of the width annotated, which the formula keeps.

Limit: 3 binomial standard errors.
"""

import numpy as np
import pandas as pd
import pytest

import measurement_layouts as ml
from measurement_layouts.inference.model.features import read_features
from measurement_layouts.inference.simulate import expected_success
from measurement_layouts.linking import band, uncertain_band

pytestmark = pytest.mark.slow
MASS, SUBJECTS, ITEMS, OFF, SLOPE = 0.9, 600, 150, 1.0, 4.0
SLACK = 3 * np.sqrt(MASS * (1 - MASS) / SUBJECTS)
PLACES = (np.arange(600) + 0.5) / 100 - 3  # spaced 0.01; posteriors are some 0.14 wide
RISK = ml.Propensity("risk", low=-3, high=3)
ENDS = [ml.MetaFeature(end, low=-3, high=3) for end in ("low", "high")]


@pytest.fixture(scope="module")
def annotated():
    """Whole levels, two to six wide."""
    rng = np.random.default_rng(31)
    width = rng.integers(2, 7, ITEMS)
    low = rng.integers(-3, 4 - width)
    return pd.DataFrame({"low": low, "high": low + width})


@pytest.fixture(scope="module")
def truth():
    return np.random.default_rng(32).uniform(-3, 3, SUBJECTS)


@pytest.fixture(scope="module")
def right(annotated, truth):
    """What each did on bands whose ends lie elsewhere, shape (subjects, items)."""
    rng = np.random.default_rng(33)
    off = rng.uniform(-OFF, OFF, (2, SUBJECTS, ITEMS))
    low, high = annotated.to_numpy().T
    chance = band(truth[:, None], low + off[0], high + off[1], SLOPE)
    return rng.random(chance.shape) < chance


def held(inside, annotated, right, truth):
    """How many of the layout's central 90 % intervals hold the truth, by summing over places."""
    layout = ml.Layout("risk", ml.Success("right", inside))
    features = read_features(layout, annotated)
    chance = expected_success(layout, features, pd.DataFrame({"risk": PLACES}), ITEMS)
    chance = np.clip(chance, 1e-12, 1 - 1e-12)
    logs = right @ np.log(chance).T + ~right @ np.log1p(-chance).T
    mass = np.exp(logs - logs.max(axis=1, keepdims=True))
    below = mass.cumsum(axis=1) / mass.sum(axis=1, keepdims=True)
    edges = PLACES + 0.005
    at = np.array([np.interp(theta, edges, row) for theta, row in zip(truth, below, strict=True)])
    return (abs(at - 0.5) <= MASS / 2).mean()


def test_intervals_keep_their_promise_with_the_spread(annotated, right, truth):
    found = held(uncertain_band(RISK, *ENDS, OFF, SLOPE), annotated, right, truth)
    assert abs(found - MASS) < SLACK, found


def test_the_same_check_on_ends_without_error(annotated, truth):
    """The plain band is calibrated where annotators do not err: the check is not what rejects."""
    chance = band(truth[:, None], *annotated.to_numpy().T, SLOPE)
    exact = np.random.default_rng(34).random(chance.shape) < chance
    found = held(band(RISK, *ENDS, SLOPE), annotated, exact, truth)
    assert abs(found - MASS) < SLACK, found
