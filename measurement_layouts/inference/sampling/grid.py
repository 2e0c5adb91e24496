"""Posteriors of layouts with one or two profile elements, integrated on a grid instead of NUTS."""

import functools
import math
from collections.abc import Sequence

import numpy as np

from ...common.cache import Recent
from ...common.errors import FitError
from ...common.messages import some
from ...evaluations.subject_data import SubjectData
from ...layouts.elements import elements
from ..model.bands import ends, find_bands
from ..model.pymc_model import compile_key
from ..model.variables import noncentred
from .draws import MODES_SEARCHED, Draws, SamplingOptions
from .engine import Battery, compile_sampler
from .scan import FARTHEST, banded_axes, coordinates, places
from .unbounded import UNDEFINED, LogDensity

MOST = 2  # largest number of profile elements
_PLACES = {1: (2048, 2048), 2: (24, 128)}  # first lines over the prior, and of those in a band
_ROUNDS = 48  # times that gaps are halved, to the limit of rounding
_NODES = 2**18  # largest number of nodes
_FEWEST = 5  # first lines of two axes that must have mass
_NEGLIGIBLE = 35.0  # nats: lines that are further below the highest node are left out
_EXACT = 1e-4  # part of the mass that a line may change


class Unresolved(Exception):  # noqa: N818 - no error of the user
    """A posterior has more detail than the grid."""


def integrate(battery: Battery, data: SubjectData, options: SamplingOptions, seed: int) -> Draws:
    r"""Draw from one subject's posterior without a Markov chain.

    The posterior of a profile of one or two elements,

    .. math:: p(\theta \mid k) \propto
       p(\theta) \prod_i \mathrm{Binomial}\left(k_i; n_i, P_i(\theta)\right),

    is computed on a grid on PyMC's unbounded scale, by the log-density that NUTS would sample. The
    grid has lines at the ends of bands, and more are added in gaps where the posterior's mass
    depends on them, so that narrow and distant modes are included. Draws are independent and exact
    for the density that is linear between neighbouring nodes.

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
    FitError
        When the profile has more than two elements, or the density cannot be normalised.
    LayoutError
        When PyMC does not accept a prior, or it cannot be drawn from.
    Unresolved
        When a latent's prior depends on another latent and it is not sampled as a deviation, or as
        `resolved`, also with four times as many first lines.

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
    names = [element.name for element in elements(battery.layout)]
    if len(names) > MOST:
        raise FitError(
            f"layout {battery.layout.name!r} has {len(names)} profile elements ({some(names)}), "
            f"but at most {MOST} can be integrated over; use method='nuts'"
        )
    layout, deviations = battery.layout, noncentred(battery.layout, battery.items)
    if any(latent.parents and latent.name not in deviations for latent in layout.latents):
        raise Unresolved  # lines along the axes may miss the narrow end of a funnel
    density = LogDensity(compile_sampler(battery).on(data))
    try:
        lines, masses = resolved(density, _lines(battery, density, 1), names)
    except Unresolved:
        lines, masses = resolved(density, _lines(battery, density, 4), names)
    rng = np.random.default_rng(seed)
    shape = options.chains, options.draws
    count = math.prod(shape)
    # evenly spread over the nodes in order, which makes means more precise than independent ones
    levels = (np.arange(count) + rng.random(count)) / count
    order = rng.permutation(count)
    nodes = np.searchsorted(np.cumsum(masses), levels * masses.sum())[order]
    rows = np.unravel_index(nodes.clip(max=masses.size - 1), masses.shape)
    beside = [_beside(rng, line, row) for line, row in zip(lines, rows, strict=True)]
    at = np.stack(beside, axis=1)
    profiles, logs = density.profiles(at), density.at_all(at)[0]
    statistics = {
        "diverging": np.zeros(shape, dtype=bool),
        "energy": np.full(shape, np.nan),
        "tree_depth": np.zeros(shape, dtype=np.uint64),
        "lp": logs.reshape(shape),
    }
    if find_bands(layout):
        statistics[MODES_SEARCHED] = np.ones(shape, dtype=bool)
    values = {latent.name: profiles[latent.name] for latent in layout.latents}
    by_chain = {name: drawn.reshape(*shape, *drawn.shape[1:]) for name, drawn in values.items()}
    return Draws(by_chain, statistics)


_first = Recent[object, list[np.ndarray]](16)


def _lines(battery: Battery, density: LogDensity, finer: int) -> list[np.ndarray]:
    """Place the first lines, once for the subjects of a battery: even, and at bands' ends."""
    key = compile_key(battery.layout), battery.digest, finer
    return _first.find(key, lambda: _placed(battery, density, finer))


def _placed(battery: Battery, density: LogDensity, finer: int) -> list[np.ndarray]:
    layout, banded, axes = battery.layout, banded_axes(battery), elements(battery.layout)
    counts = [finer * _PLACES[len(axes)][axis in banded] for axis in range(len(axes))]
    base = np.zeros(len(axes))
    lines = [places(battery, density, axis, count, base) for axis, count in enumerate(counts)]
    for band in find_bands(layout):
        limits = ends(band, dict(battery.features), layout)
        if limits is None or band.latent is None or band.latent.dims or band.latent.parents:
            continue
        with np.errstate(invalid="ignore"):  # infinite ends
            centre, half = np.add(*limits) / 2, np.subtract(*limits[::-1]) / 2
            wide = np.maximum(half, (band.min_width or 0) / 2)
            at = np.unique([*limits, centre - wide, centre + wide])
        axis = [element.latent for element in axes].index(band.latent)
        added = coordinates(battery, density, axis, at, base)
        lines[axis] = np.union1d(lines[axis], added[np.abs(added) < FARTHEST])
    return lines


def resolved(
    density: LogDensity, lines: Sequence[np.ndarray], names: Sequence[str]
) -> tuple[list[np.ndarray], np.ndarray]:
    """Add lines to a grid until its masses no longer depend on single lines.

    A gap is halved if the trapezoidal rule without one of its lines would change the total mass by
    more than 1e-4 of it, and if the density changes by as much in the gap.

    Parameters
    ----------
    density : LogDensity
        Log-density of the subject.
    lines : sequence of ndarray
        Ascending positions of the first lines, by axis.
    names : sequence of str
        Names of the axes, for the message.

    Returns
    -------
    lines : list of ndarray
        Positions of the lines, by axis.
    masses : ndarray
        Mass of each node: its density times half the distance of its neighbours.

    Raises
    ------
    FitError
        When the density is nowhere defined, or does not decrease towards the ends.
    Unresolved
        When there would be too many nodes, or too few of the first lines of two axes have mass.
    """
    lines = list(lines)
    logs = _at(density, lines)
    for axis, line in enumerate(lines):
        tops = np.moveaxis(logs, axis, 0).reshape(len(line), -1).max(axis=1)
        high = tops > tops.max() - _NEGLIGIBLE
        if tops.max() <= UNDEFINED / 2 or (line[-1] >= FARTHEST and high[[0, -1]].any()):
            raise FitError(
                f"the posterior of {' and '.join(names)} cannot be normalised: its density is "
                "undefined, or does not decrease towards the ends; give proper priors and linking "
                "functions that are defined over the whole range of their arguments"
            )
        if len(lines) > 1 and np.count_nonzero(high) < _FEWEST:
            raise Unresolved  # a ridge between the axes may be narrower than the gaps
        near = np.convolve(high, [1, 1, 1], mode="same") > 0
        lines[axis], logs = line[near], np.compress(near, logs, axis)
    for _ in range(_ROUNDS):
        settled = True
        for axis, line in enumerate(lines):
            halved = _rough(lines, logs, axis)
            if len(halved):
                settled = False
                middle = (line[halved] + line[halved + 1]) / 2
                added = _at(density, [*lines[:axis], middle, *lines[axis + 1 :]])
                logs = np.insert(logs, halved + 1, added, axis)
                lines[axis] = np.insert(line, halved + 1, middle)
        if settled:
            return lines, _masses(lines, np.exp(logs - logs.max()))
        if logs.size > _NODES:
            break
    raise Unresolved


def _at(density: LogDensity, lines: Sequence[np.ndarray]) -> np.ndarray:
    """Compute the log-density on the nodes of a grid."""
    nodes = np.stack(np.meshgrid(*lines, indexing="ij"), axis=-1)
    return density.at_all(nodes.reshape(-1, len(lines)))[0].reshape(nodes.shape[:-1])


def _rough(lines: Sequence[np.ndarray], logs: np.ndarray, axis: int) -> np.ndarray:
    """Return in which gaps along an axis the total mass depends on the lines."""
    masses = _masses(lines, np.exp(logs - logs.max()))
    lengths, gaps = _lengths(lines[axis]), np.diff(lines[axis])
    along = np.moveaxis(masses, axis, 0).reshape(len(lengths), -1) / lengths[:, None]
    jump = np.abs(np.diff(along, axis=0)).sum(axis=1) * gaps / 2
    below, above = gaps[:-1, None], gaps[1:, None]
    without = (below + above) * along[1:-1] - above * along[:-2] - below * along[2:]
    rough = np.pad(np.abs(without).sum(axis=1) / 2 > _EXACT * masses.sum(), 1)
    apart = gaps > 4 * np.spacing(np.abs(lines[axis][1:]))
    return np.flatnonzero((rough[:-1] | rough[1:]) & (jump > _EXACT * masses.sum()) & apart)


def _masses(lines: Sequence[np.ndarray], density: np.ndarray) -> np.ndarray:
    """Multiply the density of each node by half the distances of its neighbours."""
    return np.asarray(density * functools.reduce(np.multiply.outer, map(_lengths, lines)))


def _lengths(line: np.ndarray) -> np.ndarray:
    return np.convolve(np.diff(line), [0.5, 0.5])


def _beside(rng: np.random.Generator, line: np.ndarray, row: np.ndarray) -> np.ndarray:
    """Draw from the triangles around lines: 1 at a line, 0 at both of its neighbours."""
    padded = np.concatenate([line[:1], line, line[-1:]])
    below, above = line[row] - padded[row], padded[row + 2] - line[row]
    upward = rng.random(len(row)) * (below + above) < above
    far = 1 - np.sqrt(rng.random(len(row)))
    return np.asarray(line[row] + far * np.where(upward, above, -below))
