"""Draws from priors whose parameters are many: from standard normal numbers, by quantiles."""

import functools
import threading
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy.special import ndtr

from ...common.cache import check_pytensor_folder
from ...common.errors import FitError
from ...layouts import Prior

_HIGHEST = 1 - 2.0**-53  # a chance below 1
_taking_turns = threading.Lock()  # PyTensor's functions share their storage


def from_scores(
    name: str, prior: Prior, parameters: Mapping[str, np.ndarray], scores: np.ndarray
) -> np.ndarray:
    r"""Turn standard normal numbers into values of a prior.

    .. math:: x = F^{-1}(\Phi(z))

    with the prior's quantile function, so that x is distributed as the prior says where z is
    standard normal.

    Parameters
    ----------
    name : str
        Of the latent.
    prior : Prior
        Its family.
    parameters : dict of str to ndarray
        Values of the prior's parameters, which broadcast to the shape of the scores.
    scores : ndarray
        Standard normal numbers.

    Returns
    -------
    ndarray
        Of the scores' shape.

    Raises
    ------
    FitError
        When PyMC has no quantiles of the family.

    Examples
    --------
    >>> scores = np.array([-1.0, 0.0, 1.0])
    >>> from_scores("speed", Prior("LogNormal", mu=0, sigma=1), {"mu": 2.0, "sigma": 0.5}, scores)
    array([ 4.48168907,  7.3890561 , 12.18249396])
    """
    if prior.family in ("Normal", "LogNormal") and set(parameters) == {"mu", "sigma"}:
        found = parameters["mu"] + parameters["sigma"] * scores  # exact in the tails, and quick
        return np.asarray(found if prior.family == "Normal" else np.exp(found))
    function = _quantiles(name, prior.family, tuple(parameters))
    chances = np.minimum(ndtr(scores), _HIGHEST)
    spread = [np.broadcast_to(value, scores.shape).ravel() for value in parameters.values()]
    with _taking_turns:
        found = function(chances.ravel(), *spread)
    return np.asarray(found, dtype=float).reshape(scores.shape)


@functools.lru_cache(maxsize=64)
def _quantiles(name: str, family: str, parameters: tuple[str, ...]) -> Callable[..., Any]:
    """Compile the quantile function of a family, from chances and parameters."""
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
            f"{name}: a value at a new level of it is asked for, and PyMC has no quantiles of its "
            f"prior {family}, from which it would be drawn; ask for subjects and items that the "
            "fit knows, or fit a layout with another prior, such as Normal"
        ) from error
    found: Callable[..., Any] = pytensor.function(
        [chances, *given.values()], quantiles, mode="FAST_COMPILE"
    )
    return found
