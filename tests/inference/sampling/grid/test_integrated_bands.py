"""Posteriors of propensities: modes apart, plateaus, and bands whose sides are as good as steps."""

import numpy as np
import pytest
from scipy import stats

import measurement_layouts as ml
from measurement_layouts.evaluations.evaluation import SubjectData
from measurement_layouts.inference.sampling.engine import Battery
from measurement_layouts.inference.sampling.grid import lattice, posterior
from measurement_layouts.linking import band, mixture

RISK = ml.Propensity("risk", low=-4, high=4)
ENDS = [ml.MetaFeature(name, low=-4, high=4) for name in ("low", "high")]
BANDS = {
    "two modes": ([-3.0, 2.5], [-2.5, 3.0], [1, 1], [2, 2]),
    "plateaus": ([-3.0, 2.9], [-2.0, 3.0], [0, 0], [5, 5]),
    "a narrow one": ([-3.9, 1.0, 1.02], [3.9, 1.1, 1.07], [30, 2, 1], [40, 2, 1]),
    "contradiction": ([1.0, 1.0], [1.15, 1.15], [1, 0], [1, 1]),
    "zero width": ([-1.0, 0.0], [2.0, 0.0], [1, 2], [1, 3]),
}


def moments(outcome, low, high, right, tried):
    """Mean and standard deviation of the profile elements."""
    battery = Battery(ml.Layout("bands", outcome), {"low": low, "high": high}, len(low))
    found = posterior.ExactPosterior(battery, SubjectData(right, tried, {})).boxes()
    mean, variance = found.moments()
    return mean, np.sqrt(variance)


def fine(low, high, even=40_001, near=6000):
    """Places down to 1e-14 from the end of every band, and the length that each stands for."""
    centre, half = (low + high) / 2, np.maximum(high - low, 0.1) / 2
    beside = np.logspace(-14, 0, near)
    ends = np.append(centre - half, centre + half)[:, None]
    line = np.unique(np.concatenate([np.linspace(-4, 4, even), *(ends - beside), *(ends + beside)]))
    line = line[(line >= -4) & (line <= 4)]
    return line, np.gradient(line)


def weighed(logs, lengths, *lines):
    """Mean and standard deviation along each axis."""
    mass = np.exp(logs - logs.max()) * lengths
    mass /= mass.sum()
    means = [(mass * line).sum() for line in lines]
    spreads = [np.sqrt((mass * (x - m) ** 2).sum()) for x, m in zip(lines, means, strict=True)]
    return np.array(means), np.array(spreads)


@pytest.mark.parametrize("name", BANDS)
def test_every_mode_of_bands_is_found(name):
    """Bands of width 0.1 have sides 1e-9 wide.

    Where outcomes contradict each other, the best places are there: so narrow, and still nearly all
    of the mass.
    """
    low, high, right, tried = map(np.array, BANDS[name])
    mean, sd = moments(ml.Success("ok", band(RISK, *ENDS)), low, high, right, tried)
    line, length = fine(low, high)
    chance = np.clip(band(line[:, None], low, high), 1e-12, 1 - 1e-12)
    logs = stats.binom.logpmf(right, tried, chance).sum(axis=1)
    exact, spread = weighed(logs, length, line)
    # the line's own error: at most its spacing, 2e-4, over the narrowest spread, 0.02, squared
    np.testing.assert_allclose((mean - exact) / spread, 0, atol=3e-4)
    np.testing.assert_allclose(sd / spread, 1, atol=3e-4)


@pytest.mark.parametrize("name", BANDS)
def test_every_mode_of_bands_is_found_beside_noise(name):
    low, high, right, tried = map(np.array, BANDS[name])
    noise = ml.Noise("noise")
    outcome = ml.Success("ok", mixture(band(RISK, *ENDS), by=noise, toward=0.5))
    mean, sd = moments(outcome, low, high, right, tried)
    line, length = fine(low, high, even=4001, near=600)
    nodes, weights = np.polynomial.legendre.leggauss(60)
    beside = (nodes[:, None] + 1) / 2
    chance = band(line[:, None], low, high)[:, None, :] * (1 - beside) + beside / 2
    logs = stats.binom.logpmf(right, tried, np.clip(chance, 1e-12, 1 - 1e-12)).sum(axis=-1)
    exact, spread = weighed(logs, length[:, None] * weights, line[:, None], beside[:, 0])
    # a line ten times coarser
    np.testing.assert_allclose((mean - exact) / spread, 0, atol=3e-3)
    np.testing.assert_allclose(sd / spread, 1, atol=3e-3)


def test_a_start_without_lines_at_the_steps_misses_them(monkeypatch):
    """Twin that must fail: an even lattice does not see the sides of a narrow band."""
    given = ml.Success("ok", band(RISK, *ENDS)), *map(np.array, BANDS["contradiction"])
    _, sd = moments(*given)
    monkeypatch.setattr(posterior, "_shared", type(posterior._shared)(16))
    monkeypatch.setattr(lattice, "_HALVINGS", 0)
    monkeypatch.setattr(lattice, "_CHANGE", np.inf)
    _, even = moments(*given)
    assert sd[0] < 0.1 < even[0]
