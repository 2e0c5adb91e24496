"""What machine code reads from memory: a list of addresses and sizes."""

from collections.abc import Sequence

import numpy as np

from .domains import Domains
from .outcomes import Outcomes
from .values import Value

_WIDTHS = {8: np.uint8, 16: np.uint16, 32: np.uint32}


class Inputs:
    """Numbers the inputs of a kernel, in the order in which its code asks for them.

    Parameters
    ----------
    domains : Domains
        Of the battery.
    outcomes : Outcomes
        The form of a subject's outcomes.

    Attributes
    ----------
    arrays : dict of int to ndarray
        The battery's arrays, by slot.
    sizes : dict of int to int
        Sizes of domains, by slot.
    outcomes : dict of str to int
        Slots of the subject's outcomes, by name.
    own : int
        Slot of the subject's numbers.
    names : list of str
        What those are, in order.
    """

    def __init__(self, domains: Domains, outcomes: Outcomes) -> None:
        self.domains = domains
        self.own = 0
        self.outcomes = {name: slot for slot, name in enumerate(outcomes.names, start=1)}
        self.names: list[str] = []
        self.arrays: dict[int, np.ndarray] = {}
        self.sizes: dict[int, int] = {}
        self._slots: dict[tuple[object, ...], int] = {}
        self._bits: dict[int, int] = {}

    def __len__(self) -> int:
        return 1 + len(self.outcomes) + len(self._slots)

    def size(self, domain: str) -> int:
        """Find the slot of a domain's size."""
        slot, new = self._slot("size", domain)
        if new:
            self.sizes[slot] = self.domains.named(domain).size
        return slot

    def array(self, value: Value) -> int:
        """Find the slot of a battery's numbers, or of a subject's outcomes."""
        if value.op == "outcome":
            return self.outcomes[str(value.payload)]
        slot, new = self._slot("array", value.number)
        if new:
            assert isinstance(value.payload, np.ndarray)  # noqa: S101
            self.arrays[slot] = value.payload
        return slot

    def index(self, source: str, target: str) -> tuple[int, int]:
        """Find the slot of the way from a finer domain to a coarser one, and its width in bits."""
        slot, new = self._slot("index", source, target)
        if new:
            entries = self.domains.map(self.domains.named(source), self.domains.named(target))
            bits = next(bits for bits in _WIDTHS if entries.max(initial=0) < 2**bits)
            self.arrays[slot] = np.ascontiguousarray(entries, dtype=_WIDTHS[bits])
            self._bits[slot] = bits
        return slot, self._bits[slot]

    def number(self, name: str) -> int:
        """Find a place among the subject's numbers."""
        if name not in self.names:
            self.names.append(name)
        return self.names.index(name)

    def addresses(self) -> np.ndarray:
        """Make the list that the code reads; the subject's slots are still empty."""
        found = np.zeros(len(self), dtype=np.int64)
        for slot, array in self.arrays.items():
            found[slot] = array.ctypes.data
        for slot, size in self.sizes.items():
            found[slot] = size
        return found

    def subject(self, outcomes: Sequence[np.ndarray], own: np.ndarray) -> np.ndarray:
        """Make the list of one subject; its arrays must be kept as long as the list."""
        found = self.addresses()
        found[self.own] = own.ctypes.data
        for slot, array in zip(self.outcomes.values(), outcomes, strict=True):
            found[slot] = array.ctypes.data
        return found

    def _slot(self, *key: object) -> tuple[int, bool]:
        new = key not in self._slots
        if new:
            self._slots[key] = len(self)
        return self._slots[key], new
