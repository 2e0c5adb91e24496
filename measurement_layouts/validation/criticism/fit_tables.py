"""Tables of single cells, subjects, items, and items by groups of subjects."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import binom

from ...common.errors import DataError
from ...common.messages import some
from ...common.progress import track
from ...evaluations.tables import need_columns, refuse_repeats, texts
from .dependence import FEW
from .properties import MISSING, MOST_VALUES, read_property
from .scores import Cells, Outcomes, false_discovery, holm, score

SLOPE, LEVEL = "slope", "level"
STANDARD = "+1 sd"
ALONE = "attempted by a single subject"
_SHOWN = 20  # smallest number of cells in the table, besides all that are flagged
_BLOCK = 2**14  # cells at a time
_FEWEST = 2  # smallest number of subjects of a level
_OF_SLOPES = 0.2  # part of alpha for changes of slopes by groups; levels have the rest
_SIZES = ["effect", "low", "high", "p", "p_adjusted", "flagged", "cell", "remark"]


def cell_table(outcomes: Outcomes, *, alpha: float, prob: float) -> pd.DataFrame:
    """Compare each cell with its posterior predictive distribution, the largest deviation first.

    Returns
    -------
    DataFrame
        The flagged cells, and at least the 20 with the smallest p values: ``subject``, ``item``,
        ``trials``, ``observed`` successes, ``expected`` with the ends ``low`` and ``high`` of the
        predictive interval, ``surprise`` (residual in standard deviations), ``p`` (two-sided),
        ``p_adjusted`` (Holm, over all cells), ``flagged``, and ``cell``, its position.
    """
    expected, surprise, p = np.empty((3, len(outcomes.item)))
    for start in range(0, len(expected), _BLOCK):
        where = np.arange(start, min(start + _BLOCK, len(expected)))
        cells = outcomes.cells(where)
        trials, passed = cells.trials[:, None], cells.successes[:, None]
        below = np.asarray(binom.cdf(passed, trials, cells.chances)).mean(axis=1)
        above = np.asarray(binom.sf(passed - 1, trials, cells.chances)).mean(axis=1)
        p[where] = np.minimum(1, 2 * np.minimum(below, above))
        expected[where] = cells.expected.mean(axis=1)
        deviation = np.sqrt(cells.weights + cells.expected.var(axis=1))
        surprise[where] = (cells.successes - expected[where]) / deviation
    adjusted = holm(p)
    shown = np.argsort(p, kind="stable")[: max(_SHOWN, int((adjusted <= alpha).sum()))]
    trials = outcomes.trials[shown].astype(int)
    drawn = outcomes.rng("cells").binomial(trials[:, None], outcomes.chances[shown].astype(float))
    low, high = np.quantile(drawn, [(1 - prob) / 2, (1 + prob) / 2], axis=1)
    names = [outcomes.cell_name(cell) for cell in shown]
    return pd.DataFrame(
        {
            "subject": [subject for subject, _ in names],
            "item": [item for _, item in names],
            "trials": trials,
            "observed": outcomes.successes[shown].astype(int),
            "expected": expected[shown],
            "low": low,
            "high": high,
            "surprise": surprise[shown],
            "p": p[shown],
            "p_adjusted": adjusted[shown],
            "flagged": adjusted[shown] <= alpha,
            "cell": shown,
        }
    )


def person_fit(outcomes: Outcomes, *, alpha: float, prob: float, progressbar: bool) -> pd.DataFrame:
    r"""Test whether each subject passes hard items as rarely as the layout expects.

    The alternative is that the log-odds of a subject's cells change by :math:`\beta` times the
    centred :math:`\log p`; see `scores.score`. If :math:`\beta` is negative, the pattern is
    flatter than the layout implies: hard items are passed too often, as if memorised or guessed, or
    easy ones too rarely. If it is positive, the pattern is more regular.

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
    rows: list[dict[str, Any]] = []
    progress = track(outcomes.by_subject, len(outcomes.subjects), progressbar)
    for name, where in zip(outcomes.subjects, progress, strict=True):
        cells = outcomes.cells(where)
        rows.append({"subject": name, **_hard(cells), **_mean_squares(cells)})
        if len(where) < 2:
            rows[-1] |= {"cell": -1, "remark": FEW}
            continue
        rows[-1] |= _moving(
            outcomes, where, np.log(cells.chances), name, alpha / len(outcomes.subjects), prob
        )
    columns = ["subject", "hard", "observed", "expected", "infit", "outfit", *_SIZES]
    return _judged(pd.DataFrame(rows).reindex(columns=columns), false_discovery, alpha)


def _hard(cells: Cells) -> dict[str, float]:
    """Compare the success rate on items with a probability of success below 0.5."""
    hard = cells.chances.mean(axis=1) < 0.5
    trials = cells.trials[hard].sum()
    observed, expected = cells.successes[hard].sum(), cells.expected.mean(axis=1)[hard].sum()
    rates = {"observed": observed / trials, "expected": expected / trials} if trials else {}
    return {"hard": int(hard.sum()), **rates}


def _mean_squares(cells: Cells) -> dict[str, float]:
    """Compute infit and outfit, averaged over draws."""
    if not len(cells.trials):
        return {}
    squares, variances = cells.residuals**2, cells.variances
    return {
        "infit": float((squares.sum(axis=0) / variances.sum(axis=0)).mean()),
        "outfit": float(np.mean(squares / variances)),
    }


def _moving(
    outcomes: Outcomes, where: np.ndarray, values: np.ndarray, name: str, least: float, prob: float
) -> dict[str, Any]:
    """Test changes along values that depend on the probabilities, centred in each draw."""
    cells = outcomes.cells(where)
    moving = cells.centred(values)
    column = ((moving * cells.variances).mean(axis=1) / cells.weights)[:, None]
    rng = outcomes.rng(name)
    return _named_cell(score(cells, column, rng, least=least, prob=prob, moving=moving), where)


def _named_cell(tested: dict[str, Any], where: np.ndarray) -> dict[str, Any]:
    """Give the cell that explains a test by its position among all cells."""
    cell = tested["cell"]
    return tested | {"cell": int(where[cell]) if cell >= 0 else -1}


def item_fit(
    outcomes: Outcomes, *, levels: bool, alpha: float, prob: float, progressbar: bool
) -> pd.DataFrame:
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
    rows: list[dict[str, Any]] = []
    least = alpha / max(len(outcomes.items), 1) / (1 + levels)
    progress = track(outcomes.by_item, len(outcomes.items), progressbar, "items")
    for name, where in zip(outcomes.items, progress, strict=True):
        if len(outcomes.subjects) < 2:
            break
        cells = outcomes.cells(where)
        row: dict[str, Any] = {"item": name, "subjects": len(where), **_mean_squares(cells)}
        if len(where):
            row |= {
                "observed": cells.successes.sum() / cells.trials.sum(),
                "expected": cells.expected.mean(axis=1).sum() / cells.trials.sum(),
            }
        none = {"cell": -1, "remark": ALONE if len(where) else "not attempted"}
        slope = (
            _moving(outcomes, where, cells.log_odds, name, least, prob) if len(where) > 1 else none
        )
        rows.append(row | {"what": SLOPE} | slope)
        if levels:
            ones, rng = np.ones((len(where), 1)), outcomes.rng(f"level {name}")
            level = score(cells, ones, rng, least=least, prob=prob) if len(where) else none
            rows.append(row | {"what": LEVEL} | _named_cell(level, where))
    columns = ["item", "what", "subjects", "observed", "expected", "infit", "outfit", *_SIZES]
    table = pd.DataFrame(rows).reindex(columns=columns)
    table = table.sort_values("what", ascending=False, kind="stable", ignore_index=True)
    return _judged(table, holm, alpha)


def _judged(table: pd.DataFrame, adjust: Any, alpha: float) -> pd.DataFrame:
    """Adjust p values, and flag those of at most alpha."""
    table["p_adjusted"] = adjust(table["p"].to_numpy(dtype=float))
    table["remark"] = table["remark"].fillna("")
    return table.assign(flagged=(table["p_adjusted"] <= alpha).astype(bool))


@dataclass(frozen=True, eq=False)
class Contrast:
    """A column of the subjects as numbers.

    Attributes
    ----------
    name : str
        Name of the column.
    levels : tuple of str
        Name of each column of `values`.
    against : str
        What levels are compared with.
    values : ndarray, shape (subjects, levels)
        Indicators of the levels (of two levels, of the second one), or standardised numbers.
    """

    name: str
    levels: tuple[str, ...]
    against: str
    values: np.ndarray

    @classmethod
    def of(cls, subjects: pd.DataFrame, name: str) -> "Contrast":
        """Read a column: numbers if it has more than 8 different ones, and levels otherwise.

        Raises
        ------
        DataError
            When there is no such column, a value is missing, there is a single level or a level
            with a single subject, or there are more than 30 different texts.
        """
        need_columns(subjects.columns, [name], "by: the subjects have")
        column = subjects[name]
        kind = read_property(subjects, name)
        if MISSING in kind.levels:
            raise DataError(
                f"by: {name} is missing for {some(subjects.index[column.isna()])} of the subjects; "
                "fill it in, or leave out the column"
            )
        if pd.api.types.is_numeric_dtype(column) and column.nunique() > MOST_VALUES:
            numbers = column.to_numpy(dtype=float)
            spread = (numbers - numbers.mean()) / numbers.std()
            return cls(name, (STANDARD,), "the mean", spread[:, None])
        counts = np.bincount(kind.codes)
        if len(counts) < 2 or counts.min() < _FEWEST:
            have = ", ".join(
                f"{level}: {count}" for level, count in zip(kind.levels, counts, strict=True)
            )
            raise DataError(
                f"by: {name} has the levels {have}; at least two levels are needed, each with at "
                f"least {_FEWEST} subjects: join rare levels, or leave out the column"
            )
        indicators = (kind.codes[:, None] == np.arange(len(counts))).astype(float)
        if len(counts) == 2:
            return cls(name, kind.levels[1:], kind.levels[0], indicators[:, 1:])
        return cls(name, kind.levels, "the others", indicators)


def group_columns(subjects: pd.DataFrame, by: str | Iterable[str] | None) -> list[str]:
    """Return the given columns (default: all with 2 to 8 levels of at least two subjects)."""
    if by is not None:
        names = [by] if isinstance(by, str) else texts(by, "by")
        refuse_repeats(names, "column", "by")
        return names
    counts = {str(name): subjects[name].value_counts(dropna=False) for name in subjects}
    return [
        name
        for name, levels in counts.items()
        if 1 < len(levels) <= MOST_VALUES
        and levels.min() >= _FEWEST
        and not subjects[name].isna().any()
    ]


def invariance(
    outcomes: Outcomes,
    contrasts: list[Contrast],
    anchors: list[str],
    *,
    alpha: float,
    prob: float,
    progressbar: bool,
) -> pd.DataFrame:
    r"""Test whether each item is easier or steeper for some subjects than the layout expects (DIF).

    The alternative is that the log-odds of an item's cells change by :math:`\beta` for the subjects
    of a level (``what`` is "level": uniform DIF), or by :math:`\beta` times their centred values
    ("slope": non-uniform DIF, of columns with two levels or of numbers); see `scores.score`. A
    level that is better on all items is not flagged, as the fit absorbs it.

    If a few items are much harder for a level, the others are easier relative to them. With
    `anchors`, every other item may have an effect of its own at the same time, so that subjects
    are compared by the anchors.

    Returns
    -------
    DataFrame
        One row per column, item and ``what``. ``by``: the column; ``level``: the second one of two
        levels, or the one of several that deviates most; ``against``: the first level, or "the
        others". For a column of numbers, "+1 sd" and "the mean". ``subjects``: number of subjects
        of the level (of all, for numbers) that attempted the item; ``anchor``; ``df``; further
        columns as in `person_fit`. Holm's adjustment gives slopes a fifth of alpha.

    References
    ----------
    Glas, C. A. W. (1998), Detection of differential item functioning using Lagrange multiplier
    tests, Statistica Sinica 8. Swaminathan, H. and Rogers, H. J. (1990), Detecting differential
    item functioning using logistic regression procedures, Journal of Educational Measurement 27.
    """
    rows: list[dict[str, Any]] = []
    least = alpha * _OF_SLOPES / max(len(outcomes.items) * len(contrasts), 1)
    progress = [(contrast, place) for contrast in contrasts for place in range(len(outcomes.items))]
    for contrast, place in track(progress, len(progress), progressbar, "items"):
        name, where = outcomes.items[place], outcomes.by_item[place]
        row: dict[str, Any] = {"by": contrast.name, "item": name, "against": contrast.against}
        row |= {"anchor": not anchors or name in anchors, "what": LEVEL}
        values = contrast.values[outcomes.subject[where]]
        if not len(where) or np.ptp(values, axis=0).max() == 0:
            remark = "attempted by subjects of one level" if len(where) else "not attempted"
            rows.append(row | {"level": contrast.levels[0], "cell": -1, "remark": remark})
            continue
        others = [
            other for other, item in enumerate(outcomes.items) if anchors and item not in anchors
        ]
        rows.append(row | _uniform(outcomes, contrast, place, others, least, prob))
        if len(contrast.levels) == 1:
            counts = {name: rows[-1][name] for name in ("level", "subjects")}
            rows.append(
                row | counts | {"what": SLOPE} | _slope(outcomes, where, values, least, prob)
            )
    columns = ["by", "item", "what", "level", "against", "subjects", "anchor", "df", *_SIZES]
    table = pd.DataFrame(rows).reindex(columns=columns)
    slopes = (table["what"] == SLOPE).to_numpy()
    table = _judged(table, holm, alpha)
    for rows_of, part in ((slopes, _OF_SLOPES), (~slopes, 1 - _OF_SLOPES * slopes.any())):
        adjusted = holm(table.loc[rows_of, "p"].to_numpy(dtype=float)) / part
        table.loc[rows_of, "p_adjusted"] = np.minimum(adjusted, 1)
    return table.assign(flagged=table["p_adjusted"] <= alpha)


def _uniform(
    outcomes: Outcomes,
    contrast: Contrast,
    place: int,
    others: list[int],
    least: float,
    prob: float,
) -> dict[str, Any]:
    """Test effects of levels on one item, beside their effects on some others."""
    blocks = [
        outcomes.by_item[item] for item in (place, *(other for other in others if other != place))
    ]
    where, own = np.concatenate(blocks), len(blocks[0])
    cells, width = outcomes.cells(where), len(contrast.levels)
    columns = np.zeros((len(where), width * len(blocks)))
    for block, start in enumerate(np.cumsum([0, *map(len, blocks[:-1])])):
        inside = slice(start, start + len(blocks[block]))
        values, weights = contrast.values[outcomes.subject[where[inside]]], cells.weights[inside]
        centred = values - weights @ values / weights.sum()
        columns[inside, block * width : (block + 1) * width] = centred
    beside = columns[:, width:] if len(blocks) > 1 else None

    def tested(chosen: slice, p_wanted: float) -> dict[str, Any]:
        rng = outcomes.rng(f"{contrast.name} {outcomes.items[place]}")
        return score(cells, columns[:, chosen], rng, least=p_wanted, prob=prob, beside=beside)

    result, most = tested(slice(0, width), least), 0
    if width > 1 and not result["remark"]:
        alone = [tested(slice(level, level + 1), 1) for level in range(width)]
        most = int(np.argmax([one.get("statistic", 0) for one in alone]))
        result |= {name: alone[most][name] for name in ("effect", "low", "high")}
    of_level = contrast.values[outcomes.subject[where[:own]], most]
    count = own if contrast.against == "the mean" else int((of_level > 0).sum())
    result |= {"cell": result["cell"] if result["cell"] < own else -1}
    return {"level": contrast.levels[most], "subjects": count, **_named_cell(result, where)}


def _slope(
    outcomes: Outcomes, where: np.ndarray, values: np.ndarray, least: float, prob: float
) -> dict[str, Any]:
    """Test whether an item is steeper for a level, beside effects of the level and of the slope."""
    cells = outcomes.cells(where)
    centred = values - cells.weights @ values / cells.weights.sum()
    steep = cells.centred(cells.log_odds)
    moving = centred * steep
    column, slope = (
        ((each * cells.variances).mean(axis=1) / cells.weights)[:, None] for each in (moving, steep)
    )
    beside = np.concatenate([centred, slope, np.ones_like(slope)], axis=1)
    rng = outcomes.rng(f"slope {where[0]}")
    tested = score(cells, column, rng, least=least, prob=prob, moving=moving, beside=beside)
    return _named_cell(tested, where)
