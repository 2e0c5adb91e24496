"""Wilson's interval of a success rate."""

import numpy as np
from scipy.special import ndtri


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
        In [0, 1], around the rate.

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
    # beyond rounding, the rate lies inside: 0 and 1 are their own ends
    low = np.minimum((middle - half) / (1 + z2 / count), rate).clip(min=0)
    return low, np.maximum((middle + half) / (1 + z2 / count), rate).clip(max=1)
