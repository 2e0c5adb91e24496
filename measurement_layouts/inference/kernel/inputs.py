"""Inputs of machine code: a list of addresses, sizes and numbers."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .outcomes import Outcomes
from .values import Values

DIRECTIONS = ("directions", "into", "out")
"""Names of the first inputs: the number of directions along which coordinates are stretched, and
the addresses of two arrays of shape (directions, length)."""

_BLOCK = 2**12
"""Rows that are computed at once: the arrays of a block fit into the caches of a processor, where
those of 300,000 rows with six labels take three times as long."""


class Inputs:
    """Numbered inputs of a kernel, which are 64 bits each: addresses, sizes and numbers.

    Parameters
    ----------
    values : Values
        Quantities of the plan.
    outcomes : Outcomes
        Form of a subject's outcomes.

    Attributes
    ----------
    arrays : dict of int to ndarray
        The battery's arrays, by slot.
    """

    def __init__(self, values: Values, outcomes: Outcomes) -> None:
        self.values, self.outcomes = values, outcomes
        self.arrays: dict[int, np.ndarray] = {}
        self._slots: dict[tuple[Any, ...], int] = {}
        for key in DIRECTIONS:
            self.slot(key)

    def slot(self, *key: Any) -> int:
        """Return the slot of an array, a map between domains, the size of a domain or a block."""
        if key not in self._slots:
            slot = self._slots[key] = len(self._slots)
            if key[0] == "index":
                entries = self.values.domains.map(*key[1:])
                self.arrays[slot] = np.ascontiguousarray(entries, dtype=np.uint32)
            elif key[0] == "array" and key[1].op == "data":
                self.arrays[slot] = key[1].payload
        return self._slots[key]

    def table(self, outcomes: Sequence[np.ndarray], numbers: Mapping[str, float]) -> np.ndarray:
        """Return the inputs for one subject; its arrays must exist as long as they are used."""
        table = np.zeros(len(self._slots), dtype=np.int64)
        by_name = dict(zip(self.outcomes.names, outcomes, strict=True))
        for (kind, *subject), slot in self._slots.items():
            if slot in self.arrays:
                table[slot] = self.arrays[slot].ctypes.data
            elif kind == "size":
                table[slot] = subject[0].size
            elif kind == "block":
                table[slot] = max(1, min(_BLOCK, self.values.domains.rows.size))
            elif kind == "array" and subject[0].op == "outcome":
                table[slot] = by_name[subject[0].payload].ctypes.data
            elif kind == "array":
                table.view(float)[slot] = numbers[subject[0].payload]
        return table
