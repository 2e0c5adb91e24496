"""Diagrams drawn with matplotlib, for machines without Graphviz's `dot`.

Lengths are in points (1/72 inch), and y increases downwards.
"""

import io
import itertools
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..graph import Graph
from . import captions
from .arrangement import Arrangement, Plate, arrange
from .boxes import BARE, GAP, PADDING, Box, Line, ends
from .direction import runs_right
from .placement import Spot
from .style import EDGE, INK, NO_NOTES, NOTE, QUIET, STYLES, Notes, Style

if TYPE_CHECKING:  # slow to import, and not needed to declare a layout
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

_FONT = "DejaVu Sans"  # part of matplotlib
_LEADING = 1.3
_DOUBLE = 3.5  # distance between the lines of a doubled border
_SLANT = 0.4  # slant of hexagons and parallelograms, as a part of their height


def picture(layout: Graph, ending: str, notes: Notes = NO_NOTES) -> bytes:
    """Draw a layout with notes below nodes; `ending` is one of matplotlib's formats."""
    ruler = _Ruler()
    box = ruler.box
    nodes: dict[Spot, Box] = {}
    for name, node in layout.nodes.items():
        below = [Line(text) for text in [*captions.facts(node), *captions.formula(node)]]
        below += [Line(text, colour=NOTE) for text in notes.get(name, ())]
        nodes[name] = box([Line(name, 10, bold=True), *below], STYLES[node.kind])
    right = runs_right(layout)
    for shape in nodes.values() if right else ():
        shape.turn()
    arranged = arrange(layout, nodes, right=right)
    plates = [plate.box for plate in arranged.plates]
    curves = _curves(arranged)
    for shape in [*nodes.values(), *plates] if right else ():
        shape.turn()

    centre = sum(ends([*nodes.values(), *plates])) / 2
    title = box([Line(layout.name, 13, bold=True)], BARE)
    highest = min(shape.y - shape.height / 2 for shape in [*nodes.values(), *plates])
    title.x, title.y = centre, highest - title.height / 2 - PADDING / 2
    legend = [box([Line(kind)], STYLES[kind]) for kind in captions.kinds(layout)]
    tallest = max(shape.height for shape in legend)
    lowest = max(shape.bottom for shape in [*nodes.values(), *plates])
    _line_up(legend, centre, lowest + 1.5 * PADDING + tallest / 2)
    remarks = [box([Line(text)], BARE) for text in captions.remarks(layout)]
    for number, note in enumerate(remarks):
        note.x, note.y = centre, legend[0].y + tallest / 2 + (number + 0.7) * note.height

    everything = [*plates, *nodes.values(), *legend, *remarks, title]
    axes = _axes(ruler.figure, everything)
    _draw_edges(axes, curves)
    for shape in everything:
        _draw_box(axes, shape)
    for plate in arranged.plates:
        _write_title(axes, plate, over_edges=layout.joint)
    file = io.BytesIO()
    ruler.figure.savefig(file, format=ending, dpi=192)
    return file.getvalue()


def _write_title(axes: "Axes", plate: Plate, *, over_edges: bool) -> None:
    """Write a plate's title into its lower corner, optionally over edges."""
    side = 1 if plate.corner == "right" else -1
    corner = plate.box.x + side * (plate.box.width / 2 - 10), plate.box.bottom - 10
    text = _write(axes, *corner, Line(plate.title, 10), ha=plate.corner)
    if over_edges:
        text.set_bbox({"facecolor": "white", "edgecolor": "none", "pad": 1})


class _Ruler:
    """Measure of texts and of the shapes around them."""

    def __init__(self) -> None:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        self.figure = Figure(dpi=72, facecolor="white")
        canvas: Any = FigureCanvasAgg(self.figure)
        self.renderer = canvas.get_renderer()

    def _width(self, line: Line) -> float:
        """Return the width of a line of text."""
        text = _write(self.figure, 0, 0, line)
        width: float = text.get_window_extent(self.renderer).width
        text.remove()
        return width

    def box(self, lines: Sequence[Line], style: Style) -> Box:
        """Return a shape around lines of text."""
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
        return Box(tuple(lines), style, width + border, height + border)


def _line_up(shapes: Sequence[Box], centre: float, y: float) -> None:
    """Place shapes in a row, around a centre."""
    x = centre - (sum(shape.width for shape in shapes) + GAP * (len(shapes) - 1)) / 2
    for shape in shapes:
        shape.x, shape.y = x + shape.width / 2, y
        x += shape.width + GAP


def _axes(figure: "Figure", shapes: Sequence[Box]) -> "Axes":
    """Add axes with points as the unit, large enough for all shapes."""
    left, right = ends(shapes)
    top = min(shape.y - shape.height / 2 for shape in shapes)
    bottom = max(shape.bottom for shape in shapes)
    left, right, top, bottom = left - PADDING, right + PADDING, top - PADDING, bottom + PADDING
    figure.set_size_inches((right - left) / 72, (bottom - top) / 72)
    axes: Axes = figure.add_axes((0, 0, 1, 1))
    axes.set_xlim(left, right)
    axes.set_ylim(bottom, top)
    axes.set_axis_off()
    return axes


def _curves(arranged: Arrangement) -> list[list[tuple[float, float]]]:
    """Return the cubic curves of each edge, which are perpendicular to the rows at their ends."""
    nodes, x, ways = arranged.nodes, arranged.x, arranged.ways.values()
    curves = []
    for way in ways:
        parent, child = nodes[way[0]], nodes[way[-1]]
        leaving = [other[1] for other in ways if other[0] == way[0]]
        coming = [other[-2] for other in ways if other[-1] == way[-1]]
        start = _dock(arranged, parent, _slot(way[1], leaving, x, parent.width), below=True)
        end = _dock(arranged, child, _slot(way[-2], coming, x, child.width), below=False)
        points = [start]
        for joint in way[1:-1]:
            points += [(x[joint], edge) for edge in arranged.bands[joint]]
        points.append(end)
        curve = [start]
        for (x0, y0), (x1, y1) in itertools.pairwise(points):
            curve += [(x0, (y0 + y1) / 2), (x1, (y0 + y1) / 2), (x1, y1)]
        curves.append([point[::-1] for point in curve] if arranged.right else curve)
    return curves


def _draw_edges(axes: "Axes", curves: Sequence[Sequence[tuple[float, float]]]) -> None:
    """Draw each edge as an arrow."""
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path as Curve

    for curve in curves:
        path = Curve(curve, [Curve.MOVETO, *[Curve.CURVE4] * (len(curve) - 1)])
        axes.add_patch(
            FancyArrowPatch(path=path, arrowstyle="-|>", mutation_scale=9, color=EDGE, lw=1.2)
        )


def _slot(spot: Spot, others: list[Spot], x: Mapping[Spot, float], width: float) -> float:
    """Return an edge's offset along a node's side, so that edges do not meet in one point."""
    index = sorted(others, key=x.__getitem__).index(spot)
    step = min(18.0, 0.5 * width / len(others))
    return (index - (len(others) - 1) / 2) * step


def _dock(arranged: Arrangement, shape: Box, offset: float, *, below: bool) -> tuple[float, float]:
    """Return the point on a shape's upper or lower border at which an edge ends."""
    reach = shape.height / 2
    if shape.style.shape == "ellipse":
        reach *= math.sqrt(1 - (2 * offset / shape.width) ** 2)
    elif arranged.right and shape.style.shape == "hexagon":
        reach -= _SLANT * abs(2 * offset)
    elif arranged.right and shape.style.shape == "parallelogram":
        reach -= _SLANT * (shape.width / 2 + (offset if below else -offset))
    return shape.x + offset, shape.y + (reach if below else -reach)


def _draw_box(axes: "Axes", shape: Box) -> None:
    """Draw a shape with its lines of text."""
    if shape.style.double:
        axes.add_patch(_outline(shape, fill="white"))
    axes.add_patch(_outline(shape, _DOUBLE * shape.style.double, shape.style.fill))
    y = shape.y - sum(line.size * _LEADING for line in shape.lines) / 2
    for line in shape.lines:
        _write(axes, shape.x, y + line.size * _LEADING / 2, line)
        y += line.size * _LEADING


def _outline(shape: Box, inset: float = 0.0, fill: str = "none") -> "Patch":
    """Return a shape's filled border, at a distance inside its outer edge."""
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


def _write(where: "Figure | Axes", x: float, y: float, line: Line, ha: str = "center") -> Any:
    """Write a line of text at a point."""
    return where.text(
        *(x, y, line.text),
        fontsize=line.size,
        fontweight="bold" if line.bold else "normal",
        fontfamily=_FONT,
        color=line.colour or (INK if line.bold else QUIET),
        ha=ha,
        va="center_baseline",
        parse_math=False,
        usetex=False,
    )
