"""A layout's equations as LaTeX."""

from typing import TYPE_CHECKING

from ..linking.notation import as_latex, latex_name, latex_parameter, latex_text
from .latents import Latent
from .nodes import Derived
from .priors import Prior
from .success import Success
from .unseen import Unseen

if TYPE_CHECKING:
    from .layout import Layout


def to_latex(layout: "Layout") -> str:
    """Write a layout's equations as a LaTeX ``aligned`` block; see `Layout.to_latex`."""
    lines = [
        *map(_latent, layout.latents),
        *(_unseen(node) for node in layout.nodes.values() if isinstance(node, Unseen)),
        *map(_derived, layout.derived),
        _outcome(layout.outcome),
        rf"n &= {latex_text('trials of the item')}",
        *(f"{as_latex(known)} &= {latex_text(known.about)}" for known in layout.constants),
    ]
    return "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}"


def _latent(node: Latent) -> str:
    labels = "".join(rf" \quad {latex_text(f'for each {dim}')}" for dim in node.dims)
    return rf"{latex_name(node.name)} &\sim {_prior(node.distribution)}{labels}"


def _unseen(node: Unseen) -> str:
    normal = rf"\mathrm{{Normal}}\left({as_latex(node.mean)},\; {as_latex(node.spread)}\right)"
    return r",\; ".join([rf"{latex_name(node.name)} &\sim {normal}", *_clauses(node)])


def _clauses(node: Unseen) -> list[str]:
    """Its remarks, words as text and formulas between them."""
    parts = [clause.split("$") for clause in node.clauses(lambda part: f"${as_latex(part)}$")]
    return [
        "".join(
            latex_text(part) if part and place % 2 == 0 else part
            for place, part in enumerate(clause)
        )
        for clause in parts
    ]


def _derived(node: Derived) -> str:
    return f"{latex_name(node.name)} &= {as_latex(node.expression)}"


def _outcome(node: Success) -> str:
    probability = as_latex(node.expression)
    return rf"{latex_name(node.name)} &\sim \mathrm{{Binomial}}\left(n,\; {probability}\right)"


def _prior(prior: Prior) -> str:
    if prior.family == "Uniform":
        shown = [as_latex(value) for _, value in prior.parameters]
    else:
        shown = [f"{latex_parameter(name)} = {as_latex(value)}" for name, value in prior.parameters]
    return rf"{latex_name(prior.family)}\left({r',\; '.join(shown)}\right)"
