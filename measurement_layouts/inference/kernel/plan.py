"""Plan of the computation of a log-density and its gradient on one battery."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from .domains import Domains
from .inputs import Outcomes
from .terms import LogDensity, Term
from .values import Space, Value, Values

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
    found: dict[int, Value] = {}
    while pending:
        value, g = pending.pop(max(pending))  # all values that are computed from it are done
        if value.op == "point":
            found[int(value.payload)] = g  # type: ignore[call-overload]
            continue
        for arg, part in _passed_on(values, value, g):
            before = pending.get(arg.number)
            pending[arg.number] = (arg, part if before is None else values("add", before[1], part))
    return found


def _passed_on(values: Values, value: Value, g: Value) -> Iterator[tuple[Value, Value]]:
    """Yield the derivatives by the moving arguments, in the arguments' spaces."""
    if value.op == "fold":
        kind, through = value.folded
        (arg,) = value.args
        part = g
        if kind in ("max", "min"):
            part = values("where", values("eq", arg, value), g, values.zero)
        elif kind == "prod":
            part = values("mul", g, values.fellows(arg, through, value.space))
        yield arg, values.fold("sum", part, through, arg.space, arg.features)
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
    "reciprocal": lambda v, a, g, make: [make("neg", make("mul", g, make("sqr", v)))],
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


CONSTANT_TERM = "constant"  # the subject's binomial coefficients, in nats


@dataclass(frozen=True)
class Plan:
    """Quantities to compute.

    Attributes
    ----------
    values : Values
        All quantities, with their domains.
    total : Value
        The log-density.
    gradient : dict of int to Value
        Derivatives of the log-density, by offset into the point.
    profile : tuple of Value
        The latents' values.
    points : dict of int to Space
        Spaces of the parts of the point, by offset.
    length : int
        Length of the point.
    outcomes : Outcomes
        Form of a subject's outcomes.
    """

    values: Values
    total: Value
    gradient: Mapping[int, Value]
    profile: tuple[Value, ...]
    points: Mapping[int, Space]
    length: int
    outcomes: Outcomes


def plan(density: LogDensity, domains: Domains, outcomes: Outcomes) -> Plan:
    """Plan the computation of a log-density on a battery.

    Parameters
    ----------
    density : LogDensity
        The terms of the log-density.
    domains : Domains
        Domains of the battery.
    outcomes : Outcomes
        Form of a subject's outcomes.

    Returns
    -------
    Plan
        The log-density of the point given a subject's outcomes, with its gradient.
    """
    terms = density.terms
    values = Values(domains, terms.sizes)
    placed: list[Value | None] = []
    points: dict[int, Space] = {}
    for term in terms.listed:
        args = [placed[arg] for arg in term.args]
        if any(arg is None for arg in args):  # computed from an unused meta-feature
            made = None
        elif term.op == "feature":
            made = _feature(values, str(term.value), term.labels)
        elif term.op == "constant":
            made = _numbers(values, term.value, term.labels)
        elif term.op in ("point", "own"):
            space = Space(domains.of(term.features, ()), term.labels)
            made = values.leaf(term.op, term.value, space, term.features)
            if term.op == "point":
                points[int(term.value)] = space  # type: ignore[call-overload]
        elif term.op == "total":
            made = _total(values, args[0], term)  # type: ignore[arg-type]
        elif term.op in ("sum", "max", "min", "prod"):
            made = values.reduce(term.op, args[0], str(term.value))  # type: ignore[arg-type]
        else:
            made = values(term.op, *args)  # type: ignore[arg-type]
        placed.append(made)
    success = placed[density.probability]
    weights = None if density.weights is None else placed[density.weights]
    likelihood = _likelihood(values, success, weights, outcomes)  # type: ignore[arg-type]
    own = values.leaf("own", CONSTANT_TERM, Space())
    total = values("add", placed[density.prior], likelihood, own)  # type: ignore[arg-type]
    profile = tuple(placed[place] for place in density.profile)
    return Plan(values, total, gradient(values, total), profile, points, density.length, outcomes)  # type: ignore[arg-type]


def _feature(values: Values, name: str, labels: tuple[str, ...]) -> Value | None:
    domains = values.domains
    if name not in domains.features:
        return None
    numbers, names = domains.features[name], frozenset({name})
    domain = domains.of(names, labels)
    assert domain is not None  # noqa: S101
    if domain.dim is None:
        return values.data(numbers[domain.origin], Space(domain, labels), names)
    entries = numbers[domain.origin, np.arange(numbers.shape[1])]
    return values.data(entries, Space(domain, labels), names)


def _total(values: Values, arg: Value, term: Term) -> Value:
    """Make a sum over the levels of plates."""
    through, kept = (
        Space(values.domains.of(frozenset(plates), ()), arg.space.labels)
        for plates in term.value  # type: ignore[attr-defined]
    )
    return values.fold("sum", arg, through, kept, term.features)


def _numbers(values: Values, numbers: object, labels: tuple[str, ...]) -> Value:
    array = np.reshape(numbers, [values.sizes[label] for label in labels])  # type: ignore[call-overload]
    return values.data(array, Space(None, labels)) if labels else values.constant(float(array))


def _likelihood(values: Values, success: Value, weights: Value | None, outcomes: Outcomes) -> Value:
    """Make the log-probability of the outcomes, without coefficients."""
    rows = Space(values.domains.rows)
    everything = frozenset(values.domains.features)
    given = [values.leaf("outcome", name, rows, everything) for name in outcomes.names]
    logs = outcomes.log_probability(values, success, weights, *given)
    return values.fold("sum", logs, rows, Space())
