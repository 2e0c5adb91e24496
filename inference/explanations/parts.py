"""Parts that an outcome needs, found in its formula, and the formula with a switch for each."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from ...layouts import Bias, Capability, Derived, Latent, Layout, MetaFeature, Noise, Propensity
from ...layouts.opposed import opposed
from ...layouts.outcomes.steps import MARK, Hidden
from ...layouts.plates import ITEM, root
from ...linking import Expr, arrays, linking_function, presence
from ...linking.arrays import Array
from ...linking.evaluation import ancestry
from ...linking.expression import Constant, Dims, Operation
from ...linking.function import Call
from ...linking.functions.elementary import maximum, minimum
from ...linking.interval import REALS, UNIT, Interval

BANDS = ("band", "bilogistic", "uncertain_band")
_ALL_OPERANDS = ("product", "generalised_mean", "power_mean")
_FIRST_OPERAND = ("presence", "guessing", "mixture")
_NAMES = 3  # latents up to which a part is named by them

type Wrap = Callable[[Expr], Expr]


@linking_function(range=(0, 1))
def _without_lapses(p: Array, by: Array, toward: Array, lapses: Array) -> Array:
    """Mix as `mixture` does; with no lapses, noise never turns a success into a failure."""
    return (1 - by) * p + by * (toward + (1 - lapses) * (1 - toward) * p)


@linking_function(range=lambda x, by: x, keeps_unit=True, same_unit=("x",))
def shifted(x: Array, by: Array) -> Array:
    """Add an amount, in the unit of what it is added to."""
    return x + by


@dataclass(frozen=True, eq=False, repr=False)
class ByLabel(Expr):
    """One number for each label, from as many numbers without labels."""

    values: tuple[Expr, ...]
    dim: str
    labels: tuple[str, ...]
    within: Interval = UNIT
    name: str | None = None

    @property
    def parents(self) -> tuple[Expr, ...]:
        return self.values

    @property
    def dims(self) -> Dims:
        return {self.dim: self.labels}

    @property
    def range(self) -> Interval:
        return self.within

    @property
    def unit(self) -> None:
        return None

    def compute(self, values: tuple[Array, ...], dims: tuple[str, ...]) -> Array:
        each = np.eye(len(values))
        shape = [-1 if dim == self.dim else 1 for dim in dims]
        return sum(value * row.reshape(shape) for value, row in zip(values, each, strict=True))


@dataclass(frozen=True, eq=False, repr=False)
class AtLabel(Expr):
    """What an expression is at one of its labels."""

    of: Expr
    dim: str
    place: int
    name: str | None = None

    @property
    def parents(self) -> tuple[Expr, ...]:
        return (self.of,)

    @property
    def dims(self) -> Dims:
        return {dim: labels for dim, labels in self.of.dims.items() if dim != self.dim}

    @property
    def range(self) -> Interval:
        return self.of.range

    @property
    def unit(self) -> Any:
        return self.of.unit

    def compute(self, values: tuple[Array, ...], dims: tuple[str, ...]) -> Array:
        chosen = np.zeros(len(self.of.dims[self.dim]))
        chosen[self.place] = 1
        shape = [-1 if dim == self.dim else 1 for dim in dims]
        axis = dims.index(self.dim) - len(dims)
        return arrays.sum(values[0] * chosen.reshape(shape), axis=axis, keepdims=True)


@dataclass(frozen=True, eq=False)
class Part:
    """What success needs, and may fail.

    Attributes
    ----------
    name : str
        That of the derived node, else of its abilities.
    kind : str
        ``performance``, ``band`` (neither too little nor too much), ``lapse`` (noise), or
        ``effect``: what an item has of its own.
    chance : Expr or None
        Probability that it goes well; None of an effect.
    off : dict of str to float
        Hidden meta-features that are not 0 as usual, and what they are where it cannot fail.
    latents, demands : tuple of str
        What it is made of.
    ends : tuple of Expr
        Of a band: the probability that a propensity is not too low, and that it is not too high.
    """

    name: str
    kind: str
    chance: Expr | None
    off: Mapping[str, float]
    latents: tuple[str, ...] = ()
    demands: tuple[str, ...] = ()
    ends: tuple[Expr, ...] = ()


@dataclass(frozen=True, eq=False)
class _Leaf:
    """A probability in a formula that is no join of others, of which each label may be one."""

    expression: Expr
    name: str | None
    dim: str | None


@dataclass(frozen=True, eq=False)
class Opened:
    """An outcome whose parts can be kept from failing, by hidden meta-features.

    Attributes
    ----------
    outcome : Expr
        The layout's outcome, with switches; as it was where they all are as `usual`.
    parts : tuple of Part
        Those that are joined in the outcome, in order: each can be switched off alone.
    effects : dict of str to tuple of Part
        What items have of their own, by latent: its two parts are that it never lowers the latent
        below its usual value, and never raises it above.
    usual : dict of str to float
        By hidden meta-feature.
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
            Of one `Success`.
        moved : sequence of pairs
            Latents, and their labels ("" for none or all), that an amount can be added to, named
            by `move`.
        """
        found, demands = _Finder.of(layout), demands_of(layout)
        wraps: dict[int, Wrap] = {}
        usual: dict[str, float] = {}
        parts: list[Part] = []
        for leaf in found.leaves:
            flags = _switches(f"part {len(usual)}", leaf)
            usual |= {flag.name: 1.0 for flag in flags}
            wraps[id(leaf.expression)] = _presence_of(leaf, flags)
            parts += _parts_of(leaf, flags, demands)
        for call, name in found.mixtures:
            flag = Hidden(f"{MARK}lapses {len(usual)}", low=0, high=1)
            usual[flag.name] = 1.0
            wraps[id(call)] = lambda of, flag=flag: _without_lapses(*of.arguments, flag)  # type: ignore[misc]
            parts.append(_lapse(call, name, flag))
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
        inside = {name for leaf in found.leaves for name in _latents(leaf.expression)}
        outside = tuple(name for name in effects if name not in inside)
        outcome = rewritten(layout.outcome, wraps)
        return cls(outcome, _distinct(parts), effects, outside, usual)


def move(latent: Latent, label: str) -> str:
    """Name the hidden meta-feature that is added to a latent."""
    return f"{MARK}{latent.name}[{label}] moved" if label else f"{MARK}{latent.name} moved"


def rewritten(expr: Expr, wraps: Mapping[int, Wrap]) -> Expr:
    """Build an expression anew, with some of its parts wrapped.

    Parameters
    ----------
    expr : Expr
        It stays as it is.
    wraps : mapping of int to callable
        By ``id`` of a part, what to build of it.
    """
    made: dict[int, Expr] = {}
    for part in ancestry(expr, stop_at=_is_leaf):
        changed = {}
        for one in fields(part) if not _is_leaf(part) else ():  # type: ignore[arg-type]
            value = getattr(part, one.name)
            if isinstance(value, Expr):
                new: Any = made.get(id(value), value)
            elif isinstance(value, tuple) and value and all(isinstance(x, Expr) for x in value):
                new = tuple(made.get(id(x), x) for x in value)
                new = value if all(a is b for a, b in zip(new, value, strict=True)) else new
            else:
                continue
            if new is not value:
                changed[one.name] = new
        again: Expr = replace(part, **changed) if changed else part  # type: ignore[type-var]
        made[id(part)] = wraps[id(part)](again) if id(part) in wraps else again
    return made[id(expr)]


def _is_leaf(part: Expr) -> bool:
    """Whether nothing that an outcome is computed from stands behind a part."""
    return isinstance(part, Latent | MetaFeature)


@dataclass(frozen=True, eq=False)
class _Finder:
    """What is found on the way from an outcome to its parts."""

    layout: Layout
    leaves: list[_Leaf]
    mixtures: list[tuple[Call, str | None]]

    @classmethod
    def of(cls, layout: Layout) -> "_Finder":
        found = cls(layout, [], [])
        outcome = layout.outcome
        pending: list[_Leaf] = [_Leaf(outcome.expression, None, None)]
        met = set[int]()
        while pending:
            one = pending.pop()
            if id(one.expression) in met:
                continue
            met.add(id(one.expression))
            inside = list(found._inside(one))
            if inside:
                pending += reversed(inside)
            elif any(isinstance(part, Latent) for part in _behind(one.expression)):
                found.leaves.append(one)
        return found

    def _inside(self, one: _Leaf) -> Iterator[_Leaf]:
        """What a probability is joined from; nothing where it is no join."""
        of, dim = one.expression, one.dim
        if isinstance(of, Derived):
            yield _Leaf(of.expression, of.name, dim)
        elif isinstance(of, Operation):
            sides = _factors(of)
            name = one.name if len(sides) == 1 else None
            for side in sides:
                yield _Leaf(side, name, dim)
        elif isinstance(of, Call):
            yield from self._of_call(of, one)

    def _of_call(self, call: Call, one: _Leaf) -> Iterator[_Leaf]:
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
                    yield _Leaf(part, kept, call.over or one.dim)
        elif name in _FIRST_OPERAND:
            if name == "mixture":
                self.mixtures.append((call, one.name))
            yield _Leaf(call.arguments[0], one.name, one.dim)
        elif name == "logistic":
            inner = _under_logit(call.arguments[0])
            if inner is not None:
                yield _Leaf(inner, one.name, one.dim)

    @cached_property
    def latents(self) -> list[Latent]:
        """Latents of the outcome's formula, as often as declared."""
        return [part for part in _behind(self.layout.outcome) if isinstance(part, Latent)]

    @property
    def effects(self) -> list[Latent]:
        """What items, or groups of them, have of their own."""
        return [
            latent
            for latent in self.latents
            if isinstance(latent, Bias) and any(root(plate) == ITEM for plate in latent.plates)
        ]


def _behind(expr: Expr) -> Iterator[Expr]:
    """Walk what an expression is computed from, but no priors."""
    return ancestry(expr, stop_at=_is_leaf)


def _latents(expr: Expr) -> tuple[str, ...]:
    """Names of the latents of an expression, each once."""
    names = (part.name for part in _behind(expr) if isinstance(part, Latent))
    return tuple(dict.fromkeys(names))


def _features(expr: Expr) -> set[str]:
    """Names of the meta-features of an expression."""
    return {part.name for part in _behind(expr) if isinstance(part, MetaFeature)}


def _factors(of: Operation) -> list[Expr]:
    """Find the probabilities that a product is made of, or that a number is added to."""
    if of.symbol == "*":
        sides = [side for side in of.parents if not isinstance(side, Constant)]
        return sides if all(side.range in UNIT for side in of.parents) else []
    if of.symbol == "+":
        sides = [side for side in of.parents if not isinstance(side, Constant)]
        return sides if len(sides) == 1 and sides[0].range in UNIT else []
    return []


def _under_logit(margin: Expr) -> Expr | None:
    """Find the probability whose log-odds something is added to, if there is one."""
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


def _switches(name: str, leaf: _Leaf) -> list[Hidden]:
    """One hidden meta-feature for each part of a leaf: 1, and 0 where the part cannot fail."""
    labels = leaf.expression.dims.get(leaf.dim or "", ("",))
    return [Hidden(f"{MARK}{name} {place}", low=0, high=1) for place in range(len(labels))]


def _presence_of(leaf: _Leaf, flags: Sequence[Hidden]) -> Wrap:
    """Let a leaf, or each of its labels, count only where its switch is on."""
    labels = leaf.expression.dims.get(leaf.dim or "")
    if labels is None:
        return lambda of: presence(of, flags[0])
    together = ByLabel(tuple(flags), str(leaf.dim), labels)
    return lambda of: presence(of, together)


def _parts_of(leaf: _Leaf, flags: Sequence[Hidden], demands: set[str]) -> list[Part]:
    """Write a leaf as a part, or as one for each label."""
    expression, dim = leaf.expression, leaf.dim or ""
    labels = expression.dims.get(dim, ("",))
    found = _behind(expression)
    bands = [part for part in found if isinstance(part, Call) and part.function.name in BANDS]
    latents = [part for part in _behind(expression) if isinstance(part, Latent)]
    noisy = bool(latents) and all(isinstance(latent, Noise) for latent in latents)
    kind = "band" if len(bands) == 1 else "lapse" if noisy else "performance"
    parts = []
    for place, (label, flag) in enumerate(zip(labels, flags, strict=True)):

        def at(of: Expr, place: int = place) -> Expr:
            return AtLabel(of, dim, place) if dim in of.dims else of

        parts.append(
            Part(
                _name(leaf, latents) + (f"[{label}]" if label else ""),
                kind,
                at(expression),
                {flag.name: 0.0},
                tuple(_labelled(latent, dim, label) for latent in _once(latents)),
                tuple(
                    _labelled(part, dim, label)
                    for part in _once(_behind(expression))
                    if isinstance(part, MetaFeature) and part.name in demands
                ),
                tuple(map(at, _one_sided(bands[0]))) if kind == "band" else (),
            )
        )
    return parts


def _once(parts: Any) -> list[Any]:
    """Named parts, each once."""
    return list({part.name: part for part in parts if part.name is not None}.values())


def _labelled(node: Latent | MetaFeature, dim: str, label: str) -> str:
    """Name a node at a label, where it has that."""
    return f"{node.name}[{label}]" if label and dim in node.dims else node.name


def _one_sided(band: Call) -> tuple[Expr, Expr]:
    """Take one end of a band away, and then the other: what is left is not too little, too much."""
    places = {name: place for place, name in enumerate(band.names)}
    found = []
    for name, end in (("high", np.inf), ("low", -np.inf)):
        arguments = list(band.arguments)
        arguments[places[name]] = Constant(end)
        found.append(replace(band, arguments=tuple(arguments)))
    return found[0], found[1]


def _name(leaf: _Leaf, latents: Sequence[Latent]) -> str:
    """Name a part as the layout does, or by what the subject needs for it."""
    if leaf.name is not None:
        return leaf.name
    needed = [latent for latent in latents if isinstance(latent, Capability | Propensity)]
    names = [latent.name for latent in _once(needed or latents)]
    return " and ".join(names) if len(names) <= _NAMES else str(leaf.expression)


def _lapse(call: Call, name: str | None, flag: Hidden) -> Part:
    """Write the noise of a mixture as a part: it fails where it pulls a success down."""
    by, toward = call.arguments[1:]
    own = by.name or " and ".join(_latents(by)) or "lapses"
    fails = by if toward == Constant(0.0) else by * (1 - toward)
    return Part(own, "lapse", 1 - fails, {flag.name: 0.0}, _latents(by))


def _usual(latent: Latent, lifted: Hidden, lowered: Hidden) -> Wrap:
    """Let a latent be no lower, or no higher, than the mean of its distribution."""
    given = [dict(prior.parameters).get("mu") for prior in latent.priors]
    mean = given[0] if len(given) == 1 and given[0] is not None else Constant(0.0)

    def wrap(of: Expr) -> Expr:
        up, down = maximum(of, mean) - of, minimum(of, mean) - of
        return of + lifted * up + lowered * down

    return wrap


def _amount(latent: Latent, label: str) -> Hidden:
    return Hidden(move(latent, label), low=-np.inf, high=np.inf)


def _moving(latent: Latent, amounts: Mapping[str, Hidden]) -> Wrap:
    """Add amounts to a latent, or to labels of it; it stays in its range."""
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
    """Tell parts of one name apart by numbers."""
    names = [part.name for part in parts]
    return tuple(
        replace(part, name=f"{part.name} {names[: place + 1].count(part.name)}")
        if names.count(part.name) > 1
        else part
        for place, part in enumerate(parts)
    )


def demands_of(layout: Layout) -> set[str]:
    """Name the meta-features that are held against a latent, or tell where the unseen lies."""
    found, unseen = opposed(layout), layout.outcome.unseen
    return found if unseen is None else found | _features(unseen.mean)


def band_ends(layout: Layout) -> set[str]:
    """Name the meta-features that are ends of bands: a band says itself on which side one is."""
    found = set[str]()
    for part in _behind(layout.outcome):
        if isinstance(part, Call) and part.function.name in BANDS:
            for name, argument in zip(part.names, part.arguments, strict=True):
                if name in ("low", "high"):
                    found |= _features(argument)
    return found
