"""Figures and diagrams as SVG inside a page: text as text, colours that follow the page's theme."""

import colorsys
import io
import re
import warnings
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from .parts import Picture

_SPACE = {"hspace": 2.2, "wspace": 0.15}
_CROPPED: dict[str, Any] = {"bbox_inches": "tight", "transparent": True}
_SETTINGS: Any = {"svg.fonttype": "none", "svg.hashsalt": "report", "font.size": 9.0}
_COLOUR = re.compile(r"#[0-9a-f]{6}")
_OWN = re.compile(r"url\(#")
_LEFT_OUT = ("metadata", "style", "title")


def picture(
    draw: Callable[[np.ndarray], object],
    caption: str,
    prefix: str,
    size: tuple[float, float],
    panels: tuple[int, int] = (1, 1),
) -> Picture:
    """Draw a figure with matplotlib's text settings, whatever the user's are.

    Parameters
    ----------
    draw : callable
        Draws on an array of Axes.
    caption : str
        What the figure shows.
    prefix : str
        Prefix of identifiers, which must differ between the pictures of a page.
    size : (float, float)
        Width and height in inches.
    panels : (int, int)
        Rows and columns of Axes.
    """

    def drawn() -> str:
        with mpl.rc_context(), warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Glyph ")  # the page's fonts show what ours lack
            mpl.rcdefaults()
            mpl.rcParams.update(_SETTINGS)
            figure, svg = Figure(figsize=size), io.StringIO()
            draw(figure.subplots(*panels, squeeze=False, gridspec_kw=_SPACE).ravel())
            figure.savefig(svg, format="svg", metadata={"Date": None}, **_CROPPED)
        return inline(svg.getvalue(), caption, prefix)

    return Picture(caption, drawn)


def inline(drawn: str, alt: str, prefix: str, *, themed: bool = True) -> str:
    """Prepare an SVG for use inside a page.

    Parameters
    ----------
    drawn : str
        The SVG, as written by matplotlib or Graphviz.
    alt : str
        Description for readers who cannot see it.
    prefix : str
        Prefix of identifiers.
    themed : bool
        Whether colours become variables of the page's style sheet; see `theme`.

    Examples
    --------
    >>> inline('<svg width="9"><g id="a" style="fill: #1a1a1a"/></svg>', "a < b", "one-")
    '<svg width="9" role="img" aria-label="a &lt; b"><g style="fill: var(--c1a1a1a)" /></svg>'
    """
    root = ElementTree.fromstring(drawn[drawn.index("<svg") :])
    for element in root.iter():
        element.tag = _bare(element.tag)
        for child in [child for child in element if _bare(child.tag) in _LEFT_OUT]:
            element.remove(child)
        attributes = {_bare(name): value for name, value in element.attrib.items()}
        if element.tag == "g":
            attributes.pop("id", None)
        for name, value in attributes.items():
            if name == "id":
                attributes[name] = f"{prefix}{value}"
            elif name == "href" and value.startswith("#"):
                attributes[name] = f"#{prefix}{value[1:]}"
            else:
                text = _OWN.sub(f"url(#{prefix}", value)
                if themed and name == "style":
                    text = _COLOUR.sub(lambda colour: f"var(--c{colour[0][1:]})", text)
                attributes[name] = text
        element.attrib.clear()
        element.attrib.update(attributes)
    root.set("role", "img")
    root.set("aria-label", alt)
    return ElementTree.tostring(root, encoding="unicode")


def _bare(name: str) -> str:
    """Remove the namespace of a name: in HTML, SVG needs none."""
    return name.rpartition("}")[2]


def theme(page: str) -> dict[str, tuple[str, str]]:
    """Find the colours that pictures use, each with its counterpart on a dark page.

    Examples
    --------
    >>> theme("fill: var(--c1a1a1a); stroke: var(--cffffff)")
    {'c1a1a1a': ('#1a1a1a', '#dedede'), 'cffffff': ('#ffffff', '#141414')}
    """
    used = sorted(set(re.findall(r"var\(--c([0-9a-f]{6})\)", page)))
    return {f"c{colour}": (f"#{colour}", dark(f"#{colour}")) for colour in used}


def dark(colour: str) -> str:
    """Reverse the lightness of a colour, and keep its hue."""
    hue, light, saturation = colorsys.rgb_to_hls(
        *(int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5))
    )
    channels = colorsys.hls_to_rgb(hue, 0.96 - 0.88 * light, saturation)
    return "#" + "".join(f"{round(255 * part):02x}" for part in channels)
