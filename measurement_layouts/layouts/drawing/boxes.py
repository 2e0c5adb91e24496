"""Shapes with text, for diagrams that matplotlib draws.

Lengths are in points (1/72 inch), and y increases downwards.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from .style import Style

GAP, ROW_GAP, PADDING = 20.0, 42.0, 14.0
"""Distances between shapes in a row, between rows, and between a border and its contents."""

BARE = Style("box", fill="none", border="none")


@dataclass(frozen=True)
class Line:
    """A line of text."""

    text: str
    size: float = 8.5
    bold: bool = False
    colour: str = ""


@dataclass
class Box:
    """Lines of text in a shape with an outer size and a centre."""

    lines: tuple[Line, ...]
    style: Style
    width: float
    height: float
    x: float = 0.0
    y: float = 0.0

    def turn(self) -> None:
        """Swap width and height, and the coordinates of the centre."""
        self.width, self.height = self.height, self.width
        self.x, self.y = self.y, self.x

    @property
    def bottom(self) -> float:
        """Position of the lower edge."""
        return self.y + self.height / 2


def ends(shapes: Sequence[Box]) -> tuple[float, float]:
    """Return the leftmost and the rightmost position of some shapes."""
    left = min(shape.x - shape.width / 2 for shape in shapes)
    return left, max(shape.x + shape.width / 2 for shape in shapes)
