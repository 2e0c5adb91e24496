"""The real risk-aversion study: likelihoods, maxima, posteriors and forecasts."""

import numpy as np
import pandas as pd

from ....estimation.estimates import Estimates
from ....inference.fit import Fit
from ....inference.sampling.convergence import RHAT_LIMIT
from ....validation.prediction.result import CrossValidation
from ..layouts import RECOMMENDED

_BETTER = 0.01  # least difference at which a maximum counts as better, in nats
_NORMAL_95 = 1.959963984540054
_QUANTILES = (0.05, 0.5, 0.95)


def against_released(estimates: Estimates, released: pd.DataFrame) -> pd.DataFrame:
    """Compare our maxima with the released estimates.

    Parameters
    ----------
    estimates : Estimates
        Estimates by maximum likelihood, under the published layout.
    released : DataFrame
        Result of `data.released`.

    Returns
    -------
    DataFrame
        Indexed by subject, with the released columns and: our log-likelihood at the released
        estimate (``there``), at 0 (``at_origin``) and at its maximum (``highest``), the ``gain``
        from the released one to the maximum, whether the released optimum is ``global``, our
        ``estimate``, ``identified`` and ``reason``, and the half-widths of the 95 % intervals:
        ``released_half``, ``our_half`` (from the curvature) and ``profile_half``.
    """
    ours = estimates.table.set_index("subject")
    values = {
        subject: estimates.curves[subject](np.array([place, 0.0]))
        for subject, place in zip(map(str, released.index), released["obtained"], strict=True)
    }
    found = pd.DataFrame.from_dict(values, orient="index", columns=["there", "at_origin"])
    table = released.join(found)
    table["highest"] = estimates.modes.groupby("subject")["log_likelihood"].max()
    table["gain"] = table["highest"] - table["log_likelihood"]
    table["global"] = table["gain"] < _BETTER
    table = table.join(ours[["estimate", "identified", "reason"]])
    table["released_half"] = (table["high"] - table["low"]) / 2
    table["our_half"] = _NORMAL_95 * ours["se"]
    table["profile_half"] = (ours["high"] - ours["low"]) / 2
    return table


def sampled_against_integrated(nuts: Fit, grid: Fit) -> pd.DataFrame:
    """Compare NUTS with the exact posterior.

    Parameters
    ----------
    nuts, grid : Fit
        Fits of a layout with one latent to the same subjects.

    Returns
    -------
    DataFrame
        Indexed by subject: ``z``, the largest difference of mean, 5, 50 and 95 % quantile in
        Monte Carlo standard errors of NUTS; ``flagged``, whether its chains are reported as not
        mixing; ``apart``, whether as staying in separate modes; and ``reason``.
    """
    from arviz_stats.base import array_stats

    verdict = nuts.diagnostics()
    (name,) = (latent.name for latent in nuts.layout.latents)
    rows = []
    for subject, rhat, reason in verdict[["rhat", "reason"]].loc[nuts.subjects].itertuples():
        draws, exact = (f.posterior[name].sel(subject=subject).to_numpy() for f in (nuts, grid))
        pairs = [(draws.mean(), exact.mean(), array_stats.mcse(draws, method="mean"))]
        for prob in _QUANTILES:
            error = array_stats.mcse(draws, method="quantile", prob=prob)
            pairs.append((np.quantile(draws, prob), np.quantile(exact, prob), error))
        z = [abs(one - other) / error for one, other, error in pairs]
        rows.append((max(z), rhat > RHAT_LIMIT, "chains stay" in reason, reason))
    subjects = pd.Index(nuts.subjects, name="subject")
    return pd.DataFrame(rows, subjects, ["z", "flagged", "apart", "reason"])


def by_condition(scores: CrossValidation) -> pd.DataFrame:
    """Average held-out Brier scores over the models, per condition and method.

    Parameters
    ----------
    scores : CrossValidation
        Scores of both layouts and the aggregate.

    Returns
    -------
    DataFrame
        Indexed by condition (incited level, or ``unprompted``): one column per method, and ``se``,
        the standard error over repeats of the difference between the recommended layout and the
        aggregate.
    """
    condition = scores.scores["subject"].str.rsplit(" ", n=1).str[1]
    each = scores.scores.assign(condition=condition).pivot_table(
        "brier", ["condition", "repeat"], "method", sort=False
    )
    table = each.groupby("condition", sort=False).mean()
    difference = each[RECOMMENDED] - each["aggregate"]
    return table.assign(se=difference.groupby("condition").sem())
