"""Closed intervals and their arithmetic: the range an expression can take."""

import itertools
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Interval:
    """Range ``[low, high]``, either end possibly infinite.

    Arithmetic gives the smallest interval that holds every result when the operands vary
    independently; it can be wider than the truth when one node occurs twice, never narrower.

    Examples
    --------
    >>> Interval(0, 2) - Interval(0, 1)
    [-1, 2]
    """

    low: float
    high: float

    def __repr__(self) -> str:
        return f"[{self.low:g}, {self.high:g}]"

    def __contains__(self, other: "Interval") -> bool:
        slack = 1e-9
        return self.low - slack <= other.low and other.high <= self.high + slack

    def _combine(self, other: "Interval", operation: Callable[[float, float], float]) -> "Interval":
        ends = itertools.product((self.low, self.high), (other.low, other.high))
        return _hull_of(operation(a, b) for a, b in ends)

    def __add__(self, other: "Interval") -> "Interval":
        return Interval(self.low + other.low, self.high + other.high)

    def __neg__(self) -> "Interval":
        return Interval(-self.high, -self.low)

    def __sub__(self, other: "Interval") -> "Interval":
        return self + -other

    def __mul__(self, other: "Interval") -> "Interval":
        return self._combine(other, _times)

    def __truediv__(self, other: "Interval") -> "Interval":
        if other.low <= 0 <= other.high:
            return REALS
        return self._combine(other, lambda a, b: a / b if math.isfinite(b) else 0.0)

    def __pow__(self, other: "Interval") -> "Interval":
        if other.low == other.high and other.low.is_integer() and other.low >= 0:
            power = int(other.low)
            ends = [self.low**power, self.high**power]
            crosses_zero = power > 0 and power % 2 == 0 and self.low < 0 < self.high
            return _hull_of([*ends, 0.0] if crosses_zero else ends)
        if self.low > 0:
            return self._combine(other, _power)
        if self.low == 0 and other.low >= 0:
            return self._combine(other, _power)
        return REALS

    def hull(self, other: "Interval") -> "Interval":
        """Return the smallest interval that holds both."""
        return Interval(min(self.low, other.low), max(self.high, other.high))

    @property
    def is_finite(self) -> bool:
        """Whether both ends are finite."""
        return math.isfinite(self.low) and math.isfinite(self.high)


def _times(a: float, b: float) -> float:
    return 0.0 if a == 0 or b == 0 else a * b


def _power(a: float, b: float) -> float:
    try:
        return a**b
    except OverflowError:
        return math.inf


def _hull_of(values: Iterable[float]) -> Interval:
    found = list(values)
    return Interval(min(found), max(found))


REALS = Interval(-math.inf, math.inf)
UNIT = Interval(0.0, 1.0)
