"""Pairs of coordinates in which a posterior has the shape of an L, and coordinates along the L."""

import math
from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import minimize

_GAIN = 0.25  # least gain, in nats
_NARROW, _TIMES = 0.3, 15  # first width in standard deviations; most by which it is changed


@dataclass(frozen=True, eq=False)
class BentPairs:
    r"""Change of pairs of coordinates, from (d, m) to the (x, X) of a log-density.

    .. math:: x = c + w (m + r + d) / 2, \quad X = C + W (m + r - d) / 2, \quad r = \sqrt{d^2 + 4}

    Where m is 0, x and X are on a hyperbola about (c, C), with two arms; d leads from one arm to
    the other. The Jacobian is constant.

    Attributes
    ----------
    at : ndarray of int, shape (pairs, 2)
        Coordinates x and X in a point. No coordinate is in two pairs.
    numbers : ndarray, shape (pairs, 4)
        The numbers c, w, C and W.
    """

    at: np.ndarray = field(default_factory=lambda: np.zeros((0, 2), dtype=np.int64))
    numbers: np.ndarray = field(default_factory=lambda: np.zeros((0, 4)))

    def straight(self, points: np.ndarray) -> np.ndarray:
        """Return points whose pairs are (d, m) instead of (x, X); shape (..., length)."""
        found = np.array(points, dtype=float)
        for (first, second), numbers in zip(self.at, self.numbers, strict=True):
            pair = _straight(points[..., first], points[..., second], numbers)
            found[..., first], found[..., second] = pair
        return found


def find_bend(first: np.ndarray, second: np.ndarray) -> tuple[float, np.ndarray]:
    """Find the numbers with which two values are closest to normal, and by how much closer.

    Parameters
    ----------
    first, second : ndarray, shape (draws,)
        Draws of two values.

    Returns
    -------
    float
        Gain in nats: of the mean log-density of the best normal distribution; 0 if it is small.
    ndarray, shape (4,)
        The numbers c, w, C and W of `BentPairs`.
    """
    widths = first.std(), second.std()
    if not min(widths) > 0:
        return 0.0, np.zeros(4)
    thin = np.log(_NARROW * np.array(widths))

    def loss(place: np.ndarray) -> float:
        numbers, logs = place.copy(), place[1::2]
        if np.abs(logs - thin).max() > np.log(_TIMES):
            return np.inf
        numbers[1::2] = np.exp(logs)
        return _log_area(*_straight(first, second, numbers)) + float(logs.sum() - np.log(2))

    starts = [
        np.array([one, thin[0], other, thin[1]])
        for one in np.quantile(first, [0.2, 0.5])
        for other in np.quantile(second, [0.2, 0.5])
    ]
    whole = _log_area(first, second)
    start = min(starts, key=loss)
    if whole - loss(start) < -_GAIN:
        return 0.0, np.zeros(4)
    found = minimize(loss, start, method="Nelder-Mead", options={"maxiter": 400})
    gain = float(whole - found.fun)
    numbers = np.array(found.x)
    numbers[1::2] = np.exp(numbers[1::2])
    return (gain, numbers) if gain >= _GAIN else (0.0, numbers)


def _straight(
    first: np.ndarray, second: np.ndarray, numbers: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    c, w, other_c, other_w = numbers
    one, other = (first - c) / w, (second - other_c) / other_w
    apart = one - other
    return apart, one + other - np.sqrt(apart**2 + 4)


def _log_area(first: np.ndarray, second: np.ndarray) -> float:
    """Compute the logarithm of the area of a standard ellipse of two values."""
    one, other = first - first.mean(), second - second.mean()
    square = (one**2).mean() * (other**2).mean() - (one * other).mean() ** 2
    return 0.5 * math.log(max(float(square), 1e-300))
