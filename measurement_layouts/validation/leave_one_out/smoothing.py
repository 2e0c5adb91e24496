"""Pareto-smoothed importance sampling of a left-out point."""

import numpy as np
from scipy.special import logsumexp


def standard_error(values: np.ndarray) -> float:
    """Return the standard error of the sum of independent values; NaN for a single one."""
    if len(values) < 2:
        return np.nan
    return float(np.sqrt(len(values) * values.var(ddof=1)))


def relative_efficiency(draws: np.ndarray) -> float:
    """Compute effective draws per draw, (chains, draws, quantities), averaged over quantities."""
    from arviz_stats.base import array_stats  # slow to import

    if len(draws) == 1:
        return 1.0
    sizes = array_stats.ess(draws, chain_axis=0, draw_axis=1, method="mean")
    return float(np.mean(sizes) / (draws.shape[0] * draws.shape[1]))


def left_out(values: np.ndarray, r_eff: float) -> tuple[float, float, float]:
    """Compute elpd, k and p_loo of a point from its log-likelihoods, (chains, draws)."""
    from arviz_stats.base import array_stats  # slow to import

    try:
        with np.errstate(all="ignore"):  # for tails with almost equal values
            elpd, k, p_loo = array_stats.loo(values, r_eff=r_eff)
    except ValueError:  # the largest weights are equal, so that smoothing is not needed
        size = np.log(values.size)
        elpd, k = size - logsumexp(-values), 0.0
        p_loo = logsumexp(values) - size - elpd
    return float(elpd), float(k), float(p_loo)
