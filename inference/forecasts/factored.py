"""Arrays that hold every value once, however many items and labels share it.

A `Factored` array is a table of values by cell, and the cell of every position (item and label). It
looks like the NumPy array of shape ``(draws, items, labels, ...)`` that it stands for, so that the
formulas of linking functions compute with it as with any array: elementwise functions work on the
joint cells of their arguments, and sums, products and extremes along labels bring the labels
together few at a time, on joint cells where these are few. Anything else is computed on the array
written out. Values do not depend on which way was taken, but for the order in which labels are
added or multiplied: always by threes.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np

from .cells import Cells, Frame, Rows

_TILE = 32_768  # numbers looked up and used before the next ones, so that they stay in the cache
_WRITTEN_OUT = 3  # arrays that an unknown function may make of one written out

type Function = Callable[..., np.ndarray]


class Factored(np.lib.mixins.NDArrayOperatorsMixin):
    """A value of a layout at every position of a frame, and for every draw.

    Attributes
    ----------
    table : ndarray
        Values, shape (cells, ...): axes before the positions' own, such as draws, come last.
    cells : Cells
        Which of them each position has.
    frame : Frame
        The positions.

    Examples
    --------
    >>> frame = Frame(axes=1)
    >>> demand = Factored.group(np.array([1.0, 2.0, 2.0, 1.0]), frame)
    >>> ability = Factored(np.array([[1.0, 3.0]]), frame.each((1,)), frame)
    >>> margin = ability - demand
    >>> margin.shape, margin.table.shape
    ((2, 4), (2, 2))
    >>> np.asarray(margin)
    array([[ 0., -1., -1.,  0.],
           [ 2.,  1.,  1.,  2.]])
    """

    def __init__(self, table: np.ndarray, cells: Cells, frame: Frame) -> None:
        self.table, self.cells, self.frame = table, cells, frame

    @classmethod
    def group(cls, values: np.ndarray, frame: Frame) -> Self:
        """Find the positions with the same value."""
        cells, table = frame.group(values)
        return cls(table, cells, frame)

    @classmethod
    def of(cls, value: Any, frame: Frame) -> Self:
        """Take a factored array as it is, and give every position of another array its own cell."""
        if isinstance(value, cls):
            return value
        array = np.asarray(value)
        array = array.reshape((1,) * (frame.axes - array.ndim) + array.shape)
        before, positions = array.shape[: -frame.axes], array.shape[-frame.axes :]
        table = np.moveaxis(array.reshape((*before, -1)), -1, 0)
        return cls(np.ascontiguousarray(table), frame.each(positions), frame)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the array it stands for."""
        return self.table.shape[1:] + self.cells.index.shape

    @property
    def ndim(self) -> int:
        """Number of its axes."""
        return len(self.shape)

    @property
    def dtype(self) -> "np.dtype[Any]":
        """Type of its values."""
        return self.table.dtype

    def astype(self, dtype: Any) -> "Factored":
        """Convert the values."""
        return Factored(self.table.astype(dtype), self.cells, self.frame)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        written: np.ndarray = self.table[self.cells.index]
        self.frame.made += _WRITTEN_OUT * written.size
        axes = range(written.ndim)
        array = written.transpose((*axes[self.frame.axes :], *axes[: self.frame.axes]))
        return array if dtype is None else array.astype(dtype)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        if method == "__call__" and not options and ufunc.nout == 1 and ufunc.signature is None:
            return _elementwise(ufunc, inputs, self.frame)
        return getattr(ufunc, method)(*_written_out(inputs), **_written_out(options))

    def __array_function__(
        self, function: Any, types: Any, args: tuple[Any, ...], options: dict[str, Any]
    ) -> Any:
        known = _FUNCTIONS.get(function)
        found = NotImplemented if known is None else known(self.frame, *args, **options)
        if found is not NotImplemented:
            return found
        return function(*_written_out(args), **_written_out(options))

    def __pow__(self, other: Any) -> Any:
        if isinstance(other, int | float):  # NumPy's own ways for squares and roots
            return Factored(self.table**other, self.cells, self.frame)
        return super().__pow__(other)

    def __bool__(self) -> bool:
        return bool(np.asarray(self))

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: Any) -> Any:
        return np.asarray(self)[key]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(np.asarray(self), name)


def _written_out(value: Any) -> Any:
    """Replace factored arrays, also inside sequences and dictionaries, by plain ones."""
    if isinstance(value, Factored):
        return np.asarray(value)
    if isinstance(value, tuple | list):
        return type(value)(_written_out(part) for part in value)
    if isinstance(value, dict):
        return {name: _written_out(part) for name, part in value.items()}
    return value


def _elementwise(function: Function, operands: Sequence[Any], frame: Frame) -> Factored:
    """Compute on the joint cells of all operands that are no single numbers."""
    lifted = [
        part if isinstance(part, int | float) else Factored.of(part, frame) for part in operands
    ]
    arrays = [part for part in lifted if isinstance(part, Factored)]
    cells, rows = frame.join(tuple(part.cells for part in arrays))
    tables = iter(zip(_level([part.table for part in arrays]), rows, strict=True))
    looked_up = [next(tables) if isinstance(part, Factored) else (part, None) for part in lifted]
    found = _apply(function, looked_up, cells.count)
    frame.made += found.size
    return Factored(found, cells, frame)


def _level(tables: list[np.ndarray]) -> list[np.ndarray]:
    """Give tables the same number of axes, by ones behind the cells."""
    most = max(table.ndim for table in tables)
    return [
        table.reshape((len(table),) + (1,) * (most - table.ndim) + table.shape[1:])
        for table in tables
    ]


def _apply(function: Function, operands: Sequence[tuple[Any, Rows]], count: int) -> np.ndarray:
    """Look the rows of every operand up and compute, as many at a time as the cache holds."""
    widths = [table[:1].size for table, rows in operands if rows is not None]
    step = max(1, _TILE // max(widths, default=1))
    if not widths or count <= step:
        return function(*(_rows(table, rows, slice(None)) for table, rows in operands))
    first = function(*(_rows(table, rows, slice(step)) for table, rows in operands))
    result = np.empty((count, *first.shape[1:]), first.dtype)
    result[:step] = first
    for start in range(step, count, step):
        chosen = slice(start, start + step)
        function(*(_rows(table, rows, chosen) for table, rows in operands), out=result[chosen])
    return result


def _rows(table: Any, rows: Rows, chosen: slice) -> Any:
    """Look some joint cells up in an operand; a number or a single row serves them all."""
    if rows is not None:
        return table.take(rows[chosen], axis=0, mode="clip")
    return table[chosen] if isinstance(table, np.ndarray) and len(table) > 1 else table


def _choose(
    condition: np.ndarray, yes: np.ndarray, no: np.ndarray, out: np.ndarray | None = None
) -> np.ndarray:
    """Do as `numpy.where`, faster where the condition rarely holds."""
    if out is None:
        shape = np.broadcast_shapes(*map(np.shape, (condition, yes, no)))
        out = np.empty(shape, np.result_type(yes, no))
    np.copyto(out, no)
    np.copyto(out, yes, where=condition)
    return out


def _where(frame: Frame, *operands: Any) -> Any:
    return _elementwise(_choose, operands, frame) if len(operands) == 3 else NotImplemented


def _along(ufunc: np.ufunc) -> Callable[..., Any]:
    """Reduce by a function of two, along labels or an axis before the positions."""

    def reduce(
        frame: Frame, array: Any, *, axis: Any = None, keepdims: bool = False, **others: Any
    ) -> Any:
        known = isinstance(array, Factored) and isinstance(axis, int) and not others
        if not known or array.dtype.kind != "f" or not -array.ndim <= axis < array.ndim:
            return NotImplemented
        table, before = array.table, array.table.ndim - 1
        axis %= array.ndim
        if axis < before:
            columns = np.moveaxis(table, axis + 1, 0)
            total = _by_threes(ufunc, [Factored(part, array.cells, frame) for part in columns])
            if keepdims:
                total.table = np.expand_dims(total.table, axis + 1)
            return total
        if axis == before or not keepdims:
            return NotImplemented
        together = frame.together(array.cells, axis - before)
        if together is not None:
            cells, rows = together
            frame.made += 2 * rows.size * (table.size // len(table))
            return Factored(_fold_by_threes(ufunc, table[rows]), cells, frame)
        parts = frame.parts(array.cells, axis - before)
        return _by_threes(ufunc, [Factored(table, part, frame) for part in parts])

    return reduce


def _by_threes(ufunc: np.ufunc, parts: list[Factored]) -> Factored:
    """Bring parts together by threes, the results by threes, and so on."""
    while len(parts) > 1:
        parts = [
            functools.reduce(ufunc, parts[start : start + 3]) for start in range(0, len(parts), 3)
        ]
    return parts[0]


def _fold_by_threes(ufunc: np.ufunc, parts: np.ndarray) -> np.ndarray:
    """Do the same along an array's first axis."""
    while len(parts) > 1:
        found = parts[::3].copy()
        for place in (1, 2):
            others = parts[place::3]
            ufunc(found[: len(others)], others, out=found[: len(others)])
        parts = found
    whole: np.ndarray = parts[0]
    return whole


def _broadcast(frame: Frame, *values: Any) -> Any:
    """Bring values to their joint cells and to one shape."""
    lifted = [Factored.of(value, frame) for value in values]
    cells, rows = frame.join(tuple(value.cells for value in lifted))
    tables = _level([value.table for value in lifted])
    found = [_rows(table, some, slice(None)) for table, some in zip(tables, rows, strict=True)]
    return tuple(Factored(table, cells, frame) for table in np.broadcast_arrays(*found))


def _stack(frame: Frame, values: Any, *, axis: Any = 0) -> Any:
    """Put values of one shape on an axis before all others."""
    lifted = [Factored.of(value, frame) for value in values]
    if axis != 0 or len({value.shape for value in lifted}) > 1:
        return NotImplemented
    lifted = _broadcast(frame, *lifted)
    table = np.stack([value.table for value in lifted], axis=1)
    frame.made += table.size
    return Factored(table, lifted[0].cells, frame)


_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.where: _where,
    np.sum: _along(np.add),
    np.prod: _along(np.multiply),
    np.max: _along(np.maximum),
    np.min: _along(np.minimum),
    np.broadcast_arrays: _broadcast,
    np.stack: _stack,
}
