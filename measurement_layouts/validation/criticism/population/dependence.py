"""Local dependence: items that have more in common than the layout implies."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from .attempts import attempts
from .louis import adjusted, intervals, louis
from .residuals import Block, Residuals
from .saddlepoint import tails

_SHOWN = 20  # smallest number of pairs in the table, besides all that are flagged
TOGETHER = "all together"
_OUTCOMES = 512  # number of replicated outcomes of a testlet
COLUMNS = ["testlet", "item", "other", "items", "subjects", "effect", "low", "high", "q3"]
COLUMNS += ["widening", "z", "p", "p_adjusted", "flagged"]


def pairs(residuals: Residuals, *, alpha: float, prob: float) -> pd.DataFrame:
    r"""Test each pair of items for outcomes with more in common than the layout expects.

    The alternative is the joint distribution of the layout times :math:`1 + \beta r_j r_k`, with
    the residuals :math:`r = y - n p`. To first order, :math:`\beta` is the covariance, in squared
    log-odds, of effects of a subject on both items (the variance of a common effect, if the slope
    is 1). The score is :math:`U = \sum_i r_{ij} r_{ik}`, and the information
    :math:`J = \sum_i w_{ij} w_{ik}`; see `louis.louis`.

    Parameters
    ----------
    residuals : Residuals
        Residuals of a joint fit.
    alpha : float
        Probability of any false alarm over all pairs.
    prob : float
        Mass of the intervals.

    Returns
    -------
    DataFrame
        The flagged pairs, and at least the 20 pairs with the smallest p values, which are adjusted
        for the number of all pairs. If cells have several attempts, there is also a row for these;
        see `attempts.attempts`.

        - ``testlet``: empty; ``item``, ``other``: the pair; ``items``: 2; ``subjects``: number of
          subjects that attempted both items.
        - ``effect``, ``low``, ``high``: :math:`\beta`, with an approximate interval.
        - ``q3``: correlation of the residuals at the mean probabilities (Yen 1984).
        - ``widening``: approximate factor by which intervals of a subject's level are too narrow
          because of this effect: the root of the mean of :math:`1 + 2 \beta w_j w_k / \sum_l w_l`.
        - ``z``, ``p``, ``p_adjusted``, ``flagged``; p from the saddlepoint approximation.

    References
    ----------
    Yen, W. M. (1984), Effects of local item dependence on the fit and equating performance of the
    three-parameter logistic model, Applied Psychological Measurement 8. Glas, C. A. W. and Suarez
    Falcon, J. C. (2003), A comparison of item-fit statistics for the three-parameter logistic
    model, Applied Psychological Measurement 27.
    """
    first, second = np.triu_indices(len(residuals.items), 1)

    def scores(block: Block) -> tuple[np.ndarray, np.ndarray]:
        """Sum the products of both items' residuals, and of their weights."""
        crossed = (
            np.matmul(each.transpose(0, 2, 1), each) for each in (block.leftover, block.weights)
        )
        score, information = (each[:, first, second] for each in crossed)
        return score, information

    tested = louis(residuals, scores)
    columns = intervals(tested, prob)
    both = (residuals.trials > 0).astype(float)
    weights = residuals.centre.weights[0]
    products = weights.T @ (weights / np.maximum(weights.sum(axis=1), 1e-12)[:, None])
    part = products[first, second] / len(weights)
    names = np.array(residuals.items, dtype=object)
    made = pd.DataFrame(
        {
            "testlet": "",
            "item": names[first],
            "other": names[second],
            "items": 2,
            "subjects": (both.T @ both)[first, second].astype(int),
            **columns,
            "q3": q3(residuals)[first, second],
            "widening": np.sqrt(np.maximum(1 + 2 * columns["effect"] * part, 0)),
            "p": _chances(residuals, columns["z"], first, second),
        }
    )
    made = adjusted(pd.concat([made, attempts(residuals, prob)]), alpha)[COLUMNS]
    ordered = made.sort_values("p", kind="stable", ignore_index=True)
    return ordered.head(max(_SHOWN, int(ordered["flagged"].sum())))


def q3(residuals: Residuals) -> np.ndarray:
    """Correlate the residuals of each two items at the mean probabilities; (items, items)."""
    tried = residuals.trials > 0
    left = residuals.centre.leftover[0]
    left = np.where(tried, left - left.sum(axis=0) / np.maximum(tried.sum(axis=0), 1), 0)
    squares = (left**2).T @ tried.astype(float)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(left.T @ left / np.sqrt(squares * squares.T))


def testlets(
    residuals: Residuals, groups: Mapping[str, np.ndarray], *, alpha: float, prob: float, seed: int
) -> pd.DataFrame:
    r"""Test whether the items of a testlet have more in common than the layout expects.

    The test is that of `pairs`, with one :math:`\beta` for all pairs of a testlet's items.

    Parameters
    ----------
    residuals : Residuals
        Residuals of a joint fit.
    groups : mapping of str to ndarray of int
        By testlet, the positions of its items, at least two.
    alpha : float
        Probability of any false alarm in the table.
    prob : float
        Mass of the intervals.
    seed : int
        Seed of the replicated outcomes, from which p values are computed.

    Returns
    -------
    DataFrame
        One row per testlet, with the columns of `pairs`. If there are several testlets, there is
        also a row for all together, and if cells have several attempts, one for these. ``item`` and
        ``other`` are empty, and ``q3`` is the mean over pairs.
    """
    places = list(groups.values())

    def scores(block: Block) -> tuple[np.ndarray, np.ndarray]:
        """Sum over pairs and subjects."""
        found = (_over_testlets(each, places) for each in (block.leftover, block.weights))
        score, information = (each.sum(axis=1) for each in found)
        return score, information

    columns = intervals(louis(residuals, scores), prob)
    weights = residuals.centre.weights
    total = np.maximum(weights[0].sum(axis=1), 1e-12)
    part = (_over_testlets(weights, places)[0] / total[:, None]).mean(axis=0)
    tried = (residuals.trials > 0).astype(float)
    shared = _over_testlets(tried[None], places)[0] > 0
    made = pd.DataFrame(
        {
            "testlet": [*groups, TOGETHER][: len(part)],
            "item": "",
            "other": "",
            "items": [*map(len, places), sum(map(len, places))][: len(part)],
            "subjects": shared.sum(axis=0),
            **columns,
            "q3": _means_of_pairs(q3(residuals), places)[: len(part)],
            "widening": np.sqrt(np.maximum(1 + 2 * columns["effect"] * part, 0)),
            "p": _testlet_chances(residuals, columns["z"], places, seed),
        }
    )
    made = adjusted(pd.concat([made, attempts(residuals, prob)]), alpha)[COLUMNS]
    return made.sort_values("p", kind="stable", ignore_index=True)


def _over_testlets(values: np.ndarray, places: Sequence[np.ndarray]) -> np.ndarray:
    """Sum products over the pairs of each testlet and of all; (draws, subjects, testlets)."""
    parts = [values[:, :, own] for own in places]
    each = np.stack([(x.sum(axis=2) ** 2 - (x**2).sum(axis=2)) / 2 for x in parts], axis=2)
    if len(places) == 1:
        return each
    return np.concatenate([each, each.sum(axis=2, keepdims=True)], axis=2)


def _means_of_pairs(values: np.ndarray, places: Sequence[np.ndarray]) -> list[float]:
    """Average values over the pairs of each testlet and of all."""
    pairs = [values[np.ix_(own, own)][np.triu_indices(len(own), 1)] for own in places]
    return [
        float(np.nanmean(own)) if np.isfinite(own).any() else np.nan
        for own in (*pairs, np.concatenate(pairs))
    ]


def _chances(
    residuals: Residuals, z: np.ndarray, first: np.ndarray, second: np.ndarray
) -> np.ndarray:
    """Compute p values of pairs from the four possible products of a subject's outcomes."""
    low, high, passing = (each.T for each in residuals.two_points)
    found = np.full(len(z), np.nan)
    together = max(1, 2**20 // low.shape[1])
    for start in range(0, len(z), together):
        at = slice(start, start + together)
        one, other = first[at], second[at]
        values = [x[one] * y[other] for x in (low, high) for y in (low, high)]
        p, q = passing[one], passing[other]
        chances = [(1 - p) * (1 - q), (1 - p) * q, p * (1 - q), p * q]
        found[at] = tails(z[at], np.stack(values, axis=2), np.stack(chances, axis=2))
    return found


def _testlet_chances(
    residuals: Residuals, z: np.ndarray, places: Sequence[np.ndarray], seed: int
) -> np.ndarray:
    """Compute p values of testlets from outcomes replicated with the mean probabilities."""
    rng = np.random.default_rng(seed)
    low, high, passing = residuals.two_points
    passed = rng.random((_OUTCOMES, *low.shape)) < passing
    values = _over_testlets(np.where(passed, high, low), places)
    values = np.moveaxis(values - values.mean(axis=0), 0, 2)  # subjects, testlets, outcomes
    return tails(z, np.swapaxes(values, 0, 1), np.full(_OUTCOMES, 1 / _OUTCOMES))
