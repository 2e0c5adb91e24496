"""Choice of the most informative item about a subject, given its answers so far."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

MOST = 32  # items whose information is computed with all particles
_STAGES = (32, 256), (8, MOST), (1, MOST)  # one in so many particles finds so many items
_SCENARIOS = 64  # most combinations of outcomes of items in flight


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
    rows : ndarray of int, shape (items, rows)
        Positions of each item's rows in the bank, one row or one for each step.
    ends : ndarray of int
        Ends of the outcomes among the rows of an item.
    targets : mapping of str to float, optional
        Weights by profile element.
    """

    def __init__(
        self, rows: np.ndarray, ends: Sequence[int], targets: Mapping[str, float] | None
    ) -> None:
        self._rows, self._ends, self._targets = rows, ends, targets
        self._values: np.ndarray | None = None
        self._tables: dict[int, tuple[np.ndarray, list[np.ndarray]]] = {}

    def best(
        self, source: Any, open_: np.ndarray, flight: Sequence[int], costs: np.ndarray
    ) -> np.ndarray:
        """Find the items with most information per cost, the best first; at most 32.

        Parameters
        ----------
        source : Running
            The posterior so far, or other draws with `elements`, `values`, `weights`, `shared` and
            `chances`.
        open_ : ndarray of int
            Items that may be asked.
        flight : sequence of int
            Items that were asked and not answered.
        costs : ndarray, shape (items,)
            Costs of all items.
        """
        scenarios, chances = self._scenarios(source, flight)
        best = open_
        for every, most in _STAGES:
            if every > 1 and len(best) <= most:
                continue
            weights = scenarios[:, ::every]
            weights = weights / weights.sum(axis=1, keepdims=True)
            outcomes = self.outcomes(source, best, every)
            worth = self._worth(source, outcomes, weights, chances, every) / costs[best]
            best = best[np.argsort(-worth, kind="stable")[:most]]
        return best[:MOST]

    def outcomes(self, source: Any, items: np.ndarray, every: int = 1) -> np.ndarray:
        """Probabilities of items' outcomes, shape (outcomes, items, draws).

        They are kept until the draws change, with the position of each item among them.
        """
        if self._values is not source.values:
            self._values, self._tables = source.values, {}
        count = len(self._rows)
        positions, tables = self._tables.get(every, (np.full(count, -1), []))
        missing = items[positions[items] < 0]
        if len(missing) or not tables:
            if every == _STAGES[0][0]:  # all at once, for which `Running` is prepared
                missing = np.arange(count)
            computed = self._cells(source, missing, slice(None, None, every))
            tables = [np.concatenate([*tables, computed])]
            positions = positions.copy()
            positions[missing] = np.arange(len(tables[0]) - len(missing), len(tables[0]))
            self._tables[every] = positions, tables
        return np.moveaxis(tables[0][positions[items]], 1, 0)

    def _cells(self, source: Any, items: np.ndarray, draws: slice) -> np.ndarray:
        """Compute probabilities of items' outcomes, shape (items, outcomes, draws).

        An item with several outcomes has one probability for each combination of them.
        """
        rows = self._rows[items]
        chances = source.chances(rows.ravel(), draws).astype(np.float32)
        passed = chances.reshape(*rows.shape, chances.shape[-1])
        one, start = np.float32(1), 0
        combined = np.ones((len(items), 1, passed.shape[-1]), np.float32)
        for end in self._ends:
            reached = np.cumprod(passed[:, start:end], axis=1)
            levels = -np.diff(reached, axis=1, prepend=one, append=0 * one)
            pairs = combined[:, :, None] * levels[:, None]
            count = pairs.shape[1] * pairs.shape[2]
            combined, start = pairs.reshape(len(items), count, passed.shape[-1]), end
        return combined

    def _scenarios(self, source: Any, flight: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        """Weight the draws by outcomes in flight, (combinations, draws), with probabilities."""
        scenarios, chances = source.weights[None], np.ones(1)
        rng = np.random.default_rng(len(flight))
        for item in flight:
            outcomes = self.outcomes(source, np.array([item]))[:, 0]
            mass = scenarios @ outcomes.T
            if len(scenarios) * len(outcomes) <= _SCENARIOS:
                chances = (chances[:, None] * mass).ravel()
                scenarios = (scenarios[:, None] * outcomes).reshape(-1, scenarios.shape[1])
            else:
                ends = np.cumsum(mass, axis=1)
                drawn = (rng.random((len(mass), 1)) * ends[:, -1:] > ends[:, :-1]).sum(axis=1)
                scenarios = scenarios * outcomes[drawn]
            sums = scenarios.sum(axis=1, keepdims=True)
            possible = sums[:, 0] > 0
            scenarios, chances = scenarios[possible] / sums[possible], chances[possible]
        return scenarios, chances / chances.sum()

    def _worth(
        self,
        source: Any,
        outcomes: np.ndarray,
        scenarios: np.ndarray,
        chances: np.ndarray,
        every: int,
    ) -> np.ndarray:
        """Compute the information of items, averaged over outcomes of items in flight."""
        if self._targets is None and not source.shared:
            weights = scenarios.T.astype(np.float32)
            known_profile = _entropy(outcomes) @ weights
            return np.asarray((_entropy(outcomes @ weights) - known_profile) @ chances)
        values, worth = source.values[::every], np.zeros(outcomes.shape[1])
        for weights, chance in zip(scenarios, chances, strict=True):
            if self._targets is None:
                removed, prices = _removed_together(outcomes, values, weights), np.ones(1)
            else:
                removed = variance_removed(outcomes, values, weights)
                prices = np.array([self._targets.get(one.name, 0) for one in source.elements])
            worth -= chance / 2 * (np.log1p(-removed.clip(max=1 - 1e-9)) @ prices)
        return worth


def _removed_together(outcomes: np.ndarray, values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Compute the share of the variance of the best linear prediction that an answer removes."""
    centred = values - weights @ values
    together = outcomes @ (weights[:, None] * centred)  # (outcomes, items, elements)
    scaled = together @ np.linalg.pinv((weights * centred.T) @ centred, hermitian=True)
    removed = (scaled * together).sum(axis=-1) / (outcomes @ weights)
    return np.asarray(removed.sum(axis=0)[:, None])


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
