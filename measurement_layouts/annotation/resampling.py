"""Intervals of measures of agreement, from resampled items, and intervals of shares."""

import math
from collections.abc import Callable

import numpy as np
from scipy import stats

from ..common import options
from ..common.errors import AnnotationError

type Statistic = Callable[[np.ndarray], float]


def resampled(
    statistic: Statistic,
    said: np.ndarray,
    prob: float,
    resamples: int,
    random: np.random.Generator,
) -> tuple[float, float, float, str]:
    """Estimate a measure, with percentiles of estimates from resampled items.

    Parameters
    ----------
    statistic : function of ndarray
        Function that computes the measure; it returns NaN where the measure is not defined.
    said : ndarray, shape (items, annotators)
        Annotations.
    prob : float
        Mass of the interval.
    resamples : int
        Number of resamples.
    random : numpy.random.Generator
        Random generator of the resamples.

    Returns
    -------
    estimate, low, high : float
        Estimate and interval; NaN where they are not defined. Resamples for which the measure
        is not defined do not count.
    reason : str
        Reason why an estimate has no interval; else empty.
    """
    estimate = statistic(said) if len(said) else np.nan
    if np.isnan(estimate):
        return np.nan, np.nan, np.nan, ""
    if len(said) == 1:
        return estimate, np.nan, np.nan, "there is only one item, which gives no interval"
    drawn = np.array(
        [statistic(said[random.integers(len(said), size=len(said))]) for _ in range(resamples)]
    )
    defined = drawn[~np.isnan(drawn)]
    if not len(defined):
        return estimate, np.nan, np.nan, "too few items differ for an interval"
    low, high = np.quantile(defined, [(1 - prob) / 2, (1 + prob) / 2])
    return estimate, float(low), float(high), ""


def check_resampling(prob: float, resamples: int = 1) -> None:
    """Refuse options of intervals that are out of range.

    Parameters
    ----------
    prob : float
        Mass of the interval.
    resamples : int, default 1
        Number of resamples.

    Raises
    ------
    AnnotationError
        When one of them is out of range.
    """
    options.inside("prob", prob, 0.95, AnnotationError)
    options.whole("resamples", resamples, 1, AnnotationError)


def share(count: int, total: int, prob: float) -> tuple[float, float, float]:
    """Compute a share, with Wilson's interval.

    Parameters
    ----------
    count, total : int
        Number of cases that count, and of all cases.
    prob : float
        Mass of the interval.

    Returns
    -------
    estimate, low, high : float
        Share and interval; NaN if there are no cases.

    References
    ----------
    Wilson (1927), JASA 22(158), 209-212.

    Examples
    --------
    All of 100 judgements are right:

    >>> [round(number, 3) for number in share(100, 100, prob=0.95)]
    [1.0, 0.963, 1.0]
    """
    if not total:
        return math.nan, math.nan, math.nan
    interval = stats.binomtest(count, total).proportion_ci(prob, method="wilson")
    return count / total, float(interval.low), float(interval.high)


def difference(
    one: tuple[float, float, float], two: tuple[float, float, float]
) -> tuple[float, float, float]:
    r"""Compute the difference between shares of independent cases, with Newcombe's interval.

    .. math:: d - \sqrt{(p_1 - l_1)^2 + (u_2 - p_2)^2} \quad \text{to} \quad
       d + \sqrt{(u_1 - p_1)^2 + (p_2 - l_2)^2}

    `l` and `u` are the ends of Wilson's interval of each share.

    Parameters
    ----------
    one, two : (float, float, float)
        Each share and its interval, as returned by `share`.

    Returns
    -------
    estimate, low, high : float
        The first share minus the second, and its interval.

    References
    ----------
    Newcombe (1998), Statistics in Medicine 17, 873-890, method 10.

    Examples
    --------
    >>> found = difference(share(56, 70, prob=0.95), share(48, 80, prob=0.95))
    >>> [round(number, 4) for number in found]
    [0.2, 0.0524, 0.3339]
    """
    (p1, low1, high1), (p2, low2, high2) = one, two
    estimate = p1 - p2
    low = estimate - math.hypot(p1 - low1, high2 - p2)
    return estimate, low, estimate + math.hypot(high1 - p1, p2 - low2)
