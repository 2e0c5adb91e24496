"""Density of the model of raters: their levels given an item's true position, summed over it."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import ndtr, ndtri

FLOOR = 1e-12
"""Least probability of a level."""
_FAR, _NODES, _SHARED = 4.8, 97, 9
_ROOM = 4_000_000  # largest size of an array of draws by patterns by nodes


@dataclass(frozen=True, eq=False)
class Raters:
    r"""Ratings of one dimension by several raters, and assumptions about the raters' errors.

    .. math:: x_{ir} = z_i + s_r \left(\sqrt{c}\, u_i + \sqrt{1 - c}\, e_{ir}\right), \qquad
       y_{ir} = k \iff \tau_{r,k} \sqrt{1 + s_r^2} < x_{ir} \le \tau_{r,k+1} \sqrt{1 + s_r^2}

    `z`, `u` and `e` are standard normal, so that the differences of `Phi(tau)` are the shares in
    which a rater uses the levels, whatever its noise `s`. The parameters of each rater are the
    logarithms of those shares minus their mean, in an orthonormal basis; they are followed by the
    logarithms of the free noises. The prior is flat on shares, and Normal(0, 1) on logarithms of
    noises.

    Parameters
    ----------
    patterns : ndarray of int, shape (patterns, raters)
        Positions of levels; -1 where a rater gave none.
    counts : ndarray, shape (patterns,)
        Number of items with each pattern.
    levels : ndarray
        Levels as numbers, in ascending order.
    noise : tuple of int
        Number of the free noise of each rater; raters of one number share it.
    error_correlation : float
        Correlation between the errors of any two raters, `c`.
    """

    patterns: np.ndarray
    counts: np.ndarray
    levels: np.ndarray
    noise: tuple[int, ...]
    error_correlation: float

    @classmethod
    def of(
        cls,
        said: np.ndarray,
        levels: np.ndarray,
        noise: tuple[int, ...],
        error_correlation: float,
    ) -> tuple["Raters", np.ndarray]:
        """Count the items with each pattern of levels, and find each item's pattern.

        Levels `said` are of shape (items, raters); NaN where there is none.
        """
        numbers = np.where(np.isnan(said), -1, np.searchsorted(levels, said)).astype(int)
        patterns, places, counts = np.unique(
            numbers, axis=0, return_inverse=True, return_counts=True
        )
        counts = counts * (patterns >= 0).any(axis=1)  # items without ratings do not count
        return cls(patterns, counts.astype(float), levels, noise, error_correlation), places

    def blocks(self, draws: int) -> Iterator[slice]:
        """Split draws, so that no array of draws by patterns by nodes is large."""
        block = max(1, _ROOM // (len(self.patterns) * _NODES))
        for first in range(0, draws, block):
            yield slice(first, first + block)

    @property
    def free(self) -> int:
        """Number of free noises."""
        return len(set(self.noise))

    @property
    def size(self) -> int:
        """Number of parameters."""
        return len(self.noise) * (len(self.levels) - 1) + self.free

    @cached_property
    def basis(self) -> np.ndarray:
        """Orthonormal basis, shape (levels, levels - 1), each column of which has a sum of 0."""
        count = len(self.levels)
        corner = np.tril(np.ones((count, count - 1)), -1)
        corner[np.arange(count - 1), np.arange(count - 1)] = -np.arange(count - 1, 0, -1)
        return np.asarray(corner / np.linalg.norm(corner, axis=0))

    @cached_property
    def truths(self) -> tuple[np.ndarray, np.ndarray]:
        """Nodes of the true position of an item, and their weights."""
        nodes = np.linspace(-_FAR, _FAR, _NODES)
        weights = np.exp(-(nodes**2) / 2)
        return nodes, weights / weights.sum()

    @cached_property
    def start(self) -> np.ndarray:
        """Parameters of the observed shares, and of noises of 1."""
        parts = []
        for said in self.patterns.T:
            seen = said >= 0
            counts = np.bincount(said[seen], self.counts[seen], len(self.levels)) + 0.5
            parts.append(self.basis.T @ np.log(counts / counts.sum()))
        return np.concatenate([*parts, np.zeros(self.free)])

    def shares(self, parameters: np.ndarray) -> np.ndarray:
        """Compute the shares of levels, shape (draws, raters, levels)."""
        count = len(self.levels) - 1
        inner = parameters[..., : len(self.noise) * count]
        logs = inner.reshape(*inner.shape[:-1], len(self.noise), count) @ self.basis.T
        powers = np.exp(logs - logs.max(axis=-1, keepdims=True))
        return np.asarray(powers / powers.sum(axis=-1, keepdims=True))

    def noises(self, parameters: np.ndarray) -> np.ndarray:
        """Compute the noise of each rater, shape (draws, raters)."""
        free = parameters[..., self.size - self.free :]
        return np.exp(free[..., list(self.noise)])

    def chances(
        self, parameters: np.ndarray, truths: np.ndarray, shared: np.ndarray | None = None
    ) -> np.ndarray:
        """Compute probabilities of levels at nodes, shape (draws, raters, nodes, levels).

        Without nodes of the `shared` part of errors, probabilities are averaged over that
        part.
        """
        cuts = ndtri(np.cumsum(self.shares(parameters), axis=-1)[..., :-1])
        noise = self.noises(parameters)[..., None, None]
        middle, spread = truths[:, None], noise
        if shared is not None:
            middle = middle + noise * np.sqrt(self.error_correlation) * shared[:, None]
            spread = noise * np.sqrt(1 - self.error_correlation)
        margins = (cuts[..., None, :] * np.sqrt(1 + noise**2) - middle) / spread
        below = np.concatenate(
            [np.zeros((*margins.shape[:-1], 1)), ndtr(margins), np.ones((*margins.shape[:-1], 1))],
            axis=-1,
        )
        return np.asarray(np.maximum(np.diff(below, axis=-1), FLOOR))

    def joint(self, parameters: np.ndarray) -> np.ndarray:
        """Compute the joint probability of patterns and nodes, shape (draws, patterns, nodes)."""
        truths, weights = self.truths
        if not self.error_correlation:
            return np.asarray(self._of_patterns(self.chances(parameters, truths)) * weights)
        shared, parts = np.polynomial.hermite_e.hermegauss(_SHARED)
        parts = parts / parts.sum()
        found = np.zeros(())
        for node, part in zip(shared, parts, strict=True):
            given = self.chances(parameters, truths, np.full(len(truths), node))
            found = found + part * self._of_patterns(given)
        return np.asarray(found * weights)

    def _of_patterns(self, chances: np.ndarray) -> np.ndarray:
        """Multiply the probabilities of the raters' levels, shape (draws, patterns, nodes)."""
        shape = (*chances.shape[:-3], len(self.patterns), chances.shape[-2])
        found = np.ones(shape)
        by_level = np.moveaxis(chances, -1, -2)
        for rater, said in enumerate(self.patterns.T):
            seen = said >= 0
            found[..., seen, :] *= by_level[..., rater, said[seen], :]
        return found

    def log_density(self, parameters: np.ndarray) -> np.ndarray:
        """Compute the log-density of parameters up to a constant, shape (draws,)."""
        parameters = np.atleast_2d(parameters)
        found = np.empty(len(parameters))
        for some in self.blocks(len(parameters)):
            found[some] = np.log(self.joint(parameters[some]).sum(axis=-1)) @ self.counts
        prior = np.log(self.shares(parameters)).sum(axis=(-1, -2))
        logs = parameters[:, self.size - self.free :]
        return np.asarray(found + prior - (logs**2).sum(axis=-1) / 2)
