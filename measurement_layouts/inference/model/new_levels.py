"""Values of a latent at levels that are not in a fit, given the values that it depends on."""

from collections.abc import Callable, Collection, Mapping
from typing import Any

import numpy as np
from scipy import special, stats

from ...common.errors import FitError
from ...layouts import Latent, Prior
from ...layouts.plates import SUBJECT, plate_name
from ...linking import evaluate
from .alignment import leaves
from .cohort import Cohort, indices

_HIGHEST = 1 - 2.0**-53  # largest number below 1


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
        Exponential and Uniform.

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
    return np.asarray(_QUANTILES[prior.family](scores, **parameters) + np.zeros_like(scores))


def _scale(sigma: Any, tau: Any) -> Any:
    return sigma if tau is None else tau**-0.5


def _normal(z: Any, mu: Any = 0.0, sigma: Any = 1.0, tau: Any = None) -> Any:
    return mu + _scale(sigma, tau) * z


def _half_normal(z: Any, sigma: Any = 1.0, tau: Any = None) -> Any:
    return -_scale(sigma, tau) * special.ndtri(special.ndtr(-z) / 2)


def _truncated(
    z: Any, mu: Any = 0.0, sigma: Any = 1.0, tau: Any = None, lower: Any = None, upper: Any = None
) -> Any:
    scale = _scale(sigma, tau)
    ends = [-np.inf if lower is None else lower, np.inf if upper is None else upper]
    low, high = ((np.asarray(end, dtype=float) - mu) / scale for end in ends)
    chances = np.minimum(special.ndtr(z), _HIGHEST)
    return mu + scale * stats.truncnorm.ppf(chances, low, high)


def _beta(
    z: Any, alpha: Any = 1.0, beta: Any = 1.0, mu: Any = None, sigma: Any = None, nu: Any = None
) -> Any:
    if mu is not None:
        total = mu * (1 - mu) / sigma**2 - 1 if nu is None else nu
        alpha, beta = mu * total, (1 - mu) * total
    return special.betaincinv(alpha, beta, np.minimum(special.ndtr(z), _HIGHEST))


def _gamma(z: Any, alpha: Any = None, beta: Any = None, mu: Any = None, sigma: Any = None) -> Any:
    if mu is not None:
        alpha, beta = mu**2 / sigma**2, mu / sigma**2
    below, above = special.ndtr(z), special.ndtr(-z)
    lower, upper = special.gammaincinv(alpha, below), special.gammainccinv(alpha, above)
    return np.where(z < 0, lower, upper) / beta


def _exponential(z: Any, lam: Any = None, scale: Any = None) -> Any:
    return -special.log_ndtr(-z) * (1 / lam if scale is None else scale)


def _uniform(z: Any, lower: Any = 0.0, upper: Any = 1.0) -> Any:
    return lower + (upper - lower) * np.minimum(special.ndtr(z), _HIGHEST)


_QUANTILES: dict[str, Callable[..., Any]] = {
    "Normal": _normal,
    "HalfNormal": _half_normal,
    "TruncatedNormal": _truncated,
    "LogNormal": lambda z, **parameters: np.exp(_normal(z, **parameters)),
    "Beta": _beta,
    "Gamma": _gamma,
    "Exponential": _exponential,
    "Uniform": _uniform,
}
"""Quantile functions of PyMC's families at the chance of a score, with PyMC's parameters."""


def new_values(
    latent: Latent,
    scores: np.ndarray,
    known: Mapping[str, np.ndarray],
    cohort: Cohort,
    fitted: Mapping[str, float],
    unseen: Collection[str] = (SUBJECT,),
) -> np.ndarray:
    r"""Transform standard normal numbers into values of a latent, distributed as its prior.

    Values that sum to zero over the n fitted levels of a plate, with standard deviation s, are

    .. math:: s (z_k - \bar z) \quad\text{(fitted)}, \qquad s \sqrt{1 + 1/n}\, z \quad\text{(new)}

    Parameters
    ----------
    latent : Latent
        The latent.
    scores : ndarray, shape (draws, levels..., labels...)
        Standard normal numbers.
    known : mapping of str to ndarray
        Values of the latents and covariates that its prior depends on, shape (draws or 1,
        levels..., labels...).
    cohort : Cohort
        Levels of the plates; fitted levels come first.
    fitted : mapping of str to float
        Number of fitted levels by plate.
    unseen : collection of str
        Plates of which all levels of the cohort are new (default: subjects).

    Returns
    -------
    ndarray
        Values, of the shape of `scores`.

    Raises
    ------
    FitError
        When the prior's family has no quantile function here; see `from_scores`.
    """
    if not isinstance(latent.prior, tuple):
        return _of_prior(latent, latent.priors[0], scores, known, cohort, fitted, unseen)
    each = [
        _of_prior(latent, prior, scores[..., at], known, cohort, fitted, unseen)
        for at, prior in enumerate(latent.priors)
    ]
    return np.stack(each, axis=-1)


def _of_prior(
    latent: Latent,
    prior: Prior,
    scores: np.ndarray,
    known: Mapping[str, np.ndarray],
    cohort: Cohort,
    fitted: Mapping[str, float],
    unseen: Collection[str],
) -> np.ndarray:
    """Compute values of one prior, with the labels of the scores."""
    dims = tuple(cohort.layout.dims)
    plates = len(latent.plates)
    labels = latent.label_dims if scores.ndim > 1 + plates else ()
    parts: dict[str, Any] = {
        part.name: _laid(part, known[part.name], latent, cohort)
        for value in prior.parents
        for part in leaves(value)
    }
    parameters = {}
    for name, value in prior.shown:
        found: Any = np.asarray(evaluate(value, parts, dims))
        absent = [1 + plates + axis for axis, dim in enumerate(dims) if dim not in labels]
        parameters[name] = found.squeeze(tuple(absent)) if found.ndim else found
    if not prior.zero_sum_axes:
        return from_scores(latent.name, prior, parameters, scores)
    for axis, plate in list(enumerate(latent.plates, start=1))[plates - prior.zero_sum_axes :]:
        name = plate_name(plate)
        old, new = np.split(scores, [0 if name in unseen else int(fitted[name])], axis=axis)
        mean = old.mean(axis=axis, keepdims=True) if old.size else 0.0
        scores = np.concatenate([old - mean, new * (1 + 1 / fitted[name]) ** 0.5], axis=axis)
    return np.asarray(parameters["sigma"] * scores)


def _laid(part: Any, values: np.ndarray, latent: Latent, cohort: Cohort) -> np.ndarray:
    """Return a node's values for each level of a latent: (draws, levels..., layout's labels)."""
    at = indices(cohort, part, latent.plates)
    plates = (None,) * len(latent.plates)
    taken = values[(slice(None), *(at or plates))]
    has = [dim in part.label_dims for dim in cohort.layout.dims]
    return np.asarray(taken[(..., *(slice(None) if there else None for there in has))])
