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
    """Compute the density of a profile element's prior.

    Parameters
    ----------
    element : Element
        The latent, or one of its labels.
    draws : ndarray, shape (draws,)
        Draws of the prior, used if its density has no formula because it depends on another latent.
    at : ndarray, shape (points,)
        Points at which the density is computed.

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
    except NotImplementedError:  # a family with draws but without a density
        return density(draws, at, prior.support)
    return np.exp(np.asarray(pytensor.function([], logp, mode="FAST_COMPILE")(), dtype=float))


def densities(posterior: Posterior, element: Element, subject: str) -> pd.DataFrame:
    """Compute the densities of a subject's posterior and of the prior at the same points.

    Parameters
    ----------
    posterior : Posterior
        The fit, with the subjects' profiles.
    element : Element
        The latent, or one of its labels.
    subject : str
        Name of the subject.

    Returns
    -------
    DataFrame
        301 points: ``at``, evenly spaced over the element's range (if it is infinite, over the
        prior's central 99 %, widened to include the posterior); ``prior`` (see `prior_density`) and
        ``posterior`` (see `density`), per unit of the latent.
    """
    before, after = prior_draws(posterior, element), posterior_draws(posterior, element, subject)
    low, high = span(posterior, element)
    at = np.linspace(min(low, after.min()), max(high, after.max()), _POINTS)
    prior, learnt = prior_density(element, before, at), density(after, at, element.latent.range)
    return pd.DataFrame({"at": at, "prior": prior, "posterior": learnt})
