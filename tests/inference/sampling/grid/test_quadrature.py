"""Quadrature and draws, against SciPy's distributions.

Tolerance 1e-6, of standard deviations or of the mass: what `cubature` promises. Log-densities lack
their constant on purpose.
"""

import numpy as np
import pytest
from scipy import stats

from measurement_layouts import FitError
from measurement_layouts.inference.sampling.grid import quadrature
from measurement_layouts.inference.sampling.grid.quadrature import cubature, draw, hidden, rule

PROMISED = 1e-6
LEVELS = np.array([0.001, 0.05, 0.25, 0.5, 0.75, 0.95, 0.999])


def along(logpdf):
    """Make a target of one axis."""

    def target(points):
        return np.maximum(logpdf(points[0]), -1e10) + 3.0, points[0][..., None]

    return target


def boxes(low, high, count):
    """Cut an interval into equal boxes."""
    ends = np.linspace(low, high, count + 1)[:, None]
    return ends[:-1], ends[1:]


LINES = {
    "normal": (stats.norm(0.3, 1), -12, 12, 8),
    "needle": (stats.norm(0.3317, 1e-4), -5, 5, 8),
    "skew": (stats.gamma(3), 0, 60, 8),
    "box": (stats.uniform(-0.123, 0.77), -5, 5, 8),
    "spike": (stats.expon(0.4, 1e-3), 0, 1, 8),
    "heavy": (stats.t(5), -2e3, 2e3, 8),
    "kink": (stats.laplace(0.1, 0.5), -20, 20, 8),
}


@pytest.mark.parametrize("name", LINES)
def test_moments_and_quantiles_of_one_axis(name):
    exact, *where = LINES[name]
    settled = cubature(along(exact.logpdf), *boxes(*where))
    mean, variance = settled.moments()
    assert abs(mean[0] - exact.mean()) < PROMISED * exact.std()
    assert abs(variance[0] / exact.var() - 1) < PROMISED
    points, logs = draw(settled, LEVELS[:, None])
    assert np.abs(exact.cdf(points[:, 0]) - LEVELS).max() < PROMISED
    np.testing.assert_allclose(logs, exact.logpdf(points[:, 0]) + 3, atol=0.01)


def test_another_distribution_is_told_apart():
    """Twin that must fail: a hundred-thousandth of a standard deviation off."""
    mean, _ = cubature(along(stats.norm(1e-5, 1).logpdf), *boxes(-12, 12, 8)).moments()
    assert abs(mean[0]) > PROMISED


def test_without_halving_a_needle_is_wrong(monkeypatch):
    """Twin that must fail: nothing is refined."""
    monkeypatch.setattr(quadrature, "_SETTLED", np.inf)
    mean, _ = cubature(along(stats.norm(0.3317, 1e-4).logpdf), *boxes(-5, 5, 8)).moments()
    assert abs(mean[0] - 0.3317) > 1e-4


def test_two_far_modes_keep_their_masses():
    """A wide one and one a thousand times narrower, 0.7 and 0.3 of the mass."""

    def logpdf(x):
        wide, narrow = stats.norm(-2, 0.5).logpdf(x), stats.norm(3.01, 5e-4).logpdf(x)
        return np.logaddexp(np.log(0.7) + wide, np.log(0.3) + narrow)

    start = np.array([[-6.0], [0.0], [3.0]]), np.array([[0.0], [3.0], [3.02]])
    settled = cubature(along(logpdf), *start)
    share = settled.shares[settled.low[:, 0] >= 0].sum()
    assert abs(share - 0.3 - 0.7 * stats.norm(-2, 0.5).sf(0)) < PROMISED


@pytest.mark.parametrize("correlation", [0.0, 0.6, -0.99])
def test_two_axes(correlation):
    exact = stats.multivariate_normal([0.2, -0.5], [[1, correlation], [correlation, 1]])

    def target(points):
        both = np.stack(np.broadcast_arrays(*points), axis=-1)
        return exact.logpdf(both), both

    ends = np.array(list(np.ndindex(4, 4)), dtype=float) * 4 - 8
    settled = cubature(target, ends, ends + 4)
    mean, variance = settled.moments()
    np.testing.assert_allclose(mean, exact.mean, atol=PROMISED)
    np.testing.assert_allclose(variance, 1, atol=PROMISED)
    levels = np.random.default_rng(1).random((20_000, 2))
    points, logs = draw(settled, levels)
    # standard error of a correlation from 20,000 independent draws: below 0.0071
    assert np.corrcoef(points.T)[0, 1] == pytest.approx(correlation, abs=4 * 0.0071)
    np.testing.assert_allclose(logs, exact.logpdf(points), atol=1e-3)


def test_too_much_detail_is_refused(monkeypatch):
    """A diagonal step is a staircase of boxes without end."""
    monkeypatch.setattr(quadrature, "_POINTS", 20_000)

    def target(points):
        x, y = np.broadcast_arrays(*points)
        return np.where(x + y > 0.1, 0.0, -30.0), np.stack([x, y], axis=-1)

    start = np.array([[-1.0, -1.0]])
    with pytest.raises(
        FitError, match="more detail than 20000 points can resolve; use method='nuts'"
    ):
        cubature(target, start, start + 2)
    monkeypatch.setattr(quadrature, "_POINTS", 50)
    with pytest.raises(FitError, match="more detail than 50 points"):
        cubature(target, start, start + 2)


@pytest.mark.parametrize("count", [3, 8, 10, 16])
def test_the_rule_is_exact_for_polynomials(count):
    """Up to degree 2 count - 3, and no further."""
    lobatto = rule(count)
    for degree in range(2 * count - 2):
        exact = 2 / (degree + 1) if degree % 2 == 0 else 0
        assert abs(lobatto.weights @ lobatto.nodes**degree - exact) < 1e-13
    assert abs(lobatto.weights @ lobatto.nodes ** (2 * count - 2) - 2 / (2 * count - 1)) > 1e-11


def test_no_log_concave_peak_is_higher_than_the_bound():
    """Random sums of parabolas and kinks, looked at where a fine line finds their highest point."""
    rng = np.random.default_rng(4)
    at = np.sort(rng.uniform(-1, 1, 9))
    fine = np.linspace(at[0], at[-1], 4001)
    for _ in range(200):
        centre, steep, kink = rng.uniform(-0.9, 0.9, 3), rng.exponential(50, 3), rng.exponential(9)

        def curve(x, centre=centre, steep=steep, kink=kink):
            bend = (steep[:, None] * (x - centre[:, None]) ** 2).sum(axis=0)
            return -bend - kink * abs(x - centre[0])

        excess, gap = hidden(curve(at), at), np.searchsorted(at, fine[1:-1]) - 1
        top = np.maximum(curve(at)[:-1], curve(at)[1:]) + excess
        rises = excess[gap] > 0
        assert (curve(fine)[1:-1][rises] <= top[gap][rises] + 1e-9).all()
        assert excess.max() > 0 or curve(fine).max() < curve(at).max() + 1e-9 or gap.min() == 0
