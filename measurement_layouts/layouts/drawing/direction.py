"""Direction of a diagram: downwards, or to the right if its rows would be too wide."""

import itertools
from typing import TYPE_CHECKING

from ..graph import Graph
from ..nodes import Node
from . import captions
from .style import STYLES

if TYPE_CHECKING:  # slow to import, and not needed to declare a layout
    import networkx as nx

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


def rows_of(graph: "nx.DiGraph[str]") -> dict[str, int]:
    """Return the row of each node: the profile, then meta-features, then computed nodes."""
    import networkx as nx

    inside = {name for name, per_item in graph.nodes(data="per_item") if per_item}
    order = list(nx.topological_sort(graph))
    row_of: dict[str, int] = {}
    for name in order:
        if name in inside:
            above = [row_of[parent] for parent in graph.predecessors(name) if parent in inside]
            computed = graph.nodes[name]["kind"] in ("derived", "outcome", "unseen")
            row_of[name] = 1 + max(above, default=0) if above or computed else 0
    for name in reversed(order):
        if name not in inside:
            below = [row_of[child] for child in graph.successors(name) if child not in inside]
            row_of[name] = min(below, default=0) - 1
    top = min(row_of.values())
    return {name: row - top for name, row in row_of.items()}
