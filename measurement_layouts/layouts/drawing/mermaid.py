"""Diagrams in Mermaid's language, for Markdown pages."""

import json
import re
from collections.abc import Iterable, Iterator

from ..graph import Graph
from ..nodes import Node
from . import captions
from .direction import runs_right
from .frames import Frame, frames
from .style import EDGE, INK, NO_NOTES, PLATE, STYLES, Notes

_BRACKETS = {"box": "[]", "rounded": "()", "hexagon": ("{{", "}}"), "parallelogram": ("[/", "/]")}
_BRACKETS |= {
    "double hexagon": ("{{", "}}"),
    "ellipse": ("([", "])"),
    "double box": ("[[", "]]"),
    "double ellipse": ("(((", ")))"),
}


def to_mermaid(layout: Graph, notes: Notes = NO_NOTES) -> str:
    """Write a layout's diagram in Mermaid's language; see `Layout.to_mermaid`."""
    ids = {  # unique and not the keyword `end`
        name: f"n{index}_{re.sub(r'[^A-Za-z0-9]', '_', name)}"
        for index, name in enumerate(layout.nodes)
    }
    outermost = frames(layout)
    plates = {
        frame.name: f"p{n}" for n, frame in enumerate(x for outer in outermost for x in outer)
    }

    def lines_of(names: tuple[str, ...], inner: tuple[Frame, ...]) -> Iterator[str]:
        yield from (f"  {ids[x]}{_node(layout.nodes[x], notes.get(x, ()))}" for x in names)
        for frame in inner:
            yield f'  subgraph {plates[frame.name]}["{_escape(frame.title)}"]'
            yield from (f"  {line}" for line in lines_of(frame.nodes, frame.inside))
            yield "  end"

    framed = {name for outer in outermost for frame in outer for name in frame.nodes}
    shared = tuple(name for name in layout.nodes if name not in framed)
    title = json.dumps(layout.name, ensure_ascii=False)  # without signs of the page around it
    title = re.sub(r"[<>&]", lambda sign: f"\\u{ord(sign[0]):04x}", title)
    lines = ["---", f"title: {title}", "config:", "  flowchart:", "    wrappingWidth: 600", "---"]
    lines += [f"flowchart {'LR' if runs_right(layout) else 'TD'}"]
    lines += lines_of(shared, tuple(outermost))
    lines += [f"  {ids[parent]} --> {ids[child]}" for parent, child in layout.graph.edges]
    for kind in captions.kinds(layout):
        style, dashes = STYLES[kind], ",stroke-dasharray:5 4" if STYLES[kind].dashed else ""
        look = f"fill:{style.fill},stroke:{style.border},stroke-width:{style.width:g}px{dashes}"
        lines.append(f"  classDef {_class(kind)} {look},color:{INK}")
    lines += [f"  style {x} fill:none,stroke:{PLATE},color:{INK}" for x in plates.values()]
    return "\n".join([*lines, f"  linkStyle default stroke:{EDGE}"]) + "\n"


def _node(node: Node, remarks: Iterable[str]) -> str:
    """Write the shape and the label of a node: its name and remarks are bold."""
    style, bold = STYLES[node.kind], "<b>{}</b>".format
    opening, closing = _BRACKETS["double " * style.double + style.shape]
    below = map(_escape, [*captions.facts(node), *captions.formula(node)])
    lines = [bold(_escape(node.name)), *below, *(bold(_escape(remark)) for remark in remarks)]
    return f'{opening}"{"<br/>".join(lines)}"{closing}:::{_class(node.kind)}'


def _class(kind: str) -> str:
    """Return the name of the style class of a kind of node."""
    return kind.replace("-", "")


def _escape(text: str) -> str:
    """Replace characters that have a meaning in Mermaid, Markdown or HTML by their codes."""
    return re.sub(r"[^\w\s.,:=()+−×∼∞…-]|_", lambda sign: f"#{ord(sign[0])};", text)
