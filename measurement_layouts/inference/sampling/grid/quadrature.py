"""Adaptive quadrature on one or two axes, and draws from the integrated density.

The density is given by its logarithm. Boxes are halved until the errors of mass, mean and variance
are small.
"""

import dataclasses
import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ....common.errors import FitError

_STEPS = 64  # number of parts of the interval for the inversion of the distribution function


@dataclass(frozen=True)
class Rule:
    """Nodes and weights of an interval, whose ends are nodes, so that steps near them are detected.

    Attributes
    ----------
    nodes, weights : ndarray, shape (nodes,)
        Nodes in [-1, 1], and weights, which add up to 2.
    to_series : ndarray, shape (nodes, nodes)
        Matrix by which values at the nodes are multiplied to obtain the Legendre coefficients of
        their interpolant.
    to_integral : ndarray, shape (nodes, nodes + 1)
        The same for the coefficients of the interpolant's integral from -1.
    areas : ndarray, shape (nodes, steps + 1)
        The same for this integral at the ends of equal steps.
    """

    nodes: np.ndarray
    weights: np.ndarray
    to_series: np.ndarray
    to_integral: np.ndarray
    areas: np.ndarray

    def basis(self, places: np.ndarray) -> np.ndarray:
        """Return the nodes' weights in the interpolant, shape (places, nodes)."""
        series = np.polynomial.legendre.legvander(places, len(self.nodes) - 1)
        return np.asarray(series @ self.to_series.T)

    def quantile(self, density: np.ndarray, level: np.ndarray) -> np.ndarray:
        """Find the quantiles of densities.

        Parameters
        ----------
        density : ndarray, shape (rows, nodes)
            Densities at the nodes.
        level : ndarray, shape (rows,)
            Part of the mass of each row that is below the quantile.

        Returns
        -------
        ndarray, shape (rows,)
            Quantiles in [-1, 1].

        Examples
        --------
        >>> rising = rule(5).nodes + 1
        >>> rule(5).quantile(rising[None], np.array([0.5625])).round(9)
        array([0.5])
        """
        area = np.maximum.accumulate(density @ self.areas, axis=1)
        wanted = level * area[:, -1]
        row = np.arange(len(area))
        step = ((area <= wanted[:, None]).sum(axis=1) - 1).clip(0, _STEPS - 1)
        below, above = area[row, step], area[row, step + 1]
        inside = (wanted - below) / np.where(above > below, above - below, 1)
        place = (step + inside) * 2 / _STEPS - 1
        # one step of Newton's method, of at most half a part of the interval
        series = np.polynomial.legendre.legvander(place, len(self.nodes))
        missing = wanted - np.vecdot(series, density @ self.to_integral)
        height = np.vecdot(series[:, :-1], density @ self.to_series)
        more = missing / np.where(height > 0, height, np.inf)
        return np.asarray((place + more.clip(-1 / _STEPS, 1 / _STEPS)).clip(-1, 1))


@functools.cache
def rule(count: int) -> Rule:
    """Return the rule with this number of nodes, exact for polynomials of degree 2 count - 3.

    References
    ----------
    Abramowitz and Stegun (1972), Handbook of Mathematical Functions: 25.4.32.

    Examples
    --------
    >>> rule(3).nodes.tolist(), rule(3).weights.round(3).tolist()
    ([-1.0, 0.0, 1.0], [0.333, 1.333, 0.333])
    """
    legendre = np.polynomial.legendre
    last = legendre.Legendre.basis(count - 1)
    nodes = np.concatenate([[-1.0], np.sort(last.deriv().roots().real), [1.0]])
    weights = 2 / (count * (count - 1) * last(nodes) ** 2)
    to_series = np.linalg.inv(legendre.legvander(nodes, count - 1)).T
    to_integral = to_series @ [legendre.legint(row, lbnd=-1) for row in np.eye(count)]
    areas = to_integral @ legendre.legvander(np.linspace(-1, 1, _STEPS + 1), count).T
    return Rule(nodes, weights, to_series, to_integral, areas)


type Target = Callable[[Sequence[np.ndarray]], tuple[np.ndarray, np.ndarray]]
"""Function that returns the log-density and the values to average (along an additional last axis),
given coordinates as arrays by axis that are broadcast against each other."""

_NODES = {1: 16, 2: 10}  # number of nodes along each side of a box, by number of axes
_SETTLED = 1e-6  # estimated error of mass, mean (in standard deviations) and variance (in its own)
_ACCEPTED = 1e-3  # accepted after _POINTS points: a tenth of the error of 10,000 independent draws
_POINTS = 1_000_000
_SPIKE = {1: 0.1, 2: 0.02}  # part of the last coefficients that the error always includes
_HIDDEN = 1.0  # nats: height above the nodes from which a peak between them counts as an error
_STEEPER = 4.0  # largest slope towards a peak inside a gap, as a multiple of the secant's
_NARROWEST = 1e-12  # relative side of a box below which halving has rounding errors only
_CLIFF = 50.0  # nats: variation within a box that counts as a discontinuity
_BLOCK = 480  # draws at a time, since products of small matrices use a single thread


@dataclass(frozen=True)
class Boxes:
    """Adjacent boxes, with the density at the nodes of each.

    Attributes
    ----------
    low, high : ndarray, shape (boxes, axes)
        Corners of the boxes.
    logs : ndarray, shape (boxes, nodes, ...)
        Log-density at the nodes, with the same number of nodes along each axis.
    peak : ndarray, shape (boxes,)
        Largest log-density of each box; `mass` and `errors` are relative to its exponential.
    mass : ndarray, shape (boxes,)
        Integral of the density.
    mean, variance : ndarray, shape (boxes, values)
        Mean and variance of each value within the box.
    errors : ndarray, shape (boxes, axes)
        Estimated error of the mass, by the axis that causes it.
    """

    low: np.ndarray
    high: np.ndarray
    logs: np.ndarray
    peak: np.ndarray
    mass: np.ndarray
    mean: np.ndarray
    variance: np.ndarray
    errors: np.ndarray

    @property
    def axes(self) -> int:
        """Number of axes."""
        return int(self.low.shape[1])

    @property
    def shares(self) -> np.ndarray:
        """Part of the total mass in each box."""
        mass = self.mass * np.exp(self.peak - self.peak.max())
        return np.asarray(mass / mass.sum())

    def moments(self) -> tuple[np.ndarray, np.ndarray]:
        """Return mean and variance of each value."""
        shares = self.shares
        mean = shares @ self.mean
        return mean, shares @ (self.variance + (self.mean - mean) ** 2)


def cubature(target: Target, low: np.ndarray, high: np.ndarray) -> Boxes:
    """Integrate over boxes, and halve the worst ones until the errors are small.

    Parameters
    ----------
    target : Target
        The density.
    low, high : ndarray, shape (boxes, axes)
        Corners of the first boxes, which together contain all of the density that is not
        negligible.

    Returns
    -------
    Boxes
        Boxes whose estimated errors add up to less than 1e-6. The errors are those of the mass, of
        each mean in standard deviations, and of each variance relative to itself.

    Raises
    ------
    FitError
        When the errors still add up to more than 1e-3 after a million points.

    Examples
    --------
    >>> def normal(points):
    ...     return -(points[0] - 0.3) ** 2 / 2, points[0][..., None]
    >>> low = np.array([[-9.0], [0.0]])
    >>> mean, variance = cubature(normal, low, low + 9).moments()
    >>> mean.round(6), variance.round(6)
    (array([0.3]), array([1.]))
    """
    size = _NODES[low.shape[1]] ** low.shape[1]
    used, error = size * len(low), np.inf
    if used <= _POINTS:
        boxes = _measure(target, low, high)
    while used <= _POINTS:
        errors = boxes.errors * (_weights(boxes) * boxes.shares / boxes.mass)[:, None]
        errors[boxes.high - boxes.low < _NARROWEST * np.maximum(abs(boxes.low), 1)] = 0
        worst = errors.sum(axis=1)
        order = np.argsort(worst)
        chosen = order[np.cumsum(worst[order]) > _SETTLED]
        error = worst.sum()
        if not len(chosen):
            return boxes
        low, high = _halves(boxes, chosen, errors[chosen])
        used += size * len(low)
        if used <= _POINTS:
            boxes = _replaced(boxes, chosen, _measure(target, low, high))
    if error > _ACCEPTED:
        raise FitError(
            f"the posterior has more detail than {_POINTS} points can resolve; use method='nuts'"
        )
    return boxes


def draw(boxes: Boxes, levels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Find points at given levels of the distribution function.

    Parameters
    ----------
    boxes : Boxes
        The density.
    levels : ndarray, shape (draws, axes)
        Levels in [0, 1). The first one determines a box and the position along the first axis, and
        the second one the position along the second axis. With one axis, this is the quantile
        function. Levels that are spread evenly over the unit square lead to draws that are spread
        evenly over the density.

    Returns
    -------
    points : ndarray, shape (draws, axes)
        Coordinates of the draws.
    logs : ndarray, shape (draws,)
        Log-density of the draws, interpolated between the nodes.
    """
    order = np.lexsort(boxes.low.T[::-1])
    ends = np.cumsum(boxes.shares[order])
    ends /= ends[-1]
    blocks = [levels[start : start + _BLOCK] for start in range(0, len(levels), _BLOCK)]
    points, logs = zip(*(_draw(boxes, order, ends, block) for block in blocks), strict=True)
    return np.concatenate(points), np.concatenate(logs)


def hidden(logs: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Bound the height of a peak between two nodes above both of them.

    The secants on both sides of a gap meet above each log-concave curve through the nodes.

    Parameters
    ----------
    logs : ndarray, shape (..., nodes)
        Log-density along a line.
    at : ndarray, shape (nodes,)
        Positions of the nodes, ascending.

    Returns
    -------
    ndarray, shape (..., nodes - 1)
        Heights in nats by gap; 0 if the density does not rise towards the gap from both sides.

    References
    ----------
    Gilks and Wild (1992), Adaptive rejection sampling: its upper hull.

    Examples
    --------
    >>> at = np.array([-3.0, -1.0, 1.0, 3.0])
    >>> hidden(-at**2, at)
    array([0., 4., 0.])
    """
    gap = np.diff(at)
    own = np.diff(logs, axis=-1) / gap
    none = np.full_like(own[..., :1], -np.inf)
    before = np.concatenate([none, own[..., :-1]], axis=-1)
    after = np.concatenate([-own[..., 1:], none], axis=-1)
    rise = np.where(before >= own, before, _STEEPER * own)
    fall = np.where(after >= -own, after, -_STEEPER * own)
    left, right = logs[..., :-1], logs[..., 1:]
    peaked = (rise > 0) & (fall > 0)
    share = np.where(peaked, rise, 0) / np.where(peaked, rise + fall, 1)
    apex = left + share * (right - left + np.where(peaked, fall, 0) * gap)
    return np.asarray(np.where(peaked, apex - np.maximum(left, right), 0).clip(min=0))


def _measure(target: Target, low: np.ndarray, high: np.ndarray) -> Boxes:
    count, axes = low.shape
    side = rule(_NODES[axes])
    size = len(side.nodes)
    points = []
    for axis in range(axes):
        start, width = low[:, axis, None], (high - low)[:, axis, None]
        shape = [count, *(size if other == axis else 1 for other in range(axes))]
        points.append((start + width * (side.nodes + 1) / 2).reshape(shape))
    logs, values = target(points)
    peak = logs.max(axis=tuple(range(1, axes + 1)))
    below = logs - peak.reshape(-1, *[1] * axes)
    weights = functools.reduce(np.multiply.outer, [side.weights] * axes)
    parts = (np.exp(below) * weights).reshape(count, -1)
    total = parts.sum(axis=1)
    parts /= total[:, None]
    values = values.reshape(count, size**axes, -1)
    mean = np.einsum("bn,bnv->bv", parts, values)
    variance = np.einsum("bn,bnv->bv", parts, (values - mean[:, None]) ** 2)
    volume = np.prod((high - low) / 2, axis=1)
    errors = np.stack([_errors(below, side, axis) for axis in range(axes)], axis=1)
    return Boxes(low, high, logs, peak, volume * total, mean, variance, volume[:, None] * errors)


def _errors(below: np.ndarray, side: Rule, axis: int) -> np.ndarray:
    """Estimate the error of each box's integral along an axis, from the rule and hidden peaks."""
    lines = np.moveaxis(below, axis + 1, -1)
    series = np.abs(np.exp(lines) @ side.to_series)
    for _ in range(1, below.ndim - 1):
        series = np.einsum("n,bn...->b...", side.weights / 2, series)
    last, before, first = (series[:, -2 * pair :][:, :2].max(axis=1) for pair in (1, 2, 3))
    decay = np.maximum(last / np.maximum(before, last), before / np.maximum(first, before))
    # the rule is exact for about twice as many coefficients, so that the decay is extrapolated; but
    # the last ones may be due to a step near a node, and must be small for quantiles
    error = last * np.maximum(decay ** (len(side.nodes) / 2 - 1), _SPIKE[below.ndim - 1])
    excess = hidden(lines, side.nodes)
    apex = np.maximum(lines[..., 1:], lines[..., :-1]) + excess
    apex = np.where(excess > _HIDDEN, apex, -np.inf).reshape(len(below), -1).max(axis=1)
    return np.asarray(2 ** (below.ndim - 1) * (error + np.exp(apex.clip(max=600))))


def _weights(boxes: Boxes) -> np.ndarray:
    """Return the weights of boxes' masses in the total mass, the means and the variances."""
    mean, variance = boxes.moments()
    far = boxes.variance + (boxes.mean - mean) ** 2
    least = 1e-24 * far.max(axis=0)
    return np.asarray(1 + (far / np.maximum(variance, np.where(least > 0, least, 1))).sum(axis=1))


def _halves(boxes: Boxes, chosen: np.ndarray, errors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Halve boxes along the axes that cause their errors."""
    low, high = boxes.low[chosen], boxes.high[chosen]
    blamed = errors >= 0.1 * errors.max(axis=1, keepdims=True)
    for axis in range(boxes.axes):
        both = blamed[:, axis]
        middle = (low[both, axis] + high[both, axis]) / 2
        upper, lower = low[both].copy(), high[both].copy()
        upper[:, axis], lower[:, axis] = middle, middle
        low = np.concatenate([low[~both], low[both], upper])
        high = np.concatenate([high[~both], lower, high[both]])
        blamed = np.concatenate([blamed[~both], blamed[both], blamed[both]])
    return low, high


def _replaced(boxes: Boxes, chosen: np.ndarray, made: Boxes) -> Boxes:
    kept = np.delete(np.arange(len(boxes.low)), chosen)
    names = [field.name for field in dataclasses.fields(Boxes)]
    return Boxes(*(np.concatenate([getattr(boxes, n)[kept], getattr(made, n)]) for n in names))


def _draw(
    boxes: Boxes, order: np.ndarray, ends: np.ndarray, levels: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    side = rule(_NODES[boxes.axes])
    number = np.searchsorted(ends, levels[:, 0], side="right").clip(max=len(ends) - 1)
    start = np.concatenate([[0.0], ends])[number]
    level = (levels[:, 0] - start) / (ends[number] - start)
    box = order[number]
    logs = boxes.logs[box]
    density = np.exp(logs - boxes.peak[box].reshape(-1, *[1] * boxes.axes))
    places = np.empty_like(levels)
    for axis in range(boxes.axes):
        if axis:
            level = levels[:, axis]
        line = density
        for _ in range(axis + 1, boxes.axes):
            line = line @ side.weights
        places[:, axis] = side.quantile(line, level)
        basis = side.basis(places[:, axis])
        logs = np.einsum("dn,dn...->d...", basis, logs)
        density = np.einsum("dn,dn...->d...", basis, density).clip(min=0)
    # a discontinuous logarithm cannot be interpolated, but the density can
    cliff = np.ptp(boxes.logs.reshape(len(boxes.low), -1), axis=1)[box] > _CLIFF
    logs = np.where(cliff, boxes.peak[box] + np.log(density.clip(min=1e-30)), logs)
    return boxes.low[box] + (boxes.high - boxes.low)[box] * (places + 1) / 2, logs
