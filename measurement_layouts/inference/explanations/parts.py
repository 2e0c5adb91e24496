"""Parts that an outcome needs, found in its formula."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ...layouts import (
    Bias,
    Capability,
    Derived,
    Latent,
    Layout,
    MetaFeature,
    Noise,
    Propensity,
    Unseen,
)
from ...layouts.opposed import opposed
from ...layouts.outcomes.steps import Hidden
from ...layouts.plates import ITEM, root
from ...linking import Expr
from ...linking.expression import Constant, Operation
from ...linking.function import Call
from ...linking.interval import UNIT
from .formulas import at_label, behind, features_of, latents_of

BANDS = ("band", "bilogistic", "uncertain_band")
_ALL_OPERANDS = ("product", "generalised_mean")
_FIRST_OPERAND = ("presence", "guessing", "mixture")
_NAMES = 3  # greatest number of latents in a part's name


@dataclass(frozen=True, eq=False)
class Part:
    """A part that success needs and that may fail.

    Attributes
    ----------
    name : str
        Name of the derived node, or, without one, of the latents.
    kind : str
        ``performance``, ``band`` (neither too little nor too much), ``lapse`` (noise), or
        ``effect`` (item effect).
    chance : Expr or None
        Probability that the part does not fail; None for an effect.
    off : dict of str to float
        Values of the hidden meta-features with which the part cannot fail.
    latents, demands : tuple of str
        Names of the latents and demands in the part's formula.
    ends : tuple of Expr
        For a band, the probability that a propensity is not too low, and that it is not too high.
    """

    name: str
    kind: str
    chance: Expr | None
    off: Mapping[str, float]
    latents: tuple[str, ...] = ()
    demands: tuple[str, ...] = ()
    ends: tuple[Expr, ...] = ()


@dataclass(frozen=True, eq=False)
class Leaf:
    """A probability in a formula that does not join others; each of its labels may be a part."""

    expression: Expr
    name: str | None
    dim: str | None


@dataclass(frozen=True, eq=False)
class Finder:
    """The leaves, mixtures and effects found on the way from an outcome to its parts."""

    layout: Layout
    leaves: list[Leaf]
    mixtures: list[Call]

    @classmethod
    def of(cls, layout: Layout) -> "Finder":
        found = cls(layout, [], [])
        outcome = layout.outcome
        pending: list[Leaf] = [Leaf(outcome.expression, None, None)]
        met = set[int]()
        while pending:
            one = pending.pop()
            if id(one.expression) in met:
                continue
            met.add(id(one.expression))
            inside = list(found._inside(one))
            if inside:
                pending += reversed(inside)
            elif any(isinstance(part, Latent) for part in behind(one.expression)):
                found.leaves.append(one)
        return found

    def _inside(self, one: Leaf) -> Iterator[Leaf]:
        """List the leaves that a probability joins; empty if it joins none."""
        of, dim = one.expression, one.dim
        if isinstance(of, Derived):
            yield Leaf(of.expression, of.name, dim)
        elif isinstance(of, Operation):
            sides = _factors(of)
            name = one.name if len(sides) == 1 else None
            for side in sides:
                yield Leaf(side, name, dim)
        elif isinstance(of, Call):
            yield from self._of_call(of, one)

    def _of_call(self, call: Call, one: Leaf) -> Iterator[Leaf]:
        name = call.function.name
        if name in _ALL_OPERANDS and not (call.over is not None and one.dim is not None):
            own = [
                part
                for part, role in zip(call.arguments, call.names, strict=True)
                if role != "power"
            ]
            if all(part.range in UNIT for part in own):
                for part in own:
                    kept = one.name if len(own) == 1 else None
                    yield Leaf(part, kept, call.over or one.dim)
        elif name in _FIRST_OPERAND:
            if name == "mixture":
                self.mixtures.append(call)
            yield Leaf(call.arguments[0], one.name, one.dim)
        elif name == "logistic":
            inner = _under_logit(call.arguments[0])
            if inner is not None:
                yield Leaf(inner, one.name, one.dim)

    @cached_property
    def latents(self) -> list[Latent]:
        """Latents of the outcome's formula."""
        return [part for part in behind(self.layout.outcome) if isinstance(part, Latent)]

    @property
    def effects(self) -> list[Latent]:
        """Latents that are effects of items or of groups of items."""
        return [
            latent
            for latent in self.latents
            if isinstance(latent, Bias) and any(root(plate) == ITEM for plate in latent.plates)
        ]


def _factors(of: Operation) -> list[Expr]:
    """List the probabilities that are factors of a product, or to which a number is added."""
    if of.symbol == "*":
        sides = [side for side in of.parents if not isinstance(side, Constant)]
        return sides if all(side.range in UNIT for side in of.parents) else []
    if of.symbol == "+":
        sides = [side for side in of.parents if not isinstance(side, Constant)]
        return sides if len(sides) == 1 and sides[0].range in UNIT else []
    return []


def _under_logit(margin: Expr) -> Expr | None:
    """Find the probability to whose log-odds an amount is added, if there is one."""
    pending, found = [margin], list[Expr]()
    while pending:
        of = pending.pop()
        if isinstance(of, Derived):
            pending.append(of.expression)
        elif isinstance(of, Operation) and of.symbol in "+-":
            pending += [of.left] if of.symbol == "-" else [of.left, of.right]
        elif isinstance(of, Call) and of.function.name == "total" and of.over is None:
            pending += of.arguments
        elif isinstance(of, Call) and of.function.name == "logit":
            found.append(of.arguments[0])
    return found[0] if len(found) == 1 else None


def parts_of(leaf: Leaf, flags: Sequence[Hidden], demands: set[str]) -> list[Part]:
    """Make one part from a leaf, or one for each label."""
    expression, dim = leaf.expression, leaf.dim or ""
    labels = expression.dims.get(dim, ("",))
    found = behind(expression)
    bands = [part for part in found if isinstance(part, Call) and part.function.name in BANDS]
    latents = [part for part in behind(expression) if isinstance(part, Latent)]
    noisy = bool(latents) and all(isinstance(latent, Noise) for latent in latents)
    kind = "band" if len(bands) == 1 else "lapse" if noisy else "performance"
    parts = []
    for place, (label, flag) in enumerate(zip(labels, flags, strict=True)):

        def at(of: Expr, place: int = place) -> Expr:
            return at_label(of, dim, place) if dim in of.dims else of

        parts.append(
            Part(
                _name(leaf, latents) + (f"[{label}]" if label else ""),
                kind,
                at(expression),
                {flag.name: 0.0},
                tuple(_labelled(latent, dim, label) for latent in _once(latents)),
                tuple(
                    _labelled(part, dim, label)
                    for part in _once(behind(expression))
                    if isinstance(part, MetaFeature) and part.name in demands
                ),
                tuple(map(at, _one_sided(bands[0]))) if kind == "band" else (),
            )
        )
    return parts


def _once(parts: Any) -> list[Any]:
    """Remove repetitions of names."""
    return list({part.name: part for part in parts if part.name is not None}.values())


def _labelled(node: Latent | MetaFeature, dim: str, label: str) -> str:
    """Name a node, with its label if it has one."""
    return f"{node.name}[{label}]" if label and dim in node.dims else node.name


def _one_sided(band: Call) -> tuple[Expr, Expr]:
    """Return the probabilities of being not too low, and not too high, for a band."""
    places = {name: place for place, name in enumerate(band.names)}
    found = []
    for name, end in (("high", np.inf), ("low", -np.inf)):
        arguments = list(band.arguments)
        arguments[places[name]] = Constant(end)
        found.append(replace(band, arguments=tuple(arguments)))
    return found[0], found[1]


def _name(leaf: Leaf, latents: Sequence[Latent]) -> str:
    """Name a part by its derived node, or else by its latents."""
    if leaf.name is not None:
        return leaf.name
    needed = [latent for latent in latents if isinstance(latent, Capability | Propensity)]
    names = [latent.name for latent in _once(needed or latents)]
    return " and ".join(names) if len(names) <= _NAMES else str(leaf.expression)


def lapse(call: Call, flag: Hidden) -> Part:
    """Make a part from the noise of a mixture; it fails where it lowers a success probability."""
    by, toward = call.arguments[1:]
    own = by.name or " and ".join(latents_of(by)) or "lapses"
    fails = by if toward == Constant(0.0) else by * (1 - toward)
    return Part(own, "lapse", 1 - fails, {flag.name: 0.0}, latents_of(by))


def demands_of(layout: Layout) -> set[str]:
    """Name the meta-features that are compared with a latent, or switch one on."""
    found, unseen = set(opposed(layout)), layout.outcome.unseen
    if isinstance(unseen, Unseen):
        found |= features_of(unseen.mean)
    for part in behind(layout.outcome):
        if isinstance(part, Call) and part.function.name == "presence":
            found |= features_of(part.arguments[1])
    return found


def band_ends(layout: Layout) -> set[str]:
    """Name the meta-features that are ends of bands."""
    found = set[str]()
    for part in behind(layout.outcome):
        if isinstance(part, Call) and part.function.name in BANDS:
            for name, argument in zip(part.names, part.arguments, strict=True):
                if name in ("low", "high"):
                    found |= features_of(argument)
    return found
