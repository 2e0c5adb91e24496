"""Families of priors as formulas: coordinates on the whole line, their density, and quantiles.

The transformations are those with which PyMC samples, and the densities those of PyMC. A family
that is not listed here, or a parameter for which there is no formula, is left to PyMC.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy.special import (
    betaincinv,
    betaln,
    expit,
    gammainccinv,
    gammaincinv,
    gammaln,
    log_ndtr,
    ndtr,
    ndtri,
)
from scipy.stats import truncnorm

from ...common.errors import FitError
from ...layouts import Prior
from ...linking.arrays import Array, softplus
from ..kernel.tracing import UntraceableError

type Coordinate = tuple[Array, Array]
"""Value that a coordinate stands for, and log-density of the coordinate."""

LOCATION_SCALE = {
    **dict.fromkeys(("Normal", "StudentT", "ZeroSumNormal", "LogNormal"), ("mu", "sigma")),
    "Cauchy": ("alpha", "beta"),
    "Gumbel": ("mu", "beta"),
    "Laplace": ("mu", "b"),
    "Logistic": ("mu", "s"),
}
"""Names of location and scale, by family that has both; those of LogNormal are of the logarithm."""

_HIGHEST = 1 - 2.0**-53  # largest number below 1
_LOG_ROOT_2PI = math.log(2 * math.pi) / 2


def value_and_density(
    family: str, parameters: Mapping[str, Array], at: Array, degree: Array = 1.0
) -> Coordinate:
    r"""Compute what a coordinate on the whole line stands for, and its log-density.

    Parameters
    ----------
    family : str
        Name of the PyMC distribution.
    parameters : mapping of str to array
        Values of its parameters, as PyMC takes them.
    at : array
        The coordinate.
    degree : array, optional
        Degree w of centring of a family with a location and a scale (default: the coordinate is
        the value itself, or its logarithm); the coordinate z is
        the value itself for w = 1, and its deviation from the location in units of the scale for
        w = 0.

    Returns
    -------
    value, density : array
        The value, and the log-density of the coordinate: that of the value, and the logarithm of
        the slope of the value.

    Raises
    ------
    UntraceableError
        When there is no formula for the family.

    Examples
    --------
    >>> value, density = value_and_density("HalfNormal", {"sigma": 2.0}, np.log(3.0))
    >>> round(float(value), 12), round(float(density - np.log(3.0)), 3)
    (3.0, -2.044)
    """
    usual = _usual(family, parameters)
    if family in _HALVES:
        _, scale, shape = _read(family, usual)
        value = np.exp(at)
        density = _STANDARD[_HALVES[family]](value / scale, **shape)
        return value, density + at + math.log(2) - np.log(scale)
    if family in _STANDARD:
        return _located(family, usual, at, degree)
    if family not in _OTHERS:
        raise UntraceableError(f"the family {family}")
    return _OTHERS[family](at, **usual)


def _usual(family: str, parameters: Mapping[str, Array]) -> dict[str, Array]:
    """Return a family's usual parameters, whichever of PyMC's are given."""
    usual = dict(parameters)
    for precision in ("tau", "lam") if family != "Exponential" else ():
        if precision in usual:
            usual["sigma"] = usual.pop(precision) ** -0.5
    if family == "Exponential" and "scale" in usual:
        usual["lam"] = 1 / usual.pop("scale")
    if family in ("Gamma", "Beta") and "mu" in usual:
        mean: Any = usual["mu"]
        sd: Any = usual.get("sigma")
        if family == "Gamma":
            return {"alpha": (mean / sd) ** 2, "beta": mean / sd**2}
        total = usual["nu"] if sd is None else mean * (1 - mean) / sd**2 - 1
        return {"alpha": mean * total, "beta": (1 - mean) * total}
    return usual


def _read(family: str, parameters: Mapping[str, Array]) -> tuple[Array, Array, dict[str, Array]]:
    """Return the location and scale of a family of one standard shape, and its shape."""
    location_name, scale_name = LOCATION_SCALE.get(_HALVES.get(family, family), ("mu", "sigma"))
    shape = dict(parameters)
    return shape.pop(location_name, 0.0), shape.pop(scale_name, 1.0), shape


def _located(family: str, parameters: Mapping[str, Array], at: Array, degree: Array) -> Coordinate:
    """Compute a family of one standard shape that is moved and scaled."""
    location, scale, shape = _read(family, parameters)
    if isinstance(degree, float) and degree == 1:
        value, deviation, density = at, (at - location) / scale, -np.log(scale)
    elif isinstance(degree, float) and degree == 0:
        value, deviation, density = location + scale * at, at, 0.0
    else:
        log_scale = np.log(scale)
        moved = np.exp((1 - degree) * log_scale) * (at - degree * location)
        value, deviation, density = location + moved, moved / scale, -degree * log_scale
    density = density + _STANDARD[family](deviation, **shape)
    return np.exp(value) if family == "LogNormal" else value, density


def _student(t: Array, nu: Array) -> Array:
    constant = gammaln((nu + 1) / 2) - gammaln(nu / 2) - np.log(nu * math.pi) / 2
    return constant - (nu + 1) / 2 * np.log1p(t**2 / nu)


def _normal(t: Array) -> Array:
    return -0.5 * t**2 - _LOG_ROOT_2PI


_STANDARD: dict[str, Callable[..., Array]] = {
    **dict.fromkeys(("Normal", "LogNormal"), _normal),
    "StudentT": _student,
    "Cauchy": lambda t: -np.log1p(t**2) - math.log(math.pi),
    "Gumbel": lambda t: -t - np.exp(-t),
    "Laplace": lambda t: -np.abs(t) - math.log(2),
    "Logistic": lambda t: -t - 2 * softplus(-t),
}
_HALVES = {"HalfNormal": "Normal", "HalfStudentT": "StudentT", "HalfCauchy": "Cauchy"}


def _exponential(z: Array, lam: Array = 1.0) -> Coordinate:
    value = np.exp(z)
    return value, z + np.log(lam) - lam * value


def _gamma(z: Array, alpha: Array, beta: Array) -> Coordinate:
    value = np.exp(z)
    return value, alpha * (z + np.log(beta)) - gammaln(alpha) - beta * value


def _beta(z: Array, alpha: Array, beta: Array) -> Coordinate:
    return expit(z), -alpha * softplus(-z) - beta * softplus(z) - betaln(alpha, beta)


def _uniform(z: Array, lower: Array = 0.0, upper: Array = 1.0) -> Coordinate:
    return lower + (upper - lower) * expit(z), -softplus(-z) - softplus(z)


def _truncated_normal(
    z: Array,
    mu: Array = 0.0,
    sigma: Array = 1.0,
    lower: float = -math.inf,
    upper: float = math.inf,
) -> Coordinate:
    value, slope = _between(z, lower, upper)
    low, high = (lower - mu) / sigma, (upper - mu) / sigma
    inside = _log_between(low, high)
    return value, slope + _normal((value - mu) / sigma) - np.log(sigma) - inside


def _between(z: Array, lower: Any, upper: Any) -> Coordinate:
    """Compute a value between two ends, and the logarithm of its slope."""
    if math.isinf(lower) and math.isinf(upper):
        return z, 0.0
    if math.isinf(lower):
        return upper - np.exp(z), z
    if math.isinf(upper):
        return lower + np.exp(z), z
    value, slope = _uniform(z, lower, upper)
    return value, slope + math.log(upper - lower)


def _log_between(low: Array, high: Array) -> Array:
    """Compute the logarithm of the probability that a standard normal variable is between ends."""
    low, high = (low, high) if low + high < 0 else (-high, -low)  # in the lower tail
    return log_ndtr(high) + np.log(-np.expm1(log_ndtr(low) - log_ndtr(high)))


_OTHERS: dict[str, Callable[..., Coordinate]] = {
    "Beta": _beta,
    "Exponential": _exponential,
    "Flat": lambda z: (z, 0.0),
    "Gamma": _gamma,
    "HalfFlat": lambda z: (np.exp(z), z),
    "TruncatedNormal": _truncated_normal,
    "Uniform": _uniform,
}


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
        When the family is none of Normal, HalfNormal, TruncatedNormal, LogNormal, Beta, Gamma,
        Exponential, Uniform and ZeroSumNormal. Scores for the last are those of values that sum to
        zero; see `new_levels.Levels`.

    Examples
    --------
    >>> scores = np.array([-1.0, 0.0, 1.0])
    >>> from_scores("speed", Prior("LogNormal", mu=0, sigma=1), {"mu": 2.0, "sigma": 0.5}, scores)
    array([ 4.48168907,  7.3890561 , 12.18249396])
    """
    if prior.family not in _QUANTILES:
        raise FitError(
            f"{name}: its prior is {prior.family}, so that its value at a subject or item that is "
            "not in the fit cannot be drawn\nforecast subjects and items of the fit, or fit a "
            f"layout with a prior of {', '.join(_QUANTILES)}"
        )
    values = _QUANTILES[prior.family](scores, **_usual(prior.family, parameters))
    return np.asarray(values + np.zeros_like(scores))


def _chance(z: Array) -> Array:
    return np.minimum(ndtr(z), _HIGHEST)


def _truncated_quantile(
    z: Array,
    mu: Array = 0.0,
    sigma: Array = 1.0,
    lower: Array = -math.inf,
    upper: Array = math.inf,
) -> Array:
    low, high = (np.subtract(lower, mu) / sigma, np.subtract(upper, mu) / sigma)
    return mu + sigma * truncnorm.ppf(_chance(z), low, high)


def _gamma_quantile(z: Array, alpha: Array, beta: Array) -> Array:
    below, above = gammaincinv(alpha, ndtr(z)), gammainccinv(alpha, ndtr(-z))
    return np.where(z < 0, below, above) / beta


def _normal_quantile(z: Array, mu: Array = 0.0, sigma: Array = 1.0) -> Array:
    return mu + sigma * z


_QUANTILES: dict[str, Callable[..., Array]] = {
    "Normal": _normal_quantile,
    "HalfNormal": lambda z, sigma=1.0: -sigma * ndtri(ndtr(-z) / 2),
    "TruncatedNormal": _truncated_quantile,
    "LogNormal": lambda z, **parameters: np.exp(_normal_quantile(z, **parameters)),
    "Beta": lambda z, alpha, beta: betaincinv(alpha, beta, _chance(z)),
    "Gamma": _gamma_quantile,
    "Exponential": lambda z, lam=1.0: -log_ndtr(-z) / lam,
    "Uniform": lambda z, lower=0.0, upper=1.0: lower + (upper - lower) * _chance(z),
    "ZeroSumNormal": _normal_quantile,
}
"""Quantile functions of families at the chance of a score, by their usual parameters."""
