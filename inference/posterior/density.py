"""Densities of profile elements: the prior's by its formula, the posterior's from its draws."""

import numpy as np
import pandas as pd

from ...common.cache import check_pytensor_folder
from ...common.density import density
from ...layouts.elements import Element
from ...linking import evaluate
from ...linking.expression import Constant
from .posterior import Posterior, posterior_draws, prior_draws, span

_POINTS = 301


def prior_density(element: Element, draws: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Give the density of a profile element's prior.

    Parameters
    ----------
    element : Element
        The latent, or one of its labels.
    draws : ndarray, shape (draws,)
        Draws of its prior, used where no formula is at hand: for a prior that depends on another
        latent.
    at : ndarray, shape (points,)
        Where.

    Returns
    -------
    ndarray, shape (points,)
        Density per unit of the latent.
    """
    prior = element.prior
    if not all(isinstance(parameter, Constant) for parameter in prior.parents):
        return density(draws, at, prior.support)
    import pymc as pm
    import pytensor

    check_pytensor_folder()
    parameters = {name: evaluate(parameter, {}) for name, parameter in prior.parameters}
    try:
        logp = pm.logp(getattr(pm, prior.family).dist(**parameters), at)
    except NotImplementedError:  # a family that can be drawn from only
        return density(draws, at, prior.support)
    return np.exp(np.asarray(pytensor.function([], logp, mode="FAST_COMPILE")(), dtype=float))


def densities(posterior: Posterior, element: Element, subject: str) -> pd.DataFrame:
    """Lay the density of a subject's posterior beside the prior's.

    Parameters
    ----------
    posterior : Posterior
        Profiles.
    element : Element
        The latent, or one of its labels.
    subject : str
        Name of the subject.

    Returns
    -------
    DataFrame
        301 points: ``at``, the element's range (of an unbounded one, the prior's central 99 %,
        widened to hold the posterior); ``prior`` (see `prior_density`) and ``posterior`` (see
        `density`), per unit of the latent.
    """
    before, after = prior_draws(posterior, element), posterior_draws(posterior, element, subject)
    low, high = span(posterior, element)
    at = np.linspace(min(low, after.min()), max(high, after.max()), _POINTS)
    prior, learnt = prior_density(element, before, at), density(after, at, element.latent.range)
    return pd.DataFrame({"at": at, "prior": prior, "posterior": learnt})
