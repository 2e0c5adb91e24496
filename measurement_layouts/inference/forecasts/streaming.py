"""Values of formulas for all draws and many items, computed for a few at a time to bound memory."""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from ...common.threads import thread_count
from ...linking import Expr
from ..evaluator import CACHED, Draws, Evaluator
from ..model.alignment import Features
from ..posterior.posterior import Posterior
from .scope import Block, Scope, block_of, byte_count

SUMMARY = ("mean", "low", "high")
_MOST_ITEMS = 2048  # items that are computed together at most
_ARRAYS = 16  # intermediate results of a computation, with its values, in the bound of memory

type Piece = tuple[np.ndarray, Evaluator]
"""Positions of items that are computed together, and their formulas."""


def summaries(
    blocks: Iterable[Block],
    subjects: Iterable[int],
    targets: Sequence[Expr],
    *,
    prob: float,
    memory_mib: object,
) -> list[np.ndarray]:
    """Compute posterior means and intervals of nodes, per subject and item.

    One subject's draws are read at a time. Its items are computed in parallel on threads. Neither
    the number of threads nor the bound of memory changes a result.

    Parameters
    ----------
    blocks : iterable of Block
        The subjects, with some items at a time.
    subjects : iterable of int
        Positions of the subjects in the blocks.
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
    bound, rows = byte_count(memory_mib), list(subjects)
    results = [_summaries(block, rows, targets, prob, bound) for block in blocks]
    return [np.concatenate(values, axis=2) for values in zip(*results, strict=True)]


def _summaries(
    block: Block, subjects: list[int], targets: Sequence[Expr], prob: float, bound: float
) -> list[np.ndarray]:
    threads, dims = thread_count(), block.layout.dims
    labels = [tuple(len(dims[dim]) for dim in dims if dim in target.dims) for target in targets]
    shape = len(SUMMARY), len(subjects), block.items
    results = [np.empty((*shape, *of_target)) for of_target in labels]
    if not subjects or not block.items:
        return results
    prepared = list(pieces(block, targets, block.read(subjects[0]), bound / threads))

    def summarise(place: int, piece: Piece, drawn: Draws) -> None:
        items, evaluator = piece
        for result, values in zip(results, evaluator(drawn), strict=True):
            summary = mean_and_interval(values.reshape(-1, values.shape[-1]), prob)
            summary = summary.reshape(len(SUMMARY), *values.shape[:-1])
            result[:, place, items] = summary[:, evaluator.row]

    with ThreadPoolExecutor(threads) as pool:
        for place, subject in enumerate(subjects):
            drawn = block.read(subject)
            for job in [pool.submit(summarise, place, piece, drawn) for piece in prepared]:
                job.result()
    return results


def every_draw(
    fit: Posterior,
    row: int,
    features: Features,
    items: int,
    target: Expr | None = None,
    *,
    memory_mib: float,
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Stream the values of a formula for all of one subject's draws, some items at a time.

    Parameters
    ----------
    fit : Posterior
        The fit, with the subjects' profiles.
    row : int
        Position of the subject in the fit.
    features : dict of str to ndarray
        By meta-feature, shape (items,) or (items, labels), and other numbers that the target needs.
    items : int
        Number of items.
    target : expression, optional
        A node of the layout or an expression of its nodes, with one number per item (default: the
        outcome, and so the probability of success).
    memory_mib : float
        Bound of the memory used during the computation, in MiB; a yielded array takes at most half
        of it.

    Yields
    ------
    places : ndarray of int
        Positions of some of the items.
    values : ndarray, shape (places, chains * draws)
        Values of the target, with the chains in order.

    Examples
    --------
    >>> from measurement_layouts.inference.fitting import fit
    >>> from measurement_layouts.scenarios import animal_ai_olympics as aaio
    >>> cohort = aaio.simulated_cohort()
    >>> result = fit(aaio.published_layout(), cohort.evaluation, subjects=["sim-01"],
    ...              draws=100, tune=200, chains=2, seed=1, progressbar=False)
    >>> features = {name: result.constants[name].to_numpy() for name in
    ...             ("rewardSize", "rewardDistance", "rewardBehind", "XPos")}
    >>> places, chances = next(every_draw(result, 0, features, items=69, memory_mib=0.05))
    >>> chances.shape == (len(places), 200)
    True
    """
    block = block_of(fit, features, items)
    target = fit.layout.outcome if target is None else target
    yield from values_of(block, block.read(row), target, memory_mib=memory_mib)


def values_of(
    block: Block, drawn: Draws, target: Expr, *, memory_mib: float
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Stream the values of a formula for given draws; they are yielded as in `every_draw`."""
    for items, evaluator in pieces(block, [target], drawn, byte_count(memory_mib)):
        (values,) = evaluator(drawn)
        yield items, values[evaluator.row]


def gathered(values: Iterable[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """Join the values of a stream into one array, (items, draws)."""
    joined = [part for _, part in values]
    return np.concatenate(joined) if joined else np.empty((0, 0))


def all_draws(
    blocks: Iterable[Block], subject: int, target: Expr, *, memory_mib: float
) -> np.ndarray:
    """Compute a formula for the draws of one subject, by its position; shape (items, draws)."""
    streams = (
        values_of(block, block.read(subject), target, memory_mib=memory_mib) for block in blocks
    )
    return gathered(itertools.chain.from_iterable(streams))


def chances(scope: Scope, *, memory_mib: float) -> Iterator[np.ndarray]:
    """Yield each subject's success probabilities, (items, draws)."""
    blocks = list(scope.blocks(scope.features, len(scope.items), memory_mib))
    for subject in range(len(scope.names)):
        yield all_draws(blocks, subject, scope.fit.layout.outcome, memory_mib=memory_mib)


def pieces(block: Block, targets: Sequence[Expr], drawn: Draws, bound: float) -> Iterator[Piece]:
    """Divide items into pieces that need no more memory than the bound, in bytes."""
    draws = max(values.shape[-1] for values in drawn.values())
    size = int(np.clip(bound / 2 / (8 * draws), 1, _MOST_ITEMS))
    together = int(np.clip(bound / _ARRAYS / 8, 1, CACHED))  # numbers of one intermediate result
    levels = block.levels
    for start in range(0, block.items, size):
        items = np.arange(start, min(start + size, block.items))
        features, codes = (
            {name: values[items] for name, values in columns.items()}
            for columns in (block.features, levels)
        )
        evaluator = Evaluator(block.layout, targets, features, len(items), codes, together=together)
        yield items, evaluator


def mean_and_interval(rows: np.ndarray, prob: float) -> np.ndarray:
    """Compute every row's mean and the ends of its equal-tailed interval.

    Parameters
    ----------
    rows : ndarray of float, shape (rows, draws)
        Draws, which may be reordered.
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
    with np.errstate(invalid="ignore"):
        ends = np.quantile(rows, [(1 - prob) / 2, (1 + prob) / 2], axis=1, overwrite_input=True)
    return np.vstack([mean, np.where(np.isnan(ends), mean, ends)])  # between equal infinities: NaN
