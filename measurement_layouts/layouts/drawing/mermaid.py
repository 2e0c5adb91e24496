"""Diagrams in Mermaid's language, for Markdown pages."""

import json
import re
from collections.abc import Iterator

from ..graph import Graph
from ..nodes import Node
from . import captions
from .direction import runs_right
from .frames import Frame, frames
from .style import EDGE, INK, NO_NOTES, PLATE, STYLES, Notes, Style

_BRACKETS = {
    "box": ("[", "]"),
    "rounded": ("(", ")"),
    "ellipse": ("([", "])"),
    "hexagon": ("{{", "}}"),
    "parallelogram": ("[/", "/]"),
}
_SPACE = "#160;"  # a space that is not broken
_DOUBLED = {"box": ("[[", "]]"), "ellipse": ("(((", ")))")}


def to_mermaid(layout: Graph, notes: Notes = NO_NOTES) -> str:
    """Write a layout's diagram in Mermaid's language; see `Layout.to_mermaid`."""
    graph = layout.graph
    ids = {name: _id(index, name) for index, name in enumerate(layout.nodes)}
    drawn = {name: f"{ids[name]}{_node(node, notes)}" for name, node in layout.nodes.items()}
    lines = [
        *("---", f"title: {_quoted(layout.name)}"),
        *(
            "config:",
            "  flowchart:",
            "    wrappingWidth: 600",
            "---",
        ),  # the lines are already wrapped
        f"flowchart {'LR' if runs_right(layout) else 'TD'}",
        *(_in_frames(layout, drawn) if layout.joint else _in_plate(layout, ids, drawn)),
        *(f"  {ids[parent]} --> {ids[child]}" for parent, child in graph.edges),
    ]
    if remarks := captions.remarks(layout):
        label = "<br/>".join(map(_escape, remarks))
        lines.append(f'  {ids[layout.outcomes[0].name]} ~~~ remark["{label}"]:::remark')
    for kind in captions.kinds(layout):
        lines.append(f"  classDef {_class(kind)} {_look(STYLES[kind])}")
    lines += [
        f"  classDef remark fill:none,stroke:none,color:{INK}",
        *(f"  style {name} fill:none,stroke:{PLATE},color:{INK}" for name in _plates(layout)),
        f"  linkStyle default stroke:{EDGE}",
    ]
    return "\n".join(lines) + "\n"


def _in_plate(layout: Graph, ids: dict[str, str], drawn: dict[str, str]) -> list[str]:
    """Write the nodes of items within their plate, and keep the profile before it."""
    inside = [name for name, per_item in layout.graph.nodes(data="per_item") if per_item]
    return [
        *(f"  {drawn[name]}" for name in drawn if name not in inside),
        "  subgraph items",
        *(f"    {drawn[name]}" for name in inside),
        "  end",
        *_profile_first(layout, ids),
    ]


def _in_frames(layout: Graph, drawn: dict[str, str]) -> list[str]:
    """Write the nodes of a joint layout within their frames, and the population outside."""
    shared = [name for name, plates in layout.plates_of_nodes.items() if not plates]
    ids = {frame.name: number for number, frame in enumerate(_all_frames(layout))}

    def lines(frame: Frame) -> Iterator[str]:
        yield f'subgraph p{ids[frame.name]}["{_escape(frame.title)}"]'
        yield from (f"  {drawn[name]}" for name in frame.nodes)
        yield from (f"  {line}" for inner in frame.inside for line in lines(inner))
        yield "end"

    framed = [line for frame in frames(layout) for line in lines(frame)]
    return [f"  {line}" for line in [*(drawn[name] for name in shared), *framed]]


def _all_frames(layout: Graph) -> list[Frame]:
    """List the frames of a joint layout, including inner ones."""
    return [frame for outermost in frames(layout) for frame in outermost]


def _plates(layout: Graph) -> list[str]:
    """Return the names of the subgraphs of plates."""
    if not layout.joint:
        return ["items"]
    return [f"p{number}" for number in range(len(_all_frames(layout)))]


def _profile_first(layout: Graph, ids: dict[str, str]) -> list[str]:
    """Keep the profile before the first row of items, with invisible links to an empty node."""
    graph = layout.graph
    above = [
        ids[name]
        for name, per_item in graph.nodes(data="per_item")
        if not per_item and any(graph.nodes[child]["per_item"] for child in graph[name])
    ]
    below = [ids[feature.name] for feature in layout.properties]
    if not (above and below):
        return []
    return [f'  {" & ".join(above)} ~~~ between[" "]:::remark ~~~ {" & ".join(below)}']


def _id(index: int, name: str) -> str:
    """Return an identifier of a node, which is unique and not Mermaid's keyword ``end``."""
    return f"n{index}_{re.sub(r'[^A-Za-z0-9]', '_', name)}"


def _node(node: Node, notes: Notes) -> str:
    """Write the shape and the label of a node."""
    style = STYLES[node.kind]
    left, right = (_DOUBLED if style.double else _BRACKETS)[style.shape]
    below = [*captions.facts(node), *captions.formula(node)]
    noted = notes.get(node.name, ())
    written = [node.name, *below, *noted]
    bold = {0, *range(1 + len(below), len(written))}
    lines = [f"<b>{_escape(x)}</b>" if i in bold else _escape(x) for i, x in enumerate(written)]
    widest = max(range(len(written)), key=lambda place: len(written[place]))
    spaces = _SPACE * _narrowing(style, len(written))
    lines[widest] = f"{spaces}{lines[widest]}{spaces}"
    label = "<br/>".join(lines)
    return f'{left}"{label}"{right}:::{_class(node.kind)}'


def _narrowing(style: Style, lines: int) -> int:
    """Count the spaces by which a shape is narrower at its corners than Mermaid assumes."""
    if style.shape == "ellipse" and not style.double:
        return max(0, lines - 1)
    return 2 if style.double and style.shape == "box" else 0


def _class(kind: str) -> str:
    """Return the name of the style class of a kind of node."""
    return kind.replace("-", "")


def _look(style: Style) -> str:
    """Return a style as Mermaid's properties."""
    border = f"stroke:{style.border},stroke-width:{style.width:g}px"
    dashes = ",stroke-dasharray:5 4" if style.dashed else ""
    return f"fill:{style.fill},{border}{dashes},color:{INK}"


def _quoted(text: str) -> str:
    """Write a text as YAML, without characters that have a meaning in the page around it."""
    written = json.dumps(text, ensure_ascii=False)
    return re.sub(r"[<>&]", lambda sign: f"\\u{ord(sign[0]):04x}", written)


def _escape(text: str) -> str:
    """Replace characters that have a meaning in Mermaid, Markdown or HTML by their codes."""
    return re.sub(r"[^\w\s.,:=()+−×∼∞…-]|_", lambda sign: f"#{ord(sign[0])};", text)
