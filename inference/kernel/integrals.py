"""A latent of each subject, integrated out of a log-density over evenly spaced places."""

from ...evaluations.evaluation import EDGE
from .mathematics import LEAST
from .terms import RIGHT, Integral
from .values import Space, Value, Values


def integrated(
    values: Values, success: Value, failure: Value, log_prior: Value, integral: Integral
) -> tuple[Value, Value]:
    r"""Log-probability of all outcomes, but for the binomial coefficients.

    .. math:: \sum_s \log \sum_k \exp\Big(\log p(\theta_k) + \log h
        + \sum_{i \in s} n_i \log P(y_i \mid \theta_k)\Big)

    Parameters
    ----------
    values : Values
        Makes quantities.
    success, failure : Value
        Probabilities at each place.
    log_prior : Value
        Log prior density at each place, with the logarithm of their distance.
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
    table = values("add", summed, log_prior)
    most = values("held", values.reduce("max", table, dim))
    parts = values.reduce("sum", values("exp", values("sub", table, most)), dim)
    logs = values("add", most, values("log", parts))
    return values.fold("sum", logs, Space(subjects.domain), Space()), table
