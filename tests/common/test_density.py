"""Densities hold all mass, and counts all values."""

import numpy as np
import pytest

from measurement_layouts.common.density import density
from measurement_layouts.linking.interval import REALS, Interval


@pytest.mark.parametrize(
    ("support", "draw"),
    [
        (Interval(0, 1), lambda rng: rng.beta(8, 1, 4000)),
        (Interval(0, np.inf), lambda rng: rng.exponential(1, 4000)),
        (REALS, lambda rng: rng.normal(0, 1, 4000)),
    ],
)
def test_density_integrates_to_one(support, draw):
    """All mass stays inside the support; trapezoids on 4001 points are off by less than 1e-3."""
    draws = draw(np.random.default_rng(1))
    low = support.low if np.isfinite(support.low) else draws.min() - 2
    high = support.high if np.isfinite(support.high) else draws.max() + 2
    at = np.linspace(low, high, 4001)
    assert np.trapezoid(density(draws, at, support), at) == pytest.approx(1, abs=1e-3)
    assert density(draws, np.array([support.low - 1]), support)[0] in (
        0.0,
        pytest.approx(0),
    )
