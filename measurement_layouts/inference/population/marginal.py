"""Marginal likelihoods of a left-out subject or item: its own values are integrated over."""

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp
from scipy.stats import multivariate_t

from ...common.errors import FitError
from ...layouts.plates import ITEM, SUBJECT
from ..sampling.particles import sample_particles
from ..sampling.stopping import stop_if_told
from .target import Target

_GRID = np.arange(-14, 15)
_STEP = 0.5  # distance of grid points, in standard deviations that are expected
_CLOSE = 0.8  # largest distance of grid points, in standard deviations; a normal's error is 1e-8
_NOTHING = 1e-7  # largest density at the ends of the grid, as a part of the highest density
_ROUNDS = 20
_FIRST = 20  # draws with which the first grid is found
_LOG_ROOT = 0.5 * np.log(2 * np.pi)
_MOST_VALUES = 24
_POINTS = 200
_TIMES = 3  # number of times that points are drawn
_FREEDOM = 5
_EFFECTIVE = 20  # effective points that are required, median over draws
_SAMPLED = 2, 400  # chains and draws of the sample at which the first points are centred

_INSTEAD = {
    ITEM: "cross_validate(..., split='items') refits without some items",
    SUBJECT: (
        "fit without some subjects and score the forecasts of them: "
        "fit.forecast(items, subjects=table)"
    ),
}


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
    if count > 1:
        too_many = count > _MOST_VALUES
        marginal = Marginal(np.zeros(0), 0.0) if too_many else _by_points(target, seed)
        if not marginal.effective >= _EFFECTIVE:
            raise FitError(
                f"{who} has {count} values of its own, which leave-one-out does not integrate over "
                f"(at most {_MOST_VALUES}, with at least {_EFFECTIVE} effective points of "
                f"{_POINTS}); {_INSTEAD[target.plate]}"
            )
        return marginal
    draws = np.arange(target.count)
    if not count:
        return Marginal(target.log_likelihood(np.zeros((target.count, 0)), draws), np.inf)
    few = draws[:: -(-target.count // _FIRST)]
    _, means, sds = _on_a_grid(target, few, 0.0, 1.0)
    width = float(np.sqrt(means.var() + (sds**2).mean()))
    values, *_ = _on_a_grid(target, draws, float(means.mean()), width)
    return Marginal(values, np.inf)


def _on_a_grid(
    target: Target, draws: np.ndarray, centre: float, width: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Integrate over one value for some draws: log integrals, means and standard deviations."""
    integrals, means, sds = np.empty((3, len(draws)))
    centres, steps = np.full(len(draws), centre), np.full(len(draws), width * _STEP)
    todo = np.arange(len(draws))
    for _ in range(_ROUNDS):
        stop_if_told()
        step = steps[todo]
        scores = centres[todo, None] + step[:, None] * _GRID
        picks = np.repeat(draws[todo], len(_GRID))
        log_density = target.log_likelihood(scores.reshape(-1, 1), picks).reshape(scores.shape)
        log_density = log_density - scores**2 / 2
        total = logsumexp(log_density, axis=1, keepdims=True)
        mass = np.exp(log_density - total)
        mean = (mass * scores).sum(axis=1)
        sd = np.sqrt((mass * (scores - mean[:, None]) ** 2).sum(axis=1))
        integrals[todo] = total[:, 0] + np.log(step) - _LOG_ROOT
        means[todo], sds[todo] = mean, sd
        cut = mass[:, [0, -1]].max(axis=1) > _NOTHING * mass.max(axis=1)
        wider = np.maximum(2 * sd * _STEP, step)
        narrower = np.maximum(sd * _STEP, step / 2)
        centres[todo], steps[todo] = mean, np.where(cut, wider, narrower)
        todo = todo[cut | (step > _CLOSE * sd)]
        if not len(todo):
            break
    return integrals, means, sds


def _by_points(target: Target, seed: int) -> Marginal:
    """Integrate over several values by importance sampling from Student distributions.

    The first points have the mean and covariance of a sample of the values, for all draws. The next
    points have the mean of each draw, and the average covariance of the draws.
    """
    length = int(target.active.sum())
    sample = sample_particles(target.log_likelihood, length, target.count, *_SAMPLED, seed)
    scores = sample.scores.reshape(-1, length)
    centres = np.tile(scores.mean(axis=0), (target.count, 1))
    covariance = np.atleast_2d(np.cov(scores, rowvar=False))
    rng, shape = np.random.default_rng([seed, 1]), (target.count, _POINTS)
    picks = np.repeat(np.arange(target.count), _POINTS)
    for _ in range(_TIMES):
        stop_if_told()
        student = multivariate_t(np.zeros(length), covariance + 1e-9 * np.eye(length), _FREEDOM)
        offsets = student.rvs(shape, rng)
        points = centres[:, None] + offsets
        levels = target.log_likelihood(points.reshape(-1, length), picks).reshape(shape)
        levels -= (points**2).sum(axis=-1) / 2 + length * _LOG_ROOT + student.logpdf(offsets)
        total = logsumexp(levels, axis=1, keepdims=True)
        weights = np.exp(levels - total)
        centres = np.einsum("dp,dpi->di", weights, points)
        deviations = points - centres[:, None]
        covariances = np.einsum("dp,dpi,dpj->ij", weights, deviations, deviations)
        covariance = covariances / target.count
    effective = float(np.median(1 / (weights**2).sum(axis=1)))
    return Marginal(total[:, 0] - np.log(_POINTS), effective)
