"""Delphi: which items annotators have to discuss, and the level of the rest."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from ..inference.errors import AnnotationError
from .annotations import Annotations
from .annotators import DEMANDS, side_by_side
from .demand_rubric import DEMAND_LEVELS

_APART = 2  # levels between the lowest and the highest vote of an item to discuss


def delphi(annotations: "Mapping[str, Annotations | pd.DataFrame]") -> pd.DataFrame:
    """Give items the level of the majority, and name those that have to be discussed.

    An item is discussed when its lowest and its highest level are two or more apart. The published
    study has three annotators of each item, so that all others have a majority. Here an item is
    also discussed when two adjacent levels have as many votes each, or when there is only one vote.

    Parameters
    ----------
    annotations : mapping of str to Annotations or DataFrame
        By annotator, people or models; a frame is indexed by item, with ``level`` from 0 to 5.

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
    side = side_by_side(annotations, DEMANDS)
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


def settle(first: pd.DataFrame, consensus: "Mapping[Any, int] | pd.Series") -> pd.DataFrame:
    """Enter the levels that annotators came to when they discussed.

    Parameters
    ----------
    first : DataFrame
        What `delphi` returned.
    consensus : mapping or Series
        From items that were to be discussed to their levels, 0 to 5. Items that are not in it stay
        to be discussed.

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
    >>> settle(first, {"c": 1})
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
        if level not in DEMAND_LEVELS:
            raise AnnotationError(
                f"consensus: the level of {item!r} is {level!r}; give a whole number from 0 to 5"
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
