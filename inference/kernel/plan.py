"""What is computed where, and in which order: a log-density's quantities on one battery."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from .complements import Complements
from .domains import Domains
from .gradient import gradient
from .outcomes import Outcomes
from .terms import LogDensity
from .values import Space, Value, Values

CONSTANT_TERM = "constant"  # the subject's binomial coefficients, in nats


@dataclass(frozen=True)
class Plan:
    """Quantities to compute.

    Attributes
    ----------
    values : Values
        All of them, with their domains.
    total : Value
        The log-density.
    gradient : dict of int to Value
        Its derivative, by offset into the point.
    profile : tuple of Value
        The latents' values.
    points : dict of int to tuple of str
        Label dimensions by offset into the point.
    length : int
        Of the point.
    outcomes : Outcomes
        The form in which a subject's outcomes are given.
    """

    values: Values
    total: Value
    gradient: Mapping[int, Value]
    profile: tuple[Value, ...]
    points: Mapping[int, tuple[str, ...]]
    length: int
    outcomes: Outcomes


def plan(density: LogDensity, domains: Domains, outcomes: Outcomes) -> Plan:
    """Lay a log-density out for a battery.

    Parameters
    ----------
    density : LogDensity
        Its terms.
    domains : Domains
        Of the battery.
    outcomes : Outcomes
        The form in which a subject's outcomes are given.

    Returns
    -------
    Plan
        The log-density of the point given a subject's outcomes, and its gradient.
    """
    terms = density.terms
    values = Values(domains, terms.sizes)
    complements = Complements(values)
    placed: list[Value | None] = []
    points: dict[int, tuple[str, ...]] = {}
    for term in terms.listed:
        args = [placed[arg] for arg in term.args]
        if any(arg is None for arg in args):  # of an unused meta-feature
            made = None
        elif term.op == "feature":
            made = _feature(values, str(term.value), term.labels)
        elif term.op == "constant":
            made = _numbers(values, term.value, term.labels)
        elif term.op in ("point", "own"):
            made = values.leaf(term.op, term.value, Space(None, term.labels))
            if term.op == "point":
                points[int(term.value)] = term.labels  # type: ignore[call-overload]
        elif term.op in ("sum", "max", "min", "prod"):
            made = complements.reduce(term.op, args[0], str(term.value))  # type: ignore[arg-type]
        else:
            made = complements.compute(term.op, *args)  # type: ignore[arg-type]
        placed.append(made)
    weights = None if density.weights is None else placed[density.weights]
    success = placed[density.probability]
    failure = complements.of(success)  # type: ignore[arg-type]
    likelihood = _likelihood(values, success, failure, weights, outcomes)  # type: ignore[arg-type]
    own = values.leaf("own", CONSTANT_TERM, Space())
    total = values("add", placed[density.prior], likelihood, own)  # type: ignore[arg-type]
    slopes = gradient(values, total)
    profile = tuple(placed[place] for place in density.profile)
    return Plan(values, total, slopes, profile, points, density.length, outcomes)  # type: ignore[arg-type]


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


def _numbers(values: Values, numbers: object, labels: tuple[str, ...]) -> Value:
    array = np.reshape(numbers, [values.sizes[label] for label in labels])  # type: ignore[call-overload]
    return values.data(array, Space(None, labels)) if labels else values.constant(float(array))


def _likelihood(
    values: Values, success: Value, failure: Value, weights: Value | None, outcomes: Outcomes
) -> Value:
    """Log-probability of the outcomes, but for the binomial coefficients."""
    rows = Space(values.domains.rows)
    everything = frozenset(values.domains.features)
    given = [values.leaf("outcome", name, rows, everything) for name in outcomes.names]
    logs = outcomes.log_probability(values, success, failure, weights, *given)
    return values.fold("sum", logs, rows, Space())
