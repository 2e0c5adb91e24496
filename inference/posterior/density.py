"""Densities of profile elements: the prior's by its formula, the posterior's from its draws."""

import numpy as np

from ...common.cache import check_pytensor_folder
from ...layouts.elements import Element
from ...linking import evaluate
from ...linking.expression import Constant
from ...linking.interval import Interval


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


def density(draws: np.ndarray, at: np.ndarray, support: Interval) -> np.ndarray:
    r"""Estimate the density of draws by a Gaussian kernel, reflected at the ends of the support.

    .. math:: \hat f(x) = \frac{1}{n h} \sum_i \sum_{r_i} \phi\left(\frac{x - r_i}{h}\right)

    where :math:`r_i` runs over draw i and its mirror images at the finite ends, so that a profile
    piled up at the top of its range is shown at its full height there.

    Parameters
    ----------
    draws : ndarray, shape (draws,)
        In the support.
    at : ndarray, shape (points,)
        Where; outside the support the density is 0.
    support : Interval
        Possible values; an end may be infinite.

    Returns
    -------
    ndarray, shape (points,)
        Density per unit of the draws. All draws equal: 0 everywhere but at that value, where it is
        infinite.

    References
    ----------
    Silverman (1986), Density Estimation for Statistics and Data Analysis: section 2.10 for the
    reflection, equation 3.31 for the width h.

    Examples
    --------
    >>> draws = np.linspace(0, 1, 2001)
    >>> density(draws, np.array([0.0, 0.5, 2.0]), Interval(0, 1)).round(2)
    array([1., 1., 0.])
    """
    quartiles = np.subtract(*np.quantile(draws, [0.75, 0.25])) / 1.349
    spread = min(draws.std(), quartiles) or draws.std()
    if spread == 0:
        return np.where(at == draws[0], np.inf, 0.0)
    width = 0.9 * spread * len(draws) ** -0.2
    images = [draws]
    images += [2 * end - draws for end in (support.low, support.high) if np.isfinite(end)]
    total = np.zeros(len(at))
    for image in images:
        near = image[(image > at.min() - 9 * width) & (image < at.max() + 9 * width)]
        total += np.exp(-0.5 * ((at[:, None] - near[None, :]) / width) ** 2).sum(axis=1)
    inside = (at >= support.low) & (at <= support.high)
    return np.where(inside, total / (len(draws) * width * np.sqrt(2 * np.pi)), 0.0)
