"""Families of priors as formulas: the value of a coordinate on the whole line, and its density.

The transformations are those with which PyMC samples, and the densities those of PyMC. A family
that is not listed here, or a parameter for which there is no formula, is left to PyMC.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy.special import betaln, expit, gammaln, log_ndtr

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
    if family in _HALVES:
        _, scale, shape = _read(family, parameters)
        value = np.exp(at)
        density = _STANDARD[_HALVES[family]](value / scale, **shape)
        return value, density + at + math.log(2) - np.log(scale)
    if family in _STANDARD:
        return _located(family, parameters, at, degree)
    if family not in _OTHERS:
        raise UntraceableError(f"the family {family}")
    return _OTHERS[family](at, **parameters)


def _read(family: str, parameters: Mapping[str, Array]) -> tuple[Array, Array, dict[str, Array]]:
    """Return the location and scale of a family of one standard shape, and its shape."""
    location_name, scale_name = LOCATION_SCALE.get(_HALVES.get(family, family), ("mu", "sigma"))
    shape = dict(parameters)
    location = shape.pop(location_name, 0.0)
    precision = shape.pop("tau", 1.0) * shape.pop("lam", 1.0)
    return location, shape.pop(scale_name, precision**-0.5), shape


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


def _exponential(z: Array, lam: Array = 1.0, scale: Array = None) -> Coordinate:
    value, rate = np.exp(z), lam if scale is None else 1 / scale
    return value, z + np.log(rate) - rate * value


def gamma_shape_and_rate(mu: Array, sigma: Array) -> tuple[Array, Array]:
    """Return shape and rate of a Gamma distribution with a mean and a standard deviation."""
    return (mu / sigma) ** 2, mu / sigma**2


def beta_shapes(mu: Array, sigma: Array = None, nu: Array = None) -> tuple[Array, Array]:
    """Return alpha and beta of a Beta distribution with a mean, and a sd or a sum of both."""
    total = mu * (1 - mu) / sigma**2 - 1 if nu is None else nu
    return mu * total, (1 - mu) * total


def _gamma(
    z: Array, alpha: Array = None, beta: Array = None, mu: Array = None, sigma: Array = None
) -> Coordinate:
    if alpha is None:
        alpha, beta = gamma_shape_and_rate(mu, sigma)
    value = np.exp(z)
    return value, alpha * (z + np.log(beta)) - gammaln(alpha) - beta * value


def _beta(
    z: Array,
    alpha: Array = None,
    beta: Array = None,
    mu: Array = None,
    sigma: Array = None,
    nu: Array = None,
) -> Coordinate:
    if alpha is None:
        alpha, beta = beta_shapes(mu, sigma, nu)
    return expit(z), -alpha * softplus(-z) - beta * softplus(z) - betaln(alpha, beta)


def _uniform(z: Array, lower: Array = 0.0, upper: Array = 1.0) -> Coordinate:
    return lower + (upper - lower) * expit(z), -softplus(-z) - softplus(z)


def _truncated_normal(
    z: Array,
    mu: Array = 0.0,
    sigma: Array = None,
    tau: Array = 1.0,
    lower: float = -math.inf,
    upper: float = math.inf,
) -> Coordinate:
    scale = tau**-0.5 if sigma is None else sigma
    value, slope = _between(z, lower, upper)
    low, high = (lower - mu) / scale, (upper - mu) / scale
    inside = _log_between(low, high)
    return value, slope + _normal((value - mu) / scale) - np.log(scale) - inside


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
