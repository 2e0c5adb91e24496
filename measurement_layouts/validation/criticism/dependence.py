"""Dependence that a layout lacks: pairs of items, testlets, and repeated attempts at an item."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import norm

from .cells import Cells, Outcomes
from .fit_tables import FEW
from .scores import UNDISTINGUISHED, judged, replicated_p

MOST_ITEMS = 200  # with more items, only named testlets are tested
TOGETHER = "all together"
_SHOWN = 20  # smallest number of pairs in the table, besides all that are flagged
_REPLICATES = 2000
_BLOCK = 2**21  # replicated outcomes at a time
_EDGE = 1e-9
_USUAL = 2.0  # standard deviations
_COLUMNS = ["testlet", "item", "other", "items", "subjects", "effect", "low", "high", "q3"]
_COLUMNS += ["p", "p_adjusted", "flagged", "remark"]


def pairs(outcomes: Outcomes) -> pd.DataFrame:
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
    products, absorbed, variance, replicated, subjects = np.zeros((5, count, count))
    for _, cells in outcomes.each(outcomes.by_subject):
        items, residuals = outcomes.item[cells.position], cells.residuals.mean(axis=1)
        both = np.ix_(items, items)
        products[both] += np.outer(residuals, residuals)
        absorbed[both] += cells.covariance
        variance[both] += np.outer(cells.free, cells.free) + cells.covariance**2
        replicated[both] += cells.variances @ cells.variances.T / cells.chances.shape[1]
        subjects[both] += 1
    first, second = np.nonzero(np.triu(subjects, 1))
    pair, squares = (first, second), np.sqrt(np.diag(products))
    score, error = (products + absorbed)[pair], np.sqrt(np.maximum(variance[pair], _EDGE))
    z, names = score / error, np.array(outcomes.items, dtype=object)
    p, adjusted = _p_of_pairs(outcomes, pair, np.sqrt(np.maximum(replicated[pair], _EDGE)), z)
    with np.errstate(invalid="ignore", divide="ignore"):
        q3 = products[pair] / (squares[first] * squares[second])
    table = pd.DataFrame(
        {
            "testlet": "",
            "item": names[first],
            "other": names[second],
            "items": 2,
            "subjects": subjects[pair].astype(int),
            **_interval(score, error, outcomes.prob),
            "q3": q3,
            "p": p,
            "p_adjusted": adjusted,
            "flagged": adjusted <= outcomes.alpha,
            "remark": "",
        },
        columns=_COLUMNS,
    )
    order = np.lexsort((-np.abs(z), adjusted))
    return table.iloc[order[: max(_SHOWN, int(table["flagged"].sum()))]].reset_index(drop=True)


def _interval(score: Any, error: Any, prob: float) -> dict[str, Any]:
    """Estimate a common variance from its score, with an interval."""
    half = norm.isf((1 - prob) / 2) * error
    ends = {"effect": score, "low": score - half, "high": score + half}
    return {name: value / error**2 for name, value in ends.items()}


def _p_of_pairs(
    outcomes: Outcomes, pair: tuple[np.ndarray, np.ndarray], scale: np.ndarray, z: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Compute p values of pairs, alone and from the largest score, with replicated data sets."""
    rng, shape = outcomes.rng("pairs"), (len(outcomes.subjects), len(outcomes.items))
    block = int(np.clip(_BLOCK // (max(shape) * shape[1]), 1, _REPLICATES))
    above, below, beyond = np.zeros((3, len(z)))
    every = outcomes.cells(np.arange(len(outcomes.item)))
    for start in range(0, _REPLICATES, block):
        count = min(block, _REPLICATES - start)
        residuals = np.zeros((count, *shape), np.float32)
        residuals[:, outcomes.subject, outcomes.item] = every.replicated(rng, count)
        scores = np.matmul(residuals.transpose(0, 2, 1), residuals)[:, *pair] / scale
        above += (scores >= z).sum(axis=0)
        below += (scores <= z).sum(axis=0)
        beyond += (np.abs(scores).max(axis=1, initial=0)[:, None] >= np.abs(z)).sum(axis=0)
    p = np.minimum(1, 2 * (np.minimum(above, below) + 1) / (_REPLICATES + 1))
    return p, (beyond + 1) / (_REPLICATES + 1)


def testlet_table(outcomes: Outcomes, testlet: np.ndarray) -> pd.DataFrame:
    r"""Test whether the items of a testlet have more in common than the layout expects.

    The test is that of `pairs`, with one :math:`\beta` for all pairs of a testlet's items, and
    Holm's adjustment.

    Parameters
    ----------
    outcomes : Outcomes
        All cells.
    testlet : ndarray of str, shape (items,)
        Name of each item's testlet; empty for an item that is in none.

    Returns
    -------
    DataFrame
        One row per testlet, with the columns of `pairs`. If there are several testlets, there is
        also a row for all together. ``item`` and ``other`` are empty.
    """
    names = [name for name in dict.fromkeys(testlet) if name]
    groups: dict[str, list[np.ndarray]] = {name: [] for name in names}
    for cells in outcomes.by_subject.values():
        of_cell = testlet[outcomes.item[cells]]
        for name in np.unique(of_cell):
            if name and (of_cell == name).sum() > 1:
                groups[name].append(cells[of_cell == name])
    sizes = {name: int((testlet == name).sum()) for name in names}
    sizes[TOGETHER] = sum(sizes.values())
    rows = [
        {"testlet": name, "item": "", "other": "", "items": sizes[name]}
        | {"subjects": len(blocks), **result}
        for name, blocks, result in _tested(outcomes, groups, _shared, _pair_sums)
    ]
    return judged(rows, _COLUMNS, outcomes.alpha)


def _shared(cells: Cells) -> tuple[float, float]:
    """Score and variance of one common effect of a subject on some items."""
    score = _pair_sums(cells, cells.residuals.T).mean()
    remaining = -cells.covariance
    np.fill_diagonal(remaining, cells.free)
    around = remaining.sum(axis=0) - remaining  # product of (1 1' - I) and the covariance
    return float(score), float((around * around.T).sum() / 2)


def _pair_sums(_: Cells, residuals: np.ndarray) -> np.ndarray:
    """Sum the products of all pairs of cells' residuals, in each row."""
    return np.asarray((residuals.sum(axis=1) ** 2 - (residuals**2).sum(axis=1)) / 2)


def attempts(outcomes: Outcomes) -> pd.DataFrame:
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
    several = {
        name: [position[outcomes.trials[position] > 1]]
        for name, position in outcomes.by_criticised.items()
    }
    groups = {name: blocks for name, blocks in several.items() if len(blocks[0]) > 1}
    rows = []
    for name, blocks, result in _tested(outcomes, groups, _repeated, _attempt_sums, "attempts "):
        position = np.concatenate(blocks)
        row = {"subject": name, "items": len(position), **result}
        row["attempts"] = int(outcomes.trials[position].sum())
        row["item_sd"] = np.sqrt(np.maximum(result.get("effect", np.nan), 0))
        rows.append(row | {"cell": _single(outcomes, position, result)})
    columns = ["subject", "items", "attempts", "item_sd", *_COLUMNS[5:8], *_COLUMNS[9:], "cell"]
    return judged(rows, columns, outcomes.alpha)


def _repeated(cells: Cells) -> tuple[float, float]:
    """Score and variance of an effect of a subject on each of its items."""
    squares = cells.covariance**2
    np.fill_diagonal(squares, (1 - 1 / cells.trials) * cells.free**2)
    return float(_attempt_scores(cells).sum()), float(squares.sum() / 2)


def _attempt_scores(cells: Cells) -> np.ndarray:
    """Posterior means of the products of all pairs of attempts in the same cell."""
    linear = (1 - 2 * cells.chances) * cells.residuals
    return np.asarray((cells.residuals**2 - linear - cells.variances).mean(axis=1) / 2)


def _attempt_sums(cells: Cells, residuals: np.ndarray) -> np.ndarray:
    """Sum the products of all pairs of attempts' residuals in the same cell, in each row."""
    linear = (1 - 2 * cells.chances.mean(axis=1)) * residuals
    return np.asarray((residuals**2 - linear).sum(axis=1) / 2)


def _single(outcomes: Outcomes, position: np.ndarray, result: Mapping[str, Any]) -> int:
    """Find the cell without which repeated attempts would not be unexpected, or -1."""
    cells = outcomes.cells(position)
    score, variance = result["moments"]
    alone = (1 - 1 / cells.trials) * cells.free**2 / 2
    remaining = np.sqrt(np.maximum(variance - alone, _EDGE))
    z = np.abs(score - _attempt_scores(cells)) / remaining
    return int(position[z.argmin()]) if z.min() < _USUAL else -1


def _tested(
    outcomes: Outcomes,
    groups: dict[str, list[np.ndarray]],
    moments: Callable[[Cells], tuple[float, float]],
    sums: Callable[[Cells, np.ndarray], np.ndarray],
    prefix: str = "",
) -> Iterator[tuple[str, list[np.ndarray], dict[str, Any]]]:
    """Test the common variance of each group of blocks of cells, and of all groups together.

    `moments` computes the score and its variance of a block, and `sums` the scores of replicated
    residuals.
    """
    totals = {
        name: np.sum([moments(outcomes.cells(block)) for block in blocks] or [(0, 0)], axis=0)
        for name, blocks in groups.items()
    }
    least = outcomes.alpha / (len(groups) + 1)
    if len(groups) > 1:
        totals[TOGETHER] = np.sum(list(totals.values()), axis=0)
        groups = groups | {TOGETHER: [block for blocks in groups.values() for block in blocks]}
    for name, blocks in groups.items():
        score, variance = totals[name].tolist()
        result: dict[str, Any] = {"moments": (score, variance), "remark": ""}
        if blocks and variance >= _EDGE:
            result |= _interval(score, np.sqrt(variance), outcomes.prob)
            statistic = score / np.sqrt(variance)
            result["p"] = _p_value(outcomes, f"{prefix}{name}", blocks, statistic, sums, least)
        else:
            result["remark"] = UNDISTINGUISHED if blocks else FEW
        yield name, blocks, result


def _p_value(
    outcomes: Outcomes,
    name: str,
    blocks: list[np.ndarray],
    statistic: float,
    sums: Callable[[Cells, np.ndarray], np.ndarray],
    least: float,
) -> float:
    """Compare a sum over blocks of cells with those of replicated outcomes."""
    rng, most = outcomes.rng(name), max(1, _BLOCK // max(map(len, blocks)))

    def draw(count: int) -> np.ndarray:
        total = np.zeros(count)
        for block in blocks:
            cells = outcomes.cells(block)
            total += sums(cells, cells.replicated(rng, count))
        return total[:, None]

    first = [draw(min(most, _REPLICATES - start)) for start in range(0, _REPLICATES, most)]
    mean, sd = np.mean(np.concatenate(first)), np.std(np.concatenate(first))
    test = np.array([statistic]), np.ones((1, 1))
    return replicated_p(lambda count: (draw(count) - mean) / sd, [test], least, most)[0]
