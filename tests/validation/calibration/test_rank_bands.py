"""Bands of ranks: exact chances against counting, enumeration and ArviZ's simulation."""

import numpy as np
import pytest
from arviz_stats.ecdf_utils import simulate_confidence_bands
from scipy.stats import binom

from measurement_layouts.validation.calibration.result import (
    PLACES,
    chance,
    counted,
    limits,
    surprise,
)


@pytest.mark.parametrize("level", [0.02, 0.1, 0.3, 0.62])
def test_one_position_by_hand(level):
    """It lies in one of 100 cells; the nearest places to it are the surprising ones."""
    cell = np.arange(100)
    surprises = np.minimum(2 * (1 - cell / 100), 2 * (cell + 1) / 100)
    assert chance(level + 1e-9, 1) == pytest.approx((surprises <= level + 1e-9).mean())


def test_counts_and_their_tails():
    positions = np.array([0.0, 0.005, 0.01, 0.5, 0.999])
    counts = counted(positions)
    assert counts[[0, 1, 49, 50, 98]].tolist() == [2, 3, 3, 4, 4]
    place = 49
    tails = binom.cdf(3, 5, PLACES[place]), binom.sf(2, 5, PLACES[place])
    assert surprise(counts, 5)[place] == pytest.approx(min(1, 2 * min(tails)))


@pytest.mark.parametrize("total", [20, 99, 400])
@pytest.mark.parametrize("alpha", [0.3, 0.05])
def test_uniform_positions_leave_the_band_as_often_as_it_says(total, alpha):
    """Counted over 4,000 sets, within 3.5 binomial standard errors."""
    low, high = limits(alpha, total)
    rng = np.random.default_rng(total)
    counts = np.array([counted(rng.random(total)) for _ in range(4000)])
    left = ((counts < low) | (counts > high)).any(axis=1).mean()
    exact = chance(_smallest(low, high, total), total)
    assert exact <= alpha
    assert left == pytest.approx(exact, abs=3.5 * np.sqrt(alpha * (1 - alpha) / 4000))


def _smallest(low, high, total):
    """The largest tail probability just outside the band."""
    below = surprise(np.maximum(low - 1, 0), total)[low > 0]
    above = surprise(np.minimum(high + 1, total), total)[high < total]
    return max(below.max(), above.max())


def test_p_values_and_bands_agree():
    rng = np.random.default_rng(5)
    alpha, total = 0.2, 150
    low, high = limits(alpha, total)
    verdicts = []
    for _ in range(300):
        counts = counted(rng.beta(1, rng.choice([1, 1.15]), total))
        inside = bool(((low <= counts) & (counts <= high)).all())
        verdicts.append(inside)
        assert inside == (chance(surprise(counts, total).min(), total) > alpha)
    assert 50 < sum(verdicts) < 290


def test_arviz_simulates_the_same_band():
    """Its pointwise level of a band that holds 90 %, of 1,024 positions.

    So many that there are some below every place: where there are none, version 1.3 takes the tail
    above for no number and leaves it out. A power of 2, so that it counts exactly.
    """
    rng = np.random.default_rng(3)
    level = 1 - simulate_confidence_bands(1024, 1, PLACES, 0.9, 4000, rng)
    assert chance(level, 1024) == pytest.approx(0.1, abs=4 * np.sqrt(0.09 / 4000))


def test_positions_that_are_not_uniform_leave_the_band():
    """Twin that must fail."""
    positions = np.random.default_rng(1).beta(0.7, 0.7, 400)
    assert chance(surprise(counted(positions), 400).min(), 400) < 1e-4


def test_bands_are_left_by_less_surprising_positions_only():
    """A level below every tail probability is never reached, the highest one always."""
    assert chance(0.0, 50) == pytest.approx(0, abs=1e-12)
    assert chance(1.0, 50) == 1
