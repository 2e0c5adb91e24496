"""Annotations by several annotators: side by side, pooled, and settled where they differ."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ..common.errors import AnnotationError
from .annotations import Annotations
from .rubric import DEMAND_LEVELS, LEVELS


@dataclass(frozen=True)
class Scale:
    """What annotators say about an item, and on which levels.

    Attributes
    ----------
    columns : tuple of str
        Of a table of annotations.
    levels : tuple of int
        Ascending.
    word, one : str
        What a row is called, and what one number of it is.
    """

    columns: tuple[str, ...]
    levels: tuple[int, ...]
    word: str
    one: str

    @classmethod
    def of_bands(cls, ends: tuple[int, int] = (LEVELS[0], LEVELS[-1])) -> "Scale":
        """Bands of a propensity, on the levels between two ends."""
        return cls(("low", "high"), tuple(range(ends[0], ends[1] + 1)), "band", "an end")

    @classmethod
    def of_demands(cls, highest: int = DEMAND_LEVELS[-1]) -> "Scale":
        """Levels of a demand, from 0."""
        return cls(("level",), tuple(range(highest + 1)), "level", "a level")

    @property
    def bands(self) -> bool:
        """Whether it is one of bands."""
        return len(self.columns) == 2


@dataclass(frozen=True, eq=False)
class Side:
    """What several annotators said, side by side.

    Attributes
    ----------
    names : tuple of str
        The annotators.
    items : Index
        Every item that somebody annotated.
    said : dict of str to ndarray
        By column: item x annotator, NaN where an annotator has said nothing.
    """

    names: tuple[str, ...]
    items: pd.Index
    said: dict[str, np.ndarray]


def scale_of(
    annotations: "Mapping[str, Annotations | pd.DataFrame]", ends: tuple[int, int] | None = None
) -> Scale:
    """Say what is annotated.

    Parameters
    ----------
    annotations : mapping of str to Annotations or DataFrame
        By annotator.
    ends : (int, int), optional
        Lowest and highest level: by default those of the package's rubrics.

    Returns
    -------
    Scale
        Of demands where all have the column ``level``, else of bands.
    """
    tables = [_table(said) for said in _mapping(annotations).values()]
    levels = [isinstance(table, pd.DataFrame) and "level" in table.columns for table in tables]
    if all(levels):
        return Scale.of_demands() if ends is None else Scale.of_demands(ends[1])
    return Scale.of_bands() if ends is None else Scale.of_bands(ends)


def side_by_side(annotations: "Mapping[str, Annotations | pd.DataFrame]", scale: Scale) -> Side:
    """Lay what several annotators said side by side.

    Parameters
    ----------
    annotations : mapping of str to Annotations or DataFrame
        By annotator; a frame is indexed by item, with the columns of the scale.
    scale : Scale
        Of bands or of demands.

    Returns
    -------
    Side
        With missing annotations as NaN.

    Raises
    ------
    AnnotationError
        When there are fewer than two annotators, or a frame has other columns, an item twice, or
        numbers that are no levels; when they are of several rubrics.
    """
    annotations = _mapping(annotations)
    rubrics = {said.rubric for said in annotations.values() if isinstance(said, Annotations)}
    if len(rubrics) > 1:
        raise AnnotationError(
            f"annotations of several rubrics, {', '.join(sorted(rubrics))}; give those of one"
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
            f"annotations of {have}; give a mapping from annotators' names to what each said, with "
            "at least two"
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
    if not table.index.is_unique:
        twice = table.index[table.index.duplicated()][0]
        raise AnnotationError(
            f"annotator {name!r}: the item {twice!r} is there twice; give it once"
        )
    try:
        table = table[list(scale.columns)].astype(float)
    except (TypeError, ValueError) as error:
        raise AnnotationError(f"annotator {name!r}: {scale.one} is no number ({error})") from error
    lowest, highest = scale.levels[0], scale.levels[-1]
    outside = table[((table < lowest) | (table > highest)).any(axis=1)]
    if len(outside):
        raise AnnotationError(
            f"annotator {name!r}, item {outside.index[0]!r}: the {scale.word} "
            f"{outside.iloc[0].tolist()} goes beyond the levels {lowest} to {highest}; give levels"
            f"{' (open_ended comes last)' if scale.bands else ''}"
        )
    return table.dropna()


def pooled(
    annotations: "Mapping[str, Annotations | pd.DataFrame]",
    *,
    ends: tuple[int, int] = (LEVELS[0], LEVELS[-1]),
) -> pd.DataFrame:
    r"""Join annotators into one band per item, with the spread of its ends.

    .. math:: \text{spread} = \sqrt{3 \cdot \tfrac{1}{2} (s^2_{low} + s^2_{high})}

    A value that is uniform within plus and minus a spread has a standard deviation of the spread
    over the root of 3. So this is the spread of ends whose variance is that between annotators, for
    `uncertain_band`. Half of their range would be too small: of two annotators it is a third of the
    spread on average. Where annotators agree the spread is 0, though ends are rounded to whole
    levels; ``spread.clip(lower=0.5)`` counts the rounding.

    Parameters
    ----------
    annotations : mapping of str to Annotations or DataFrame
        By annotator; a frame is indexed by item, with ``low`` and ``high``.
    ends : (int, int), default (-3, 3)
        Lowest and highest level of the rubric.

    Returns
    -------
    DataFrame
        Indexed by ``item``, every one that somebody annotated: ``low`` and ``high`` (means),
        ``low_spread`` and ``high_spread`` of each end, ``spread`` of both, and the number of
        ``annotators``. Of one annotator the spreads are NaN.

    Raises
    ------
    AnnotationError
        When there are fewer than two annotators, or a frame is not as it should be.

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
    """Turn ends at the outermost levels into bands without that end.

    The outermost levels mean "or beyond": a band from -3 still holds an agent at -5. `band` takes
    the infinite ends as they are, and is then the 2PL of the other end.

    Parameters
    ----------
    bands : DataFrame
        With ``low`` and ``high``; other columns stay.
    ends : (int, int), default (-3, 3)
        Lowest and highest level of the rubric.

    Returns
    -------
    DataFrame
        A copy, with -inf for a low end at the lowest level and inf for a high end at the highest.

    Examples
    --------
    >>> open_ended(pd.DataFrame({"low": [-3, -1], "high": [2, 3]}))
       low  high
    0 -inf   2.0
    1 -1.0   inf
    """
    low, high = bands["low"].astype(float), bands["high"].astype(float)
    return bands.assign(
        low=low.mask(low <= ends[0], -np.inf), high=high.mask(high >= ends[1], np.inf)
    )


_APART = 2  # levels between the lowest and the highest vote of an item to discuss


def delphi(
    annotations: "Mapping[str, Annotations | pd.DataFrame]", *, highest: int = DEMAND_LEVELS[-1]
) -> pd.DataFrame:
    """Give items the level of the majority, and name those that have to be discussed.

    An item is discussed when its lowest and its highest level are two or more apart. The published
    study has three annotators of each item, so that all others have a majority. Here an item is
    also discussed when two adjacent levels have as many votes each, or when there is only one vote.

    Parameters
    ----------
    annotations : mapping of str to Annotations or DataFrame
        By annotator, people or models; a frame is indexed by item, with ``level`` from 0.
    highest : int, default 5
        Highest level of the rubric.

    Returns
    -------
    DataFrame
        Indexed by ``item``, every one that somebody annotated: ``level`` (missing where it is to be
        discussed), whether all ``agreed``, whether to ``discuss`` it, and the ``votes``, ascending.

    Raises
    ------
    AnnotationError
        When there are fewer than two annotators, or a frame is not as it should be.

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
            f"a level is {parts[parts != np.round(parts)][0]:g}; votes are whole levels"
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


def adjudicate(
    first: pd.DataFrame,
    consensus: "Mapping[Any, int] | pd.Series",
    *,
    highest: int = DEMAND_LEVELS[-1],
) -> pd.DataFrame:
    """Enter the levels that annotators came to when they discussed.

    Parameters
    ----------
    first : DataFrame
        What `delphi` returned.
    consensus : mapping or Series
        From items that were to be discussed to their levels. Items that are not in it stay to be
        discussed.
    highest : int, default 5
        Highest level of the rubric.

    Returns
    -------
    DataFrame
        A copy, with these levels; `agreement` takes it as an annotator.

    Raises
    ------
    AnnotationError
        When an item was not to be discussed, or a level is none.

    References
    ----------
    General scales paper, section 5.3.

    Examples
    --------
    >>> said = {"one": [2, 0], "two": [3, 1], "three": [2, 2]}
    >>> first = delphi({name: pd.DataFrame({"level": said[name]}, list("bc")) for name in said})
    >>> adjudicate(first, {"c": 1})
          level  agreed  discuss      votes
    item
    b         2   False    False  (2, 2, 3)
    c         1   False    False  (0, 1, 2)
    """
    agreed = dict(consensus.items())
    open_items = set(first.index[first["discuss"]])
    for item, level in agreed.items():
        if item not in open_items:
            raise AnnotationError(
                f"consensus: the item {item!r} was not to be discussed; give those where discuss "
                "is True"
            )
        if level not in range(highest + 1):
            raise AnnotationError(
                f"consensus: the level of {item!r} is {level!r}; give a whole number from 0 to "
                f"{highest}"
            )
    came_to = pd.Series({item: int(level) for item, level in agreed.items()}, dtype="Int64")
    level = first["level"].fillna(came_to.reindex(first.index))
    return first.assign(level=level, discuss=level.isna())


def _majority(votes: tuple[int, ...]) -> int | None:
    """Find the level of most votes, where they are close enough and decide."""
    if len(votes) < 2 or votes[-1] - votes[0] >= _APART:
        return None
    (level, most), *others = Counter(votes).most_common()
    return level if all(count < most for _, count in others) else None
