"""The reader of tables of outcomes: cells as successes and trials, with properties and notes."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from ..common.errors import DataError
from ..common.messages import some
from ..linking.errors import short
from .cells import Cells
from .forms import ATTEMPT, TRIALS, Columns, Outcomes, from_long, from_wide, spelled
from .notes import Notes
from .opening import Table, opened, read_properties
from .properties import divided
from .tables import NAMING, refuse_unknown, three_columns
from .ungraded import COLUMN, Treatment, refuse_other_treatment
from .words import KNOWN, Values, read_answers


@dataclass(frozen=True)
class Reading:
    """Outcomes that were read, with the properties of items and subjects.

    Attributes
    ----------
    outcomes : Outcomes
        Outcomes by subject and row of `items`.
    successes, trials : ndarray of float
        Outcome or number of successes, and number of trials, which is 0 without an attempt.
    items : DataFrame
        All items with their properties, also those without outcomes.
    people : DataFrame or None
        Properties of subjects; None if there are none.
    notes : Notes
        What was dropped, renamed, mapped or assumed.
    """

    outcomes: Outcomes
    successes: np.ndarray
    trials: np.ndarray
    items: pd.DataFrame
    people: pd.DataFrame | None
    notes: Notes

    def cells(self) -> tuple[pd.Index, Cells]:
        """Count successes and trials by subject and item, of subjects with outcomes."""
        rows = self.outcomes
        shape = len(rows.subjects), len(self.items)
        cells = Cells.of(rows.subject, rows.item, self.successes, self.trials, shape=shape)
        attempting = np.unique(cells.subject)
        return rows.subjects[attempting].rename("subject"), cells.select(attempting)

    def frame(self) -> pd.DataFrame:
        """Return the rows with an outcome; they have a column `trials` if there are counts."""
        rows = self.outcomes
        table = pd.DataFrame(
            {
                "subject": rows.subjects.take(rows.subject),
                "item": rows.items.take(rows.item),
                ATTEMPT: rows.attempt,
                "outcome": self.successes,
            }
        )
        if (self.trials > 1).any():
            table[TRIALS] = self.trials.astype("int64")
        kept = self.trials > 0
        if rows.reasons is not None and pd.notna(rows.reasons).any():
            table[COLUMN] = pd.Series(rows.reasons, dtype="str")
            table["outcome"] = table["outcome"].where(kept)
            kept = kept | pd.notna(rows.reasons)
        return table[kept].reset_index(drop=True)

    def ungraded(self) -> pd.DataFrame:
        """List attempts without a grade, as `Evaluation.with_ungraded` takes them."""
        return self.outcomes.ungraded()


def read(
    outcomes: object,
    items: Table | None = None,
    subjects: Table | list[str] | tuple[str, ...] | None = None,
    columns: Columns = ("subject", "item", "outcome"),
    *,
    trials: str | int | None = None,
    values: Values | None = None,
    shape: Literal["long", "wide"] | None = None,
    scores: bool = False,
    ungraded: Treatment = "bounds",
) -> Reading:
    """Read a table of outcomes; see `Evaluation.from_table`.

    Parameters
    ----------
    shape : {"long", "wide"}, optional
        Form of the table (default: long if it has the columns).
    scores : bool
        Whether fractions between 0 and 1 are outcomes, and a property that differs within few items
        is dropped with a warning.
    """
    notes = Notes()
    refuse_other_treatment(ungraded)
    columns = three_columns(columns)
    features = None if items is None else read_properties(items, columns[1], "item", notes)
    people, stated = None, None
    if isinstance(subjects, list | tuple):
        stated = list(subjects)
    elif subjects is not None:
        people = read_properties(subjects, columns[0], "subject", notes)
    table = opened(outcomes, columns[:2], "the table of outcomes", notes)
    columns, trials = spelled(table, columns, trials)
    long = shape == "long" or (shape is None and table.columns.isin(columns).sum() > 1)
    if long and stated is not None:
        raise DataError(
            f"subjects= names {some(stated)}, which is for wide tables, and the table of outcomes "
            "is long; leave it out, or give a table with one row per subject"
        )
    of_subjects: pd.DataFrame | None
    try:
        if long:
            rows, rest = from_long(table, columns, trials, notes)
            wanted = ["item"] * (features is None) + ["subject"] * (people is None)
            names = rows.items.take(rows.item), rows.subjects.take(rows.subject)
            of_items, of_subjects = divided(rest, *names, notes, wanted=wanted, strict=not scores)
        else:
            known = pd.Index([]) if features is None else features.index
            rows, of_subjects = from_wide(table, columns, known, stated or [], trials, notes)
            of_items = pd.DataFrame(index=rows.items)
        successes, tried = _counted(rows, values, notes, scores=scores)
        rows, failed = rows.treated(ungraded)
        tried = np.where(failed, 1, tried)
    except DataError as error:
        raise error if long or shape else DataError(f"{error}{_WIDE.format(*columns)}") from None
    people = of_subjects if people is None else people
    features = of_items if features is None else features
    rows = rows.of_items(features.index)
    if not len(features.columns):
        notes.add("items without meta-features", features.index[0], len(features))
    empty = rows.subjects.delete(np.unique(rows.subject[tried > 0]))
    if len(empty) == len(rows.subjects):
        raise DataError("there are no outcomes, since every cell is missing; give at least one")
    if len(empty):
        notes.add("left out, without any outcome: subjects", some(empty), len(empty))
    attempting = rows.subjects.drop(empty)
    if people is not None:
        refuse_unknown(attempting, people.index, "subject")
    return Reading(rows, successes, tried, features, people, notes)


_WIDE = (
    ". The table was read as one row per subject and one column per item, since it does not "
    f"have the columns {{}}, {{}} and {{}}: if it has one row per outcome, {NAMING}; columns that "
    "describe subjects are named in subjects=[...]"
)


def outcomes_of(table: object, name: str, items: pd.Index, columns: Columns) -> Outcomes:
    """Take the cells of one outcome of a layout from a long or wide table, by known items.

    Raises
    ------
    DataError
        When the table cannot be read or has other items; the error begins with the name.
    """
    notes = Notes()
    try:
        opened_table = opened(table, columns[:2], "the table", notes)
        if set(columns) <= set(opened_table.columns):
            rows, _ = from_long(opened_table, columns, None, notes)
        else:
            rows, _ = from_wide(opened_table, columns, items, [], None, notes)
        notes.warn()
        return rows.of_items(items)
    except DataError as error:
        raise DataError(f"{name}: {error}") from None


def _counted(
    rows: Outcomes, values: Values | None, notes: Notes, *, scores: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Read outcomes or successes, and the numbers of trials, which are 0 without an attempt."""
    answers = read_answers(rows.cell, values)
    value, tried = answers.value, answers.trials
    if rows.trials is not None:
        tried = np.where(np.isnan(tried), rows.trials, tried)
    single = np.isnan(tried)
    absent = np.isnan(value) & ~answers.foreign
    counts = (value >= 0) & (value <= np.where(single, 1, tried))
    fine = counts & (value == np.floor(value)) | counts & single & scores
    wrong = np.flatnonzero(~(absent | fine))
    if len(wrong):
        first = single[wrong[0]] or answers.foreign[wrong[0]]
        what = "neither 0 nor 1" if first else "no numbers of successes among the trials"
        what = "neither numbers in [0, 1] nor known words" if first and scores else what
        cells = [f"{rows.where(row)}: {shown(rows.cell[row], tried[row])}" for row in wrong[:6]]
        more = f" and {len(wrong) - 5} more" if len(wrong) > 6 else ""
        raise DataError(
            f"{len(wrong)} outcome(s) are {what}: {some(cells[: 5 if more else 6], 6)}{more}; code "
            f"failure as 0 and success as 1, or by a known word ({KNOWN}), other cells by values=, "
            "and leave a cell empty (NaN) where the item was not attempted. Counts are written as "
            f"9/12, or need trials=, the column of trials"
        )
    dropped = absent if rows.reasons is None else absent & pd.isna(rows.reasons)
    if dropped.any():
        notes.add("dropped: outcome is missing", rows.where(int(dropped.argmax())), dropped.sum())
    for text, (outcome, count) in answers.texts.items():
        notes.add(f"mapped: outcome, {text!r} is {outcome:g}", text, count)
    return np.where(absent, 0, value), np.where(absent, 0, np.where(single, 1, tried))


def shown(cell: object, trials: float = np.nan) -> str:
    """Write a cell as it was given, and the number of trials."""
    number = cell.item() if isinstance(cell, np.generic) else cell
    of_trials = "" if np.isnan(trials) or isinstance(number, str) else f" of {trials:g}"
    return f"{short(repr(number))}{of_trials}"
