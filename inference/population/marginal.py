"""Marginal likelihoods of what is left out: its own values integrated over, draw by draw."""

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln, logsumexp

from ...common.errors import FitError
from ..sampling.particles import sample_particles
from ..sampling.stopping import stop_if_told
from .target import Target

_APART = 0.5  # distance of places, in the widths below
_PLACES = np.arange(-14, 15) * _APART
_CLOSE = 0.8  # distance of places, in standard deviations: an error of 1e-8 of a normal integral
_NOTHING = 1e-7  # of the highest density, at the ends
_ROUNDS = 20
_TOGETHER = 250  # draws
_LOG_ROOT = 0.5 * np.log(2 * np.pi)
_MOST_VALUES = 24
_POINTS = 200
_FREEDOM = 5.0
_EFFECTIVE = 20  # of the points, in the median over draws
_SAMPLED = 2, 400  # chains and draws that say where the own values are


@dataclass(frozen=True, eq=False)
class Marginal:
    """Logarithms of marginal likelihoods.

    Attributes
    ----------
    values : ndarray, shape (draws,)
        In nats.
    effective : float
        Effective points of the integral, the median over draws; infinite where places are a grid.
    """

    values: np.ndarray
    effective: float


def log_marginal(target: Target, who: str, seed: int) -> Marginal:
    """Integrate own values out, which are standard normal scores.

    One value is integrated on a grid of 29 places, which for each draw are moved and drawn together
    until they are at most .8 of the density's standard deviation apart and nothing is left beyond
    them. Several are integrated by 200 points for each draw, from a Student distribution with 5
    degrees of freedom whose mean and covariance are those of a sample of the own values.

    Parameters
    ----------
    target : Target
        Log-likelihood of own scores, beside draws of what is shared.
    who : str
        What is left out, for messages.
    seed : int
        Of the points.

    Raises
    ------
    FitError
        When there are more than 24 own values, or the points say too little.
    """
    count = int(target.active.sum())
    if count > _MOST_VALUES:
        raise FitError(f"{who} has {count} values of its own, {_instead(target)}")
    if count > 1:
        by_points = _by_points(target, seed)
        if not by_points.effective >= _EFFECTIVE:
            raise FitError(
                f"{who} has {count} values of its own, and {_POINTS} points are worth "
                f"{by_points.effective:.0f} of them, below {_EFFECTIVE}, {_instead(target)}"
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
    """Say what to do where own values are too many."""
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
    """Integrate one value for some draws; the logarithms, means and standard deviations."""
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
    """Integrate several values, by points from a Student distribution that is as wide as they."""
    length = int(target.active.sum())
    sample = sample_particles(target.log_likelihood, length, target.count, *_SAMPLED, seed)
    scores = sample.scores.reshape(-1, length)
    centre = scores.mean(axis=0)
    root = np.linalg.cholesky(np.cov(scores, rowvar=False) + 1e-9 * np.eye(length))
    volume = float(np.log(np.diag(root)).sum())
    rng = np.random.default_rng([seed, 1])
    half = (_FREEDOM + length) / 2
    scale = gammaln(half) - gammaln(_FREEDOM / 2) - length / 2 * np.log(_FREEDOM * np.pi) - volume
    values, effective = np.empty(target.count), np.empty(target.count)
    for place in range(0, target.count, _TOGETHER):
        stop_if_told()
        draws = np.arange(place, min(place + _TOGETHER, target.count))
        normal = rng.standard_normal((len(draws) * _POINTS, length))
        stretch = np.sqrt(_FREEDOM / rng.chisquare(_FREEDOM, len(normal)))[:, None]
        points = centre + (normal * stretch) @ root.T
        far = ((normal * stretch) ** 2).sum(axis=1)
        drawn_from = scale - half * np.log1p(far / _FREEDOM)
        prior = -(points**2).sum(axis=1) / 2 - length * _LOG_ROOT
        levels = target.log_likelihood(points, np.repeat(draws, _POINTS)) + prior - drawn_from
        weights = levels.reshape(len(draws), _POINTS)
        values[draws] = logsumexp(weights, axis=1) - np.log(_POINTS)
        squares = logsumexp(2 * weights, axis=1)
        effective[draws] = np.exp(2 * logsumexp(weights, axis=1) - squares)
    return Marginal(values, float(np.median(effective)))
