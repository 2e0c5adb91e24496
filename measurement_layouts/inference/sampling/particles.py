"""Sequential Monte Carlo for a new subject's values, given draws of the shared latents."""

from collections.abc import Callable, Sequence
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
_MOVES = 3  # number of moves of each particle at a power
_FEWEST, _MOST = 2, 128  # number of moves between two kept states
_ENOUGH = 1.5  # needed effective sample size, as a multiple of that required of chains


def effective(weights: np.ndarray) -> float:
    r"""Return the effective number of weighted particles, :math:`(\sum w)^2 / \sum w^2`."""
    return float(weights.sum() ** 2 / (weights**2).sum())


def resampled(weights: np.ndarray, shift: np.ndarray | float) -> np.ndarray:
    """Resample by weight within each group, systematically; return positions in order.

    The weights have the shape (groups, particles), and the shifts, from 0 to 1, (groups, 1).
    """
    size = weights.shape[1]
    ends = np.cumsum(weights, axis=1)
    points = (np.arange(size) + shift) / size * ends[:, -1:]
    chosen = [
        group * size + np.searchsorted(end, at).clip(max=size - 1)
        for group, (end, at) in enumerate(zip(ends, points, strict=True))
    ]
    return np.concatenate(chosen)


@dataclass(frozen=True, eq=False)
class Sample:
    """Draws of one subject's values and of the shared latents.

    Attributes
    ----------
    scores : ndarray, shape (chains, draws, length)
        The subject's values as standard normal scores.
    picks : ndarray of int, shape (chains, draws)
        Positions among the draws of the shared latents.
    log_likelihood : ndarray, shape (chains, draws)
        Log-likelihood in nats.
    """

    scores: np.ndarray
    picks: np.ndarray
    log_likelihood: np.ndarray

    @property
    def effective(self) -> float:
        r"""Effective number of draws of the shared latents, :math:`1 / \sum_j w_j^2`.

        Two independent draws both have position j with probability :math:`w_j^2`, so that the part
        of equal pairs among draws of different chains is an unbiased estimate of the sum.
        """
        most = int(self.picks.max()) + 1
        counts = np.stack([np.bincount(chain, minlength=most) for chain in self.picks])
        pairs = counts.sum(axis=0) ** 2 - (counts**2).sum(axis=0)
        every = counts.sum() ** 2 - (counts.sum(axis=1) ** 2).sum()
        return float(every / pairs.sum().clip(min=1))


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

    .. math:: z' = m + \sqrt{1 - g^2}\, (z - m) + g L \varepsilon, \quad
        \varepsilon \sim \mathcal{N}(0, I)

    where g is adapted so that three of ten steps are accepted. The second one draws one of the own
    values from its prior, so that particles can change between separate modes. At the power 1, four
    states of each particle are kept, with 2 moves between them. The particles are moved on, with
    twice as many moves up to 128, until R-hat is at most 1.01 and the effective sample size is at
    least 150 per chain.

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
    Del Moral, Doucet and Jasra (2006), Sequential Monte Carlo samplers; Cotter, Roberts, Stuart and
    White (2013), MCMC methods for functions, for the first proposal.
    """
    particles = Particles.tempered(
        log_likelihood, length, shared, chains * (draws // _KEPT), chains, seed
    )
    between = _FEWEST
    while True:
        states = []
        for _ in range(_KEPT):
            particles.move(between)
            states.append((particles.scores, particles.picks, particles.log_likelihood))
        arrays = [np.stack(values, axis=1) for values in zip(*states, strict=True)]
        sample = Sample(*(array.reshape(chains, draws, *array.shape[2:]) for array in arrays))
        if between >= _MOST or _is_enough(sample):
            return sample
        particles.tune()
        between *= 2


def _is_enough(sample: Sample) -> bool:
    """Return whether the own values and the log-likelihood have converged."""
    series = np.concatenate([sample.scores, sample.log_likelihood[..., None]], axis=-1)
    mixed = rhat_ess(np.moveaxis(series, -1, 0))
    least = _ENOUGH * ESS_PER_CHAIN * len(sample.scores)
    agree = np.nan_to_num(mixed.rhat, nan=1.0).max() <= RHAT_LIMIT
    return bool(agree and mixed.ess_bulk.min() >= least)


class Particles:
    """Particles at a power of the likelihood, moved by Metropolis steps.

    Methods replace the arrays and never change them.

    Parameters
    ----------
    compute : callable
        Log-likelihood of the subject's outcomes; see `LogLikelihood`.
    scores : ndarray, shape (particles, length)
        Own values as standard normal scores.
    picks : ndarray of int, shape (particles,)
        Positions among the draws of the shared latents.
    log_likelihood : ndarray, shape (particles,)
        Log-likelihood of the particles.
    shared : int
        Number of draws of the shared latents.
    rng : Generator
        Generator of random numbers.
    """

    def __init__(
        self,
        compute: LogLikelihood,
        scores: np.ndarray,
        picks: np.ndarray,
        log_likelihood: np.ndarray,
        shared: int,
        rng: np.random.Generator,
    ) -> None:
        self._compute, self._shared, self._rng = compute, shared, rng
        self.scores, self.picks, self.log_likelihood = scores, picks, log_likelihood
        self._power, self._step, self._leaps = 1.0, 1.0, False

    @classmethod
    def tempered(
        cls,
        compute: LogLikelihood,
        length: int,
        shared: int,
        count: int,
        groups: int,
        seed: int | Sequence[int],
    ) -> "Particles":
        """Draw particles from the prior, and raise the likelihood's power from 0 to 1."""
        rng = np.random.default_rng(seed)
        scores = rng.normal(size=(count, length))
        picks = rng.permutation(np.resize(rng.permutation(shared), count))
        particles = cls(compute, scores, picks, compute(scores, picks), shared, rng)
        particles._power = 0.0
        while particles._power < 1:
            particles.resample(particles._heated(), groups)
            particles.move(_MOVES)
        return particles

    def _heated(self) -> np.ndarray:
        """Raise the power as far as half of the particles stay effective; return the weights."""
        before, below = self._power, self.log_likelihood - self.log_likelihood.max()

        def excess(power: float) -> float:
            return effective(np.exp((power - before) * below)) / len(below) - _STAY

        self._power = 1.0 if excess(1.0) >= 0 else float(brentq(excess, before, 1.0))
        return np.asarray(np.exp((self._power - before) * below))

    def resample(self, weights: np.ndarray, groups: int) -> None:
        """Resample particles by their weights, within each group."""
        chosen = resampled(weights.reshape(groups, -1), self._rng.random((groups, 1)))
        self.scores, self.picks = self.scores[chosen], self.picks[chosen]
        self.log_likelihood = self.log_likelihood[chosen]
        self.tune()

    def tune(self) -> None:
        """Estimate mean and covariance of the own values, for the proposals."""
        if length := self.scores.shape[1]:
            covariance = np.atleast_2d(np.cov(self.scores, rowvar=False))
            self._centre = self.scores.mean(axis=0)
            self._root = np.linalg.cholesky(covariance + 1e-9 * np.eye(length))

    def move(self, times: int) -> None:
        """Propose to each particle a step or, in turn, a leap, and then another position."""
        count, length = self.scores.shape
        for _ in range(times):
            stop_if_told()
            if length and self._leaps:
                offered = self.scores.copy()
                offered[np.arange(count), self._rng.integers(length, size=count)] = (
                    self._rng.normal(size=count)
                )
                self._offer(offered, self.picks, 0.0)
            elif length:
                accepted = self._offer(*self._stepped())
                self._step = min(1.0, self._step * float(np.exp(accepted - _ACCEPTED)))
            self._leaps = not self._leaps
            if self._shared > 1:
                elsewhere = np.asarray(self._rng.integers(self._shared, size=count))
                self._offer(self.scores, elsewhere, 0.0)

    def _stepped(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Propose steps of the own values, with logarithms of prior and proposal ratios."""
        z = np.linalg.solve(self._root, (self.scores - self._centre).T).T
        noise = self._rng.normal(size=z.shape)
        moved = (1 - self._step**2) ** 0.5 * z + self._step * noise
        offered = self._centre + moved @ self._root.T
        far = (moved**2 - offered**2).sum(axis=1) - (z**2 - self.scores**2).sum(axis=1)
        return offered, self.picks, far / 2

    def _offer(self, scores: np.ndarray, picks: np.ndarray, log_ratio: np.ndarray | float) -> float:
        """Accept or reject proposals by Metropolis's rule; returns the acceptance rate."""
        offered = self._compute(scores, picks)
        gain = self._power * (offered - self.log_likelihood) + log_ratio
        taken = np.log(self._rng.random(len(offered))) < gain
        self.scores = np.where(taken[:, None], scores, self.scores)
        self.picks = np.where(taken, picks, self.picks)
        self.log_likelihood = np.where(taken, offered, self.log_likelihood)
        return float(taken.mean())
