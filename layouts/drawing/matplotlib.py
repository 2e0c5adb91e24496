"""The diagram drawn by matplotlib, for machines without Graphviz's `dot`.

Lengths are in points (1/72 inch); y runs downwards.
"""

import io
import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..graph import Graph
from . import captions
from .style import EDGE, INK, PLATE, QUIET, STYLES, Style

if TYPE_CHECKING:  # both are slow to import, and declaring a layout never needs them
    import networkx as nx
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

type Spot = str | tuple[str, str, int]
"""A node by its name, or the joint of an edge (parent, child) on a row."""

_SWEEPS = 24


@dataclass(frozen=True)
class Placement:
    """Rows from the top, the centre of every spot along its row, and the way of every edge."""

    rows: list[list[Spot]]
    x: dict[Spot, float]
    ways: dict[tuple[str, str], list[Spot]]


def place(graph: "nx.DiGraph[str]", width: Callable[[Spot], float], gap: float) -> Placement:
    """Place a layout's graph (`Layout.graph`), given how wide each spot is."""
    import networkx as nx

    row_of = _rows(graph)
    ways: dict[tuple[str, str], list[Spot]] = {}
    rows: list[list[Spot]] = [[] for _ in range(max(row_of.values()) + 1)]
    for name, row in row_of.items():
        rows[row].append(name)
    for parent, child in graph.edges:
        joints: list[Spot] = [
            (parent, child, row) for row in range(row_of[parent] + 1, row_of[child])
        ]
        ways[parent, child] = [parent, *joints, child]
        for joint, row in zip(joints, range(row_of[parent] + 1, row_of[child]), strict=True):
            rows[row].append(joint)
    links: nx.DiGraph[Spot] = nx.DiGraph()
    links.add_nodes_from(spot for row in rows for spot in row)
    links.add_edges_from(link for way in ways.values() for link in itertools.pairwise(way))
    rows = _ordered(rows, links)
    return Placement(rows, _coordinates(rows, links, width, gap), ways)


def _rows(graph: "nx.DiGraph[str]") -> dict[str, int]:
    """Row of every node: the profile above, meta-features on the plate's first row, then down."""
    import networkx as nx

    inside = {name for name, per_item in graph.nodes(data="per_item") if per_item}
    order = list(nx.topological_sort(graph))
    row_of: dict[str, int] = {}
    for name in order:
        if name in inside:
            above = [row_of[parent] for parent in graph.predecessors(name) if parent in inside]
            own = graph.nodes[name]["kind"] == "meta-feature"
            row_of[name] = 0 if own else 1 + max(above, default=0)
    for name in reversed(order):
        if name not in inside:
            below = [row_of[child] for child in graph.successors(name) if child not in inside]
            row_of[name] = min(below, default=0) - 1
    top = min(row_of.values())
    return {name: row - top for name, row in row_of.items()}


def _ordered(rows: list[list[Spot]], links: "nx.DiGraph[Spot]") -> list[list[Spot]]:
    """Order each row by its neighbours' mean place, down and up; keep the fewest crossings."""
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
    """Place of a spot along its row, in (0, 1)."""
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
) -> dict[Spot, float]:
    """Pull every spot to the mean of its neighbours, as far as its row leaves room."""
    from scipy.optimize import isotonic_regression  # slow to import; only pictures need it

    x: dict[Spot, float] = {}
    room: list[np.ndarray] = []
    for row in rows:
        wide = np.array([width(spot) for spot in row])
        room.append(np.concatenate([[0.0], np.cumsum((wide[:-1] + wide[1:]) / 2 + gap)]))
        x.update(zip(row, room[-1] - room[-1][-1] / 2, strict=True))
    for sweep in range(_SWEEPS):
        order = 1 if sweep % 2 else -1
        for row, offsets in list(zip(rows, room, strict=True))[::order]:
            wish = [
                np.mean([x[other] for other in [*links.pred[spot], *links.succ[spot]]])
                for spot in row
            ]
            settled = isotonic_regression(np.array(wish) - offsets).x + offsets
            x.update(zip(row, settled.tolist(), strict=True))
    return x


_FONT = "DejaVu Sans"  # it comes with matplotlib
_LEADING = 1.3
_GAP, _ROW_GAP, _PADDING = 20.0, 42.0, 14.0
_DOUBLE = 3.5  # distance between the lines of a doubled border
_SLANT = 0.4  # of the height: how far hexagons and parallelograms lean
_BARE = Style("box", fill="none", border="none")
_PLATE = Style("rounded", fill="none", border=PLATE, width=1.4)


@dataclass(frozen=True)
class _Line:
    """A line of text."""

    text: str
    size: float = 8.5
    bold: bool = False


@dataclass
class _Box:
    """Lines of text in a shape of this outer size, about a centre."""

    lines: tuple[_Line, ...]
    style: Style
    width: float
    height: float
    x: float = 0.0
    y: float = 0.0

    @property
    def bottom(self) -> float:
        """Its lower edge."""
        return self.y + self.height / 2


def picture(layout: Graph, ending: str) -> bytes:
    """Draw a layout; `ending` is one of matplotlib's formats."""
    ruler = _Ruler()
    box = ruler.box
    nodes: dict[Spot, _Box] = {}
    for name, node in layout.nodes.items():
        below = [_Line(text) for text in [*captions.facts(node), *captions.formula(node)]]
        nodes[name] = box([_Line(name, 10, bold=True), *below], STYLES[node.kind])
    placed = place(layout.graph, lambda spot: nodes[spot].width if spot in nodes else 2.0, _GAP)
    bands = _stack(placed, nodes)
    inside = {name for name, per_item in layout.graph.nodes(data="per_item") if per_item}
    plate = _plate(placed, nodes, bands, inside)

    around = [*nodes.values(), plate]
    centre = sum(_ends(around)) / 2
    title = box([_Line(layout.name, 13, bold=True)], _BARE)
    title.x, title.y = centre, -title.height / 2 - _PADDING / 2
    legend = [box([_Line(kind)], STYLES[kind]) for kind in captions.kinds(layout)]
    tallest = max(shape.height for shape in legend)
    _line_up(legend, centre, plate.bottom + 1.5 * _PADDING + tallest / 2)
    notes = [box([_Line(text)], _BARE) for text in captions.remarks(layout)]
    for number, note in enumerate(notes):
        note.x, note.y = centre, legend[0].y + tallest / 2 + (number + 0.7) * note.height

    everything = [plate, *nodes.values(), *legend, *notes, title]
    axes = _axes(ruler.figure, everything)
    _draw_edges(axes, placed, nodes, bands)
    for shape in everything:
        _draw_box(axes, shape)
    corner = (plate.x + plate.width / 2 - 10, plate.bottom - 10)
    _write(axes, *corner, _Line("items", 10), ha="right")
    file = io.BytesIO()
    ruler.figure.savefig(file, format=ending, dpi=192)
    return file.getvalue()


class _Ruler:
    """Measures text, and sizes shapes around it."""

    def __init__(self) -> None:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        self.figure = Figure(dpi=72, facecolor="white")
        canvas: Any = FigureCanvasAgg(self.figure)
        self.renderer = canvas.get_renderer()

    def _width(self, line: _Line) -> float:
        """Width of a line of text."""
        text = _write(self.figure, 0, 0, line)
        width: float = text.get_window_extent(self.renderer).width
        text.remove()
        return width

    def box(self, lines: Sequence[_Line], style: Style) -> _Box:
        """Size a shape around lines of text."""
        width = max(map(self._width, lines))
        height = sum(line.size * _LEADING for line in lines)
        match style.shape:
            case "ellipse":
                width, height = 1.25 * width + 12, 1.4 * height + 6
            case "hexagon" | "parallelogram":
                height += 10
                width += 2 * _SLANT * height + 8
            case _:
                width, height = width + 18, height + 10
        border = 2 * _DOUBLE * style.double
        return _Box(tuple(lines), style, width + border, height + border)


def _stack(placed: Placement, nodes: dict[Spot, _Box]) -> dict[Spot, tuple[float, float]]:
    """Put the rows one under the other; return the top and bottom of every spot's row."""
    bands: dict[Spot, tuple[float, float]] = {}
    top = 0.0
    for row in placed.rows:
        bottom = top + max((nodes[spot].height for spot in row if spot in nodes), default=0.0)
        for spot in row:
            bands[spot] = (top, bottom)
            if spot in nodes:
                nodes[spot].x, nodes[spot].y = placed.x[spot], (top + bottom) / 2
        top = bottom + _ROW_GAP
    return bands


def _plate(
    placed: Placement,
    nodes: dict[Spot, _Box],
    bands: dict[Spot, tuple[float, float]],
    inside: set[str],
) -> _Box:
    """Draw a border around the items' rows."""
    first = min(bands[name][0] for name in inside)
    spots = [spot for spot, band in bands.items() if band[0] >= first]
    shapes = [nodes.get(spot, _Box((), _BARE, 2, 0, placed.x[spot])) for spot in spots]
    left, right = _ends(shapes)
    top, bottom = first - _PADDING, max(bands[spot][1] for spot in spots) + 1.6 * _PADDING
    centre = (left + right) / 2, (top + bottom) / 2
    return _Box((), _PLATE, right - left + 2 * _PADDING, bottom - top, *centre)


def _ends(shapes: Sequence[_Box]) -> tuple[float, float]:
    """Find the leftmost and the rightmost place of some shapes."""
    left = min(shape.x - shape.width / 2 for shape in shapes)
    return left, max(shape.x + shape.width / 2 for shape in shapes)


def _line_up(shapes: Sequence[_Box], centre: float, y: float) -> None:
    """Put shapes beside each other, about a centre."""
    x = centre - (sum(shape.width for shape in shapes) + _GAP * (len(shapes) - 1)) / 2
    for shape in shapes:
        shape.x, shape.y = x + shape.width / 2, y
        x += shape.width + _GAP


def _axes(figure: "Figure", shapes: Sequence[_Box]) -> "Axes":
    """Make axes whose unit is the point, large enough for all shapes."""
    left, right = _ends(shapes)
    top = min(shape.y - shape.height / 2 for shape in shapes)
    bottom = max(shape.bottom for shape in shapes)
    left, right, top, bottom = left - _PADDING, right + _PADDING, top - _PADDING, bottom + _PADDING
    figure.set_size_inches((right - left) / 72, (bottom - top) / 72)
    axes: Axes = figure.add_axes((0, 0, 1, 1))
    axes.set_xlim(left, right)
    axes.set_ylim(bottom, top)
    axes.set_axis_off()
    return axes


def _draw_edges(
    axes: "Axes",
    placed: Placement,
    nodes: dict[Spot, _Box],
    bands: dict[Spot, tuple[float, float]],
) -> None:
    """Draw each edge as a curve that enters and leaves every row upright."""
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path as Curve

    for way in placed.ways.values():
        parent, child = nodes[way[0]], nodes[way[-1]]
        leaving = [other[1] for other in placed.ways.values() if other[0] == way[0]]
        coming = [other[-2] for other in placed.ways.values() if other[-1] == way[-1]]
        start = _dock(parent, _slot(way[1], leaving, placed, parent.width), below=True)
        end = _dock(child, _slot(way[-2], coming, placed, child.width), below=False)
        points = [start]
        for joint in way[1:-1]:
            points += [(placed.x[joint], edge) for edge in bands[joint]]
        points.append(end)
        curve, codes = [start], [Curve.MOVETO]
        for (x0, y0), (x1, y1) in itertools.pairwise(points):
            curve += [(x0, (y0 + y1) / 2), (x1, (y0 + y1) / 2), (x1, y1)]
            codes += [Curve.CURVE4] * 3
        axes.add_patch(
            FancyArrowPatch(
                path=Curve(curve, codes), arrowstyle="-|>", mutation_scale=9, color=EDGE, lw=1.2
            )
        )


def _slot(spot: Spot, others: list[Spot], placed: Placement, width: float) -> float:
    """Offset along a node's side, so that its edges do not meet in one point."""
    index = sorted(others, key=placed.x.__getitem__).index(spot)
    step = min(18.0, 0.5 * width / len(others))
    return (index - (len(others) - 1) / 2) * step


def _dock(shape: _Box, offset: float, *, below: bool) -> tuple[float, float]:
    """Point of a shape's upper or lower border where an edge ends."""
    reach = shape.height / 2
    if shape.style.shape == "ellipse":
        reach *= math.sqrt(1 - (2 * offset / shape.width) ** 2)
    return shape.x + offset, shape.y + (reach if below else -reach)


def _draw_box(axes: "Axes", shape: _Box) -> None:
    """Draw a shape with its lines of text."""
    if shape.style.double:
        axes.add_patch(_outline(shape, fill="white"))
    axes.add_patch(_outline(shape, _DOUBLE * shape.style.double, shape.style.fill))
    y = shape.y - sum(line.size * _LEADING for line in shape.lines) / 2
    for line in shape.lines:
        _write(axes, shape.x, y + line.size * _LEADING / 2, line)
        y += line.size * _LEADING


def _outline(shape: _Box, inset: float = 0.0, fill: str = "none") -> "Patch":
    """Make the shape's border, filled, this far inside its outer edge."""
    from matplotlib import patches

    style = shape.style
    look: dict[str, Any] = {"fc": fill, "ec": style.border, "lw": style.width, "zorder": 2}
    if style.dashed:
        look["ls"] = (0, (4, 3))
    x, y = shape.x, shape.y
    width, height = shape.width - 2 * inset, shape.height - 2 * inset
    left, right, top, bottom = x - width / 2, x + width / 2, y - height / 2, y + height / 2
    lean = _SLANT * height
    match style.shape:
        case "ellipse":
            return patches.Ellipse((x, y), width, height, **look)
        case "rounded":
            rounding = "round,pad=0,rounding_size=7"
            return patches.FancyBboxPatch((left, top), width, height, boxstyle=rounding, **look)
        case "hexagon":
            upper = [(left + lean, top), (right - lean, top), (right, y)]
            lower = [(right - lean, bottom), (left + lean, bottom), (left, y)]
            return patches.Polygon([*upper, *lower], **look)
        case "parallelogram":
            corners = [(left + lean, top), (right, top), (right - lean, bottom), (left, bottom)]
            return patches.Polygon(corners, **look)
    return patches.Rectangle((left, top), width, height, **look)


def _write(where: "Figure | Axes", x: float, y: float, line: _Line, ha: str = "center") -> Any:
    """Write a line of text about a point."""
    return where.text(
        *(x, y, line.text),
        fontsize=line.size,
        fontweight="bold" if line.bold else "normal",
        fontfamily=_FONT,
        color=INK if line.bold else QUIET,
        ha=ha,
        va="center_baseline",
        parse_math=False,
        usetex=False,
    )
