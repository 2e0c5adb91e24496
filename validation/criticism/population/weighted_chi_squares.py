"""Tail of a weighted sum of squares of standard normal numbers."""

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr
from scipy.stats import chi2


def upper_tail(x: float, weights: np.ndarray) -> float:
    r"""Give the chance that a weighted sum of chi-squares, of one degree each, is x or more.

    .. math:: P(X \ge x) \approx \Phi(-r^*), \qquad
        r^* = r + \frac{1}{r} \log \frac{u}{r}

    with :math:`K(t) = -\frac12 \sum_j \log(1 - 2 t w_j)`, t where its slope is x,
    :math:`r = \pm \sqrt{2 (t x - K(t))}` and :math:`u = t \sqrt{K''(t)}`. Near the mean, where both
    vanish, by a chi-square with the same mean, variance and skewness.

    Parameters
    ----------
    x : float
        Of the sum, from 0.
    weights : ndarray
        Above 0.

    Returns
    -------
    float
        A chance, accurate to about 2 % of itself.

    References
    ----------
    Kuonen, D. (1999), Saddlepoint approximations for distributions of quadratic forms in normal
    variables, Biometrika 86. Pearson, E. S. (1959), Note on an approximation to the distribution of
    non-central chi-square, Biometrika 46.

    Examples
    --------
    Of equal weights it is a chi-square.

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
