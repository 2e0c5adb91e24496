"""Probability that one posterior's number is larger than another's, over all pairs of draws."""

from typing import NamedTuple

import numpy as np


class Superiority(NamedTuple):
    """Probabilities of being larger, and their Monte Carlo standard errors; shape (others,)."""

    probability: np.ndarray
    error: np.ndarray


def superiority(
    one: np.ndarray, others: np.ndarray, ess: float, other_ess: np.ndarray
) -> Superiority:
    r"""Compute how probably one number is larger than others that are independent of it.

    .. math:: \hat p = \frac{1}{n m} \sum_{i,j} h(x_i - y_j), \qquad
        \mathrm{se}^2 = \frac{\mathrm{var}_i \hat F_y(x_i)}{\mathrm{ess}_x}
        + \frac{\mathrm{var}_j \hat F_x(y_j)}{\mathrm{ess}_y}

    with h = 1 where x is larger, a half for a tie, 0 elsewhere: the Mann-Whitney statistic of all
    pairs. An error is no smaller than one over the smaller effective sample size, since draws that
    never cross do not say that the probability is 0.

    Parameters
    ----------
    one : ndarray, shape (draws,)
        In ascending order.
    others : ndarray, shape (others, draws)
        Each in ascending order.
    ess : float
        Effective sample size of the one.
    other_ess : ndarray, shape (others,)
        Of the others.

    Returns
    -------
    Superiority
        In [0, 1].

    References
    ----------
    Mann, H. B. and Whitney, D. R. (1947), Annals of Mathematical Statistics 18; DeLong, E. R.,
    DeLong, D. M. and Clarke-Pearson, D. L. (1988), Biometrics 44, equations 4 and 5, for the
    variance.

    Examples
    --------
    >>> ahead = superiority(np.array([1.0, 3.0]), np.array([[0.0, 3.0]]), 2.0, np.array([2.0]))
    >>> ahead.probability
    array([0.625])
    """
    draws, length = len(one), others.shape[1]
    below = _below(one, others)
    share = below / draws
    probability = 1 - share.mean(axis=1)
    # the j-th other draw is the larger of the two in 2 j - 1 pairs of them
    squares = (draws - below) @ (2 * np.arange(length) + 1) / (draws * length**2)
    own = np.maximum(squares - probability**2, 0)
    error = np.sqrt(own / ess + share.var(axis=1) / other_ess)
    return Superiority(probability, np.maximum(error, 1 / np.minimum(ess, other_ess)))


def _below(one: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Count the one's draws below each of the others; of equal ones, half."""
    low = np.searchsorted(one, others.ravel()).reshape(others.shape)
    if not (one[np.minimum(low, len(one) - 1)] == others).any():
        return low.astype(float)
    return (low + np.searchsorted(one, others.ravel(), side="right").reshape(others.shape)) / 2
