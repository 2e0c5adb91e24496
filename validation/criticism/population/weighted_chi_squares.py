"""Tail probability of a weighted sum of squares of standard normal numbers."""

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr
from scipy.stats import chi2


def upper_tail(x: float, weights: np.ndarray) -> float:
    r"""Compute the upper tail probability of a weighted sum of chi-squares of one degree each.

    .. math:: P(X \ge x) \approx \Phi(-r^*), \qquad
        r^* = r + \frac{1}{r} \log \frac{u}{r}

    with :math:`K(t) = -\frac12 \sum_j \log(1 - 2 t w_j)`, t such that :math:`K'(t) = x`,
    :math:`r = \pm \sqrt{2 (t x - K(t))}` and :math:`u = t \sqrt{K''(t)}`. Near the mean, where r
    and u vanish, a chi-square with the same mean, variance and skewness is used instead.

    Parameters
    ----------
    x : float
        Value of the sum.
    weights : ndarray
        Positive weights.

    Returns
    -------
    float
        Probability of a sum of at least x, with a relative error of about 2 %.

    References
    ----------
    Kuonen, D. (1999), Saddlepoint approximations for distributions of quadratic forms in normal
    variables, Biometrika 86. Pearson, E. S. (1959), Note on an approximation to the distribution of
    non-central chi-square, Biometrika 46.

    Examples
    --------
    With equal weights, the sum is a chi-square.

    >>> round(upper_tail(30.14, np.ones(19)), 3)
    0.05
    """
    first, second, third = ((weights**power).sum() for power in (1, 2, 3))
    if abs(x - first) < 0.1 * np.sqrt(2 * second):
        df = second**3 / third**2
        return float(chi2.sf(df + (x - first) * np.sqrt(df / second), df))
    most = 1 / (2 * weights.max())

    def slope(t: float) -> float:
        return float((weights / (1 - 2 * t * weights)).sum()) - x

    if x <= 0:
        return 1.0
    t = brentq(slope, -len(weights) / x, most * (1 - 1e-12), xtol=1e-300, rtol=1e-12)
    left = 1 - 2 * t * weights
    r = np.sign(t) * np.sqrt(max(2 * t * x + np.log(left).sum(), 1e-300))
    u = t * np.sqrt(2 * ((weights / left) ** 2).sum())
    return float(ndtr(-(r + np.log(u / r) / r)))
