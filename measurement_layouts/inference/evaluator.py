"""Values of formulas for many posterior draws, on rows such as items or cells of a cohort."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, reduce
from typing import Any

import numpy as np

from ..layouts import Layout
from ..linking import Expr, LayoutError, evaluate
from .kernel.domains import Domain, Domains
from .kernel.tracing import Traced, column
from .kernel.values import NUMPY, REDUCE, Space, Value, Values, ancestors

CACHED = 2**19  # numbers of an intermediate result that are computed together: 4 MiB
_LEVEL = "level of "  # a hidden column whose values are the levels of a latent

type Draws = Mapping[str, np.ndarray]
"""Draws by node, shape (levels, *labels, draws): one level for nodes without plates."""


class Evaluator:
    """Formulas of a layout, prepared for some rows.

    Each part of a formula is computed once for every distinct combination of the columns on which
    it depends. Formulas with an operation that cannot be traced are computed on whole arrays.

    Parameters
    ----------
    layout : Layout
        Layout with the nodes of the formulas.
    targets : sequence of expression
        Nodes and other expressions, parents before children.
    columns : mapping of str to ndarray
        By node, its value in each row, shape (rows,) or (rows, labels). Also other numbers by name
        that the targets need, shape (rows,).
    rows : int
        Number of rows.
    levels : mapping of str to ndarray of int, optional
        By latent that has values for several levels, its level in each row, shape (rows,).
    together : int
        Numbers of an intermediate result that are computed at a time; it changes no result.

    Attributes
    ----------
    volume : int
        Most numbers that one draw of a part of the formulas takes.
    row : ndarray of int, shape (rows,)
        For each row, its number among the distinct rows, which are computed.

    Examples
    --------
    >>> from measurement_layouts import Capability, MetaFeature, Success
    >>> from measurement_layouts.linking import logistic
    >>> sight = Capability("sight", low=0, high=2)
    >>> smallness = MetaFeature("smallness", low=0, high=2)
    >>> layout = Layout("looking", Success("found", logistic(sight - smallness)))
    >>> items = {"smallness": np.array([0.5, 1.0, 1.0, 0.5])}
    >>> evaluator = Evaluator(layout, [layout.outcome], items, 4)
    >>> (chances,) = evaluator({"sight": np.array([[1.0, 1.5, 2.0]])})
    >>> chances.round(2), evaluator.row
    (array([[0.62, 0.73, 0.82],
           [0.5 , 0.62, 0.73]]), array([0, 1, 1, 0]))
    """

    def __init__(
        self,
        layout: Layout,
        targets: Sequence[Expr],
        columns: Mapping[str, np.ndarray],
        rows: int,
        levels: Mapping[str, np.ndarray] | None = None,
        *,
        together: int = CACHED,
    ) -> None:
        self._layout, self._targets, self._together = layout, targets, together
        self._columns, self._levels = dict(columns), dict(levels or {})
        self._dims = tuple(layout.dims)
        self._sizes = {dim: len(names) for dim, names in layout.dims.items()}
        leaves = (*layout.latents, *layout.covariates, *layout.constants)
        self._leaves = [str(node.name) for node in leaves if node.name not in columns]
        nodes = (*layout.row_features, *layout.nodes.values())
        self._label_dims = {node.name: tuple(node.label_dims) for node in nodes}
        labels = {name: self._labels(name) for name in columns}
        features = self._columns | {_LEVEL + name: codes for name, codes in self._levels.items()}
        self._domains = Domains(labels, features, rows, features)
        self.row = self._domains.collapsed
        try:
            self._program: _Program | None = self._traced()
            self.volume = self._program.volume
        except LayoutError:  # an operation that has no quantity
            self._program = None
            self.volume = self._domains.rows.size * math.prod(self._sizes.values())

    def __call__(self, draws: Draws) -> list[np.ndarray]:
        """Compute the targets for the distinct rows.

        Parameters
        ----------
        draws : mapping of str to ndarray
            Draws of all latents, covariates and constants that are no columns, shape
            (levels, *labels, draws).

        Returns
        -------
        list of ndarray
            By target, shape (distinct rows, *labels of the target, draws).
        """
        tables = {name: self._at_rows(name, draws[name]) for name in self._leaves}
        count = max((table.shape[-1] for table in tables.values()), default=1)
        step = max(1, self._together // self.volume)
        results: list[np.ndarray] = []
        for start in range(0, count, step):
            block = {
                name: table[..., start : start + step] if table.shape[-1] > 1 else table
                for name, table in tables.items()
            }
            computed = self._plain(block) if self._program is None else self._program(block)
            shaped = [
                self._shaped(value, target)
                for value, target in zip(computed, self._targets, strict=True)
            ]
            results = results or [np.empty((*value.shape[:-1], count)) for value in shaped]
            for result, value in zip(results, shaped, strict=True):
                result[..., start : start + step] = value
        return results

    def _labels(self, name: str) -> tuple[str, ...]:
        return self._label_dims.get(name, ())

    def _at_rows(self, name: str, table: np.ndarray) -> np.ndarray:
        """Return draws at the entries of a leaf's domain, or those of its only level."""
        if name not in self._levels:
            return np.asarray(table[0])
        codes = self._domains.features[_LEVEL + name][self._domain_of_levels(name).origin]
        return np.asarray(table[codes.astype(int)])

    def _domain_of_levels(self, name: str) -> Domain:
        domain = self._domains.of(frozenset({_LEVEL + name}), ())
        assert domain is not None  # noqa: S101
        return domain

    def _traced(self) -> "_Program":
        values, domains = Values(self._domains, self._sizes), self._domains
        traced: dict[str, Any] = {
            name: column(values, name, self._labels(name)) for name in self._columns
        }
        for name in self._leaves:
            feature = frozenset({_LEVEL + name} if name in self._levels else ())
            space = Space(domains.of(feature, ()), self._labels(name))
            traced[name] = Traced(values, values.leaf("point", name, space, feature))
        like, outputs = Traced(values, values.zero), []
        for target in self._targets:
            named: dict[str, Any] = {}
            outputs.append(like.entry(evaluate(target, traced, self._dims, named=named)))
            traced |= named
        return _Program(values, outputs)

    def _plain(self, block: Draws) -> list[np.ndarray]:
        """Compute the targets on whole arrays, of shape (draws, rows, *labels)."""
        arrays: dict[str, Any] = {}
        for name in self._columns:
            arrays[name] = self._aligned(self._domains.features[name][..., None], name, rows=True)
        for name in self._leaves:
            table = block[name]
            if name in self._levels:
                table = table[self._domain_of_levels(name).index]
            arrays[name] = self._aligned(table, name, rows=name in self._levels)
        results = []
        for target in self._targets:
            named: dict[str, Any] = {}
            value = np.asarray(evaluate(target, arrays, self._dims, named=named))
            arrays |= named
            value = value.reshape((1,) * (2 + len(self._dims) - value.ndim) + value.shape)
            results.append(np.moveaxis(value, 0, -1))
        return results

    def _aligned(self, table: np.ndarray, name: str, *, rows: bool) -> np.ndarray:
        """Move the draws first, and add an axis where the node lacks rows or labels."""
        has = (rows, *(dim in self._labels(name) for dim in self._dims))
        lay = tuple(slice(None) if there else None for there in has)
        return np.moveaxis(table, -1, 0)[(slice(None), *lay)]

    def _shaped(self, value: np.ndarray, target: Expr) -> np.ndarray:
        """Give values (rows, *labels, draws) the axes of a target's labels."""
        labels = [size if dim in target.dims else 1 for dim, size in self._sizes.items()]
        whole = np.broadcast_to(value, (self._domains.rows.size, *labels, value.shape[-1]))
        absent = (axis for axis, dim in enumerate(self._dims, 1) if dim not in target.dims)
        return np.squeeze(whole, axis=tuple(absent))


class _Program:
    """Computation of some quantities for many draws, with arrays (entries, *labels, draws)."""

    def __init__(self, values: Values, outputs: Sequence[Value]) -> None:
        self._values, self._outputs = values, outputs
        self._listed = ancestors(outputs)

    @cached_property
    def _last_uses(self) -> dict[int, list[int]]:
        """By quantity, the arguments that no later quantity needs."""
        users = {arg.number: value.number for value in self._listed for arg in value.args}
        ended: dict[int, list[int]] = {}
        for number in users.keys() - {value.number for value in self._outputs}:
            ended.setdefault(users[number], []).append(number)
        return ended

    @cached_property
    def volume(self) -> int:
        """Most numbers of one draw of a quantity."""
        spaces = [value.space for value in self._listed if value.moving]
        spaces += [self._result_space(value) for value in self._outputs]
        return max(map(self._values.volume, spaces), default=1)

    def _result_space(self, value: Value) -> Space:
        return Space(self._values.domains.rows, value.space.labels)

    def __call__(self, tables: Draws) -> Iterator[np.ndarray]:
        computed: dict[int, Any] = {}
        for value in self._listed:
            arguments = [computed[arg.number] for arg in value.args]
            computed[value.number] = self._compute(value, arguments, tables)
            for number in self._last_uses.get(value.number, ()):
                del computed[number]
        sizes = self._values.sizes
        for value in self._outputs:
            space = self._result_space(value)
            numbers = np.asarray(self._spread(computed[value.number], value.space, space))
            lay = (slice(None) if dim in space.labels else None for dim in sizes)
            yield (
                numbers[(slice(None), *lay)]
                if numbers.ndim
                else np.reshape(numbers, (1,) * (2 + len(sizes)))
            )

    def _compute(self, value: Value, arguments: Sequence[Any], tables: Draws) -> Any:
        if value.op == "constant":
            return value.payload
        if value.op == "data":
            return value.payload[..., None]  # type: ignore[index]
        if value.op == "point":
            return tables[str(value.payload)]
        if value.op == "fold":
            return self._fold(value, arguments[0])
        spread = (
            self._spread(numbers, arg.space, value.space)
            for numbers, arg in zip(arguments, value.args, strict=True)
        )
        return NUMPY[value.op](*spread)

    def _fold(self, value: Value, numbers: np.ndarray) -> np.ndarray:
        """Reduce numbers along a label dimension, one label after another."""
        (kind, through), source, target = value.folded, value.args[0].space, value.space
        (dim,) = set(through.labels) - set(target.labels)
        axis = through.labels.index(dim)
        columns: Iterable[np.ndarray]
        if source.domain is None or target.domain is None or source.domain.dim != dim:
            spread = self._spread(numbers, source, through)
            columns = np.moveaxis(spread, axis + (through.domain is not None), 0)
        else:
            entries = self._values.domains.map(target.domain, source.domain).T
            tables = np.moveaxis(numbers, 1 + axis, 0)
            columns = (table[rows] for table, rows in zip(tables, entries, strict=True))
        return np.asarray(reduce(REDUCE[kind], columns))

    def _spread(self, numbers: Any, source: Space, target: Space) -> Any:
        """Give numbers (entries, *labels, draws) the axes of a finer space."""
        return self._values.spread(numbers, source, target) if np.ndim(numbers) else numbers
