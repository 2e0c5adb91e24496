"""Integration of a log-density over a latent per subject, at evenly spaced places."""

from ...evaluations.subject_data import EDGE
from .mathematics import LEAST
from .terms import RIGHT, Integral
from .values import Space, Value, Values


def integrated(
    values: Values, success: Value, failure: Value, log_prior: Value, integral: Integral
) -> tuple[Value, Value]:
    r"""Make the log-probability of all outcomes, without the binomial coefficients.

    .. math:: \sum_s \log \sum_k \exp\Big(\log \frac{p(\theta_k)}{\sum_j p(\theta_j)}
        + \sum_{i \in s} n_i \log P(y_i \mid \theta_k)\Big)

    Prior densities are scaled to add up to 1. This has no effect if the prior is wider than the
    distance of two places; otherwise, it prevents an unbounded density at a place.

    Parameters
    ----------
    values : Values
        Quantities of the log-density, to which new ones are added.
    success, failure : Value
        Probabilities at each place.
    log_prior : Value
        Log prior density at each place.
    integral : Integral
        Description of the integral.

    Returns
    -------
    total : Value
        The log-probability.
    table : Value
        The exponents in the sum over k, by subject s and place k.
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
    """Make the logarithm of a sum along a dimension, given the logarithms of its terms."""
    most = values("held", values.reduce("max", logs, dim))
    parts = values.reduce("sum", values("exp", values("sub", logs, most)), dim)
    return values("add", most, values("log", parts))
