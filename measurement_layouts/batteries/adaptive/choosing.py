"""Choice of the most informative item about a subject, given its answers so far."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...inference.sequential.running import Running
from ...layouts.elements import Element

MOST = 32  # items whose information is computed with all particles
_STAGES = (32, 256), (8, MOST), (1, MOST)  # one in so many particles finds so many items
_SCENARIOS = 64  # most combinations of outcomes of items in flight


@dataclass(frozen=True, eq=False)
class Drawn:
    """A subject's draws with equal weights, for a choice as among the particles of `Running`.

    Attributes
    ----------
    elements : list of Element
        Elements of the profile.
    values : ndarray, shape (draws, elements)
        Profile elements.
    table : ndarray, shape (rows, draws)
        Success probabilities on the rows of a bank.
    shared : bool
        Whether draws differ in more than the subject's own values.
    """

    elements: list[Element]
    values: np.ndarray
    table: np.ndarray
    shared: bool

    @property
    def weights(self) -> np.ndarray:
        """Weights of the draws; they sum to 1."""
        return np.full(len(self.values), 1 / len(self.values))

    def chances(self, rows: np.ndarray, draws: slice) -> np.ndarray:
        """Success probabilities on rows of the bank, shape (rows, draws)."""
        return np.asarray(self.table[rows][:, draws])


class _Table(NamedTuple):
    """Probabilities of some items' outcomes, with their positions by item."""

    place: np.ndarray
    parts: list[np.ndarray]


class Chooser:
    r"""Expected information of items' outcomes.

    Without targets, the information is the mutual information of the outcome y and the profile,

    .. math:: I(y; \theta) = H\Big(\sum_j w_j p_j\Big) - \sum_j w_j H(p_j),

    with particles of weight :math:`w_j` under which outcomes have probabilities :math:`p_j`. With
    targets k it is the sum of :math:`-\frac{v_k}{2} \log(1 - r_k^2)` with the weights
    :math:`v_k`, where :math:`r_k^2` is the share of the posterior variance of k that the outcome
    is expected to remove,

    .. math:: r_k^2 = \frac{1}{\mathrm{var}(\theta_k)}
        \sum_y \frac{\mathrm{cov}(\theta_k, p(y \mid \theta))^2}{\bar p(y)},

    which is exact. With a joint fit of others, information about shared values must not count;
    the information is then that of the best linear prediction, from all elements at once.

    The information is averaged over the outcomes of items in flight: exactly if there are few
    combinations, and otherwise over 64 draws of them.

    Parameters
    ----------
    running : Running or Drawn
        The posterior so far; the attribute of this name is replaced when answers arrive.
    rows : ndarray of int, shape (items, rows)
        Positions of each item's rows in the bank, one row or one for each step.
    ends : ndarray of int
        Ends of the outcomes among the rows of an item.
    targets : mapping of str to float, optional
        Weights by profile element.
    """

    def __init__(
        self,
        running: Running | Drawn,
        rows: np.ndarray,
        ends: Sequence[int],
        targets: Mapping[str, float] | None,
    ) -> None:
        self.running, self._rows, self._ends = running, rows, ends
        self._targets = targets
        self._values, self._known = running.values, dict[int, _Table]()

    def best(self, open_: np.ndarray, flight: Sequence[int], costs: np.ndarray) -> np.ndarray:
        """Find the items with most information per cost, the best first; at most 32.

        Parameters
        ----------
        open_ : ndarray of int
            Items that may be asked.
        flight : sequence of int
            Items that were asked and not answered.
        costs : ndarray, shape (items,)
            Costs of all items.
        """
        if self._values is not self.running.values:  # the particles were moved
            self._values, self._known = self.running.values, {}
        scenarios, chances = self._scenarios(flight, self.running.weights)
        best = open_
        for every, most in _STAGES:
            if every > 1 and len(best) <= most:
                continue
            own = scenarios[:, ::every]
            own = own / own.sum(axis=1, keepdims=True)
            worth = self._worth(self.outcomes(best, every), own, chances, every) / costs[best]
            best = best[np.argsort(-worth, kind="stable")[:most]]
        return best[:MOST]

    def outcomes(self, items: np.ndarray, every: int = 1) -> np.ndarray:
        """Probabilities of items' outcomes at some particles, shape (outcomes, items, draws)."""
        if every not in self._known:
            self._known[every] = _Table(np.full(len(self._rows), -1), [])
        known = self._known[every]
        missing = items[known.place[items] < 0]
        if len(missing):
            start = sum(map(len, known.parts))
            known.parts.append(self._cells(missing, slice(None, None, every)))
            known.place[missing] = start + np.arange(len(missing))  # last, if it is interrupted
        if len(known.parts) > 1:
            known.parts[:] = [np.concatenate(known.parts)]
        return np.moveaxis(known.parts[0][known.place[items]], 1, 0)

    def _cells(self, items: np.ndarray, draws: slice) -> np.ndarray:
        """Compute probabilities of items' outcomes, shape (items, outcomes, draws).

        An item with several outcomes has one probability for each combination of them.
        """
        rows = self._rows[items]
        passed = self.running.chances(rows.ravel(), draws).astype(np.float32)
        passed = passed.reshape(*rows.shape, -1)
        found = np.ones((len(items), 1, passed.shape[-1]), np.float32)
        start = 0
        for end in self._ends:
            reached = np.cumprod(passed[:, start:end], axis=1)
            above = np.concatenate([np.ones_like(reached[:, :1]), reached], axis=1)
            each = above - np.concatenate([reached, np.zeros_like(reached[:, :1])], axis=1)
            found = (found[:, :, None] * each[:, None]).reshape(len(items), -1, found.shape[-1])
            start = end
        return found

    def _scenarios(
        self, flight: Sequence[int], weights: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Weight the particles by outcomes in flight, (combinations, draws), with probabilities."""
        found, chances = weights[None], np.ones(1)
        rng = np.random.default_rng(len(flight))
        for item in flight:
            outcomes = self.outcomes(np.array([item]))[:, 0]
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
        self, outcomes: np.ndarray, scenarios: np.ndarray, chances: np.ndarray, every: int
    ) -> np.ndarray:
        """Compute the information of items, averaged over outcomes of items in flight."""
        if self._targets is None and not self.running.shared:
            weights = scenarios.T.astype(np.float32)
            own, mean = _entropy(outcomes) @ weights, outcomes @ weights
            return np.asarray((_entropy(mean) - own) @ chances)
        values = self.running.values[::every]
        found = np.zeros(outcomes.shape[1])
        for weights, chance in zip(scenarios, chances, strict=True):
            if self._targets is None:
                centred = values - weights @ values
                mean = outcomes @ weights
                together = outcomes @ (weights[:, None] * centred)  # (outcomes, items, elements)
                covariance = (weights * centred.T) @ centred
                scaled = together @ np.linalg.pinv(covariance, hermitian=True)
                removed = ((scaled * together).sum(axis=-1) / mean).sum(axis=0)[:, None]
                worth = np.ones(1)
            else:
                removed = variance_removed(outcomes, values, weights)
                worth = np.array([self._targets.get(one.name, 0) for one in self.running.elements])
            found -= chance / 2 * (np.log1p(-removed.clip(max=1 - 1e-9)) @ worth)
        return found


def variance_removed(outcomes: np.ndarray, values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Compute the share of each element's variance that an answer removes; see `Chooser`.

    Parameters
    ----------
    outcomes : ndarray, shape (outcomes, items, draws)
        Probabilities of the outcomes.
    values : ndarray, shape (draws, elements)
        Profile elements.
    weights : ndarray, shape (draws,)
        Weights of the draws; they sum to 1.

    Returns
    -------
    ndarray, shape (items, elements)
        Shares from 0 to 1.
    """
    centred = values - weights @ values
    together = outcomes @ (weights[:, None] * centred)
    tiny = np.finfo(float).tiny
    means, variance = outcomes @ weights, weights @ centred**2
    removed = (together**2 / np.maximum(means, tiny)[..., None]).sum(axis=0)
    return np.asarray((removed / np.maximum(variance, tiny)).clip(max=1))


def _entropy(outcomes: np.ndarray) -> np.ndarray:
    """Entropy of outcomes along the first axis, in nats."""
    tiny = np.finfo(outcomes.dtype).tiny
    return np.asarray(-(outcomes * np.log(np.maximum(outcomes, tiny))).sum(axis=0))
