"""Diagrams of a layout: Graphviz's language, and pictures drawn from it."""

import html
import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import graphviz

from ..linking import LayoutError
from . import captions
from .equations import to_latex
from .mermaid import to_mermaid
from .nodes import Node
from .style import EDGE, FONT, INK, PLATE, QUIET, STYLES, Style

if TYPE_CHECKING:
    from .layout import Layout

__all__ = ["draw", "to_graphviz", "to_latex", "to_mermaid", "to_svg"]

_FORMATS = ("svg", "png", "pdf")
_log = logging.getLogger(__name__)


def to_graphviz(layout: "Layout") -> str:
    """Write a layout's diagram in Graphviz's language; see `Layout.to_graphviz`."""
    dot = graphviz.Digraph(
        name=layout.name,
        graph_attr={
            "label": _html(f'<FONT POINT-SIZE="16">{_bold(layout.name)}</FONT>'),
            "labelloc": "t",
            "fontname": FONT,
            "fontcolor": INK,
            "nodesep": "0.3",
            "ranksep": "0.5",
            "pad": "0.2",
            "newrank": "true",
        },
        node_attr={"fontname": FONT, "fontsize": "12", "fontcolor": INK, "style": "filled"},
        edge_attr={"color": EDGE, "penwidth": "1.1", "arrowsize": "0.75"},
    )
    graph = layout.graph
    with dot.subgraph(name="cluster/items") as plate:
        plate.attr(label="items", labelloc="b", labeljust="r", color=PLATE, penwidth="1.4")
        plate.attr(style="rounded", fontsize="13", fontcolor=QUIET, margin="14")
        for node in layout.nodes.values():
            (plate if graph.nodes[node.name]["per_item"] else dot).node(
                node.name, label=_label(node), tooltip=_tooltip(node), **_look(STYLES[node.kind])
            )
    for parent, child in graph.edges:
        dot.edge(parent, child)
    _hold_latents_above(dot, layout)
    _add_legend(dot, layout)
    return str(dot.source)


def to_svg(layout: "Layout") -> str:
    """Draw a layout as SVG, by `dot` or, where that is missing, by matplotlib."""
    return _picture(layout, "svg").decode()


def draw(layout: "Layout", path: Path) -> Path:
    """Draw a layout into a file; see `Layout.draw`."""
    ending = path.suffix.lower().removeprefix(".")
    if ending not in _FORMATS:
        raise LayoutError(
            f"layout {layout.name!r}: cannot draw into {str(path)!r}, its ending is "
            f"{path.suffix!r}; end the name in .{', .'.join(_FORMATS[:-1])} or .{_FORMATS[-1]}"
        )
    if not path.parent.is_dir():
        raise LayoutError(
            f"layout {layout.name!r}: cannot draw into {str(path)!r}, there is no folder "
            f"{str(path.parent)!r}; create it, or name another place"
        )
    picture = _picture(layout, ending)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        unfinished.write_bytes(picture)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
    return path


def _picture(layout: "Layout", ending: str) -> bytes:
    dot = graphviz.Source(to_graphviz(layout))
    try:
        picture: bytes = dot.pipe(format=ending, renderer="cairo" if ending != "svg" else None)
    except graphviz.ExecutableNotFound:
        from . import fallback

        _log.info("Graphviz's program 'dot' is not installed: the diagram is drawn by matplotlib")
        return fallback.picture(layout, ending)
    return picture


def _look(style: Style) -> dict[str, str]:
    """Style as Graphviz attributes."""
    look = {
        "shape": "box" if style.shape == "rounded" else style.shape,
        "fillcolor": style.fill,
        "color": style.border,
        "penwidth": f"{style.width:g}",
        "margin": "0.14,0.07" if style.shape in ("box", "rounded") else "0.02,0.02",
    }
    words = ["filled", *["rounded"] * (style.shape == "rounded"), *["dashed"] * style.dashed]
    look["style"] = ",".join(words)
    if style.double:
        look["peripheries"] = "2"
    return look


def _label(node: Node) -> str:
    """Name in bold, with facts and formula below it in smaller letters."""
    rows = [_bold(node.name)]
    rows += [_small(line, 10.5) for line in captions.facts(node)]
    rows += [_small(line, 10.5) for line in captions.formula(node)]
    return _html("<BR/>".join(rows))


def _small(text: str, size: float) -> str:
    return f'<FONT POINT-SIZE="{size:g}" COLOR="{QUIET}">{html.escape(text)}</FONT>'


def _bold(text: str) -> str:
    return f"<B>{html.escape(text)}</B>"


def _html(content: str) -> str:
    return f"<{content}>"


def _tooltip(node: Node) -> str:
    about: Any = getattr(node, "about", "")
    return str(graphviz.escape(f"{node.kind}: {about or node.name}"))


def _hold_latents_above(dot: graphviz.Digraph, layout: "Layout") -> None:
    """Keep the profile over the items' plate: it stands on the ranks before the meta-features."""
    graph = layout.graph
    for latent in layout.latents:
        for feature in layout.meta_features:
            dot.edge(latent.name, feature.name, style="invis", weight="0")


def _add_legend(dot: graphviz.Digraph, layout: "Layout") -> None:
    """Show every kind in the layout under the outcome, and explain the constants."""
    with dot.subgraph(name="cluster/legend") as legend:
        legend.attr(
            label=_html("<BR/>".join(_small(line, 10.5) for line in captions.remarks(layout)) or " "),
            labelloc="b", labeljust="l", penwidth="0", rank="same",
        )
        shown = captions.kinds(layout)
        for kind in shown:
            legend.node(f"legend/{kind}", label=_html(_small(kind, 10.5)), height="0.3", width="0", **_look(STYLES[kind]))
        for left, right in zip(shown, shown[1:]):
            legend.edge(f"legend/{left}", f"legend/{right}", style="invis")
    dot.edge(layout.outcome.name, f"legend/{shown[len(shown) // 2]}", style="invis", weight="0")
