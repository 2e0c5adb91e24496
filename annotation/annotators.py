"""Annotations by several annotators, laid side by side."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..inference.errors import AnnotationError
from .annotations import Annotations
from .demand_rubric import DEMAND_LEVELS
from .rubric import LEVELS


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


BANDS = Scale(("low", "high"), LEVELS, "band", "an end")
DEMANDS = Scale(("level",), DEMAND_LEVELS, "level", "a level")


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


def scale_of(annotations: "Mapping[str, Annotations | pd.DataFrame]") -> Scale:
    """Say what is annotated.

    Parameters
    ----------
    annotations : mapping of str to Annotations or DataFrame
        By annotator.

    Returns
    -------
    Scale
        ``DEMANDS`` where all have the column ``level``, else ``BANDS``.
    """
    tables = [_table(said) for said in _mapping(annotations).values()]
    levels = [isinstance(table, pd.DataFrame) and "level" in table.columns for table in tables]
    return DEMANDS if all(levels) else BANDS


def side_by_side(annotations: "Mapping[str, Annotations | pd.DataFrame]", scale: Scale) -> Side:
    """Lay what several annotators said side by side.

    Parameters
    ----------
    annotations : mapping of str to Annotations or DataFrame
        By annotator; a frame is indexed by item, with the columns of the scale.
    scale : Scale
        ``BANDS`` or ``DEMANDS``.

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
            f"{' (open_ended comes last)' if scale is BANDS else ''}"
        )
    return table.dropna()
