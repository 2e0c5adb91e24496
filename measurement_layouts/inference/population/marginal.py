"""Marginal likelihoods of a left-out subject or item: its own values are integrated over."""

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln, logsumexp

from ...common.errors import FitError
from ..sampling.particles import sample_particles
from ..sampling.stopping import stop_if_told
from .target import Target

_APART = 0.5  # distance of grid points, in units of the width
_PLACES = np.arange(-14, 15) * _APART
_CLOSE = 0.8  # largest distance of grid points, in standard deviations; a normal's error is 1e-8
_NOTHING = 1e-7  # largest density at the ends of the grid, as a part of the highest density
_ROUNDS = 20
_TOGETHER = 250  # draws computed together
_LOG_ROOT = 0.5 * np.log(2 * np.pi)
_MOST_VALUES = 24
_POINTS = 200
_STEPS = 3
_FREEDOM = 5.0
_EFFECTIVE = 20  # effective points that are required, median over draws
_SAMPLED = 2, 400  # chains and draws of the sample at which the first points are centred


@dataclass(frozen=True, eq=False)
class Marginal:
    """Logarithms of marginal likelihoods.

    Attributes
    ----------
    values : ndarray, shape (draws,)
        Log marginal likelihoods, in nats.
    effective : float
        Effective number of points of the integral, median over draws; infinite with a grid.
    """

    values: np.ndarray
    effective: float


def log_marginal(target: Target, who: str, seed: int) -> Marginal:
    """Integrate over own values, which are standard normal scores.

    A single value is integrated on a grid of 29 points. For each draw the grid is moved and scaled
    until its points are at most .8 of the density's standard deviation apart and the density at its
    ends is negligible. Several values are integrated by importance sampling with 200 points for
    each draw, from a Student distribution with 5 degrees of freedom whose mean is estimated from
    200 previous points.

    Parameters
    ----------
    target : Target
        Log-likelihood of own scores, given draws of the shared values.
    who : str
        Name of the left-out subject or item, for messages.
    seed : int
        Seed of the points.

    Raises
    ------
    FitError
        When there are more than 24 own values, or the effective number of points is too small.
    """
    count = int(target.active.sum())
    if count > _MOST_VALUES:
        raise FitError(f"{who} has {count} values of its own, {_instead(target)}")
    if count > 1:
        by_points = _by_points(target, seed)
        if not by_points.effective >= _EFFECTIVE:
            raise FitError(
                f"{who} has {count} values of its own, for which {_POINTS} points have an "
                f"effective number of {by_points.effective:.0f}, below {_EFFECTIVE}, "
                f"{_instead(target)}"
            )
        return by_points
    places = np.arange(target.count)
    if not count:
        return Marginal(target.log_likelihood(np.zeros((target.count, 0)), places), np.inf)
    found, centre, width = np.empty(target.count), 0.0, 1.0
    for start in range(0, target.count, _TOGETHER):
        block = places[start : start + _TOGETHER]
        found[block], means, spreads = _on_a_grid(target, block, centre, width)
        centre = float(means.mean())
        width = float(np.sqrt(means.var() + (spreads**2).mean()))
    return Marginal(found, np.inf)


def _instead(target: Target) -> str:
    """Describe the alternative where there are too many own values."""
    first = "which leave-one-out does not integrate over"
    if target.plate == "item":
        return f"{first}; cross_validate(..., split='items') refits without some items"
    return (
        f"{first}; fit without some subjects and score the forecasts of them: "
        "fit.forecast(items, subjects=table)"
    )


def _on_a_grid(
    target: Target, draws: np.ndarray, centre: float, width: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Integrate over one value for some draws: log integrals, means and standard deviations."""
    found, means, spreads = np.empty((3, len(draws)))
    at, wide, left = np.full(len(draws), centre), np.full(len(draws), width), np.arange(len(draws))
    for _ in range(_ROUNDS):
        stop_if_told()
        scores = at[:, None] + wide[:, None] * _PLACES
        places = np.repeat(draws[left], len(_PLACES))
        levels = target.log_likelihood(scores.reshape(-1, 1), places).reshape(scores.shape)
        levels = levels - scores**2 / 2
        most = levels.max(axis=1)
        density = np.exp(levels - most[:, None])
        total = density.sum(axis=1)
        mean = (density * scores).sum(axis=1) / total
        spread = np.sqrt((density * (scores - mean[:, None]) ** 2).sum(axis=1) / total)
        found[left] = most + np.log(total * wide * _APART) - _LOG_ROOT
        means[left], spreads[left] = mean, spread
        cut = density[:, [0, -1]].max(axis=1) > _NOTHING
        coarse = _APART * wide > _CLOSE * spread
        again = cut | coarse
        if not again.any():
            break
        narrow = np.maximum(spread, _APART * wide / 2)
        wide = np.where(cut, np.maximum(2 * spread, wide), narrow)[again]
        at, left = mean[again], left[again]
    return found, means, spreads


def _by_points(target: Target, seed: int) -> Marginal:
    """Integrate over several values by importance sampling from Student distributions.

    The first points have the mean and covariance of a sample of the own values, for all draws. The
    next points have the mean of each draw, and the average covariance of the draws.
    """
    length = int(target.active.sum())
    sample = sample_particles(target.log_likelihood, length, target.count, *_SAMPLED, seed)
    scores = sample.scores.reshape(-1, length)
    centres = np.broadcast_to(scores.mean(axis=0), (target.count, length))
    covariance = np.atleast_2d(np.cov(scores, rowvar=False))
    rng = np.random.default_rng([seed, 1])
    for _ in range(_STEPS):
        centres, covariance, found = _from_points(target, centres, covariance, rng)
    return found


def _from_points(
    target: Target, centres: np.ndarray, covariance: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, Marginal]:
    """Integrate with points around each draw's centre; also return means and mean covariance."""
    length = len(covariance)
    root = np.linalg.cholesky(covariance + 1e-9 * np.eye(length))
    half = (_FREEDOM + length) / 2
    scale = gammaln(half) - gammaln(_FREEDOM / 2) - length / 2 * np.log(_FREEDOM * np.pi)
    scale -= np.log(np.diag(root)).sum()
    means, spread = np.empty((target.count, length)), np.zeros((length, length))
    values, effective = np.empty((2, target.count))
    for start in range(0, target.count, _TOGETHER):
        stop_if_told()
        draws = np.arange(start, min(start + _TOGETHER, target.count))
        shape = len(draws), _POINTS
        offsets = rng.standard_normal((*shape, length))
        offsets *= np.sqrt(_FREEDOM / rng.chisquare(_FREEDOM, shape))[..., None]
        points = centres[draws][:, None] + offsets @ root.T
        drawn_from = scale - half * np.log1p((offsets**2).sum(axis=-1) / _FREEDOM)
        places = np.repeat(draws, _POINTS)
        levels = target.log_likelihood(points.reshape(-1, length), places).reshape(shape)
        levels = levels - (points**2).sum(axis=-1) / 2 - length * _LOG_ROOT - drawn_from
        total = logsumexp(levels, axis=1)
        weights = np.exp(levels - total[:, None])
        values[draws] = total - np.log(_POINTS)
        effective[draws] = 1 / (weights**2).sum(axis=1)
        means[draws] = (weights[..., None] * points).sum(axis=1)
        apart = (points - means[draws][:, None]) * np.sqrt(weights)[..., None]
        spread += np.einsum("dpi,dpj->ij", apart, apart)
    return means, spread / target.count, Marginal(values, float(np.median(effective)))
