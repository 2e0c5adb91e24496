"""Reading of tables of outcomes in files or data frames, long or wide."""

import numpy as np
import pandas as pd

from ...common.messages import some
from ..opening import Table
from ..properties import of_subjects, without_mixed
from ..reader import read
from ..words import Values
from .imported import Imported


def read_table(
    outcomes: Table,
    items: Table | None = None,
    *,
    subjects: Table | list[str] | None = None,
    subject: str = "subject",
    item: str = "item",
    outcome: str = "outcome",
    trials: str | int | None = None,
    values: Values | None = None,
) -> Imported:
    """Read a table of outcomes, long or wide, and keep its attempts and its notes.

    The table is read as `Evaluation.from_table` reads it, which lists the forms that a table may
    have; outcomes may also be scores in [0, 1].

    Parameters
    ----------
    outcomes : str, Path or DataFrame
        Table of any form, or the file with it.
    items, subjects : str, Path or DataFrame, optional
        Properties of items and of subjects; `subjects` may also list columns of `outcomes`.
    subject, item, outcome : str
        Names of the columns.
    trials : str or int, optional
        Column with the number of trials of each row, or their number in every row.
    values : dict, optional
        Outcome of each word, such as ``{"moderate or severe": 1}``.

    Returns
    -------
    Imported
        Outcomes, items with attempts, subjects with attempts, and notes. If there are counts,
        `outcomes` has a column ``trials``, and ``outcome`` is the number of successes.

    Raises
    ------
    DataError
        As `Evaluation.from_table` does.

    Examples
    --------
    >>> wide = pd.DataFrame({"subject": ["Ann", "Bob"], "001": [1, 0], "002": [1, None]})
    >>> imported = read_table(wide)
    >>> imported.outcomes
      subject item  attempt  outcome
    0     Ann  001        1      1.0
    1     Ann  002        1      1.0
    2     Bob  001        1      0.0
    >>> print(*imported.notes["what"], sep=", ")
    wide table: subjects by items, dropped: outcome is missing, items without meta-features
    """
    columns = subject, item, outcome
    reading = read(outcomes, items, subjects, columns, trials=trials, values=values, scores=True)
    rows, notes = reading.frame(), reading.notes
    features = without_mixed(reading.items, notes)
    attempted = np.asarray(features.index.isin(rows["item"]))
    if not attempted.all():
        names = features.index[~attempted]
        notes.add("dropped: items without any outcome", some(names), len(names))
    names = pd.Index(rows["subject"].unique(), name="subject", dtype="str")
    if reading.people is not None:
        others = reading.people.index.difference(reading.outcomes.subjects, sort=False)
        if len(others):
            notes.add("dropped: subjects without rows of outcomes", some(others), len(others))
    people = without_mixed(of_subjects(reading.people, names), notes)
    return Imported(rows, features[attempted], notes.frame(), people)
