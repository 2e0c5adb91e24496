"""Which item tells most about a subject, given its answers so far."""

from collections.abc import Mapping, Sequence

import numpy as np
from scipy.special import xlogy

from ...inference.sequential.running import Running

_THIN = 8  # one in so many particles looks at all items ...
_BEST = 100  # ... and all particles look at so many of the best
_SCENARIOS = 64  # ways in which the items in flight may turn out that are looked at


class Chooser:
    r"""The worth of items: how much their outcome is expected to tell.

    Without targets it is the mutual information of the outcome y and the profile,

    .. math:: I(y; \theta) = H\Big(\sum_j w_j p_j\Big) - \sum_j w_j H(p_j),

    with particles of weight :math:`w_j` under which outcomes have probabilities :math:`p_j`. With
    targets k it is the sum of :math:`-\frac{v_k}{2} \log(1 - r_k^2)` with the weights
    :math:`v_k`, where :math:`r_k^2` is the part of the posterior variance of k that the outcome
    is expected to remove,

    .. math:: r_k^2 = \frac{1}{\mathrm{var}(\theta_k)}
        \sum_y \frac{\mathrm{cov}(\theta_k, p(y \mid \theta))^2}{\bar p(y)},

    which is exact. Where others were fitted jointly, the information must not be about what is
    shared; there it is that of the best linear prediction, from all elements at once.

    Items in flight are averaged over: exactly over all of their outcomes where these are few, over
    64 draws of them otherwise.

    Parameters
    ----------
    running : Running
        The posterior so far.
    rows : ndarray of int, shape (items, rows)
        Places of each item's rows in the bank, one or its steps.
    ends : ndarray of int
        Where the rows of each outcome end among one item's.
    targets : mapping of str to float, optional
        Weights by profile element.
    """

    def __init__(
        self,
        running: Running,
        rows: np.ndarray,
        ends: Sequence[int],
        targets: Mapping[str, float] | None,
    ) -> None:
        self._running, self._rows, self._ends = running, rows, ends
        self._targets = targets
        self._version = -1
        self._thin = np.zeros((0, 0, 0))
        self._full = dict[int, np.ndarray]()

    def choose(self, open_: np.ndarray, flight: Sequence[int], costs: np.ndarray) -> int:
        """Choose the item that tells most for its cost.

        Parameters
        ----------
        open_ : ndarray of int
            Items that may be asked.
        flight : sequence of int
            Items that were asked and not answered.
        costs : ndarray, shape (items,)
            Of all items.
        """
        self._refresh()
        weights = self._running.weights
        scenarios, chances = self._scenarios(flight, weights)
        thin = scenarios[:, ::_THIN]
        thin = thin / thin.sum(axis=1, keepdims=True)
        worth = self._worth(self._thin[:, open_], thin, chances, slice(None, None, _THIN))
        best = open_[np.argsort(-worth / costs[open_], kind="stable")[:_BEST]]
        worth = self._worth(self._outcomes(best), scenarios, chances, slice(None))
        return int(best[np.argmax(worth / costs[best])])

    def _refresh(self) -> None:
        """Compute chances of all items anew where particles have moved."""
        if self._version != self._running.version:
            self._version = self._running.version
            self._thin = self._cells(np.arange(len(self._rows)), slice(None, None, _THIN))
            self._full = {}

    def _outcomes(self, items: Sequence[int] | np.ndarray) -> np.ndarray:
        """Probabilities of items' outcomes at all particles, shape (outcomes, items, draws)."""
        missing = [item for item in items if item not in self._full]
        if missing:
            found = self._cells(np.array(missing), slice(None))
            self._full |= dict(zip(missing, np.moveaxis(found, 1, 0), strict=True))
        return np.stack([self._full[item] for item in items], axis=1)

    def _cells(self, items: np.ndarray, draws: slice) -> np.ndarray:
        """Compute probabilities of items' outcomes, shape (outcomes, items, draws).

        An item with several outcomes has one for each way in which they go together.
        """
        rows = self._rows[items]
        passed = self._running.chances(rows.ravel(), draws)
        passed = passed.reshape(*rows.shape, -1)
        found = np.ones((1, len(items), passed.shape[-1]))
        start = 0
        for end in self._ends:
            reached = np.cumprod(passed[:, start:end], axis=1)
            above = np.concatenate([np.ones_like(reached[:, :1]), reached], axis=1)
            each = above - np.concatenate([reached, np.zeros_like(reached[:, :1])], axis=1)
            each = np.moveaxis(each, 1, 0)
            found = (found[:, None] * each[None]).reshape(-1, *found.shape[1:])
            start = end
        return found

    def _scenarios(
        self, flight: Sequence[int], weights: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Weigh the particles by how items in flight may turn out: (ways, draws), and chances."""
        found, chances = weights[None], np.ones(1)
        rng = np.random.default_rng(len(flight))
        for item in flight:
            (outcomes,) = np.moveaxis(self._outcomes([item]), 1, 0)
            mass = found @ outcomes.T
            if found.shape[0] * len(outcomes) <= _SCENARIOS:
                chances = (chances[:, None] * mass).ravel()
                found = (found[:, None] * outcomes).reshape(-1, found.shape[1])
            else:
                ends = np.cumsum(mass, axis=1)
                drawn = (rng.random((len(found), 1)) * ends[:, -1:] > ends[:, :-1]).sum(axis=1)
                found = found * outcomes[drawn]
            sums = found.sum(axis=1, keepdims=True)
            there = sums[:, 0] > 0
            found, chances = found[there] / sums[there], chances[there]
        return found, chances / chances.sum()

    def _worth(
        self, outcomes: np.ndarray, scenarios: np.ndarray, chances: np.ndarray, draws: slice
    ) -> np.ndarray:
        """Compute the worth of items, averaged over the scenarios."""
        if self._targets is None and not self._running.shared:
            own = -xlogy(outcomes, outcomes).sum(axis=0) @ scenarios.T
            mean = outcomes @ scenarios.T
            return np.asarray((-xlogy(mean, mean).sum(axis=0) - own) @ chances)
        values = self._running.values[draws]
        found = np.zeros(outcomes.shape[1])
        for weights, chance in zip(scenarios, chances, strict=True):
            centred = values - weights @ values
            mean = outcomes @ weights
            together = outcomes @ (weights[:, None] * centred)  # (outcomes, items, elements)
            covariance = (weights * centred.T) @ centred
            if self._targets is None:
                scaled = together @ np.linalg.pinv(covariance, hermitian=True)
                removed = ((scaled * together).sum(axis=-1) / mean).sum(axis=0)[:, None]
                worth = np.ones(1)
            else:
                variance = np.maximum(np.diagonal(covariance), np.finfo(float).tiny)
                removed = (together**2 / mean[..., None]).sum(axis=0) / variance
                worth = np.array([self._targets.get(name, 0) for name in self._running.elements])
            found -= chance / 2 * (np.log1p(-removed.clip(max=1 - 1e-9)) @ worth)
        return found
