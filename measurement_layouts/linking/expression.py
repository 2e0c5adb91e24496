"""Expressions: formulas of nodes with their label dimensions, range and unit.

An expression is an immutable tree, built by arithmetic on nodes and by calls of linking functions.
`measurement_layouts.linking.evaluate` computes it from arrays of NumPy or PyTensor.

Arrays are aligned from the right: ``(..., item, label dimension 1, label dimension 2, ...)``. An
axis has length one where an expression lacks that dimension, so that all values broadcast.
"""

import math
import operator
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cached_property
from typing import Any, Literal, NoReturn

from . import notation, units
from .arrays import Array
from .errors import LayoutError, check, refuse
from .interval import UNIT, Interval
from .real import real

type Operand = Expr | float
type Dims = dict[str, tuple[str, ...]]
"""Label dimensions and their labels."""

type Symbol = Literal["+", "-", "*", "/", "**"]

_READABLE = 400  # a longer formula is not written out in messages

UFUNCS: dict[str, Callable[..., Any]] = {}
"""Linking functions by the name of the NumPy function that builds them (`functions.elementary`)."""


def _operator(symbol: Symbol, *, reflected: bool = False) -> "Callable[[Expr, Operand], Operation]":
    """Make the method of an operator; a reflected one has its expression on the right."""

    def build(self: "Expr", other: Operand) -> "Operation":
        sides = (as_expr(other), self) if reflected else (self, as_expr(other))
        return Operation(symbol, *sides)

    return build


class Expr(ABC):
    """A value in a layout: a node, a number, or a formula of other values.

    Subclasses are dataclasses, frozen and with ``eq=False``: two expressions are equal when they
    have the same structure.

    Attributes
    ----------
    dims : dict of str to tuple of str
        Label dimensions and their labels; empty for one value per item.
    range : Interval
        Range of the values that the expression can take.
    unit : units.Words or None
        Unit of the values; None is compatible with every unit.
    """

    name: str | None

    @property
    @abstractmethod
    def parents(self) -> tuple["Expr", ...]:
        """Expressions from which this one is computed."""

    @property
    @abstractmethod
    def dims(self) -> Dims: ...

    @property
    @abstractmethod
    def range(self) -> Interval: ...

    @property
    @abstractmethod
    def unit(self) -> units.Unit: ...

    @cached_property
    def size(self) -> int:
        """Number of operations, numbers and names in the formula, written out."""
        return 1 if self.name is not None else 1 + sum(parent.size for parent in self.parents)

    @cached_property
    def depth(self) -> int:
        """Largest number of nested brackets in the formula, written out."""
        inside = [] if self.name is not None else [parent.depth for parent in self.parents]
        return 1 + max(inside, default=-1)

    def compute(self, values: tuple[Array, ...], dims: tuple[str, ...]) -> Array:
        """Compute this value from its parents' values; `dims` are the axes after the item axis."""
        raise LayoutError(f"{self} cannot be computed from other values; give its value by name")

    def __radd__(self, other: float) -> "Expr":
        if type(other) is int and other == 0:  # the start value of Python's sum()
            return self
        return Operation("+", as_expr(other), self)

    __add__ = _operator("+")
    __sub__, __rsub__ = _operator("-"), _operator("-", reflected=True)
    __mul__, __rmul__ = _operator("*"), _operator("*", reflected=True)
    __truediv__, __rtruediv__ = _operator("/"), _operator("/", reflected=True)
    __pow__, __rpow__ = _operator("**"), _operator("**", reflected=True)

    def __neg__(self) -> "Operation":
        return Operation("*", Constant(-1.0), self)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """Build the expression for a call of a NumPy function, such as ``np.log(distance / size)``.

        Raises
        ------
        LayoutError
            When the function is not available for expressions, or an option such as ``out=`` is
            given.
        """
        name = ufunc.__name__
        if name in ("equal", "not_equal"):
            return _equal(*inputs) == (name == "equal")
        if name in ("less", "less_equal", "greater", "greater_equal"):
            self._compare(inputs[self is inputs[0]])
        advice = f"use one of {', '.join(UFUNCS)}, or @ml.linking.linking_function"
        problem = f"NumPy's {name} is not available for expressions"
        check(str(self), name in UFUNCS, problem, advice)
        called_with = ", ".join([*[f".{method}"] * (method != "__call__"), *options])
        problem = f"NumPy's {name} was called with {called_with}, which expressions do not support"
        advice = "call it with nodes and numbers, and reduce labels with total(..., over=)"
        check(str(self), not called_with, problem, advice)
        return UFUNCS[name](*inputs)

    def __eq__(self, other: object) -> bool:
        return _equal(self, other) if isinstance(other, Expr) else NotImplemented

    def __hash__(self) -> int:
        return hash((type(self).__name__, self.name, self.size, self.range))

    def __bool__(self) -> NoReturn:
        problem = "it is an expression, not a truth value: 'and' and 'or' do not build layouts"
        advice = "use a linking function (product for 'and', a weighted sum for 'or')"
        refuse(str(self), problem, advice)

    def _compare(self, other: object) -> NoReturn:
        problem = f"it cannot be compared with {other}: comparisons do not build layouts"
        advice = "use logistic(a - b) for 'a is above b', or a MetaFeature with levels=(0, 1)"
        refuse(str(self), problem, advice)

    __lt__ = __le__ = __gt__ = __ge__ = _compare

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the declared fields; all other properties are computed again."""
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            object.__setattr__(self, name, value)

    @property
    def precedence(self) -> int:
        """Precedence of the written expression; it is highest for names and calls."""
        return notation.ATOM

    def text(self) -> str:
        """Write the expression on one line, with nodes by their names.

        Returns
        -------
        str
            The formula, whatever its length; ``str`` writes only the number of parts above 400.

        Examples
        --------
        >>> from measurement_layouts import Bias, Capability
        >>> (2 * (Capability("sight", low=0, high=2) - Bias("tilt"))).text()
        '2 × (sight − tilt)'
        """
        return self.name or type(self).__name__

    def __str__(self) -> str:
        return self.text() if self.size <= _READABLE else f"a formula of {self.size:,} parts"

    def __repr__(self) -> str:
        return f"<{self}>"


class Source(Expr):
    """An expression that is not computed from others; it has no labels and no unit."""

    parents = ()
    unit: units.Unit = None

    @property
    def dims(self) -> Dims:
        return {}


@dataclass(frozen=True, eq=False, repr=False)
class Constant(Source):
    """A plain number; it can be added to any unit, and as a factor it has no unit."""

    value: float
    name: None = field(default=None, init=False)

    @property
    def range(self) -> Interval:
        return Interval(self.value, self.value)

    @property
    def precedence(self) -> int:
        return notation.PRECEDENCE["-"] if self.value < 0 else notation.ATOM

    def text(self) -> str:
        return notation.number(self.value)

    def compute(self, values: tuple[Array, ...], dims: tuple[str, ...]) -> Array:
        return self.value


@dataclass(frozen=True, eq=False, repr=False)
class SubjectConstant(Source):
    """One number per subject, computed from the training outcomes and stored with the fit."""

    name: str
    about: str

    range = UNIT


class Formula(Expr):
    """An expression without a name, computed from others."""

    def __post_init__(self) -> None:
        """Compute the properties of a new formula, so that later calls do not recurse deeply."""
        _ = self.dims, self.unit, self.range, self.size, self.depth

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        Formula.__post_init__(self)


_COMPUTE: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "**": operator.pow,
}


@dataclass(frozen=True, eq=False, repr=False)
class Operation(Formula):
    """Arithmetic on two expressions."""

    symbol: Symbol
    left: Expr
    right: Expr
    name: None = field(default=None, init=False)

    def __post_init__(self) -> None:
        if any(isinstance(x, Constant) and not x.range.is_finite for x in self.parents):
            advice = "an infinite number can only be an end of a band or of a declared range"
            refuse(str(self), "arithmetic with an infinite number is not possible", advice)
        if self.symbol == "/" and self.right.range == Interval(0, 0):
            refuse(str(self), "it divides by zero", "divide by a node or another number")
        if self.symbol == "**":
            _check_power(self)
        super().__post_init__()

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
        if self.symbol in ("+", "-"):
            return same_unit(self.parents, "added to" if self.symbol == "+" else "opposed to")
        if self.symbol == "**":
            if left is None or not isinstance(self.right, Constant):
                return left
            return left**self.right.value
        if isinstance(self.left, Constant):
            return right if self.symbol == "*" or right is None else right**-1
        if isinstance(self.right, Constant):
            return left
        if left is None or right is None:
            return None
        return left * right if self.symbol == "*" else left / right

    @property
    def precedence(self) -> int:
        return notation.PRECEDENCE[self.symbol]

    def text(self) -> str:
        levels = self.left.precedence, self.right.precedence
        return notation.infix(self.symbol, self.left.text(), self.right.text(), levels)

    def compute(self, values: tuple[Array, ...], dims: tuple[str, ...]) -> Array:
        return _COMPUTE[self.symbol](*values)


_PURE_EXPONENT = (
    "leave unit= out of its nodes, divide it by a node in its unit, or write the power with "
    "@ml.linking.linking_function, whose result has no unit"
)


def _check_power(power: Operation) -> None:
    """Refuse an exponent with a unit, and a power that is undefined for a negative base."""
    base, exponent = power.left, power.right
    problem = f"it has {units.text(exponent.unit)} and is an exponent, which is a pure number"
    check(str(exponent), units.is_pure(exponent.unit), problem, _PURE_EXPONENT)
    fixed = isinstance(exponent, Constant)
    problem = f"it has {units.text(base.unit)} and is raised to {exponent}, which varies"
    advice = "divide it by a node in its unit first, or raise it to a plain number"
    check(str(base), fixed or units.is_pure(base.unit), problem, advice)
    problem = f"it ranges over {base.range} and is raised to {exponent}, which is undefined"
    advice = "keep it at 0 or above, or raise it to a whole number"
    defined = base.range.low >= 0 or (fixed and exponent.range.low.is_integer())
    check(str(base), defined, f"{problem} for negative numbers", advice)


def as_expr(value: object) -> Expr:
    """Return an expression unchanged, and a number as a `Constant`.

    Raises
    ------
    LayoutError
        When the value is NaN, or neither an expression nor a number.
    """
    if isinstance(value, Expr):
        return value
    if (number := real(value)) is not None:
        if math.isnan(number):
            raise LayoutError("NaN (not a number) cannot be part of an expression; give a number")
        return Constant(number + 0.0)  # -0.0 becomes 0.0, so that equal numbers are written alike
    advice = "use a node or a number (values that differ between items belong in a MetaFeature)"
    problem = f"{value!r} ({type(value).__name__}) cannot be part of an expression"
    raise LayoutError(f"{problem}; {advice}")


def merge_dims(operands: tuple[Expr, ...]) -> Dims:
    """Join the label dimensions of several expressions.

    Raises
    ------
    LayoutError
        When two expressions have the same dimension with different labels.
    """
    merged: Dims = {}
    owner: dict[str, Expr] = {}
    for operand in operands:
        for dim, labels in operand.dims.items():
            first, known = owner.setdefault(dim, operand), merged.setdefault(dim, labels)
            if known != labels:
                problem = f"it has labels {_shown(labels)} on dimension {dim!r}, but {first} has "
                advice = "give both the same labels in the same order, or one of them another dim="
                refuse(str(operand), f"{problem}{_shown(known)}", advice)
    return merged


def same_unit(operands: tuple[Expr, ...], doing: str) -> units.Unit:
    """Return the unit that all the expressions share; numbers and unit-less biases fit every unit.

    Raises
    ------
    LayoutError
        When two expressions have different units.
    """
    shared: units.Unit = None
    first: Expr | None = None
    for operand in operands:
        unit = operand.unit
        if unit is None:
            continue
        if first is None:
            shared, first = unit, operand
        elif unit != shared:
            problem = f"it has {units.text(unit)} and is {doing} {first}, which has "
            advice = "declare both in one unit (convert the values too), or multiply one by a "
            advice += "quantity that carries the missing unit"
            refuse(str(operand), f"{problem}{units.text(shared)}", advice)
    return shared


def _shown(labels: tuple[str, ...]) -> str:
    """Write the first labels and the number of labels."""
    shown = ", ".join(labels[:6])
    return f"({shown})" if len(labels) <= 6 else f"({shown}, ... {len(labels)} in all)"


def _equal(one: object, other: object) -> bool:
    """Whether two values have the same structure; a pair of shared parts is compared once."""
    pending = [(one, other)]
    compared: set[tuple[int, int]] = set()
    while pending:
        a, b = pending.pop()
        if a is b or (id(a), id(b)) in compared:
            continue
        if is_dataclass(a) or is_dataclass(b):
            if type(a) is not type(b):
                return False
            compared.add((id(a), id(b)))
            compare = [field.name for field in fields(a) if field.compare]  # type: ignore[arg-type]
            pending += ((getattr(a, name), getattr(b, name)) for name in compare)
        elif isinstance(a, tuple) and isinstance(b, tuple):
            if len(a) != len(b):
                return False
            pending += zip(a, b, strict=True)
        elif a != b:
            return False
    return True
