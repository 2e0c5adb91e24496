"""Derivatives of a log-density by the sampler's point: quantities like those of the density."""

from collections.abc import Callable, Iterator

from .values import Value, Values

type Rule = Callable[[Value, tuple[Value, ...], Value, Values], list[Value | None]]
"""Function that returns derivatives by the arguments of a value, given the value, its arguments,
the derivative by the value, and the quantities to which new ones are added."""


def gradient(values: Values, total: Value) -> dict[int, Value]:
    """Derive a total by the sampler's point, by reverse-mode differentiation.

    Parameters
    ----------
    values : Values
        Quantities of the log-density, to which new ones are added.
    total : Value
        The total, which is a single number.

    Returns
    -------
    dict of int to Value
        Derivatives by offset into the point, of the parts on which the total depends.
    """
    pending = {total.number: (total, values.one)}
    derivatives: dict[int, Value] = {}
    while pending:
        value, g = pending.pop(max(pending))  # all values that are computed from it are done
        if value.op == "point":
            derivatives[int(value.payload)] = g  # type: ignore[call-overload]
            continue
        for arg, slope in _passed_on(values, value, g):
            _, before = pending.get(arg.number, (arg, values.zero))
            pending[arg.number] = (arg, values("add", before, slope))
    return derivatives


def _passed_on(values: Values, value: Value, g: Value) -> Iterator[tuple[Value, Value]]:
    """Yield the derivatives by the moving arguments, in the arguments' spaces."""
    if value.op == "fold":
        kind, through = value.folded
        (arg,) = value.args
        slope = g
        if kind in ("max", "min"):
            slope = values("where", values("eq", arg, value), g, values.zero)
        elif kind == "prod":
            slope = values("mul", g, values.fellows(arg, through, value.space))
        yield arg, values.fold("sum", slope, through, arg.space, arg.features)
        return
    if value.is_truth:
        return
    for arg, local in zip(value.args, _RULES[value.op](value, value.args, g, values), strict=True):
        if local is not None and arg.moving and not local.is_zero:
            yield arg, values.fold("sum", local, value.space, arg.space, arg.features)


def _power(v: Value, args: tuple[Value, ...], g: Value, make: Values) -> list[Value | None]:
    base, exponent = args
    less = make("sub", exponent, make.one)
    slope = make("mul", g, make("mul", exponent, make("pow", base, less)))
    return [slope, make("mul", g, make("mul", v, make("log", base)))]


def _larger(op: str) -> Rule:
    def rule(_v: Value, args: tuple[Value, ...], g: Value, make: Values) -> list[Value | None]:
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
    "exp": lambda v, a, g, make: [make("mul", g, v)],
    "expm1": lambda v, a, g, make: [make("mul", g, make("add", v, make.one))],
    "log": lambda v, a, g, make: [make("div", g, a[0])],
    "log1p": lambda v, a, g, make: [make("div", g, make("add", a[0], make.one))],
    "sigmoid": lambda v, a, g, make: [make("mul", g, make("mul", v, make("sub", make.one, v)))],
    "softplus": lambda v, a, g, make: [make("mul", g, make("sigmoid", a[0]))],
    "sqr": lambda v, a, g, make: [make("mul", g, make("add", a[0], a[0]))],
    "sqrt": lambda v, a, g, make: [make("div", g, make("add", v, v))],
    "abs": lambda v, a, g, make: [make("where", make("lt", a[0], make.zero), make("neg", g), g)],
    "maximum": _larger("ge"),
    "minimum": _larger("le"),
    "where": lambda v, a, g, make: [
        None,
        make("where", a[0], g, make.zero),
        make("where", a[0], make.zero, g),
    ],
}
