"""Shares of a failure: for each draw, Shapley values of parts or demands."""

import math

import numpy as np

_EXACT = 10  # greatest number of players for which all sets are computed
_ORDERS = 32  # approximate number of orders for more players; each is also reversed


def coalitions(players: int) -> tuple[np.ndarray, np.ndarray]:
    r"""List sets of players, and the weights of their values in Shapley's values.

    .. math:: \phi_k = \sum_{S \not\ni k} \frac{|S|! \, (K - |S| - 1)!}{K!}
        \left( v(S \cup k) - v(S) \right)

    Parameters
    ----------
    players : int
        The number of players K. With more than 10, the values are means over about 64 orders of
        the players. The orders are always the same: random ones, rotated so that each player has
        each position equally often, and the reverse of each.

    Returns
    -------
    sets : ndarray of bool, shape (sets, players)
        Sets of players. The first is empty; then come each player alone, all but one, and all.
    weights : ndarray, shape (players, sets)
        Weights whose product with v gives Shapley's values.

    References
    ----------
    Shapley (1953), A value for n-person games; Castro, Gomez and Tejada (2009), Polynomial
    calculation of the Shapley value based on sampling, Computers & Operations Research 36.

    Examples
    --------
    >>> sets, weights = coalitions(2)
    >>> weights @ sets.all(axis=1)
    array([0.5, 0.5])
    """
    alone = np.eye(players, dtype=bool)
    ends = [np.zeros((1, players), dtype=bool), alone, ~alone, np.ones((1, players), dtype=bool)]
    if players <= _EXACT:
        every = (np.arange(2**players)[:, None] >> np.arange(players)) & 1
        sets = _each_once(np.concatenate([*ends, every.astype(bool)]))
        place = {row.tobytes(): at for at, row in enumerate(sets)}
        weights = np.zeros((players, len(sets)))
        sizes = sets.sum(axis=1)
        for at, row in enumerate(sets):
            for player in np.flatnonzero(~row):
                share = math.factorial(sizes[at]) * math.factorial(players - sizes[at] - 1)
                after = row.copy()
                after[player] = True
                weights[player, place[after.tobytes()]] += share / math.factorial(players)
                weights[player, at] -= share / math.factorial(players)
        return sets, weights
    rng = np.random.default_rng(0)
    first = [rng.permutation(players) for _ in range(math.ceil(_ORDERS / players))]
    orders = np.array([np.roll(order, turn) for order in first for turn in range(players)])
    orders = np.concatenate([orders, orders[:, ::-1]])
    steps = np.tril(np.ones((players + 1, players), dtype=bool), -1)
    before = np.zeros((len(orders), players + 1, players), dtype=bool)
    np.put_along_axis(before, np.broadcast_to(orders[:, None], before.shape), steps[None], axis=2)
    sets = _each_once(np.concatenate([*ends, before.reshape(-1, players)]))
    place = {row.tobytes(): at for at, row in enumerate(sets)}
    weights = np.zeros((players, len(sets)))
    for order, rows in zip(orders, before, strict=True):
        reached = [place[row.tobytes()] for row in rows]
        weights[order, reached[1:]] += 1 / len(orders)
        weights[order, reached[:-1]] -= 1 / len(orders)
    return sets, weights


def _each_once(rows: np.ndarray) -> np.ndarray:
    """Keep the first of equal rows, in order."""
    _, first = np.unique(rows, axis=0, return_index=True)
    return np.asarray(rows[np.sort(first)])


def weighted(values: np.ndarray, weights: np.ndarray, prob: float) -> tuple[float, float, float]:
    """Compute the weighted mean of draws, and their equal-tailed interval.

    Parameters
    ----------
    values, weights : ndarray, shape (draws,)
        Draws, and their weights, which add up to 1. If the weights are not finite or add up to 0,
        the result is NaN.
    prob : float
        Mass of the interval.

    Examples
    --------
    >>> weighted(np.array([0.0, 1.0, 5.0]), np.array([0.5, 0.5, 0.0]), 0.9)
    (0.5, 0.0, 1.0)
    """
    if not np.isfinite(weights).all() or weights.sum() <= 0:
        return (math.nan, math.nan, math.nan)
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weights[order])
    ends = np.searchsorted(reached / reached[-1], [(1 - prob) / 2, (1 + prob) / 2])
    low, high = values[order][np.minimum(ends, len(values) - 1)]
    return float(values @ weights), float(low), float(high)
