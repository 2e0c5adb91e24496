"""Expressions that only explanations use: one label's value, a value per label, parts replaced."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...layouts import Latent, MetaFeature
from ...linking import Expr, arrays, linking_function
from ...linking.arrays import Array
from ...linking.evaluation import ancestry
from ...linking.expression import Dims
from ...linking.interval import UNIT, Interval


@linking_function(range=(0, 1))
def without_lapses(p: Array, by: Array, toward: Array, lapses: Array) -> Array:
    """Compute `mixture`; if `lapses` is 0, noise never turns a success into a failure."""
    return (1 - by) * p + by * (toward + (1 - lapses) * (1 - toward) * p)


@linking_function(range=lambda x, by: x, keeps_unit=True, same_unit=("x",))
def shifted(x: Array, by: Array) -> Array:
    """Add an amount that has the unit of the first argument."""
    return x + by


@dataclass(frozen=True, eq=False, repr=False)
class ByLabel(Expr):
    """One number for each label, from as many expressions without labels."""

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
    """The value of an expression at one of its labels."""

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


def is_leaf(part: Expr) -> bool:
    """Whether an expression is a latent or a meta-feature."""
    return isinstance(part, Latent | MetaFeature)


def behind(expr: Expr) -> Iterator[Expr]:
    """Iterate over the expressions from which another is computed, without priors."""
    return ancestry(expr, stop_at=is_leaf)


def latents_of(expr: Expr) -> tuple[str, ...]:
    """Names of the latents of an expression, each once."""
    names = (part.name for part in behind(expr) if isinstance(part, Latent))
    return tuple(dict.fromkeys(names))


def features_of(expr: Expr) -> set[str]:
    """Names of the meta-features of an expression."""
    return {part.name for part in behind(expr) if isinstance(part, MetaFeature)}
