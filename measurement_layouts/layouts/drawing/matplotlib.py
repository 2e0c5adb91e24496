"""Diagrams drawn with networkx and matplotlib, for machines without Graphviz's `dot`.

Lengths are in points (1/72 inch). An edge has a joint in every row that it passes, so that it
passes beside the boxes.
"""

import io
import itertools
from typing import Any

import numpy as np

from ..graph import Graph
from . import captions
from .direction import rows_of, runs_right
from .frames import frames
from .style import EDGE, INK, NO_NOTES, NOTE, PLATE, QUIET, STYLES, Notes

_FONT: dict[str, Any] = {
    "parse_math": False,
    "usetex": False,
    "family": "DejaVu Sans",
    "size": 9,
    "color": INK,
}
_CORNERS = {"box": 0.1, "ellipse": 16}


def picture(layout: Graph, ending: str, notes: Notes = NO_NOTES) -> bytes:
    """Draw a layout with notes below nodes; `ending` is one of matplotlib's formats."""
    from matplotlib import figure, offsetbox, patches, path

    canvas, file, boxes = figure.Figure(dpi=72), io.BytesIO(), dict[str, Any]()
    axes: Any = canvas.add_axes((0, 0, 1, 1))
    plates = {name: one.title for outer in frames(layout) for one in outer for name in one.nodes}
    for name, node in layout.nodes.items():
        facts = [node.kind, *captions.facts(node), *captions.formula(node)]
        facts += [f"of {plates[name]}"] if layout.joint and name in plates else []
        lines = [(name, {"weight": "bold"}), *((fact, {"color": QUIET}) for fact in facts)]
        lines += [(note, {"color": NOTE}) for note in notes.get(name, ())]
        areas: Any = [offsetbox.TextArea(line, textprops=_FONT | look) for line, look in lines]
        column, style = offsetbox.VPacker(children=areas, align="center", sep=2), STYLES[node.kind]
        border = f"round,pad=7,rounding_size={_CORNERS.get(style.shape, 6)}"
        look = {"fc": style.fill, "ec": style.border, "lw": style.width, "boxstyle": border}
        look["ls"] = "--" if style.dashed else "-"
        boxes[name] = offsetbox.AnnotationBbox(column, (0, 0), pad=0, fontsize=1, bboxprops=look)
        axes.add_artist(boxes[name])
    sizes = {name: np.array(box.get_window_extent().size) for name, box in boxes.items()}
    centres, ways, onwards = _places(layout, sizes)
    for way in ways:
        ends = [centres[x] + side * onwards * sizes[x] / 2 for x in way for side in (-1, 1)]
        arrow = patches.FancyArrowPatch(path=path.Path(ends[1:-1]), arrowstyle="-|>", color=EDGE)
        axes.add_patch(arrow).set_mutation_scale(10)
    for name, box in boxes.items():
        box.xy = box.xybox = centres[name]
    corners = {x: centres[x] + np.outer((-0.5, 0.5), sizes[x]) for x in centres}
    items = [corners[name] for name, own in layout.graph.nodes(data="per_item") if own]
    if not layout.joint:
        low, high = np.min(items, (0, 1)) - 12, np.max(items, (0, 1)) + 12
        axes.add_patch(patches.Rectangle(tuple(low), *(high - low), fc="none", ec=PLATE))
        axes.text(high[0] - 6, low[1] + 5, "items", ha="right", **_FONT)
    low, high = (of(list(corners.values()), (0, 1)) for of in (np.min, np.max))
    canvas.set_size_inches((high - low + 48) / 72)
    axes.axis([low[0] - 24, high[0] + 24, low[1] - 24, high[1] + 24])
    axes.axis("off")
    axes.set_title("\n".join([layout.name, *captions.remarks(layout)]), **_FONT)
    canvas.savefig(file, format=ending, dpi=192, bbox_inches="tight")
    return file.getvalue()


def _places(layout: Graph, sizes: dict[Any, Any]) -> tuple[dict[Any, Any], list[list[Any]], Any]:
    """Place nodes and joints in rows; return centres, courses of edges, and the rows' direction."""
    import networkx as nx

    row_of, rank, ways = dict[Any, int](rows_of(layout.graph)), dict[Any, float](), []
    links: nx.DiGraph[Any] = nx.DiGraph()
    for parent, child in layout.graph.edges:
        joints = {(parent, child, row): row for row in range(row_of[parent] + 1, row_of[child])}
        ways.append([parent, *joints, child])
        nx.add_path(links, ways[-1])
        row_of |= joints
    rows = [[x for x in row_of if row_of[x] == row] for row in sorted({*row_of.values()})]
    for near in [links.succ, links.pred] * 6:  # towards the mean rank of neighbours
        for row in rows if near is links.pred else rows[::-1]:
            row.sort(key=lambda x: np.mean([rank.get(y, 0.5) for y in near[x] or [x]]))
            rank |= {spot: (place + 0.5) / len(row) for place, spot in enumerate(row)}
    right = runs_right(layout)
    onwards = np.array([1, 0]) if right else np.array([0, -1])
    align: Any = "vertical" if right else "horizontal"
    centres = nx.multipartite_layout(links, dict(enumerate(rows)), align)
    unit = np.ptp([onwards @ centre for centre in centres.values()]) / (len(rows) - 1)
    deep = [max((abs(onwards) @ sizes[x] for x in row if x in sizes), default=0) for row in rows]
    step = onwards * (max(map(sum, itertools.pairwise(deep))) / 2 + 36)
    for row, depth in zip(rows, deep, strict=True):
        sizes |= {x: abs(onwards) * depth for x in row if x not in sizes}
        wide = [abs(onwards[::-1]) @ sizes[x] for x in row]
        beside = max(map(sum, itertools.pairwise(wide)), default=0) / 2 + 26
        scale = step + abs(onwards[::-1]) * beside
        centres |= {x: centres[x] / unit * scale for x in row}
    return centres, ways, onwards
