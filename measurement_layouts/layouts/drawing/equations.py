"""A layout's equations as LaTeX."""

import re
from collections.abc import Iterable

from ...linking.notation import bracketed, latex_name, latex_parameter, latex_text
from ..graph import Graph
from ..latents import Latent
from ..nodes import Derived
from ..outcomes.ordered import Graded, OrderedOutcome
from ..outcomes.steps import Observed
from ..outcomes.unseen import Unseen
from ..plates import ITEM, SUBJECT, Plate, determines, plate_name
from ..priors import Prior
from ..zero_sum import summed_plates

_LETTERS = {SUBJECT: "s", ITEM: "i"}


class Indices:
    """Subscripts in the equations of a joint layout; other layouts have none.

    Parameters
    ----------
    layout : Graph
        Layout of the equations.
    """

    def __init__(self, layout: Graph) -> None:
        self._plates = layout.plates_of_nodes if layout.joint else {}
        names = [name for name, plates in self._plates.items() if plates]
        self._tokens = {latex_name(name): name for name in names}
        # a name before brackets is that of a function
        alternatives = "|".join(map(re.escape, self._tokens))
        self._pattern = re.compile(rf"(?:{alternatives})(?!\\left\()") if names else None

    def subscript(self, node: str, *more: str) -> str:
        """Write a node's subscripts, followed by others."""
        return _subscript([*map(index, self._plates.get(node, ())), *more])

    def name(self, node: str, *more: str) -> str:
        """Write a node's name with its subscripts, followed by others."""
        return latex_name(node) + self.subscript(node, *more)

    def formula(self, latex: str, owner: str) -> str:
        """Add subscripts to the nodes in the formula of a node."""
        if self._pattern is None:
            return latex
        finest = self._plates[owner]

        def subscripted(token: re.Match[str]) -> str:
            plates = self._plates[self._tokens[token[0]]]
            return token[0] + _subscript(_seen_from(plate, finest) for plate in plates)

        return self._pattern.sub(subscripted, latex)


def index(plate: Plate) -> str:
    """Write the index of a plate: s, i, or the category's name."""
    name = plate_name(plate)
    return _LETTERS.get(name, latex_name(name))


def _seen_from(plate: Plate, own: tuple[Plate, ...]) -> str:
    """Write the index of a plate in an equation with finer plates, such as the task of an item."""
    if plate in own:
        return index(plate)
    (finer, *_) = [other for other in own if determines([other], [plate])]
    return f"{index(plate)}[{index(finer)}]"


def _subscript(indices: Iterable[str]) -> str:
    """Write a subscript, or nothing if there are no indices."""
    shown = ", ".join(indices)
    return f"_{{{shown}}}" if shown else ""


def to_latex(layout: Graph) -> str:
    """Write a layout's equations as a LaTeX ``aligned`` block; see `Layout.to_latex`."""
    indices = Indices(layout)
    lines = [
        *(line for latent in layout.latents for line in _latent(latent, indices)),
        *(_unseen(node) for node in layout.nodes.values() if isinstance(node, Unseen)),
        *(_derived(node, indices) for node in layout.derived),
        *(line for outcome in layout.outcomes for line in _outcome(outcome, indices)),
        *_trials(layout),
        *(f"{constant.latex()} &= {latex_text(constant.about)}" for constant in layout.constants),
    ]
    return "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}"


def _trials(layout: Graph) -> list[str]:
    """Explain the number of trials, and the indices of a joint layout."""
    if not layout.joint:
        return [rf"n &= {latex_text('trials of the item')}"]
    letters = rf"{index(SUBJECT)},\; {index(ITEM)}"
    return [
        rf"n_{{{index(SUBJECT)}, {index(ITEM)}}} &= "
        rf"{latex_text('trials of the subject at the item')}",
        rf"{letters} &= {latex_text('subject, item')}",
    ]


def _latent(node: Latent, indices: Indices) -> list[str]:
    """Write the prior of a latent, or those of its labels, and which plates sum to zero."""
    if isinstance(node.prior, tuple):
        return [
            rf"{indices.name(node.name, latex_text(label))} &\sim "
            rf"{indices.formula(_prior(prior), node.name)}"
            for label, prior in zip(node.labels or (), node.priors, strict=True)
        ]
    labels = "".join(rf" \quad {latex_text(f'for each {dim}')}" for dim in node.dims)
    name, prior = indices.name(node.name), indices.formula(_prior(node.priors[0]), node.name)
    summed = summed_plates(node.priors[0], node.plates)
    sums = "".join(rf"\textstyle\sum_{{{index(plate)}}} {name} = " for plate in summed)
    zero = rf",\quad {sums}0" if sums else ""
    return [rf"{name} &\sim {prior}{zero}{labels}"]


def _unseen(node: Unseen) -> str:
    """Write the distribution of an unseen property."""
    normal = rf"\mathrm{{Normal}}\left({node.mean.latex()},\; {node.spread.latex()}\right)"
    return r",\; ".join([rf"{latex_name(node.name)} &\sim {normal}", *_clauses(node)])


def _clauses(node: Unseen) -> list[str]:
    """Write the remarks on an unseen property, with words as text."""
    pieces = [clause.split("$") for clause in node.clauses(lambda piece: f"${piece.latex()}$")]
    return [
        "".join(
            latex_text(piece) if piece and number % 2 == 0 else piece
            for number, piece in enumerate(clause)
        )
        for clause in pieces
    ]


def _derived(node: Derived, indices: Indices) -> str:
    """Write the formula of a derived node."""
    return f"{indices.name(node.name)} &= {indices.formula(node.expression.latex(), node.name)}"


def _outcome(node: Observed, indices: Indices) -> list[str]:
    """Write the distribution of an outcome."""
    name = indices.name(node.name)
    if isinstance(node, OrderedOutcome):
        return _ordered(name, node)
    probability = indices.formula(node.expression.latex(), node.name)
    trials = "n" + indices.subscript(node.name)
    return [rf"{name} &\sim \mathrm{{Binomial}}\left({trials},\; {probability}\right)"]


def _ordered(name: str, node: OrderedOutcome) -> list[str]:
    """Write the probability of reaching each step, and the thresholds of the steps."""
    log_odds = rf"\operatorname{{logit}}\left({node.performance.latex()}\right)"
    if isinstance(node, Graded):
        reached = rf"P\left({name} \ge k\right) &= \sigma\left({log_odds} - c_k\right)"
        if len(node.steps) == 1:
            return [rf"{reached}, \quad c_1 = 0"]
        gap = node.gap.latex() + ("_k" if node.gap.dims else "")
        return [reached, rf"c_{{k + 1}} - c_k &= {gap}, \quad \textstyle\sum_k c_k = 0"]
    margin = rf"{bracketed(node.scale.latex())} \cdot \left({log_odds}"
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
        shown = [value.latex() for _, value in prior.shown]
    else:
        shown = [f"{latex_parameter(name)} = {value.latex()}" for name, value in prior.shown]
    return rf"{latex_name(prior.family)}\left({r',\; '.join(shown)}\right)"
