"""The density of a model of raters: levels given the truth of an item, summed over that."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import ndtr, ndtri

FLOOR = 1e-12
"""Chances of levels stay this far from 0."""
_FAR, _NODES, _SHARED = 4.8, 97, 9
_ROOM = 4_000_000  # numbers in an array of draws by patterns by nodes


@dataclass(frozen=True, eq=False)
class Raters:
    r"""What several raters said about one dimension, and what is assumed about their errors.

    .. math:: x_{ir} = z_i + s_r \left(\sqrt{c}\, u_i + \sqrt{1 - c}\, e_{ir}\right), \qquad
       y_{ir} = k \iff \tau_{r,k} \sqrt{1 + s_r^2} < x_{ir} \le \tau_{r,k+1} \sqrt{1 + s_r^2}

    `z`, `u` and `e` are standard normal, so that `Phi(tau)` are the shares in which a rater uses
    the levels, whatever its noise `s`. Parameters are, for each rater, the logarithms of those
    shares but for their mean, in an orthonormal basis; then the logarithms of the noises that are
    free. The priors are flat on shares, and Normal(0, 1) on logarithms of noises.

    Parameters
    ----------
    patterns : ndarray of int
        Pattern x rater: numbers of levels, -1 where a rater has said nothing.
    counts : ndarray
        Of the items with each pattern.
    levels : ndarray
        The levels as numbers, ascending.
    noise : tuple
        For each rater the noise, where it is stated, or the number of the free noise it has.
    powers : tuple of float
        For each rater: its share of variance that is true, ``1 / (1 + s**2)``, is that of its free
        noise to this power.
    error_correlation : float
        `c`, between the errors of any two raters.
    """

    patterns: np.ndarray
    counts: np.ndarray
    levels: np.ndarray
    noise: tuple[float | int, ...]
    powers: tuple[float, ...]
    error_correlation: float

    @property
    def free(self) -> int:
        """How many noises are free."""
        return len({given for given in self.noise if isinstance(given, int)})

    @property
    def size(self) -> int:
        """How many parameters there are."""
        return len(self.noise) * (len(self.levels) - 1) + self.free

    @cached_property
    def basis(self) -> np.ndarray:
        """Orthonormal, each column with a sum of 0: level x (level - 1)."""
        count = len(self.levels)
        corner = np.tril(np.ones((count, count - 1)), -1)
        corner[np.arange(count - 1), np.arange(count - 1)] = -np.arange(count - 1, 0, -1)
        return np.asarray(corner / np.linalg.norm(corner, axis=0))

    @cached_property
    def truths(self) -> tuple[np.ndarray, np.ndarray]:
        """Nodes of what is true of an item, and their weights."""
        nodes = np.linspace(-_FAR, _FAR, _NODES)
        weights = np.exp(-(nodes**2) / 2)
        return nodes, weights / weights.sum()

    @cached_property
    def start(self) -> np.ndarray:
        """Shares as they were observed, and noises of 1."""
        parts = []
        for said in self.patterns.T:
            seen = said >= 0
            counts = np.bincount(said[seen], self.counts[seen], len(self.levels)) + 0.5
            parts.append(self.basis.T @ np.log(counts / counts.sum()))
        return np.concatenate([*parts, np.zeros(self.free)])

    def shares(self, parameters: np.ndarray) -> np.ndarray:
        """Shares of levels: draw x rater x level."""
        count = len(self.levels) - 1
        inner = parameters[..., : len(self.noise) * count]
        logs = inner.reshape(*inner.shape[:-1], len(self.noise), count) @ self.basis.T
        powers = np.exp(logs - logs.max(axis=-1, keepdims=True))
        return np.asarray(powers / powers.sum(axis=-1, keepdims=True))

    def noises(self, parameters: np.ndarray) -> np.ndarray:
        """Noise of each rater: draw x rater."""
        free = parameters[..., self.size - self.free :]
        columns = [
            _noise_to_power(free[..., given], power)
            if isinstance(given, int)
            else np.full(parameters.shape[:-1], given)
            for given, power in zip(self.noise, self.powers, strict=True)
        ]
        return np.stack(columns, axis=-1)

    def chances(
        self, parameters: np.ndarray, truths: np.ndarray, shared: np.ndarray | None = None
    ) -> np.ndarray:
        """Chances of levels given nodes of the truth: draw x rater x node x level.

        Without nodes of the `shared` part of errors, that part is averaged over, too.
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
        """Chances of each pattern together with each node of the truth: draw x pattern x node."""
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
        """Multiply the chances of what raters said: draw x pattern x node."""
        shape = (*chances.shape[:-3], len(self.patterns), chances.shape[-2])
        found = np.ones(shape)
        by_level = np.moveaxis(chances, -1, -2)
        for rater, said in enumerate(self.patterns.T):
            seen = said >= 0
            found[..., seen, :] *= by_level[..., rater, said[seen], :]
        return found

    def log_density(self, parameters: np.ndarray) -> np.ndarray:
        """Log-density of parameters, draw by draw, but for a constant."""
        parameters = np.atleast_2d(parameters)
        block = max(1, _ROOM // (len(self.patterns) * _NODES))
        found = np.empty(len(parameters))
        for first in range(0, len(parameters), block):
            some = parameters[first : first + block]
            found[first : first + block] = np.log(self.joint(some).sum(axis=-1)) @ self.counts
        prior = np.log(self.shares(parameters)).sum(axis=(-1, -2))
        logs = parameters[:, self.size - self.free :]
        return np.asarray(found + prior - (logs**2).sum(axis=-1) / 2)


def _noise_to_power(log_noise: np.ndarray, power: float) -> np.ndarray:
    """Noise whose share of true variance is that of another noise to a power."""
    share = -np.logaddexp(0, 2 * log_noise) * power
    return np.asarray(np.sqrt(np.expm1(-share)))
