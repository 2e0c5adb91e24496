"""Elementary functions that can be applied to expressions: ``np.log(distance / size)``."""

import math
from collections.abc import Callable

import numpy as np

from .. import arrays
from ..arrays import Array
from ..expression import UFUNCS, Expr, Operation, Symbol, as_expr
from ..function import LinkingFunction, linking_function
from ..interval import Interval
from .logistic import logistic
from .logit import logit


def _growing(low: float = -math.inf) -> Callable[[Callable[[Array], Array]], LinkingFunction]:
    """Make a linking function of an increasing formula of a pure number that is at least `low`."""

    def make(formula: Callable[[Array], Array]) -> LinkingFunction:
        def ends(x: Interval) -> Interval:
            with np.errstate(all="ignore"):  # an overflow and log(0) give an infinite end
                return Interval(float(formula(max(x.low, low))), float(formula(x.high)))

        return linking_function(range=ends, domain={"x": (low, math.inf)})(formula)

    return make


@_growing()
def exp(x: Array) -> Array:
    """Exponential: e to the power of x."""
    return arrays.exp(x)


@_growing()
def expm1(x: Array) -> Array:
    """Exponential less 1, accurate near 0."""
    return arrays.expm1(x)


@_growing(low=0)
def log(x: Array) -> Array:
    """Natural logarithm."""
    return arrays.log(x)


@_growing(low=-1)
def log1p(x: Array) -> Array:
    """Natural logarithm of 1 + x, accurate near 0."""
    return arrays.log1p(x)


@_growing(low=0)
def log2(x: Array) -> Array:
    """Logarithm to base 2."""
    return arrays.log(x) / math.log(2)


@_growing(low=0)
def log10(x: Array) -> Array:
    """Logarithm to base 10."""
    return arrays.log(x) / math.log(10)


@linking_function(
    range=lambda x: Interval(max(x.low, -x.high, 0.0), max(-x.low, x.high)),
    keeps_unit=True,
    same_unit=("x",),
)
def absolute(x: Array) -> Array:
    """Absolute value."""
    return arrays.absolute(x)


@linking_function(
    range=lambda x, y: Interval(max(x.low, y.low), max(x.high, y.high)),
    keeps_unit=True,
    same_unit=("x", "y"),
)
def maximum(x: Array, y: Array) -> Array:
    """Larger of two values."""
    return arrays.maximum(x, y)


@linking_function(
    range=lambda x, y: Interval(min(x.low, y.low), min(x.high, y.high)),
    keeps_unit=True,
    same_unit=("x", "y"),
)
def minimum(x: Array, y: Array) -> Array:
    """Smaller of two values."""
    return arrays.minimum(x, y)


ELEMENTARY = {
    function.name: function
    for function in (exp, expm1, log, log1p, log2, log10, absolute, maximum, minimum)
}
"""Linking functions by the name of the NumPy function that builds them."""


def _operation(symbol: Symbol) -> Callable[..., Expr]:
    """Make the function that builds an operation on expressions and NumPy numbers."""
    return lambda x, y: Operation(symbol, as_expr(x), as_expr(y))


UFUNCS.update(
    {
        **ELEMENTARY,
        "fabs": absolute,
        "expit": logistic,
        "logit": logit,
        "add": _operation("+"),
        "subtract": _operation("-"),
        "multiply": _operation("*"),
        "divide": _operation("/"),
        "power": _operation("**"),
        "negative": lambda x: -x,
        "reciprocal": lambda x: 1 / x,
        "square": lambda x: x**2,
        "sqrt": lambda x: x**0.5,
    }
)
