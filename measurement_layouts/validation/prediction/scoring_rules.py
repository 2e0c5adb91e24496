"""Scores of predicted probabilities of success: Brier score, log score, AUROC, calibration."""

import numpy as np
from scipy.special import xlog1py, xlogy

from ...common.proportions import rates

BINS = 10
"""Number of bins of equal width over [0, 1], for calibration."""


def scores_in_groups(
    probability: np.ndarray,
    won: np.ndarray,
    lost: np.ndarray,
    group: np.ndarray | None = None,
    bins: int = BINS,
) -> dict[str, np.ndarray]:
    r"""Score weighted outcomes, in groups and for several sets of weights at once.

    With the weights w of successes (y = 1) and of failures (y = 0), their sum N, and the bins k of
    the prediction p, with the share :math:`n_k`, the mean prediction :math:`\bar p_k` and the rate
    of success :math:`\bar y_k`,

    .. math:: \mathrm{Brier} = \frac{1}{N} \sum w (p - y)^2, \qquad
        \mathrm{log} = -\frac{1}{N} \sum w \left(y \log p + (1 - y) \log(1 - p)\right)

    .. math:: \mathrm{ECE} = \sum_k n_k |\bar p_k - \bar y_k|, \qquad
        \mathrm{calibration} = \sum_k n_k (\bar p_k - \bar y_k)^2, \qquad
        \mathrm{refinement} = \sum_k n_k \bar y_k (1 - \bar y_k)

    The remainder is the rest of the Brier score: the variance of predictions within bins minus
    twice their covariance with the outcomes, which Murphy's decomposition leaves out. AUROC is the
    probability that a success has a higher prediction than a failure, with ties as one half. Bin k
    is [k/bins, (k+1)/bins), and the last one includes 1.

    Parameters
    ----------
    probability : ndarray, shape (cells,)
        Predictions in [0, 1].
    won, lost : ndarray, shape (cells,) or (cells, resamples)
        Weights of successes and failures of each cell, such as their numbers.
    group : ndarray of int, shape (cells,), optional
        Number of the group of each cell, from 0 without gaps (default: one group).
    bins : int
        Number of bins.

    Returns
    -------
    dict of str to ndarray, shape (groups,) or (groups, resamples)
        ``trials`` (the sum of weights), ``success`` (rate), ``brier``, ``calibration``,
        ``refinement``, ``remainder``, ``log_score``, ``auroc`` and ``ece``. NaN without weight;
        AUROC also where all outcomes are of one class. The log score is infinite if an outcome was
        excluded by a prediction of 0 or 1.

    References
    ----------
    Brier (1950), Monthly Weather Review 78(1). Good (1952), JRSS B 14(1). Hanley and McNeil (1982),
    Radiology 143(1). Murphy (1973), Journal of Applied Meteorology 12(4). Stephenson, Coelho and
    Jolliffe (2008), Weather and Forecasting 23(4), for the remainder. Naeini, Cooper and Hauskrecht
    (2015), AAAI 29.

    Examples
    --------
    >>> found = scores_in_groups(np.array([0.5, 1.0]), np.array([1, 3]), np.array([1, 1]))
    >>> found["brier"], found["auroc"].round(3)
    (array([0.25]), array([0.625]))
    """
    group = np.zeros(len(probability), dtype=int) if group is None else group
    order = np.lexsort((probability, group))  # groups, bins and equal predictions are contiguous
    p, group = probability[order], group[order]
    won, lost = (np.asarray(weight, dtype=float)[order] for weight in (won, lost))
    column = p.reshape(-1, *[1] * (won.ndim - 1))
    in_bin = np.searchsorted(np.arange(1, bins) / bins, p, side="right")
    of_groups, of_bins, of_levels = (_starts(group, *keys) for keys in ([], [in_bin], [p]))

    def sums(values: np.ndarray) -> np.ndarray:
        return np.add.reduceat(values, of_groups, axis=0)

    def over_bins(values: np.ndarray) -> np.ndarray:
        return np.add.reduceat(values, _starts(group[of_bins]), axis=0)

    total, successes = sums(won + lost), sums(won)
    brier = rates(sums(won * (1 - column) ** 2 + lost * column**2), total)
    log_score = rates(0 - sums(xlogy(won, column) + xlog1py(lost, -column)), total)
    hits, misses, predicted = (
        np.add.reduceat(values, of_bins, axis=0) for values in (won, lost, (won + lost) * column)
    )
    weight, gap = hits + misses, predicted - hits
    with np.errstate(invalid="ignore", divide="ignore"):
        squares, variances = (
            np.where(weight > 0, product / weight, 0) for product in (gap**2, hits * misses)
        )
    calibration, refinement = (rates(over_bins(part), total) for part in (squares, variances))
    above, below = (np.add.reduceat(values, of_levels, axis=0) for values in (won, lost))
    first = _starts(group[of_levels])
    before = below.cumsum(axis=0) - below
    before -= np.repeat(before[first], np.diff(first, append=len(before)), axis=0)
    ordered = np.add.reduceat(above * (before + below / 2), first, axis=0)
    return {
        "trials": total,
        "success": rates(successes, total),
        "brier": brier,
        "calibration": calibration,
        "refinement": refinement,
        "remainder": brier - calibration - refinement,
        "log_score": log_score,
        "auroc": rates(ordered, successes * (total - successes)),
        "ece": rates(over_bins(np.abs(gap)), total),
    }


def _starts(*keys: np.ndarray) -> np.ndarray:
    """Return the first row of each run of equal keys."""
    changes = np.ones(len(keys[0]), dtype=bool)
    changes[1:] = np.any([key[1:] != key[:-1] for key in keys], axis=0)
    return np.flatnonzero(changes)
