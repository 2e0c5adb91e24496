"""Weighted least squares for many curves at once."""

import numpy as np
from scipy.special import expit

from .shape import area
from .slices import ANCHOR

FULL = 100  # items of a bin that counts fully

_SLOPES = np.geomspace(0.03, 30, 28)
_POSITIONS = np.linspace(0, ANCHOR, 41)
_LOW = np.arange(-9.0, 0.0)  # log-odds at level 0 of those who mostly fail
_BLOCK = 4096  # curves whose places on the grid are in memory together
_STEEPEST, _ROUNDS, _SETTLED = 7.0, 100, 1e-10


def weights(items: np.ndarray) -> np.ndarray:
    """Weigh bins: alike from 100 items on, in proportion to their items below.

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

    Minimises, over the slope `k` and the log-odds `c` at level 0,

    .. math:: \sum_l w_l (r_l - f(l))^2 + \Big(\sum_l w_l\Big) f(20)^2, \quad
       f(x) = \frac{1}{1 + e^{kx - c}},

    where the last term is the anchor: success 0 at level 20, with half of the total weight.

    Parameters
    ----------
    levels : ndarray, shape (levels,)
        Ascending, below 20.
    rates : ndarray, shape (curves, levels)
        Success rates; not looked at where the weight is 0.
    weight : ndarray, shape (curves, levels)
        At least 0.

    Returns
    -------
    ability : ndarray, shape (curves,)
        Area under the curve. Where all succeed up to some level and fail from the next one on, any
        step between the two fits: the middle is given (level 0 and the anchor count as levels).
        NaN with less than two levels.
    slope : ndarray, shape (curves,)
        Per level; infinite where nothing fits better than a step at a level whose rate it meets.

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
    rates = np.where(weight > 0, rates, 0.0)
    ability = step_position(levels, rates, weight)
    slope = np.where(np.isnan(ability), np.nan, np.inf)
    open_ = np.flatnonzero(np.isnan(ability) & ((weight > 0).sum(axis=1) > 1))
    anchor = weight[open_].sum(axis=1, keepdims=True)
    share = np.hstack([weight[open_], anchor]) / (2 * anchor)
    target = np.hstack([rates[open_], np.zeros((len(open_), 1))])
    at = np.append(levels, float(ANCHOR))
    offset, log_slope = _polished(at, target, share, *_start(at, target, share))
    slope[open_] = np.exp(log_slope)
    ability[open_] = area(offset, slope[open_])
    curve = expit(offset[:, None] - slope[open_][:, None] * at)
    place, least = _best_step(levels, target, share)
    steeper = least <= (share * (target - curve) ** 2).sum(axis=1)
    slope[open_[steeper]], ability[open_[steeper]] = np.inf, place[steeper]
    return ability, slope


def step_position(levels: np.ndarray, rates: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Find curves that a vertical step fits without error, and where it is.

    Returns
    -------
    ndarray, shape (curves,)
        The only level that is neither 0 nor 1, or the middle of the gap; NaN for other curves.
    """
    known = weight > 0
    between = known & (rates > 0) & (rates < 1)
    lowest = np.minimum.accumulate(np.where(known, rates, 1.0), axis=1)
    falling = (~known | (rates <= lowest)).all(axis=1)
    step = falling & (between.sum(axis=1) < 2) & (known.sum(axis=1) > 1)
    right = np.where(known & (rates == 1), levels, 0.0).max(axis=1)
    wrong = np.where(known & (rates == 0), levels, float(ANCHOR)).min(axis=1)
    here = (between * levels).sum(axis=1)
    return np.where(step, np.where(between.any(axis=1), here, (right + wrong) / 2), np.nan)


def _best_step(
    levels: np.ndarray, target: np.ndarray, share: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Find the level that fits best as a step, whose own rate it meets, and the squares left."""
    right, wrong = share * (1 - target) ** 2, share * target**2
    before = np.cumsum(right, axis=1) - right
    after = wrong.sum(axis=1, keepdims=True) - np.cumsum(wrong, axis=1)
    squares = np.where(share > 0, before + after, np.inf)[:, :-1]
    best = squares.argmin(axis=1)
    return levels[best], np.take_along_axis(squares, best[:, None], axis=1)[:, 0]


def _start(at: np.ndarray, target: np.ndarray, share: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Choose the best of many curves, the same for all."""
    offsets = [np.concatenate([slope * _POSITIONS, _LOW]) for slope in _SLOPES]
    slopes = np.repeat(_SLOPES, len(offsets[0]))
    every = np.concatenate(offsets)
    curve = expit(every[:, None] - slopes[:, None] * at)
    best = np.empty(len(target), dtype=int)
    for first in range(0, len(target), _BLOCK):
        part = slice(first, first + _BLOCK)
        weight, goal = share[part], target[part]
        best[part] = (weight @ curve.T**2 - 2 * (weight * goal) @ curve.T).argmin(axis=1)
    return every[best], np.log(slopes[best])


def _polished(
    at: np.ndarray, target: np.ndarray, share: np.ndarray, offset: np.ndarray, log_slope: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Improve all curves by damped Newton steps, each until it settles."""
    offset, log_slope = offset.copy(), log_slope.copy()
    damping = np.full(len(target), 1e-3)
    left = np.arange(len(target))
    for _ in range(_ROUNDS):
        if not len(left):
            break
        goal, weight, c, u = target[left], share[left], offset[left], log_slope[left]
        pull = np.exp(u)[:, None] * at
        curve = expit(c[:, None] - pull)
        step_c, step_u = _step(
            goal - curve, weight, curve * (1 - curve), curve, pull, damping[left]
        )
        new_c, new_u = c + step_c, np.clip(u + np.clip(step_u, -1, 1), -_STEEPEST, _STEEPEST)
        again = expit(new_c[:, None] - np.exp(new_u)[:, None] * at)
        better = (weight * (goal - again) ** 2).sum(1) <= (weight * (goal - curve) ** 2).sum(1)
        offset[left] = np.where(better, new_c, c)
        log_slope[left] = np.where(better, new_u, u)
        damping[left] = np.clip(damping[left] * np.where(better, 0.1, 10.0), 1e-12, 1e12)
        moved = np.abs(step_c) / (1 + np.abs(c)) + np.abs(step_u)
        left = left[moved > _SETTLED]
    return offset, log_slope


def _step(
    miss: np.ndarray,
    weight: np.ndarray,
    change: np.ndarray,
    curve: np.ndarray,
    pull: np.ndarray,
    damping: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Compute Newton's steps, or those of Gauss and Newton where curves bend the wrong way."""
    force = weight * change * miss
    gradient = force.sum(1), -(force * pull).sum(1)
    wide, bent = weight * change**2, force * (1 - 2 * curve)
    gauss = wide.sum(1), -(wide * pull).sum(1), (wide * pull**2).sum(1)
    newton = (
        gauss[0] - bent.sum(1),
        gauss[1] + (bent * pull).sum(1),
        gauss[2] - (bent * pull**2).sum(1) + (force * pull).sum(1),
    )
    convex = (newton[0] > 0) & (newton[0] * newton[2] > newton[1] ** 2)
    cc, cu, uu = (np.where(convex, own, other) for own, other in zip(newton, gauss, strict=True))
    cc, uu = cc * (1 + damping), uu * (1 + damping)
    determinant = np.maximum(cc * uu - cu**2, np.finfo(float).tiny)
    return (uu * gradient[0] - cu * gradient[1]) / determinant, (
        cc * gradient[1] - cu * gradient[0]
    ) / determinant
