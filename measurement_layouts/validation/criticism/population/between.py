"""Tests of whether all items together, and demands, have the same effects in two groups."""

from collections.abc import Iterator
from itertools import combinations

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.special import ndtr
from scipy.stats import chi2, norm

from .invariance import Contrast
from .louis import ITEM, LEAST, Direction, adjusted
from .residuals import Residuals, positive

COLUMNS = ["by", "what", "level", "against", "subjects", "items", "effect", "low", "high"]
COLUMNS += ["statistic", "p", "p_adjusted", "flagged"]
SPREAD = "all items"
_FEWEST = 3  # smallest number of items
_MOST = 1e4  # upper bound of the variance's interval, as a multiple of the estimate


def between(
    residuals: Residuals,
    contrasts: list[Contrast],
    demands: pd.DataFrame,
    *,
    alpha: float,
    prob: float,
) -> pd.DataFrame:
    r"""Test, for each two groups of subjects, whether items and demands have the same effects.

    For all items, the alternative is that each item is easier for one group by an effect with mean
    0 and standard deviation :math:`\tau`. The scores :math:`U` of these effects, one for each item,
    given the levels of subjects and items, have the information matrix :math:`I`; see
    `louis.Direction`. The score of :math:`\tau^2` at 0 is half of

    .. math:: T = U^\top U - \mathrm{tr}\, I, \qquad
        U^\top U \sim \sum_j (\lambda_j + \tau^2 \lambda_j^2) \chi^2_1

    with the eigenvalues :math:`\lambda` of I. This test detects many small differences together
    that are too small to be detected for single items. The interval consists of all :math:`\tau`
    for which the observed :math:`U^\top U` is in neither tail of its distribution.

    For a demand with the values :math:`v`, standardised over the items, the alternative is that the
    log-odds of a group's cells change by :math:`\beta v`. The score is :math:`v^\top U`, and the
    information :math:`v^\top I v`.

    Parameters
    ----------
    residuals : Residuals
        Residuals of a joint fit.
    contrasts : list of Contrast
        Columns of the subjects.
    demands : DataFrame, shape (items, demands)
        Values of the demands.
    alpha : float
        Probability of any false alarm in the table.
    prob : float
        Mass of the intervals.

    Returns
    -------
    DataFrame
        For each column, and each two of its levels, one row for all items and one for each demand
        that varies.

        - ``by``: the column; ``what``: "all items" or the demand; ``level``, ``against``: the
          groups, or "+1 sd" and "the mean" for a column of numbers.
        - ``subjects``, ``items``: numbers of subjects and of items.
        - ``effect``, ``low``, ``high``: :math:`\tau` of all items, by the method of moments, or
          :math:`\beta` of a demand, in log-odds, with approximate intervals.
        - ``statistic``: :math:`U^\top U / \mathrm{tr}\, I` of all items, which is about 1 if there
          are no differences, or the squared standardised score of a demand.
        - ``p``, ``p_adjusted``, ``flagged``. The row of all items has no effect and no p value if
          there are fewer than three items.

    References
    ----------
    Lin, X. (1997), Variance component testing in generalised linear models with random effects,
    Biometrika 84. Jackson, D. (2013), Confidence intervals for the between-study variance in random
    effects meta-analysis using generalised Cochran heterogeneity statistics, Research Synthesis
    Methods 4.
    """
    rows = []
    for contrast in contrasts:
        for of_two, who in _twos(contrast):
            rows += _rows(residuals.take(who), of_two, demands, prob)
    return adjusted(pd.DataFrame(rows, columns=COLUMNS[:-2]), alpha)[COLUMNS]


def no_groups() -> pd.DataFrame:
    """Return a table without rows, for criticism without groups."""
    return pd.DataFrame(columns=COLUMNS)


def _twos(contrast: Contrast) -> Iterator[tuple[Contrast, np.ndarray]]:
    """Yield a contrast for each two levels, with the positions of their subjects."""
    if contrast.values.shape[1] == 1:
        yield contrast, np.arange(len(contrast.values))
        return
    for first, second in combinations(range(len(contrast.levels)), 2):
        who = np.flatnonzero(contrast.values[:, [first, second]].any(axis=1))
        names = contrast.levels[second], contrast.levels[first]
        yield Contrast(contrast.name, names[:1], names[1], contrast.values[who][:, [second]]), who


def _rows(
    residuals: Residuals, contrast: Contrast, demands: pd.DataFrame, prob: float
) -> list[dict[str, object]]:
    """Test all items, and each demand, for one contrast."""
    score, information = joint_scores(residuals, contrast.values)
    diagonal = np.diagonal(information)
    kept = diagonal > 0
    score, information = score[kept], information[np.ix_(kept, kept)]
    about = {
        "by": contrast.name,
        "level": contrast.levels[0],
        "against": contrast.against,
        "subjects": len(residuals.subjects),
        "items": int(kept.sum()),
    }
    rows = [about | {"what": SPREAD} | _spread(score, information, prob)]
    for name, column in demands.items():
        values = column.to_numpy(dtype=float)[kept]
        values = np.nan_to_num(values - np.nanmean(values))
        if values.std() > 0:
            weights = values / values.std()
            rows.append(about | {"what": name} | _weight(score, information, weights, prob))
    return rows


def joint_scores(residuals: Residuals, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Compute scores of the effects of a subjects' column on each item, with their information.

    Parameters
    ----------
    residuals : Residuals
        Residuals of a joint fit.
    values : ndarray, shape (subjects, 1)
        The column.

    Returns
    -------
    score : ndarray, shape (items,)
        Scores by item; 0 for items whose effect cannot be distinguished from the layout's own.
    information : ndarray, shape (items, items)
        Information of each item, as in `Direction`, and of two items, whose scores are related
        because the residual of the subject is subtracted from both. 0 for items without a score.
    """
    direction = Direction(lambda block: [values[:, :1]], ITEM)
    read = direction.read(residuals)
    weights = residuals.centre.weights[0]
    pulled = read.along[0] * weights / np.sqrt(positive(weights.sum(axis=1, keepdims=True)))
    lines = read.lines[:, :, 0]
    information = -(pulled.T @ pulled) - lines.T @ lines / len(lines)
    complete = read.complete[:, 0, 0]
    own = complete - (lines**2).mean(axis=0) - read.own[:, 0]
    np.fill_diagonal(information, own)
    kept = (own > LEAST * complete) & (complete > 0)
    return read.score[:, 0] * kept, information * np.outer(kept, kept)


def _spread(score: np.ndarray, information: np.ndarray, prob: float) -> dict[str, object]:
    """Test whether the standard deviation of effects is above 0, and estimate it."""
    if len(score) < _FEWEST:
        return dict.fromkeys(["effect", "low", "high", "statistic", "p"], np.nan)
    values = np.maximum(np.linalg.eigvalsh(information), 0)
    values = values[values > 1e-9 * values.max()]
    found, whole = float(score @ score), float(values.sum())
    # unit of the variance, which doubles the expected statistic
    scale = whole / float((values**2).sum())

    def tail(ratio: float) -> float:
        return upper_tail(found, values + ratio * scale * values**2)

    def end(chance: float) -> float:
        """Find the standard deviation for which the upper tail has the given probability."""
        if tail(0) >= chance:
            return 0.0
        most = _MOST * max(1.0, found / whole)
        return float(np.sqrt(scale * brentq(lambda x: tail(x) - chance, 0, most, xtol=1e-9)))

    return {
        "effect": np.sqrt(max(0.0, found / whole - 1) * scale),
        "low": end((1 - prob) / 2),
        "high": end((1 + prob) / 2),
        "statistic": found / whole,
        "p": tail(0),
    }


def _weight(
    score: np.ndarray, information: np.ndarray, values: np.ndarray, prob: float
) -> dict[str, object]:
    """Test whether a demand has a different weight, and estimate the difference."""
    precision = max(float(values @ information @ values), 1e-12)
    effect, error = float(values @ score) / precision, precision**-0.5
    half = float(norm.isf((1 - prob) / 2)) * error
    return {
        "effect": effect,
        "low": effect - half,
        "high": effect + half,
        "statistic": (effect / error) ** 2,
        "p": float(2 * norm.sf(abs(effect / error))),
    }


def upper_tail(x: float, weights: np.ndarray) -> float:
    r"""Compute the upper tail probability of a weighted sum of chi-squares of one degree each.

    .. math:: P(X \ge x) \approx \Phi(-r^*), \qquad
        r^* = r + \frac{1}{r} \log \frac{u}{r}

    with :math:`K(t) = -\frac12 \sum_j \log(1 - 2 t w_j)`, t such that :math:`K'(t) = x`,
    :math:`r = \pm \sqrt{2 (t x - K(t))}` and :math:`u = t \sqrt{K''(t)}`. Near the mean, where r
    and u vanish, a chi-square with the same mean, variance and skewness is used instead.

    Parameters
    ----------
    x : float
        Value of the sum.
    weights : ndarray
        Positive weights.

    Returns
    -------
    float
        Probability of a sum of at least x, with a relative error of about 2 %.

    References
    ----------
    Kuonen, D. (1999), Saddlepoint approximations for distributions of quadratic forms in normal
    variables, Biometrika 86. Pearson, E. S. (1959), Note on an approximation to the distribution of
    non-central chi-square, Biometrika 46.

    Examples
    --------
    With equal weights, the sum is a chi-square.

    >>> round(upper_tail(30.14, np.ones(19)), 3)
    0.05
    """
    first, second, third = ((weights**power).sum() for power in (1, 2, 3))
    if abs(x - first) < 0.1 * np.sqrt(2 * second):
        df = second**3 / third**2
        return float(chi2.sf(df + (x - first) * np.sqrt(df / second), df))
    most = 1 / (2 * weights.max())

    def slope(t: float) -> float:
        return float((weights / (1 - 2 * t * weights)).sum()) - x

    if x <= 0:
        return 1.0
    t = brentq(slope, -len(weights) / x, most * (1 - 1e-12), xtol=1e-300, rtol=1e-12)
    left = 1 - 2 * t * weights
    r = np.sign(t) * np.sqrt(max(2 * t * x + np.log(left).sum(), 1e-300))
    u = t * np.sqrt(2 * ((weights / left) ** 2).sum())
    return float(ndtr(-(r + np.log(u / r) / r)))
