"""Dependence that a layout lacks: pairs of items, testlets, and repeated attempts at an item."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import norm

from ...common.progress import track
from .scores import UNDISTINGUISHED, Cells, Outcomes, holm, replicated_p

MOST_ITEMS = 200  # with more items, only named testlets are tested
TOGETHER = "all together"
FEW = "fewer than two attempted items"
_SHOWN = 20  # smallest number of pairs in the table, besides all that are flagged
_REPLICATES = 2000
_BLOCK = 2**21
_EDGE = 1e-9
_USUAL = 2.0  # standard deviations
_COLUMNS = ["testlet", "item", "other", "items", "subjects", "effect", "low", "high", "q3"]
_COLUMNS += ["p", "p_adjusted", "flagged", "remark"]


def pairs(outcomes: Outcomes, *, alpha: float, prob: float, progressbar: bool) -> pd.DataFrame:
    r"""Test each pair of items for outcomes with more in common than the layout expects.

    The alternative is the joint distribution of the layout times :math:`1 + \beta r_j r_k`, with
    the residuals :math:`r = y - n p`. To first order, :math:`\beta` is the covariance, in squared
    log-odds, of effects of a subject on both items. The score is the posterior mean of
    :math:`U = \sum_i r_{ij} r_{ik}`, and its variance, after the fit has adapted,
    :math:`V = \sum_i v_{ij} v_{ik} + c_{ijk}^2`, with the posterior covariance c of expected
    outcomes and :math:`v = w - c`. Adjusted p values are shares of replicated data sets whose
    largest standardised score, over all pairs, is at least as large (Westfall and Young 1993).

    Returns
    -------
    DataFrame
        The flagged pairs, and at least the 20 pairs with the smallest p values; ``testlet`` is
        empty. ``subjects``: number of subjects that attempted both items; ``effect``, ``low``,
        ``high``: :math:`\beta`, with an approximate interval; ``q3``: correlation of the residuals
        (Yen 1984); ``p``, ``p_adjusted``, ``flagged``; ``remark`` where there is no test.

    References
    ----------
    Yen, W. M. (1984), Effects of local item dependence on the fit and equating performance of the
    three-parameter logistic model, Applied Psychological Measurement 8. Westfall, P. H. and Young,
    S. S. (1993), Resampling-Based Multiple Testing.
    """
    count = len(outcomes.items)
    if count > MOST_ITEMS or len(outcomes.subjects) < 2:
        remark = f"over {MOST_ITEMS} items, of which only named testlets are tested"
        rows = [{"flagged": False, "remark": remark}] if count > MOST_ITEMS else []
        return pd.DataFrame(rows, columns=_COLUMNS).astype({"flagged": bool})
    sums = np.zeros((5, count, count))
    for where in track(outcomes.by_subject, len(outcomes.subjects), progressbar):
        cells, grid = outcomes.cells(where), np.ix_(outcomes.item[where], outcomes.item[where])
        covariance = _covariance(cells)
        mean = cells.residuals.mean(axis=1)
        for total, product in zip(
            sums,
            (
                np.outer(mean, mean) + covariance,
                np.outer(cells.free, cells.free) + covariance**2,
                cells.variances @ cells.variances.T / cells.chances.shape[1],
                np.ones_like(covariance),
                np.outer(mean, mean),
            ),
            strict=True,
        ):
            total[grid] += product
    first, second = np.triu_indices(count, 1)
    score, variance, scale, subjects, products = (total[first, second] for total in sums)
    tried = subjects > 0
    score, variance, scale = (values[tried] for values in (score, variance, scale))
    z = score / np.sqrt(np.maximum(variance, _EDGE))
    own, largest = _replicated_pairs(outcomes, first[tried], second[tried], scale, z)
    half = norm.isf((1 - prob) / 2)
    squares = np.sqrt(np.diag(sums[4]))
    with np.errstate(invalid="ignore", divide="ignore"):
        q3 = products / (squares[first] * squares[second])
    names = np.array(outcomes.items, dtype=object)
    table = pd.DataFrame(
        {
            "testlet": "",
            "item": names[first[tried]],
            "other": names[second[tried]],
            "items": 2,
            "subjects": subjects[tried].astype(int),
            "effect": score / variance,
            "low": (score - half * np.sqrt(variance)) / variance,
            "high": (score + half * np.sqrt(variance)) / variance,
            "q3": q3[tried],
            "p": own,
            "p_adjusted": largest,
            "flagged": largest <= alpha,
            "remark": "",
        },
        columns=_COLUMNS,
    )
    order = np.lexsort((-np.abs(z), table["p_adjusted"]))
    return table.iloc[order[: max(_SHOWN, int(table["flagged"].sum()))]].reset_index(drop=True)


def _covariance(cells: Cells) -> np.ndarray:
    """Posterior covariance of expected numbers of successes."""
    centred = cells.expected - cells.expected.mean(axis=1, keepdims=True)
    return np.asarray(centred @ centred.T / (centred.shape[1] - 1))


def _replicated_pairs(
    outcomes: Outcomes, first: np.ndarray, second: np.ndarray, scale: np.ndarray, z: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Compute p values of pairs, alone and from the largest score, with replicated data sets."""
    rng, size = outcomes.rng("pairs"), len(outcomes.subjects) * len(outcomes.items)
    block = int(np.clip(_BLOCK // max(size, len(outcomes.items) ** 2), 1, _REPLICATES))
    above, below, beyond = np.zeros((3, len(z)))
    every = outcomes.cells(np.arange(len(outcomes.item)))
    for start in range(0, _REPLICATES, block):
        count = min(block, _REPLICATES - start)
        residuals = np.zeros((count, len(outcomes.subjects), len(outcomes.items)), np.float32)
        residuals[:, outcomes.subject, outcomes.item] = every.replicated(rng, count).T
        products = np.matmul(residuals.transpose(0, 2, 1), residuals)[:, first, second]
        scores = products / np.sqrt(np.maximum(scale, _EDGE))
        above += (scores >= z).sum(axis=0)
        below += (scores <= z).sum(axis=0)
        beyond += (np.abs(scores).max(axis=1, initial=0)[:, None] >= np.abs(z)).sum(axis=0)
    own = np.minimum(1, 2 * (np.minimum(above, below) + 1) / (_REPLICATES + 1))
    return own, (beyond + 1) / (_REPLICATES + 1)


def testlet_table(
    outcomes: Outcomes, groups: Mapping[str, np.ndarray], *, alpha: float, prob: float
) -> pd.DataFrame:
    r"""Test whether the items of a testlet have more in common than the layout expects.

    The test is that of `pairs`, with one :math:`\beta` for all pairs of a testlet's items, and
    Holm's adjustment.

    Parameters
    ----------
    outcomes : Outcomes
        All cells.
    groups : mapping of str to ndarray of int
        By testlet, the positions of its items, at least two.
    alpha : float
        Probability of any false alarm in the table.
    prob : float
        Mass of the intervals.

    Returns
    -------
    DataFrame
        One row per testlet, with the columns of `pairs`. If there are several testlets, there is
        also a row for all together. ``item`` and ``other`` are empty.
    """
    testlet = np.full(len(outcomes.items), -1)
    for code, items in enumerate(groups.values()):
        testlet[items] = code
    least = alpha / (len(groups) + 1)
    scores, variances, subjects = np.zeros((3, len(groups)))
    blocks: list[list[np.ndarray]] = [[] for _ in groups]
    for where in outcomes.by_subject:
        codes = testlet[outcomes.item[where]]
        for code in np.unique(codes[codes >= 0]):
            inside = where[codes == code]
            if len(inside) > 1:
                cells = outcomes.cells(inside)
                score, variance = _shared(cells)
                scores[code] += score
                variances[code] += variance
                subjects[code] += 1
                blocks[code].append(inside)
    rows = []
    for code, name in enumerate([*groups, TOGETHER] if len(groups) > 1 else groups):
        chosen = slice(None) if name == TOGETHER else slice(code, code + 1)
        inside = [where for block in blocks[chosen] for where in block]
        row = {"testlet": name, "item": "", "other": "", "subjects": int(subjects[chosen].sum())}
        row["items"] = sum(map(len, groups.values())) if name == TOGETHER else len(groups[name])
        total, variance = float(scores[chosen].sum()), float(variances[chosen].sum())
        rng = outcomes.rng(name)
        rows.append(
            row | _dependence(outcomes, inside, total, variance, rng, _pair_sums, least, prob)
        )
    return _adjusted(pd.DataFrame(rows, columns=_COLUMNS), alpha)


def _shared(cells: Cells) -> tuple[float, float]:
    """Score and variance of one common effect of a subject on some items."""
    residuals = cells.residuals
    score = _pair_sums(cells, residuals).mean()
    absorbed = _covariance(cells)
    remaining = -absorbed
    np.fill_diagonal(remaining, cells.free)
    around = remaining.sum(axis=0) - remaining  # product of (1 1' - I) and the covariance
    return float(score), float((around * around.T).sum() / 2)


def _pair_sums(cells: Cells, residuals: np.ndarray) -> np.ndarray:
    """Sum the products of all pairs of cells' residuals, in each column."""
    return np.asarray((residuals.sum(axis=0) ** 2 - (residuals**2).sum(axis=0)) / 2)


def attempts(outcomes: Outcomes, *, alpha: float, prob: float) -> pd.DataFrame:
    r"""Test whether a subject's attempts at an item have more in common than the layout expects.

    The test is that of `pairs`, for all pairs of attempts in the same cell, with one
    :math:`\beta`, the variance of an effect of the subject on the item. With the residual r of a
    cell of n attempts and its variance w,

    .. math:: U = \frac12 \sum_c \left(r_c^2 - (1 - 2 p_c) r_c - w_c\right)

    Returns
    -------
    DataFrame
        One row per subject with at least two cells of several attempts and, of several such
        subjects, a last row for all together. ``items``, ``attempts``: number of such cells, and of
        the attempts; ``effect``, ``low``, ``high``: :math:`\beta`, in squared log-odds;
        ``item_sd``: its root, 0 if it is negative; ``p``, ``p_adjusted`` (Holm), ``flagged``,
        ``cell`` (the single cell that explains it, or -1), ``remark``.
    """
    several = [where[outcomes.trials[where] > 1] for where in outcomes.by_subject]
    tested = {
        name: where
        for name, where in zip(outcomes.subjects, several, strict=True)
        if len(where) > 1
    }
    least = alpha / (len(tested) + 1)
    moments = {name: _repeated(outcomes.cells(where)) for name, where in tested.items()}
    groups = {name: [name] for name in tested} | (
        {TOGETHER: list(tested)} if len(tested) > 1 else {}
    )
    rows = []
    for name, members in groups.items():
        inside = [tested[member] for member in members]
        score, variance = np.sum([moments[member] for member in members], axis=0)
        counts = {
            "subject": name,
            "items": sum(map(len, inside)),
            "attempts": int(sum(outcomes.trials[where].sum() for where in inside)),
        }
        counts["cell"] = _single(outcomes, np.concatenate(inside), score, variance)
        rng = outcomes.rng(f"attempts {name}")
        rows.append(
            counts | _dependence(outcomes, inside, score, variance, rng, _attempt_sums, least, prob)
        )
    columns = ["subject", "items", "attempts", "item_sd", *_COLUMNS[5:8], *_COLUMNS[9:], "cell"]
    table = pd.DataFrame(rows, columns=columns)
    effect = table["effect"].to_numpy(dtype=float)
    table["item_sd"] = np.sqrt(np.maximum(effect, 0))
    return _adjusted(table, alpha)


def _repeated(cells: Cells) -> tuple[float, float]:
    """Score and variance of an effect of a subject on each of its items."""
    p, residuals = cells.chances, cells.residuals
    score = (residuals**2 - (1 - 2 * p) * residuals - cells.variances).sum(axis=0).mean() / 2
    squares = np.square(_covariance(cells))
    np.fill_diagonal(squares, (1 - 1 / cells.trials) * cells.free**2)
    return float(score), float(squares.sum() / 2)


def _single(outcomes: Outcomes, where: np.ndarray, score: float, variance: float) -> int:
    """Find the cell without which repeated attempts would not be unexpected, or -1."""
    cells = outcomes.cells(where)
    p, residuals = cells.chances, cells.residuals
    each = (residuals**2 - (1 - 2 * p) * residuals - cells.variances).mean(axis=1) / 2
    own = (1 - 1 / cells.trials) * cells.free**2 / 2
    z = np.abs(score - each) / np.sqrt(np.maximum(variance - own, _EDGE))
    return int(where[z.argmin()]) if z.min() < _USUAL else -1


def _attempt_sums(cells: Cells, residuals: np.ndarray) -> np.ndarray:
    """Sum the products of all pairs of attempts' residuals in the same cell, in each column."""
    p = cells.chances.mean(axis=1, keepdims=True)
    return np.asarray((residuals**2 - (1 - 2 * p) * residuals).sum(axis=0) / 2)


def _dependence(
    outcomes: Outcomes,
    inside: list[np.ndarray],
    score: float,
    variance: float,
    rng: np.random.Generator,
    sums: Callable[[Cells, np.ndarray], np.ndarray],
    least: float,
    prob: float,
) -> dict[str, Any]:
    """Compare a sum of products with replicates, and estimate the common variance."""
    if not inside or variance < _EDGE:
        return {"p": np.nan, "remark": UNDISTINGUISHED if inside else FEW}

    def draw(count: int) -> np.ndarray:
        totals = np.zeros((1, count))
        for where in inside:
            cells = outcomes.cells(where)
            totals += sums(cells, cells.replicated(rng, count))
        return totals

    standardised = np.array([score / np.sqrt(variance)])
    block = max(1, _BLOCK // max(map(len, inside)))
    p = replicated_p(draw, standardised, least, block)
    half = norm.isf((1 - prob) / 2) / np.sqrt(variance)
    effect = score / variance
    return {"effect": effect, "low": effect - half, "high": effect + half, "p": p, "remark": ""}


def _adjusted(table: pd.DataFrame, alpha: float) -> pd.DataFrame:
    """Adjust p values by Holm's method, and flag those of at most alpha."""
    table["p_adjusted"] = holm(table["p"].to_numpy(dtype=float))
    table["flagged"] = table["p_adjusted"] <= alpha
    return table
