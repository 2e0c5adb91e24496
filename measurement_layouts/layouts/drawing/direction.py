"""Rows of a diagram, and its direction: downwards, or to the right where rows are too long."""

from collections import Counter
from typing import TYPE_CHECKING

from ..graph import Graph

if TYPE_CHECKING:  # slow to import, and not needed to declare a layout
    import networkx as nx

_LONG = 5  # nodes that do not fit beside each other on a page


def runs_right(layout: Graph) -> bool:
    """Return whether a diagram has a long row, and fewer rows than this one has nodes."""
    counts = Counter(rows_of(layout.graph).values())
    return max(counts.values()) >= max(_LONG, len(counts) + 1)


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
