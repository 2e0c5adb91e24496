"""Means and equal-tailed intervals of many rows of draws."""

import numpy as np


def mean_and_interval(rows: np.ndarray, prob: float) -> np.ndarray:
    """Compute every row's mean and the ends of its equal-tailed interval.

    Parameters
    ----------
    rows : ndarray of float, shape (rows, draws)
        Put into another order on the way, which saves a copy.
    prob : float
        Mass of the interval.

    Returns
    -------
    ndarray, shape (3, rows)
        Mean, low and high; the ends are those of `numpy.quantile`, and NaN where a draw is.

    Examples
    --------
    >>> mean_and_interval(np.array([[4.0, 1.0, 2.0, 3.0, 5.0]]), prob=0.5).ravel()
    array([3., 2., 4.])
    """
    mean = rows.mean(axis=1)
    most = rows.shape[1] - 1
    places = most * np.array([(1 - prob) / 2, (1 + prob) / 2])
    below = np.floor(places).astype(int)
    above = np.minimum(below + 1, most)
    unknown = np.isnan(rows).any(axis=1) if np.isnan(mean).any() else np.zeros(len(rows), bool)
    # numbers of at least 0 are ordered like the whole numbers of the same bits, found faster
    bits = rows.view(np.int64)
    (bits if bits.min(initial=0) >= 0 else rows).partition([*below, *above], axis=1)
    low, high = rows[:, below], rows[:, above]
    share = places - below
    with np.errstate(invalid="ignore"):  # both may be infinite, and are the same then
        between = np.where(
            share < 0.5, low + (high - low) * share, high - (high - low) * (1 - share)
        )
    ends = np.where(low == high, low, between)
    return np.vstack([mean, np.where(unknown, np.nan, ends.T)])
