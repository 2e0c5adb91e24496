"""Whether items, and demands, work alike in two groups of subjects, asked of all items at once."""

from collections.abc import Iterator
from itertools import combinations

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.stats import norm

from .invariance import Contrast
from .louis import ITEM, LEAST, Direction
from .residuals import Residuals, positive
from .results import adjusted
from .weighted_chi_squares import upper_tail

COLUMNS = ["by", "what", "level", "against", "subjects", "items", "effect", "low", "high"]
COLUMNS += ["statistic", "p", "p_adjusted", "flagged"]
SPREAD = "all items"
_FEWEST = 3  # items
_MOST = 1e4  # times the variance found, which is beyond all ends of intervals


def between(
    residuals: Residuals,
    contrasts: list[Contrast],
    demands: pd.DataFrame,
    *,
    alpha: float,
    prob: float,
) -> pd.DataFrame:
    r"""Test, for each two groups of subjects, whether items and demands work alike in both.

    Let each item be easier for one group by an effect of its own, drawn with mean 0 and standard
    deviation :math:`\tau`. Scores :math:`U` of these effects, one for each item, beside what
    subjects and items are in all, have the information :math:`I`, a matrix; see `louis.Direction`.
    The score of :math:`\tau^2` at 0 is half of

    .. math:: T = U^\top U - \mathrm{tr}\, I, \qquad
        U^\top U \sim \sum_j (\lambda_j + \tau^2 \lambda_j^2) \chi^2_1

    with the eigenvalues :math:`\lambda` of I. So many small differences are found together, of
    which none is found alone. The interval holds all :math:`\tau` under which :math:`U^\top U` is
    neither too large nor too small.

    For a demand with the values :math:`v`, standardised over the items, the log-odds of a group's
    cells are moved by :math:`\beta v`: with the score :math:`v^\top U` and the information
    :math:`v^\top I v`.

    Parameters
    ----------
    residuals : Residuals
        Of a joint fit.
    contrasts : list of Contrast
        Columns of the subjects.
    demands : DataFrame, shape (items, demands)
        Numbers.
    alpha : float
        Chance of any false alarm in the table.
    prob : float
        Mass of the intervals.

    Returns
    -------
    DataFrame
        For each column, and each two of its levels, one row for all items and one per demand.

        - ``by``: the column; ``what``: "all items" or the demand; ``level``, ``against``: the
          groups; of numbers, one standard deviation more.
        - ``subjects``, ``items``: how many.
        - ``effect``, ``low``, ``high``: of all items :math:`\tau`, by the method of moments, and of
          a demand :math:`\beta`, in log-odds, with approximate intervals.
        - ``statistic``: :math:`U^\top U / \mathrm{tr}\, I`, about 1 where items work alike, and the
          squared standardised score of a demand.
        - ``p``, ``p_adjusted``, ``flagged``; NaN of fewer than three items.

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
    """Return the table without rows, where no groups are held against each other."""
    return pd.DataFrame(columns=COLUMNS)


def _twos(contrast: Contrast) -> Iterator[tuple[Contrast, np.ndarray]]:
    """Hold each two levels against each other, with the places of their subjects."""
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
    """Ask about all items, and about each demand."""
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
    """Score effects of a column of the subjects on all items, with their joint information.

    Parameters
    ----------
    residuals : Residuals
        Of a joint fit.
    values : ndarray, shape (subjects, 1)
        The column.

    Returns
    -------
    score : ndarray, shape (items,)
        Of items of which too little is left beside what the layout has itself: 0.
    information : ndarray, shape (items, items)
        As `Direction` has it of one item, and between two: an item's score takes from its cells
        what subjects leave over in all, and so the other's. 0 where too little is left.
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
    """Ask whether effects have a spread, and estimate it."""
    if len(score) < _FEWEST:
        return dict.fromkeys(["effect", "low", "high", "statistic", "p"], np.nan)
    values = np.maximum(np.linalg.eigvalsh(information), 0)
    values = values[values > 1e-9 * values.max()]
    found, whole = float(score @ score), float(values.sum())
    scale = whole / float((values**2).sum())  # of a variance: what makes chance twice as large

    def tail(ratio: float) -> float:
        return upper_tail(found, values + ratio * scale * values**2)

    def end(chance: float) -> float:
        """Find the spread under which as much, or more, has a chance."""
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
    """Ask whether a demand has another weight."""
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
