"""Draws of a density of a few parameters: its mode, and weighted draws of a Student t about it."""

from collections.abc import Callable

import numpy as np
from scipy import optimize, stats

_STEP = 1e-4
_FREEDOM = 7
_ROUNDS = 6
_ENOUGH = 0.4  # of the draws, as effective ones


def mode(density: Callable[[np.ndarray], np.ndarray], start: np.ndarray) -> np.ndarray:
    """Find the parameters of the highest density, from a start.

    Parameters
    ----------
    density : function of ndarray
        Log-densities of draws, draw x parameter.
    start : ndarray
        Where to begin.

    Returns
    -------
    ndarray
        The parameters.
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
    """Draw parameters by importance, the proposal being adapted to what was drawn before.

    Parameters
    ----------
    density : function of ndarray
        Log-densities of draws, draw x parameter.
    centre : ndarray
        The mode.
    count : int
        How many draws to return.
    random : numpy.random.Generator
        Draws them.

    Returns
    -------
    draws : ndarray
        Draw x parameter, alike in weight.
    effective : float
        Effective draws that they rest on: of the last round, from the weights.

    References
    ----------
    Cornuet, Marin, Mira and Robert (2012), Scandinavian Journal of Statistics 39, 798-812, in its
    simplest form.
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
    """Covariance of the normal that is curved like the density at its mode."""
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
