"""Intervals of shares and of their differences."""

import math

from scipy import stats

from ..common import options
from ..common.errors import AnnotationError


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
