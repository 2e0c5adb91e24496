"""The logistic curve of an ability and a slope, and the area under it."""

import numpy as np
from scipy.special import expit


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
    """Compute the chance of success at demand levels.

    Parameters
    ----------
    ability : ndarray
        At least 0, in levels.
    slope : ndarray
        Positive, per level; infinite where the curve is a step.
    level : ndarray
        At least 0. All three broadcast.

    Returns
    -------
    ndarray
        In [0, 1].

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
