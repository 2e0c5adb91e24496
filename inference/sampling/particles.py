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
_FREEDOM = 5  # degrees of freedom of the distribution that steps leave as it is
_MOVES = 3  # of each particle at a power
_BINS = 24  # of equal mass, in which a score's distribution is flat
_AFRESH = 0.1  # part of the leaps that are draws from the prior
_FEWEST, _MOST = 2, 128  # moves between two kept states
_ENOUGH = 1.5  # times the effective draws that are asked of chains


def effective(log_weights: np.ndarray) -> float:
    r"""Count the particles that weights leave effective, :math:`(\sum w)^2 / \sum w^2`."""
    weights = np.exp(log_weights - log_weights.max())
    return float(weights.sum() ** 2 / (weights**2).sum())


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
    weights, and moved by Metropolis steps of the place, to any other, and in turn of two kinds of
    the own values. With the particles' mean m and covariance :math:`L L^\top`,

    .. math:: z' = m + \sqrt{1 - g^2}\, (z - m) + g \sqrt{s}\, L \varepsilon, \quad
        s \sim (\nu + |L^{-1} (z - m)|^2) / \chi^2_{\nu + k},

    which leaves a Student distribution of k values and :math:`\nu = 5` as it is; g is as large as
    three in ten steps are accepted. And one of the own values is drawn from the histogram that all
    particles have of it, so that separate modes exchange particles. At the end the moves go on
    until the kept draws are worth 600 independent ones, or for 512 moves.

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
    """Tell whether the own values and the log-likelihood are known well."""
    seen = np.concatenate([sample.scores, sample.log_likelihood[..., None]], axis=-1)
    found = rhat_ess(np.moveaxis(seen, -1, 0))
    least = _ENOUGH * ESS_PER_CHAIN * len(sample.scores)
    agree = np.nan_to_num(found.rhat, nan=1.0).max() <= RHAT_LIMIT
    return bool(agree and found.ess_bulk.min() >= least)


class Particles:
    """Weighted particles at a power of the likelihood, which Metropolis steps move.

    Parameters
    ----------
    log_likelihood : callable
        Of the subject's outcomes.
    scores : ndarray, shape (particles, length)
        Own values as standard normal scores.
    places : ndarray of int, shape (particles,)
        Among the draws of what is shared.
    levels : ndarray, shape (particles,)
        Log-likelihood there.
    log_weights : ndarray, shape (particles,)
        Weights, but for a factor.
    shared : int
        How many draws there are of what is shared.
    rng : Generator
        Of the steps.
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
        """Raise the power as far as enough particles stay effective."""
        stop_if_told()
        before, from_top = self.power, self.levels - self.levels.max()

        def excess(power: float) -> float:
            return effective((power - before) * from_top) / len(from_top) - _STAY

        self.power = 1.0 if excess(1.0) >= 0 else float(brentq(excess, before, 1.0))
        self.log_weights = (self.power - before) * from_top

    def choose(self, groups: int) -> None:
        """Choose particles anew by their weights, within each group."""
        weights = np.exp(self.log_weights - self.log_weights.max()).reshape(groups, -1)
        size = weights.shape[1]
        ends = np.cumsum(weights, axis=1) / weights.sum(axis=1, keepdims=True)
        at = (np.arange(size) + self._rng.random((groups, 1))) / size
        chosen = [
            group * size + np.searchsorted(end, where).clip(max=size - 1)
            for group, (end, where) in enumerate(zip(ends, at, strict=True))
        ]
        every = np.concatenate(chosen)
        self.scores, self.places = self.scores[every], self.places[every]
        self.levels, self.log_weights = self.levels[every], np.zeros(len(every))

    def tune(self) -> None:
        """Learn where the own values are."""
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
        """Offer every particle a step or a leap of its own values in turn, and another place."""
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
        """Make steps of the own values, and the logarithms of how much better they are a priori."""
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
        """Draw one of the own values from where all particles have it; as `_stepped` returns."""
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
        """Log-density of what `_leapt` draws."""
        ends, who = self._ends[which], np.arange(len(values))
        at = (values[:, None] >= ends).sum(axis=1) - 1
        inside = (at >= 0) & (at < _BINS)
        at = at.clip(0, _BINS - 1)
        width = np.maximum(ends[who, at + 1] - ends[who, at], 1e-12)
        flat = np.where(inside, (1 - _AFRESH) / (_BINS * width), 0.0)
        return np.asarray(np.log(flat + _AFRESH * np.exp(-(values**2) / 2) / (2 * np.pi) ** 0.5))

    def _far(self, scores: np.ndarray) -> np.ndarray:
        """Measure squared distances from the particles' mean, in units of their spread."""
        return np.asarray((((scores - self._centre) @ self._inverse.T) ** 2).sum(axis=1))

    def _offer(self, scores: np.ndarray, places: np.ndarray, prior: np.ndarray) -> float:
        """Accept or refuse, by Metropolis's rule; returns which part was accepted."""
        levels = self._compute(scores, places)
        chance = np.log(self._rng.random(len(levels)))
        taken = chance < self.power * (levels - self.levels) + prior
        self.scores = np.where(taken[:, None], scores, self.scores)
        self.places = np.where(taken, places, self.places)
        self.levels = np.where(taken, levels, self.levels)
        return float(taken.mean())
