"""Items that are easier or steeper for some subjects: differential item functioning (DIF)."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ...common.errors import DataError
from ...common.messages import some
from ...common.progress import track
from ...evaluations.tables import need_columns, refuse_repeats, texts
from .cells import Outcomes
from .fit_tables import LEVEL, NOT_ATTEMPTED, SLOPE
from .properties import MOST_VALUES, read_property
from .scores import SIZES, Change, judged, score

STANDARD = "+1 sd"
MEAN, OTHERS = "the mean", "the others"
_FEWEST = 2  # smallest number of subjects of a level
_OF_SLOPES = 0.2  # part of alpha for changes of slopes by groups; levels have the rest


class Contrast(NamedTuple):
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
        column, levels = subjects[name], read_property(subjects, name)
        if column.isna().any():
            raise DataError(
                f"by: {name} is missing for {some(subjects.index[column.isna()])} of the subjects; "
                "fill it in, or leave out the column"
            )
        if pd.api.types.is_numeric_dtype(column) and column.nunique() > MOST_VALUES:
            numbers = column.to_numpy(dtype=float)
            spread = (numbers - numbers.mean()) / numbers.std()
            return cls(name, (STANDARD,), MEAN, spread[:, None])
        counts, indicators = levels.value_counts(sort=False), pd.get_dummies(levels, dtype=float)
        if len(counts) < 2 or counts.min() < _FEWEST:
            have = ", ".join(f"{level}: {count}" for level, count in counts.items())
            raise DataError(
                f"by: {name} has the levels {have}; at least two levels are needed, each with at "
                f"least {_FEWEST} subjects: join rare levels, or leave out the column"
            )
        names, values = tuple(map(str, counts.index)), indicators.to_numpy()
        if len(names) == 2:
            return cls(name, names[1:], names[0], values[:, 1:])
        return cls(name, names, OTHERS, values)


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


def invariance(outcomes: Outcomes, contrasts: list[Contrast], anchors: list[str]) -> pd.DataFrame:
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
    count = len(outcomes.items) * len(contrasts) / _OF_SLOPES
    pairs = [(contrast, item) for contrast in contrasts for item in outcomes.items]
    for contrast, item in track(pairs, len(pairs), outcomes.progressbar, "items"):
        position = outcomes.by_item[item]
        values = contrast.values[outcomes.subject[position]]
        row = {"by": contrast.name, "item": item, "against": contrast.against, "cell": -1}
        row |= {"anchor": not anchors or item in anchors, "what": LEVEL}
        row["level"] = contrast.levels[0]
        if not len(position) or np.ptp(values, axis=0).max() == 0:
            remark = "attempted by subjects of one level" if len(position) else NOT_ATTEMPTED
            rows.append(row | {"remark": remark})
            continue
        beside = [other for other in outcomes.items if anchors and other not in anchors]
        tests, most = _uniform(outcomes, contrast, item, beside, count)
        counts = (values[:, most] > 0).sum() if contrast.against != MEAN else len(position)
        row |= {"level": contrast.levels[most], "subjects": int(counts)}
        rows.append(row | tests)
        if len(contrast.levels) == 1:
            rows.append(row | {"what": SLOPE} | _slope(outcomes, item, values, count))
    columns = ["by", "item", "what", "level", "against", "subjects", "anchor", "df", *SIZES]
    table = judged(rows, columns, outcomes.alpha, within="what")
    slopes = table["what"] == SLOPE
    parts = np.where(slopes, _OF_SLOPES, 1 - _OF_SLOPES * slopes.any())
    table["p_adjusted"] = np.minimum(table["p_adjusted"] / parts, 1)
    return table.assign(flagged=table["p_adjusted"] <= outcomes.alpha)


def _uniform(
    outcomes: Outcomes, contrast: Contrast, item: str, others: list[str], count: float
) -> tuple[dict[str, Any], int]:
    """Test effects of levels on one item, beside those on some others; and find the largest."""
    items = [item, *(one for one in others if one != item and len(outcomes.by_item[one]))]
    codes = [outcomes.items.index(name) for name in items]
    cells = outcomes.cells(np.concatenate([outcomes.by_item[name] for name in items]))
    values = contrast.values[outcomes.subject[cells.position]]
    of_item = (outcomes.item[cells.position][:, None] == codes).astype(float)
    weights = of_item * cells.weights[:, None]
    centred = values - of_item @ (weights.T @ values / weights.sum(axis=0)[:, None])
    columns = (of_item[:, :, None] * centred[:, None]).reshape(len(values), -1)
    width = len(contrast.levels)
    beside = columns[:, width:] if len(items) > 1 else None
    chosen = [slice(0, width), *(slice(at, at + 1) for at in range(width if width > 1 else 0))]
    none: dict[str, Any] = {}
    changes = [(none, Change(columns[:, level], beside)) for level in chosen]
    result, *alone = score(cells, changes, **outcomes.test(f"{contrast.name} {item}", count))
    most = 0
    if alone and not result["remark"]:
        most = int(np.argmax([test.get("statistic", 0) for test in alone]))
        result |= {name: alone[most][name] for name in ("effect", "low", "high")}
    if result["cell"] not in outcomes.by_item[item]:
        result["cell"] = -1
    return result, most


def _slope(outcomes: Outcomes, item: str, values: np.ndarray, count: float) -> dict[str, Any]:
    """Test whether an item is steeper for a level, beside effects of the level and of the slope."""
    cells = outcomes.cells(outcomes.by_item[item])
    centred = values - cells.weights @ values / cells.weights.sum()
    steep = cells.centred(cells.log_odds)
    slope = ((steep * cells.variances).mean(axis=1) / cells.weights)[:, None]
    beside = np.concatenate([centred, slope, np.ones_like(slope)], axis=1)
    change = Change(centred * steep, beside, moves=True)
    return score(cells, [({}, change)], **outcomes.test(f"slope {item}", count))[0]
