"""How independent draws of two numbers compare: which is larger, and by how much."""

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np


class Superiority(NamedTuple):
    """Probabilities of being larger, and their Monte Carlo standard errors; shape (others,)."""

    probability: np.ndarray
    error: np.ndarray


def superiority(
    one: np.ndarray, others: np.ndarray, ess: float, other_ess: np.ndarray
) -> Superiority:
    r"""Compute how probably one number is larger than others that are independent of it.

    .. math:: \hat p = \frac{1}{n m} \sum_{i,j} h(x_i - y_j), \qquad
        \mathrm{se}^2 = \frac{\mathrm{var}_i \hat F_y(x_i)}{\mathrm{ess}_x}
        + \frac{\mathrm{var}_j \hat F_x(y_j)}{\mathrm{ess}_y}

    with h = 1 where x is larger, a half for a tie, 0 elsewhere: the Mann-Whitney statistic of all
    pairs. An error is no smaller than one over the smaller effective sample size, since draws that
    never cross do not say that the probability is 0.

    Parameters
    ----------
    one : ndarray, shape (draws,)
        In ascending order.
    others : ndarray, shape (others, draws)
        Each in ascending order.
    ess : float
        Effective sample size of the one.
    other_ess : ndarray, shape (others,)
        Of the others.

    Returns
    -------
    Superiority
        In [0, 1].

    References
    ----------
    Mann, H. B. and Whitney, D. R. (1947), Annals of Mathematical Statistics 18; DeLong, E. R.,
    DeLong, D. M. and Clarke-Pearson, D. L. (1988), Biometrics 44, equations 4 and 5, for the
    variance.

    Examples
    --------
    >>> ahead = superiority(np.array([1.0, 3.0]), np.array([[0.0, 3.0]]), 2.0, np.array([2.0]))
    >>> ahead.probability
    array([0.625])
    """
    low, high = (np.searchsorted(one, others.ravel(), side) for side in ("left", "right"))
    below = ((low + high) / 2).reshape(others.shape)
    return _of_counts(below, len(one), ess, other_ess)


def _of_counts(below: np.ndarray, draws: int, ess: float, other_ess: np.ndarray) -> Superiority:
    """Compare one number's draws with others, given how many lie below each of the others'."""
    length = below.shape[1]
    pairs = draws * length
    # the j-th other draw is the larger of the two in 2 j - 1 pairs of them
    total, weighted = (below @ np.stack([np.ones(length), 2 * np.arange(length) + 1.0], axis=1)).T
    squares = np.einsum("ij,ij->i", below, below)  # sums of whole numbers and halves: exact
    probability = 1 - total / pairs
    own = np.maximum(1 - weighted / (pairs * length) - probability**2, 0)
    theirs = np.maximum(length * squares - total**2, 0) / pairs**2
    error = np.sqrt(own / ess + theirs / other_ess)
    return Superiority(probability, np.maximum(error, 1 / np.minimum(ess, other_ess)))


_FEW = 32  # of which part of all numbers others are fewer that are compared one by one


@dataclass(frozen=True, eq=False)
class Ranked:
    """Draws of many numbers in one order, so that each is compared with all others at once.

    Attributes
    ----------
    draws : ndarray, shape (numbers, draws)
        Each row in ascending order.
    ordered : ndarray, shape (numbers times draws,)
        All of them in ascending order.
    places : ndarray of int, shape (numbers, draws)
        Where each is among these.

    Examples
    --------
    >>> ranked = Ranked.of(np.array([[0.0, 3.0], [2.0, 4.0]]))
    >>> ahead = ranked.superiority(np.array([1.0, 3.0]), np.arange(2), 2.0, np.array([2.0, 2.0]))
    >>> ahead.probability
    array([0.625, 0.25 ])
    """

    draws: np.ndarray
    ordered: np.ndarray
    places: np.ndarray

    @classmethod
    def of(cls, draws: np.ndarray) -> Self:
        """Order draws, given each number's in ascending order."""
        order = np.argsort(draws, axis=None, kind="stable")
        places = np.empty(draws.size, dtype=int)
        places[order] = np.arange(draws.size)
        return cls(draws, draws.ravel()[order], places.reshape(draws.shape))

    def superiority(
        self, one: np.ndarray, rows: np.ndarray, ess: float, other_ess: np.ndarray
    ) -> Superiority:
        """Compute how probably one number is larger than some of these; see `superiority`.

        Parameters
        ----------
        one, ess, other_ess
            As in `superiority`.
        rows : ndarray of int
            Which are the others.
        """
        if _FEW * len(rows) < len(self.draws):
            return superiority(one, self.draws[rows], ess, other_ess)
        first, last = (np.searchsorted(self.ordered, one, side) for side in ("left", "right"))
        below = self._counts(last)
        if (first < last).any():
            below = (below + self._counts(first)) / 2
        return _of_counts(below.take(self.places[rows]), len(one), ess, other_ess)

    def _counts(self, places: np.ndarray) -> np.ndarray:
        """Count how many of some ascending places are at or before each place."""
        runs = np.diff(places, prepend=0, append=len(self.ordered))
        return np.repeat(np.arange(len(places) + 1.0), runs)


_GROUPS = 64  # into which each one's draws are gathered
_TOGETHER = 2**17  # differences that are looked at together
_COARSE = 4  # groups that are taken together to guess where a quantile lies ...
_SLACK = 0.015  # ... to so much probability


def gathered(draws: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Gather ascending draws into groups, small ones at both ends, and take their means.

    Parameters
    ----------
    draws : ndarray, shape (subjects, draws)
        Each row in ascending order.

    Returns
    -------
    means : ndarray, shape (subjects, groups)
        Of the groups.
    weights : ndarray, shape (groups,)
        Shares of the draws in them; they add up to 1.
    """
    length = draws.shape[1]
    places = length * (1 - np.cos(np.pi * np.arange(_GROUPS + 1) / _GROUPS)) / 2
    edges = np.unique(np.round(places).astype(int))
    sizes = np.diff(edges)
    return np.add.reduceat(draws, edges[:-1], axis=1) / sizes, sizes / length


def quantiles_of_difference(
    one: tuple[np.ndarray, np.ndarray], other: tuple[np.ndarray, np.ndarray], levels: np.ndarray
) -> np.ndarray:
    """Compute quantiles of differences, pair by pair.

    All differences of two sets of gathered draws stand for those of all pairs of draws. The error
    is some thousandths of a standard deviation, far below the Monte Carlo error of the draws.

    Parameters
    ----------
    one, other : pair of ndarray
        Means of shape (pairs, groups) and weights, as `gathered` returns them.
    levels : ndarray
        Probabilities.

    Returns
    -------
    ndarray, shape (pairs, levels)
        In the numbers' unit.

    Examples
    --------
    >>> draws = np.sort(np.random.default_rng(1).normal(size=(2, 4000)))
    >>> ann, bob = gathered(draws[:1]), gathered(draws[1:])
    >>> quantiles_of_difference(ann, bob, np.array([0.05, 0.95])).round(1)
    array([[-2.3,  2.3]])
    """
    found = np.empty((len(one[0]), len(levels)))
    coarse = _coarse(*one), _coarse(*other)
    step = max(1, _TOGETHER // (len(one[1]) * len(other[1])))
    for start in range(0, len(found), step):
        part = slice(start, start + step)
        gaps, weights = _differences(one, other, part)
        rough, rough_weights = _differences(*coarse, part)
        order = np.argsort(rough, axis=1)
        upto = np.cumsum(rough_weights[order], axis=1)
        rough = np.take_along_axis(rough, order, axis=1)
        for place, level in enumerate(levels):
            ends = _bracket(rough, upto, level)
            found[part, place] = _quantile(gaps, weights, float(level), *ends)
    return found


def _differences(
    one: tuple[np.ndarray, np.ndarray], other: tuple[np.ndarray, np.ndarray], part: slice
) -> tuple[np.ndarray, np.ndarray]:
    """Take all differences of the groups' means in some pairs, and their weights."""
    (means, weights), (other_means, other_weights) = one, other
    joint = np.outer(weights, other_weights).ravel()
    return (means[part, :, None] - other_means[part, None]).reshape(-1, len(joint)), joint


def _coarse(means: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Take neighbouring groups together."""
    starts = np.arange(0, len(weights), _COARSE)
    sums = np.add.reduceat(weights, starts)
    return np.add.reduceat(means * weights, starts, axis=1) / sums, sums


def _bracket(ordered: np.ndarray, upto: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
    """Guess between which values a quantile lies, given ascending ones and their summed weights."""
    rows = np.arange(len(ordered))
    first = (upto < level - _SLACK).sum(axis=1) - 1
    last = (upto < level + _SLACK).sum(axis=1) + 1
    low = np.where(first >= 0, ordered[rows, first], -np.inf)
    most = ordered.shape[1] - 1
    return low, np.where(last <= most, ordered[rows, np.minimum(last, most)], np.inf)


def _quantile(
    values: np.ndarray, weights: np.ndarray, level: float, low: np.ndarray, high: np.ndarray
) -> np.ndarray:
    """Compute one quantile of each row of weighted values; only those between two ends are sorted.

    Where the quantile is not between them, all values are.
    """
    before = values < low[:, None]
    row, place = np.divmod(np.flatnonzero((values <= high[:, None]) & ~before), len(weights))
    count = np.bincount(row, minlength=len(values))
    column = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
    own = np.full((len(values), count.max(initial=1)), np.inf)
    share = np.zeros_like(own)
    own[row, column], share[row, column] = values[row, place], weights[place]
    order = np.argsort(own, axis=1)
    own, share = (np.take_along_axis(each, order, axis=1) for each in (own, share))
    upto = (before @ weights)[:, None] + np.cumsum(share, axis=1) - share / 2
    rows, last = np.arange(len(values)), np.maximum(count - 1, 0)
    left = np.clip((upto <= level).sum(axis=1) - 1, 0, last)
    right = np.minimum(left + 1, last)
    gap = upto[rows, right] - upto[rows, left]
    part = np.divide(level - upto[rows, left], gap, out=np.zeros(len(rows)), where=gap > 0)
    missed = (count == 0) | (upto[:, 0] > level) | (upto[rows, last] < level)
    with np.errstate(invalid="ignore"):  # of those that were missed
        found = own[rows, left] + part * (own[rows, right] - own[rows, left])
    for at in np.flatnonzero(missed):
        order = np.argsort(values[at])
        middles = np.cumsum(weights[order]) - weights[order] / 2
        found[at] = np.interp(level, middles, values[at, order])
    return np.asarray(found)
