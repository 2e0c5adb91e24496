"""Outcomes of layouts with grades, scores or several outcomes, as counts of passed steps."""

import warnings
from collections.abc import Mapping

import numpy as np
import pandas as pd

from ..common.errors import DataError
from ..common.given import kind_of
from ..common.messages import many, some
from ..layouts import Graded, Layout, Score
from ..layouts.outcomes.steps import Observed, Steps
from .cells import Cells
from .forms import Columns, Outcomes
from .reader import outcomes_of, shown
from .steps import expanded
from .tables import MOST, name_cells, named, read_numbers, refuse_repeats, same_names, texts
from .ungraded import Treatment, refuse_other_treatment
from .words import KNOWN, WORDS, read_answers

_ROUNDING = 1e-9  # of a step, by which rounding may change a written score


def counts(table: object, name: str, items: pd.Index) -> pd.DataFrame:
    """Check a table of counts, and order its columns as the items.

    Raises
    ------
    DataError
        When names do not match, or a value is not a whole number of at least 0.
    """
    checked = named(table, name, "subject")
    columns = texts(checked.columns, f"{name}, columns")
    refuse_repeats(columns, "item", name)
    same_names(columns, items, f"the columns of {name}", "items")
    checked = checked.set_axis(columns, axis=1)
    values, _ = read_numbers(checked)
    whole = (values >= 0) & (values <= MOST) & (values == np.floor(values))
    if not whole.all():
        raise DataError(
            f"{name}: {(~whole).sum()} value(s) are no counts: {name_cells(checked, ~whole)}; give "
            f"whole numbers from 0 to {MOST:.0e}, with 0 trials where an item was not attempted"
        )
    table = pd.DataFrame(values.astype("int64"), checked.index, columns)
    return table[list(items)].rename_axis(columns="item")


def from_outcomes(
    layout: Layout,
    steps: Steps,
    outcomes: Mapping[str, pd.DataFrame],
    items: pd.DataFrame,
    columns: Columns,
    ungraded: Treatment = "bounds",
) -> tuple[pd.DataFrame, pd.Index, Cells, pd.DataFrame]:
    """Count passed and attempted steps; see `Evaluation.of_outcomes`.

    Returns
    -------
    DataFrame, Index, Cells, DataFrame
        Rows as items, names of the subjects with outcomes, cells of subjects and rows, and attempts
        without a grade, as `Evaluation.with_ungraded` takes them.
    """
    refuse_other_treatment(ungraded)
    tables = [
        outcomes_of(outcomes[outcome.name], outcome.name, items.index, columns)
        for outcome in layout.outcomes
    ]
    subjects = pd.Index(
        list(dict.fromkeys(name for table in tables for name in table.subjects)),
        dtype="str",
        name="subject",
    )
    if not len(subjects) or not len(items):
        raise DataError("there are no outcomes; give at least one subject and one item")
    width, first, arrays, attempts = len(steps.rows), 0, [], []
    for outcome, table in zip(layout.outcomes, tables, strict=True):
        kept, failed = table.treated(ungraded)
        attempts.append(kept.ungraded().assign(outcome=outcome.name))
        levels = np.where(failed, 0, _levels(outcome, table))
        subject, item, *passed = _passed(outcome, table, levels, subjects, items.index)
        row = item[:, None] * width + first + np.arange(len(outcome.steps))
        arrays.append([np.broadcast_to(subject[:, None], row.shape), row, *passed])
        first += len(outcome.steps)
    joined = [
        np.concatenate([array.ravel() for array in kind]) for kind in zip(*arrays, strict=True)
    ]
    cells = Cells.of(*joined, shape=(len(subjects), len(items) * width))
    attempting = np.unique(cells.subject)
    if not len(attempting):
        raise DataError("there are no outcomes, since every cell is missing; give at least one")
    empty = subjects.delete(attempting)
    if len(empty):
        warnings.warn(
            f"left out, without any outcome: {many(len(empty), 'subject')} ({some(empty)})",
            stacklevel=3,
        )
    cells = cells.select(attempting)
    return expanded(steps, items), subjects[attempting], cells, pd.concat(attempts)


def refuse_other_outcomes(layout: Layout, outcomes: object) -> None:
    """Refuse outcomes that are not one table for each outcome, by name.

    Raises
    ------
    DataError
        When tables are missing or extra, which the error names.
    """
    names = [outcome.name for outcome in layout.outcomes]
    if not isinstance(outcomes, Mapping):
        raise DataError(
            f"outcomes: this is {kind_of(outcomes)}; give a table for each outcome by "
            f"name, as in {{{names[0]!r}: table}}"
        )
    where = f"the tables of outcomes for layout {layout.name!r}"
    same_names(list(map(str, outcomes)), names, where, "its outcomes")


def _passed(
    outcome: Observed,
    table: Outcomes,
    levels: np.ndarray,
    subjects: pd.Index,
    items: pd.Index,
) -> tuple[np.ndarray, ...]:
    """Count attempts that passed each step, and that reached it, by subject and item.

    Returns subject and item, shape (pairs,), and both counts, shape (pairs, steps).
    """
    attempted = ~np.isnan(levels)
    subject = subjects.get_indexer(table.subjects)[table.subject][attempted]
    item = table.item[attempted]
    pairs, number = np.unique(subject * len(items) + item, return_inverse=True)
    ended = np.zeros((len(pairs), len(outcome.steps) + 1), dtype="int64")
    np.add.at(ended, (number, levels[attempted].astype(int)), 1)
    reached = ended[:, ::-1].cumsum(axis=1)[:, ::-1]  # so many got at least so far
    return *np.divmod(pairs, len(items)), reached[:, 1:], reached[:, :-1]


def _levels(outcome: Observed, table: Outcomes) -> np.ndarray:
    """Read how many steps each attempt passed; NaN without an attempt."""
    words = {} if isinstance(outcome, Graded | Score) else WORDS
    cells = table.cell
    if isinstance(outcome, Graded):
        grades = {grade: number for number, grade in enumerate(outcome.grades)}
        cells = np.array(
            [grades.get(cell, cell) if isinstance(cell, str) else cell for cell in cells],
            dtype=object,
        )
    answers = read_answers(cells, None, words)
    value, counts = answers.value, ~np.isnan(answers.trials)
    if isinstance(outcome, Score):
        fine = (value >= -_ROUNDING) & (value <= 1 + _ROUNDING)
        levels = np.floor(np.where(fine, value, 0.0) * outcome.places + 0.5 + _ROUNDING)
        need = "no score in [0, 1]; give fractions of the full score"
    else:
        fine, levels = np.isin(value, np.arange(len(outcome.steps) + 1)), value
        need = f"neither 0 nor 1; code failure as 0 and success as 1, or by a known word ({KNOWN})"
    if isinstance(outcome, Graded):
        names = some(map(repr, outcome.grades), 12)
        need = f"none of its grades; give {names}, or their numbers from 0 to {len(outcome.steps)}"
    absent = np.isnan(value) & ~answers.foreign
    wrong = np.flatnonzero(~(absent | fine) | counts)
    if len(wrong):
        what, remedy = need.split("; ", 1)
        cells_named = some(
            f"{table.where(row)}: {shown(table.cell[row])}" for row in wrong.tolist()
        )
        raise DataError(
            f"{outcome.name}: {len(wrong)} outcome(s) are {what}: {cells_named}; {remedy}, and "
            "leave a cell empty (NaN) where the item was not attempted"
        )
    return np.where(absent, np.nan, np.clip(levels, 0, len(outcome.steps)))
