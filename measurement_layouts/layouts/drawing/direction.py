"""Direction of a diagram: downwards, or to the right if its rows would be too wide."""

import itertools

from ..graph import Graph
from ..nodes import Node
from . import captions
from .placement import rows_of
from .style import STYLES

_WIDEST = 1000.0  # width of a page in points
_LETTER, _AROUND = 5.6, 50.0  # points: width of a letter, and of the space around a text
_STRETCH = {"ellipse": 1.25, "hexagon": 1.5, "parallelogram": 1.6}
_BESIDE = 0.8  # width of two rows in plates beside each other, as a part of the sum of their widths


def runs_right(layout: Graph) -> bool:
    """Return whether a diagram is too wide downwards and narrower to the right."""
    rows: dict[int, list[float]] = {}
    for name, row in sorted(rows_of(layout.graph).items(), key=lambda placed: placed[1]):
        rows.setdefault(row, []).append(_width(layout.nodes[name]))
    totals = [sum(row) for row in rows.values()]
    down = max(totals)
    if layout.joint:
        down = max(down, *(_BESIDE * (one + next_) for one, next_ in itertools.pairwise(totals)))
    return down > _WIDEST and sum(map(max, rows.values())) < down


def _width(node: Node) -> float:
    """Estimate the width of a node."""
    letters = max(map(len, [*captions.facts(node), *captions.formula(node)]), default=0)
    letters = max(letters, round(1.15 * len(node.name)))
    return _LETTER * letters * _STRETCH.get(STYLES[node.kind].shape, 1.0) + _AROUND
