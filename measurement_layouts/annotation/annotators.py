"""Annotations by several annotators: side by side, pooled, and settled by majority."""

from collections.abc import Mapping, Sequence
from statistics import multimode

import numpy as np
import pandas as pd

from ..common.errors import AnnotationError
from .annotate import Annotations
from .inputs import refuse_twice
from .rubric import DEMAND_LEVELS, LEVELS

BAND, LEVEL = ("low", "high"), ("level",)
"""Columns of bands, and of levels of a demand."""


def side_by_side(
    annotations: "Mapping[str, Annotations | pd.DataFrame]",
    columns: Sequence[str],
    ends: tuple[int, int],
) -> dict[str, pd.DataFrame]:
    """Arrange annotations of several annotators by column.

    Parameters
    ----------
    annotations : mapping of str to Annotations or DataFrame
        Annotations of each annotator; a frame is indexed by item.
    columns : sequence of str
        ``low`` and ``high``, or ``level``.
    ends : (int, int)
        Lowest and highest level.

    Returns
    -------
    dict of str to DataFrame
        A table for each column: items (those that at least one annotator annotated) by annotators;
        NaN where an annotation is missing.

    Raises
    ------
    AnnotationError
        When there are fewer than two annotators, annotations belong to several rubrics, or a frame
        lacks a column, has an item twice, or has numbers outside the levels.
    """
    refuse_one_annotator(annotations)
    rubrics = {one.rubric for one in annotations.values() if isinstance(one, Annotations)}
    if len(rubrics) > 1:
        raise AnnotationError(
            f"annotations belong to several rubrics, {', '.join(sorted(rubrics))}; give "
            f"those of one"
        )
    tables = {
        str(name): _levels(f"annotator {name!r}", table_of(one), list(columns), ends)
        for name, one in annotations.items()
    }
    both = pd.concat(tables, axis=1).rename_axis("item")
    return {column: pd.DataFrame(both.xs(column, axis=1, level=1)) for column in columns}


def refuse_one_annotator(annotations: object) -> None:
    """Refuse what is no mapping of at least two annotators."""
    if not isinstance(annotations, Mapping) or len(annotations) < 2:
        have = len(annotations) if isinstance(annotations, Mapping) else type(annotations).__name__
        raise AnnotationError(
            f"annotations of {have}; give a mapping from annotators' names to their annotations, "
            "with at least two annotators"
        )


def table_of(annotations: Annotations | pd.DataFrame) -> pd.DataFrame:
    """Return the table of annotations."""
    return annotations.table if isinstance(annotations, Annotations) else annotations


def _levels(
    where: str, table: pd.DataFrame, columns: list[str], ends: tuple[int, int]
) -> pd.DataFrame:
    if not isinstance(table, pd.DataFrame) or not set(columns) <= set(table.columns):
        raise AnnotationError(
            f"{where}: give Annotations, or a DataFrame indexed by item with the "
            f"column{'s' * (len(columns) - 1)} {' and '.join(columns)}"
        )
    refuse_twice(table.index, f"{where}: the item")
    try:
        levels = table[columns].astype(float)
    except (TypeError, ValueError) as error:
        raise AnnotationError(f"{where}: not a number ({error}); give levels") from error
    outside = levels[((levels < ends[0]) | (levels > ends[1])).any(axis=1)]
    if len(outside):
        raise AnnotationError(
            f"{where}, item {outside.index[0]!r}: {outside.iloc[0].tolist()} goes beyond the "
            f"levels {ends[0]} to {ends[1]}; give levels"
        )
    return levels.dropna()


def pooled(
    annotations: "Mapping[str, Annotations | pd.DataFrame]",
    *,
    ends: tuple[int, int] = (LEVELS[0], LEVELS[-1]),
) -> pd.DataFrame:
    r"""Join annotators into one band per item, with the spread of its ends.

    .. math:: \text{spread} = \sqrt{3 \cdot \tfrac{1}{2} (s^2_{low} + s^2_{high})}

    A value that is uniform between minus and plus a spread has a standard deviation of the spread
    divided by the root of 3. This is therefore the spread of uniform ends whose variance is that
    between annotators, as `uncertain_band` needs it. Half the range of the annotators would be too
    small: with two annotators it is a third of the spread on average. Where annotators agree, the
    spread is 0, although ends are rounded to whole levels; ``spread.clip(lower=0.5)`` takes the
    rounding into account.

    Parameters
    ----------
    annotations : mapping of str to Annotations or DataFrame
        Annotations of each annotator; a frame is indexed by item, with ``low`` and ``high``.
    ends : (int, int), default (-3, 3)
        Lowest and highest level of the rubric.

    Returns
    -------
    DataFrame
        Indexed by ``item``, with every item that was annotated: ``low`` and ``high`` (means),
        ``low_spread`` and ``high_spread`` of each end, ``spread`` of both, and the number of
        ``annotators``. The spreads are NaN if an item has one annotator.

    Raises
    ------
    AnnotationError
        When there are fewer than two annotators, annotations belong to several rubrics, or a frame
        lacks a column, has an item twice, or has numbers outside the levels.

    Examples
    --------
    >>> one = pd.DataFrame({"low": [-3, -1], "high": [1, 3]}, index=["a", "b"])
    >>> two = pd.DataFrame({"low": [-1, -1], "high": [1, 3]}, index=["a", "b"])
    >>> pooled({"one": one, "two": two}).round(2)
          low  high  low_spread  high_spread  spread  annotators
    item
    a    -2.0   1.0        2.45          0.0    1.73           2
    b    -1.0   3.0        0.00          0.0    0.00           2
    """
    tables = side_by_side(annotations, BAND, ends)
    low, high = (tables[end].var(axis=1, ddof=1) for end in BAND)
    return pd.DataFrame(
        {
            "low": tables["low"].mean(axis=1),
            "high": tables["high"].mean(axis=1),
            "low_spread": np.sqrt(3 * low),
            "high_spread": np.sqrt(3 * high),
            "spread": np.sqrt(3 * (low + high) / 2),
            "annotators": tables["low"].count(axis=1),
        }
    )


_DISPUTED = 2  # least distance in levels between the votes of an item that has to be discussed


def delphi(
    annotations: "Mapping[str, Annotations | pd.DataFrame]", *, highest: int = DEMAND_LEVELS[-1]
) -> pd.DataFrame:
    """Give items the level of the majority, and mark those that have to be discussed.

    An item has to be discussed if its lowest and its highest level are two or more apart. The
    published study has three annotators for each item, so that all other items have a majority.
    Here an item also has to be discussed if two adjacent levels have the same number of votes,
    or if there is only one vote.

    Parameters
    ----------
    annotations : mapping of str to Annotations or DataFrame
        Annotations of each annotator (a person or a model); a frame is indexed by item, with
        ``level`` from 0.
    highest : int, default 5
        Highest level of the rubric.

    Returns
    -------
    DataFrame
        Indexed by ``item``, with every item that was annotated: ``level`` (missing if the item
        has to be discussed), ``agreed`` (whether all annotators gave the same level),
        ``discuss`` (whether it has to be discussed), and ``votes``, in ascending order.

    Raises
    ------
    AnnotationError
        When there are fewer than two annotators, annotations belong to several rubrics, or a
        frame lacks a column, has an item twice, or has levels that are not whole or out of
        range.

    References
    ----------
    General scales paper, section 5.3.

    Examples
    --------
    >>> said = {"one": [2, 2, 0], "two": [2, 3, 1], "three": [2, 2, 2]}
    >>> delphi({name: pd.DataFrame({"level": said[name]}, list("abc")) for name in said})
          level  agreed  discuss      votes
    item
    a         2    True    False  (2, 2, 2)
    b         2   False    False  (2, 2, 3)
    c      <NA>   False     True  (0, 1, 2)
    """
    levels = side_by_side(annotations, LEVEL, (0, highest))["level"]
    broken = levels.to_numpy()[levels.to_numpy() % 1 > 0]
    if broken.size:
        raise AnnotationError(f"a level is {broken[0]:g}; give whole levels")
    votes = [tuple(sorted(row[~np.isnan(row)].astype(int).tolist())) for row in levels.to_numpy()]
    majority = pd.array([_majority(row) for row in votes], dtype="Int64")
    return pd.DataFrame(
        {
            "level": majority,
            "agreed": [len(row) > 1 and len(set(row)) == 1 for row in votes],
            "discuss": majority.isna(),
            "votes": votes,
        },
        index=levels.index,
    )


def _majority(votes: tuple[int, ...]) -> int | None:
    """Return the level with most votes, or None if votes are too far apart or there is a tie."""
    modes = multimode(votes)
    if len(votes) < 2 or votes[-1] - votes[0] >= _DISPUTED or len(modes) > 1:
        return None
    return modes[0]
