"""Formulas that are no layout's own: a label's value, a value for each label, parts replaced."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from ...layouts import Latent, MetaFeature
from ...linking import Expr, arrays, linking_function
from ...linking.arrays import Array
from ...linking.evaluation import ancestry
from ...linking.expression import Dims
from ...linking.interval import UNIT, Interval

type Wrap = Callable[[Expr], Expr]
"""What to build of a part of a formula."""


@linking_function(range=(0, 1))
def without_lapses(p: Array, by: Array, toward: Array, lapses: Array) -> Array:
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
    for part in ancestry(expr, stop_at=is_leaf):
        changed = {}
        for one in fields(part) if not is_leaf(part) else ():  # type: ignore[arg-type]
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


def is_leaf(part: Expr) -> bool:
    """Whether nothing that an outcome is computed from stands behind a part."""
    return isinstance(part, Latent | MetaFeature)


def behind(expr: Expr) -> Iterator[Expr]:
    """Walk what an expression is computed from, but no priors."""
    return ancestry(expr, stop_at=is_leaf)


def latents_of(expr: Expr) -> tuple[str, ...]:
    """Names of the latents of an expression, each once."""
    names = (part.name for part in behind(expr) if isinstance(part, Latent))
    return tuple(dict.fromkeys(names))


def features_of(expr: Expr) -> set[str]:
    """Names of the meta-features of an expression."""
    return {part.name for part in behind(expr) if isinstance(part, MetaFeature)}
