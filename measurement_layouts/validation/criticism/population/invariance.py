"""Invariance: items that are easier for some groups of subjects than for others (DIF)."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import chi2, norm

from ....common.errors import DataError
from ....common.messages import some
from ....evaluations.tables import need_columns, refuse_repeats, texts
from ..properties import MISSING, MOST_VALUES, read_property
from .louis import ITEM, Direction, adjusted
from .residuals import Residuals

COLUMNS = ["by", "item", "level", "against", "subjects", "anchor", "effect", "low", "high"]
COLUMNS += ["statistic", "df", "p", "p_adjusted", "flagged"]
STANDARD = "+1 sd"
_FEWEST = 2  # smallest number of subjects of a level
_ROUNDS = 10


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
        What levels are compared with; empty if each is compared with all others.
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
        if pd.api.types.is_numeric_dtype(column) and column.nunique() > MOST_VALUES:
            empty = ~np.isfinite(column.to_numpy(dtype=float))
            if empty.any():
                raise DataError(_missing(name, subjects.index[empty]))
            spread = (column - column.mean()) / column.std(ddof=0)
            return cls(name, (STANDARD,), "the mean", spread.to_numpy(dtype=float)[:, None])
        kind = read_property(subjects, name)
        if MISSING in kind.levels:
            raise DataError(_missing(name, subjects.index[column.isna()]))
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
        return cls(name, kind.levels, "", indicators)


def group_columns(subjects: pd.DataFrame, by: str | Iterable[str] | None) -> list[str]:
    """Return the given columns (default: all with 2 to 8 levels of at least two subjects)."""
    if by is not None:
        names = [by] if isinstance(by, str) else texts(by, "by")
        refuse_repeats(names, "column", "by")
        return names
    counts = {str(name): subjects[name].value_counts(dropna=False) for name in subjects}
    return [
        name
        for name, found in counts.items()
        if 1 < len(found) <= MOST_VALUES
        and found.min() >= _FEWEST
        and not subjects[name].isna().any()
    ]


def invariance(
    residuals: Residuals, contrasts: list[Contrast], *, alpha: float, prob: float
) -> pd.DataFrame:
    r"""Test whether each item is easier for some subjects than the layout expects.

    The alternative is that the log-odds of an item's cells change by :math:`\beta` for the subjects
    of a level, relative to their other items; see `louis.Direction`. A level that is better on all
    items is therefore not flagged, but only one that is better on single items, which is
    differential item functioning (DIF).

    If a few items are much harder for a level, the others are easier relative to them. Flagged
    items are therefore removed from the anchor, the items that determine the levels of subjects,
    and all items are tested again, until the same ones are flagged, at most ten times. If more than
    half of the items are flagged, those that differ most are removed. If the layout is sufficient,
    this starts only after a false alarm, so that false alarms are not more frequent.

    Parameters
    ----------
    residuals : Residuals
        Residuals of a joint fit.
    contrasts : list of Contrast
        Columns of the subjects.
    alpha : float
        Probability of any false alarm in the table.
    prob : float
        Mass of the intervals.

    Returns
    -------
    DataFrame
        One row per column and item.

        - ``by``: the column; ``level``: the second one of two levels, or the one of several that
          deviates most; ``against``: the first level, or "the others". For a column of numbers,
          "+1 sd" and "the mean".
        - ``subjects``: number of subjects of the level (of all, for numbers) that attempted the
          item; ``anchor``: whether the item is in the anchor.
        - ``effect``, ``low``, ``high``: :math:`\beta` in log-odds, which is positive if the item is
          easier for the level, with an approximate interval, adjusted for the choice of a level.
        - ``statistic``, ``df``: squared standardised score, or chi-square over several levels.
        - ``p``, ``p_adjusted``, ``flagged``; p from the saddlepoint approximation, or, for several
          levels, from the chi-square distribution.

    References
    ----------
    Glas, C. A. W. (1998), Detection of differential item functioning using Lagrange multiplier
    tests, Statistica Sinica 8. Candell, G. L. and Drasgow, F. (1988), An iterative procedure for
    linking metrics and assessing item bias in item response theory, Applied Psychological
    Measurement 12.
    """
    anchors = [np.ones(len(residuals.items), dtype=bool) for _ in contrasts]
    tables = [_table(residuals, *each, prob) for each in zip(contrasts, anchors, strict=True)]
    for _ in range(_ROUNDS):
        made = _together(tables, alpha)
        changed = False
        for place, contrast in enumerate(contrasts):
            own = _anchor(made[made["by"] == contrast.name])
            if (own != anchors[place]).any():
                anchors[place], changed = own, True
                tables[place] = _table(residuals, contrast, own, prob)
        if not changed:
            break
    return _together(tables, alpha)


def _anchor(table: pd.DataFrame) -> np.ndarray:
    """Return the anchor: all items except the flagged ones, of which at most half are removed."""
    worst = np.argsort(-table["statistic"].where(table["flagged"], -np.inf), kind="stable")
    out = worst[: min(int(table["flagged"].sum()), len(table) // 2)]
    return ~np.isin(np.arange(len(table)), out)


def _together(tables: list[pd.DataFrame], alpha: float) -> pd.DataFrame:
    """Concatenate the tables of all columns, and adjust p values for all rows."""
    made = pd.concat(tables) if tables else pd.DataFrame(columns=COLUMNS)
    return adjusted(made.reset_index(drop=True), alpha)[COLUMNS]


def _table(
    residuals: Residuals, contrast: Contrast, anchor: np.ndarray, prob: float
) -> pd.DataFrame:
    """Test the items for one column."""
    columns = [each[:, None] for each in contrast.values.T]
    direction = Direction(lambda block: columns, ITEM, anchor)
    tested = direction.test(residuals)
    effect, error = tested.alone()
    several = len(columns) > 1
    if several:
        # the first score is minus the sum of the others
        statistic = tested.take(slice(1, None)).together()
        p = chi2.sf(statistic, len(columns) - 1)
    else:
        statistic, p = (effect / error)[:, 0] ** 2, direction.chances(residuals, tested)
    most = np.abs(np.nan_to_num(effect / error)).argmax(axis=1)
    items = np.arange(len(most))
    own, half = effect[items, most], error[items, most]
    half = half * norm.isf((1 - prob) / 2 / len(columns))
    of_level = contrast.values[:, most] > 0 if several or contrast.against != "the mean" else 1
    return pd.DataFrame(
        {
            "by": contrast.name,
            "item": residuals.items,
            "level": [contrast.levels[place] for place in most],
            "against": contrast.against or "the others",
            "subjects": ((residuals.trials > 0) & of_level).sum(axis=0),
            "anchor": anchor,
            "effect": own,
            "low": own - half,
            "high": own + half,
            "statistic": statistic,
            "df": max(1, len(columns) - 1),
            "p": p,
        }
    )


def _missing(name: str, who: pd.Index) -> str:
    return (
        f"by: {name} is missing for {some(who)} of the subjects; fill it in, or leave out the "
        "column"
    )
