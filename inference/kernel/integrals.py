"""A latent of each subject, integrated out of a log-density over evenly spaced places."""

from ...evaluations.subject_data import EDGE
from .mathematics import LEAST
from .terms import RIGHT, Integral
from .values import Space, Value, Values


def integrated(
    values: Values, success: Value, failure: Value, log_prior: Value, integral: Integral
) -> tuple[Value, Value]:
    r"""Log-probability of all outcomes, but for the binomial coefficients.

    .. math:: \sum_s \log \sum_k \exp\Big(\log \frac{p(\theta_k)}{\sum_j p(\theta_j)}
        + \sum_{i \in s} n_i \log P(y_i \mid \theta_k)\Big)

    Prior densities are scaled to add up to 1: where they are wider than the distance of two places
    that changes nothing, and where they are not, no place has an unbounded density.

    Parameters
    ----------
    values : Values
        Makes quantities.
    success, failure : Value
        Probabilities at each place.
    log_prior : Value
        Log prior density at each place.
    integral : Integral
        What is integrated out.

    Returns
    -------
    total : Value
        One number.
    table : Value
        The logarithms in the sum, by who has one and place.
    """
    dim, domains = integral.dim, values.domains
    right = values.data(
        domains.features[RIGHT][domains.of(frozenset({RIGHT}), ()).origin],  # type: ignore[union-attr]
        Space(domains.of(frozenset({RIGHT}), ())),
        {RIGHT},
    )
    chance = values("where", values("ne", right, values.zero), success, failure)
    edge = values.constant(min(EDGE, LEAST))
    each = values("log", values("minimum", values("maximum", chance, edge), values.constant(1.0)))
    whose = frozenset({integral.plate})
    rows = Space(domains.rows, (dim,))
    subjects = Space(domains.of(whose, ()), (dim,))
    count = values.leaf("outcome", "count", Space(domains.rows), frozenset(domains.features))
    summed = values.fold("dot", count, rows, subjects, whose, each)
    weight = values("sub", log_prior, _log_of_sum(values, log_prior, dim))
    table = values("add", summed, weight)
    logs = _log_of_sum(values, table, dim)
    return values.fold("sum", logs, Space(subjects.domain), Space()), table


def _log_of_sum(values: Values, logs: Value, dim: str) -> Value:
    """Add up what logarithms are given of, along a dimension."""
    most = values("held", values.reduce("max", logs, dim))
    parts = values.reduce("sum", values("exp", values("sub", logs, most)), dim)
    return values("add", most, values("log", parts))
