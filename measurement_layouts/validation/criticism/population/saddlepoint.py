"""Tail probabilities of a sum of independent values with few possible points each."""

import numpy as np
from scipy.special import ndtr

_NEAR = 1.5  # standard deviations; closer to the mean, the normal distribution is sufficient
_STEPS, _LONGEST = 60, 1.0
_FARTHEST = 0.98  # part of the largest possible sum, to which larger sums are reduced
_AT_A_TIME = 2**20


def tails(scores: np.ndarray, values: np.ndarray, chances: np.ndarray) -> np.ndarray:
    r"""Compute two-sided p values of standardised sums.

    .. math:: P(X \ge x) \approx \Phi(-r^*), \qquad
        r^* = r + \frac{1}{r} \log \frac{u}{r}

    with :math:`r = \sqrt{2 (t x - K(t))}`, :math:`u = t \sqrt{K''(t)}`, the cumulant generating
    function K of the sum, and t such that :math:`K'(t) = x`. The result is doubled.

    Parameters
    ----------
    scores : ndarray, shape (tests,)
        Sums in standard deviations; NaN if there is none.
    values : ndarray, shape (tests, parts, points)
        Possible values of each part of the sum, whose mean is 0.
    chances : ndarray, broadcast to the same shape
        Probabilities of the values, which sum to 1.

    Returns
    -------
    ndarray, shape (tests,)
        P values.

    References
    ----------
    Lugannani, R. and Rice, S. (1980), Saddle point approximation for the distribution of the sum of
    independent random variables, Advances in Applied Probability 12. Barndorff-Nielsen, O. E.
    (1986), Inference on full or partial parameters based on the standardized signed log likelihood
    ratio, Biometrika 73.

    Examples
    --------
    Six of thirty events with a probability of 0.1 occur. The exact probability of more than six,
    plus half of that of six, is 0.0495.

    >>> rare = np.tile([-0.1, 0.9], (1, 30, 1))
    >>> (p,) = tails(np.array([3.0 / 2.7**0.5]), rare, np.array([0.9, 0.1]))
    >>> round(float(p) / 2, 3)
    0.046
    """
    found = np.asarray(2 * ndtr(-np.abs(scores)))
    chances = np.broadcast_to(chances, values.shape)
    far = np.flatnonzero(np.abs(scores) > _NEAR)
    together = max(1, _AT_A_TIME // int(np.prod(values.shape[1:])))
    for start in range(0, len(far), together):
        at = far[start : start + together]
        side = np.sign(scores[at])
        found[at] = _upper(np.abs(scores[at]), values[at] * side[:, None, None], chances[at])
    return found


def _upper(x: np.ndarray, values: np.ndarray, chances: np.ndarray) -> np.ndarray:
    """Compute twice the upper tail probabilities of sums, for positive x."""
    variance = (chances * values**2).sum(axis=(1, 2))
    values = values / np.sqrt(variance)[:, None, None]
    x = np.minimum(x, _FARTHEST * values.max(axis=2).sum(axis=1))
    t = np.zeros(len(x))
    for _ in range(_STEPS):
        _, slope, curve = _cumulants(t, values, chances)
        step = np.clip((x - slope) / np.maximum(curve, 1e-12), -_LONGEST, _LONGEST)
        t = np.maximum(t + step, 1e-6)
        if np.abs(step).max() < 1e-8:
            break
    height, _, curve = _cumulants(t, values, chances)
    r = np.sqrt(np.maximum(2 * (t * x - height), 1e-12))
    u = t * np.sqrt(curve)
    return np.asarray(np.minimum(1, 2 * ndtr(-(r + np.log(u / r) / r))))


def _cumulants(
    t: np.ndarray, values: np.ndarray, chances: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Compute the cumulant generating function of each sum, its slope and its curvature."""
    raised = t[:, None, None] * values
    most = raised.max(axis=2, keepdims=True)
    tilted = chances * np.exp(raised - most)
    total = tilted.sum(axis=2, keepdims=True)
    tilted = tilted / total
    mean = (tilted * values).sum(axis=2)
    square = (tilted * values**2).sum(axis=2)
    height = (np.log(total) + most)[..., 0].sum(axis=1)
    return height, mean.sum(axis=1), (square - mean**2).sum(axis=1)
