"""Diagrams drawn with matplotlib, for machines without Graphviz's `dot`.

Lengths are in points (1/72 inch). Boxes name their plate; edges that pass rows are bent, and behind
the boxes.
"""

import io
from typing import Any

import numpy as np

from ..graph import Graph
from . import captions
from .direction import rows_of, runs_right
from .frames import frames
from .style import EDGE, INK, NO_NOTES, NOTE, QUIET, STYLES, Notes

_FONT = dict[str, Any](parse_math=False, usetex=False, family="DejaVu Sans", size=9, color=INK)
_CORNERS = {"box": 0.1, "ellipse": 16}


def picture(layout: Graph, ending: str, notes: Notes = NO_NOTES) -> bytes:
    """Draw a layout with notes below nodes; `ending` is one of matplotlib's formats."""
    from matplotlib import figure

    canvas, file = figure.Figure(dpi=72), io.BytesIO()
    axes: Any = canvas.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    axes.set_title(layout.name, **_FONT)
    boxes = {x: axes.add_artist(_box(layout, x, [*notes.get(x, ())])) for x in layout.nodes}
    sizes = {name: np.array(box.get_window_extent().size) for name, box in boxes.items()}
    row_of, onwards = rows_of(layout.graph), np.array([1, 0] if runs_right(layout) else [0, -1])
    centres = _centres(layout, row_of, sizes, onwards)
    for name, box in boxes.items():
        box.xy = box.xybox = centres[name]
    for parent, child in layout.graph.edges:
        start = centres[parent] + onwards * sizes[parent] / 2
        end = centres[child] - onwards * sizes[child] / 2
        bent = f"arc3,rad={0.15 if row_of[child] - row_of[parent] > 1 else 0}"
        arrow = {"arrowstyle": "-|>", "color": EDGE, "connectionstyle": bent}
        axes.annotate("", end, start, arrowprops=arrow, zorder=1)
    corners = [centres[x] + np.outer((-0.5, 0.5), sizes[x]) for x in centres]
    low, high = np.min(corners, (0, 1)) - 24, np.max(corners, (0, 1)) + 24
    canvas.set_size_inches((high - low) / 72)
    axes.axis([low[0], high[0], low[1], high[1]])
    canvas.savefig(file, format=ending, dpi=192, bbox_inches="tight")
    return file.getvalue()


def _box(layout: Graph, name: str, notes: list[str]) -> Any:
    """Write a node's name, kind, facts, plate and notes in a box of its style."""
    from matplotlib.offsetbox import AnnotationBbox, TextArea, VPacker

    node, style = layout.nodes[name], STYLES[layout.nodes[name].kind]
    facts = [node.kind, *captions.facts(node), *captions.formula(node)]
    facts += [f"of {x.title}" for outer in frames(layout) for x in outer if name in x.nodes]
    looks = [{"weight": "bold"}, *[{"color": QUIET}] * len(facts), *[{"color": NOTE}] * len(notes)]
    lines = zip([name, *facts, *notes], looks, strict=True)
    texts: Any = [TextArea(line, textprops=_FONT | look) for line, look in lines]
    column = VPacker(children=texts, align="center", sep=2)
    border = f"round,pad=7,rounding_size={_CORNERS.get(style.shape, 6)}"
    look = {"fc": style.fill, "ec": style.border, "lw": style.width, "boxstyle": border}
    look |= {"ls": "--" if style.dashed else "-"}
    return AnnotationBbox(column, (0, 0), pad=0, fontsize=1, bboxprops=look)


def _centres(layout: Graph, row_of: dict[str, int], sizes: dict[str, Any], onwards: Any) -> Any:
    """Place nodes in rows, each near the mean rank of its neighbours; return their centres."""
    rows = [[x for x in row_of if row_of[x] == row] for row in sorted({*row_of.values()})]
    aside, depth, rank, centres = abs(onwards[::-1]), 0.0, dict[str, float](), dict[str, Any]()
    for near in [layout.graph.pred, layout.graph.succ] * 6:
        for row in rows if near is layout.graph.pred else rows[::-1]:
            row.sort(key=lambda x: np.mean([rank.get(y, 0.5) for y in near[x] or [x]]))
            rank |= {name: (index + 0.5) / len(row) for index, name in enumerate(row)}
    for row in rows:
        deep, wide = (max(abs(way) @ sizes[x] for x in row) for way in (onwards, aside))
        across = aside * len(row) * (wide + 26)
        centres |= {x: onwards * (depth + deep / 2) + across * (rank[x] - 0.5) for x in row}
        depth += deep + 50
    return centres
