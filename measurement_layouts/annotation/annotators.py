"""Annotations by several annotators: compared, pooled, and settled where they differ."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..common.errors import AnnotationError
from .annotations import Annotations
from .inputs import read_columns, refuse_twice
from .rubric import DEMAND_LEVELS, LEVELS


@dataclass(frozen=True)
class Scale:
    """Kind of an annotation (a band or a level), and its levels.

    Attributes
    ----------
    columns : tuple of str
        Columns of a table of annotations.
    levels : tuple of int
        Levels, in ascending order.
    word, one : str
        Words of messages for a row and for one of its numbers.
    """

    columns: tuple[str, ...]
    levels: tuple[int, ...]
    word: str
    one: str

    @classmethod
    def of_bands(cls, ends: tuple[int, int] = (LEVELS[0], LEVELS[-1])) -> "Scale":
        """Return the scale of bands on the levels between two ends."""
        return cls(("low", "high"), tuple(range(ends[0], ends[1] + 1)), "band", "an end")

    @classmethod
    def of_demands(cls, highest: int = DEMAND_LEVELS[-1]) -> "Scale":
        """Return the scale of a demand's levels, from 0."""
        return cls(("level",), tuple(range(highest + 1)), "level", "a level")

    @property
    def bands(self) -> bool:
        """Whether annotations are bands."""
        return len(self.columns) == 2


@dataclass(frozen=True, eq=False)
class Side:
    """Annotations of several annotators in the same arrays.

    Attributes
    ----------
    names : tuple of str
        Names of the annotators.
    items : Index
        Items that at least one annotator annotated.
    said : dict of str to ndarray
        Annotations by column, shape (items, annotators); NaN where one is missing.
    """

    names: tuple[str, ...]
    items: pd.Index
    said: dict[str, np.ndarray]


def scale_of(
    annotations: "Mapping[str, Annotations | pd.DataFrame]", ends: tuple[int, int] | None = None
) -> Scale:
    """Find the scale of annotations.

    Parameters
    ----------
    annotations : mapping of str to Annotations or DataFrame
        Annotations of each annotator.
    ends : (int, int), optional
        Lowest and highest level (default: those of the package's rubrics). Levels of demands
        begin at 0 whatever the lowest one is.

    Returns
    -------
    Scale
        Levels of a demand if all tables have the column ``level``, else bands.

    Raises
    ------
    AnnotationError
        When there are fewer than two annotators.
    """
    tables = [_table(said) for said in _mapping(annotations).values()]
    levels = [isinstance(table, pd.DataFrame) and "level" in table.columns for table in tables]
    if all(levels):
        return Scale.of_demands() if ends is None else Scale.of_demands(ends[1])
    return Scale.of_bands() if ends is None else Scale.of_bands(ends)


def side_by_side(annotations: "Mapping[str, Annotations | pd.DataFrame]", scale: Scale) -> Side:
    """Arrange annotations of several annotators in the same arrays.

    Parameters
    ----------
    annotations : mapping of str to Annotations or DataFrame
        Annotations of each annotator; a frame is indexed by item, with the columns of the
        scale.
    scale : Scale
        Scale of bands or of demands.

    Returns
    -------
    Side
        The arrays; missing annotations are NaN.

    Raises
    ------
    AnnotationError
        When there are fewer than two annotators, annotations belong to several rubrics, or a frame
        lacks a column, has an item twice, or has numbers outside the levels.
    """
    annotations = _mapping(annotations)
    rubrics = {said.rubric for said in annotations.values() if isinstance(said, Annotations)}
    if len(rubrics) > 1:
        raise AnnotationError(
            f"annotations belong to several rubrics, {', '.join(sorted(rubrics))}; give "
            f"those of one"
        )
    tables = {str(name): _checked(str(name), said, scale) for name, said in annotations.items()}
    items = pd.Index(dict.fromkeys(item for table in tables.values() for item in table.index))
    said = {
        column: np.column_stack([table[column].reindex(items) for table in tables.values()])
        for column in scale.columns
    }
    return Side(tuple(tables), items.rename("item"), said)


def _mapping(
    annotations: "Mapping[str, Annotations | pd.DataFrame]",
) -> "Mapping[str, Annotations | pd.DataFrame]":
    if not isinstance(annotations, Mapping) or len(annotations) < 2:
        have = len(annotations) if isinstance(annotations, Mapping) else type(annotations).__name__
        raise AnnotationError(
            f"annotations of {have}; give a mapping from annotators' names to their annotations, "
            "with at least two annotators"
        )
    return annotations


def _table(said: Annotations | pd.DataFrame) -> pd.DataFrame:
    return said.table if isinstance(said, Annotations) else said


def _checked(name: str, said: Annotations | pd.DataFrame, scale: Scale) -> pd.DataFrame:
    table = _table(said)
    if not isinstance(table, pd.DataFrame) or not set(scale.columns) <= set(table.columns):
        raise AnnotationError(
            f"annotator {name!r}: give Annotations, or a DataFrame indexed by item with the "
            f"column{'s' * (len(scale.columns) - 1)} {' and '.join(scale.columns)}"
        )
    refuse_twice(table.index, f"annotator {name!r}: the item")
    try:
        table = table[list(scale.columns)].astype(float)
    except (TypeError, ValueError) as error:
        raise AnnotationError(
            f"annotator {name!r}: {scale.one} is not a number ({error})"
        ) from error
    lowest, highest = scale.levels[0], scale.levels[-1]
    outside = table[((table < lowest) | (table > highest)).any(axis=1)]
    if len(outside):
        raise AnnotationError(
            f"annotator {name!r}, item {outside.index[0]!r}: the {scale.word} "
            f"{outside.iloc[0].tolist()} goes beyond the levels {lowest} to {highest}; give levels"
            f"{' (call open_ended last)' if scale.bands else ''}"
        )
    return table.dropna()


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
    scale = Scale.of_bands(ends)
    side = side_by_side(annotations, scale)
    count = (~np.isnan(side.said["low"])).sum(axis=1)
    table, variances = pd.DataFrame(index=side.items), {}
    for end in scale.columns:
        said = pd.DataFrame(side.said[end], index=side.items)
        table[end] = said.mean(axis=1)
        variances[end] = said.var(axis=1, ddof=1)
    for end in scale.columns:
        table[f"{end}_spread"] = np.sqrt(3 * variances[end])
    table["spread"] = np.sqrt(3 * (variances["low"] + variances["high"]) / 2)
    return table.assign(annotators=count)


def open_ended(
    bands: pd.DataFrame, *, ends: tuple[int, int] = (LEVELS[0], LEVELS[-1])
) -> pd.DataFrame:
    """Make ends of bands at the outermost levels infinite.

    The outermost levels mean "or beyond": a band from -3 also contains an agent at -5. `band`
    accepts infinite ends, and is then the two-parameter logistic function (2PL) of the other
    end.

    Parameters
    ----------
    bands : DataFrame
        Bands, with ``low`` and ``high``; other columns are not changed.
    ends : (int, int), default (-3, 3)
        Lowest and highest level of the rubric.

    Returns
    -------
    DataFrame
        A copy, with -inf for a low end at the lowest level and inf for a high end at the
        highest.

    Raises
    ------
    AnnotationError
        When `bands` is not a DataFrame, or lacks a column.

    Examples
    --------
    >>> open_ended(pd.DataFrame({"low": [-3, -1], "high": [2, 3]}))
       low  high
    0 -inf   2.0
    1 -1.0   inf
    """
    bands = read_columns(bands, "bands", ("low", "high"), "indexed by item ")
    low, high = bands["low"].astype(float), bands["high"].astype(float)
    return bands.assign(
        low=low.mask(low <= ends[0], -np.inf), high=high.mask(high >= ends[1], np.inf)
    )


_APART = 2  # least distance in levels between the votes of an item that makes it disputed


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
    side = side_by_side(annotations, Scale.of_demands(highest))
    said = side.said["level"]
    parts = said[~np.isnan(said)]
    if (parts != np.round(parts)).any():
        raise AnnotationError(
            f"a level is {parts[parts != np.round(parts)][0]:g}; give whole levels"
        )
    votes = [tuple(sorted(int(level) for level in row if not np.isnan(level))) for row in said]
    levels = pd.Series([_majority(row) for row in votes], dtype="Int64", index=side.items)
    return pd.DataFrame(
        {
            "level": levels,
            "agreed": [len(row) > 1 and row[0] == row[-1] for row in votes],
            "discuss": levels.isna(),
            "votes": votes,
        },
        index=side.items,
    )


def _majority(votes: tuple[int, ...]) -> int | None:
    """Return the level with most votes, or None if votes are too far apart or there is a tie."""
    if len(votes) < 2 or votes[-1] - votes[0] >= _APART:
        return None
    (level, most), *others = Counter(votes).most_common()
    return level if all(count < most for _, count in others) else None
