"""Placement of the nodes of a diagram in rows, and along each row."""

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:  # slow to import, and not needed to declare a layout
    import networkx as nx

type Spot = str | tuple[str, str, int]
"""A node, given by its name, or the joint of an edge (parent, child) in a row."""

_SWEEPS = 24
_NOWHERE: Mapping[Spot, Sequence[float]] = {}


@dataclass(frozen=True)
class Placement:
    """Rows from the top, the centre of each spot in its row, and the course of each edge."""

    rows: list[list[Spot]]
    x: dict[Spot, float]
    ways: dict[tuple[str, str], list[Spot]]


def place(
    graph: "nx.DiGraph[str]",
    width: Callable[[Spot], float],
    gap: float,
    anchors: Mapping[Spot, Sequence[float]] = _NOWHERE,
    crossing: Iterable[tuple[str, str]] = (),
    first: int = 0,
) -> Placement:
    """Place a layout's graph (`Layout.graph`), or a part of it.

    Parameters
    ----------
    graph : networkx.DiGraph
        Nodes with their ``kind`` and ``per_item``, and edges.
    width : callable
        Function that returns the width of a spot.
    gap : float
        Distance between two spots of a row.
    anchors : mapping, optional
        Fixed positions of the neighbours of spots in other parts of the diagram.
    crossing : iterable of (str, str)
        Edges that enter this part from above or leave it below, which also get joints.
    first : int
        Number of the first row.

    Returns
    -------
    Placement
        Rows, positions in them, and courses of edges.
    """
    import networkx as nx

    row_of = rows_of(graph)
    ways: dict[tuple[str, str], list[Spot]] = {}
    rows: list[list[Spot]] = [[] for _ in range(max(row_of.values()) + 1)]
    for name, row in row_of.items():
        rows[row].append(name)

    def join(parent: str, child: str) -> list[Spot]:
        between = range(row_of.get(parent, -1) + 1, row_of.get(child, len(rows)))
        joints: list[Spot] = [(parent, child, first + row) for row in between]
        for joint, row in zip(joints, between, strict=True):
            rows[row].append(joint)
        return joints

    for parent, child in graph.edges:
        ways[parent, child] = [parent, *join(parent, child), child]
    for parent, child in crossing:
        before, after = ([end] if end in row_of else [] for end in (parent, child))
        ways[parent, child] = [*before, *join(parent, child), *after]
    links: nx.DiGraph[Spot] = nx.DiGraph()
    links.add_nodes_from(spot for row in rows for spot in row)
    links.add_edges_from(link for way in ways.values() for link in itertools.pairwise(way))
    for spots in rows:
        spots.sort(key=lambda spot: float(np.mean(anchors.get(spot) or 0.0)))
    rows = _ordered(rows, links)
    return Placement(rows, _coordinates(rows, links, width, gap, anchors), ways)


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


def _ordered(rows: list[list[Spot]], links: "nx.DiGraph[Spot]") -> list[list[Spot]]:
    """Order rows by the mean positions of neighbours, in sweeps; keep the fewest crossings."""
    best, fewest = rows, _crossings(rows, links)
    for sweep in range(_SWEEPS):
        toward, order = (links.pred, 1) if sweep % 2 else (links.succ, -1)
        rows = [list(row) for row in rows]
        place_of = {spot: _share(row, spot) for row in rows for spot in row}
        for row in rows[::order]:
            mean = {
                spot: np.mean([place_of[other] for other in toward[spot] or [spot]]) for spot in row
            }
            row.sort(key=mean.__getitem__)
            place_of.update({spot: _share(row, spot) for spot in row})
        if (crossings := _crossings(rows, links)) < fewest:
            best, fewest = rows, crossings
    return best


def _share(row: list[Spot], spot: Spot) -> float:
    """Return the position of a spot along its row, in (0, 1)."""
    return (row.index(spot) + 0.5) / len(row)


def _crossings(rows: list[list[Spot]], links: "nx.DiGraph[Spot]") -> int:
    """Count the pairs of links between the same two rows that cross."""
    row_of = {spot: number for number, row in enumerate(rows) for spot in row}
    place_of = {spot: place for row in rows for place, spot in enumerate(row)}
    ends = [(row_of[upper], place_of[upper], place_of[lower]) for upper, lower in links.edges]
    return sum(
        row == other_row and (upper - other_upper) * (lower - other_lower) < 0
        for (row, upper, lower), (other_row, other_upper, other_lower) in itertools.combinations(
            ends, 2
        )
    )


def _coordinates(
    rows: list[list[Spot]],
    links: "nx.DiGraph[Spot]",
    width: Callable[[Spot], float],
    gap: float,
    anchors: Mapping[Spot, Sequence[float]],
) -> dict[Spot, float]:
    """Move each spot towards the mean of its neighbours, without overlaps in its row."""
    from scipy.optimize import isotonic_regression  # slow to import, and needed for pictures only

    x: dict[Spot, float] = {}
    room: list[np.ndarray] = []
    for row in rows:
        wide = np.array([width(spot) for spot in row])
        room.append(np.concatenate([[0.0], np.cumsum((wide[:-1] + wide[1:]) / 2 + gap)]))
        x.update(zip(row, room[-1] - room[-1][-1] / 2, strict=True))
    for sweep in range(_SWEEPS):
        order = 1 if sweep % 2 else -1
        for row, offsets in list(zip(rows, room, strict=True))[::order]:
            wish = [np.mean(_neighbours(spot, links, x, anchors)) for spot in row]
            settled = isotonic_regression(np.array(wish) - offsets).x + offsets
            x.update(zip(row, settled.tolist(), strict=True))
    return x


def _neighbours(
    spot: Spot,
    links: "nx.DiGraph[Spot]",
    x: Mapping[Spot, float],
    anchors: Mapping[Spot, Sequence[float]],
) -> list[float]:
    """Return the positions of a spot's neighbours, or its own if it has none."""
    linked = [x[other] for other in [*links.pred[spot], *links.succ[spot]]]
    return [*linked, *anchors.get(spot, ())] or [x[spot]]
