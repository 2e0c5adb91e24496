"""Shapes with text in them, as matplotlib draws a diagram: their sizes and places.

Lengths are in points (1/72 inch); y runs downwards.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from .style import Style

GAP, ROW_GAP, PADDING = 20.0, 42.0, 14.0
"""Room between shapes beside each other, between rows, and inside a border."""

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
    """Lines of text in a shape of this outer size, about a centre."""

    lines: tuple[Line, ...]
    style: Style
    width: float
    height: float
    x: float = 0.0
    y: float = 0.0

    def turn(self) -> None:
        """Swap what runs downwards and what runs to the right."""
        self.width, self.height = self.height, self.width
        self.x, self.y = self.y, self.x

    @property
    def bottom(self) -> float:
        """Its lower edge."""
        return self.y + self.height / 2


def ends(shapes: Sequence[Box]) -> tuple[float, float]:
    """Find the leftmost and the rightmost place of some shapes."""
    left = min(shape.x - shape.width / 2 for shape in shapes)
    return left, max(shape.x + shape.width / 2 for shape in shapes)
