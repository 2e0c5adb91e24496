"""A layout's outcome with a switch for each of its parts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...layouts import Latent, Layout
from ...layouts.outcomes.steps import MARK, Hidden
from ...linking import Expr, presence
from ...linking.evaluation import rewritten
from ...linking.expression import Constant
from ...linking.functions.elementary import maximum, minimum
from ...linking.interval import REALS
from ..model.alignment import is_leaf
from .formulas import ByLabel, latents_of, shifted, without_lapses
from .parts import Finder, Leaf, Part, demands_of, lapse, parts_of

type Wrap = Callable[[Expr], Expr]
"""A function that replaces a part of a formula."""


@dataclass(frozen=True, eq=False)
class Opened:
    """An outcome with hidden meta-features as switches, by which parts are kept from failing.

    Attributes
    ----------
    outcome : Expr
        The layout's outcome with switches. It equals the layout's own outcome when all switches
        have their values in `usual`.
    parts : tuple of Part
        The parts that the outcome joins, in order; each has a switch of its own.
    effects : dict of str to tuple of Part
        By latent that is an item effect, two parts: in the first the effect never is below its
        usual value, in the second never above.
    usual : dict of str to float
        Usual value of each hidden meta-feature.
    """

    outcome: Expr
    parts: tuple[Part, ...]
    effects: Mapping[str, tuple[Part, Part]]
    outside: tuple[str, ...]
    usual: Mapping[str, float]

    @classmethod
    def of(cls, layout: Layout, moved: Sequence[tuple[Latent, str]] = ()) -> "Opened":
        """Find the parts of a layout's outcome.

        Parameters
        ----------
        layout : Layout
            A layout with one `Success`.
        moved : sequence of pairs
            Latents and their labels ("" for none or all) to which an amount can be added. The
            hidden meta-feature of the amount is named by `move`.
        """
        found, demands = Finder.of(layout), demands_of(layout)
        wraps: dict[int, Wrap] = {}
        usual: dict[str, float] = {}
        parts: list[Part] = []
        for leaf in found.leaves:
            flags = _switches(f"part {len(usual)}", leaf)
            usual |= {flag.name: 1.0 for flag in flags}
            wraps[id(leaf.expression)] = _presence_of(leaf, flags)
            parts += parts_of(leaf, flags, demands)
        for call in found.mixtures:
            flag = Hidden(f"{MARK}lapses {len(usual)}", low=0, high=1)
            usual[flag.name] = 1.0
            wraps[id(call)] = lambda of, flag=flag: without_lapses(*of.arguments, flag)  # type: ignore[misc]
            parts.append(lapse(call, flag))
        effects = {}
        for latent in found.effects:
            lifted, lowered = (
                Hidden(f"{MARK}{latent.name} {way}", low=0, high=1) for way in ("up", "down")
            )
            usual |= {lifted.name: 0.0, lowered.name: 0.0}
            wraps[id(latent)] = _usual(latent, lifted, lowered)
            effects[latent.name] = (
                Part(latent.name, "effect", None, {lifted.name: 1.0}, (latent.name,)),
                Part(latent.name, "effect", None, {lowered.name: 1.0}, (latent.name,)),
            )
        for latent in {one.name: one for one, _ in moved}.values():
            labels = [label for one, label in moved if one.name == latent.name]
            amounts = {label: _amount(latent, label) for label in labels}
            usual |= {amount.name: 0.0 for amount in amounts.values()}
            for own in found.latents:
                if own.name == latent.name:
                    wraps[id(own)] = _moving(own, amounts)
        inside = {name for leaf in found.leaves for name in latents_of(leaf.expression)}
        outside = tuple(name for name in effects if name not in inside)
        outcome = rewritten(layout.outcome, wraps, stop_at=is_leaf)
        return cls(outcome, _distinct(parts), effects, outside, usual)


def move(latent: Latent, label: str) -> str:
    """Name the hidden meta-feature that is added to a latent."""
    return f"{MARK}{latent.name}[{label}] moved" if label else f"{MARK}{latent.name} moved"


def _switches(name: str, leaf: Leaf) -> list[Hidden]:
    """Make one hidden meta-feature per part of a leaf: 1, or 0 if the part cannot fail."""
    labels = leaf.expression.dims.get(leaf.dim or "", ("",))
    return [Hidden(f"{MARK}{name} {place}", low=0, high=1) for place in range(len(labels))]


def _presence_of(leaf: Leaf, flags: Sequence[Hidden]) -> Wrap:
    """Make a leaf, or each of its labels, affect the outcome only if its switch is 1."""
    labels = leaf.expression.dims.get(leaf.dim or "")
    if labels is None:
        return lambda of: presence(of, flags[0])
    together = ByLabel(tuple(flags), str(leaf.dim), labels)
    return lambda of: presence(of, together)


def _usual(latent: Latent, lifted: Hidden, lowered: Hidden) -> Wrap:
    """Bound a latent by the mean of its distribution, from below or from above."""
    given = [dict(prior.parameters).get("mu") for prior in latent.priors]
    mean = given[0] if len(given) == 1 and given[0] is not None else Constant(0.0)

    def wrap(of: Expr) -> Expr:
        up, down = maximum(of, mean) - of, minimum(of, mean) - of
        found: Expr = of + lifted * up + lowered * down
        return found

    return wrap


def _amount(latent: Latent, label: str) -> Hidden:
    return Hidden(move(latent, label), low=-np.inf, high=np.inf)


def _moving(latent: Latent, amounts: Mapping[str, Hidden]) -> Wrap:
    """Add amounts to a latent or to some of its labels, within the latent's range."""
    low, high = latent.range.low, latent.range.high

    def wrap(of: Expr) -> Expr:
        found = of
        for label, amount in amounts.items():
            by: Expr = amount
            if label:
                (dim,) = latent.dims
                labels = latent.dims[dim]
                none = Constant(0.0)
                each = tuple(amount if own == label else none for own in labels)
                by = ByLabel(each, dim, labels, REALS)
            found = shifted(found, by)
        if np.isfinite(low):
            found = maximum(found, low)
        return minimum(found, high) if np.isfinite(high) else found

    return wrap


def _distinct(parts: Sequence[Part]) -> tuple[Part, ...]:
    """Add numbers to the names of parts that have the same name."""
    names = [part.name for part in parts]
    return tuple(
        replace(part, name=f"{part.name} {names[: place + 1].count(part.name)}")
        if names.count(part.name) > 1
        else part
        for place, part in enumerate(parts)
    )
