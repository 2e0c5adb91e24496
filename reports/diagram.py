"""A layout's diagram as a part of the page."""

import re

from markupsafe import Markup

from ..layouts import Layout, render

_HEAD = re.compile(r"^.*?(?=<svg\b)", re.DOTALL)  # declaration and document type
_METADATA = re.compile(r"<metadata>.*?</metadata>", re.DOTALL)  # matplotlib's: with the date


def inline_svg(layout: Layout) -> Markup:
    """Draw a layout as SVG that may stand inside a page.

    Graphviz and matplotlib escape all texts of the layout.

    Examples
    --------
    >>> from measurement_layouts import Capability, MetaFeature, Success
    >>> from measurement_layouts.linking import logistic
    >>> sight = Capability("sight", low=0, high=2)
    >>> smallness = MetaFeature("smallness", low=0, high=2)
    >>> str(inline_svg(Layout("looking", Success("found", logistic(sight - smallness)))))[:26]
    '<svg role="img" aria-label'
    """
    drawn = _METADATA.sub("", _HEAD.sub("", render.to_svg(layout)))
    about = Markup("diagram of the layout {}: {}").format(layout.name, _told(layout))
    return Markup(drawn.replace("<svg", f'<svg role="img" aria-label="{about}"', 1))


def _told(layout: Layout) -> str:
    """Say which node leads to which."""
    parents = [(name, list(layout.graph.predecessors(name))) for name in layout.nodes]
    return "; ".join(f"{name} from {', '.join(found)}" for name, found in parents if found)
