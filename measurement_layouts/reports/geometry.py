"""Coordinates in drawings, written in few characters."""

from collections.abc import Iterable
from typing import NamedTuple


class Scale(NamedTuple):
    """Linear map from values to places; values beyond an end are drawn at the end.

    Examples
    --------
    >>> across = Scale(0, 10, 20, 120)
    >>> across(2.5), across(11)
    ('45', '120')
    """

    low: float
    high: float
    start: float
    stop: float

    def __call__(self, value: float) -> str:
        share = (value - self.low) / (self.high - self.low) if self.high > self.low else 0.5
        return place(self.start + min(max(float(share), 0.0), 1.0) * (self.stop - self.start))


def place(number: float) -> str:
    """Write a coordinate to a tenth of a pixel.

    Examples
    --------
    >>> place(12.04), place(-0.01)
    ('12', '0')
    """
    return f"{round(float(number), 1) + 0.0:g}"


def line(points: Iterable[tuple[str, str]]) -> str:
    """Join places by straight lines into an SVG path.

    Examples
    --------
    >>> line([("0", "1"), ("2", "3.5")])
    'M0 1L2 3.5'
    """
    return "M" + "L".join(f"{x} {y}" for x, y in points)
