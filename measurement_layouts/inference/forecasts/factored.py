"""Arrays that hold every value once, however many items and labels share it.

A `Factored` array is a table of values by cell, and the cell of every position (item and label). It
looks like the NumPy array of shape ``(draws, items, labels, ...)`` that it stands for, so that the
formulas of linking functions compute with it as with any array: elementwise functions work on the
joint cells of their arguments, and sums, products and extremes along labels bring the labels
together few at a time, on joint cells where these are few. Anything else is computed on the array
written out. Values do not depend on which way was taken, but for the order in which labels are
added or multiplied: always by threes.

A value of a layout has a position for every item and label. Where it depends on few meta-features
it is the same at many of them; those share a cell, and the value is computed once for each cell.
"""

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

_FEW = 0.75  # cells per position; with more, looking them up costs more than they save


@dataclass(frozen=True, eq=False)
class Cells:
    """Which cell every position belongs to.

    Attributes
    ----------
    index : ndarray of int
        Number of the cell, below `count`; shape (items, labels, ...), of length one along what the
        value does not depend on.
    count : int
        Number of cells.
    """

    index: np.ndarray
    count: int


type Rows = np.ndarray | None
"""Cells to look values up in, by joint cell; None: all, in order, or the only one."""


class Frame:
    """The positions of some items and of a layout's labels, and everything known of their cells.

    What was once found out about cells is kept: it is the same for every subject and draw.

    Attributes
    ----------
    axes : int
        Number of axes of a position: the items, and the label dimensions.
    made : int
        Numbers computed so far, over all cells.

    Examples
    --------
    >>> frame = Frame(axes=1)
    >>> near, left = (frame.group(np.array(values))[0] for values in ([0, 0, 1, 1], [0, 1, 1, 1]))
    >>> joint, rows = frame.join((near, left))
    >>> joint.index, rows
    (array([0, 1, 2, 2]), (array([0, 0, 1]), array([0, 1, 1])))
    """

    def __init__(self, axes: int) -> None:
        self.axes = axes
        self.made = 0
        self._each: dict[tuple[int, ...], Cells] = {}
        self._joined: dict[tuple[Cells, ...], tuple[Cells, tuple[Rows, ...]]] = {}
        self._parts: dict[tuple[Cells, int], list[Cells]] = {}
        self._together: dict[tuple[Cells, int], tuple[Cells, np.ndarray] | None] = {}

    def each(self, shape: tuple[int, ...]) -> Cells:
        """Give every position of a shape a cell of its own."""
        if shape not in self._each:
            count = math.prod(shape)
            self._each.setdefault(shape, Cells(np.arange(count).reshape(shape), count))
        return self._each[shape]

    def group(self, values: np.ndarray) -> tuple[Cells, np.ndarray]:
        """Give positions of the same value one cell, and return the value of each."""
        distinct, index = np.unique(values, return_inverse=True)
        if len(distinct) > _FEW * values.size:
            return self.each(values.shape), values.ravel()
        return Cells(index.reshape(values.shape), len(distinct)), distinct

    def join(self, parts: tuple[Cells, ...]) -> tuple[Cells, tuple[Rows, ...]]:
        """Find the cells at which all of several values are the same.

        Parameters
        ----------
        parts : tuple of Cells
            The values' own.

        Returns
        -------
        Cells
            The joint ones. Where they would be hardly fewer than the positions, each position has
            its own.
        tuple of Rows
            For every part, where the joint cells find their values in it.
        """
        if parts not in self._joined:
            self._joined.setdefault(parts, self._join(parts))
        return self._joined[parts]

    def parts(self, cells: Cells, axis: int) -> list[Cells]:
        """Take cells apart along one axis, kept with length one; they still look up the same."""
        if (cells, axis) not in self._parts:
            whole = np.split(cells.index, cells.index.shape[axis], axis=axis)
            self._parts.setdefault((cells, axis), [Cells(part, cells.count) for part in whole])
        return self._parts[cells, axis]

    def together(self, cells: Cells, axis: int) -> tuple[Cells, np.ndarray] | None:
        """Find the joint cells of all parts along an axis, where the first part tells the others.

        Returns
        -------
        Cells
            The joint ones, of length one along the axis.
        ndarray of int, shape (parts, joint cells)
            Cells of the parts at each of them. None for both where the parts do not vary together.
        """
        if (cells, axis) not in self._together:
            self._together.setdefault((cells, axis), _together(cells, axis))
        return self._together[cells, axis]

    def _join(self, parts: tuple[Cells, ...]) -> tuple[Cells, tuple[Rows, ...]]:
        shape = np.broadcast_shapes(*(part.index.shape for part in parts))
        varying = list(dict.fromkeys(part for part in parts if part.count != 1))
        if len(varying) < 2:
            only = (varying or list(parts))[0]
            if only.index.shape != shape:
                only = Cells(np.broadcast_to(only.index, shape), only.count)
            return only, (None,) * len(parts)
        joint, rows = functools.reduce(_refine, varying[1:], _begin(varying[0]))
        if joint.count > _FEW * math.prod(shape):
            joint = self.each(shape)
            found = {
                part: None if part is joint else np.broadcast_to(part.index, shape).ravel()
                for part in varying
            }
        else:
            joint, found = _numbered_alike(joint, dict(zip(varying, rows, strict=True)))
        return joint, tuple(found.get(part) for part in parts)


def _together(cells: Cells, axis: int) -> tuple[Cells, np.ndarray] | None:
    parts = np.moveaxis(cells.index, axis, 0)
    shape = (*cells.index.shape[:axis], 1, *cells.index.shape[axis + 1 :])
    parts = parts.reshape(len(parts), -1)
    _, first, index = np.unique(parts[0], return_index=True, return_inverse=True)
    rows = parts[:, first]
    if (rows[:, index] != parts).any():
        return None
    return Cells(index.reshape(shape), len(first)), rows


def _begin(first: Cells) -> tuple[Cells, list[np.ndarray]]:
    return first, [np.arange(first.count)]


def _refine(so_far: tuple[Cells, list[np.ndarray]], by: Cells) -> tuple[Cells, list[np.ndarray]]:
    """Split cells by other ones; also, by new cell, the rows of all that were joined."""
    joint, rows = so_far
    pairs, index = _numbered(joint.index * by.count + by.index, joint.count * by.count)
    before, own = np.divmod(pairs, by.count)
    return Cells(index, len(pairs)), [*(known[before] for known in rows), own]


def _numbered(codes: np.ndarray, span: int) -> tuple[np.ndarray, np.ndarray]:
    """Codes that occur, ascending, and which of them each is; all are below `span`."""
    if span > 4 * codes.size + 1000:
        found, index = np.unique(codes, return_inverse=True)
        return found, index.reshape(codes.shape)
    number = np.zeros(span, dtype=np.intp)
    number[codes.ravel()] = 1
    found = np.flatnonzero(number)
    number[found] = np.arange(len(found))
    return found, number[codes]


def _numbered_alike(joint: Cells, rows: dict[Cells, np.ndarray]) -> tuple[Cells, dict[Cells, Rows]]:
    """Take over the numbers of a part's cells where the joint cells are just these."""
    for part, known in rows.items():
        if part.count == joint.count and part.index.shape == joint.index.shape:
            order = np.argsort(known)
            if (known[order] != np.arange(part.count)).any():
                continue  # some cells of the part are at no position
            others = {other: found[order] for other, found in rows.items() if other is not part}
            return part, {part: None, **others}
    return joint, dict(rows)


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
