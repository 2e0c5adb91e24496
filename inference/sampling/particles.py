"""Sequential Monte Carlo: a subject's own values, beside draws of what others have taught."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from .convergence import ESS_PER_CHAIN, RHAT_LIMIT, rhat_ess
from .stopping import stop_if_told

type LogLikelihood = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""From own scores (particles, length) and places among what is shared to (particles,) nats."""

_KEPT = 4  # states of each particle
_STAY = 0.5  # part of the particles that a step of the temperature leaves effective
_ACCEPTED = 0.3  # aim of the step size
_MOVES = 4  # of each particle at a temperature
_FEWEST, _MOST = 2, 128  # moves between two kept states
_ENOUGH = 2.5  # times the effective draws that are asked of chains


@dataclass(frozen=True, eq=False)
class Sample:
    """Draws of one subject's values and of what is shared.

    Attributes
    ----------
    scores : ndarray, shape (chains, draws, length)
        Own values as standard normal scores.
    shared : ndarray of int, shape (chains, draws)
        Places among the draws of what is shared.
    log_likelihood : ndarray, shape (chains, draws)
        In nats.
    """

    scores: np.ndarray
    shared: np.ndarray
    log_likelihood: np.ndarray

    @property
    def effective(self) -> float:
        r"""Count the draws of what is shared that the weights leave, :math:`1 / \sum_j w_j^2`.

        Two independent draws meet in place j with probability :math:`w_j^2`, so that pairs of
        draws of different chains tell the sum without bias.
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
    r"""Draw own values and, beside each, one of the draws of what is shared.

    With standard normal scores z of the own values and places j,

    .. math:: p(z, j) \propto \frac{1}{J}\, \mathcal{N}(z; 0, I)\, p(y \mid z, j).

    Particles start as draws from the prior. The likelihood is raised to powers that grow from 0 to
    1, each so that half of the particles stay effective; these are then chosen anew by their
    weights, and moved by Metropolis steps: of the own values, by a random walk with the particles'
    covariance, and of the place, to any other. At the end the moves go on until the kept draws are
    worth enough independent ones, or for 512 moves.

    Parameters
    ----------
    log_likelihood : callable
        Of the subject's outcomes.
    length : int
        How many own values there are.
    shared : int
        How many draws there are of what is shared.
    chains : int
        Groups of particles that do not meet: their agreement says how sure the draws are.
    draws : int
        Of each chain; a multiple of 4.
    seed : int
        Of the draws.

    Returns
    -------
    Sample
        States of a particle follow each other.

    References
    ----------
    Del Moral, Doucet and Jasra (2006), Sequential Monte Carlo samplers.
    """
    found = _Particles(log_likelihood, length, shared, chains * (draws // _KEPT), seed)
    while found.power < 1:
        found.heat()
        found.choose(chains)
        found.tune()
        for _ in range(_MOVES):
            found.move()
    between = _FEWEST
    while True:
        states = []
        for _ in range(_KEPT):
            for _ in range(between):
                found.move()
            states.append((found.scores.copy(), found.places.copy(), found.levels.copy()))
        parts = [np.stack(part, axis=1) for part in zip(*states, strict=True)]
        sample = Sample(*(part.reshape(chains, draws, *part.shape[2:]) for part in parts))
        if between >= _MOST or _is_enough(sample):
            return sample
        found.tune()
        between *= 2


def _is_enough(sample: Sample) -> bool:
    """Tell whether the own values and the log-likelihood are known well."""
    seen = np.concatenate([sample.scores, sample.log_likelihood[..., None]], axis=-1)
    found = rhat_ess(np.moveaxis(seen, -1, 0))
    least = _ENOUGH * ESS_PER_CHAIN * len(sample.scores)
    agree = np.nan_to_num(found.rhat, nan=1.0).max() <= RHAT_LIMIT
    return bool(agree and min(found.ess_bulk.min(), found.ess_tail.min()) >= least)


class _Particles:
    """Particles at a power of the likelihood."""

    def __init__(
        self, log_likelihood: LogLikelihood, length: int, shared: int, count: int, seed: int
    ) -> None:
        self._compute, self._shared = log_likelihood, shared
        self._rng = np.random.default_rng(seed)
        self._step, self._root = 0.0, np.eye(length)
        self.power = 0.0
        self.scores = self._rng.normal(size=(count, length))
        self.places = self._rng.permutation(np.resize(self._rng.permutation(shared), count))
        self.levels = log_likelihood(self.scores, self.places)

    def heat(self) -> None:
        """Raise the power as far as enough particles stay effective."""
        stop_if_told()

        def excess(power: float) -> float:
            weights = self._weights(power)
            return float(weights.sum() ** 2 / (weights**2).sum() / len(weights) - _STAY)

        self._before = self.power
        self.power = 1.0 if excess(1.0) >= 0 else float(brentq(excess, self.power, 1.0))

    def _weights(self, power: float) -> np.ndarray:
        return np.exp((power - self._before) * (self.levels - self.levels.max()))

    def choose(self, groups: int) -> None:
        """Choose particles anew by their weights, within each group."""
        weights = self._weights(self.power).reshape(groups, -1)
        size = weights.shape[1]
        ends = np.cumsum(weights, axis=1) / weights.sum(axis=1, keepdims=True)
        at = (np.arange(size) + self._rng.random((groups, 1))) / size
        chosen = [
            group * size + np.searchsorted(end, where).clip(max=size - 1)
            for group, (end, where) in enumerate(zip(ends, at, strict=True))
        ]
        self._take(np.concatenate(chosen))

    def _take(self, chosen: np.ndarray) -> None:
        self.scores, self.places = self.scores[chosen], self.places[chosen]
        self.levels = self.levels[chosen]

    def tune(self) -> None:
        """Learn the covariance of the own values."""
        length = self.scores.shape[1]
        if length:
            covariance = np.atleast_2d(np.cov(self.scores, rowvar=False))
            self._root = np.linalg.cholesky(covariance + 1e-9 * np.eye(length))
            self._step = self._step or 2.38 / length**0.5

    def move(self) -> None:
        """Offer every particle a step of its own values, and another place."""
        stop_if_told()
        count, length = self.scores.shape
        if length:
            steps = self._step * self._rng.normal(size=(count, length)) @ self._root.T
            offered = self.scores + steps
            prior = ((self.scores**2).sum(axis=1) - (offered**2).sum(axis=1)) / 2
            accepted = self._offer(offered, self.places, prior)
            self._step *= np.exp(accepted - _ACCEPTED)
        self._offer(self.scores, self._rng.integers(self._shared, size=count), np.zeros(count))

    def _offer(self, scores: np.ndarray, places: np.ndarray, prior: np.ndarray) -> float:
        """Accept or refuse, by Metropolis's rule; returns which part was accepted."""
        levels = self._compute(scores, places)
        chance = np.log(self._rng.random(len(levels)))
        taken = chance < self.power * (levels - self.levels) + prior
        self.scores = np.where(taken[:, None], scores, self.scores)
        self.places = np.where(taken, places, self.places)
        self.levels = np.where(taken, levels, self.levels)
        return float(taken.mean())
