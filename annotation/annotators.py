"""Bands by several annotators, laid side by side."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from .annotations import Annotations
from .errors import AnnotationError

ENDS = ("low", "high")


@dataclass(frozen=True, eq=False)
class Side:
    """What several annotators said, side by side.

    Attributes
    ----------
    names : tuple of str
        The annotators.
    items : Index
        Every item that somebody annotated.
    ends : dict of str to ndarray
        ``"low"`` and ``"high"``: item x annotator, NaN where an annotator has no band.
    """

    names: tuple[str, ...]
    items: pd.Index
    ends: dict[str, np.ndarray]


def side_by_side(annotations: "Mapping[str, Annotations | pd.DataFrame]") -> Side:
    """Lay the bands of several annotators side by side.

    Parameters
    ----------
    annotations : mapping of str to Annotations or DataFrame
        By annotator; a frame is indexed by item, with ``low`` and ``high``.

    Returns
    -------
    Side
        With missing bands as NaN.

    Raises
    ------
    AnnotationError
        When there are fewer than two annotators, or a frame has other columns, an item twice, or
        ends that are no levels; when they are of several rubrics.
    """
    if not isinstance(annotations, Mapping) or len(annotations) < 2:
        have = len(annotations) if isinstance(annotations, Mapping) else type(annotations).__name__
        raise AnnotationError(
            f"annotations of {have}; give a mapping from annotators' names to what each said, with "
            "at least two"
        )
    rubrics = {said.rubric for said in annotations.values() if isinstance(said, Annotations)}
    if len(rubrics) > 1:
        raise AnnotationError(
            f"annotations of several rubrics, {', '.join(sorted(rubrics))}; give those of one"
        )
    bands = {str(name): _bands(str(name), said) for name, said in annotations.items()}
    items = pd.Index(dict.fromkeys(item for table in bands.values() for item in table.index))
    ends = {
        end: np.column_stack([table[end].reindex(items) for table in bands.values()])
        for end in ENDS
    }
    return Side(tuple(bands), items.rename("item"), ends)


def _bands(name: str, said: Annotations | pd.DataFrame) -> pd.DataFrame:
    table = said.bands if isinstance(said, Annotations) else said
    if not isinstance(table, pd.DataFrame) or not set(ENDS) <= set(table.columns):
        raise AnnotationError(
            f"annotator {name!r}: give Annotations, or a DataFrame indexed by item with the "
            "columns low and high"
        )
    if not table.index.is_unique:
        twice = table.index[table.index.duplicated()][0]
        raise AnnotationError(
            f"annotator {name!r}: the item {twice!r} is there twice; give it once"
        )
    try:
        table = table[list(ENDS)].astype(float)
    except (TypeError, ValueError) as error:
        raise AnnotationError(f"annotator {name!r}: an end is no number ({error})") from error
    outside = table[(table.abs() > 3).any(axis=1)]
    if len(outside):
        raise AnnotationError(
            f"annotator {name!r}, item {outside.index[0]!r}: the band {outside.iloc[0].tolist()} "
            "goes beyond the levels -3 to 3; give levels (open_ended comes last)"
        )
    return table.dropna()
