"""Checks of a whole layout that need neither data nor a sampler."""

import math
from collections.abc import Iterable, Sequence

import numpy as np

from ..linking import Expr, LayoutError, evaluate
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
from .outcomes.measured import Measured
from .outcomes.ordered import OrderedOutcome
from .outcomes.steps import Observed, Success
from .outcomes.unseen import Unseen
from .plates import SUBJECT, written
from .serial import OURS

_POINTS, _SEED = 500, 20231
_TRIED = 50  # points at which a user's linking function is computed
_RELATIVE, _ABSOLUTE = 1e-9, 1e-15  # rounding; what changes tiny probabilities only is found too


def flags(parts: Iterable[Expr]) -> list[MetaFeature]:
    """List the presence flags of the meta-features among the parts."""
    features = (part for part in parts if isinstance(part, MetaFeature))
    return [feature.given for feature in features if feature.given is not None]


def check_undefined(outcome: Observed, parts: Sequence[Expr]) -> None:
    """Refuse an outcome that depends on a meta-feature where it is undefined.

    The outcome is computed at many random points with the flag at 0: at each of them it must be the
    same for every value of the meta-feature.
    """
    names = {part.name for part in parts}
    for feature in parts:
        if not isinstance(feature, MetaFeature) or feature.given is None:
            continue
        flag = feature.given
        advice = f"wrap the part that uses {feature}, as in presence(..., {flag})"
        if flag.name not in names:
            raise LayoutError(
                f"{feature} is undefined where {flag} is 0, but nothing between {flag} and "
                f"{outcome.name} uses {flag}; {advice}"
            )
        if _depends(outcome, feature, flag, parts):
            raise LayoutError(
                f"{feature} is undefined where {flag} is 0, but {outcome.name} depends on it "
                f"there; {advice}"
            )


def _depends(
    outcome: Observed, feature: MetaFeature, flag: MetaFeature, parts: Sequence[Expr]
) -> bool:
    """Whether an outcome changes with a meta-feature where its flag is 0."""
    dims = merge_dims(tuple(parts))
    known = random_values(parts, dims, _POINTS)
    known[flag.name] = np.zeros_like(known[flag.name])
    stand_in = np.full_like(known[feature.name], feature.stand_in)
    ends = [end for end in (feature.range.low, feature.range.high) if math.isfinite(end)]
    others = [known[feature.name], *(np.full_like(stand_in, end) for end in ends)]

    formula = outcome.expression if isinstance(outcome, Success) else outcome

    def compute(values: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            return np.asarray(evaluate(formula, known | {feature.name: values}, tuple(dims)))

    expected = compute(stand_in)
    return not all(
        np.allclose(compute(values), expected, rtol=_RELATIVE, atol=_ABSOLUTE, equal_nan=True)
        for values in others
    )


def random_values(parts: Iterable[Expr], dims: Dims, points: int) -> dict[str, np.ndarray]:
    """Draw values to compute with, by name: the same ones each time.

    Parameters
    ----------
    parts : iterable of expression
        Of a layout; those that have no formula get values.
    dims : dict of str to tuple of str
        The layout's label dimensions.
    points : int
        How many values, along the axis of items.
    """
    rng = np.random.default_rng(_SEED)
    return {
        str(part.name): _values(part, dims, rng, points)
        for part in parts
        if isinstance(part, MetaFeature | Latent | SubjectConstant)
    }


def _values(part: Expr, dims: Dims, rng: np.random.Generator, points: int) -> np.ndarray:
    """Draw a value at every point: of the levels, in the range, or normal where it is infinite."""
    labels = (len(names) if dim in part.dims else 1 for dim, names in dims.items())
    shape = (points, *labels)
    if isinstance(part, MetaFeature) and part.levels is not None:
        return rng.choice(part.levels, shape)
    return inside(part.range, shape, rng)


def inside(span: Interval, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    """Draw numbers in a range, normal ones where it is infinite."""
    if math.isfinite(span.high - span.low):
        return rng.uniform(span.low, span.high, shape)
    if span.is_finite:  # too wide for the difference of its ends
        part = rng.random(shape)
        return span.low * (1 - part) + span.high * part
    normal = rng.normal(size=shape)
    if math.isfinite(span.low):
        return span.low + np.abs(normal)
    return span.high - np.abs(normal) if math.isfinite(span.high) else normal


def check_own_functions(parts: Iterable[Expr]) -> None:
    """Refuse a function that gives no numbers, another shape, or values out of its range."""
    found = list(parts)
    calls = [part for part in found if isinstance(part, Call)]
    calls = [call for call in calls if OURS.get(call.function.name) is not call.function]
    if not calls:
        return
    dims = merge_dims(tuple(found))
    known = random_values(found, dims, _TRIED)
    for call in calls:
        with np.errstate(all="ignore"):
            _check(call, evaluate(call, known, tuple(dims)), dims)


def _check(call: Call, value: object, dims: Dims) -> None:
    """Refuse a value that is no array of numbers, of another shape or out of range."""
    function = call.function
    if not holds_numbers(value):
        raise LayoutError(
            f"{call}: the formula of {function.name} gives {value!r} ({type(value).__name__}), and "
            "must give an array of numbers; write it with the operations of linking.arrays"
        )
    values = np.asarray(value, dtype=float)
    shape = (_TRIED, *(len(names) if dim in call.dims else 1 for dim, names in dims.items()))
    try:
        fits = np.broadcast_shapes(values.shape, shape) == shape
    except ValueError:
        fits = False
    if not fits:
        raise LayoutError(
            f"{call}: the formula of {function.name} gives an array of shape {values.shape}, but "
            f"its operands have {shape}; compute element by element, and keep a reduced axis with "
            "length one"
        )
    span = call.range
    low, high = span.low - _slack(span), span.high + _slack(span)
    outside = values[(values < low) | (values > high)]
    if outside.size:
        raise LayoutError(
            f"{call}: {function.name} declares the range {span}, but gives {outside[0]:g} for "
            "possible values of its operands; correct the formula, or its range="
        )


def _slack(span: Interval) -> float:
    """Allow for rounding at the ends of a range."""
    ends = [abs(end) for end in (span.low, span.high) if np.isfinite(end)]
    return 1e-9 * max([1.0, *ends])


_LONGEST, _DEEPEST = 5_000, 150  # parts and nesting of one node's formula, written out


def check(name: str, outcomes: tuple[Observed, ...], profile: object) -> None:
    """Refuse a layout whose parts are invalid or contradict each other."""
    if not isinstance(name, str) or not name.strip():
        raise LayoutError(f"the layout's name {name!r} is not a text; give a name, for its diagram")
    text("a layout", "name", name)
    for outcome in outcomes:
        if not isinstance(outcome, Success | OrderedOutcome):
            raise LayoutError(
                f"layout {name!r}: its outcome is {outcome!r}; wrap the probability of success in "
                "Success('name', ...), or declare a Graded or a Score"
            )
    _outcomes_differ(name, outcomes)
    own = [list(ancestry(outcome)) for outcome in outcomes]
    parts = list({id(part): part for found in own for part in found}.values())
    _names_differ([*parts, *flags(parts), *categories_of(parts)])
    _formulas_are_readable(parts)
    for outcome, found in zip(outcomes, own, strict=True):
        _one_outcome(found, outcome)
        _latents_reach(name, found, outcome)
    check_own_functions(parts)
    _profile_reaches(name, parts, profile, outcomes)
    _demands_are_opposed(parts)
    for outcome, found in zip(outcomes, own, strict=True):
        check_undefined(outcome, found)
    if len(outcomes) > 1 or isinstance(outcomes[0], OrderedOutcome):
        _steps_can_be_told(outcomes, own)
    _averaged_over_one(parts)
    check_joint(Graph(name, outcomes))


def _outcomes_differ(name: str, outcomes: tuple[Observed, ...]) -> None:
    """Refuse two outcomes of one name."""
    names = [outcome.name for outcome in outcomes]
    twice = sorted({own for own in names if names.count(own) > 1})
    if twice:
        raise LayoutError(
            f"layout {name!r}: two of its outcomes are named {', '.join(twice)}; rename one"
        )


def _steps_can_be_told(outcomes: tuple[Observed, ...], own: list[list[Expr]]) -> None:
    """Refuse what has a meaning for a single success or failure only."""
    for outcome, parts in zip(outcomes, own, strict=True):
        for part in parts:
            if isinstance(part, SubjectConstant):
                raise LayoutError(
                    f"{outcome.name}: its noise pulls towards {part.about}, which is undefined for "
                    "several outcomes, graded outcomes and scores; give mixture a number, as in "
                    "mixture(p, by=noise, toward=0.5)"
                )
            if isinstance(part, Unseen | Measured):
                raise LayoutError(
                    f"{outcome.name}: it uses {part.name}, which is {part.kind}: all outcomes of "
                    "an item would share it, but they must be independent given the profile; "
                    "declare the item's property as a MetaFeature, or fit a single Success"
                )


def _averaged_over_one(parts: list[Expr]) -> None:
    """Refuse measured demands beside something unseen: each is averaged over in its own way."""
    unseen, measured = (
        [part.name for part in parts if isinstance(part, kind)] for kind in (Unseen, Measured)
    )
    if unseen and measured:
        raise LayoutError(
            f"{measured[0]} is measured and {unseen[0]} is unseen, but an outcome can only be "
            "averaged over one of the two kinds; declare the unseen property as another Measured, "
            "with probabilities of its levels, or the demand as a MetaFeature"
        )


def _names_differ(parts: list[Expr]) -> None:
    """Refuse two nodes of one name, and a node named as a label dimension."""
    seen: dict[str, Expr] = {}
    dims: dict[str, Expr] = {}
    for node in parts:
        if node.name is None:
            continue
        other = seen.setdefault(node.name, node)
        if other != node:
            raise LayoutError(
                f"two different nodes are named {node.name!r}: {other!r} and {node!r}; rename one "
                "(in a notebook: run again every cell that uses the node you changed)"
            )
        dims.update(dict.fromkeys(node.dims, node))
    for name in seen:
        if name in dims:
            raise LayoutError(
                f"{name!r} names a node and also the label dimension of {dims[name]}; rename the "
                "node, or give the labelled nodes another dim="
            )


def _formulas_are_readable(parts: list[Expr]) -> None:
    """Refuse formulas that are too long or too deep."""
    for node in parts:
        formulas = node.parents if isinstance(node, Derived | Latent) else ()
        for formula in formulas:
            if formula.size > _LONGEST or formula.depth > _DEEPEST:
                raise LayoutError(
                    f"{node.name}: its formula has {formula.size:,} parts, nested {formula.depth} "
                    "deep, which is too much to read; name repeated parts with Derived(...), or "
                    "declare similar nodes as one node with labels= and reduce it with over="
                )


def _one_outcome(parts: list[Expr], outcome: Observed) -> None:
    """Refuse an outcome that is computed from another one."""
    for node in parts:
        if isinstance(node, Success | OrderedOutcome) and node is not outcome:
            raise LayoutError(
                f"{node.name} is an outcome, but {outcome.name} is computed from it; declare "
                f"{node.name} as Derived, because nothing may be computed from an outcome"
            )


def _latents_reach(name: str, parts: list[Expr], outcome: Observed) -> None:
    """Refuse an outcome without a latent."""
    if not any(isinstance(part, Latent) for part in parts):
        raise LayoutError(
            f"layout {name!r}: {outcome.name} depends on no capability, propensity, bias or noise, "
            "so that there is nothing to infer; use a latent in its expression"
        )


def _profile_reaches(
    name: str, parts: list[Expr], profile: object, outcomes: tuple[Observed, ...]
) -> None:
    """Refuse a latent of the wanted profile that reaches no outcome."""
    if isinstance(profile, str) or not isinstance(profile, Iterable):
        raise LayoutError(
            f"layout {name!r}: profile={profile!r}; give a list of latents that it must use"
        )
    reached = {part.name for part in parts if isinstance(part, Latent)}
    leaves = " or ".join(outcome.name for outcome in outcomes)
    for latent in profile:
        if not isinstance(latent, Latent):
            raise LayoutError(
                f"layout {name!r}: profile= contains {latent!r}; list only capabilities, "
                "propensities, biases, slopes and noise"
            )
        if latent.name not in reached:
            raise LayoutError(
                f"{latent.name} has no effect: no expression of {leaves} uses it; use it in the "
                "expression of a derived node, or leave it out of profile="
            )


def _demands_are_opposed(parts: list[Expr]) -> None:
    """Refuse a margin that has a demand, but neither a latent nor a property of subjects."""
    features: dict[int, tuple[str, ...]] = {}
    is_opposed: dict[int, bool] = {}
    for part in parts:
        above = [id(parent) for parent in part.parents]
        names = [name for parent in above for name in features[parent]]
        covariate = isinstance(part, MetaFeature) and part.per == SUBJECT
        names += [part.name] if isinstance(part, MetaFeature) and not covariate else []
        features[id(part)] = tuple(dict.fromkeys(names))
        opposes = covariate or isinstance(part, Latent)
        is_opposed[id(part)] = opposes or any(map(is_opposed.get, above))
        squashes = isinstance(part, Call) and part.function.name in SQUASHING
        if squashes and names and not is_opposed[id(part)]:
            raise LayoutError(
                f"{', '.join(features[id(part)])}: no latent opposes it in {part}; use a "
                "capability, propensity or bias inside the same margin, as in logistic(capability "
                "- demand)"
            )


def check_joint(layout: Graph) -> None:
    """Refuse measured demands in a joint layout.

    Raises
    ------
    LayoutError
        When a joint layout has a measured demand.
    """
    if not layout.joint:
        return
    for demand in layout.measured:
        raise LayoutError(
            f"{demand.name} is measured, but subjects are fitted together, since "
            f"{_reason(layout)}, and would share an item's level; use its expected level, "
            f"MetaFeature({demand.name!r}), with Bias('ease', per='item', "
            "prior=Prior('ZeroSumNormal', sigma=Spread('easeSpread'))) against it, or declare all "
            "latents per='subject'"
        )


def _reason(layout: Graph) -> str:
    """Say what makes a layout joint."""
    for latent in layout.latents:
        if not latent.is_profile:
            return f"{latent.name} has one value per {written(latent.plates)}"
    return f"{layout.covariates[0].name} is a property of subjects"
