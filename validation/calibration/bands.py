"""How far the distribution of ranks may stray from a uniform one, at all places together."""

import functools

import numpy as np
from scipy.stats import binom, poisson

PLACES = np.arange(1, 100) / 100
"""Where distribution functions are compared; 99 draws have their ranks' steps there."""

_BISECTIONS = 60
_LEAST = 1e-15


@functools.lru_cache(maxsize=8)
def _tails(total: int) -> np.ndarray:
    """Two-sided tail probabilities of so many below each place: (places, 0 to total)."""
    counts = np.arange(total + 1)
    below = binom.cdf(counts, total, PLACES[:, None])
    above = binom.sf(counts - 1, total, PLACES[:, None])
    found = np.asarray(np.minimum(1.0, 2 * np.minimum(below, above)))
    found.setflags(write=False)
    return found


def counted(positions: np.ndarray) -> np.ndarray:
    """Count positions in [0, 1) below each place."""
    return np.searchsorted(np.sort(positions), PLACES)


def surprise(counts: np.ndarray, total: int) -> np.ndarray:
    """Two-sided tail probability of each place's count, were positions uniform."""
    return np.asarray(_tails(total)[np.arange(len(PLACES)), counts])


def chance(level: float, total: int) -> float:
    r"""Probability that uniform positions are that surprising at any place.

    .. math:: P\left(\min_k s_k \le g\right), \quad
        s_k = 2 \min(P(X_k \le x_k), P(X_k \ge x_k)), \quad X_k \sim \mathrm{Binomial}(n, k / 100)

    Computed exactly: counts between places are Poisson given their sum, so that the counts which
    stay within all limits are a walk of independent steps.

    Parameters
    ----------
    level : float
        Tail probability g.
    total : int
        Positions n.

    Returns
    -------
    float
        With g the smallest `surprise` of some ranks, their p value.

    References
    ----------
    Säilynoja, Bürkner and Vehtari (2022), Graphical test for discrete uniformity and its
    applications in goodness-of-fit evaluation and multiple sample comparison, Statistics and
    Computing 32.

    Examples
    --------
    >>> round(chance(0.01, 1000), 3), round(chance(0.001, 1000), 3)
    (0.153, 0.021)
    """
    low, high = _within(level, total)
    if (low > high).any():
        return 1.0
    mean = total / (len(PLACES) + 1)
    step = poisson.pmf(np.arange(total + 1), mean)
    walk, start = np.ones(1), 0
    for least, most in zip(low.tolist(), high.tolist(), strict=True):
        walk = np.convolve(walk, step)[least - start : most + 1 - start]
        start = least
    stayed = walk @ step[total - start - np.arange(len(walk))] / poisson.pmf(total, total)
    return float(np.clip(1 - stayed, 0.0, 1.0))


@functools.lru_cache(maxsize=64)
def limits(alpha: float, total: int) -> tuple[np.ndarray, np.ndarray]:
    """Least and most counts below each place that no more than a chance `alpha` leaves.

    Parameters
    ----------
    alpha : float
        Chance that uniform positions leave the limits at any place.
    total : int
        How many positions.

    Returns
    -------
    (ndarray, ndarray)
        Shape (places,) each.
    """
    low, high = np.log(_LEAST), 0.0
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if chance(np.exp(middle), total) <= alpha else (low, middle)
    return _within(float(np.exp(low)), total)


def _within(level: float, total: int) -> tuple[np.ndarray, np.ndarray]:
    """Least and most counts whose tail probability is above a level; least above most if none."""
    above = _tails(total) > level
    least = np.where(above.any(axis=1), above.argmax(axis=1), total + 1)
    return least, total - above[:, ::-1].argmax(axis=1)
