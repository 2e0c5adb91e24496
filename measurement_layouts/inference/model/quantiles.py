"""Draws from priors with an array of parameters, by quantiles of standard normal numbers."""

import functools
import threading
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.special import ndtr

from ...common.cache import check_pytensor_folder
from ...common.errors import FitError
from ...layouts import Prior

_MANY = 100  # number of scores above which a spline is faster
_REACH, _PIECES, _MISS = 5.0, 2000, 1e-8  # ends of a spline, pieces, and largest error
_HIGHEST = 1 - 2.0**-53  # largest number below 1
_taking_turns = threading.Lock()  # threads share the storage of PyTensor's functions


def from_scores(
    name: str, prior: Prior, parameters: Mapping[str, np.ndarray], scores: np.ndarray
) -> np.ndarray:
    r"""Transform standard normal numbers into values of a prior.

    .. math:: x = F^{-1}(\Phi(z))

    where :math:`F^{-1}` is the prior's quantile function. If z is standard normal, the distribution
    of x is the prior.

    Parameters
    ----------
    name : str
        Name of the latent, for messages.
    prior : Prior
        Prior with the family.
    parameters : dict of str to ndarray
        Values of the prior's parameters, which are broadcast to the shape of the scores.
    scores : ndarray
        Standard normal numbers.

    Returns
    -------
    ndarray
        Values, of the shape of `scores`.

    Raises
    ------
    FitError
        When PyMC has no quantile function for the family.

    Examples
    --------
    >>> scores = np.array([-1.0, 0.0, 1.0])
    >>> from_scores("speed", Prior("LogNormal", mu=0, sigma=1), {"mu": 2.0, "sigma": 0.5}, scores)
    array([ 4.48168907,  7.3890561 , 12.18249396])
    """
    if prior.family == "Uniform" and set(parameters) == {"lower", "upper"}:
        low, high = parameters["lower"], parameters["upper"]
        return np.asarray(low + (high - low) * np.minimum(ndtr(scores), _HIGHEST))
    if prior.family in ("Normal", "LogNormal") and set(parameters) == {"mu", "sigma"}:
        found = parameters["mu"] + parameters["sigma"] * scores  # exact in the tails, and fast
        return np.asarray(found if prior.family == "Normal" else np.exp(found))
    if scores.size > _MANY and all(np.size(value) == 1 for value in parameters.values()):
        numbers = tuple((key, float(np.ravel(value)[0])) for key, value in parameters.items())
        curve = _curve(name, prior.family, numbers)
        if curve is not None:
            found = _along(curve, scores)
            far = np.abs(scores) > _REACH
            if far.any():
                found[far] = _exact(name, prior.family, dict(numbers), scores[far])
            return np.asarray(found)
    return _exact(name, prior.family, parameters, scores)


def _exact(
    name: str, family: str, parameters: Mapping[str, np.ndarray | float], scores: np.ndarray
) -> np.ndarray:
    """Compute quantiles with PyMC's formula."""
    function = _quantiles(name, family, tuple(parameters))
    chances = np.minimum(ndtr(scores), _HIGHEST)
    spread = [np.broadcast_to(value, scores.shape).ravel() for value in parameters.values()]
    with _taking_turns:
        found = function(chances.ravel(), *spread)
    return np.asarray(found, dtype=float).reshape(scores.shape)


@functools.lru_cache(maxsize=64)
def _curve(name: str, family: str, parameters: tuple[tuple[str, float], ...]) -> np.ndarray | None:
    """Fit a cubic spline to values, shape (4, pieces); None if it is inaccurate between them."""
    knots = np.linspace(-_REACH, _REACH, 2 * _PIECES + 1)
    values = _exact(name, family, dict(parameters), knots)
    if not np.isfinite(values).all():
        return None
    found = CubicSpline(knots[::2], values[::2])
    miss = np.abs(found(knots) - values).max()
    middle = abs(values[_PIECES * 4 // 5] - values[_PIECES * 6 // 5])
    return np.asarray(found.c) if miss <= _MISS * middle else None


def _along(curve: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Compute values of a spline with pieces of equal width."""
    at = (scores + _REACH) * (_PIECES / (2 * _REACH))
    piece = at.clip(0, _PIECES - 1).astype(np.intp)
    past = (at - piece) * (2 * _REACH / _PIECES)
    first, second, third, last = (part[piece] for part in curve)
    return np.asarray(((first * past + second) * past + third) * past + last)


@functools.lru_cache(maxsize=64)
def _quantiles(name: str, family: str, parameters: tuple[str, ...]) -> Callable[..., Any]:
    """Compile the quantile function of a family, given probabilities and parameters."""
    import pymc as pm
    import pytensor
    import pytensor.tensor as pt

    check_pytensor_folder()
    chances = pt.dvector("chances")
    given = {parameter: pt.dvector(parameter) for parameter in parameters}
    try:
        quantiles = pm.icdf(getattr(pm, family).dist(**given), chances)
    except NotImplementedError as error:
        raise FitError(
            f"{name}: its value at a level that is not in the fit cannot be drawn, because PyMC "
            f"has no quantile function for its prior {family}; use subjects and items of the fit, "
            "or fit a layout with another prior, such as Normal"
        ) from error
    found: Callable[..., Any] = pytensor.function(
        [chances, *given.values()], quantiles, mode="FAST_COMPILE"
    )
    return found
