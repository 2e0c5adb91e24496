"""Styles of the kinds of nodes, which all kinds of diagrams share.

Kinds are distinguished by colour (of the Okabe-Ito palette, which is suitable for colour-blind
readers) and also, for black-and-white print, by shape and border. Observed nodes are shaded.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

type Shape = Literal["box", "rounded", "ellipse", "hexagon", "parallelogram"]


@dataclass(frozen=True)
class Style:
    """Style of one kind of node."""

    shape: Shape
    fill: str
    border: str
    width: float = 1.2
    dashed: bool = False
    double: bool = False


STYLES: dict[str, Style] = {
    "capability": Style("ellipse", fill="#E6F2FA", border="#0072B2", width=2.4),
    "propensity": Style("ellipse", fill="#E3F5EF", border="#00805E", double=True),
    "bias": Style("hexagon", fill="#FDF1DC", border="#B36B00", width=1.6),
    "effect": Style("hexagon", fill="#E4F3F8", border="#2F6F8F", double=True),
    "slope": Style("parallelogram", fill="#F8E9F2", border="#A3527F", width=1.6),
    "spread": Style("hexagon", fill="#F4F1DC", border="#6E6200", width=1.6, dashed=True),
    "noise": Style("ellipse", fill="#FFFFFF", border="#5A5A5A", width=1.6, dashed=True),
    "meta-feature": Style("box", fill="#D3D7DB", border="#3C4248"),
    "unseen": Style("rounded", fill="#F1EEF8", border="#5B4A91", width=1.6, dashed=True),
    "measured": Style("box", fill="#D3D7DB", border="#5B4A91", width=1.6, dashed=True),
    "derived": Style("rounded", fill="#FFFFFF", border="#3C4248"),
    "outcome": Style("box", fill="#D3D7DB", border="#A33B00", width=2.0, double=True),
}
"""One row per kind of node, in the order of the legend."""

FONT = "Arial"
INK, QUIET = "#1A1A1A", "#4A4F55"
EDGE, PLATE = "#5B6168", "#8A9097"
NOTE = "#A31545"

type Notes = Mapping[str, Sequence[str]]
"""Lines below the names of nodes, by node, such as inferred intervals."""
NO_NOTES: Notes = {}
