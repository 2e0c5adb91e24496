"""Forms of tables of outcomes: long, wide, counts, and patterns with frequencies."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from ..common.errors import DataError
from ..common.messages import some
from ..common.names import plain
from ..linking.errors import short
from .notes import Notes
from .opening import count_rows, is_nameless, is_numbered, named_columns
from .properties import typed
from .tables import MOST, NAMING, is_missing, need_columns, refuse_repeats, refuse_unknown, written
from .ungraded import COLUMN, Treatment, reasons_of
from .words import read_answers

type Columns = tuple[str, str, str]
"""Names of the columns of subjects, items and outcomes."""

ATTEMPT, TRIALS = "attempt", "trials"
_FREQUENCIES = ("freq", "frequency", "frequencies", "count", "counts", "n")
_MOST_SUBJECTS = 10_000_000  # that patterns with frequencies stand for
_SHOWN = 30  # items that a note lists


@dataclass(frozen=True)
class Outcomes:
    """Cells of a table of outcomes, one per row of a long or cell of a wide table.

    Attributes
    ----------
    subject, item : ndarray of int
        Positions among `subjects` and `items`.
    cell : ndarray
        Outcome as it is written.
    subjects, items : Index
        Names, in the order in which they appear.
    attempt : ndarray of int or int
        Number of the attempt.
    trials : ndarray of float, optional
        Number of trials of each cell.
    reasons : ndarray of object, optional
        Why a cell has no grade; None where it has one, or was not attempted.
    """

    subject: np.ndarray
    item: np.ndarray
    cell: np.ndarray
    subjects: pd.Index
    items: pd.Index
    attempt: np.ndarray | int = 1
    trials: np.ndarray | None = None
    reasons: np.ndarray | None = None

    def where(self, row: int) -> str:
        """Name the subject and item of a cell."""
        subject, item = self.subjects[self.subject[row]], self.items[self.item[row]]
        return f"{short(subject)} on {short(item)}"

    def ungraded(self) -> pd.DataFrame:
        """List attempts without a grade: ``subject`` and ``item``."""
        marked = np.zeros(len(self.item), bool) if self.reasons is None else pd.notna(self.reasons)
        names = {
            "subject": self.subjects.take(self.subject[marked]),
            "item": self.items.take(self.item[marked]),
        }
        return pd.DataFrame(names)

    def treated(self, ungraded: Treatment) -> tuple["Outcomes", np.ndarray]:
        """Keep reasons if they are asked for, and say which cells are failures instead."""
        marked = np.zeros(len(self.item), bool) if self.reasons is None else pd.notna(self.reasons)
        kept = self if ungraded == "bounds" else replace(self, reasons=None)
        return kept, marked & (ungraded == "fail")

    def refuse_repeats(self) -> None:
        """Refuse several rows of one subject and item."""
        pairs = pd.DataFrame({"subject": self.subject, "item": self.item})
        again = np.flatnonzero(pairs.duplicated())
        if len(again):
            cells = some(map(self.where, again.tolist()))
            raise DataError(
                f"{len(again)} repeated row(s): {cells}; keep one row of each, or count "
                "them as repeated trials with repeats='trials'"
            )

    def of_items(self, items: pd.Index) -> "Outcomes":
        """Return the same cells by position among other items, which must include these."""
        refuse_unknown(self.items, items, "item")
        return replace(self, item=items.get_indexer(self.items)[self.item], items=items)


def spelled(
    table: pd.DataFrame, columns: Columns, trials: str | int | None
) -> tuple[Columns, str | int | None]:
    """Find the columns, also if they have other capitals, and those of counts by their names."""
    spellings = {str(name).lower(): name for name in table.columns}
    subject, item, outcome = (
        name if name in table.columns else spellings.get(str(name).lower(), name)
        for name in columns
    )
    if trials is None:
        trials = spellings.get(TRIALS)
    elif isinstance(trials, str):
        need_columns(table.columns, [plain(trials)], "the table of outcomes has")
        trials = plain(trials)
    elif isinstance(trials, bool) or not isinstance(trials, int) or not 0 < trials <= MOST:
        raise DataError(
            f"trials={short(trials)}; give the name of a column, or one number of trials for all "
            "cells; tables of successes and of trials go in as Evaluation(items, successes, trials)"
        )
    if trials is not None and outcome not in table.columns:
        outcome = spellings.get("successes", outcome)
    return (subject, item, outcome), trials


def from_long(
    table: pd.DataFrame, columns: Columns, trials: str | int | None, notes: Notes
) -> tuple[Outcomes, pd.DataFrame]:
    """Take outcomes from a table with a row for each, and the columns beside them."""
    need_columns(table.columns, columns, "the table of outcomes has", NAMING)
    if not len(table):
        raise DataError("the table of outcomes has no rows; give some")
    table = named_columns(table, notes).reset_index(drop=True)
    names = [
        pd.factorize(np.array(notes.names(written(table[name], f"column {name!r}")), object))
        for name in columns[:2]
    ]
    (subject, subjects), (item, items) = names
    cells = table[columns[2]].to_numpy(dtype=_kind(table[[columns[2]]]))
    rows = Outcomes(subject, item, cells, _index(subjects), _index(items))
    notes.add("long table: a row per outcome", rows.where(0), len(table))
    taken = [*columns]
    pairs = pd.DataFrame({"subject": subject, "item": item})
    numbers = pairs.groupby(["subject", "item"]).cumcount().to_numpy() + 1
    if ATTEMPT in table.columns:
        taken.append(ATTEMPT)
        remedy = "number attempts from 1, or drop the column"
        numbers = _whole(table[ATTEMPT], remedy).astype("int64")
    elif numbers.max() > 1:
        again = np.flatnonzero(numbers > 1)
        notes.add("repeated rows: further attempts", rows.where(again[0]), len(again))
    pairs[ATTEMPT] = numbers
    again = np.flatnonzero(pairs.duplicated())
    if len(again):
        raise DataError(
            f"{len(again)} row(s) repeat a subject, item and attempt, such as "
            f"{rows.where(again[0])}, attempt {pairs[ATTEMPT][again[0]]}; keep one of each, or "
            "drop the column to have rows numbered"
        )
    tried = _trials_of(table, trials, notes)
    taken += [trials] if isinstance(trials, str) else []
    reasons = None
    if COLUMN in table.columns:
        taken.append(COLUMN)
        reasons = reasons_of(table, columns[2])
    rows = replace(rows, attempt=pairs[ATTEMPT].to_numpy(), trials=tried, reasons=reasons)
    return rows, table.drop(columns=taken)


def from_wide(
    table: pd.DataFrame,
    columns: Columns,
    known: pd.Index,
    stated: Sequence[str],
    trials: str | int | None,
    notes: Notes,
) -> tuple[Outcomes, pd.DataFrame | None]:
    """Take outcomes from a table of subjects by items, and the stated properties of subjects."""
    need_columns(table.columns, list(stated), "the table of outcomes has")
    frequency = _frequency(table.drop(columns=[*stated]), known) if trials is None else None
    table = _with_row_names(table, columns, frequency or trials, notes)
    kind, unnamed = table.index.name, is_numbered(table)
    table = named_columns(table, notes)
    labels = (notes.names(written(axis, "the table of outcomes")) for axis in table.axes)
    rows, names = (_index(axis) for axis in labels)
    table = table.set_axis(rows, axis=0).set_axis(names, axis=1)
    turned = kind == columns[1]
    if kind not in columns[:2]:
        turned = len(known.intersection(rows)) > len(known.intersection(names))
    weights = frequency or (trials if isinstance(trials, str) else None)
    beside = [*stated, *([] if weights is None else [weights])]
    if turned and beside:
        raise DataError(
            f"the rows of the table are items, and the column(s) {some(beside)} are of subjects; "
            "give a table with one row per subject, or properties in a table of their own"
        )
    items = table.columns.drop(beside)
    refuse_repeats(rows, "item" if turned else "subject", "outcomes")
    refuse_repeats(items, "subject" if turned else "item", "outcomes")
    if not len(items):
        raise DataError("the table has no columns of outcomes; give a column per item")
    tried = _trials_of(table, weights or trials, notes)
    patterns = frequency or (weights and unnamed and _are_zero_or_one(table[items]))
    if patterns and tried is not None:
        table, tried = _repeated(table, tried, unnamed, notes), None
    for column in stated:
        notes.add(f"property of the subjects: column {column}, as stated", column)
    people = typed(table[[*stated]].rename_axis("subject"), notes) if stated else None
    cells = table[items].T if turned else table[items]
    subject, item = np.indices(cells.shape).reshape(2, -1)
    example = f"the items {some(cells.columns, _SHOWN)}"
    notes.add("wide table: subjects by items", example, len(cells))
    values = cells.to_numpy(dtype=_kind(cells)).ravel()
    counts = None if tried is None else np.repeat(tried, cells.shape[1])
    return Outcomes(subject, item, values, cells.index, cells.columns, trials=counts), people


def _with_row_names(
    table: pd.DataFrame,
    columns: Columns,
    trials: str | int | None,
    notes: Notes,
) -> pd.DataFrame:
    """Index a table by the column of subjects or items, or by a first column of names."""
    for name in columns[:2]:
        if name in table.columns:
            return table.set_index(name)
    first = table.columns[:1].tolist()
    if not first or not is_numbered(table):
        return table
    answers = read_answers(table.iloc[:, 0].to_numpy(dtype=object))
    outside = (answers.value < 0) | (answers.value > 1) & np.isnan(answers.trials)
    patterns = trials is not None and np.isin(answers.value, (0, 1)).all()
    distinct = "file" in table.attrs and table.iloc[:, 0].is_unique and not patterns
    numbered = is_nameless(first[0]) and count_rows(table.iloc[:, 0])
    if distinct or numbered or answers.foreign.any() or (outside.any() and trials is None):
        notes.add("rows named by the first column", first[0])
        return table.set_index(first[0]).rename_axis(index=None)
    return table


def _frequency(table: pd.DataFrame, known: pd.Index) -> str | None:
    """Find a column of frequencies beside patterns of outcomes, by its name and its numbers."""
    for column in table.columns:
        if str(column).lower() in _FREQUENCIES and column not in known:
            numbers = pd.to_numeric(table[column].astype(object), errors="coerce")
            if (numbers >= 0).all() and (numbers % 1 == 0).all() and numbers.max() > 1:
                return str(column)
    return None


def _repeated(
    patterns: pd.DataFrame, frequencies: np.ndarray, unnamed: bool, notes: Notes
) -> pd.DataFrame:
    """Make a subject for each time that a pattern of outcomes occurred."""
    total = int(frequencies.sum())
    if total > _MOST_SUBJECTS:
        raise DataError(
            f"the frequencies add up to {total:,} subjects; give up to {_MOST_SUBJECTS:,}"
        )
    notes.add("patterns: a subject for each time that one occurred", f"{total} subjects", total)
    rows = np.repeat(np.arange(len(patterns)), frequencies.astype(int))
    table = patterns.iloc[rows]
    if unnamed:
        return table.set_axis(_index(range(1, total + 1)), axis=0)
    numbers = pd.Series(rows).groupby(rows).cumcount() + 1
    pairs = zip(table.index, numbers, strict=True)
    return table.set_axis(_index([f"{name} {number}" for name, number in pairs]), axis=0)


def _are_zero_or_one(cells: pd.DataFrame) -> bool:
    answers = read_answers(cells.to_numpy(dtype=object).ravel())
    return bool((np.isin(answers.value, (0, 1)) | np.isnan(answers.value)).all())


def _trials_of(table: pd.DataFrame, trials: str | int | None, notes: Notes) -> np.ndarray | None:
    """Return the number of trials of each row; a missing number is 0."""
    if trials is None:
        return None
    if not isinstance(trials, str):
        return np.full(len(table), float(trials))
    notes.add(f"number of trials: the column {trials}", trials)
    remedy = "give whole numbers from 0, or rename the column if it is something else"
    return _whole(table[trials], remedy, missing=0)


def _whole(column: pd.Series, remedy: str, missing: float = np.nan) -> np.ndarray:
    """Read whole numbers from 0."""
    cells = column.astype(object)
    numbers = pd.to_numeric(cells, errors="coerce").to_numpy(dtype=float)
    numbers = np.where([is_missing(cell) for cell in cells], missing, numbers)
    wrong = ~((numbers >= 0) & (numbers <= MOST) & (numbers == np.floor(numbers)))
    if wrong.any():
        raise DataError(
            f"column {column.name!r}: {wrong.sum()} cell(s) are no whole numbers: "
            f"{some(cells[wrong])}; {remedy}"
        )
    return numbers


def _kind(cells: pd.DataFrame) -> type:
    """Return the kind of an array of cells: numbers, if no other cells are there."""
    numbers = all(isinstance(kind, np.dtype) and kind.kind in "biuf" for kind in cells.dtypes)
    return float if numbers else object


def _index(names: Sequence[object] | np.ndarray) -> pd.Index:
    return pd.Index(list(map(str, names)), dtype="str")
