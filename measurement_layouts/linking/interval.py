"""Closed intervals and their arithmetic, for the ranges of expressions."""

import itertools
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from .errors import LayoutError


@dataclass(frozen=True)
class Interval:
    """Range ``[low, high]``; either end can be infinite.

    Arithmetic gives the smallest interval that contains every result when the operands vary
    independently. When one node occurs twice, the interval can be wider than the true range, but it
    is never narrower.

    Raises
    ------
    LayoutError
        When the ends are reversed or NaN.

    Examples
    --------
    >>> Interval(0, 2) - Interval(0, 1)
    [-1, 2]
    >>> Interval(1, 2) / Interval(0, 4)
    [0.25, inf]
    """

    low: float
    high: float

    def __post_init__(self) -> None:
        if not self.low <= self.high:
            problem = f"the range [{self.low:g}, {self.high:g}] is reversed or not a number"
            raise LayoutError(f"{problem}; give the lower end first")

    def __repr__(self) -> str:
        return f"[{self.low:.10g}, {self.high:.10g}]"

    def __contains__(self, other: "Interval") -> bool:
        return self.low - 1e-9 <= other.low and other.high <= self.high + 1e-9

    def __iter__(self) -> Iterator[float]:
        return iter((self.low, self.high))

    def _combine(self, other: "Interval", operation: Callable[[float, float], float]) -> "Interval":
        """Interval of an operation that is monotone in both operands."""
        ends = itertools.product((self.low, self.high), (other.low, other.high))
        return _hull_of(operation(a, b) for a, b in ends)

    def __add__(self, other: "Interval") -> "Interval":
        low, high = self.low + other.low, self.high + other.high
        return Interval(
            -math.inf if math.isnan(low) else low, math.inf if math.isnan(high) else high
        )

    def __neg__(self) -> "Interval":
        return Interval(-self.high, -self.low)

    def __sub__(self, other: "Interval") -> "Interval":
        return self + -other

    def __mul__(self, other: "Interval") -> "Interval":
        return self._combine(other, _times)

    def __truediv__(self, other: "Interval") -> "Interval":
        if other.low < 0 < other.high or other.low == other.high == 0:
            return REALS
        side = 1.0 if other.high > 0 else -1.0  # on which side of zero the divisor lies
        return self._combine(other, lambda a, b: _over(a, b, side))

    def __pow__(self, other: "Interval") -> "Interval":
        if other.low == other.high and other.low.is_integer():
            return self._to_integer(int(other.low))
        if self.low > 0 or (self.low == 0 and other.low >= 0):
            return self._combine(other, _power)
        return Interval(0.0, math.inf) if self.low == 0 else REALS

    def _to_integer(self, power: int) -> "Interval":
        """Interval raised to a whole number."""
        if power < 0:
            return Interval(1.0, 1.0) / self._to_integer(-power)
        ends = [_power(self.low, power), _power(self.high, power)]
        turns = power > 0 and power % 2 == 0 and self.low < 0 < self.high
        return _hull_of([*ends, 0.0] if turns else ends)

    def hull(self, other: "Interval") -> "Interval":
        """Return the smallest interval that contains both."""
        return Interval(min(self.low, other.low), max(self.high, other.high))

    @property
    def is_finite(self) -> bool:
        """Whether both ends are finite."""
        return math.isfinite(self.low) and math.isfinite(self.high)


def _times(a: float, b: float) -> float:
    """Product of two ends, where zero times infinity is zero."""
    return 0.0 if a == 0 or b == 0 else a * b


def _over(a: float, b: float, side: float) -> float:
    """Limit of a/b where b is on one side of zero."""
    if a == 0 or math.isinf(b):
        return 0.0
    return math.copysign(math.inf, a * side) if b == 0 else a / b


def _power(a: float, b: float) -> float:
    """Power of two ends, infinite where it overflows."""
    try:
        return float(a**b)
    except OverflowError:
        return -math.inf if a < 0 and b % 2 == 1 else math.inf


def _hull_of(values: Iterable[float]) -> Interval:
    """Smallest interval that contains the values."""
    ends = list(values)
    return Interval(min(ends), max(ends))


def read_ends(owner: str, what: str, ends: object) -> tuple[float, float]:
    """Read both ends of a declared interval.

    Raises
    ------
    LayoutError
        When they are not two numbers, or reversed.
    """
    try:
        low, high = map(float, ends)  # type: ignore[call-overload]
        return Interval(low, high).low, high
    except (TypeError, ValueError) as error:
        advice = "give the lower and the upper end, as in (0, 1)"
        raise LayoutError(f"{owner}: {what}={ends!r}; {advice}") from error


REALS = Interval(-math.inf, math.inf)
UNIT = Interval(0.0, 1.0)
