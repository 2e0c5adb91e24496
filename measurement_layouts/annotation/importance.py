"""Importance sampling of a density of a few parameters with a Student t about its mode."""

from collections.abc import Callable

import numpy as np
from scipy import optimize, stats

_STEP = 1e-4
_FREEDOM = 7
_ROUNDS = 6
_ENOUGH = 0.4  # share of effective draws at which no further round is needed


def mode(density: Callable[[np.ndarray], np.ndarray], start: np.ndarray) -> np.ndarray:
    """Find the parameters at which a density is highest.

    Parameters
    ----------
    density : function of ndarray
        Log-densities of parameters, whose shape is (draws, parameters).
    start : ndarray
        Parameters at which the search begins.

    Returns
    -------
    ndarray
        The parameters of the highest density.
    """
    steps = _STEP * np.vstack([np.zeros(len(start)), np.eye(len(start)), -np.eye(len(start))])

    def slope(at: np.ndarray) -> tuple[float, np.ndarray]:
        here, *beside = -density(at + steps)
        ahead, behind = np.split(np.array(beside), 2)
        return float(here), (ahead - behind) / (2 * _STEP)

    return np.asarray(optimize.minimize(slope, start, jac=True, method="L-BFGS-B").x)


def draws_about(
    density: Callable[[np.ndarray], np.ndarray],
    centre: np.ndarray,
    count: int,
    random: np.random.Generator,
) -> tuple[np.ndarray, float]:
    """Draw parameters by importance sampling; each round adapts the proposal to its last draws.

    Parameters
    ----------
    density : function of ndarray
        Log-densities of parameters, whose shape is (draws, parameters).
    centre : ndarray
        Mode of the density.
    count : int
        Number of draws to return.
    random : numpy.random.Generator
        Random generator of the draws.

    Returns
    -------
    draws : ndarray, shape (draws, parameters)
        Draws with equal weights.
    effective : float
        Effective sample size of the last round, computed from its weights.

    References
    ----------
    Cornuet, Marin, Mira and Robert (2012), Scandinavian Journal of Statistics 39, 798-812; this
    is the simplest form of their method.
    """
    proposals = max(2000, 4 * count)
    covariance = _inverse_curvature(density, centre)
    for _ in range(_ROUNDS):
        proposal = stats.multivariate_t(centre, covariance, df=_FREEDOM, allow_singular=True)
        drawn = np.atleast_2d(proposal.rvs(proposals, random_state=random))
        drawn = drawn.reshape(proposals, len(centre))
        logs = density(drawn) - proposal.logpdf(drawn)
        weights = np.exp(logs - logs.max())
        weights /= weights.sum()
        effective = float(1 / (weights**2).sum())
        if effective >= _ENOUGH * proposals:
            break
        centre = weights @ drawn
        gaps = drawn - centre
        kept = min(1.0, effective / (10 * len(centre)))
        covariance = kept * (gaps.T * weights) @ gaps + (1 - kept) * covariance
    places = (random.random() + np.arange(count)) / count
    chosen = np.searchsorted(np.cumsum(weights), places).clip(max=proposals - 1)
    return random.permutation(drawn[chosen]), effective


def _inverse_curvature(density: Callable[[np.ndarray], np.ndarray], at: np.ndarray) -> np.ndarray:
    """Compute the covariance of the normal density with the same curvature at the mode."""
    size = len(at)
    step = 1e-2
    one, two = np.triu_indices(size)
    ways = np.eye(size) * step
    points = [at + a * ways[one] + b * ways[two] for a, b in ((1, 1), (1, -1), (-1, 1), (-1, -1))]
    found = density(np.concatenate(points)).reshape(4, len(one))
    curvature = np.empty((size, size))
    curvature[one, two] = curvature[two, one] = -(found[0] - found[1] - found[2] + found[3]) / (
        4 * step**2
    )
    values, vectors = np.linalg.eigh(curvature)
    return (vectors / np.maximum(values, 1e-2)) @ vectors.T
