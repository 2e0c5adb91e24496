"""Expressions that only explanations use: one label's value, a value per label, parts replaced."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...layouts import Latent, MetaFeature
from ...layouts.outcomes.averaging import Mean
from ...layouts.outcomes.steps import MARK
from ...layouts.outcomes.unseen import Numbers
from ...linking import Expr, linking_function
from ...linking.arrays import Array
from ...linking.evaluation import ancestry
from ...linking.expression import Dims
from ...linking.interval import UNIT, Interval
from ..model.alignment import is_leaf, leaves


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
    unit = None

    @property
    def parents(self) -> tuple[Expr, ...]:
        return self.values

    @property
    def dims(self) -> Dims:
        return {self.dim: self.labels}

    @property
    def range(self) -> Interval:
        return self.within

    def compute(self, values: tuple[Array, ...], dims: tuple[str, ...]) -> Array:
        each = np.eye(len(values))
        shape = [-1 if dim == self.dim else 1 for dim in dims]
        return sum(value * row.reshape(shape) for value, row in zip(values, each, strict=True))


def at_label(of: Expr, dim: str, place: int) -> Expr:
    """Return the value of an expression at one of its labels."""
    labels = of.dims[dim]
    chosen = tuple(np.eye(len(labels))[place].tolist())
    return Mean(of, Numbers(f"{MARK}{dim} {place}", {dim: labels}, chosen), dim)


def behind(expr: Expr) -> Iterator[Expr]:
    """Iterate over the expressions from which another is computed, without priors."""
    return ancestry(expr, stop_at=is_leaf)


def latents_of(expr: Expr) -> tuple[str, ...]:
    """Names of the latents of an expression, each once."""
    return tuple(dict.fromkeys(one.name for one in leaves(expr) if isinstance(one, Latent)))


def features_of(expr: Expr) -> set[str]:
    """Names of the meta-features of an expression."""
    return {one.name for one in leaves(expr) if isinstance(one, MetaFeature)}
