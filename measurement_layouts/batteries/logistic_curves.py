"""Least-squares fits of falling logistics to success rates, with the area under each as ability."""

import numpy as np
from scipy.optimize import leastsq
from scipy.special import expit

from .slices import ANCHOR


def area(offset: np.ndarray, slope: np.ndarray) -> np.ndarray:
    r"""Compute the area under a falling logistic from level 0 on, which is the ability.

    .. math:: \int_0^\infty \frac{dx}{1 + e^{kx - c}} = \frac{\log(1 + e^c)}{k}

    With success near 1 at level 0 this is c/k, the level of 50 % success.

    Parameters
    ----------
    offset : ndarray
        Log-odds `c` at level 0.
    slope : ndarray
        `k`, per level; positive.

    Returns
    -------
    ndarray
        In levels, at least 0.

    References
    ----------
    General scales paper, section 5.7: ability is the area under the curve.

    Examples
    --------
    >>> area(np.array([8.0, 0.0]), np.array([2.0, 1.0])).round(3)
    array([4.   , 0.693])
    """
    return np.asarray(np.logaddexp(0.0, offset) / slope)


def offset(ability: np.ndarray, slope: np.ndarray) -> np.ndarray:
    """Compute the log-odds at level 0 from the ability; the inverse of `area`."""
    with np.errstate(divide="ignore"):
        product = np.asarray(slope * ability)
        return np.asarray(product + np.log(-np.expm1(-product)))


def success(ability: np.ndarray, slope: np.ndarray, level: np.ndarray) -> np.ndarray:
    """Compute the probability of success at demand levels.

    Parameters
    ----------
    ability : ndarray
        Ability in levels, at least 0.
    slope : ndarray
        Slope per level, positive; infinite if the curve is a step.
    level : ndarray
        Demand level, at least 0. All three arrays broadcast.

    Returns
    -------
    ndarray
        Probability, in [0, 1].

    Examples
    --------
    >>> success(np.array(3.0), np.array([2.0, np.inf]), np.array(2.0)).round(3)
    array([0.881, 1.   ])
    """
    ability, slope, level = np.broadcast_arrays(ability, slope, level)
    step = np.isinf(slope)
    steepness = np.where(step, 1.0, slope)
    smooth = expit(offset(ability, steepness) - steepness * level)
    return np.asarray(np.where(step, np.heaviside(ability - level, 0.5), smooth))


FULL = 100  # items of a bin with full weight

_SLOPES = np.geomspace(0.03, 30, 28)
_POSITIONS = np.linspace(0, ANCHOR, 41)
_LOW = np.arange(-9.0, 0.0)  # log-odds at level 0 of subjects who mostly fail
_STEEPEST = 7.0  # logarithm of the largest slope


def weights(items: np.ndarray) -> np.ndarray:
    """Compute weights of bins: 1 from 100 items on, and below in proportion to their items.

    Examples
    --------
    >>> weights(np.array([0, 50, 100, 900]))
    array([0. , 0.5, 1. , 1. ])
    """
    return np.minimum(np.asarray(items) / FULL, 1.0)


def fit_logistic(
    levels: np.ndarray, rates: np.ndarray, weight: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    r"""Fit falling logistics to success rates.

    The slope `k` and the log-odds `c` at level 0 minimise

    .. math:: \sum_l w_l (r_l - f(l))^2 + \Big(\sum_l w_l\Big) f(20)^2, \quad
       f(x) = \frac{1}{1 + e^{kx - c}},

    where the last term is the anchor: success 0 at level 20, with half of the total weight.

    Parameters
    ----------
    levels : ndarray, shape (levels,)
        Levels in ascending order, below 20.
    rates : ndarray, shape (curves..., levels)
        Success rates; not used where the weight is 0.
    weight : ndarray, shape (curves..., levels)
        Weights, at least 0.

    Returns
    -------
    ability : ndarray, shape (curves...,)
        Area under the curve. If all outcomes are successes up to some level and failures from the
        next one on, any step between the two fits, and the middle is returned (level 0 and the
        anchor count as levels). NaN with fewer than two levels.
    slope : ndarray, shape (curves...,)
        Slope per level; infinite if a step at a level, with the observed rate there, fits best.

    References
    ----------
    General scales paper, section 5.7.

    Examples
    --------
    >>> rates = np.array([[0.95, 0.9, 0.7, 0.4, 0.2], [1, 1, 0, 0, 0]])
    >>> ability, slope = fit_logistic(np.arange(1, 6), rates, np.ones((2, 5)))
    >>> ability.round(2), slope.round(2)
    (array([3.73, 2.5 ]), array([1.17,  inf]))
    """
    shape, weight = weight.shape[:-1], weight.reshape(-1, len(levels))
    rates = np.where(weight > 0, rates.reshape(weight.shape), 0.0)
    ability = step_position(levels, rates, weight)
    slope = np.where(np.isnan(ability), np.nan, np.inf)
    curved = np.flatnonzero(np.isnan(ability) & ((weight > 0).sum(axis=1) > 1))
    at, grid = np.append(levels, float(ANCHOR)), _grid()
    candidates = expit(grid[:, :1] - np.exp(grid[:, 1:]) * at)
    for row in curved:
        total = weight[row].sum()
        share = np.append(weight[row], total) / (2 * total)
        target = np.append(rates[row], 0.0)
        start = grid[(candidates**2 @ share - 2 * candidates @ (share * target)).argmin()]
        offset, log_slope, squares = _least_squares(at, target, share, start)
        slope[row] = np.exp(log_slope)
        ability[row] = area(np.asarray(offset), slope[row])
        step, least = _best_step(levels, target, share)
        if least <= squares:
            ability[row], slope[row] = step, np.inf
    return ability.reshape(shape), slope.reshape(shape)


def step_position(levels: np.ndarray, rates: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Find curves that a vertical step fits without error, and the place of the step.

    Returns
    -------
    ndarray, shape (curves,)
        The only level that is neither 0 nor 1, or the middle of the gap; NaN for other curves.
    """
    occupied = weight > 0
    mixed = occupied & (rates > 0) & (rates < 1)
    lowest = np.minimum.accumulate(np.where(occupied, rates, 1.0), axis=-1)
    falling = (~occupied | (rates <= lowest)).all(axis=-1)
    step = falling & (mixed.sum(axis=-1) < 2) & (occupied.sum(axis=-1) > 1)
    right = np.where(occupied & (rates == 1), levels, 0.0).max(axis=-1)
    wrong = np.where(occupied & (rates == 0), levels, float(ANCHOR)).min(axis=-1)
    at_mixed = (mixed * levels).sum(axis=-1)
    return np.where(step, np.where(mixed.any(axis=-1), at_mixed, (right + wrong) / 2), np.nan)


def _best_step(levels: np.ndarray, target: np.ndarray, share: np.ndarray) -> tuple[float, float]:
    """Find the best step at a level, with the observed rate there, and its sum of squares."""
    right, wrong = share * (1 - target) ** 2, share * target**2
    before, after = np.cumsum(right) - right, wrong.sum() - np.cumsum(wrong)
    squares = np.where(share > 0, before + after, np.inf)[:-1]
    return levels[squares.argmin()], squares.min()


def _grid() -> np.ndarray:
    """List 1,400 curves to start from, as offsets and logarithms of slopes."""
    slopes = np.repeat(_SLOPES, len(_POSITIONS) + len(_LOW))
    offsets = np.concatenate([np.append(slope * _POSITIONS, _LOW) for slope in _SLOPES])
    return np.stack([offsets, np.log(slopes)], axis=1)


def _least_squares(
    at: np.ndarray, target: np.ndarray, share: np.ndarray, start: np.ndarray
) -> tuple[float, float, float]:
    """Fit one curve from a start; its offset, logarithm of its slope, and sum of squares."""
    root = np.sqrt(share)

    def residuals(values: np.ndarray) -> np.ndarray:
        slope = np.exp(min(values[1], _STEEPEST))
        return np.asarray(root * (expit(values[0] - slope * at) - target))

    # the full output, so that it does not warn; the covariance of a flat minimum may overflow
    with np.errstate(over="ignore"):
        output = leastsq(residuals, start, full_output=True, xtol=1e-12, ftol=1e-14, maxfev=2000)
    solution = output[0]
    return solution[0], min(solution[1], _STEEPEST), (residuals(solution) ** 2).sum()
