"""Checks of a whole layout that need no sampler."""

from collections.abc import Sequence

from ..linking import Expr, LayoutError
from ..linking.function import Call
from .latents import Latent
from .nodes import MetaFeature, Success

_SQUASHING = {"logistic", "band"}  # they end a margin: what opposes a demand must be inside


def check_outcome(name: str, outcome: object) -> None:
    """Refuse a leaf that is no outcome."""
    if not isinstance(outcome, Success):
        raise LayoutError(
            f"layout {name!r}: its outcome is {outcome!r}; wrap the probability of success in "
            "Success('name', ...)"
        )


def check(name: str, ancestry: list[Expr], profile: Sequence[Latent], outcome: Success) -> None:
    """Refuse a layout whose parts cannot mean what they say."""
    _names_differ(ancestry)
    _latents_reach(name, ancestry, profile, outcome)
    _demands_are_opposed(outcome)


def _names_differ(ancestry: list[Expr]) -> None:
    seen: dict[str, Expr] = {}
    for node in ancestry:
        other = seen.setdefault(str(node.name), node)
        if other != node:
            raise LayoutError(
                f"two different nodes are named {node.name!r}: {other!r} and {node!r}; rename one "
                "(in a notebook: run again every cell that uses the node you changed)"
            )


def _latents_reach(
    name: str, ancestry: list[Expr], profile: Sequence[Latent], outcome: Success
) -> None:
    if not any(isinstance(node, Latent) for node in ancestry):
        raise LayoutError(
            f"layout {name!r}: no capability, propensity, bias or noise reaches {outcome.name}; "
            "there is nothing to infer of a subject, so put a latent into its expression"
        )
    for latent in profile:
        if latent not in ancestry:
            raise LayoutError(
                f"{latent.name} reaches no outcome: nothing between it and {outcome.name} uses it; "
                "put it into the expression of a derived node, or leave it out of the profile"
            )


def _demands_are_opposed(expr: Expr) -> None:
    """Every margin that holds a meta-feature must hold a latent too."""
    for parent in expr.parents:
        _demands_are_opposed(parent)
    if not (isinstance(expr, Call) and expr.function.name in _SQUASHING):
        return
    features = [node.name for node in _leaves(expr) if isinstance(node, MetaFeature)]
    if features and not any(isinstance(node, Latent) for node in _leaves(expr)):
        raise LayoutError(
            f"{', '.join(map(str, features))}: opposed to nothing in {expr}; a demand needs a "
            "capability, propensity or bias inside the same margin, as in logistic(capability - "
            "demand)"
        )


def _leaves(expr: Expr) -> list[Expr]:
    found: dict[int, Expr] = {}

    def visit(node: Expr) -> None:
        if isinstance(node, MetaFeature | Latent):
            found[id(node)] = node
        for parent in node.parents:
            visit(parent)

    visit(expr)
    return list(found.values())
