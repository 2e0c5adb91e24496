"""What a diagram says about each node: ranges, units, priors and formulas, as lines of text."""

import math
import textwrap
from typing import TYPE_CHECKING

from ..linking import units
from ..linking.notation import GREEK, as_text, number
from .latents import Latent
from .nodes import Derived, MetaFeature, Node, Success
from .priors import Prior
from .style import STYLES

if TYPE_CHECKING:
    from .layout import Layout

_WIDTH = 34  # characters a line of a formula may have
_MOST_LEVELS = 7


def facts(node: Node) -> list[str]:
    """Range or levels with their unit, prior, and number of labels."""
    lines = []
    if isinstance(node, MetaFeature):
        lines.append(_with_unit(_values(node), node))
    if isinstance(node, Latent):
        lines += _prior(node)
    lines += [f"× {len(labels)} {dim}" for dim, labels in node.dims.items()]
    return lines


def formula(node: Node, width: int = _WIDTH) -> list[str]:
    """Linking function of a derived node or outcome, wrapped on lines of about equal length."""
    if not isinstance(node, Derived):
        return []
    written = f"= {_keep_together(as_text(node.expression, symbols=True))}"
    if isinstance(node, Success):
        return ["∼ Binomial(trials, p)", *_wrap(f"p {written}", width)]
    return _wrap(written, width)


def remarks(layout: "Layout") -> list[str]:
    """Explain the constants of a fit that the formulas name."""
    return [
        f"{as_text(constant, symbols=True)} = {constant.name}: {constant.about}"
        for constant in layout.constants
    ]


def kinds(layout: "Layout") -> list[str]:
    """Kinds of node in a layout, in the order of the style table."""
    present = {node.kind for node in layout.nodes.values()}
    return [kind for kind in STYLES if kind in present]


def prior_parameters(prior: Prior) -> list[tuple[str, str]]:
    """Parameters of a prior as symbol and value."""
    return [
        (GREEK.get(rf"\{_SPELLED_OUT.get(name, name)}", name), as_text(value))
        for name, value in prior.parameters
    ]


_SPELLED_OUT = {"lam": "lambda"}


def _values(node: MetaFeature) -> str:
    if node.levels is None:
        return _interval(node.range.low, node.range.high)
    levels = [number(level) for level in sorted(set(node.levels))]
    if len(levels) > _MOST_LEVELS:
        levels = [*levels[:3], "…", levels[-1]]
    return f"{{{', '.join(levels)}}}"


def _interval(low: float, high: float) -> str:
    left = "(" if math.isinf(low) else "["
    right = ")" if math.isinf(high) else "]"
    return f"{left}{number(low)}, {number(high)}{right}"


def _with_unit(text: str, node: Node) -> str:
    return f"{text} {units.name(node.unit)}".rstrip()


def _prior(node: Latent) -> list[str]:
    """Write the prior under the range; a uniform one on numbers says both in one line."""
    prior, support = node.distribution, node.range
    span = _with_unit(_interval(support.low, support.high), node)
    if prior.family == "Uniform" and not node.parents:
        return [f"∼ Uniform {span}"]
    shown = ", ".join(f"{name}={value}" for name, value in prior_parameters(prior))
    lines = _wrap(f"∼ {prior.family}({_keep_together(shown)})", _WIDTH)
    unbounded = math.isinf(support.low) and math.isinf(support.high)
    if not unbounded:
        return [span, *lines]
    unit = units.name(node.unit)
    return [f"in {unit}", *lines] if unit else lines


def _keep_together(text: str) -> str:
    """Let lines break after a comma and before an operator only."""
    text = text.replace(" ", "\N{NO-BREAK SPACE}").replace(",\N{NO-BREAK SPACE}", ", ")
    for sign in "+−×/":
        text = text.replace(f"\N{NO-BREAK SPACE}{sign}\N{NO-BREAK SPACE}", f" {sign}\N{NO-BREAK SPACE}")
    return text


def _wrap(text: str, width: int) -> list[str]:
    """Wrap on the fewest lines, then narrow them until one more would be needed."""

    def lines(at: int) -> list[str]:
        return textwrap.wrap(text, at, break_long_words=False, break_on_hyphens=False)

    count = len(lines(width))
    while width > 1 and len(lines(width - 1)) == count:
        width -= 1
    return [line.replace("\N{NO-BREAK SPACE}", " ") for line in lines(width)]
