"""Profiles that stand for all: chosen evenly, they know a mean better than taken blindly."""

import numpy as np

from measurement_layouts.batteries.information.sensitivity import evenly


def test_correlations_are_those_of_all():
    """Of elements that go together, as under a population; twin: when each is shuffled."""
    rng = np.random.default_rng(2)
    drawn = rng.multivariate_normal(np.zeros(3), 0.2 * np.eye(3) + 0.8, 4000)
    found = [
        np.corrcoef(drawn[evenly(drawn, 200, np.random.default_rng(k))], rowvar=False)[0, 1]
        for k in range(6)
    ]
    assert abs(np.mean(found) - 0.8) < 0.03
    assert np.std(found) < 0.05
