"""Texts of a diagram's nodes: ranges, units, priors and formulas."""

import math
import re

from ...linking import units
from ...linking.notation import GREEK, number
from ..graph import Graph
from ..latent_kinds import Capability, Propensity
from ..latents import Latent
from ..nodes import MetaFeature, Node
from ..outcomes.measured import Measured
from ..outcomes.ordered import Graded, Score
from ..outcomes.steps import Success
from ..outcomes.unseen import scores
from ..plates import plural
from ..zero_sum import summed_plates
from .style import STYLES

_WIDTH = 52  # largest number of characters in a line of a formula
_MOST_LEVELS = 7
_MOST_LABELS = 5


def facts(node: Node) -> list[str]:
    """Return range, levels or grades with their unit, condition, prior and number of labels."""
    lines: list[str] = []
    if isinstance(node, MetaFeature | Measured):
        lines.append(_with_unit(_values(node), node))
    if isinstance(node, MetaFeature) and node.given is not None:
        lines.append(f"where {node.given} ≠ 0")
    if isinstance(node, Latent):
        lines += _prior(node)
    if isinstance(node, Graded):
        lines += wrap(f"{' < '.join(node.grades)}")
    if isinstance(node, Score):
        lines.append(f"[0, 1] in {node.places} places" if node.places > 1 else "[0, 1]")
    labels = {dim: names for dim, names in node.dims.items() if dim not in scores(node)}
    return lines + [f"× {len(names)} {dim}" for dim, names in labels.items()]


def formula(node: Node) -> list[str]:
    """Return the formula of a derived node or outcome, or the distribution of an unseen one."""
    lines = node.statement()
    if isinstance(node, Success):
        lines = ["~ Binomial(trials, p)", f"p {lines[0]}"]
    return [broken for line in lines for broken in wrap(line.replace("~", "∼", 1))]


def kinds(layout: Graph) -> list[str]:
    """Return the kinds of node in a layout, in the order of the style table."""
    present = {node.kind for node in layout.nodes.values()}
    return [kind for kind in STYLES if kind in present]


def tooltip(node: Node) -> str:
    """Return the kind and the description of a node."""
    about = getattr(node, "about", "")
    return f"{node.kind}: {about}" if about else node.kind


def wrap(text: str, width: int = _WIDTH) -> list[str]:
    """Break a formula into lines: after a comma or the bracket of a call, or before an operator."""
    lines = [""]
    for piece in re.split(r"(?<=, )|(?= [+−×/] )|(?<=\w\()", text):
        if len(lines[-1] + piece.rstrip()) > width:
            lines.append("")
        lines[-1] += piece if lines[-1] else piece.lstrip()
    return [line.rstrip() for line in lines if line]


def _values(node: MetaFeature | Measured) -> str:
    """Format the range of a meta-feature, or its first levels and the last one."""
    if node.levels is None:
        return _interval(node.range.low, node.range.high)
    levels = [number(level) for level in sorted(set(node.levels))]
    if len(levels) > _MOST_LEVELS:
        levels = [*levels[:3], "…", levels[-1]]
    return f"{{{', '.join(levels)}}}"


def _interval(low: float, high: float) -> str:
    """Format an interval, which is open at infinite ends."""
    opening = "(" if math.isinf(low) else "["
    closing = ")" if math.isinf(high) else "]"
    return f"{opening}{number(low)}, {number(high)}{closing}"


def _with_unit(text: str, node: Node) -> str:
    """Append the node's unit to a text."""
    return f"{text} {units.name(node.unit)}".rstrip()


def _prior(node: Latent) -> list[str]:
    """Return range and unit, then the prior; for a uniform prior, both in one line."""
    span = _interval(node.range.low, node.range.high)
    if len(node.priors) == 1 and node.priors[0].family == "Uniform" and not node.parents:
        return [_with_unit(f"∼ Uniform {span}", node)]
    labels = node.labels if isinstance(node.prior, tuple) else None
    before = [f"{label} " for label in labels[:_MOST_LABELS]] if labels else [""]
    lines = []
    for label, prior in zip(before, node.priors, strict=False):
        shown = ", ".join(f"{GREEK.get(name, name)}={value.text()}" for name, value in prior.shown)
        rounded = re.sub(r"\d*\.\d{3,}", lambda number: f"{float(number[0]):.3g}", shown)
        lines += wrap(f"{label}∼ {prior.family}({rounded})", _WIDTH // 2)
    if labels and len(labels) > _MOST_LABELS:
        lines.append(f"and {len(labels) - _MOST_LABELS} more")
    summed = summed_plates(node.priors[0], node.plates)
    if summed:
        lines.append(f"sums to 0 over {' and over '.join(map(plural, summed))}")
    if isinstance(node, Capability | Propensity):
        return [_with_unit(span, node), *lines]
    unit = units.name(node.unit)
    return [f"in {unit}", *lines] if unit else lines
