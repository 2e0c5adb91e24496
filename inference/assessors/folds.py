"""Which items are held out together."""

import numpy as np
import pandas as pd

from ..data import Evaluation
from ..errors import DataError
from ..ladders import refuse_steps
from ..tables import need_columns, texts
from ..validation import with_training


def split(evaluation: Evaluation, groups: str | None, folds: int, seed: int) -> list[pd.Index]:
    """Split the items into folds.

    Parameters
    ----------
    evaluation : Evaluation
        Items and outcomes.
    groups : str, optional
        Column of the items whose groups stay whole. Without it, items are dealt at random, and
        folds are of one size, give or take one item.
    folds : int
        How many. With as many groups or fewer, each group is a fold; otherwise groups are dealt out
        from the largest on, each to the fold with the fewest items so far.
    seed : int
        Of dealing; among groups of one size chance decides which comes first.

    Returns
    -------
    list of Index
        Items of each fold, in the evaluation's order.

    Raises
    ------
    DataError
        When there are fewer items than folds, the column is missing or names fewer than two groups,
        an item has no group, a subject would keep no training outcome in one of the folds, or the
        evaluation is made of steps.

    Examples
    --------
    >>> items = pd.DataFrame({"test": list("aaabbc")})
    >>> evaluation = Evaluation.from_wide(pd.DataFrame([[1] * 6], ["Ann"]), items)
    >>> [list(fold) for fold in split(evaluation, "test", 2, seed=1)]
    [['0', '1', '2'], ['3', '4', '5']]
    """
    refuse_steps(evaluation.rows, "cross-validation by assess")
    items = evaluation.items.index
    rng = np.random.default_rng(seed)
    if groups is not None:
        places = _whole_groups(evaluation.items, groups, folds, rng)
    elif folds > len(items):
        raise DataError(f"folds={folds}, but there are {len(items)} items; ask for fewer folds")
    else:
        places = np.array_split(rng.permutation(len(items)), folds)
    return with_training(evaluation, [items[np.sort(part)] for part in places], "fold")


def _whole_groups(
    items: pd.DataFrame, column: str, folds: int, rng: np.random.Generator
) -> list[np.ndarray]:
    """Places of the items in each fold."""
    need_columns(items.columns, [column], "the items have")
    names = pd.Index(texts(items[column], f"the items' {column}"))
    codes, known = pd.factorize(names)
    if len(known) < 2:
        raise DataError(
            f"groups={column!r}: all items are of the group {known[0]}; name a column with at "
            "least two groups, or leave groups= out"
        )
    sizes = np.bincount(codes)
    fold = np.arange(len(known))
    if folds < len(known):
        order = rng.permutation(len(known))
        filled = np.zeros(folds, dtype=int)
        for group in order[np.argsort(-sizes[order], kind="stable")]:
            fold[group] = filled.argmin()
            filled[fold[group]] += sizes[group]
    return [np.flatnonzero(fold[codes] == number) for number in range(fold.max() + 1)]
