"""The published fit, against its definition and against SciPy."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import curve_fit
from scipy.special import expit

from measurement_layouts.batteries.logistic_curves import (
    area,
    fit_logistic,
    offset,
    success,
    weights,
)

LEVELS = np.arange(1.0, 6.0)


@pytest.mark.parametrize("start", [-4.0, 0.0, 3.0, 30.0])
@pytest.mark.parametrize("slope", [0.05, 1.0, 8.0])
def test_the_area_is_the_integral(start, slope):
    ends = sorted({0.0, max(start / slope, 0.0), max(start, 0) / slope + 40 / slope})
    parts = [quad(lambda x: expit(start - slope * x), *pair)[0] for pair in pairwise(ends)]
    found = area(start, slope)
    assert found == pytest.approx(sum(parts), rel=1e-7)
    assert offset(found, slope) == pytest.approx(start, rel=1e-9, abs=1e-9)
    assert success(found, slope, 2.0) == pytest.approx(expit(start - 2 * slope), rel=1e-9)


def curves(count, rng):
    """Rates of many kinds of bins: falling, and without any order."""
    items = rng.choice([3, 20, 100, 500], size=(count, 5))
    chance = expit(rng.uniform(0.1, 4, (count, 1)) * (rng.uniform(-1, 8, (count, 1)) - LEVELS))
    chance[::4] = rng.random(chance[::4].shape)
    return rng.binomial(items, chance) / items, weights(items)


def lack(start, slope, rates, weight):
    anchor = weight.sum() * expit(start - 20 * slope) ** 2
    return (weight * (rates - expit(start - slope * LEVELS)) ** 2).sum() + anchor


@pytest.mark.filterwarnings("ignore:Covariance of the parameters")
def test_nothing_that_scipy_finds_is_better(rng):
    """The same minimum as the best of several starts of curve_fit; the same place, where found."""
    rates, weight = curves(60, rng)
    ability, slope = fit_logistic(LEVELS, rates, weight)
    assert 10 < np.isinf(slope).sum() < 45
    for row in np.flatnonzero(np.isfinite(slope)):
        where = np.append(LEVELS, 20)
        spread = 1 / np.sqrt(np.append(weight[row], weight[row].sum()))
        found = []
        for start in ([3, 0], [0, -2], [8, 1]):
            best, _ = curve_fit(
                lambda x, c, u: expit(c - np.exp(u) * x),
                where,
                np.append(rates[row], 0),
                start,
                sigma=spread,
                maxfev=5000,
                xtol=1e-12,
                ftol=1e-12,
            )
            found.append((lack(best[0], np.exp(best[1]), rates[row], weight[row]), *best))
        least, start, log_slope = min(found)
        own = lack(offset(ability[row], slope[row]), slope[row], rates[row], weight[row])
        assert own <= least * (1 + 1e-6) + 1e-12
        if own > least * (1 - 1e-6) and least > 1e-6:
            assert ability[row] == pytest.approx(area(start, np.exp(log_slope)), rel=2e-3)
