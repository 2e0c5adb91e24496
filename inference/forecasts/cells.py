"""Positions at which a value is the same, gathered into cells.

A value of a layout has a position for every item and label. Where it depends on few meta-features
it is the same at many of them; those share a cell, and the value is computed once for each cell.
"""

import functools
import math
from dataclasses import dataclass

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
