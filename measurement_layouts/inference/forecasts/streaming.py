"""Summaries of all draws on many items, computed for a few items at a time to bound memory."""

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import joblib
import numpy as np

from ...common.errors import FitError
from ...common.threads import thread_count
from ...linking import Expr
from ...linking.real import real
from ..model.alignment import Features
from ..posterior.posterior import Posterior
from .blocks import Block, group_alike
from .factored import Factored
from .reading import Drawn, Reader, reader_of

SUMMARY = ("mean", "low", "high")
_MOST_ITEMS = 2048  # items in a piece at most
# Bounds of intermediate results of the items and draws that are computed together:
_CACHED = 2 * 2**20  # bytes that fit into a processor's cache
_MANY_DRAWS = 128  # with fewer draws at a time, look-ups dominate the time, so more bytes are used,
_ON_THE_WAY = 16 * 2**20  # up to this number
_FEW_DRAWS = 32  # with fewer draws at a time, calls dominate the time, so a piece has fewer items,
_NO_HELP = 0.7  # unless its parts would then need more than this part of its memory


def summaries(
    reader: Reader,
    rows: np.ndarray,
    features: Features,
    items: int,
    targets: Sequence[Expr],
    *,
    prob: float,
    memory_mib: object,
) -> list[np.ndarray]:
    """Compute posterior means and intervals of nodes, per subject and item.

    One subject's draws are read at a time. Subjects and items are computed in parallel on threads.
    Neither the number of threads nor the bound of memory changes a result.

    Parameters
    ----------
    reader : Reader
        Reader of the subjects' draws.
    rows : ndarray of int
        Positions of the subjects for the reader.
    features : dict of str to ndarray
        By meta-feature, shape (items,) or (items, labels).
    items : int
        Number of items.
    targets : sequence of expression
        Derived nodes and outcomes, parents before children.
    prob : float
        Mass of the equal-tailed intervals.
    memory_mib : float
        Bound of the memory used during the computation, by all threads together, in MiB.

    Returns
    -------
    list of ndarray
        By target, shape (3, subjects, items, labels, ...): mean, low and high.

    Raises
    ------
    FitError
        When the bound is not a positive number.
    """
    threads = thread_count()
    bound = byte_count(memory_mib) / threads
    dims = reader.layout.dims
    axes = [tuple(len(dims[dim]) for dim in dims if dim in target.dims) for target in targets]
    found = [np.empty((len(SUMMARY), len(rows), items, *shape)) for shape in axes]
    if not len(rows) or not items:
        return found
    alike = group_alike(features, items)
    plan = _Plan(reader, features, *alike, targets, reader.read(rows[0]), bound)
    pieces = list(plan.pieces())
    work = (
        (place, piece, drawn)
        for place, row in enumerate(rows)
        for drawn in [reader.read(row)]
        for piece in pieces
    )
    one = joblib.delayed(_summarise)
    jobs = min(threads, len(rows) * len(pieces))
    pool = joblib.Parallel(n_jobs=jobs, require="sharedmem", return_as="generator")
    for place, piece, computed in pool(one(*part, targets, prob) for part in work):
        for result, values in zip(found, computed, strict=True):
            result[:, place, piece.block.items] = values
    return found


def probabilities(
    fit: Posterior, row: int, features: Features, items: int, *, memory_mib: float
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Stream one subject's success probabilities for all draws, some items at a time.

    Parameters
    ----------
    fit : Posterior
        The fit, with the subjects' profiles.
    row : int
        Position of the subject in the fit.
    features : dict of str to ndarray
        By meta-feature, shape (items,) or (items, labels).
    items : int
        Number of items.
    memory_mib : float
        Bound of the memory used during the computation, in MiB; a yielded array takes at most half
        of it.

    Yields
    ------
    places : ndarray of int
        Positions of some of the items.
    probabilities : ndarray, shape (places, chains * draws)
        Success probabilities, with the chains in order.

    Examples
    --------
    >>> from measurement_layouts.inference.fitting import fit
    >>> from measurement_layouts.scenarios import animal_ai_olympics as aaio
    >>> cohort = aaio.simulated_cohort()
    >>> result = fit(aaio.published_layout(), cohort.evaluation, subjects=["sim-01"],
    ...              draws=100, tune=200, chains=2, seed=1, progressbar=False)
    >>> features = {name: result.constants[name].to_numpy() for name in
    ...             ("rewardSize", "rewardDistance", "rewardBehind", "XPos")}
    >>> parts = probabilities(result, 0, features, items=69, memory_mib=0.05)
    >>> places, chances = next(parts)
    >>> chances.shape == (len(places), 200)
    True
    """
    return every_draw(fit, row, features, items, fit.layout.outcome, memory_mib=memory_mib)


def every_draw(
    fit: Posterior,
    row: int,
    features: Features,
    items: int,
    target: Expr,
    *,
    memory_mib: float,
    instead: Mapping[str, np.ndarray] = MappingProxyType({}),
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Stream a target computed for all of one subject's draws, some items at a time.

    Parameters
    ----------
    fit, row, items, memory_mib
        As in `probabilities`.
    features : dict of str to ndarray
        By meta-feature, shape (items,) or (items, labels), and other numbers that the target needs.
    target : expression
        A node of the layout or an expression of its nodes, with one number per item.
    instead : mapping of str to ndarray, shape (items, chains * draws)
        By latent with a value for each item, values that replace its draws.

    Yields
    ------
    places : ndarray of int
        Positions of some of the items.
    values : ndarray, shape (places, chains * draws)
        Values of the target, with the chains in order.
    """
    reader = reader_of(fit, features)
    drawn = reader.read(row)
    for name, values in instead.items():
        table = np.empty_like(values)
        table[reader.levels[name]] = values
        drawn = replace(drawn, profile={**drawn.profile, name: table})
    yield from read_draws(reader, drawn, features, items, target, memory_mib=memory_mib)


def read_draws(
    reader: Reader,
    drawn: Drawn,
    features: Features,
    items: int,
    target: Expr,
    *,
    memory_mib: float,
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Stream a target computed for given draws; parameters are as in `every_draw`."""
    alike = group_alike(features, items)
    plan = _Plan(reader, features, *alike, [target], drawn, byte_count(memory_mib))
    for piece in plan.pieces():
        ((value, rows),) = _computed(piece, drawn, [target])
        yield piece.block.items, rows[piece.block.places(value, target)]


def gathered(
    parts: Iterable[tuple[np.ndarray, np.ndarray]], items: int, step: int = 1
) -> np.ndarray:
    """Join the parts of a stream into one array, (items, draws), with every `step`-th draw."""
    found = np.empty((items, 0))
    for places, values in parts:
        if not found.size:
            found = np.empty((items, len(range(0, values.shape[1], step))))
        found[places] = values[:, ::step]
    return found


@dataclass(frozen=True, eq=False)
class _Piece:
    """Items and draws that are computed together."""

    block: Block
    step: int  # draws computed together


@dataclass(frozen=True, eq=False)
class _Plan:
    """Division of items into pieces that need no more memory than the bound."""

    reader: Reader
    features: Features
    order: np.ndarray
    number: np.ndarray
    targets: Sequence[Expr]
    example: Drawn
    bound: float  # bytes

    def pieces(self) -> Iterator[_Piece]:
        items, most = int(self.number[-1]) + 1, self.bound / 2 / (8 * self.example.draws)
        yield from self._cut(0, items, items / np.clip(most, 1, _MOST_ITEMS), math.inf)

    def _cut(self, start: int, stop: int, need: float, before: float) -> Iterator[_Piece]:
        """Divide distinct items into parts of equal size, so that each needs at most the bound."""
        for begin, end in _parts(start, stop, math.ceil(min(need, stop - start))):
            yield from self._fitting(begin, end, before)

    def _fitting(self, start: int, stop: int, before: float) -> Iterator[_Piece]:
        """Measure one draw's need, and divide further if the piece is too large and that helps."""
        begin, end = np.searchsorted(self.number, [start, stop])
        alike = self.number[begin:end] - start
        items, levels = self.order[begin:end], self.reader.levels
        block = Block.of(self.reader.layout, self.features, items, alike, levels)
        found = block.values(self.targets, self.example.part(0, 1), self.example.constants)
        draws = self.example.draws
        kept = 8 * draws * sum(len(value.table) for value in found)
        each, half = 8 * max(1, block.frame.made), self.bound / 2
        most = min(half, _ON_THE_WAY) / each
        need = max(kept / half, min(draws, _FEW_DRAWS) / most)
        if need > 1 and stop - start > 1 and need < _NO_HELP * before:
            yield from self._cut(start, stop, need, need)
        else:
            step = min(most, max(_CACHED / each, _MANY_DRAWS))
            yield _Piece(block, int(np.clip(step, 1, draws)))


def _summarise(
    place: int,
    piece: _Piece,
    drawn: Drawn,
    targets: Sequence[Expr],
    prob: float,
) -> tuple[int, _Piece, list[np.ndarray]]:
    """Compute a piece for all of one subject's draws, and summarise the results."""
    found: list[np.ndarray] = []
    for (value, rows), target in zip(_computed(piece, drawn, targets), targets, strict=True):
        places = piece.block.places(value, target)
        varies = value.table.ndim > 1
        summary = mean_and_interval(rows, prob) if varies else np.tile(value.table, (3, 1))
        found.append(summary[:, places])
    return place, piece, found


def _computed(
    piece: _Piece, drawn: Drawn, targets: Sequence[Expr]
) -> list[tuple[Factored, np.ndarray]]:
    """Compute the targets of a piece: their cells, and the values of each cell for all draws."""
    kept = list[np.ndarray]()
    for start, stop in _parts(0, drawn.draws, math.ceil(drawn.draws / piece.step)):
        values = piece.block.values(targets, drawn.part(start, stop), drawn.constants)
        kept = kept or [np.empty((len(value.table), drawn.draws)) for value in values]
        for rows, value in zip(kept, values, strict=True):
            rows[:, start:stop] = value.table if value.table.ndim > 1 else value.table[:, None]
    return list(zip(values, kept, strict=True))


def _parts(start: int, stop: int, count: int) -> Iterator[tuple[int, int]]:
    """Divide a range into parts of equal size."""
    return itertools.pairwise(np.linspace(start, stop, count + 1).astype(int).tolist())


def byte_count(memory_mib: object) -> float:
    """Convert a bound of memory in MiB to bytes.

    Raises
    ------
    FitError
        When it is not a positive number.
    """
    number = None if isinstance(memory_mib, bool) else real(memory_mib)
    if number is None or not 0 < number < math.inf:
        raise FitError(f"memory_mib={memory_mib!r}; give a positive number of MiB, such as 256")
    return max(1.0, number * 2**20)


def mean_and_interval(rows: np.ndarray, prob: float) -> np.ndarray:
    """Compute every row's mean and the ends of its equal-tailed interval.

    Parameters
    ----------
    rows : ndarray of float, shape (rows, draws)
        Draws; they are reordered in place, which saves a copy.
    prob : float
        Mass of the interval.

    Returns
    -------
    ndarray, shape (3, rows)
        Mean, low and high. The ends are equal to those of `numpy.quantile`, and NaN where a draw
        is NaN.

    Examples
    --------
    >>> mean_and_interval(np.array([[4.0, 1.0, 2.0, 3.0, 5.0]]), prob=0.5).ravel()
    array([3., 2., 4.])
    """
    mean = rows.mean(axis=1)
    most = rows.shape[1] - 1
    places = most * np.array([(1 - prob) / 2, (1 + prob) / 2])
    below = np.floor(places).astype(int)
    above = np.minimum(below + 1, most)
    unknown = np.isnan(rows).any(axis=1) if np.isnan(mean).any() else np.zeros(len(rows), bool)
    # non-negative floats are ordered like the integers with the same bits, which sort faster
    bits = rows.view(np.int64)
    (bits if bits.min(initial=0) >= 0 else rows).partition([*below, *above], axis=1)
    low, high = rows[:, below], rows[:, above]
    share = places - below
    with np.errstate(invalid="ignore"):  # both may be infinite, and are then equal
        between = np.where(
            share < 0.5, low + (high - low) * share, high - (high - low) * (1 - share)
        )
    ends = np.where(low == high, low, between)
    return np.vstack([mean, np.where(unknown, np.nan, ends.T)])
