"""Attempted outcomes as a table: what is learnt from, held out and scored."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from ...evaluations.cells import Cells
from ...evaluations.evaluation import Evaluation


def attempted_pairs(evaluation: Evaluation) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """List the attempted pairs of a subject and an item, which folds hold out or train on.

    Returns
    -------
    ndarray and ndarray of int, shape (pairs,)
        Positions of the subject and of the item in the tables of subjects and of items, by subject,
        then by item.
    ndarray of int, shape (cells,)
        Pair of each of the evaluation's cells, which may be steps of outcomes.
    """
    cells, rows = evaluation.coded, evaluation.rows
    item = cells.item if rows is None else rows.places[cells.item]
    count = cells.shape[1] if rows is None else len(rows.items)
    keys, pair = np.unique(cells.subject.astype(np.int64) * count + item, return_inverse=True)
    subject, item = np.divmod(keys, count)
    return subject, item, pair


def outcome_table(evaluation: Evaluation) -> pd.DataFrame:
    """List the attempted outcomes, a row for each subject and item, or step of an outcome.

    Returns
    -------
    DataFrame
        Names of ``subject`` and ``item``; ``successes``, and ``trials``, which for a step are all
        attempts at its outcome; ``steps``, their number in the outcome (1 if rows are items); and
        ``pair``, as in `attempted_pairs`.

    Examples
    --------
    >>> items = pd.DataFrame(index=["a", "b"])
    >>> outcomes = pd.DataFrame([[1, None], [0, 1]], ["Ann", "Bob"], items.index)
    >>> outcome_table(Evaluation.from_wide(outcomes, items))
      subject item  successes  trials  steps  pair
    0     Ann    a          1       1      1     0
    1     Bob    a          0       1      1     1
    2     Bob    b          1       1      1     2
    """
    cells, rows, pair = evaluation.coded, evaluation.rows, attempted_pairs(evaluation)[2]
    if rows is None:
        return evaluation.cells.assign(steps=1, pair=pair)
    (begins,) = np.nonzero(rows.first[cells.item] == cells.item)
    steps = rows.tops[cells.item[begins]]
    begin = begins.repeat(steps)
    step = np.arange(len(begin)) - np.repeat(steps.cumsum() - steps, steps)
    subject, row = cells.subject[begin], cells.item[begin] + step
    successes = cells.at(subject, row)[0]
    every_step = Cells(subject, row, successes, cells.trials[begin], shape=cells.shape)
    table = every_step.frame(evaluation.subject_table.index, evaluation.items.index)
    return table.assign(steps=steps.repeat(steps), pair=pair[begin])


def positions(codes: np.ndarray) -> Iterable[tuple[int, np.ndarray]]:
    """Return each code, in ascending order, with its positions."""
    groups: Any = pd.Series(codes).groupby(codes).indices
    return sorted(groups.items())
