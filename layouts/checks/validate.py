"""Checks of a whole layout that need no sampler."""

from collections.abc import Iterable

from ...linking import Expr, LayoutError
from ...linking.evaluation import ancestry
from ...linking.expression import SubjectConstant
from ...linking.function import Call
from ..fields import text
from ..latents import Latent
from ..nodes import Derived, MetaFeature
from ..outcomes.ordered import OrderedOutcome
from ..outcomes.steps import Leaf
from ..outcomes.success import Success
from ..outcomes.unseen import Unseen
from .own_functions import check_own_functions
from .undefined import check_undefined, flags

# they end a margin: what opposes a demand must be inside
_SQUASHING = {"logistic", "band", "bilogistic", "uncertain_band"}
_LONGEST, _DEEPEST = 5_000, 150  # parts and nesting of one node's formula, written out


def check(name: str, outcomes: tuple[Leaf, ...], profile: object) -> None:
    """Refuse a layout whose parts cannot mean what they say."""
    if not isinstance(name, str) or not name.strip():
        raise LayoutError(f"the layout's name {name!r} is no text; name it, for its diagram")
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
    _names_differ([*parts, *flags(parts)])
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


def _outcomes_differ(name: str, outcomes: tuple[Leaf, ...]) -> None:
    """Refuse two outcomes of one name."""
    names = [outcome.name for outcome in outcomes]
    twice = sorted({own for own in names if names.count(own) > 1})
    if twice:
        raise LayoutError(
            f"layout {name!r}: {', '.join(twice)} names two of its outcomes; rename one"
        )


def _steps_can_be_told(outcomes: tuple[Leaf, ...], own: list[list[Expr]]) -> None:
    """Refuse what has a meaning for a single success or failure only."""
    for outcome, parts in zip(outcomes, own, strict=True):
        for part in parts:
            if isinstance(part, SubjectConstant):
                raise LayoutError(
                    f"{outcome.name}: its noise pulls towards {part.about}, and there is no such "
                    "mean where outcomes are several, graded or scores; give mixture a number, as "
                    "in mixture(p, by=noise, toward=0.5)"
                )
            if isinstance(part, Unseen):
                raise LayoutError(
                    f"{outcome.name}: it uses {part.name}, which is unseen: all outcomes of an "
                    "item would share it, and they are taken as independent given the profile; "
                    "give the item's property as a MetaFeature, or fit a single Success"
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
        if isinstance(node, Derived):
            formula = node.expression
            if formula.size > _LONGEST or formula.depth > _DEEPEST:
                raise LayoutError(
                    f"{node.name}: its formula has {formula.size:,} parts, nested {formula.depth} "
                    "deep, and nobody could read it; name parts that it repeats with Derived(...), "
                    "or give many alike nodes labels= and reduce them with over="
                )


def _one_outcome(parts: list[Expr], outcome: Leaf) -> None:
    """Refuse an outcome that is computed from another one."""
    for node in parts:
        if isinstance(node, Success | OrderedOutcome) and node is not outcome:
            raise LayoutError(
                f"{node.name} is an outcome, and {outcome.name} is computed from it; declare it as "
                "Derived, for outcomes are leaves"
            )


def _latents_reach(name: str, parts: list[Expr], outcome: Leaf) -> None:
    """Refuse an outcome without a latent."""
    if not any(isinstance(part, Latent) for part in parts):
        raise LayoutError(
            f"layout {name!r}: no capability, propensity, bias or noise reaches {outcome.name}; "
            "there is nothing to infer of a subject, so put a latent into its expression"
        )


def _profile_reaches(
    name: str, parts: list[Expr], profile: object, outcomes: tuple[Leaf, ...]
) -> None:
    """Refuse a latent of the wanted profile that reaches no outcome."""
    if isinstance(profile, str) or not isinstance(profile, Iterable):
        raise LayoutError(
            f"layout {name!r}: profile={profile!r}; give a list of latents that must be in it"
        )
    reached = {part.name for part in parts if isinstance(part, Latent)}
    leaves = " or ".join(outcome.name for outcome in outcomes)
    for latent in profile:
        if not isinstance(latent, Latent):
            raise LayoutError(
                f"layout {name!r}: the profile holds {latent!r}; list capabilities, propensities, "
                "biases, slopes and noise there"
            )
        if latent.name not in reached:
            raise LayoutError(
                f"{latent.name} reaches no outcome: nothing between it and {leaves} uses it; "
                "put it into the expression of a derived node, or leave it out of the profile"
            )


def _demands_are_opposed(parts: list[Expr]) -> None:
    """Every margin that holds a meta-feature must hold a latent too."""
    features: dict[int, tuple[str, ...]] = {}
    has_latent: dict[int, bool] = {}
    for part in parts:
        above = [id(parent) for parent in part.parents]
        names = [name for parent in above for name in features[parent]]
        names += [part.name] if isinstance(part, MetaFeature) else []
        features[id(part)] = tuple(dict.fromkeys(names))
        has_latent[id(part)] = isinstance(part, Latent) or any(map(has_latent.get, above))
        squashes = isinstance(part, Call) and part.function.name in _SQUASHING
        if squashes and names and not has_latent[id(part)]:
            raise LayoutError(
                f"{', '.join(features[id(part)])}: opposed to nothing in {part}; a demand needs a "
                "capability, propensity or bias inside the same margin, as in logistic(capability "
                "- demand)"
            )
