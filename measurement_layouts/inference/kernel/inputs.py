"""Inputs of machine code: the outcomes of a subject, and a list of addresses and sizes."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln, xlogy

from ...evaluations.subject_data import EDGE
from .domains import Domains
from .values import Value, Values

_SMALLEST = -690.0  # the exponential of smaller numbers may be 0


def log_ways(successes: np.ndarray, trials: np.ndarray) -> np.ndarray:
    """Compute the logarithms of the binomial coefficients of counts."""
    return np.asarray(
        gammaln(trials + 1) - gammaln(successes + 1) - gammaln(trials - successes + 1)
    )


@dataclass(frozen=True)
class Outcomes:
    """The form in which a subject's outcomes are given to a kernel.

    Attributes
    ----------
    unanimous : bool
        Whether each row has only successes or only failures, so that one logarithm is sufficient.
    unseen : str or None
        Dimension over which the outcomes' probability is averaged. Rows are then kinds of items
        with equal outcomes, with their numbers.
    crowded : bool
        Whether a row has so many trials that their probability may underflow at all places of the
        dimension.
    """

    unanimous: bool
    unseen: str | None = None
    crowded: bool = False

    @classmethod
    def of(cls, successes: np.ndarray, trials: np.ndarray) -> "Outcomes":
        """Choose the form of outcomes, given as counts by row."""
        return cls(bool(((successes == 0) | (successes == trials)).all()))

    @classmethod
    def averaged(cls, trials: np.ndarray, unseen: str) -> "Outcomes":
        """Choose the form of outcomes whose probability is averaged over a dimension."""
        return cls(False, unseen, bool(trials.max(initial=0) * np.log(EDGE) < _SMALLEST))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the numbers that are given per row."""
        if self.unseen is not None:
            return ("successes", "failures", "times", "best")
        return ("signed",) if self.unanimous else ("successes", "failures")

    def arrays(self, successes: np.ndarray, trials: np.ndarray) -> list[np.ndarray]:
        """Return the numbers per row, in the order of `names`."""
        if not self.unanimous:
            return [successes, trials - successes]
        return [np.where(successes < trials, -trials, trials)]

    @staticmethod
    def best(successes: np.ndarray, trials: np.ndarray) -> np.ndarray:
        """Return the largest possible log-probability of each row, without its coefficient."""
        failures = trials - successes
        found = xlogy(successes, successes) + xlogy(failures, failures) - xlogy(trials, trials)
        return np.asarray(found)

    def log_probability(
        self, values: Values, p: Value, weights: Value | None, *given: Value
    ) -> Value:
        """Make the log-probability of each row, without its coefficient."""
        if weights is not None:
            return self._averaged(values, p, weights, *given)
        return values("unanimous" if self.unanimous else "binomial", p, *given)

    def _averaged(
        self,
        values: Values,
        p: Value,
        weights: Value,
        successes: Value,
        failures: Value,
        times: Value,
        best: Value,
    ) -> Value:
        """Average the binomial probability over the places of the dimension."""
        dim = str(self.unseen)
        far = values.constant(1 - EDGE)
        p = values("minimum", values("maximum", p, values.constant(EDGE)), far)
        each = values(
            "add",
            values("mul", successes, values("log", p)),
            values("mul", failures, values("log", values("sub", values.one, p))),
            values("log", weights),
        )
        most = values.reduce("max", each, dim) if self.crowded else best
        parts = values("exp", values("sub", each, most))
        average = values("add", most, values("log", values.reduce("sum", parts, dim)))
        return values("mul", times, average)


_WIDTHS = {8: np.uint8, 16: np.uint16, 32: np.uint32}


class Inputs:
    """Numbered inputs of a kernel, in the order of their first use in the code.

    Parameters
    ----------
    domains : Domains
        Domains of the battery.
    outcomes : Outcomes
        Form of a subject's outcomes.

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
        Names of the subject's numbers, in order.
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
        """Return the slot of a domain's size."""
        slot, new = self._slot("size", domain)
        if new:
            self.sizes[slot] = self.domains.named(domain).size
        return slot

    def array(self, value: Value) -> int:
        """Return the slot of an array of the battery, or of a subject's outcomes."""
        if value.op == "outcome":
            return self.outcomes[str(value.payload)]
        slot, new = self._slot("array", value.number)
        if new:
            assert isinstance(value.payload, np.ndarray)  # noqa: S101
            self.arrays[slot] = value.payload
        return slot

    def index(self, source: str, target: str) -> tuple[int, int]:
        """Return the slot of the map from a finer to a coarser domain, and its width in bits."""
        slot, new = self._slot("index", source, target)
        if new:
            entries = self.domains.map(self.domains.named(source), self.domains.named(target))
            bits = next(bits for bits in _WIDTHS if entries.max(initial=0) < 2**bits)
            self.arrays[slot] = np.ascontiguousarray(entries, dtype=_WIDTHS[bits])
            self._bits[slot] = bits
        return slot, self._bits[slot]

    def number(self, name: str) -> int:
        """Return the position of a number among those of the subject."""
        if name not in self.names:
            self.names.append(name)
        return self.names.index(name)

    def addresses(self) -> np.ndarray:
        """Return the list of addresses and sizes for the code, with empty slots of the subject."""
        found = np.zeros(len(self), dtype=np.int64)
        for slot, array in self.arrays.items():
            found[slot] = array.ctypes.data
        for slot, size in self.sizes.items():
            found[slot] = size
        return found

    def subject(self, outcomes: Sequence[np.ndarray], own: np.ndarray) -> np.ndarray:
        """Return the list for one subject; its arrays must exist as long as the list is used."""
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
