"""Values of formulas for all draws of subjects on items, computed when indexed, some at a time."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import xarray as xr
from xarray.backends import BackendArray
from xarray.backends.locks import SerializableLock
from xarray.core import indexing

from ...common.errors import DataError
from ...common.threads import thread_count
from ...layouts.plates import ITEM, SUBJECT, root
from ...linking import Expr
from ..evaluator import CACHED, Evaluator
from ..files.archives import on_each_axis
from ..model.alignment import Features
from ..posterior.posterior import Posterior
from .scope import Block, Scope, block_of, byte_count

SAMPLE = ("chain", "draw")
"""Dimensions of draws."""

_MOST_ITEMS = 2048  # items that are computed together at most
_ARRAYS = 16  # intermediate results of a computation, with its values, in the bound of memory

type Function = Callable[[np.ndarray], np.ndarray]
"""Function of chances of success, element by element."""


class Computed(BackendArray):
    """Values of a formula, (chain, draw, subject, item, *labels), computed when indexed.

    Neither what is indexed together nor the bound of memory changes a value.

    Parameters
    ----------
    block : Block
        The subjects and the items.
    sample : (int, int)
        Numbers of chains and of draws of a chain.
    target : expression
        The formula.
    function : callable, optional
        Function of the formula's value. Where the target is an outcome with an unseen property, it
        is averaged over the values of the property, which the attempts at an item share.
    memory_mib : float
        Bound of the memory of a piece of the items, with all threads, in MiB.
    """

    def __init__(
        self,
        block: Block,
        sample: tuple[int, int],
        target: Expr,
        function: Function | None = None,
        *,
        memory_mib: object,
    ) -> None:
        dims, unseen = block.layout.dims, getattr(target, "unseen", None)
        self.labels = {dim: list(dims[dim]) for dim in dims if dim in target.dims}
        sizes = tuple(map(len, self.labels.values()))
        subjects = len(block.subjects[SUBJECT])
        self.dtype, self.shape = np.dtype(float), (*sample, subjects, block.items, *sizes)
        self._block, self._function, self._targets = block, function, [target]
        width = math.prod(sizes)
        if function is not None and unseen is not None:
            self._targets = [target.expression, unseen.weights]  # type: ignore[attr-defined]
            width = len(dims[unseen.dim])
        self._bound, self._threads = byte_count(memory_mib), thread_count()
        of_items = sum(
            math.prod(map(len, latent.dims.values()))
            for latent in block.layout.latents
            if any(root(plate) == ITEM for plate in latent.plates)
        )
        numbers = 6 * math.prod(sample) * (width * self._threads + of_items * (self._threads + 1))
        self.piece = int(np.clip(self._bound / (8 * numbers), 1, _MOST_ITEMS))
        self._lock, self._prepared = SerializableLock(), dict[bytes, tuple[Block, Evaluator]]()

    def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:
        return indexing.explicit_indexing_adapter(
            key, self.shape, indexing.IndexingSupport.OUTER, self._indexed
        )

    def _indexed(self, key: tuple[Any, ...]) -> np.ndarray:
        sizes = zip(self.shape[:4], key[:4], strict=True)
        chosen = [np.atleast_1d(np.arange(size)[axis]) for size, axis in sizes]
        chains, draws, subjects, items = chosen
        numbers = (chains[:, None] * self.shape[1] + draws).ravel()
        values = np.empty((len(subjects), len(items), *self.shape[4:], len(numbers)))
        for start in range(0, len(items), self.piece):
            piece = slice(start, start + self.piece)
            for number, subject in enumerate(subjects):
                self.rows(subject, items[piece], numbers, values[number, piece])
        values = values.reshape(*values.shape[:-1], len(chains), len(draws))
        read = [0 if isinstance(axis, int | np.integer) else slice(None) for axis in key[:4]]
        return on_each_axis(np.moveaxis(values, (-2, -1), (0, 1)), (*read, *key[4:]))

    def rows(
        self,
        subject: int,
        items: np.ndarray,
        numbers: np.ndarray | None = None,
        out: np.ndarray | None = None,
    ) -> np.ndarray:
        """Compute values of a subject on items, all by position; shape (items, *labels, draws)."""
        block, evaluator = self._on(items)
        drawn = block.read(subject)
        if numbers is not None and not np.array_equal(
            numbers, np.arange(math.prod(self.shape[:2]))
        ):
            for name, draws in drawn.items():
                drawn[name] = draws[..., numbers] if draws.shape[-1] > 1 else draws
        values, *weights = evaluator(drawn)
        if self._function is not None:
            values = _applied(self._function, values)
        for weight in weights:
            values = (values * weight).sum(axis=1)
        return np.take(values, evaluator.row, axis=0, out=out, mode="clip")  # without a buffer

    def _on(self, items: np.ndarray) -> tuple[Block, Evaluator]:
        """Prepare the formula for some items; the last ones are kept for the next subject."""
        key = items.tobytes()
        with self._lock:
            if key not in self._prepared:
                block = self._block.part(items)
                together = int(np.clip(self._bound / self._threads / _ARRAYS / 8, 1, CACHED))
                evaluator = Evaluator(
                    block.layout,
                    self._targets,
                    block.features,
                    len(items),
                    block.levels,
                    together=together,
                )
                if len(self._prepared) > self._threads:
                    del self._prepared[next(iter(self._prepared))]
                self._prepared[key] = block, evaluator
            return self._prepared[key]

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_prepared": {}}

    def to_array(self, names: Mapping[str, Sequence[str]]) -> xr.DataArray:
        """Wrap the values as a lazy array with the names of subjects and items."""
        dims = (*SAMPLE, SUBJECT, ITEM, *self.labels)
        coordinates = {dim: np.arange(size) for dim, size in zip(SAMPLE, self.shape, strict=False)}
        lazy = xr.Variable(dims, indexing.LazilyIndexedArray(self))
        array = xr.DataArray(lazy, {**coordinates, **names, **self.labels})
        array.encoding = {"preferred_chunks": {SUBJECT: 1, ITEM: self.piece}}
        return array


def _applied(function: Function, chances: np.ndarray) -> np.ndarray:
    """Apply a function to chances, and check that it has a value for each."""
    values = np.asarray(function(chances), dtype=float)
    if values.shape != chances.shape:
        raise DataError(
            f"the function of an array of the shape {chances.shape} returned {values.shape}; give "
            "one that works element by element, such as lambda p: 1 - (1 - p) ** 8"
        )
    return values


def computed(
    fit: Posterior,
    block: Block,
    target: Expr,
    function: Function | None = None,
    *,
    memory_mib: object,
) -> Computed:
    """Return the values of a formula for all draws of a fit; parameters as for `Computed`."""
    sizes, measured = fit.posterior.sizes, fit.layout.measured and function is not None
    if measured and target is fit.layout.outcome:
        block, target = replace(block, layout=fit.layout.several), fit.layout.several.outcome
    sample = sizes["chain"], sizes["draw"]
    return Computed(block, sample, target, function, memory_mib=memory_mib)


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
    >>> items, chances = next(every_draw(result, 0, features, items=69, memory_mib=0.05))
    >>> chances.shape == (len(items), 200)
    True
    """
    target = fit.layout.outcome if target is None else target
    values = computed(fit, block_of(fit, features, items), target, memory_mib=memory_mib)
    for start in range(0, items, values.piece):
        piece = np.arange(start, min(start + values.piece, items))
        yield piece, values.rows(row, piece)


def gathered(values: Iterable[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """Join the values of a stream into one array, (items, draws)."""
    joined = [numbers for _, numbers in values]
    return np.concatenate(joined) if joined else np.empty((0, 0))


def chances(scope: Scope, *, memory_mib: float) -> Iterator[np.ndarray]:
    """Yield each subject's success probabilities, (items, draws)."""
    block = scope.block(scope.features, len(scope.items))
    values = computed(scope.fit, block, scope.fit.layout.outcome, memory_mib=memory_mib)
    for subject in range(len(scope.names)):
        yield values.rows(subject, np.arange(len(scope.items)))
