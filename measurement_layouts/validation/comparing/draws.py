"""Draws of what subjects are compared by, and their differences and ranks."""

import functools
import operator

import numpy as np
import pandas as pd
from scipy import stats

from ...common.seeds import subject_seed
from ...inference.forecasts.scope import Scope
from ...inference.forecasts.streaming import computed
from ...inference.posterior.posterior import Posterior, draws_of
from ...layouts import Layout
from ...layouts.elements import Element
from ...linking import Expr
from .result import MORE, THESE

_SEED = 20231  # of the order in which draws of subjects fitted apart are paired, and of weights
_TOGETHER = 2**22  # values that are computed together: items times draws
_MEMORY_MIB = 128
_FEWEST = 5  # clusters from which the spread between them is taken into account


def expected_success(layout: Layout) -> Expr:
    """Return the expression of an item's expected outcome, from 0 to 1, over all its outcomes."""
    if layout.steps is None:
        return layout.outcome
    count = len(layout.outcomes)
    means = (layout.mean_of(one) / (one.range.high * count) for one in layout.outcomes)
    return functools.reduce(operator.add, means)


def means_over_items(scope: Scope, target: Expr, clusters: np.ndarray) -> dict[str, np.ndarray]:
    """Average an item-level quantity over items, in each draw.

    Parameters
    ----------
    scope : Scope
        Subjects and items.
    target : expression
        The quantity.
    clusters : ndarray of int, shape (items,)
        Number of the cluster of each item.

    Returns
    -------
    dict of str to ndarray
        By reading, shape (subjects, draws). Of more items like these there are means only where
        there are at least five clusters, whose weights are a Bayesian bootstrap's.
    """
    draws = _orders(scope.fit, scope.names)
    count, step = draws.shape[1], max(1, _TOGETHER // draws.shape[1])
    spread = clusters.max() + 1 >= _FEWEST
    sums = np.zeros((1 + spread, *draws.shape))
    totals = np.zeros((1 + spread, 1, count))
    block = scope.block(scope.features, len(clusters))
    values = computed(scope.fit, block, target, memory_mib=_MEMORY_MIB)
    for start in range(0, len(clusters), step):
        items = np.arange(start, min(start + step, len(clusters)))
        of_items = clusters[items]
        weights = np.ones((1 + spread, len(of_items), count))
        if spread:
            weights[1] = _weights(of_items, clusters.max() + 1, count)
        totals += weights.sum(axis=1, keepdims=True)
        for place, order in enumerate(draws):
            of_subject = values.rows(place, items)[:, order]
            sums[:, place] += np.einsum("rid,id->rd", weights, of_subject)
    return dict(zip((THESE, MORE), sums / totals, strict=False))


def _weights(clusters: np.ndarray, count: int, draws: int) -> np.ndarray:
    """Draw a weight of each item's cluster, in each draw.

    With gamma variates of shape 1 - 4 / n for n clusters, the variance of a weighted mean is that
    of Student's t with n - 1 degrees of freedom.
    """
    numbers, place = np.unique(clusters, return_inverse=True)
    rngs = (np.random.default_rng([_SEED, number]) for number in numbers.tolist())
    return np.stack([rng.standard_gamma(1 - 4 / count, draws) for rng in rngs])[place]


def element_draws(fit: Posterior, element: Element, subjects: list[str]) -> np.ndarray:
    """Read the draws of a profile element, (subjects, draws)."""
    values = draws_of(fit, element.latent, fit.places(subjects))[:, element.index]
    return np.take_along_axis(values.reshape(len(values), -1), _orders(fit, subjects), axis=1)


def _orders(fit: Posterior, subjects: list[str]) -> np.ndarray:
    """Order each subject's draws, (subjects, draws): at random where subjects were fitted apart."""
    count = fit.posterior.sizes["chain"] * fit.posterior.sizes["draw"]
    if fit.layout.joint:
        return np.broadcast_to(np.arange(count), (len(subjects), count))
    seeds = [subject_seed(_SEED, name) for name in subjects]
    return np.stack([np.random.default_rng(seed).permutation(count) for seed in seeds])


def differences(draws: np.ndarray, prob: float) -> pd.DataFrame:
    """Summarise the differences of all pairs of subjects, in the order of `itertools.combinations`.

    Parameters
    ----------
    draws : ndarray, shape (subjects, draws)
        Values.
    prob : float
        Mass of the equal-tailed intervals.

    Returns
    -------
    DataFrame
        ``difference``, ``se``, ``low``, ``high`` and ``ahead``.
    """
    rows = []
    for place in range(len(draws) - 1):
        gaps = draws[place] - draws[place + 1 :]
        low, high = np.quantile(gaps, [(1 - prob) / 2, (1 + prob) / 2], axis=1)
        ahead = (np.mean(gaps > 0, axis=1) + np.mean(gaps >= 0, axis=1)) / 2
        rows.append(np.stack([gaps.mean(axis=1), gaps.std(axis=1, ddof=1), low, high, ahead]))
    columns = ["difference", "se", "low", "high", "ahead"]
    return pd.DataFrame(np.concatenate(rows, axis=1).T, columns=columns)


def ranks(draws: np.ndarray, prob: float) -> pd.DataFrame:
    """Rank subjects in each draw, the largest value first; ties are the smallest credible set.

    Returns
    -------
    DataFrame
        By position: ``mean``, ``rank``, ``rank_low``, ``rank_high``, ``best`` and ``tied``.
    """
    by_draw = stats.rankdata(-draws, axis=0)
    tail = (1 - prob) / 2
    low, high = np.quantile(by_draw, [tail, 1 - tail], axis=1, method="inverted_cdf")
    first = draws == draws.max(axis=0)
    best = (first / first.sum(axis=0)).mean(axis=1)
    columns = {"mean": draws.mean(axis=1), "rank": by_draw.mean(axis=1), "rank_low": low}
    table = pd.DataFrame(columns).assign(rank_high=high, best=best)
    likeliest = table["best"].sort_values(ascending=False, kind="stable")
    return table.assign(tied=likeliest.cumsum() - likeliest < prob)
