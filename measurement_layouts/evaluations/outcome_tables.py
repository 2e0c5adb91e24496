"""Conversion of tables of outcomes, of success or of grades and scores, to counts."""

import warnings
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from ..common.errors import DataError
from ..common.given import kind_of
from ..common.messages import many, some
from ..layouts import Graded, Layout, Score
from ..layouts.outcomes.steps import Observed, Steps
from ..linking.errors import short
from .cells import Cells
from .properties import constant, differing
from .steps import expanded
from .tables import (
    NAMING,
    is_missing,
    name_cells,
    named,
    need_columns,
    need_frame,
    read_numbers,
    refuse_broken,
    refuse_repeats,
    refuse_unknown,
    same_names,
    texts,
    three_columns,
)
from .words import KNOWN, WORDS, read_outcomes

type Columns = tuple[str, str, str]
"""Names of the columns of subjects, items and outcomes."""

_MOST = 1e15  # counts; sums of them stay exact


def from_wide(outcomes: pd.DataFrame, items: pd.Index) -> tuple[pd.Index, Cells]:
    """Read subjects and cells of a table of subjects by items; see `Evaluation.from_wide`."""
    table = _by_subject(outcomes, "outcomes", items)
    values = _zeros_and_ones(table, "{} on {}: {}")
    cells = Cells.of_tables(values == 1, ~np.isnan(values))
    return _named(table.index), cells.select(items=table.columns.get_indexer(items))


def from_long(
    outcomes: pd.DataFrame, items: pd.Index, columns: Columns, repeats: str
) -> tuple[pd.Index, Cells]:
    """Read subjects and cells of rows of outcomes; see `Evaluation.from_long`."""
    if not isinstance(repeats, str) or repeats not in ("refuse", "trials"):
        raise DataError(f"repeats={repeats!r}; give 'refuse' or 'trials'")
    subject, item, outcome = columns
    _check_long(outcomes, columns)
    rows, subjects = pd.factorize(np.array(texts(outcomes[subject], f"column {subject!r}"), object))
    names = pd.Index(texts(outcomes[item], f"column {item!r}"), dtype="str")
    places = items.get_indexer(names)
    refuse_unknown(names[places < 0], items, "item")
    values = _zeros_and_ones(outcomes[[outcome]], "row {}, {}: {}")[:, 0]
    repeated = pd.DataFrame({"row": rows, "place": places}).duplicated().to_numpy()
    if repeats == "refuse" and repeated.any():
        pairs = (f"{subjects[int(rows[k])]} on {names[int(k)]}" for k in np.flatnonzero(repeated))
        raise DataError(
            f"{repeated.sum()} repeated row(s): {some(pairs)}; keep one row of each, or count them "
            "as repeated trials with repeats='trials'"
        )
    shape = len(subjects), len(items)
    return _named(subjects), Cells.of(rows, places, values == 1, ~np.isnan(values), shape=shape)


def with_outcomes(subjects: pd.Index, cells: Cells) -> tuple[pd.Index, Cells]:
    """Leave out subjects without outcomes, with a warning that names them.

    Items without outcomes are kept, because they may be the items to be forecast.

    Raises
    ------
    DataError
        When there are no outcomes.
    """
    if not len(cells) and all(cells.shape):
        raise DataError("there are no outcomes, since every cell is missing; give at least one")
    attempting = np.unique(cells.subject)
    if len(attempting) == len(subjects) or not len(cells):
        return subjects, cells
    empty = subjects.delete(attempting)
    warnings.warn(
        f"left out, without any outcome: {many(len(empty), 'subject')} ({some(empty)})",
        stacklevel=3,
    )
    return subjects[attempting], cells.select(attempting)


def _named(subjects: Iterable[str]) -> pd.Index:
    return pd.Index(list(subjects), name="subject", dtype="str")


def properties(
    outcomes: pd.DataFrame, subject: str, item: str, outcome: str
) -> tuple[pd.DataFrame, pd.DataFrame | None]:
    """Take the items' and the subjects' properties from the other columns of a table of outcomes.

    A column is a property of the items if it is the same in all rows of each item, and otherwise of
    the subjects, if it is the same in all rows of each subject.

    Returns
    -------
    items : DataFrame
        One row per item, in the order in which they appear.
    subjects : DataFrame or None
        One row per subject; None if all columns are properties of the items.

    Raises
    ------
    DataError
        When a property differs between the rows of one item and between those of one subject.
    """
    _check_long(outcomes, (subject, item, outcome))
    names = texts(outcomes[item], f"column {item!r}")
    table = outcomes.drop(columns=[subject, item, outcome])
    need_columns(table.columns, list(table.columns), "the table of outcomes has")
    refuse_broken(table, names, "the table of outcomes", "item")
    varying = differing(table, names)
    others = table.columns[varying.any()]
    own = table.drop(columns=others).set_axis(np.array(names, object), axis=0)
    own = own[~own.index.duplicated()]
    if not len(others):
        return own, None
    people = constant(table[others], texts(outcomes[subject], f"column {subject!r}"))
    for column in others.difference(people.columns, sort=False):
        raise DataError(
            f"{column!r} differs between rows of one item: "
            f"{some(varying.index[varying[column]])}; a property belongs to the item, so make it "
            "the same in all its rows (or, of a subject, in all of the subject's), drop the "
            "column, or name the items apart"
        )
    return own, people


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
    whole = (values >= 0) & (values <= _MOST) & (values == np.floor(values))
    if not whole.all():
        raise DataError(
            f"{name}: {(~whole).sum()} value(s) are no counts: {name_cells(checked, ~whole)}; give "
            f"whole numbers from 0 to {_MOST:.0e}, with 0 trials where an item was not attempted"
        )
    found = pd.DataFrame(values.astype("int64"), checked.index, columns)
    return found[list(items)].rename_axis(columns="item")


def _by_subject(outcomes: pd.DataFrame, what: str, items: pd.Index) -> pd.DataFrame:
    """Read the names of a wide table, transposed if its rows are items, and refuse other items."""
    table = named(outcomes, what, "subject")
    table = table.set_axis(texts(table.columns, f"{what}, columns"), axis=1)
    if len(items.intersection(table.index)) > len(items.intersection(table.columns)):
        table = table.T
    refuse_repeats(table.columns, "item", what)
    refuse_repeats(table.index, "subject", what)
    same_names(table.columns, items, f"the items of {what}", "items")
    return table


def _check_long(outcomes: pd.DataFrame, columns: Columns) -> None:
    need_frame(outcomes, "outcomes")
    three_columns(columns)
    need_columns(outcomes.columns, columns, "the table of outcomes has", NAMING)


def _zeros_and_ones(table: pd.DataFrame, pattern: str) -> np.ndarray:
    """Read outcomes; NaN if one is missing."""
    values, foreign = read_outcomes(table)
    wrong = foreign | ~(np.isnan(values) | (values == 0) | (values == 1))
    if wrong.any():
        raise DataError(
            f"{wrong.sum()} outcome(s) are neither 0 nor 1: {name_cells(table, wrong, pattern)}; "
            f"code failure as 0 and success as 1, or by a known word ({KNOWN}), and leave a cell "
            "empty (NaN) where the item was not attempted. Several attempts go in as counts, "
            "Evaluation(items, successes, trials)"
        )
    return values


_ROUNDING = 1e-9  # of a place, by which rounding may change a written score


class _Attempts(NamedTuple):
    """Outcomes as given, one per attempt."""

    subjects: list[str]
    items: list[str]
    values: pd.Series


def from_outcomes(
    layout: Layout,
    steps: Steps,
    outcomes: Mapping[str, pd.DataFrame],
    items: pd.DataFrame,
    columns: Columns,
) -> tuple[pd.DataFrame, pd.Index, Cells]:
    """Count passed and attempted steps; see `Evaluation.of_outcomes`.

    Returns
    -------
    DataFrame, Index, Cells
        Rows as items, names of the subjects, and cells of subjects and rows.
    """
    refuse_other_outcomes(layout, outcomes)
    attempts = [
        _read(outcome, outcomes[outcome.name], items.index, columns) for outcome in layout.outcomes
    ]
    subjects = _named(list(dict.fromkeys(name for one in attempts for name in one.subjects)))
    if not len(subjects) or not len(items):
        raise DataError("there are no outcomes; give at least one subject and one item")
    count, first, arrays = len(steps.rows), 0, []
    for outcome, one in zip(layout.outcomes, attempts, strict=True):
        subject, item, *counts = _counts(outcome, one, subjects, items.index)
        row = item[:, None] * count + first + np.arange(len(outcome.steps))
        arrays.append([np.broadcast_to(subject[:, None], row.shape), row, *counts])
        first += len(outcome.steps)
    joined = (
        np.concatenate([values.ravel() for values in each]) for each in zip(*arrays, strict=True)
    )
    return (
        expanded(steps, items),
        subjects,
        Cells.of(*joined, shape=(len(subjects), len(items) * count)),
    )


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


def is_long(table: pd.DataFrame, columns: Columns) -> bool:
    """Whether a table has a row per outcome, that is, all three columns."""
    return set(columns) <= set(table.columns)


def _read(outcome: Observed, table: pd.DataFrame, items: pd.Index, columns: Columns) -> _Attempts:
    need_frame(table, outcome.name)
    if is_long(table, columns):
        subjects, names = (
            texts(table[column], f"{outcome.name}, {column}") for column in columns[:2]
        )
        refuse_unknown(names, items, "item", f"{outcome.name}: ")
        return _Attempts(subjects, names, table[columns[2]].astype(object))
    wide = _by_subject(table, outcome.name, items)
    count, width = wide.shape
    values = pd.Series(wide.astype(object).to_numpy().ravel(), dtype=object)
    return _Attempts(list(np.repeat(wide.index, width)), list(wide.columns) * count, values)


def _counts(
    outcome: Observed, attempts: _Attempts, subjects: pd.Index, items: pd.Index
) -> tuple[np.ndarray, ...]:
    """Count attempts that passed each step, and that reached it, by subject and item.

    Returns subject and item, shape (pairs,), and both counts, shape (pairs, steps).
    """
    levels = _levels(outcome, attempts)
    there = ~np.isnan(levels)
    subject = subjects.get_indexer(pd.Index(attempts.subjects, dtype="str"))[there]
    item = items.get_indexer(pd.Index(attempts.items, dtype="str"))[there]
    pairs, number = np.unique(subject * len(items) + item, return_inverse=True)
    ended = np.zeros((len(pairs), len(outcome.steps) + 1), dtype="int64")
    np.add.at(ended, (number, levels[there].astype(int)), 1)
    reached = ended[:, ::-1].cumsum(axis=1)[:, ::-1]  # so many got at least so far
    return *np.divmod(pairs, len(items)), reached[:, 1:], reached[:, :-1]


def _levels(outcome: Observed, attempts: _Attempts) -> np.ndarray:
    """Read how many steps each attempt passed; NaN without an attempt."""
    values = attempts.values
    if isinstance(outcome, Graded):
        places = {grade: place for place, grade in enumerate(outcome.grades)}
        values = values.map(lambda cell: places.get(cell, cell) if isinstance(cell, str) else cell)
    words = {} if isinstance(outcome, Graded | Score) else WORDS
    numbers, foreign = read_outcomes(pd.DataFrame({"outcome": values}), words)
    numbers, foreign = numbers[:, 0], foreign[:, 0]
    missing = np.array([is_missing(cell) for cell in values], dtype=bool)
    if isinstance(outcome, Score):
        fine = (numbers >= -_ROUNDING) & (numbers <= 1 + _ROUNDING)
        levels = np.floor(np.where(fine, numbers, 0.0) * outcome.places + 0.5 + _ROUNDING)
        need = "no score in [0, 1]", "give fractions of the full score"
    else:
        fine, levels = np.isin(numbers, np.arange(len(outcome.steps) + 1)), numbers
        coded = f"code failure as 0 and success as 1, or by a known word ({KNOWN})"
        need = "neither 0 nor 1", coded
        if isinstance(outcome, Graded):
            need = (
                "none of its grades",
                (
                    f"give {some(map(repr, outcome.grades), 12)}, or their numbers from 0 to "
                    f"{len(outcome.steps)}"
                ),
            )
    wrong = np.flatnonzero((foreign | ~fine) & ~missing)
    if len(wrong):
        named_cells = some(
            f"{short(attempts.subjects[place])} on {short(attempts.items[place])}: "
            f"{short(repr(attempts.values.iloc[place]))}"
            for place in wrong
        )
        raise DataError(
            f"{outcome.name}: {len(wrong)} outcome(s) are {need[0]}: {named_cells}; {need[1]}, and "
            "leave a cell empty (NaN) where the item was not attempted"
        )
    return np.where(missing, np.nan, np.clip(levels, 0, len(outcome.steps)))
