"""Exact posteriors of layouts with one or two profile elements, by a tensor grid."""

import functools
import math
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
from pymc.logprob.utils import CheckParameterValue
from pytensor.graph.replace import graph_replace, vectorize_graph
from pytensor.graph.traversal import ancestors

from ...common.cache import Recent
from ...common.errors import FitError
from ...common.messages import some
from ...evaluations.subject_data import EDGE, SubjectData
from ...layouts import Latent, Layout
from ...layouts.elements import elements
from ...linking import Expr, evaluate
from ...linking.evaluation import ancestry
from ...linking.function import Call
from ...linking.interval import UNIT
from ..kernel.inputs import log_ways
from ..model.alignment import Features, align
from ..model.prior import draw_prior
from ..model.pymc_model import compile_key
from ..model.variables import free_values, noncentred, outward, profile_variables
from .draws import Draws, SamplingOptions
from .engine import Battery
from .stopping import stop_if_told

MOST = 2  # largest number of profile elements
_NUMBERS = 2**16  # profiles times items times labels computed at a time, so that they fit the cache
_UNDEFINED = -1e10  # nats: stands for a log-density that is not finite
_NEGLIGIBLE = 35.0  # nats: points that are further below the highest one are negligible
_PLACES = 2048  # number of places along an axis at which probabilities are computed
_STEP = 0.5  # change of a probability between two places above which the interval is halved ...
_HALVINGS = 32  # ... up to this number of times, to 1e-13 of the range
_CHANGE = 0.2  # largest change of a probability between two lines


@dataclass(frozen=True)
class Chances:
    """Probabilities of success under a layout on some items.

    Attributes
    ----------
    layout : Layout
        Layout with the formulas.
    features : dict of str to ndarray
        Values by meta-feature, shape (items,) or (items, labels).
    items : int
        Number of items.
    constants : mapping of str to float
        Values by subject constant.

    Examples
    --------
    >>> from measurement_layouts import Capability, MetaFeature, Success
    >>> from measurement_layouts.linking import logistic
    >>> sight = Capability("sight", low=0, high=2)
    >>> smallness = MetaFeature("smallness", low=0, high=2)
    >>> layout = Layout("looking", Success("found", logistic(sight - smallness)))
    >>> chances = Chances(layout, {"smallness": np.array([0.0, 1.0])}, items=2, constants={})
    >>> profile = {"sight": np.array([0.0, 1.0, 2.0])}
    >>> [found.round(2).tolist() for _, found in chances.of(layout.outcome, profile, (3,))]
    [[[0.5, 0.27], [0.73, 0.5], [0.88, 0.73]]]
    >>> chances.changes(profile, (3,)).round(2)
    array([0.23, 0.23])
    """

    layout: Layout
    features: Features
    items: int
    constants: Mapping[str, float]

    def of(
        self, part: Expr, profile: Features, shape: tuple[int, ...]
    ) -> Iterator[tuple[slice, np.ndarray]]:
        """Compute a part of the layout for blocks of profiles.

        Parameters
        ----------
        part : expression
            The outcome, or an expression that it is computed from.
        profile : dict of str to ndarray
            Values by latent, which broadcast to `shape`, with the labels after it.
        shape : tuple of int
            Shape of the profiles.

        Yields
        ------
        slice
            The profiles of the block, along the first axis.
        ndarray
            Values of shape (*profiles, items, labels, ...), with length one along axes on which
            they do not depend.
        """
        values_of = dict(self._columns)
        dims = tuple(self.layout.dims)
        labels = math.prod(len(names) for names in self.layout.dims.values())
        step = max(2, _NUMBERS // (self.items * labels * math.prod(shape[1:])))
        for first in range(0, shape[0], step):
            rows = slice(first, min(first + step, shape[0]))
            for latent in self.layout.latents:
                values = profile[latent.name]
                values = values if len(values) == 1 else values[rows]
                values_of[latent.name] = align(
                    values, latent, dims, leading=len(shape), per_item=False
                )
            with np.errstate(all="ignore"):  # in the tails of a prior
                yield rows, np.asarray(evaluate(part, values_of, dims))

    def changes(self, profile: Features, shape: tuple[int, ...]) -> np.ndarray:
        """Compute the largest change of a probability from each profile to the next.

        The values of all linking functions between 0 and 1 are compared, including those within
        others, so that the change of a factor is detected even if another factor is 0.

        Parameters
        ----------
        profile, shape
            As in `of`.

        Returns
        -------
        ndarray, shape (profiles - 1,)
            Changes along the first axis, the largest over items, labels and other axes.
        """
        largest = np.zeros(shape[0] - 1)
        for part in self._probabilities:
            changes, before = [], None
            for rows, values in self.of(part, profile, shape):
                values = np.broadcast_to(values, (rows.stop - rows.start, *values.shape[1:]))
                both = values if before is None else np.concatenate([before, values])
                changes.append(np.abs(np.diff(both, axis=0)).max(axis=tuple(range(1, both.ndim))))
                before = values[-1:]
            largest = np.fmax(largest, np.concatenate(changes))
        return largest

    @cached_property
    def _probabilities(self) -> list[Expr]:
        """The outcome, and the linking functions in it that are probabilities."""
        outcome = self.layout.outcome.expression
        return [
            part
            for part in ancestry(outcome)
            if part is outcome
            or (
                isinstance(part, Call)
                and part.range in UNIT
                and any(isinstance(node, Latent) for node in ancestry(part))
            )
        ]

    @cached_property
    def _columns(self) -> dict[str, object]:
        dims = tuple(self.layout.dims)
        aligned = {
            feature.name: align(self.features[feature.name], feature, dims, per_item=True)
            for feature in self.layout.row_features
        }
        return {**self.constants, **aligned}


def spaced(
    changes: Callable[[np.ndarray], np.ndarray], low: float, high: float, fewest: int, most: int
) -> np.ndarray:
    """Choose lines of a grid, which are close together where probabilities change fast.

    Probabilities are computed at 2048 places. A step between two of them is located by halving the
    interval until it is resolved or its width is at the limit of rounding.

    Parameters
    ----------
    changes : callable
        Function that returns the largest change of a probability from each place to the next, given
        ascending places.
    low, high : float
        Ends of the grid.
    fewest, most : int
        Smallest and largest number of gaps between the lines.

    Returns
    -------
    ndarray
        Positions of the lines. No probability changes by more than 0.2 in a gap, unless this needs
        more than `most` gaps.

    Examples
    --------
    >>> def step(places):
    ...     return np.diff(places > 0.3).astype(float)
    >>> line = spaced(step, 0.0, 1.0, fewest=8, most=64)
    >>> len(line), np.abs(line - 0.3).min() < 1e-9
    (14, np.True_)
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
    gaps = min(math.ceil(worth[-1]), most)
    return np.asarray(np.interp(np.linspace(0, worth[-1], gaps + 1), worth, line))


_FARTHEST = 700.0  # on PyMC's unbounded scale: the exponential of larger numbers overflows
_WIDE = np.linspace(-40.0, 40.0, 321)  # a tail like 1 / z has fallen by 35 nats at 35


class Coordinates:
    r"""Coordinates of a layout's profile, one for each profile element.

    .. math:: z_k = m_k + s_k \sinh t_k

    transforms the coordinate t to PyMC's unbounded scale z, on which NUTS samples. The prior's
    median m is at t = 0, its standard deviation s, from its quartiles, is about 1 in t, and a tail
    of any power decreases exponentially.

    Parameters
    ----------
    layout : Layout
        Layout with the profile.
    deviations : frozenset of str
        Latents that are sampled as deviations from their location; see `noncentred`.

    Attributes
    ----------
    names : list of str
        Names of the profile elements.
    closed : ndarray of bool, shape (axes,)
        Whether a coordinate is on a circle, of which only one turn is integrated.
    ends : ndarray, shape (axes, 2)
        Coordinates at which the prior is negligible, or at which the turn ends.

    Raises
    ------
    LayoutError
        When PyMC does not accept a prior, or it cannot be drawn from.
    FitError
        When a prior cannot be normalised.

    Examples
    --------
    >>> from measurement_layouts import Capability, Success
    >>> coin = Coordinates(Layout("coin", Success("heads", Capability("p", low=0, high=1))))
    >>> profile, prior, stretch = coin.profile([np.array([coin.ends[0, 0], 0.0, coin.ends[0, 1]])])
    >>> profile["p"].round(1)
    array([0. , 0.5, 1. ])
    """

    def __init__(self, layout: Layout, deviations: frozenset[str] = frozenset()) -> None:
        with pm.Model(coords={dim: list(labels) for dim, labels in layout.dims.items()}) as model:
            variables = profile_variables(layout, deviations)
        drawn = free_values(layout, draw_prior(layout))
        self._shapes = [values.shape[1:] for values in drawn]
        sizes = [math.prod(shape) for shape in self._shapes]
        self._splits = np.cumsum(sizes)[:-1]
        self._latents = layout.latents
        self.names = [element.name for element in elements(layout)]
        turns = [model.rvs_to_transforms[variable] for variable in model.free_RVs]
        self.closed = np.repeat([getattr(turn, "name", "") == "circular" for turn in turns], sizes)
        values = [model.rvs_to_values[variable] for variable in model.free_RVs]
        inward = [*model.replace_rvs_by_values(list(variables.values())), model.logp()]
        self._inward = _for_many(inward, values, self._shapes)
        scaled = _for_many(outward(model), model.free_RVs, self._shapes)(*drawn)
        z = np.hstack([np.reshape(values, (len(values), -1)) for values in scaled])
        low, self._centre, high = np.quantile(z.clip(-_FARTHEST, _FARTHEST), [0.25, 0.5, 0.75], 0)
        self._spread = (high - low) / 1.349
        turn = np.arcsinh((np.array([[-np.pi], [np.pi]]) - self._centre) / self._spread)
        lines = [
            np.linspace(turn[0, axis], turn[1, axis], len(_WIDE)) if self.closed[axis] else _WIDE
            for axis in range(len(self.closed))
        ]
        _, prior, stretch = self.profile(np.ix_(*lines))
        self.ends = np.empty((len(lines), 2))
        for axis, (line, top) in enumerate(zip(lines, _tops(finite(prior + stretch)), strict=True)):
            high_enough = np.flatnonzero(top > top.max() - _NEGLIGIBLE)
            inside = high_enough[[0, -1]] + [-1, 1]
            if not self.closed[axis] and (inside[0] < 0 or inside[1] == len(line)):
                raise _not_normalised(self.names)
            self.ends[axis] = line[inside.clip(0, len(line) - 1)]

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
        prior : ndarray
            Log-density of the prior per unit of z, as for NUTS, in the common shape.
        stretch : ndarray
            Logarithm of dz/dt; the sum with `prior` is the log-density per unit of t.
        """
        t = np.stack(np.broadcast_arrays(*points), axis=-1)
        common = t.shape[:-1]
        with np.errstate(over="ignore"):
            z = (self._centre + self._spread * np.sinh(t)).reshape(-1, len(points))
            stretch = np.log(self._spread * np.cosh(t)).sum(axis=-1)
        by_variable = zip(np.split(z, self._splits, axis=1), self._shapes, strict=True)
        *values, prior = self._inward(*(rows.reshape(-1, *shape) for rows, shape in by_variable))
        profile, axis = {}, 0
        for latent, drawn in zip(self._latents, values, strict=True):
            profile[latent.name] = drawn.reshape(*common, *drawn.shape[1:])
            if not latent.parents and not latent.dims:
                along = tuple(slice(size) for size in points[axis].shape)
                profile[latent.name] = profile[latent.name][along]
            axis += math.prod(drawn.shape[1:])
        return profile, prior.reshape(common), stretch


def finite(logs: np.ndarray) -> np.ndarray:
    """Replace log-densities that are not finite by a very low one."""
    return np.where(np.isfinite(logs), logs, _UNDEFINED)


def _for_many(
    outputs: Sequence[Any], variables: Sequence[Any], shapes: Sequence[tuple[int, ...]]
) -> Callable[..., list[np.ndarray]]:
    """Compile outputs for many values of the variables at once; one thread at a time calls it."""
    many = [pt.tensor(dtype="float64", shape=(None, *shape)) for shape in shapes]
    graphs = vectorize_graph(outputs, dict(zip(variables, many, strict=True)))
    by_arrays = {  # uncompiled, PyTensor's softplus computes one number at a time
        node: pt.maximum(node.owner.inputs[0], 0) + pt.log1p(pt.exp(-pt.abs(node.owner.inputs[0])))
        for node in ancestors(graphs)
        if node.owner is not None and node.owner.op == pt.softplus
    }
    by_arrays |= {  # where a scale underflows to 0, the density is not finite, which is no error
        node: node.owner.inputs[0]
        for node in ancestors(graphs)
        if node.owner is not None and isinstance(node.owner.op, CheckParameterValue)
    }
    graphs = graph_replace(graphs, by_arrays, strict=False)
    function = pytensor.function(many, graphs, mode="FAST_COMPILE", on_unused_input="ignore")
    lock = threading.Lock()

    def call(*values: np.ndarray) -> list[np.ndarray]:
        with lock, np.errstate(all="ignore"):
            return [np.asarray(value) for value in function(*values)]

    return call


def _tops(logs: np.ndarray) -> list[np.ndarray]:
    """Return the highest log-density on each line, by axis."""
    axes = range(logs.ndim)
    return [logs.max(axis=tuple(other for other in axes if other != axis)) for axis in axes]


def _not_normalised(names: Sequence[str]) -> FitError:
    return FitError(
        f"the posterior of {' and '.join(names)} cannot be normalised: its density is undefined, "
        "or does not decrease towards the ends; give proper priors and linking functions that are "
        "defined over the whole range of their arguments"
    )


_GAPS = {1: (64, 2048), 2: (16, 256)}  # smallest and largest numbers of first gaps, by axes
_LINES = {1: 512, 2: 96}  # number of lines of a refined axis, by axes
_ROUNDS = 8  # largest number of refinements
_SHIFT, _SCALE = 0.003, 0.01  # sd: largest differences of means and sds without every other line
_BESIDE = np.array([[-1.0, 0.0, 1.0]])  # values of the other coordinate when one is examined


class Unresolved(Exception):  # noqa: N818 - no error of the user
    """A posterior has more detail than the grid."""


@dataclass(frozen=True)
class _Shared:
    """Coordinates, distinct items and first lines, which the subjects of a battery share."""

    coordinates: Coordinates
    features: Features  # of the distinct items
    kind: np.ndarray  # row of each item in these
    lines: list[np.ndarray]  # by axis


_shared = Recent[object, _Shared](16)  # batteries


def _prepared(battery: Battery) -> _Shared:
    names = [element.name for element in elements(battery.layout)]
    if len(names) > MOST:
        raise FitError(
            f"layout {battery.layout.name!r} has {len(names)} profile elements ({some(names)}), "
            f"but at most {MOST} can be integrated over; use method='nuts'"
        )
    key = compile_key(battery.layout), battery.digest
    return _shared.find(key, lambda: _prepare(battery, len(names)))


def _prepare(battery: Battery, axes: int) -> _Shared:
    layout = battery.layout
    coordinates = Coordinates(layout, noncentred(layout, battery.items))
    features, kind = battery.kinds
    constants = {constant.name: 0.5 for constant in layout.constants}
    chances = Chances(layout, features, int(kind.max()) + 1, constants)

    def changes(axis: int, places: np.ndarray) -> np.ndarray:
        points = [places[:, None] if other == axis else _BESIDE for other in range(axes)]
        profile, prior, _ = coordinates.profile(points)
        return chances.changes(profile, prior.shape)

    lines = [
        spaced(functools.partial(changes, axis), low, high, *_GAPS[axes])
        for axis, (low, high) in enumerate(coordinates.ends)
    ]
    return _Shared(coordinates, features, kind, lines)


class Grid:
    """Density of one subject's profile on the nodes of a grid, refined around its mass.

    Parameters
    ----------
    battery : Battery
        Layout and items.
    data : SubjectData
        Outcomes and constants.

    Raises
    ------
    FitError
        When the profile has more than two elements, or the density cannot be normalised.
    LayoutError
        When PyMC does not accept a prior, or it cannot be drawn from.
    Unresolved
        When means or standard deviations still depend on every other line.

    Attributes
    ----------
    coordinates : Coordinates
        Coordinates t of the grid.
    lines : list of ndarray
        Positions of the lines by axis.
    masses : ndarray
        Probability of each node: its density times half the distance of its neighbours.
    """

    def __init__(self, battery: Battery, data: SubjectData) -> None:
        shared = _prepared(battery)
        self.coordinates, self.lines = shared.coordinates, shared.lines
        self._outcome, self._dims = battery.layout.outcome.expression, len(battery.layout.dims)
        self._ways = float(log_ways(data.successes, data.trials).sum())
        failures = data.trials - data.successes
        right, wrong = (np.bincount(shared.kind, counts) for counts in (data.successes, failures))
        tried = np.flatnonzero(right + wrong)
        # kinds of items that are always solved are first, those never solved are last
        tried = tried[np.lexsort([wrong[tried] > 0, right[tried] == 0])]
        features = {name: values[tried] for name, values in shared.features.items()}
        self._chances = Chances(battery.layout, features, len(tried), data.constants)
        self._last, self._first = np.count_nonzero(right), len(tried) - np.count_nonzero(wrong)
        self._right, self._wrong = right[tried[: self._last]], wrong[tried[self._first :]]
        for _ in range(1 + _ROUNDS):
            _, logs, stretch = self.density(np.ix_(*self.lines))
            logs = finite(logs + stretch)
            if logs.max() <= _UNDEFINED / 2:
                raise _not_normalised(self.coordinates.names)
            if self._settled(logs):
                return
            tops = _tops(logs)
            self.lines = [
                _refined(*axis, _LINES[logs.ndim]) for axis in zip(self.lines, tops, strict=True)
            ]
        raise Unresolved

    def density(self, points: Sequence[np.ndarray]) -> tuple[Features, np.ndarray, np.ndarray]:
        """Compute profiles, log-density per unit of z and log dz/dt; as `Coordinates.profile`."""
        stop_if_told()
        profile, logs, stretch = self.coordinates.profile(points)
        likelihood = np.empty(logs.shape)
        for rows, values in self._chances.of(self._outcome, profile, logs.shape):
            chance = values.reshape(values.shape[: values.ndim - self._dims])
            chance = np.broadcast_to(chance, (*chance.shape[:-1], self._chances.items))
            chance = np.clip(chance, EDGE, 1 - EDGE)
            likelihood[rows] = np.vecdot(np.log(chance[..., : self._last]), self._right)
            likelihood[rows] += np.vecdot(np.log(1 - chance[..., self._first :]), self._wrong)
        return profile, logs + likelihood + self._ways, stretch

    def _settled(self, logs: np.ndarray) -> bool:
        """Whether all lines give the mass and moments of every other one, and none is outside."""
        density = np.exp(logs - logs.max())
        masses = _masses(self.lines, density)
        self.masses = masses / masses.sum()
        for axis, line in enumerate(self.lines):
            lines = [*self.lines[:axis], line[::2], *self.lines[axis + 1 :]]
            every_other = (slice(None),) * axis + (slice(None, None, 2),)
            rough = _masses(lines, density[every_other])
            (mean, sd), (rough_mean, rough_sd) = (
                _moments(one, each / each.sum(), axis)
                for one, each in ((line, masses), (line[::2], rough))
            )
            if not (
                abs(rough_mean - mean) < _SHIFT * sd
                and abs(rough_sd / sd - 1) < _SCALE
                and abs(rough.sum() / masses.sum() - 1) < _SCALE
            ):
                return False
            rim = np.take(self.masses, [0, -1], axis)
            if not self.coordinates.closed[axis] and rim.max() > 1e-6 * self.masses.max():
                return False
        return True


def _masses(lines: Sequence[np.ndarray], density: np.ndarray) -> np.ndarray:
    lengths = [np.convolve(np.diff(line), [0.5, 0.5]) for line in lines]
    return np.asarray(density * functools.reduce(np.multiply.outer, lengths))


def _moments(line: np.ndarray, masses: np.ndarray, axis: int) -> tuple[float, float]:
    """Mean and standard deviation of the draws: those of triangles around the lines."""
    along = masses.sum(axis=tuple(other for other in range(masses.ndim) if other != axis))
    below, above = np.diff(line, prepend=line[0]), np.diff(line, append=line[-1])
    mean = float(along @ (line + (above - below) / 3))
    far = line - mean
    spread = far * (far + (above - below) * 2 / 3) + (above**2 - above * below + below**2) / 6
    return mean, float(np.sqrt(along @ spread))


def _refined(line: np.ndarray, tops: np.ndarray, count: int) -> np.ndarray:
    """Add lines where the density may be high.

    A third of them are even, a third by mass and a third by the change of the density. In a gap,
    the density may be higher than on both lines, at most by what the slopes of the neighbouring
    gaps on both sides would add.
    """
    gaps, rises = np.diff(line), np.diff(tops)
    slopes = rises / gaps
    before, after = np.append(0.0, slopes[:-1]), np.append(slopes[1:], 0.0)
    hidden = np.minimum(before.clip(0), (-after).clip(0)) * gaps
    height = np.maximum(tops[:-1], tops[1:]) + hidden - tops.max()
    kept = gaps * (height > -_NEGLIGIBLE)
    mass = kept * np.exp(height.clip(max=0))
    jump = kept * np.abs(np.diff(np.exp(tops - tops.max()))) + 1e-300
    shares = [part / part.sum() for part in (kept, mass, jump)]
    worth = np.cumsum(np.append(0.0, sum(shares)))
    fresh = np.interp(np.linspace(0, worth[-1], count), worth, line)
    near = kept > 0
    beside = line[np.append(near, False) | np.append(False, near)]
    joined = np.unique(np.concatenate([fresh, beside]))
    return joined if len(joined) % 2 else np.insert(joined, 1, joined[:2].mean())


def integrate(battery: Battery, data: SubjectData, options: SamplingOptions, seed: int) -> Draws:
    r"""Draw from one subject's posterior without a Markov chain.

    The posterior of a profile of one or two elements,

    .. math:: p(\theta \mid k) \propto
       p(\theta) \prod_i \mathrm{Binomial}\left(k_i; n_i, P_i(\theta)\right),

    is computed on a grid, which is dense where a probability of success changes and is refined
    around its mass, so that distant modes are included. Draws are independent and exact for the
    density that is linear between neighbouring nodes.

    Parameters
    ----------
    battery : Battery
        Layout and items.
    data : SubjectData
        Outcomes and constants.
    options : SamplingOptions
        Numbers of draws and chains; other options are ignored.
    seed : int
        Seed of the draws.

    Returns
    -------
    Draws
        Independent draws, assigned to the chains in random order. The statistics are those of
        NUTS: ``lp`` is the same log-density; no draw diverges; ``tree_depth`` is 0; and
        ``energy``, which is not defined here, is NaN.

    Raises
    ------
    FitError, LayoutError, Unresolved
        As `Grid`.

    Examples
    --------
    >>> from measurement_layouts import Capability, Layout, Success
    >>> coin = Layout("coin", Success("heads", Capability("p", low=0, high=1)))
    >>> data = SubjectData(successes=np.array([16]), trials=np.array([24]), constants={})
    >>> drawn = integrate(Battery(coin, {}, items=1), data, SamplingOptions(), seed=1)
    >>> values = drawn.posterior["p"]
    >>> values.shape, float(values.mean().round(3)), round(17 / 26, 3)
    ((4, 1000), 0.654, 0.654)
    """
    grid = Grid(battery, data)
    rng = np.random.default_rng(seed)
    shape = options.chains, options.draws
    count = math.prod(shape)
    # evenly spread over the nodes in order, which makes means more precise than independent ones
    levels = (np.arange(count) + rng.random(count)) / count
    order = rng.permutation(count)
    nodes = np.searchsorted(np.cumsum(grid.masses), levels * grid.masses.sum())[order]
    places = np.unravel_index(nodes.clip(max=grid.masses.size - 1), grid.masses.shape)
    points = [_beside(rng, line, place) for line, place in zip(grid.lines, places, strict=True)]
    profile, logs, _ = grid.density(points)
    return Draws(
        {name: values.reshape(*shape, *values.shape[1:]) for name, values in profile.items()},
        {
            "diverging": np.zeros(shape, dtype=bool),
            "energy": np.full(shape, np.nan),
            "tree_depth": np.zeros(shape, dtype=np.uint64),
            "lp": logs.reshape(shape),
        },
    )


def _beside(rng: np.random.Generator, line: np.ndarray, place: np.ndarray) -> np.ndarray:
    """Draw from the triangles around lines: 1 at a line, 0 at both of its neighbours."""
    padded = np.concatenate([line[:1], line, line[-1:]])
    below, above = line[place] - padded[place], padded[place + 2] - line[place]
    upward = rng.random(len(place)) * (below + above) < above
    far = 1 - np.sqrt(rng.random(len(place)))
    return np.asarray(line[place] + far * np.where(upward, above, -below))
