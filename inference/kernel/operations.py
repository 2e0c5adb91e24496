"""Elementwise operations: their value by NumPy, and their derivatives in terms of one another."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from .values import Value, Values

type Rule = "Callable[[Value, tuple[Value, ...], Value, Values], list[Value | None]]"
"""From a value, its arguments, the derivative by the value, and what makes values."""


def _sigmoid(x: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(-x))


NUMPY: dict[str, Callable[..., Any]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "pow": np.power,
    "neg": np.negative,
    "reciprocal": np.reciprocal,
    "exp": np.exp,
    "expm1": np.expm1,
    "log": np.log,
    "log1p": np.log1p,
    "sigmoid": _sigmoid,
    "softplus": lambda x: np.logaddexp(0, x),
    "sqr": np.square,
    "sqrt": np.sqrt,
    "abs": np.abs,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "where": np.where,
    "lt": np.less,
    "gt": np.greater,
    "le": np.less_equal,
    "ge": np.greater_equal,
    "eq": np.equal,
    "ne": np.not_equal,
    "and": np.logical_and,
    "or": np.logical_or,
    "not": np.logical_not,
    "isinf": np.isinf,
    "isnan": np.isnan,
}

TRUTHS = frozenset({"lt", "gt", "le", "ge", "eq", "ne", "and", "or", "not", "isinf", "isnan"})
"""Operations that answer yes or no."""


def derivatives(
    op: str, value: "Value", args: "tuple[Value, ...]", g: "Value", make: "Values"
) -> "list[Value | None]":
    """Pass the derivative of the outcome with respect to a value on to its arguments.

    Parameters
    ----------
    op : str
        The operation.
    value : Value
        Its result.
    args : tuple of Value
        Its arguments.
    g : Value
        The derivative with respect to `value`.
    make : Values
        Makes values.

    Returns
    -------
    list of Value or None
        The derivative with respect to each argument; None where there is none.
    """
    if op in TRUTHS:
        return [None] * len(args)
    return _RULES[op](value, args, g, make)


def _power(
    v: "Value", args: "tuple[Value, ...]", g: "Value", make: "Values"
) -> "list[Value | None]":
    base, exponent = args
    less = make("sub", exponent, make.one)
    slope = make("mul", g, make("mul", exponent, make("pow", base, less)))
    return [slope, make("mul", g, make("mul", v, make("log", base)))]


def _larger(op: str) -> Rule:
    def rule(
        _v: "Value", args: "tuple[Value, ...]", g: "Value", make: "Values"
    ) -> "list[Value | None]":
        one, other = args
        nothing = make.zero
        return [
            make("where", make(op, one, other), g, nothing),
            make("where", make(op, other, one), g, nothing),
        ]

    return rule


_RULES: dict[str, Rule] = {
    "add": lambda v, a, g, make: [g for _ in a],
    "sub": lambda v, a, g, make: [g, make("neg", g)],
    "mul": lambda v, a, g, make: [make("mul", g, a[1]), make("mul", g, a[0])],
    "div": lambda v, a, g, make: [
        make("div", g, a[1]),
        make("neg", make("mul", g, make("div", v, a[1]))),
    ],
    "pow": _power,
    "neg": lambda v, a, g, make: [make("neg", g)],
    "reciprocal": lambda v, a, g, make: [make("neg", make("mul", g, make("sqr", v)))],
    "exp": lambda v, a, g, make: [make("mul", g, v)],
    "expm1": lambda v, a, g, make: [make("mul", g, make("add", v, make.one))],
    "log": lambda v, a, g, make: [make("div", g, a[0])],
    "log1p": lambda v, a, g, make: [make("div", g, make("add", a[0], make.one))],
    "sigmoid": lambda v, a, g, make: [
        make("mul", g, make("mul", v, make("sigmoid_lack", a[0], v)))
    ],
    "softplus": lambda v, a, g, make: [make("mul", g, make("sigmoid", a[0]))],
    "sqr": lambda v, a, g, make: [make("mul", g, make("add", a[0], a[0]))],
    "sqrt": lambda v, a, g, make: [make("div", g, make("add", v, v))],
    "abs": lambda v, a, g, make: [make("where", make("lt", a[0], make.zero), make("neg", g), g)],
    # of a chance p and q = 1 - p, both known: what depends on p is passed on through p alone
    "complement": lambda v, a, g, make: [make("neg", g), None],
    "log_chance": lambda v, a, g, make: [make("div", g, a[0]), None],
    "unanimous": lambda v, a, g, make: [make("mul", g, make("unanimous_slope", *a)), None, None],
    "binomial": lambda v, a, g, make: [make("mul", g, make("binomial_slope", *a)), *[None] * 3],
    "maximum": _larger("ge"),
    "minimum": _larger("le"),
    "where": lambda v, a, g, make: [
        None,
        make("where", a[0], g, make.zero),
        make("where", a[0], make.zero, g),
    ],
}
