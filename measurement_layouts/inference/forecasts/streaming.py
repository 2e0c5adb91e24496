"""Values of formulas for all draws and many items, computed for a few at a time to bound memory."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from ...common.errors import FitError
from ...common.threads import thread_count
from ...linking import Expr
from ...linking.real import real
from ..distinct import in_order
from ..evaluator import CACHED, Evaluator
from ..model.alignment import Features
from ..posterior.posterior import Posterior
from .reading import Drawn, Reader, reader_of

SUMMARY = ("mean", "low", "high")
_MOST_ITEMS = 2048  # items in a piece at most
_FEW_DRAWS = 16  # with fewer draws at a time, calls dominate the time, so a piece has fewer items,
_NO_HELP = 0.7  # unless its parts would then need more than this part of its memory
_ARRAYS = 16  # intermediate results of a piece, with its values, in the bound of memory


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
    results = [np.empty((len(SUMMARY), len(rows), items, *shape)) for shape in axes]
    if not len(rows) or not items:
        return results
    pieces = list(_pieces(reader, features, items, targets, reader.read(rows[0]), bound))

    def summarise(place: int, piece: _Piece, drawn: Drawn) -> None:
        computed = piece.evaluator(drawn.values)
        for result, values in zip(results, computed, strict=True):
            summary = mean_and_interval(values.reshape(-1, values.shape[-1]), prob)
            summary = summary.reshape(len(SUMMARY), *values.shape[:-1])
            result[:, place, piece.items] = summary[:, piece.evaluator.row]

    with ThreadPoolExecutor(threads) as pool:
        for place, row in enumerate(rows):
            drawn = reader.read(row)
            jobs = [pool.submit(summarise, place, piece, drawn) for piece in pieces]
            for job in jobs:
                job.result()
    return results


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
        drawn = replace(drawn, values={**drawn.values, name: table})
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
    bound = byte_count(memory_mib)
    for piece in _pieces(reader, features, items, [target], drawn, bound):
        (values,) = piece.evaluator(drawn.values)
        yield piece.items, values[piece.evaluator.row]


def gathered(
    parts: Iterable[tuple[np.ndarray, np.ndarray]], items: int, step: int = 1
) -> np.ndarray:
    """Join the parts of a stream into one array, (items, draws), with every `step`-th draw."""
    joined = np.empty((items, 0))
    for places, values in parts:
        if not joined.size:
            joined = np.empty((items, len(range(0, values.shape[1], step))))
        joined[places] = values[:, ::step]
    return joined


@dataclass(frozen=True, eq=False)
class _Piece:
    """Items that are computed together."""

    items: np.ndarray
    evaluator: Evaluator


def _pieces(
    reader: Reader,
    features: Features,
    items: int,
    targets: Sequence[Expr],
    drawn: Drawn,
    bound: float,
) -> Iterator[_Piece]:
    """Divide items into pieces that need no more memory than the bound, in bytes.

    Items that share many values are computed together.
    """
    order, number = group_alike(features, items)
    count = int(number[-1]) + 1
    size = int(np.clip(bound / 2 / (8 * drawn.draws), 1, min(_MOST_ITEMS, count)))
    together = int(np.clip(bound / _ARRAYS / 8, 1, CACHED))  # numbers of one intermediate result
    limit = max(1, together // _FEW_DRAWS)
    start, before = 0, math.inf
    while start < count:
        chosen = order[slice(*np.searchsorted(number, [start, start + size]))]
        evaluator = Evaluator(
            reader.layout,
            targets,
            {name: values[chosen] for name, values in features.items()},
            len(chosen),
            {name: codes[chosen] for name, codes in reader.levels.items()},
            together=together,
        )
        volume = evaluator.volume
        if size > 1 and limit < volume < _NO_HELP * before:
            before, size = volume, max(1, size * limit // volume)
            continue
        yield _Piece(chosen, evaluator)
        start += size


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


def group_alike(features: Features, items: int) -> tuple[np.ndarray, np.ndarray]:
    """Sort items so that neighbours share many values, and number the distinct items.

    Parameters
    ----------
    features : dict of str to ndarray
        By meta-feature, shape (items,) or (items, labels).
    items : int
        Number of items.

    Returns
    -------
    order : ndarray of int
        Positions of all items; items with the same meta-features are neighbours.
    number : ndarray of int
        For every item in that order, the number of its distinct item, counted from 0.

    Examples
    --------
    >>> group_alike({"size": np.array([2.0, 1.0, 2.0])}, items=3)
    (array([1, 0, 2]), array([0, 1, 1]))
    """
    columns = [
        column for values in features.values() for column in values.reshape(items, -1).T
    ] or [np.zeros(items)]
    columns.sort(key=lambda column: len(np.unique(column)))  # most values: the primary sort key
    return in_order(columns)
