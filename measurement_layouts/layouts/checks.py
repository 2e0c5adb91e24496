"""Checks of a whole layout that need neither data nor a sampler."""

import math
from collections.abc import Iterable, Sequence

import numpy as np

from ..common.messages import some
from ..linking import Expr, evaluate
from ..linking.errors import check, refuse
from ..linking.evaluation import ancestry
from ..linking.expression import Dims, SubjectConstant, merge_dims
from ..linking.function import Call
from ..linking.interval import Interval
from ..linking.real import holds_numbers
from .fields import text
from .graph import Graph
from .latents import Latent, categories_of
from .nodes import Derived, MetaFeature
from .opposed import SQUASHING
from .outcomes.ordered import OrderedOutcome, check_steps
from .outcomes.steps import Observed, Success
from .outcomes.unseen import Unseen
from .plates import SUBJECT, written
from .serial import OURS

_POINTS, _SEED = 500, 20231
_POINTS_OF_FUNCTIONS = 50  # points at which a user's linking function is computed
_RELATIVE, _ABSOLUTE = 1e-9, 1e-15  # rounding; what changes tiny probabilities only is noticed too
_EASE = "Effect('ease', per='item', prior=Prior('Normal', mu=0, sigma=Spread('easeSpread')))"
_LONGEST, _DEEPEST = 5_000, 150  # parts and nesting of one node's formula, written out


def check_layout(name: str, outcomes: tuple[Observed, ...]) -> None:
    """Refuse a layout whose parts are invalid or contradict each other."""
    is_text = isinstance(name, str) and name.strip()
    check("Layout", is_text, f"the layout's name {name!r} is not a text", "give a name")
    text("a layout", "name", name)
    title = f"layout {name!r}"
    advice = "wrap the probability of success in Success('name', ...), or use Graded or Score"
    for outcome in outcomes:
        observed = isinstance(outcome, Success | OrderedOutcome)
        check(title, observed, f"its outcome is {outcome!r}", advice)
    names = [outcome.name for outcome in outcomes]
    twice = ", ".join(sorted({repeated for repeated in names if names.count(repeated) > 1}))
    check(title, not twice, f"two of its outcomes are named {twice}", "rename one")
    ancestries = [list(ancestry(outcome)) for outcome in outcomes]
    parts = list({id(part): part for above in ancestries for part in above}.values())
    features = [node for node in parts if isinstance(node, MetaFeature)]
    flags = [feature.given for feature in features if feature.given is not None]
    _check_names([*parts, *flags, *categories_of(parts)])
    _check_lengths(parts)
    for outcome, above in zip(outcomes, ancestries, strict=True):
        _check_ancestry(title, outcome, above)
    _check_own_functions(parts)
    _check_demands(parts)
    for outcome, above in zip(outcomes, ancestries, strict=True):
        _check_undefined(outcome, above)
        if len(outcomes) > 1:
            check_steps(outcome.name, above)
    _check_averages(Graph(name, outcomes))


def _check_undefined(outcome: Observed, parts: Sequence[Expr]) -> None:
    """Refuse an outcome that depends on a meta-feature where it is undefined.

    The outcome is computed at many random points with the flag at 0: at each of them it must be the
    same for every value of the meta-feature.
    """
    names, dims = {node.name for node in parts}, merge_dims(tuple(parts))
    formula = outcome.expression if isinstance(outcome, Success) else outcome
    for feature in parts:
        if not isinstance(feature, MetaFeature) or feature.given is None:
            continue
        flag = feature.given
        where = f"it is undefined where {flag} is 0, but "
        advice = f"wrap the part that uses {feature}, as in presence(..., {flag})"
        unused = f"{where}nothing between {flag} and {outcome.name} uses {flag}"
        check(feature.name, flag.name in names, unused, advice)
        values = _random_values(parts, dims, _POINTS)
        drawn = values[feature.name]
        values[flag.name] = np.zeros_like(values[flag.name])
        ends = [feature.stand_in, *(end for end in feature.range if math.isfinite(end))]
        with np.errstate(all="ignore"):
            first, *others = (
                np.asarray(evaluate(formula, values | {feature.name: level}, tuple(dims)))
                for level in [*(np.full_like(drawn, end) for end in ends), drawn]
            )
        same = all(
            np.allclose(value, first, _RELATIVE, _ABSOLUTE, equal_nan=True) for value in others
        )
        check(feature.name, same, f"{where}{outcome.name} depends on it there", advice)


def _random_values(parts: Iterable[Expr], dims: Dims, points: int) -> dict[str, np.ndarray]:
    """Draw values of the parts without a formula, by name: the same ones each time."""
    rng = np.random.default_rng(_SEED)
    values = {}
    for node in parts:
        if isinstance(node, MetaFeature | Latent | SubjectConstant):
            shape = _shape(node, dims, points)
            levels = node.levels if isinstance(node, MetaFeature) else None
            drawn = inside(node.range, shape, rng) if levels is None else rng.choice(levels, shape)
            values[str(node.name)] = drawn
    return values


def _shape(part: Expr, dims: Dims, points: int) -> tuple[int, ...]:
    """Shape of a part's values at some points."""
    return (points, *(len(labels) if dim in part.dims else 1 for dim, labels in dims.items()))


def inside(span: Interval, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    """Draw numbers in a range, normal ones where it is infinite."""
    if span.is_finite:
        share = rng.random(shape)  # the difference of the ends may be too large a number
        return span.low * (1 - share) + span.high * share
    normal = rng.normal(size=shape)
    if math.isfinite(span.low):
        return span.low + np.abs(normal)
    return span.high - np.abs(normal) if math.isfinite(span.high) else normal


def _check_own_functions(parts: list[Expr]) -> None:
    """Refuse a function that gives no numbers, another shape, or values out of its range."""
    calls = [node for node in parts if isinstance(node, Call)]
    calls = [call for call in calls if OURS.get(call.function.name) is not call.function]
    dims = merge_dims(tuple(parts))
    inputs = _random_values(parts, dims, _POINTS_OF_FUNCTIONS) if calls else {}
    for call in calls:
        with np.errstate(all="ignore"):
            value = evaluate(call, inputs, tuple(dims))
        name, formula = str(call), f"the formula of {call.function.name} gives"
        problem = f"{formula} {value!r} ({type(value).__name__}), and must give an array of numbers"
        check(name, holds_numbers(value), problem, "write it with the operations of linking.arrays")
        values, shape = np.asarray(value, dtype=float), _shape(call, dims, _POINTS_OF_FUNCTIONS)
        sizes = zip(values.shape[::-1], shape[::-1], strict=False)
        fits = values.ndim <= len(shape) and all(size in (1, wanted) for size, wanted in sizes)
        problem = f"{formula} an array of shape {values.shape}, but its operands have {shape}"
        advice = "compute element by element, and keep reduced axes with length one"
        check(name, fits, problem, advice)
        slack = 1e-9 * max(1.0, *(abs(end) for end in call.range if math.isfinite(end)), 0.0)
        low, high = call.range.low - slack, call.range.high + slack
        outside = values[(values < low) | (values > high)]
        problem = f"{call.function.name} declares the range {call.range}, but gives {outside[:1]}"
        check(name, not outside.size, problem, "correct the formula, or its range=")


def _check_averages(layout: Graph) -> None:
    """Refuse measured demands in a joint layout, and beside something unseen."""
    unseen = ", ".join(node.name for node in layout.nodes.values() if isinstance(node, Unseen))
    for demand in layout.measured:
        problem = f"it is measured and {unseen} is unseen, and an outcome is averaged over one kind"
        advice = "declare both as Measured, or the demand as a MetaFeature"
        check(demand.name, not unseen, problem, advice)
        shared = [latent for latent in layout.latents if not latent.is_profile]
        reasons = [f"{latent} has one value per {written(latent.plates)}" for latent in shared]
        reasons += [f"{covariate} is a property of subjects" for covariate in layout.covariates]
        problem = f"it is measured, and subjects would share its level, since {some(reasons, 1)}"
        advice = f"declare its expected level, MetaFeature({demand.name!r}, ...), and {_EASE}"
        check(demand.name, not reasons, problem, advice)


def _check_names(parts: list[Expr]) -> None:
    """Refuse two nodes of one name, and a node named as a label dimension."""
    nodes: dict[str, Expr] = {}
    dims: dict[str, Expr] = {}
    for node in parts:
        if node.name is None:
            continue
        other = nodes.setdefault(node.name, node)
        if other != node:
            problem = f"two different nodes are named {node.name!r}: {other!r} and {node!r}"
            advice = "rename one (in a notebook: run again every cell that uses the changed node)"
            refuse("Layout", problem, advice)
        dims.update(dict.fromkeys(node.dims, node))
    for name in nodes:
        problem = f"it names a node and also the label dimension of {dims.get(name)}"
        advice = "rename the node, or give the labelled nodes another dim="
        check(repr(name), name not in dims, problem, advice)


def _check_lengths(parts: list[Expr]) -> None:
    """Refuse formulas that are too long or too deep."""
    for node in parts:
        for formula in node.parents if isinstance(node, Derived | Latent) else ():
            readable = formula.size <= _LONGEST and formula.depth <= _DEEPEST
            problem = f"its formula has {formula.size:,} parts, nested {formula.depth} deep"
            advice = "name repeated parts with Derived(...), or join similar nodes with labels="
            check(str(node.name), readable, problem, advice)


def _check_ancestry(title: str, outcome: Observed, parts: list[Expr]) -> None:
    """Refuse an outcome that is computed from another one, or that depends on no latent."""
    for node in parts:
        if isinstance(node, Success | OrderedOutcome):
            problem = f"it is an outcome, but {outcome.name} is computed from it"
            check(node.name, node is outcome, problem, f"declare {node.name} as Derived")
    problem = f"{outcome.name} depends on no latent, so that there is nothing to infer"
    inferred = any(isinstance(part, Latent) for part in parts)
    check(title, inferred, problem, "use a Capability or another latent in its expression")


def _check_demands(parts: list[Expr]) -> None:
    """Refuse a margin that has a demand, but neither a latent nor a property of subjects."""
    for call in parts:
        if isinstance(call, Call) and call.function.name in SQUASHING:
            above = list(ancestry(call))
            features = [node for node in above if isinstance(node, MetaFeature)]
            names = dict.fromkeys(node.name for node in features if node.per != SUBJECT)
            opposed = any(isinstance(node, Latent) for node in above)
            opposed = opposed or any(node.per == SUBJECT for node in features)
            advice = "use a latent inside the same margin, as in logistic(capability - demand)"
            problem = f"no latent opposes it in {call}"
            check(", ".join(names), opposed or not names, problem, advice)
