"""A layout's equations as LaTeX."""

from ...linking.notation import bracketed, latex_name, latex_parameter, latex_text
from ..graph import Graph
from ..latents import Latent
from ..nodes import Derived
from ..outcomes.ordered import Graded, OrderedOutcome
from ..outcomes.steps import Observed
from ..outcomes.unseen import Unseen
from ..priors import Prior


def to_latex(layout: Graph) -> str:
    """Write a layout's equations as a LaTeX ``aligned`` block; see `Layout.to_latex`."""
    lines = [
        *(line for latent in layout.latents for line in _latent(latent)),
        *(_unseen(node) for node in layout.nodes.values() if isinstance(node, Unseen)),
        *map(_derived, layout.derived),
        *(line for outcome in layout.outcomes for line in _outcome(outcome)),
        rf"n &= {latex_text('trials of the item')}",
        *(f"{known.latex()} &= {latex_text(known.about)}" for known in layout.constants),
    ]
    return "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}"


def _latent(node: Latent) -> list[str]:
    """Write the prior of a latent, or that of each of its labels."""
    name = latex_name(node.name)
    if isinstance(node.prior, tuple):
        return [
            rf"{name}_{{{latex_text(label)}}} &\sim {_prior(prior)}"
            for label, prior in zip(node.labels or (), node.priors, strict=True)
        ]
    labels = "".join(rf" \quad {latex_text(f'for each {dim}')}" for dim in node.dims)
    return [rf"{name} &\sim {_prior(node.priors[0])}{labels}"]


def _unseen(node: Unseen) -> str:
    """Write how an unseen property is distributed."""
    normal = rf"\mathrm{{Normal}}\left({node.mean.latex()},\; {node.spread.latex()}\right)"
    return r",\; ".join([rf"{latex_name(node.name)} &\sim {normal}", *_clauses(node)])


def _clauses(node: Unseen) -> list[str]:
    """Its remarks, words as text and formulas between them."""
    parts = [clause.split("$") for clause in node.clauses(lambda part: f"${part.latex()}$")]
    return [
        "".join(
            latex_text(part) if part and place % 2 == 0 else part
            for place, part in enumerate(clause)
        )
        for clause in parts
    ]


def _derived(node: Derived) -> str:
    """Write the formula of a derived node."""
    return f"{latex_name(node.name)} &= {node.expression.latex()}"


def _outcome(node: Observed) -> list[str]:
    """Write how an outcome is distributed."""
    name = latex_name(node.name)
    if isinstance(node, OrderedOutcome):
        return _ordered(name, node)
    probability = node.expression.latex()
    return [rf"{name} &\sim \mathrm{{Binomial}}\left(n,\; {probability}\right)"]


def _ordered(name: str, node: OrderedOutcome) -> list[str]:
    """Probability of reaching each step, and where the steps lie."""
    place = rf"\operatorname{{logit}}\left({node.performance.latex()}\right)"
    if isinstance(node, Graded):
        reached = rf"P\left({name} \ge k\right) &= \sigma\left({place} - c_k\right)"
        if len(node.steps) == 1:
            return [rf"{reached}, \quad c_1 = 0"]
        gap = node.gap.latex() + ("_k" if node.gap.dims else "")
        return [reached, rf"c_{{k + 1}} - c_k &= {gap}, \quad \textstyle\sum_k c_k = 0"]
    margin = rf"{bracketed(node.scale.latex())} \cdot \left({place}"
    return [
        rf"P\left({name} \ge t\right) &= \sigma\left({margin} - \operatorname{{logit}}"
        r"\left(t\right)\right)\right)",
        rf"t &= {', '.join(_few(node.steps))}",
    ]


def _few(steps: tuple[str, ...]) -> tuple[str, ...]:
    """Shorten a list of steps."""
    return steps if len(steps) < 5 else (*steps[:2], r"\dots", steps[-1])


def _prior(prior: Prior) -> str:
    """Write a prior distribution."""
    if prior.family == "Uniform":
        shown = [value.latex() for _, value in prior.parameters]
    else:
        shown = [f"{latex_parameter(name)} = {value.latex()}" for name, value in prior.parameters]
    return rf"{latex_name(prior.family)}\left({r',\; '.join(shown)}\right)"
