"""Positions of all nodes and plates of a diagram that matplotlib draws.

Rows run downwards here. For a diagram that runs to the right, width and height of the boxes are
swapped before and after the arrangement.
"""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..graph import Graph
from .boxes import BARE, GAP, PADDING, ROW_GAP, Box, ends
from .frames import Corner, Frame, frames
from .placement import Placement, Spot, place
from .style import PLATE, Style

if TYPE_CHECKING:  # slow to import, and not needed to declare a layout
    import networkx as nx

_TITLE = 1.6 * PADDING  # space for a title
_BORDER = Style("rounded", fill="none", border=PLATE, width=1.4)


@dataclass(frozen=True)
class Plate:
    """A plate's border, with a title in one of its lower corners."""

    box: Box
    title: str
    corner: Corner


@dataclass
class Arrangement:
    """Positions of spots and plates, and the courses of edges.

    Attributes
    ----------
    nodes : dict of str to Box
        Boxes of the nodes by name, which are moved to their positions.
    x : dict of Spot to float
        Centre of each spot.
    bands : dict of Spot to (float, float)
        Top and bottom of the row of each spot.
    ways : dict of (str, str) to list of Spot
        Course of each edge: parent, joints, child.
    right : bool
        Whether the diagram runs to the right, so that the right side here is drawn below.
    rows : int
        Number of rows so far.
    plates : list of Plate
        Borders of the plates.
    """

    nodes: Mapping[Spot, Box]
    right: bool = False
    x: dict[Spot, float] = field(default_factory=dict)
    bands: dict[Spot, tuple[float, float]] = field(default_factory=dict)
    ways: dict[tuple[str, str], list[Spot]] = field(default_factory=dict)
    plates: list[Plate] = field(default_factory=list)
    rows: int = 0

    def width(self, spot: Spot) -> float:
        """Return the width of a spot."""
        return self.nodes[spot].width if spot in self.nodes else 2.0

    def stack(self, placed: Placement, top: float = 0.0) -> float:
        """Stack rows downwards from `top`; returns the bottom of the last one."""
        bottom = top
        for row in placed.rows:
            heights = (self.nodes[spot].height for spot in row if spot in self.nodes)
            bottom = top + max(heights, default=0.0)
            for spot in row:
                self.x[spot], self.bands[spot] = placed.x[spot], (top, bottom)
                if spot in self.nodes:
                    self.nodes[spot].x, self.nodes[spot].y = placed.x[spot], (top + bottom) / 2
            top = bottom + ROW_GAP
        for edge, way in placed.ways.items():
            known = self.ways.get(edge, [])
            self.ways[edge] = [*way, *known] if way and way[0] == edge[0] else [*known, *way]
        self.rows += len(placed.rows)
        return bottom

    def shapes(self, spots: Iterable[Spot]) -> list[Box]:
        """Return the boxes of nodes, and thin boxes for joints of edges."""
        return [self.nodes.get(spot) or Box((), BARE, 2, 0, self.x[spot]) for spot in spots]

    def enclose(
        self, shapes: Sequence[Box], top: float, bottom: float, title: str, corner: Corner
    ) -> Box:
        """Add a border around shapes between two heights, with space for its title below them."""
        below, beside = (PADDING, _TITLE) if self.right else (_TITLE, PADDING)
        left, right = ends(shapes)
        left, right, top, bottom = left - PADDING, right + beside, top - PADDING, bottom + below
        centre = (left + right) / 2, (top + bottom) / 2
        box = Box((), _BORDER, right - left, bottom - top, *centre)
        self.plates.append(Plate(box, title, corner))
        return box

    def shift(self, spots: Iterable[Spot], plates: Iterable[Plate], by: float) -> None:
        """Move spots and plates to the right."""
        for spot in spots:
            self.x[spot] += by
            if spot in self.nodes:
                self.nodes[spot].x += by
        for plate in plates:
            plate.box.x += by


def arrange(layout: Graph, nodes: Mapping[Spot, Box], *, right: bool = False) -> Arrangement:
    """Arrange the nodes of a layout, given boxes of the right sizes, turned or not."""
    found = Arrangement(nodes, right)
    if layout.joint:
        _in_frames(layout, found)
    else:
        _around_one_plate(layout, found)
    return found


def _around_one_plate(layout: Graph, found: Arrangement) -> None:
    """Arrange the profile above the plate of items."""
    found.stack(place(layout.graph, found.width, GAP))
    inside = [name for name, per_item in layout.graph.nodes(data="per_item") if per_item]
    first = min(found.bands[name][0] for name in inside)
    spots = [spot for spot, band in found.bands.items() if band[0] >= first]
    bottom = max(found.bands[spot][1] for spot in spots)
    found.enclose(found.shapes(spots), first, bottom, "items", "right")


def _in_frames(layout: Graph, found: Arrangement) -> None:
    """Arrange the population, then the plates beside each other, then their intersections."""
    graph = layout.graph
    *before, last = frames(layout)
    below = [frame for frame in before if _depends_on_frames(layout, frame)]
    beside = sorted((frame for frame in before if frame not in below), key=_side)
    shared = [name for name, plates in layout.plates_of_nodes.items() if not plates]
    top = 0.0
    if shared:  # space for the population, whose horizontal positions are not known yet
        top = Arrangement(found.nodes).stack(_placed(graph, shared, found)) + ROW_GAP + PADDING
    bottom = _beside(graph, beside, found, top, set(shared))
    if shared:
        found.stack(_placed(graph, shared, found))
    for row in (below, [last]):
        if row:
            standing = {name for name in layout.nodes if name in found.x}
            bottom = _beside(graph, row, found, bottom + ROW_GAP + PADDING, standing)


def _side(frame: Frame) -> int:
    """Return the order of a frame among those beside it: subjects, intersections, items."""
    if frame.corner == "left":
        return 0
    return 1 if "/" in frame.name else 2


def _depends_on_frames(layout: Graph, frame: Frame) -> bool:
    """Return whether an intersection depends on nodes of other frames, which must be above it."""
    parents = {parent for name in frame.nodes for parent in layout.graph.predecessors(name)}
    outside = parents - set(frame.nodes)
    return "/" in frame.name and any(layout.plates_of_nodes[name] for name in outside)


def _placed(
    graph: "nx.DiGraph[str]",
    names: Sequence[str],
    found: Arrangement,
    passing: Iterable[tuple[str, str]] = (),
) -> Placement:
    """Place some nodes near their placed neighbours, with joints of passing edges."""
    import networkx as nx

    own = set(names)
    part: nx.DiGraph[str] = nx.DiGraph()
    part.add_nodes_from((name, graph.nodes[name]) for name in names)
    part.add_edges_from(edge for edge in graph.edges if own.issuperset(edge))
    crossing = [*(edge for edge in graph.edges if len(own.intersection(edge)) == 1), *passing]
    anchors: dict[Spot, list[float]] = {}
    for parent, child in crossing:
        here, there = (parent, child) if parent in own else (child, parent)
        spot = here if here in own else (parent, child, found.rows)
        if there in found.x:
            anchors.setdefault(spot, []).append(found.x[there])
            anchors.setdefault((parent, child, found.rows), []).append(found.x[there])
    return place(part, found.width, GAP, anchors, crossing, found.rows)


def _beside(
    graph: "nx.DiGraph[str]", row: list[Frame], found: Arrangement, top: float, above: set[str]
) -> float:
    """Arrange frames beside each other, with passing edges between them; returns the bottom."""
    held = {name for outermost in row for frame in outermost for name in frame.nodes}
    edges = [
        edge
        for edge in graph.edges
        if edge[0] in above and edge[1] not in above and edge[1] not in held
    ]
    boxes: list[Box] = []
    parts: list[tuple[list[Spot], list[Plate]]] = []
    for frame in row:
        spots, plates = len(found.x), len(found.plates)
        boxes.append(_frame(graph, frame, found, top))
        parts.append((list(found.x)[spots:], found.plates[plates:]))
        if boxes[1:]:
            room = ends(boxes[-1:])[0] - ends(boxes[-2:-1])[1]
            found.shift(*parts[-1], max(0.0, GAP - room))
    bottom = max(box.bottom for box in boxes)
    gaps: list[list[tuple[str, str]]] = [[] for _ in range(len(row) + 1)]
    middle = sum(_side(frame) == 0 for frame in row)
    for edge in edges:
        gaps[_nearest_gap(boxes, found.x[edge[0]]) if edge[0] in found.x else middle].append(edge)
    for place_of, passing in enumerate(gaps):
        for part in parts[place_of:] if place_of else []:
            found.shift(*part, GAP * len(passing))
        start = ends(boxes[place_of - 1 : place_of])[1] if place_of else ends(boxes[:1])[0]
        for number, edge in enumerate(passing, 1):
            joint = (*edge, found.rows)
            found.x[joint] = start + GAP * (number if place_of else number - len(passing) - 1)
            found.bands[joint] = (top - PADDING, bottom)
            found.ways.setdefault(edge, []).append(joint)
    found.rows += 1
    return bottom


def _nearest_gap(boxes: Sequence[Box], x: float) -> int:
    """Return the number of the gap, between boxes or beyond them, that is nearest to `x`."""
    sides = [ends([box]) for box in boxes]
    middles = [(left[1] + right[0]) / 2 for left, right in itertools.pairwise(sides)]
    gaps = [sides[0][0], *middles, sides[-1][1]]
    return min(range(len(gaps)), key=lambda gap: abs(gaps[gap] - x))


def _frame(
    graph: "nx.DiGraph[str]",
    frame: Frame,
    found: Arrangement,
    top: float,
    around: frozenset[str] = frozenset(),
) -> Box:
    """Arrange a frame's nodes above its inner frames; `around` are nodes of outer frames."""
    before = len(found.x)
    own = frozenset(frame.nodes)
    held = frozenset(name for inner in frame for name in inner.nodes)
    passing = [
        (parent, child)
        for parent, child in graph.edges
        if (child in held - own and parent not in held)
        or (parent in around and child not in around | held)
    ]
    bottom = found.stack(_placed(graph, frame.nodes, found, passing), top)
    inner = []
    for inside in frame.inside:
        box = _frame(graph, inside, found, bottom + ROW_GAP, around | own)
        inner.append(box)
        bottom = box.bottom
    shapes = [*found.shapes(list(found.x)[before:]), *inner]
    return found.enclose(shapes, top, bottom, frame.title, frame.corner)
