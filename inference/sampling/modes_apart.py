"""Chains that stay apart: each in a mode of its own."""

from collections.abc import Sequence

import numpy as np

from ...common.messages import many
from .rhat_ess import mixing

_SETTLED = 100  # effective draws within modes, below which chains may be slow instead
_TAIL = 0.005  # of a chain's draws at either end, that may stray to another mode


def separate(draws: np.ndarray) -> np.ndarray:
    """Group chains whose draws of one profile element overlap.

    Parameters
    ----------
    draws : ndarray, shape (chain, draw)
        Of the element.

    Returns
    -------
    ndarray of int, shape (chain,)
        Group of each chain, 0 for the lowest. Between two groups there is a value that the central
        99 % of every chain's draws lie on one side of. All are one group where the draws within
        the groups are worth fewer than 100 independent ones: such chains may be slow instead.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> separate(rng.normal(size=(4, 250)) + [[9], [0], [9], [0]])
    array([1, 0, 1, 0])
    """
    low, high = np.quantile(draws, [_TAIL, 1 - _TAIL], axis=-1)
    order = np.argsort(low)
    reached = np.maximum.accumulate(high[order])
    group = np.empty(len(draws), dtype=int)
    group[order] = np.cumsum(np.append(False, low[order][1:] > reached[:-1]))
    if (
        group.max()
        and effective_within(draws, np.broadcast_to(group[:, None], draws.shape)) < _SETTLED
    ):
        return np.zeros_like(group)
    return group


def effective_within(draws: np.ndarray, mode: np.ndarray) -> float:
    """Count effective draws of one element within modes, by their ranks there.

    They are as many as if all modes mixed as slowly as the slowest one: a chain that is stuck for a
    while makes no mode.

    Parameters
    ----------
    draws : ndarray, shape (chain, draw)
        Of the element.
    mode : ndarray of int, shape (chain, draw)
        Which mode each is in.

    Returns
    -------
    float
        No more than there are draws. How seldom chains change modes does not lower it.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> apart = rng.normal(size=(4, 250)) + [[9], [0], [9], [0]]
    >>> bool(effective_within(apart, (apart > 4).astype(int)) > 900 > 10 > mixing(apart).ess_bulk)
    True
    """
    values, modes = draws.ravel(), mode.ravel()
    order = np.lexsort([values, modes])
    counts = np.bincount(modes)
    rank = np.empty(len(values))
    rank[order] = np.arange(len(values)) - np.repeat(np.cumsum(counts) - counts, counts)
    place = ((rank + 0.5) / counts[modes] - 0.5).reshape(draws.shape)
    within = np.stack([np.where(mode == number, place, 0.0) for number in range(len(counts))])
    return min(float(mixing(within).ess_bulk.min()), float(draws.size))


def stay_apart(draws: np.ndarray, rhat: np.ndarray, limit: float, names: Sequence[str]) -> str:
    """Say in which modes the chains stay.

    Parameters
    ----------
    draws : ndarray, shape (element, chain, draw)
        One subject's.
    rhat : ndarray, shape (element,)
        Of the same.
    limit : float
        R-hat up to which an element is not looked at.
    names : sequence of str
        Of the profile elements.

    Returns
    -------
    str
        Median of each mode and its number of chains, by as many profile elements as it takes to
        tell the modes apart; empty when the chains' draws overlap.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> draws = rng.normal(size=(1, 4, 250)) / 9 + [[-1], [2], [-1], [2]]
    >>> stay_apart(draws, np.array([2.3]), 1.01, ["mood"])
    'the chains stay in 2 separate modes of unknown weight: mood near -1.01 (2 chains),
    2 (2 chains)'
    """
    mode = np.zeros(draws.shape[1], dtype=int)
    telling: list[int] = []
    for element in np.argsort(-rhat):
        if rhat[element] > limit:
            pairs = np.stack([mode, separate(draws[element])], axis=1)
            both = np.unique(pairs, axis=0, return_inverse=True)[1].ravel()
            if both.max() > mode.max():
                mode = both
                telling.append(element)
    if not telling:
        return ""
    places = []
    for number in range(mode.max() + 1):
        own = mode == number
        middle = _listed([f"{np.median(draws[element][own]):.3g}" for element in telling])
        places.append(f"{middle} ({many(int(own.sum()), 'chain')})")
    return (
        f"the chains stay in {len(places)} separate modes of unknown weight: "
        f"{_listed([names[element] for element in telling])} near {', '.join(places)}"
    )


def _listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"({', '.join(words)})"
