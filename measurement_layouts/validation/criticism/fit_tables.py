"""Tables of single cells, subjects, and items."""

from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import binom

from .cells import Cells, Outcomes
from .scores import SIZES, Change, false_discovery, holm, judged, predictive_p, score

SLOPE, LEVEL = "slope", "level"
FEW = "fewer than two attempted items"
ALONE = "attempted by a single subject"
NOT_ATTEMPTED = "not attempted"
_SHOWN = 20  # smallest number of cells in the table, besides all that are flagged
_BLOCK = 2**14  # cells at a time
_LINEAR = 0.5  # least share of free information with which a score test alone is trusted


def cell_table(outcomes: Outcomes) -> pd.DataFrame:
    """Compare each cell with its posterior predictive distribution, the largest deviation first.

    Returns
    -------
    DataFrame
        The flagged cells, and at least the 20 with the smallest p values: ``subject``, ``item``,
        ``trials``, ``observed`` successes, ``expected`` with the ends ``low`` and ``high`` of the
        predictive interval, ``surprise`` (residual in standard deviations), ``p`` (two-sided),
        ``p_adjusted`` (Holm, over all cells), ``flagged``, and ``cell``, its position.
    """
    every = np.concatenate(list(outcomes.by_criticised.values()))
    expected, surprise, p = np.empty((3, len(every)))
    for start in range(0, len(every), _BLOCK):
        block = slice(start, start + _BLOCK)
        cells = outcomes.cells(every[block])
        trials, passed = cells.trials[:, None], cells.successes[:, None]
        below = np.asarray(binom.cdf(passed, trials, cells.chances)).mean(axis=1)
        above = np.asarray(binom.sf(passed - 1, trials, cells.chances)).mean(axis=1)
        p[block] = np.minimum(1, 2 * np.minimum(below, above))
        expected[block] = cells.expected.mean(axis=1)
        deviation = np.sqrt(cells.weights + cells.expected.var(axis=1))
        surprise[block] = (cells.successes - expected[block]) / deviation
    adjusted = holm(p)
    shown = np.argsort(p, kind="stable")[: max(_SHOWN, int((adjusted <= outcomes.alpha).sum()))]
    cell, prob = every[shown], outcomes.prob
    trials = outcomes.trials[cell].astype(int)
    drawn = outcomes.rng("cells").binomial(trials[:, None], outcomes.chances[cell].astype(float))
    low, high = np.quantile(drawn, [(1 - prob) / 2, (1 + prob) / 2], axis=1)
    return pd.DataFrame(
        {
            "subject": np.array(outcomes.subjects, dtype=object)[outcomes.subject[cell]],
            "item": np.array(outcomes.items, dtype=object)[outcomes.item[cell]],
            "trials": trials,
            "observed": outcomes.successes[cell].astype(int),
            "expected": expected[shown],
            "low": low,
            "high": high,
            "surprise": surprise[shown],
            "p": p[shown],
            "p_adjusted": adjusted[shown],
            "flagged": adjusted[shown] <= outcomes.alpha,
            "cell": cell,
        }
    )


def person_fit(outcomes: Outcomes) -> pd.DataFrame:
    r"""Test whether each subject passes hard items as rarely as the layout expects.

    The alternative is that the log-odds of a subject's cells change by :math:`\beta` times the
    centred :math:`\log p`; see `scores.score`. If :math:`\beta` is negative, the pattern is
    flatter than the layout implies: hard items are passed too often, as if memorised or guessed, or
    easy ones too rarely. If it is positive, the pattern is more regular. Where the fit absorbs
    more than half of the information, the p value is the larger one of the score test's and
    `scores.predictive_p`: under a layout with nine bounded latents, 11 of 62 clean subjects had p
    below 0.05 by the score test alone, and 2 have it so.

    Returns
    -------
    DataFrame
        One row per subject: ``hard``, number of attempted items with a probability of success below
        0.5; ``observed`` and ``expected`` success rates on these; ``infit``, ``outfit``: mean
        squares of residuals, weighted by information and of standardised residuals (Wright and
        Masters 1982), 1 if the layout is right; ``effect``, ``low``, ``high``: :math:`\beta`;
        ``p``, ``p_adjusted`` (Benjamini and Hochberg), ``flagged``; ``cell``: the single cell that
        explains it, or -1; ``remark``, where there is no test.

    References
    ----------
    Drasgow, F., Levine, M. V. and Williams, E. A. (1985), Appropriateness measurement with
    polychotomous item response models and standardized indices, British Journal of Mathematical and
    Statistical Psychology 38. Snijders, T. A. B. (2001), Asymptotic null distribution of person fit
    statistics with estimated person parameter, Psychometrika 66.
    """
    rows = []
    for name, cells in outcomes.each(outcomes.by_criticised):
        hard = cells.chances.mean(axis=1) < 0.5
        row = {"subject": name, "hard": int(hard.sum()), **_rates(cells, hard)}
        change: Change | str = FEW
        if len(hard) > 1:
            change = Change(cells.centred(np.log(cells.chances)), moves=True)
        alternatives = [(row | _mean_squares(cells), change)]
        (test,) = score(cells, alternatives, **outcomes.test(name, len(outcomes.criticised)))
        if isinstance(change, Change) and test.get("free", 1) < _LINEAR:
            test["p"] = max(test["p"], predictive_p(cells, change.columns))
        rows.append(test)
    columns = ["subject", "hard", "observed", "expected", "infit", "outfit", *SIZES]
    return judged(rows, columns, outcomes.alpha, false_discovery)


def _rates(cells: Cells, chosen: np.ndarray | slice = slice(None)) -> dict[str, float]:
    """Observed and expected success rates on some cells."""
    trials = cells.trials[chosen].sum()
    if not trials:
        return {}
    expected = cells.expected.mean(axis=1)[chosen].sum()
    return {"observed": cells.successes[chosen].sum() / trials, "expected": expected / trials}


def _mean_squares(cells: Cells) -> dict[str, float]:
    """Compute infit and outfit, averaged over draws."""
    if not len(cells.trials):
        return {}
    squares, variances = cells.residuals**2, cells.variances
    return {
        "infit": float((squares.sum(axis=0) / variances.sum(axis=0)).mean()),
        "outfit": float(np.mean(squares / variances)),
    }


def item_fit(outcomes: Outcomes, *, levels: bool) -> pd.DataFrame:
    r"""Test whether each item is as steep, and as easy, as the layout expects.

    The alternative is that the log-odds of an item's cells change by :math:`\beta` times their
    centred values; see `scores.score`. If :math:`\beta` is negative, the item discriminates between
    subjects less than the layout implies (not at all at -1), and if it is positive, more. If the
    layout has no own effects of items, a change of level is also tested, in log-odds, which is
    positive if the item is easier.

    Returns
    -------
    DataFrame
        One row per item and ``what``: ``"slope"``, and ``"level"`` with `levels`. ``subjects``:
        number of subjects that attempted it; ``observed`` and ``expected`` success rates; further
        columns as in `person_fit`, with Holm's adjustment.

    References
    ----------
    Glas, C. A. W. (1999), Modification indices for the 2-PL and the nominal response model,
    Psychometrika 64.
    """
    columns = ["item", "what", "subjects", "observed", "expected", "infit", "outfit", *SIZES]
    if len(outcomes.subjects) < 2:
        return judged([], columns, outcomes.alpha)
    kinds = [SLOPE, LEVEL] if levels else [SLOPE]
    rows: list[dict[str, Any]] = []
    for name, cells in outcomes.each(outcomes.by_item, "items"):
        count = len(cells.position)
        row = {"item": name, "subjects": count, **_rates(cells), **_mean_squares(cells)}
        slope: Change | str = ALONE if count else NOT_ATTEMPTED
        if count > 1:
            slope = Change(cells.centred(cells.log_odds), moves=True)
        level: Change | str = Change(np.ones((count, 1))) if count else NOT_ATTEMPTED
        changes: dict[str, Change | str] = {SLOPE: slope, LEVEL: level}
        alternatives = [(row | {"what": kind}, changes[kind]) for kind in kinds]
        tests = outcomes.test(name, len(outcomes.items) * len(kinds))
        rows += score(cells, alternatives, **tests)
    rows.sort(key=lambda row: kinds.index(row["what"]))
    return judged(rows, columns, outcomes.alpha)
