"""Densities of draws, as shown in figures."""

import numpy as np

from ..linking.interval import Interval


def density(draws: np.ndarray, at: np.ndarray, support: Interval) -> np.ndarray:
    r"""Estimate the density of draws by a Gaussian kernel, reflected at the ends of the support.

    .. math:: \hat f(x) = \frac{1}{n h} \sum_i \sum_{r_i} \phi\left(\frac{x - r_i}{h}\right)

    where :math:`r_i` runs over draw i and its mirror images at the finite ends, so that the density
    is not underestimated at an end of the range.

    Parameters
    ----------
    draws : ndarray, shape (draws,)
        Draws, within the support.
    at : ndarray, shape (points,)
        Points of the density, which is 0 outside the support.
    support : Interval
        Possible values; an end may be infinite.

    Returns
    -------
    ndarray, shape (points,)
        Density per unit of the draws. If all draws are equal, it is infinite at their value and 0
        elsewhere.

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
