"""Sequential Monte Carlo for a new subject's values, given draws of the shared latents."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from .convergence import ESS_PER_CHAIN, RHAT_LIMIT, rhat_ess
from .stopping import stop_if_told

type LogLikelihood = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""Function that returns log-likelihoods (particles,), given own scores (particles, length) and
positions among the draws of the shared latents (particles,)."""

_KEPT = 4  # number of kept states of each particle
_STAY = 0.5  # part of the particles that are effective after a step of the power
_ACCEPTED = 0.3  # acceptance rate at which the step size aims
_FREEDOM = 5  # degrees of freedom of the distribution that the steps leave invariant
_MOVES = 3  # number of moves of each particle at a power
_BINS = 24  # number of the histogram's bins, which have equal mass
_AFRESH = 0.1  # part of the leaps that are draws from the prior
_FEWEST, _MOST = 2, 128  # number of moves between two kept states
_ENOUGH = 1.5  # needed effective sample size, as a multiple of that required of chains


def effective(log_weights: np.ndarray) -> float:
    r"""Return the effective number of weighted particles, :math:`(\sum w)^2 / \sum w^2`."""
    weights = np.exp(log_weights - log_weights.max())
    return float(weights.sum() ** 2 / (weights**2).sum())


def resampled(weights: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Resample by weight within each group, systematically; return positions in order.

    The weights have the shape (groups, particles).
    """
    size = weights.shape[1]
    ends = np.cumsum(weights, axis=1) / weights.sum(axis=1, keepdims=True)
    at = (np.arange(size) + rng.random((len(weights), 1))) / size
    chosen = [
        group * size + np.searchsorted(end, where).clip(max=size - 1)
        for group, (end, where) in enumerate(zip(ends, at, strict=True))
    ]
    return np.concatenate(chosen)


@dataclass(frozen=True, eq=False)
class Sample:
    """Draws of one subject's values and of the shared latents.

    Attributes
    ----------
    scores : ndarray, shape (chains, draws, length)
        The subject's values as standard normal scores.
    shared : ndarray of int, shape (chains, draws)
        Positions among the draws of the shared latents.
    log_likelihood : ndarray, shape (chains, draws)
        Log-likelihood in nats.
    """

    scores: np.ndarray
    shared: np.ndarray
    log_likelihood: np.ndarray

    @property
    def effective(self) -> float:
        r"""Effective number of draws of the shared latents, :math:`1 / \sum_j w_j^2`.

        Two independent draws both have position j with probability :math:`w_j^2`, so that the part
        of equal pairs among draws of different chains is an unbiased estimate of the sum.
        """
        counts = np.zeros((len(self.shared), int(self.shared.max()) + 1))
        for chain, places in zip(counts, self.shared, strict=True):
            chain += np.bincount(places, minlength=len(chain))
        pairs = counts.sum(axis=0) ** 2 - (counts**2).sum(axis=0)
        every = counts.sum() ** 2 - (counts.sum(axis=1) ** 2).sum()
        return float(every / max(pairs.sum(), 1))


def sample_particles(
    log_likelihood: LogLikelihood,
    length: int,
    shared: int,
    chains: int,
    draws: int,
    seed: int,
) -> Sample:
    r"""Draw a subject's values together with one of the draws of the shared latents.

    The target density, with standard normal scores z of the own values and the position j of one of
    J draws, is

    .. math:: p(z, j) \propto \frac{1}{J}\, \mathcal{N}(z; 0, I)\, p(y \mid z, j).

    Particles start as draws from the prior. The likelihood is raised to a power that grows from 0
    to 1 in steps, each of which leaves half of the particles effective. After a step, particles are
    resampled by their weights and moved by Metropolis steps: of the position, to any other one, and
    of the own values, by two proposals in turn. The first one is, with the particles' mean m and
    covariance :math:`L L^\top`,

    .. math:: z' = m + \sqrt{1 - g^2}\, (z - m) + g \sqrt{s}\, L \varepsilon, \quad
        s \sim (\nu + |L^{-1} (z - m)|^2) / \chi^2_{\nu + k},

    which leaves a Student distribution of k values with :math:`\nu = 5` invariant; g is adapted so
    that three of ten steps are accepted. The second one draws one of the own values from the
    histogram of all particles, or, with probability 0.1, from its prior, so that particles can
    change between separate modes. At the power 1, four states of each particle are kept, with 2
    moves between them. The particles are moved on, with twice as many moves up to 128, until R-hat
    is at most 1.01 and the effective sample size is at least 150 per chain.

    Parameters
    ----------
    log_likelihood : callable
        Log-likelihood of the subject's outcomes; see `LogLikelihood`.
    length : int
        Number of own values.
    shared : int
        Number of draws of the shared latents.
    chains : int
        Number of groups of particles, which are resampled separately, so that their agreement
        measures the accuracy of the draws.
    draws : int
        Number of draws of each chain; a multiple of 4.
    seed : int
        Seed of the draws.

    Returns
    -------
    Sample
        Draws, in which the states of a particle are consecutive.

    References
    ----------
    Del Moral, Doucet and Jasra (2006), Sequential Monte Carlo samplers; Kamatani (2018), Efficient
    strategy for the Markov chain Monte Carlo in high-dimension with heavy-tailed target.
    """
    found = Particles.tempered(
        log_likelihood, length, shared, chains * (draws // _KEPT), chains, seed
    )
    between = _FEWEST
    while True:
        states = []
        for _ in range(_KEPT):
            for _ in range(between):
                found.move()
            states.append((found.scores, found.places, found.levels))
        parts = [np.stack(part, axis=1) for part in zip(*states, strict=True)]
        sample = Sample(*(part.reshape(chains, draws, *part.shape[2:]) for part in parts))
        if between >= _MOST or _is_enough(sample):
            return sample
        found.tune()
        between *= 2


def _is_enough(sample: Sample) -> bool:
    """Return whether the own values and the log-likelihood have converged."""
    seen = np.concatenate([sample.scores, sample.log_likelihood[..., None]], axis=-1)
    found = rhat_ess(np.moveaxis(seen, -1, 0))
    least = _ENOUGH * ESS_PER_CHAIN * len(sample.scores)
    agree = np.nan_to_num(found.rhat, nan=1.0).max() <= RHAT_LIMIT
    return bool(agree and found.ess_bulk.min() >= least)


class Particles:
    """Weighted particles at a power of the likelihood, moved by Metropolis steps.

    Parameters
    ----------
    log_likelihood : callable
        Log-likelihood of the subject's outcomes; see `LogLikelihood`.
    scores : ndarray, shape (particles, length)
        Own values as standard normal scores.
    places : ndarray of int, shape (particles,)
        Positions among the draws of the shared latents.
    levels : ndarray, shape (particles,)
        Log-likelihood of the particles.
    log_weights : ndarray, shape (particles,)
        Logarithms of the weights, up to a constant.
    shared : int
        Number of draws of the shared latents.
    rng : Generator
        Generator of random numbers.
    """

    def __init__(
        self,
        log_likelihood: LogLikelihood,
        scores: np.ndarray,
        places: np.ndarray,
        levels: np.ndarray,
        log_weights: np.ndarray,
        shared: int,
        rng: np.random.Generator,
    ) -> None:
        self._compute, self._shared, self._rng = log_likelihood, shared, rng
        self.scores, self.places, self.levels = scores, places, levels
        self.log_weights = log_weights
        self.power = 1.0
        length = scores.shape[1]
        self._step, self._centre = 1.0, np.zeros(length)
        self._root = self._inverse = np.eye(length)
        self._ends, self._leaps = np.empty((0, _BINS + 1)), False

    @classmethod
    def tempered(
        cls,
        log_likelihood: LogLikelihood,
        length: int,
        shared: int,
        count: int,
        groups: int,
        seed: int,
    ) -> "Particles":
        """Draw particles from the prior, and raise the likelihood's power from 0 to 1."""
        rng = np.random.default_rng(seed)
        scores = rng.normal(size=(count, length))
        places = rng.permutation(np.resize(rng.permutation(shared), count))
        levels = log_likelihood(scores, places)
        found = cls(log_likelihood, scores, places, levels, np.zeros(count), shared, rng)
        found.power = 0.0
        while found.power < 1:
            found.heat()
            found.choose(groups)
            found.tune()
            for _ in range(_MOVES):
                found.move()
        return found

    def heat(self) -> None:
        """Raise the power as far as half of the particles stay effective, and set the weights."""
        stop_if_told()
        before, from_top = self.power, self.levels - self.levels.max()

        def excess(power: float) -> float:
            return effective((power - before) * from_top) / len(from_top) - _STAY

        self.power = 1.0 if excess(1.0) >= 0 else float(brentq(excess, before, 1.0))
        self.log_weights = (self.power - before) * from_top

    def choose(self, groups: int) -> None:
        """Resample particles by their weights, within each group."""
        weights = np.exp(self.log_weights - self.log_weights.max()).reshape(groups, -1)
        every = resampled(weights, self._rng)
        self.scores, self.places = self.scores[every], self.places[every]
        self.levels, self.log_weights = self.levels[every], np.zeros(len(every))

    def tune(self) -> None:
        """Estimate mean, covariance and histograms of the own values, for the proposals."""
        length = self.scores.shape[1]
        if not length:
            return
        weights = np.exp(self.log_weights - self.log_weights.max())
        uneven = weights if self.log_weights.any() else None
        covariance = np.atleast_2d(np.cov(self.scores, rowvar=False, aweights=uneven))
        self._centre = np.average(self.scores, axis=0, weights=uneven)
        self._root = np.linalg.cholesky(covariance + 1e-9 * np.eye(length))
        self._inverse = np.linalg.inv(self._root)
        self._ends = np.empty((length, _BINS + 1))
        for each, order in enumerate(np.argsort(self.scores, axis=0).T):
            mass = np.cumsum(weights[order])
            at = np.searchsorted(mass, np.linspace(0, mass[-1], _BINS + 1))
            self._ends[each] = self.scores[order[at.clip(max=len(mass) - 1)], each]

    def move(self) -> None:
        """Propose to each particle a step or, in turn, a leap, and then another position."""
        stop_if_told()
        count, length = self.scores.shape
        if length:
            self._leaps = not self._leaps and len(self._ends) > 0
            offered, prior = self._leapt() if self._leaps else self._stepped()
            accepted = self._offer(offered, self.places, prior)
            if not self._leaps:
                self._step = min(1.0, self._step * float(np.exp(accepted - _ACCEPTED)))
        if self._shared > 1:
            elsewhere = np.asarray(self._rng.integers(self._shared, size=count))
            self._offer(self.scores, elsewhere, np.zeros(count))

    def _stepped(self) -> tuple[np.ndarray, np.ndarray]:
        """Propose steps of the own values; also returns logs of prior and proposal ratios."""
        count, length = self.scores.shape
        far = self._far(self.scores)
        scale = (_FREEDOM + far) / self._rng.chisquare(_FREEDOM + length, size=count)
        moved = self._rng.normal(size=(count, length)) @ self._root.T
        offered = self._centre + (1 - self._step**2) ** 0.5 * (self.scores - self._centre)
        offered = offered + self._step * np.sqrt(scale)[:, None] * moved
        prior = ((self.scores**2).sum(axis=1) - (offered**2).sum(axis=1)) / 2
        student = np.log1p(self._far(offered) / _FREEDOM) - np.log1p(far / _FREEDOM)
        return offered, prior + (_FREEDOM + length) / 2 * student

    def _leapt(self) -> tuple[np.ndarray, np.ndarray]:
        """Propose one of the own values from the histograms; returns the same as `_stepped`."""
        count, length = self.scores.shape
        which, who = np.asarray(self._rng.integers(length, size=count)), np.arange(count)
        bins = self._rng.integers(_BINS, size=count)
        low, high = self._ends[which, bins], self._ends[which, bins + 1]
        drawn = low + (high - low) * self._rng.random(count)
        drawn = np.where(self._rng.random(count) < _AFRESH, self._rng.normal(size=count), drawn)
        before, offered = self.scores[who, which], self.scores.copy()
        offered[who, which] = drawn
        likelier = self._density(which, before) - self._density(which, drawn)
        return offered, (before**2 - drawn**2) / 2 + likelier

    def _density(self, which: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Return the log-density of the proposals of `_leapt`."""
        ends, who = self._ends[which], np.arange(len(values))
        at = (values[:, None] >= ends).sum(axis=1) - 1
        inside = (at >= 0) & (at < _BINS)
        at = at.clip(0, _BINS - 1)
        width = np.maximum(ends[who, at + 1] - ends[who, at], 1e-12)
        flat = np.where(inside, (1 - _AFRESH) / (_BINS * width), 0.0)
        return np.asarray(np.log(flat + _AFRESH * np.exp(-(values**2) / 2) / (2 * np.pi) ** 0.5))

    def _far(self, scores: np.ndarray) -> np.ndarray:
        """Return squared Mahalanobis distances from the particles' mean."""
        return np.asarray((((scores - self._centre) @ self._inverse.T) ** 2).sum(axis=1))

    def _offer(self, scores: np.ndarray, places: np.ndarray, prior: np.ndarray) -> float:
        """Accept or reject proposals by Metropolis's rule; returns the acceptance rate."""
        levels = self._compute(scores, places)
        chance = np.log(self._rng.random(len(levels)))
        taken = chance < self.power * (levels - self.levels) + prior
        self.scores = np.where(taken[:, None], scores, self.scores)
        self.places = np.where(taken, places, self.places)
        self.levels = np.where(taken, levels, self.levels)
        return float(taken.mean())
