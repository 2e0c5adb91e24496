"""The expression algebra: values that know their dimensions, range and unit.

An expression is an immutable tree. Arithmetic on nodes and calls of linking functions build it;
`measurement_layouts.linking.evaluate` computes it from arrays, NumPy's or PyTensor's alike.

Arrays are aligned from the right: ``(..., item, label dimension 1, label dimension 2, ...)``. A
dimension that an expression does not have is of length one there, so that everything broadcasts.
"""

import math
import numbers
import operator
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, Literal

from . import units
from .arrays import Array
from .errors import LayoutError
from .interval import Interval

type Operand = Expr | float
type Dims = dict[str, tuple[str, ...]]
type Symbol = Literal["+", "-", "*", "/", "**"]


class Expr(ABC):
    """A value in a layout: a node, a number, or a formula of other values.

    Attributes
    ----------
    dims : dict of str to tuple of str
        Label dimensions and their labels; empty for one value per item.
    range : Interval
        Every value it can take.
    unit : pint.Unit or None
        None goes with any unit.
    """

    # numpy scalars on the left leave arithmetic to us instead of building object arrays
    __array_ufunc__: ClassVar[None] = None
    name: str | None

    @property
    @abstractmethod
    def parents(self) -> tuple["Expr", ...]:
        """Expressions this one is computed from."""

    @property
    @abstractmethod
    def dims(self) -> Dims: ...

    @property
    @abstractmethod
    def range(self) -> Interval: ...

    @property
    @abstractmethod
    def unit(self) -> units.Unit: ...

    def compute(self, values: tuple[Array, ...], dims: tuple[str, ...]) -> Array:
        """Compute this value from its parents' values; `dims` are the axes after the item axis."""
        raise LayoutError(f"{self} has no value of its own; give it one by name")

    def __add__(self, other: Operand) -> "Operation":
        return Operation("+", self, as_expr(other))

    def __radd__(self, other: Operand) -> "Operation":
        return Operation("+", as_expr(other), self)

    def __sub__(self, other: Operand) -> "Operation":
        return Operation("-", self, as_expr(other))

    def __rsub__(self, other: Operand) -> "Operation":
        return Operation("-", as_expr(other), self)

    def __mul__(self, other: Operand) -> "Operation":
        return Operation("*", self, as_expr(other))

    def __rmul__(self, other: Operand) -> "Operation":
        return Operation("*", as_expr(other), self)

    def __truediv__(self, other: Operand) -> "Operation":
        return Operation("/", self, as_expr(other))

    def __rtruediv__(self, other: Operand) -> "Operation":
        return Operation("/", as_expr(other), self)

    def __pow__(self, other: Operand) -> "Operation":
        return Operation("**", self, as_expr(other))

    def __rpow__(self, other: Operand) -> "Operation":
        return Operation("**", as_expr(other), self)

    def __neg__(self) -> "Operation":
        return Operation("*", Constant(-1.0), self)

    def __bool__(self) -> bool:
        raise LayoutError(
            f"{self} is an expression, not a truth value: comparisons and 'and'/'or' do not build "
            "layouts; use a linking function (product for 'and', a weighted sum for 'or')"
        )

    def __str__(self) -> str:
        from .notation import as_text

        return as_text(self)


@dataclass(frozen=True)
class Constant(Expr):
    """A plain number; it goes with any unit when added and has none when multiplied."""

    value: float
    name: None = field(default=None, init=False, repr=False)

    @property
    def parents(self) -> tuple[Expr, ...]:
        return ()

    @property
    def dims(self) -> Dims:
        return {}

    @property
    def range(self) -> Interval:
        return Interval(self.value, self.value)

    @property
    def unit(self) -> units.Unit:
        return None

    def compute(self, values: tuple[Array, ...], dims: tuple[str, ...]) -> Array:
        return self.value

    __str__ = Expr.__str__


_COMPUTE: dict[str, Callable[[Array, Array], Array]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "**": operator.pow,
}


@dataclass(frozen=True)
class Operation(Expr):
    """Arithmetic on two expressions."""

    symbol: Symbol
    left: Expr
    right: Expr
    name: None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        merge_dims(self.parents)
        _ = self.unit  # a clash of units is an error where it is written

    @property
    def parents(self) -> tuple[Expr, ...]:
        return (self.left, self.right)

    @cached_property
    def dims(self) -> Dims:
        return merge_dims(self.parents)

    @cached_property
    def range(self) -> Interval:
        result: Interval = _COMPUTE[self.symbol](self.left.range, self.right.range)
        return result

    @cached_property
    def unit(self) -> units.Unit:
        left, right = self.left.unit, self.right.unit
        if self.symbol in "+-":
            return same_unit(self.parents, doing={"+": "added to", "-": "opposed to"}[self.symbol])
        if self.symbol == "**":
            return _unit_of_power(self)
        if isinstance(self.left, Constant):
            return right if self.symbol == "*" else _inverse(right)
        if isinstance(self.right, Constant):
            return left
        if left is None or right is None:
            return None
        return left * right if self.symbol == "*" else left / right

    def compute(self, values: tuple[Array, ...], dims: tuple[str, ...]) -> Array:
        return _COMPUTE[self.symbol](*values)

    __str__ = Expr.__str__


def _inverse(unit: units.Unit) -> units.Unit:
    return None if unit is None else units.dimensionless() / unit


def _unit_of_power(power: Operation) -> units.Unit:
    base, exponent = power.left.unit, power.right
    if base is None or base == units.dimensionless():
        return base
    if isinstance(exponent, Constant):
        return base**exponent.value
    raise LayoutError(
        f"{power.left} has {units.text(base)} and is raised to {exponent}, which varies; divide it "
        "by a number with that unit's meaning first, or raise it to a plain number"
    )


def as_expr(value: object) -> Expr:
    """Take an expression as it is and make a number a `Constant`.

    Raises
    ------
    LayoutError
        For anything else, and for NaN.
    """
    if isinstance(value, Expr):
        return value
    if isinstance(value, numbers.Real) and not math.isnan(float(value)):
        return Constant(float(value))
    raise LayoutError(
        f"{value!r} ({type(value).__name__}) cannot stand in an expression; use a node or a number "
        "(values that differ between items belong in a MetaFeature)"
    )


def merge_dims(parents: tuple[Expr, ...]) -> Dims:
    """Join the label dimensions of several expressions.

    Raises
    ------
    LayoutError
        When two of them share a dimension but not its labels.
    """
    merged: Dims = {}
    owner: dict[str, Expr] = {}
    for parent in parents:
        for dim, labels in parent.dims.items():
            if merged.setdefault(dim, labels) != labels:
                raise LayoutError(
                    f"{parent} has labels {labels} on dimension {dim!r}, but {owner[dim]} has "
                    f"{merged[dim]}; give both the same labels in the same order, or one of them "
                    "another dim="
                )
            owner.setdefault(dim, parent)
    return merged


def same_unit(parents: tuple[Expr, ...], doing: str) -> units.Unit:
    """Return the unit that all the expressions share; numbers and unit-less biases join any.

    Raises
    ------
    LayoutError
        When two of them have different units.
    """
    found: units.Unit = None
    first: Expr | None = None
    for parent in parents:
        unit = parent.unit
        if unit is None:
            continue
        if first is None:
            found, first = unit, parent
        elif unit != found:
            raise LayoutError(
                f"{parent} has {units.text(unit)} and is {doing} {first}, which has "
                f"{units.text(found)}; declare both in one unit (convert the values too), or "
                "multiply one by a quantity that carries the missing unit"
            )
    return found
