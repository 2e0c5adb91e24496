"""Unbounded coordinates, and the lattice and boxes over them with which integration starts."""

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

WIDEST = 8  # gaps between lines in the widest boxes; the gaps of a lattice are a multiple of it
_NEGLIGIBLE = 35.0  # nats: points that are further below the highest one are negligible
_LEVEL = 12.0  # nats: a box with a larger variation of the log-density is divided
_EVEN = 4.0  # ratio of the widest to the narrowest gap above which a box is divided
_TIMES = 50  # largest number of times that a lattice grows
_PLACES = 2048  # number of places along an axis at which probabilities are computed
_STEP = 0.5  # change of a probability between two places above which the interval is halved ...
_HALVINGS = 32  # ... up to this number of times, to 1e-13 of the range
_CHANGE = 0.2  # largest change of a probability between two lines


def grow(
    target: Target, lines: Sequence[np.ndarray], names: Sequence[str], closed: np.ndarray
) -> tuple[list[np.ndarray], np.ndarray]:
    """Compute a density on a lattice, and widen this until the density is negligible at its rim.

    Parameters
    ----------
    target : Target
        The density.
    lines : sequence of ndarray
        Positions of the lattice's lines by axis, ascending; their number is a multiple of `WIDEST`
        plus one.
    names : sequence of str
        Names of the axes, for the message.
    closed : ndarray of bool, shape (axes,)
        Whether the range of an axis ends with the lattice.

    Returns
    -------
    lines : list of ndarray
        Positions of the lines of the widened lattice.
    logs : ndarray
        Log-density on the lattice, with one dimension per axis. The density at the rim is at most
        e**-35 of the highest one.

    Raises
    ------
    FitError
        When the density is zero or undefined on the whole lattice, or does not decrease.

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
        "or does not decrease towards the ends; give each a proper prior, and check that each "
        "linking function is defined over the whole range of its arguments"
    )


def start(lines: Sequence[np.ndarray], logs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Join the gaps of a lattice to boxes that contain all of the density that is not negligible.

    Boxes are wide if lines are even and the log-density hardly varies, and narrow otherwise. There
    are none where the density would be negligible even with a peak between the lines.

    Parameters
    ----------
    lines : sequence of ndarray
        Positions of the lattice's lines by axis.
    logs : ndarray
        Log-density on the lattice.

    Returns
    -------
    low, high : ndarray, shape (boxes, axes)
        Corners of the boxes.

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
    for size in itertools.product(lengths, repeat=axes):  # a box is before its halves
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
    """Find the ends of the region of a lattice that is not negligible; shape (2, axes).

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
    """Choose lines of a lattice, which are close together where probabilities change fast.

    Probabilities are computed at 2048 places. A step between two of them is located by halving the
    interval until it is resolved or its width is at the limit of rounding.

    Parameters
    ----------
    changes : callable
        Function that returns the largest change of a probability from each place to the next, given
        ascending places.
    low, high : float
        Ends of the lattice.
    fewest, most : int
        Smallest and largest number of gaps between the lines.

    Returns
    -------
    ndarray
        Positions of the lines. The number of gaps is a multiple of `WIDEST`, and no probability
        changes by more than 0.2 in a gap, unless this needs more than `most` gaps.

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
    """Reduce values at the two lines of each gap, along each axis."""
    for axis in range(logs.ndim):
        logs = reduce(sliding_window_view(logs, 2, axis=axis), axis=-1)
    return logs


def _pooled(values: np.ndarray, size: Sequence[int], reduce: _Reduction) -> np.ndarray:
    """Reduce values over blocks of gaps of a given size along each axis."""
    for axis, length in enumerate(size):
        shape = [*values.shape[:axis], -1, length, *values.shape[axis + 1 :]]
        values = reduce(values.reshape(shape), axis=axis + 1)
    return values


_FARTHEST = 700.0  # on PyMC's unbounded scale: the exponential of larger numbers overflows


class Unconstrained:
    r"""Coordinates of a layout's profile, one for each profile element.

    .. math:: z_k = m_k + s_k \sinh t_k

    transforms the coordinate t to PyMC's unbounded scale z, on which NUTS samples. The prior's
    median m is at t = 0, its standard deviation s is about 1 in t, and a tail of any power
    decreases exponentially.

    Parameters
    ----------
    layout : Layout
        Layout with the profile.
    deviations : frozenset of str
        Latents that are sampled as deviations from their location; see `noncentred`.

    Raises
    ------
    LayoutError
        When PyMC does not accept a prior, or it cannot be drawn from.
    FitError
        When a prior cannot be normalised.

    Attributes
    ----------
    names : list of str
        Names of the profile elements.
    closed : ndarray of bool, shape (axes,)
        Whether a coordinate is on a circle, of which only one turn is integrated.
    ends : ndarray, shape (2, axes)
        Coordinates at which the prior is negligible, or at which the turn ends.

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
            Coordinates t, with one array for each, which are broadcast against each other.

        Returns
        -------
        profile : dict of str to ndarray
            Values by latent, with the common shape and the labels after it. A latent that depends
            on a single coordinate has the shape of the array of this coordinate.
        logs : ndarray
            Log-density of the prior per unit of z, as for NUTS, in the common shape.
        stretch : ndarray
            Logarithm of dz/dt; the sum with `logs` is the log-density per unit of t.
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
    """Return a layout's coordinates, which are compiled once; see `Unconstrained`."""
    return Unconstrained(layout, deviations)


def finite(logs: np.ndarray) -> np.ndarray:
    """Replace log-densities that are not finite by a very low one."""
    return np.where(np.isfinite(logs), logs, -1e10)


def _compiled(
    outputs: Sequence[Any], variables: Sequence[Any], shapes: Sequence[tuple[int, ...]]
) -> Callable[..., list[np.ndarray]]:
    """Compile outputs for many values of the variables at once; one thread at a time calls it."""
    many = [pt.tensor(dtype="float64", shape=(None, *shape)) for shape in shapes]
    graphs = vectorize_graph(outputs, dict(zip(variables, many, strict=True)))
    by_arrays = {  # uncompiled, PyTensor's softplus computes one number at a time
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
