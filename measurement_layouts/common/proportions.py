"""Success rates and their intervals: Wilson's, Newcombe's of a difference, the exact one."""

import numpy as np
from scipy.special import betaincinv, ndtri


def rates(successes: np.ndarray, trials: np.ndarray) -> np.ndarray:
    """Divide counts, or other sums, by those they belong to; NaN where these are 0.

    Examples
    --------
    >>> rates(np.array([1, 0]), np.array([2, 0]))
    array([0.5, nan])
    """
    unknown = np.full(np.shape(trials), np.nan)
    return np.asarray(np.divide(successes, trials, out=unknown, where=trials > 0))


def wilson(rate: np.ndarray, count: np.ndarray, prob: float) -> tuple[np.ndarray, np.ndarray]:
    r"""Compute Wilson's interval for independent trials.

    .. math:: \frac{1}{1 + z^2/n} \left(\hat s + \frac{z^2}{2n} \pm z \sqrt{\frac{\hat s
        (1 - \hat s)}{n} + \frac{z^2}{4 n^2}}\right)

    Parameters
    ----------
    rate : ndarray
        Success rates, in [0, 1].
    count : ndarray
        Trials, above 0.
    prob : float
        Mass of the interval.

    Returns
    -------
    low, high : ndarray
        Ends of the interval, in [0, 1].

    References
    ----------
    Wilson (1927), JASA 22(158), 209-212.

    Examples
    --------
    >>> low, high = wilson(np.array([0.5]), np.array([10]), prob=0.9)
    >>> low.round(3), high.round(3)
    (array([0.269]), array([0.731]))
    """
    z2 = ndtri((1 + prob) / 2) ** 2
    half = np.sqrt(z2 * (rate * (1 - rate) / count + z2 / (4 * count**2)))
    middle = rate + z2 / (2 * count)
    # the interval contains the rate; rounding may not exclude a rate of 0 or 1
    low = np.minimum((middle - half) / (1 + z2 / count), rate).clip(min=0)
    return low, np.maximum((middle + half) / (1 + z2 / count), rate).clip(max=1)


def newcombe(one: np.ndarray, two: np.ndarray) -> tuple[float, float, float]:
    r"""Compute the difference of two independent rates, with Newcombe's interval.

    .. math:: p_1 - p_2 - \sqrt{(p_1 - l_1)^2 + (h_2 - p_2)^2}, \quad
        p_1 - p_2 + \sqrt{(h_1 - p_1)^2 + (p_2 - l_2)^2}

    Parameters
    ----------
    one, two : ndarray, shape (3,)
        Each rate, and the ends of its Wilson interval.

    Returns
    -------
    difference, low, high : float
        The first rate minus the second, in [-1, 1], and the ends of its interval.

    References
    ----------
    Newcombe (1998), Statistics in Medicine 17, 873-890, method 10.

    Examples
    --------
    >>> difference, low, high = newcombe(np.array([0.8, 0.7, 0.9]), np.array([0.6, 0.5, 0.7]))
    >>> round(difference, 2), round(low, 2), round(high, 2)
    (0.2, 0.06, 0.34)
    """
    (rate, low, high), (other, other_low, other_high) = map(np.asarray, (one, two))
    difference = float(rate - other)
    below, above = (
        np.hypot(rate - low, other_high - other),
        np.hypot(high - rate, other - other_low),
    )
    return difference, float(difference - below), float(difference + above)


def clopper_pearson(
    successes: np.ndarray, count: np.ndarray, prob: float
) -> tuple[np.ndarray, np.ndarray]:
    r"""Compute the exact interval of Clopper and Pearson for independent trials of one rate.

    .. math:: B^{-1}\left(\tfrac{1 - \mathrm{prob}}{2};\, s, n - s + 1\right), \qquad
        B^{-1}\left(\tfrac{1 + \mathrm{prob}}{2};\, s + 1, n - s\right)

    with the quantile function :math:`B^{-1}` of the Beta distribution. Each end is wrong with a
    probability of at most (1 - prob) / 2, for any rate and any number of trials.

    Parameters
    ----------
    successes : ndarray
        Numbers of successes, from 0 to `count`.
    count : ndarray
        Numbers of trials, from 0.
    prob : float
        Mass of the interval.

    Returns
    -------
    low, high : ndarray
        Ends of the interval, in [0, 1]; 0 and 1 without a trial.

    References
    ----------
    Clopper, C. J. and Pearson, E. S. (1934), The use of confidence or fiducial limits illustrated
    in the case of the binomial, Biometrika 26.

    Examples
    --------
    >>> low, high = clopper_pearson(np.array([9, 0]), np.array([10, 0]), prob=0.9)
    >>> low.round(3), high.round(3)
    (array([0.606, 0.   ]), array([0.995, 1.   ]))
    """
    passed, failed = np.asarray(successes, dtype=float), np.asarray(count - successes, dtype=float)
    tail = (1 - prob) / 2
    low = np.where(passed > 0, betaincinv(np.maximum(passed, 1), failed + 1, tail), 0.0)
    high = np.where(failed > 0, betaincinv(passed + 1, np.maximum(failed, 1), 1 - tail), 1.0)
    return low, high
