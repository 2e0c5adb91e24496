"""Coordinates without bounds, and the lattice and boxes over them where integration starts."""

import functools
import itertools
import math
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
from numpy.lib.stride_tricks import sliding_window_view
from pytensor.graph.replace import graph_replace, vectorize_graph
from pytensor.graph.traversal import ancestors

from ....common.errors import FitError
from ....layouts import Layout
from ....layouts.elements import elements
from ...model.alignment import Features
from ...model.prior import draw_prior, free_values, outward, profile_variables
from .quadrature import Target, hidden

WIDEST = 8  # gaps between lines in the widest boxes; a lattice has a multiple of it
_NEGLIGIBLE = 35.0  # nats below the highest point at which nothing is looked for
_LEVEL = 12.0  # nats that the log-density may vary in a box that is not divided
_EVEN = 4.0  # times the narrowest gap that the widest in such a box may be
_TIMES = 50  # that a lattice may grow
_PLACES = 2048  # along an axis, at which probabilities are looked at
_STEP = 0.5  # of a probability from one place to the next, that is looked at more closely ...
_HALVINGS = 32  # ... so often: to 1e-13 of the range
_CHANGE = 0.2  # of a probability, from one line to the next


def grow(
    target: Target, lines: Sequence[np.ndarray], names: Sequence[str], closed: np.ndarray
) -> tuple[list[np.ndarray], np.ndarray]:
    """Evaluate a lattice, and widen it until the density has died away at its rim.

    Parameters
    ----------
    target : Target
        The density.
    lines : sequence of ndarray
        By axis, where the lattice's lines lie; ascending, a multiple of `WIDEST` plus one.
    names : sequence of str
        Of the axes, for the message.
    closed : ndarray of bool, shape (axes,)
        Axes that end with the lattice.

    Returns
    -------
    lines : list of ndarray
        Of the lattice, widened.
    logs : ndarray
        Log-density on it, one axis per axis; at the rim e**-35 of the highest at most.

    Raises
    ------
    FitError
        When the density is zero or undefined on the whole lattice, or never dies away.

    Examples
    --------
    >>> def normal(points):
    ...     return -(points[0] ** 2) / 2, points[0][..., None]
    >>> (line,), logs = grow(normal, [np.linspace(-1, 1, 9)], ["skill"], np.array([False]))
    >>> round(float(line[0]), 1), round(float(line[-1]), 1)
    (-11.4, 11.4)
    """
    found = list(lines)
    for _ in range(_TIMES):
        logs, _ = target(np.ix_(*found))
        if logs.max() == logs.min():
            break
        wider = []
        for axis, line in enumerate(found):
            highest = logs.max(axis=tuple(other for other in range(logs.ndim) if other != axis))
            low, high = highest[[0, -1]] > logs.max() - _NEGLIGIBLE
            more = (line[-1] - line[0]) / 4 * np.arange(1, WIDEST + 1) / WIDEST
            below = line[0] - more[::-1] if low and not closed[axis] else []
            above = line[-1] + more if high and not closed[axis] else []
            wider.append(np.concatenate([below, line, above]))
        if all(len(new) == len(old) for new, old in zip(wider, found, strict=True)):
            return found, logs
        found = wider
    raise FitError(
        f"the posterior of {' and '.join(names)} cannot be normalised: its density is undefined, "
        "or does not fall off; give each a proper prior, and see that every linking function has a "
        "value over its whole range"
    )


def start(lines: Sequence[np.ndarray], logs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Join the gaps of a lattice to boxes that hold all that matters.

    Wide boxes where lines are even and the log-density hardly varies, narrow ones elsewhere, and
    none where it is negligible even if there is a peak between the lines.

    Parameters
    ----------
    lines : sequence of ndarray
        By axis, where the lattice's lines lie.
    logs : ndarray
        Log-density on it.

    Returns
    -------
    low, high : ndarray, shape (boxes, axes)
        Corners.

    Examples
    --------
    >>> line = np.linspace(-16.0, 16.0, 33)
    >>> low, high = start([line], -(line**2) / 8)
    >>> np.hstack([low, high]).astype(int).tolist()
    [[-8, 0], [0, 8], [-12, -8], [8, 12], [-16, -14], [-14, -12], [12, 14], [14, 16]]
    """
    axes = logs.ndim
    highest, lowest = _in_gaps(logs, np.max), _in_gaps(logs, np.min)
    for axis, line in enumerate(lines):
        excess = hidden(np.moveaxis(logs, axis, -1), line)
        for other in range(axes - 1):
            excess = sliding_window_view(excess, 2, axis=other).max(axis=-1)
        highest += np.moveaxis(excess, -1, axis)
    gaps = [np.diff(line) for line in lines]
    lengths = [WIDEST // 2**times for times in range(WIDEST.bit_length())]
    todo = {(WIDEST,) * axes: np.ones([len(gap) // WIDEST for gap in gaps], dtype=bool)}
    corners = []
    for size in itertools.product(lengths, repeat=axes):  # a box comes before its halves
        if size not in todo:
            continue
        top, bottom = _pooled(highest, size, np.max), _pooled(lowest, size, np.min)
        left = todo[size] & (top > logs.max() - _NEGLIGIBLE)
        sides = [
            _pooled(gap, [length], np.max) > _EVEN * _pooled(gap, [length], np.min)
            for gap, length in zip(gaps, size, strict=True)
        ]
        uneven = np.stack(np.meshgrid(*sides, indexing="ij"))
        rough = (top - bottom > _LEVEL) & ~uneven.any(axis=0)
        divisible = np.reshape([length > 1 for length in size], [-1, *[1] * axes])
        halved = (uneven | rough) & divisible
        for pattern in itertools.product([False, True], repeat=axes):
            part = left & (np.moveaxis(halved, 0, -1) == pattern).all(axis=-1)
            if any(pattern):
                half = tuple(n // (1 + halve) for n, halve in zip(size, pattern, strict=True))
                for axis, halve in enumerate(pattern):
                    part = part.repeat(1 + halve, axis=axis)
                todo[half] = todo[half] | part if half in todo else part
            else:
                places = np.argwhere(part)[..., None] + [0, 1]
                corners.append(places * np.array(size)[:, None])
    chosen = np.concatenate(corners)
    found = np.stack([line[chosen[:, axis]] for axis, line in enumerate(lines)], axis=1)
    return found[..., 0], found[..., 1]


def rim(lines: Sequence[np.ndarray], logs: np.ndarray) -> np.ndarray:
    """Find the ends of what matters on a lattice; shape (2, axes).

    Examples
    --------
    >>> line = np.linspace(-16.0, 16.0, 33)
    >>> rim([line], -(line**2)).tolist()
    [[-6.0], [6.0]]
    """
    found = []
    for axis, line in enumerate(lines):
        highest = logs.max(axis=tuple(other for other in range(logs.ndim) if other != axis))
        kept = np.flatnonzero(highest > logs.max() - _NEGLIGIBLE)
        found.append(line[[max(kept[0] - 1, 0), min(kept[-1] + 1, len(line) - 1)]])
    return np.stack(found, axis=1)


def spaced(
    changes: Callable[[np.ndarray], np.ndarray],
    low: float,
    high: float,
    fewest: int,
    most: int,
) -> np.ndarray:
    """Choose lines of a lattice, close together where probabilities change fast.

    A step that shows between 2048 places is followed until it is resolved, or as narrow as rounding
    allows.

    Parameters
    ----------
    changes : callable
        From ascending places to how much a probability changes, at most, from each to the next.
    low, high : float
        Of the lattice.
    fewest, most : int
        Gaps between the lines.

    Returns
    -------
    ndarray
        A multiple of `WIDEST` gaps, as far as `most` allows with no change above 0.2 in any.

    Examples
    --------
    >>> def step(places):
    ...     return np.diff(places > 0.3).astype(float)
    >>> line = spaced(step, 0.0, 1.0, fewest=8, most=64)
    >>> len(line), np.abs(line - 0.3).min() < 1e-9
    (17, np.True_)
    """
    line = np.linspace(low, high, _PLACES)
    change = changes(line)
    for _ in range(_HALVINGS):
        steep = np.flatnonzero(change > _STEP)
        if not len(steep):
            break
        middle = (line[steep] + line[steep + 1]) / 2
        triples = np.stack([line[steep], middle, line[steep + 1]], axis=1)
        halves = np.append(changes(triples.ravel()), 0.0).reshape(-1, 3)
        line = np.insert(line, steep + 1, middle)
        change[steep] = halves[:, 0]
        change = np.insert(change, steep + 1, halves[:, 1])
    worth = np.cumsum(np.append(0.0, change / _CHANGE + np.diff(line) * fewest / (high - low)))
    gaps = min(WIDEST * int(np.ceil(worth[-1] / WIDEST)), most)
    return np.asarray(np.interp(np.linspace(0, worth[-1], gaps + 1), worth, line))


type _Reduction = Callable[..., np.ndarray]


def _in_gaps(logs: np.ndarray, reduce: _Reduction) -> np.ndarray:
    """Reduce over each gap's two lines, along every axis."""
    for axis in range(logs.ndim):
        logs = reduce(sliding_window_view(logs, 2, axis=axis), axis=-1)
    return logs


def _pooled(values: np.ndarray, size: Sequence[int], reduce: _Reduction) -> np.ndarray:
    """Reduce over blocks of so many gaps along each axis."""
    for axis, length in enumerate(size):
        shape = [*values.shape[:axis], -1, length, *values.shape[axis + 1 :]]
        values = reduce(values.reshape(shape), axis=axis + 1)
    return values


_FARTHEST = 700.0  # on PyMC's unbounded scale: exp of more is no number


class Unconstrained:
    r"""Coordinates of a layout's profile, one for every profile element.

    .. math:: z_k = m_k + s_k \sinh t_k

    takes the coordinate t to PyMC's unbounded scale z, where NUTS runs: the prior's median m is at
    0, its spread s at about 1, and a tail of any power falls off exponentially.

    Parameters
    ----------
    layout : Layout
        Whose profile.
    deviations : frozenset of str
        Latents that NUTS moves along deviations from their location, as `noncentred` names them.

    Raises
    ------
    LayoutError
        When PyMC does not take a prior, or it cannot be drawn from.
    FitError
        When a prior cannot be normalised.

    Attributes
    ----------
    names : list of str
        Of the profile elements.
    closed : ndarray of bool, shape (axes,)
        Coordinates on a circle, of which one turn counts.
    ends : ndarray, shape (2, axes)
        Where the prior has died away, or the turn ends.

    Examples
    --------
    >>> from measurement_layouts import Capability, Success
    >>> coin = Unconstrained(Layout("coin", Success("heads", Capability("p", low=0, high=1))))
    >>> profile, logs, stretch = coin.profile([np.array([coin.ends[0, 0], 0.0, coin.ends[1, 0]])])
    >>> profile["p"].round(1)
    array([0. , 0.5, 1. ])
    """

    def __init__(self, layout: Layout, deviations: frozenset[str] = frozenset()) -> None:
        with pm.Model(coords={dim: list(labels) for dim, labels in layout.dims.items()}) as model:
            variables = profile_variables(layout, deviations)
        values = [model.rvs_to_values[variable] for variable in model.free_RVs]
        transforms = [model.rvs_to_transforms[variable] for variable in model.free_RVs]
        self._shapes = {
            latent.name: tuple(map(len, latent.dims.values())) for latent in layout.latents
        }
        sizes = [int(np.prod(shape)) for shape in self._shapes.values()]
        self._starts = np.cumsum([0, *sizes[:-1]])
        self._alone = {
            latent.name for latent in layout.latents if not latent.parents and not latent.dims
        }
        self.names = [element.name for element in elements(layout)]
        inward = [*model.replace_rvs_by_values(list(variables.values())), model.logp()]
        drawn = free_values(layout, draw_prior(layout))
        self._free = [part.shape[1:] for part in drawn]
        own = [math.prod(shape) for shape in self._free]
        self._splits = np.cumsum(own)[:-1]
        self.closed = np.repeat([getattr(t, "name", "") == "circular" for t in transforms], own)
        self._inward = _compiled(inward, values, self._free)
        scaled = _compiled(outward(model), model.free_RVs, self._free)(*drawn)
        z = np.hstack([np.reshape(part, (len(part), -1)) for part in scaled])
        low, self.centre, high = np.quantile(z.clip(-_FARTHEST, _FARTHEST), [0.25, 0.5, 0.75], 0)
        self.spread = (high - low) / 1.349
        turn = np.arcsinh((np.array([[-np.pi], [np.pi]]) - self.centre) / self.spread)
        self.ends = np.where(self.closed, turn, [[-4.0], [4.0]])
        lines = [np.linspace(low, high, 8 * WIDEST + 1) for low, high in self.ends.T]
        self.ends = rim(*grow(self._prior, lines, self.names, self.closed))

    def profile(self, points: Sequence[np.ndarray]) -> tuple[Features, np.ndarray, np.ndarray]:
        """Compute profiles and their prior density.

        Parameters
        ----------
        points : sequence of ndarray
            Coordinates t, an array for each, that broadcast against each other.

        Returns
        -------
        profile : dict of str to ndarray
            By latent: the common shape, with the labels after it; a latent that depends on one
            coordinate only has the shape of that coordinate's array.
        logs : ndarray
            Log-density of the prior per unit of z, as NUTS has it, in the common shape.
        stretch : ndarray
            Log of the volume dz/dt: added to it, the density per unit of t.
        """
        whole = np.stack(np.broadcast_arrays(*points), axis=-1)
        common = whole.shape[:-1]
        z = (self.centre + self.spread * np.sinh(whole)).reshape(-1, len(points))
        parts = np.split(z, self._splits, axis=1)
        *found, logs = self._inward(
            *(part.reshape(-1, *shape) for part, shape in zip(parts, self._free, strict=True))
        )
        profile = {}
        for name, values, axis in zip(self._shapes, found, self._starts, strict=True):
            values = values.reshape(*common, *values.shape[1:])
            if name in self._alone:
                own = points[axis].shape
                values = values[tuple(slice(size) for size in own)]
            profile[name] = values
        stretch = np.log(self.spread * np.cosh(whole)).sum(axis=-1)
        return profile, logs.reshape(common), stretch

    def _prior(self, points: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        _, logs, stretch = self.profile(points)
        return finite(logs + stretch), logs[..., None]


@functools.lru_cache(maxsize=32)
def unconstrained(layout: Layout, deviations: frozenset[str]) -> Unconstrained:
    """Compile a layout's coordinates, once; see `Unconstrained`."""
    return Unconstrained(layout, deviations)


def finite(logs: np.ndarray) -> np.ndarray:
    """Replace a log-density that is undefined, or minus infinity, by next to nothing."""
    return np.where(np.isfinite(logs), logs, -1e10)


def _compiled(
    outputs: Sequence[Any], variables: Sequence[Any], shapes: Sequence[tuple[int, ...]]
) -> Callable[..., list[np.ndarray]]:
    """Compile for many values of the variables at once; threads take turns."""
    many = [pt.tensor(dtype="float64", shape=(None, *shape)) for shape in shapes]
    graphs = vectorize_graph(outputs, dict(zip(variables, many, strict=True)))
    by_arrays = {  # PyTensor's own takes one number at a time, uncompiled
        part: pt.maximum(part.owner.inputs[0], 0) + pt.log1p(pt.exp(-pt.abs(part.owner.inputs[0])))
        for part in ancestors(graphs)
        if part.owner is not None and part.owner.op == pt.softplus
    }
    graphs = graph_replace(graphs, by_arrays, strict=False)
    function = pytensor.function(many, graphs, mode="FAST_COMPILE", on_unused_input="ignore")
    lock = threading.Lock()

    def call(*values: np.ndarray) -> list[np.ndarray]:
        with lock, np.errstate(all="ignore"):
            return [np.asarray(value) for value in function(*values)]

    return call
