"""Logistic curves of an ability and a slope, by least squares."""

import numpy as np
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
_BLOCK = 4096  # curves whose points on the grid are in memory together
_STEEPEST, _ROUNDS, _SETTLED = 7.0, 100, 1e-10


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
    rates : ndarray, shape (curves, levels)
        Success rates; not used where the weight is 0.
    weight : ndarray, shape (curves, levels)
        Weights, at least 0.

    Returns
    -------
    ability : ndarray, shape (curves,)
        Area under the curve. If all outcomes are successes up to some level and failures from the
        next one on, any step between the two fits, and the middle is returned (level 0 and the
        anchor count as levels). NaN with fewer than two levels.
    slope : ndarray, shape (curves,)
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
    """Find curves that a vertical step fits without error, and the place of the step.

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
    """Find the best step at a level, with the observed rate there, and its sum of squares."""
    right, wrong = share * (1 - target) ** 2, share * target**2
    before = np.cumsum(right, axis=1) - right
    after = wrong.sum(axis=1, keepdims=True) - np.cumsum(wrong, axis=1)
    squares = np.where(share > 0, before + after, np.inf)[:, :-1]
    best = squares.argmin(axis=1)
    return levels[best], np.take_along_axis(squares, best[:, None], axis=1)[:, 0]


def _start(at: np.ndarray, target: np.ndarray, share: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Choose the best of many candidate curves, the same candidates for all."""
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
