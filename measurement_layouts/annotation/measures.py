"""Measures of agreement on levels, computed from patterns of ratings and their counts."""

from collections.abc import Callable, Sequence
from itertools import combinations

import numpy as np

type Measure = Callable[[np.ndarray, np.ndarray], np.ndarray]


def kappa(patterns: np.ndarray, counts: np.ndarray) -> np.ndarray:
    r"""Compute Cohen's kappa with quadratic weights, averaged over pairs of raters.

    .. math:: \kappa_w = 1 - \frac{\overline{(x - y)^2}}{\overline{(x_i - y_j)^2}}

    Parameters
    ----------
    patterns : ndarray, shape (patterns, raters)
        Levels as numbers; NaN where a rater gave none.
    counts : ndarray, shape (draws, patterns)
        Number of items with each pattern.

    Returns
    -------
    ndarray, shape (draws,)
        Kappa; NaN where a pair has only one level.

    References
    ----------
    Cohen (1968), Psychological Bulletin 70, 213-220.

    Examples
    --------
    >>> kappa(np.array([[0, 1], [2, 2], [5, 4]]), np.array([[1, 1, 1]])).round(3).tolist()
    [0.885]
    """

    def of_pair(one: np.ndarray, two: np.ndarray, share: np.ndarray) -> np.ndarray:
        means = share @ one, share @ two
        chance = share @ one**2 + share @ two**2 - 2 * means[0] * means[1]
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(chance > 1e-12, 1 - share @ (one - two) ** 2 / chance, np.nan)

    return _over_pairs(of_pair, patterns, counts)


def alike(patterns: np.ndarray, counts: np.ndarray, *, within: float = 0.0) -> np.ndarray:
    """Compute the share of pairs of ratings within a distance, averaged over pairs of raters.

    Parameters
    ----------
    patterns, counts
        As in `kappa`.
    within : float
        Largest distance.

    Returns
    -------
    ndarray, shape (draws,)
        The share.

    Examples
    --------
    >>> alike(np.array([[0, 1], [2, 2]]), np.array([[1, 3]])).tolist()
    [0.75]
    """
    return _over_pairs(
        lambda one, two, share: share @ (np.abs(one - two) <= within).astype(float),
        patterns,
        counts,
    )


def alpha(patterns: np.ndarray, counts: np.ndarray) -> np.ndarray:
    r"""Compute Krippendorff's alpha for ordinal data, over all raters.

    .. math:: \alpha = 1 - \frac{D_o}{D_e}, \qquad
       \delta^2_{ck} = \Big(\sum_{g=c}^{k} n_g - \frac{n_c + n_k}{2}\Big)^2

    Parameters
    ----------
    patterns, counts
        As in `kappa`. Items with a single rating do not count.

    Returns
    -------
    ndarray, shape (draws,)
        Alpha; NaN where all levels are equal.

    References
    ----------
    Krippendorff (2011), Computing Krippendorff's Alpha-Reliability.

    Examples
    --------
    >>> alpha(np.array([[0, 0], [1, 1], [2, 1]]), np.array([[1, 1, 1]])).round(3).tolist()
    [0.778]
    """
    values = np.unique(patterns[~np.isnan(patterns)])
    said = (patterns[:, :, None] == values).sum(axis=1).astype(float)
    number = said.sum(axis=1)
    several = number >= 2
    said, number = said[several], number[several]
    pairs = said[:, :, None] * said[:, None, :] - np.eye(len(values)) * said[:, None, :]
    pairs = (pairs / (number - 1)[:, None, None]).reshape(len(said), -1)
    found = (counts[:, several] @ pairs).reshape(-1, len(values), len(values))
    margins = found.sum(axis=-1)
    middle = np.cumsum(margins, axis=-1) - margins / 2
    apart = (middle[:, :, None] - middle[:, None, :]) ** 2
    observed = (found * apart).sum(axis=(-1, -2))
    chance = (margins[:, :, None] * margins[:, None, :] * apart).sum(axis=(-1, -2))
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = observed * (margins.sum(axis=-1) - 1) / chance
    return np.where(chance > 0, 1 - ratio, np.nan)


def icc(patterns: np.ndarray, counts: np.ndarray) -> np.ndarray:
    r"""Compute the intraclass correlation of single ratings for absolute agreement, ICC(2,1).

    .. math:: \frac{M_R - M_E}{M_R + (k - 1) M_E + k (M_C - M_E) / n}

    `M` are the mean squares between items (R), between raters (C) and of the residuals (E), for `n`
    items with `k` ratings each.

    Parameters
    ----------
    patterns, counts
        As in `kappa`. Items without a rating by some rater do not count.

    Returns
    -------
    ndarray, shape (draws,)
        The correlation; NaN where all levels are equal, or there are fewer than two items.

    References
    ----------
    Shrout and Fleiss (1979), Psychological Bulletin 86, 420-428.

    Examples
    --------
    >>> icc(np.array([[0, 1], [2, 2], [5, 4]]), np.array([[1, 1, 1]])).round(3).tolist()
    [0.92]
    """
    whole = ~np.isnan(patterns).any(axis=1)
    levels, counts = patterns[whole], counts[:, whole].astype(float)
    n, k = counts.sum(axis=1), levels.shape[1]
    with np.errstate(invalid="ignore", divide="ignore"):
        raters = counts @ levels / n[:, None]
        grand = raters.mean(axis=1)
        rows = levels.mean(axis=1)
        between = k * ((counts @ rows**2) - n * grand**2)
        columns = n * ((raters - grand[:, None]) ** 2).sum(axis=1)
        total = counts @ (levels**2).sum(axis=1) - n * k * grand**2
        of_rows, of_columns = between / (n - 1), columns / (k - 1)
        rest = (total - between - columns) / ((n - 1) * (k - 1))
        below = of_rows + (k - 1) * rest + k * (of_columns - rest) / n
        return np.where(np.abs(below) > 1e-12, (of_rows - rest) / below, np.nan)


def _over_pairs(
    measure: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray],
    patterns: np.ndarray,
    counts: np.ndarray,
) -> np.ndarray:
    """Average a measure over the pairs of raters that have items in common."""
    found = []
    for pair in combinations(range(patterns.shape[1]), 2):
        both = ~np.isnan(patterns[:, pair]).any(axis=1)
        if not both.any():
            continue
        some = counts[:, both].astype(float)
        with np.errstate(invalid="ignore", divide="ignore"):
            share = some / some.sum(axis=1, keepdims=True)
        one, two = patterns[both][:, pair].T.astype(float)
        found.append(measure(one, two, share))
    return np.mean(found, axis=0) if found else np.full(len(counts), np.nan)


def with_intervals(
    levels: Sequence[float], patterns: np.ndarray, counts: np.ndarray, prob: float
) -> dict[str, float]:
    """Measure agreement, with percentiles of estimates from resampled items.

    Parameters
    ----------
    levels : sequence of float
        Levels, in ascending order.
    patterns : ndarray, shape (patterns, raters)
        Positions of levels, from 0; NaN where a rater gave none.
    counts : ndarray, shape (1 + resamples, patterns)
        Number of items with each pattern: as observed, then in each resample.
    prob : float
        Mass of the intervals.

    Returns
    -------
    dict of str to float
        ``exact``, ``within_one``, ``kappa``, ``alpha`` and ``icc``, each with ``_low`` and
        ``_high``.
    """
    numbers = np.full(patterns.shape, np.nan)
    seen = ~np.isnan(patterns)
    numbers[seen] = np.array(levels)[patterns[seen].astype(int)]
    measures = {
        "exact": alike(patterns, counts),
        "within_one": alike(patterns, counts, within=1),
        "kappa": kappa(numbers, counts),
        "alpha": alpha(numbers, counts),
        "icc": icc(numbers, counts),
    }
    found: dict[str, float] = {}
    for name, (estimate, *drawn) in measures.items():
        defined = np.array(drawn)[~np.isnan(drawn)]
        enough = len(defined) and not np.isnan(estimate)
        ends = np.quantile(defined, [(1 - prob) / 2, (1 + prob) / 2]) if enough else [np.nan] * 2
        found |= {name: estimate, f"{name}_low": ends[0], f"{name}_high": ends[1]}
    return found
