"""Values of formulas for rows of subjects and items and for many draws, computed in blocks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..layouts import Latent, Layout
from ..linking import Expr, evaluate
from .distinct import distinct
from .kernel.domains import Domain, Domains
from .kernel.tracing import Traced, UntraceableError
from .kernel.values import NUMPY, Space, Value, Values

_REDUCE = {"sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum}
_FEW = 0.75  # combinations per row; with more, looking them up costs more than they save
_CACHED = 2**18  # numbers of an intermediate result that are computed together: 2 MiB
_LEVEL = "level of "

type Draws = Mapping[str, np.ndarray]
"""Draws by latent, shape (levels, *labels, draws); one level for latents without plates."""


class Evaluator:
    """Formulas of a layout, compiled for some rows.

    Values are computed once for each distinct combination of the columns that they depend on.

    Parameters
    ----------
    layout : Layout
        Layout with the nodes of the formulas.
    targets : sequence of expression
        Derived nodes and outcomes, parents before children.
    columns : mapping of str to ndarray
        By meta-feature, covariate and constant, its value in each row, shape (rows,) or
        (rows, labels).
    levels : mapping of str to ndarray of int
        By latent that has values for several levels, its level in each row, shape (rows,). The
        draws of other latents have one level.
    rows : int
        Number of rows.
    """

    def __init__(
        self,
        layout: Layout,
        targets: Sequence[Expr],
        columns: Mapping[str, np.ndarray],
        levels: Mapping[str, np.ndarray],
        rows: int,
    ) -> None:
        self._layout, self._targets = layout, targets
        self._rows, self._columns, self._levels = rows, columns, levels
        labels = {node.name: node.label_dims for node in layout.nodes.values() if node.name in columns}
        features = {**columns, **{_LEVEL + name: codes for name, codes in levels.items()}}
        self._domains = Domains(labels, features, rows, features)
        sizes = {dim: len(names) for dim, names in layout.dims.items()}
        self._values = Values(self._domains, sizes)
        self._program = _Program.of(self._values, self._traced(labels))

    def _traced(self, labels: Mapping[str, tuple[str, ...]]) -> list[Value]:
        values, domains = self._values, self._domains
        known: dict[str, Any] = {}
        for name in self._columns:
            numbers, feature = domains.features[name], frozenset({name})
            dims = labels.get(name, ())
            domain = domains.of(feature, dims)
            assert domain is not None  # noqa: S101
            if domain.dim is None:
                entries = numbers[domain.origin]
            else:
                entries = numbers[domain.origin, np.arange(numbers.shape[1])]
            known[name] = Traced(values, values.data(entries, Space(domain, dims), feature))
        for latent in self._layout.latents:
            feature = frozenset({_LEVEL + latent.name} if latent.name in self._levels else ())
            space = Space(domains.of(feature, ()), latent.label_dims)
            known[latent.name] = Traced(values, values.leaf("point", latent.name, space, feature))
        for constant in self._layout.constants:
            if constant.name not in self._columns:
                known[constant.name] = Traced(values, values.leaf("point", constant.name, Space()))
        dims = tuple(self._layout.dims)
        traced = []
        for target in self._targets:
            named: dict[str, Any] = {}
            value = evaluate(target, known, dims, named=named)
            traced.append(value.content if isinstance(value, Traced) else Traced(values, values.zero)._lifted(value).content)
            known |= named
        return traced

    def __call__(self, draws: Draws) -> list[np.ndarray]:
        """Compute the targets.

        Parameters
        ----------
        draws : mapping of str to ndarray
            Draws by latent, shape (levels, *labels, draws).

        Returns
        -------
        list of ndarray
            By target, shape (rows, *labels, draws); an axis of labels has length one where the
            target does not vary along it.
        """
        count = max(table.shape[-1] for table in draws.values())
        leaves = {}
        for latent in self._layout.latents:
            table = draws[latent.name]
            if latent.name in self._levels:
                domain = self._domains.of(frozenset({_LEVEL + latent.name}), ())
                table = table[self._domains.features[_LEVEL + latent.name][domain.origin].astype(int)]
            else:
                table = table[0]
            leaves[latent.name] = table
        for constant in self._layout.constants:
            if constant.name in draws:
                leaves[constant.name] = np.broadcast_to(draws[constant.name], count)
        step = max(1, _CACHED // self._program.volume)
        outputs: list[np.ndarray] = []
        for start in range(0, count, step):
            block = {name: table[..., start : start + step] for name, table in leaves.items()}
            computed = self._program(block)
            if not outputs:
                outputs = [np.empty((*value.shape[:-1], count)) for value in computed]
            for output, value in zip(outputs, computed, strict=True):
                output[..., start : start + step] = value
        return outputs


type Join = tuple[range, list[np.ndarray | None]]
"""Columns to combine, with the entries of each; None stands for all entries in order."""


def _combinations(columns: list[np.ndarray]) -> tuple[list[np.ndarray | None], np.ndarray]:
    """Find the distinct combinations of columns: entries of each column, and those of the rows."""
    if len(columns) == 1:
        return [None], columns[0]
    first, index = distinct(columns)
    if len(first) > _FEW * len(index):
        return list(columns), np.arange(len(index))
    return [column[first] for column in columns], index


def _counts(index: np.ndarray) -> bool:
    """Return whether an index is 0, 1, 2, and so on."""
    return bool((index == np.arange(len(index))).all())


def _joined(
    reduce: np.ufunc, tables: Sequence[np.ndarray], rows: Sequence[np.ndarray | None]
) -> np.ndarray:
    """Combine tables at the given entries of each."""
    total, *others = (
        table if chosen is None else table.take(chosen, axis=0)
        for table, chosen in zip(tables, rows, strict=True)
    )
    for other in others:
        total = reduce(total, other)
    return total


@dataclass(frozen=True, eq=False)
class _Program:
    values: Values
    outputs: list[Value]
    listed: list[Value]
    last: Mapping[int, list[int]]
    volume: int
    joins: dict[tuple[str, str], list[list[Join]]]

    @classmethod
    def of(cls, values: Values, outputs: list[Value]) -> "_Program":
        needed: dict[int, Value] = {}
        pending = list(outputs)
        while pending:
            value = pending.pop()
            if value.number not in needed:
                needed[value.number] = value
                pending += value.args
        listed = [needed[number] for number in sorted(needed)]
        used = {arg.number: value.number for value in listed for arg in value.args}
        last: dict[int, list[int]] = {}
        for number, user in used.items():
            last.setdefault(user, []).append(number)
        moving = [values.volume(value.space) for value in listed if value.moving]
        return cls(values, outputs, listed, last, max(moving, default=1), {})

    def __call__(self, leaves: Mapping[str, np.ndarray]) -> list[np.ndarray]:
        computed: dict[int, Any] = {}
        outputs = {value.number for value in self.outputs}
        for value in self.listed:
            computed[value.number] = self._compute(value, computed, leaves)
            for number in self.last.get(value.number, ()):
                if number not in outputs:
                    del computed[number]
        spaces = [Space(self.values.domains.rows, value.space.labels) for value in self.outputs]
        return [
            self._to(computed[value.number], value.space, space)
            for value, space in zip(self.outputs, spaces, strict=True)
        ]

    def _compute(self, value: Value, computed: Mapping[int, Any], leaves: Mapping[str, np.ndarray]) -> Any:
        if value.op == "constant":
            return value.payload
        if value.op == "data":
            return value.payload[..., None]
        if value.op == "point":
            return leaves[str(value.payload)]
        args = [computed[arg.number] for arg in value.args]
        if value.op == "fold":
            kind, through = value.folded
            return self._fold(kind, args[0], value.args[0].space, through, value.space)
        spread = [
            self._to(arg, of.space, value.space) for arg, of in zip(args, value.args, strict=True)
        ]
        return NUMPY[value.op](*spread)

    def _fold(
        self, kind: str, numbers: np.ndarray, source: Space, through: Space, target: Space
    ) -> np.ndarray:
        """Reduce numbers along a label dimension."""
        (dim,) = set(through.labels) - set(target.labels)
        reduce, axis = _REDUCE[kind], through.labels.index(dim)
        if source.domain is None or target.domain is None or source.domain.dim != dim:
            spread = self._to(numbers, source, through)
            return reduce.reduce(spread, axis=axis + (through.domain is not None))
        columns = np.moveaxis(numbers, 1 + axis, 0)
        for step in self._steps(source.domain, target.domain):
            columns = [
                _joined(reduce, [columns[at] for at in chosen], rows) for chosen, rows in step
            ]
        return columns[0]

    def _steps(self, source: Domain, target: Domain) -> list[list[Join]]:
        """Plan the reduction of labels by threes, each on the distinct combinations of entries."""
        key = (source.name, target.name)
        if key not in self.joins:
            columns, steps = list(self.values.domains.map(target, source).T), []
            while len(columns) > 1:
                groups = [range(at, min(at + 3, len(columns))) for at in range(0, len(columns), 3)]
                step, joined = [], []
                for group in groups:
                    rows, index = _combinations([columns[at] for at in group])
                    step.append((group, rows))
                    joined.append(index)
                steps.append(step)
                columns = joined
            last = None if _counts(columns[0]) else columns[0]
            self.joins[key] = [*steps, [(range(1), [last])]]
        return self.joins[key]

    def _to(self, numbers: Any, source: Space, target: Space) -> Any:
        """Spread numbers, whose last axis is that of the draws, to a finer space."""
        if not isinstance(numbers, np.ndarray):
            return numbers
        labels, sizes = source.labels, self.values.sizes
        if source.domain is not None and source.domain is not target.domain:
            entries = self.values.domains.map(target.domain, source.domain)
            if entries.ndim == 1:
                numbers = numbers[entries]
            else:
                dim = source.domain.dim or target.domain.dim
                if dim in labels:
                    at = 1 + labels.index(dim)
                    numbers = np.moveaxis(numbers, at, 1)
                    numbers = numbers[entries, np.arange(entries.shape[1])]
                    numbers = np.moveaxis(numbers, 1, at)
                else:
                    labels = tuple(name for name in sizes if name in (*labels, dim))
                    numbers = np.moveaxis(numbers[entries], 1, 1 + labels.index(dim))
        elif source.domain is None and target.domain is not None:
            numbers = numbers[None]
        lay = [slice(None)] if target.domain is not None else []
        lay += [slice(None) if label in labels else None for label in target.labels]
        return numbers[tuple(lay)]
