"""Diagrams of a layout in Graphviz's language, and pictures of them."""

import html
import itertools
import logging
import re
from pathlib import Path

import graphviz

from ...common.files import whole
from ...linking.errors import check
from ..graph import Graph
from ..nodes import Node
from . import captions
from . import matplotlib as fallback
from .direction import runs_right
from .frames import Frame, frames
from .style import EDGE, FONT, INK, NO_NOTES, NOTE, PLATE, QUIET, STYLES, Notes, Style

_ENDINGS = ("svg", "png", "pdf")
_TABLE = '<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="0" CELLPADDING="1">'
# edges end a point before a node, and the border of a joint closes this gap; SVG does not draw the
# border of an empty shape, so that a line is drawn there
_WIDTH = "1.1"  # width of edges
_JOINT = {"shape": "point", "width": "0", "color": EDGE, "fillcolor": EDGE, "penwidth": "2"}
_BARE = re.compile(rb'<ellipse [^>]*cx="([-\d.]+)" cy="([-\d.]+)" rx="0[.\d]*" ry="0[.\d]*"/>')
_log = logging.getLogger(__name__)


def to_graphviz(layout: Graph, notes: Notes = NO_NOTES) -> str:
    """Write a layout's diagram in Graphviz's language; see `Layout.to_graphviz`."""
    return str(_digraph(layout, notes).source)


def to_svg(layout: Graph, notes: Notes = NO_NOTES) -> str:
    """Draw a layout as SVG, with `dot` or, if that is missing, with matplotlib."""
    return _picture(layout, notes, "svg").decode()


def draw(layout: Graph, path: Path, notes: Notes = NO_NOTES) -> Path:
    """Draw a layout into a file; see `Layout.draw`."""
    ending, title = path.suffix.lower().removeprefix("."), f"layout {layout.name!r}"
    problem = f"cannot draw into {str(path)!r}, whose ending is {path.suffix!r}"
    advice = f"end it in .{', .'.join(_ENDINGS[:-1])} or .{_ENDINGS[-1]}"
    check(title, ending in _ENDINGS, problem, advice)
    problem = f"cannot draw into {str(path)!r}, because there is no folder {str(path.parent)!r}"
    check(title, path.parent.is_dir(), problem, "create it, or give another path")
    picture = _picture(layout, notes, ending)
    with whole(path, OSError) as beside:
        beside.write_bytes(picture)
    return path


def _picture(layout: Graph, notes: Notes, ending: str) -> bytes:
    """Draw with `dot` or, if that fails, with matplotlib."""
    sharpness = {"dpi": "192"} if ending == "png" else {}
    try:
        picture: bytes = _digraph(layout, notes, **sharpness).pipe(format=ending)
    except (graphviz.ExecutableNotFound, graphviz.CalledProcessError) as failure:
        missing = isinstance(failure, graphviz.ExecutableNotFound)
        level, why = (logging.INFO, "is not installed") if missing else (logging.WARNING, failure)
        _log.log(level, "Graphviz's program 'dot' %s; matplotlib draws the diagram", why)
        return fallback.picture(layout, ending, notes)
    if ending == "svg":
        along = "m-1,0h2" if runs_right(layout) else "m0,-1v2"
        line = f'<path fill="none" stroke="{EDGE}" stroke-width="{_WIDTH}" d="M\\1,\\2{along}"/>'
        picture = _BARE.sub(line.encode(), picture)
    return picture


def _digraph(layout: Graph, notes: Notes, **graph_attributes: str) -> graphviz.Digraph:
    """Write the profile and the plate of items, downwards or to the right, with the legend."""
    right = runs_right(layout)
    title = f'<FONT POINT-SIZE="16"><B>{html.escape(layout.name)}</B></FONT>'
    dot = graphviz.Digraph(
        name=graphviz.escape(layout.name),
        graph_attr={
            **{"label": _rows(title, _small(" ")), "labelloc": "t", "pad": "0.2"},
            **{"nodesep": "0.45", "ranksep": "0.45", "pack": "16"},
            **{"rankdir": "LR" if right else "TB"},
            "packmode": f"array_i{9 if right else 1}",
            **{"fontname": FONT, "fontcolor": INK, **graph_attributes},
        },
        node_attr={"fontname": FONT, "fontsize": "12", "fontcolor": INK, "style": "filled"},
        edge_attr={"color": EDGE, "penwidth": _WIDTH, "arrowsize": "0.75"},
    )
    outermost = frames(layout)
    framed = {name for outer in outermost for frame in outer for name in frame.nodes}
    for name in layout.nodes:
        if name not in framed:
            _add_node(dot, layout.nodes[name], notes)
    for frame in outermost:
        _add_frame(dot, frame, layout, notes)
    entering = list[tuple[str, str]]()
    if not layout.joint:
        entering = [edge for edge in layout.graph.edges if edge[0] not in framed]
        entering = [edge for edge in entering if edge[1] in framed]
        with dot.subgraph(name="cluster/items") as plate:
            _add_joints(plate, layout, entering, right)
    enter, leave = "we" if right else "ns"
    for edge in layout.graph.edges:
        if edge in entering:
            dot.edge(edge[0], f"{_joint(edge)}:{enter}", arrowhead="none", headclip="false")
            dot.edge(f"{_joint(edge)}:{leave}", edge[1], tailclip="false")
        else:
            dot.edge(*edge)
    with dot.subgraph(name="cluster/legend") as legend:
        _add_legend(legend, layout, "" if right else "same")
    return dot


def _add_frame(around: graphviz.Digraph, frame: Frame, layout: Graph, notes: Notes) -> None:
    """Add a frame, its nodes and its inner frames."""
    with around.subgraph(name=f"cluster/{frame.name}") as plate:
        plate.attr(label=graphviz.escape(frame.title), labelloc="b", labeljust=frame.corner[0])
        plate.attr(fontsize="13", fontcolor=QUIET, style="rounded", color=PLATE, penwidth="1.4")
        plate.attr(margin="14")
        plate.attr(tooltip=graphviz.escape(frame.about or frame.title))
        for name in frame.nodes:
            _add_node(plate, layout.nodes[name], notes)
        for inner in frame.inside:
            _add_frame(plate, inner, layout, notes)


def _add_node(where: graphviz.Digraph, node: Node, notes: Notes) -> None:
    """Add a node."""
    where.node(
        node.name,
        label=_label(node, notes),
        tooltip=graphviz.escape(captions.tooltip(node)),
        **_look(STYLES[node.kind]),
    )


def _add_joints(
    plate: graphviz.Digraph, layout: Graph, entering: list[tuple[str, str]], right: bool
) -> None:
    """Add a joint for each edge into the plate, among the meta-features.

    These then stay in the first row, below the profile, and the edge crosses no node.
    """
    first = list[str]()
    for name in layout.nodes:
        if layout.graph.nodes[name]["per_item"] and not layout.graph.pred[name]:
            first.append(name)
        first += [_joint(edge) for edge in entering if edge[0] == name]
    with plate.subgraph() as first_row:
        first_row.attr(rank="same")
        for edge in entering:
            first_row.node(_joint(edge), tooltip=" → ".join(edge), **_JOINT)
        # invisible edges set the order; dot reverses it when right
        for one, following in itertools.pairwise(reversed(first) if right else first):
            first_row.edge(one, following, style="invis")


def _joint(edge: tuple[str, str]) -> str:
    """Return the name of the joint of an edge into the plate."""
    return "/".join(edge)  # names of nodes cannot contain a slash


def _add_legend(legend: graphviz.Digraph, layout: Graph, rank: str) -> None:
    """Add the kinds of nodes in the layout."""
    legend.attr(label="", penwidth="0")
    kinds = captions.kinds(layout)
    with legend.subgraph() as row:
        row.attr(rank=rank)
        for kind in kinds:
            look = _look(STYLES[kind])
            row.node(f"legend/{kind}", label=f"<{_small(kind)}>", width="0", height="0.3", **look)
        for kind_before, kind_after in itertools.pairwise(kinds):
            row.edge(f"legend/{kind_before}", f"legend/{kind_after}", style="invis")


def _look(style: Style) -> dict[str, str]:
    """Return a style as Graphviz's attributes."""
    words = ["filled", *["rounded"] * (style.shape == "rounded"), *["dashed"] * style.dashed]
    angular = style.shape in ("box", "rounded")
    return {
        "shape": "box" if angular else style.shape,
        "style": ",".join(words),
        "fillcolor": style.fill,
        "color": style.border,
        "penwidth": f"{style.width:g}",
        "peripheries": "2" if style.double else "1",
        "margin": "0.14,0.07" if angular else "0.03,0.02",
    }


def _label(node: Node, notes: Notes) -> str:
    """Return the label of a node: name in bold, facts and formula in small letters, and notes."""
    below = map(_small, [*captions.facts(node), *captions.formula(node)])
    noted = [
        f'<FONT POINT-SIZE="11" COLOR="{NOTE}"><B>{html.escape(line)}</B></FONT>'
        for line in notes.get(node.name, ())
    ]
    return _rows(f"<B>{html.escape(node.name)}</B>", *below, *noted)


def _small(text: str) -> str:
    """Format a text in small letters."""
    return f'<FONT POINT-SIZE="10.5" COLOR="{QUIET}">{html.escape(text)}</FONT>'


def _rows(*lines: str) -> str:
    """Format lines as the rows of a table."""
    return f"<{_TABLE}{''.join(f'<TR><TD>{line}</TD></TR>' for line in lines)}</TABLE>>"
