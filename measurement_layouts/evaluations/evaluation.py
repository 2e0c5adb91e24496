"""Evaluation: items and the outcomes of subjects on them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, Self

import numpy as np
import pandas as pd
import xarray as xr

from ..common.errors import DataError
from ..common.messages import many, some
from ..common.showing import Overview, Shown
from ..layouts import Layout
from . import outcome_tables
from .cells import Cells
from .measured import with_levels
from .opening import Table
from .outcome_tables import from_outcomes, refuse_other_outcomes
from .properties import of_subjects
from .reader import Reading, read
from .steps import refuse_steps
from .tables import (
    known_names,
    name_cells,
    named,
    same_names,
    three_columns,
    with_one_level_each,
)
from .ungraded import Treatment, Ungraded
from .united import united
from .words import Values


@dataclass(frozen=True, eq=False, init=False)
class Evaluation(Ungraded, Shown):
    """Items with their properties, and the successes and trials of each subject on each item.

    An evaluation is made by `from_table` from any table of outcomes, directly from counts, or by
    `of_outcomes` for layouts with several outcomes, graded outcomes or scores. Attempts without a
    grade are kept beside the trials, see `with_ungraded`. Names of items and subjects become texts.
    Names of items, subjects and columns, and texts within a column, that differ in blanks or in the
    composition of Unicode only are one, and a warning lists those that are written otherwise.
    Properties that no layout uses are kept.

    Parameters
    ----------
    items : DataFrame
        One row per item, indexed by the name of the item, with one column per property.
    successes, trials : DataFrame
        Whole numbers, with one row per subject and one column per item. An item that was not
        attempted has 0 trials.
    subjects : DataFrame, optional
        Properties of the subjects, numbers or categories: one row per subject, indexed by the name
        of the subject, with one column per property. Rows of subjects without outcomes are not
        kept.

    Attributes
    ----------
    subject_table : DataFrame
        Subjects with their properties, in the order of `successes`; it has no columns when no
        properties were given.
    notes : DataFrame or None
        What `from_table` dropped, mapped, renamed or assumed, in the columns ``what``, ``count``
        and ``example``.

    Raises
    ------
    DataError
        When names repeat or are missing, the tables do not match, counts are not whole numbers with
        0 <= successes <= trials, a subject has no outcome, or a subject has no row in `subjects`.

    Examples
    --------
    >>> items = pd.DataFrame({"size": [1.0, 2.0]}, index=["a", "b"])
    >>> successes = pd.DataFrame({"a": [3], "b": [0]}, index=["Ann"])
    >>> trials = pd.DataFrame({"a": [4], "b": [2]}, index=["Ann"])
    >>> Evaluation(items, successes, trials)
    <Evaluation: 1 subject, 2 items, 6 trials, properties size>
    >>> people = pd.DataFrame({"age": [30]}, index=["Ann"])
    >>> Evaluation(items, successes, trials, subjects=people)
    <Evaluation: 1 subject, 2 items, 6 trials, properties size, of subjects age>
    """

    items: pd.DataFrame
    subject_table: pd.DataFrame
    coded: Cells
    ungraded_cells: Cells
    notes: pd.DataFrame | None = None

    def __init__(
        self,
        items: pd.DataFrame,
        successes: pd.DataFrame,
        trials: pd.DataFrame,
        *,
        subjects: pd.DataFrame | None = None,
    ) -> None:
        items = _read_items(items)
        successes = outcome_tables.counts(successes, "successes", items.index)
        trials = outcome_tables.counts(trials, "trials", items.index)
        same_names(trials.index, successes.index, "the subjects of trials", "successes")
        trials = trials.loc[successes.index]
        over = successes.to_numpy() > trials.to_numpy()
        if over.any():
            raise DataError(
                f"more successes than trials in {over.sum()} cell(s): "
                f"{name_cells(successes, over)}; correct one of the two"
            )
        cells = Cells.of_tables(successes.to_numpy(), trials.to_numpy())
        self._set(items, successes.index, cells, subjects)

    @classmethod
    def of_cells(
        cls,
        items: pd.DataFrame,
        names: pd.Index,
        cells: Cells,
        *,
        subjects: pd.DataFrame | None = None,
        ungraded: Cells | None = None,
    ) -> Self:
        """Make an evaluation of attempted cells, given the names of the subjects.

        Raises
        ------
        DataError
            When a subject has no cell, or no row in `subjects`.
        """
        evaluation = object.__new__(cls)
        evaluation._set(items, names, cells, subjects, ungraded)
        return evaluation

    def _set(
        self,
        items: pd.DataFrame,
        names: pd.Index,
        cells: Cells,
        subjects: pd.DataFrame | None,
        ungraded: Cells | None = None,
    ) -> None:
        if not len(names):
            raise DataError("there are no subjects; give at least one, as a row of outcomes")
        empty = names.delete(np.unique(cells.subject))
        if len(empty):
            raise DataError(
                f"no outcomes for {some(empty)}; a subject needs at least one attempted "
                "item to be fitted, so leave it out"
            )
        people = with_one_level_each(of_subjects(subjects, names), "subjects")
        extra = Cells.of([], [], [], [], shape=cells.shape) if ungraded is None else ungraded
        values = {"items": items, "subject_table": people, "coded": cells, "ungraded_cells": extra}
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @classmethod
    def from_table(
        cls,
        outcomes: Table,
        items: Table | None = None,
        *,
        subjects: Table | list[str] | None = None,
        subject: str = "subject",
        item: str = "item",
        outcome: str = "outcome",
        trials: str | int | None = None,
        values: Values | None = None,
        ungraded: Treatment = "bounds",
    ) -> Self:
        """Read a table of outcomes of any form, from a data frame or a file.

        A table with the columns of subjects, items and outcomes is *long*, one row per outcome. Any
        other table is *wide*, one row per subject and one column per item, and is transposed if the
        names of its rows are items. What was assumed, dropped or mapped is in the ``repr``, and in
        the attribute `notes` with examples.

        Parameters
        ----------
        outcomes : DataFrame or path
            Data frame, or a file in CSV (commas, semicolons or tabs; UTF-8), Parquet or JSON lines.
            An outcome is 0 or 1, True or False, or a word in upper or lower case: yes/no, y/n,
            true/false, t/f, pass/fail, passed/failed, correct/incorrect, right/wrong,
            success/failure; ``9/12`` is 9 successes in 12 trials. A cell is empty, or NA, where the
            item was not attempted. Several rows of one subject and item of a long table are
            repeated trials, which a column ``attempt`` may number.
        items : DataFrame or path, optional
            Properties of the items, with one row per item, named in a column `item`, or else in the
            first column of a file or the index of a data frame. It may have more items than were
            attempted. Default: the other columns of a long table that have one value in all rows of
            each item.
        subjects : DataFrame, path, or list of str, optional
            Properties of the subjects, named in the same way. Rows of subjects without outcomes are
            not kept. Default: the other columns of a long table that differ between rows of an item
            and have one value in all rows of each subject. A list names the columns of a wide table
            that are properties of the subjects.
        subject, item, outcome : str
            Names of the columns; capitals do not matter.
        trials : str or int, optional
            Column with the number of trials, of which `outcome` (default then also ``successes``)
            or the cells of a wide table are the successes; or one number for all cells. Default: a
            column ``trials``, if there is one. If the rows of a wide table have no names and its
            cells are 0 and 1, they are patterns of outcomes, and `trials` says how many subjects
            gave each; a column ``freq``, ``frequency``, ``count`` or ``n`` is found by its name.
        values : mapping, optional
            Outcome of cells that are none of these, such as ``{"moderate or severe": 1}``, or None
            where there was no attempt. One other text is then the other outcome.
        ungraded : {"drop", "fail", "bounds"}
            What becomes of rows without an outcome that have a reason in a column ``ungraded``,
            such as an error: they are left out, are failures, or are kept beside the trials (see
            `success_bounds`).

        Returns
        -------
        Evaluation
            Evaluation with the subjects in the order in which they appear, and all items of
            `items`. Subjects without any outcome are left out, and a warning names them.

        Raises
        ------
        DataError
            When a file is broken, a column or a name is missing, a cell is no outcome (the message
            names subject and item), an item or a subject has no row in `items` or `subjects`, or a
            property differs within a few items or subjects only (the message names one, its values
            and their rows).

        Warns
        -----
        UserWarning
            When names that differ in blanks or in the composition of Unicode only become one, or
            subjects are left out.

        Examples
        --------
        >>> rows = pd.DataFrame({"bird": ["Rome", "Rome", "Roy"], "delay": ["5 s", "30 s", "5 s"],
        ...                      "correct": [9, 6, 8], "Trials": [10, 12, 10],
        ...                      "seconds": [5, 30, 5], "species": ["jay", "jay", "crow"]})
        >>> Evaluation.from_table(rows, subject="bird", item="delay", outcome="correct")
        <Evaluation: 2 subjects, 2 items, 32 trials, properties seconds, of subjects species; ...>
        >>> wide = pd.DataFrame({"bird": ["Rome", "Roy"], "5 s": ["9/10", "8/10"],
        ...                      "30 s": ["6/12", ""]})
        >>> Evaluation.from_table(wide, subject="bird").successes
        item     5 s  30 s
        subject
        Rome       9     6
        Roy        8     0
        """
        columns = subject, item, outcome
        reading = read(
            outcomes, items, subjects, columns, trials=trials, values=values, ungraded=ungraded
        )
        evaluation = cls._of_reading(reading)
        object.__setattr__(evaluation, "notes", reading.notes.frame())
        return evaluation

    @classmethod
    def _of_reading(cls, reading: Reading) -> Self:
        """Count what was read, and warn of names that changed and of subjects left out."""
        reading.notes.warn()
        items = _read_items(reading.items)
        evaluation = cls.of_cells(items, *reading.cells(), subjects=reading.people)
        attempts = reading.ungraded()
        return evaluation.with_ungraded(attempts) if len(attempts) else evaluation

    @classmethod
    def from_wide(
        cls,
        outcomes: pd.DataFrame,
        items: pd.DataFrame | None = None,
        *,
        subjects: pd.DataFrame | list[str] | None = None,
    ) -> Self:
        """Read a table of outcomes, one row per subject and one column per item.

        Parameters are those of `from_table`; a table with other columns is read as wide, too.

        Examples
        --------
        >>> items = pd.DataFrame({"size": [1.0, 2.0]}, index=["a", "b"])
        >>> outcomes = pd.DataFrame({"a": [1, 1], "b": [0, None]}, index=["Ann", "Bob"])
        >>> evaluation = Evaluation.from_wide(outcomes, items)
        >>> evaluation.trials.loc["Bob"].tolist()
        [1, 0]
        """
        return cls._of_reading(read(outcomes, items, subjects, shape="wide"))

    @classmethod
    def from_long(
        cls,
        outcomes: pd.DataFrame,
        items: pd.DataFrame | None = None,
        *,
        subjects: pd.DataFrame | None = None,
        subject: str = "subject",
        item: str = "item",
        outcome: str = "outcome",
        repeats: Literal["refuse", "trials"] = "refuse",
        ungraded: Treatment = "bounds",
    ) -> Self:
        """Read a table with one row per outcome.

        Other parameters are those of `from_table`.

        Parameters
        ----------
        repeats : {"refuse", "trials"}
            Whether several rows of one subject and item are an error or repeated trials.

        Examples
        --------
        >>> rows = pd.DataFrame({"subject": ["Ann", "Ann", "Bob"], "item": ["a", "b", "a"],
        ...                      "outcome": [1, 0, 1], "size": [1.0, 2.0, 1.0]})
        >>> evaluation = Evaluation.from_long(rows)
        >>> evaluation.items["size"].tolist(), evaluation.success_rates().tolist()
        ([1.0, 2.0], [0.5, 1.0])
        >>> evaluation = Evaluation.from_long(rows.assign(age=[30, 30, 40]))
        >>> evaluation.subject_table["age"].to_dict()
        {'Ann': 30, 'Bob': 40}
        """
        if not isinstance(repeats, str) or repeats not in ("refuse", "trials"):
            raise DataError(f"repeats={repeats!r}; give 'refuse' or 'trials'")
        columns = subject, item, outcome
        reading = read(outcomes, items, subjects, columns, shape="long", ungraded=ungraded)
        if repeats == "refuse":
            reading.outcomes.refuse_repeats()
        return cls._of_reading(reading)

    @classmethod
    def of_outcomes(
        cls,
        layout: Layout,
        outcomes: Mapping[str, pd.DataFrame],
        items: pd.DataFrame,
        *,
        subjects: pd.DataFrame | None = None,
        subject: str = "subject",
        item: str = "item",
        outcome: str = "outcome",
        ungraded: Treatment = "bounds",
    ) -> Self:
        """Read outcomes of all kinds (successes, grades and scores), with one table per outcome.

        Each outcome becomes steps. A step is tried when the step before was passed: with a grade of
        2, two steps were passed and the third was failed. The rows of the evaluation are therefore
        steps, with names such as ``arena 3 · credit ≥ 0.25``. Parameters that take names of items
        take the items themselves.

        Parameters
        ----------
        layout : Layout
            Layout that declares the outcomes.
        outcomes : mapping of str to DataFrame
            For each outcome of the layout, a table with one row per subject and one column per
            item, or a table with columns for subject, item and outcome and one row per attempt. The
            outcome of a `Success` is 0, 1 or a known word (see `from_wide`), that of a `Graded` is
            the name of a grade or its number from 0, and that of a `Score` is a number in [0, 1].
            It is missing when the item was not attempted.
        items : DataFrame
            Properties of the items, indexed by item.
        subjects : DataFrame, optional
            Properties of the subjects, indexed by subject; rows of subjects without outcomes are
            not kept.
        subject, item, outcome : str
            Names of the columns of long tables.
        ungraded : {"drop", "fail", "bounds"}
            What becomes of rows of long tables that have a reason in a column ``ungraded``, as in
            `from_table`; a failure passes no step.

        Returns
        -------
        Evaluation
            Evaluation with the subjects in the order in which they appear. Subjects without any
            outcome are left out, and a warning names them. For a layout with a single `Success`,
            the rows are the items.

        Raises
        ------
        DataError
            When the tables do not match the outcomes of the layout, or a table has an impossible
            value (the message names it), an unknown item or a missing name.

        Examples
        --------
        >>> from measurement_layouts import Capability, Graded
        >>> layout = Layout("essays", Graded("grade", Capability("skill", low=0, high=1)))
        >>> grades = pd.DataFrame({"a": ["partly", "right"], "b": [0, None]}, ["Ann", "Bob"])
        >>> items = pd.DataFrame(index=["a", "b"])
        >>> evaluation = Evaluation.of_outcomes(layout, {"grade": grades}, items)
        >>> evaluation
        <Evaluation: 2 subjects, 2 items, 3 attempts in 4 rows of steps, properties none>
        >>> evaluation.trials.loc["Ann"]
        item
        a · grade ≥ partly    1
        a · grade ≥ right     1
        b · grade ≥ partly    1
        b · grade ≥ right     0
        Name: Ann, dtype: int64
        """
        items = _read_items(items)
        columns = three_columns((subject, item, outcome))
        refuse_other_outcomes(layout, outcomes)
        if layout.steps is not None:
            rows, names, cells, attempts = from_outcomes(
                layout, layout.steps, outcomes, items, columns, ungraded
            )
            evaluation = cls.of_cells(rows, names, cells, subjects=subjects)
            return evaluation.with_ungraded(attempts) if len(attempts) else evaluation
        (table,) = outcomes.values()
        return cls._of_reading(read(table, items, subjects, columns, ungraded=ungraded))

    def select(
        self, items: Iterable[object] | None = None, subjects: Iterable[object] | None = None
    ) -> "Evaluation":
        """Keep some items and some subjects, by name and in the order given.

        Parameters
        ----------
        items, subjects : iterable, optional
            Names of items and of subjects to keep (default: all). When the rows of the evaluation
            are steps, these are also names of items.

        Returns
        -------
        Evaluation
            New evaluation.

        Raises
        ------
        DataError
            When a name is unknown or given twice, or a subject has no outcome on the kept items.

        Examples
        --------
        >>> items = pd.DataFrame(index=["a", "b"])
        >>> outcomes = pd.DataFrame({"a": [1, 0], "b": [0, 1]}, index=["Ann", "Bob"])
        >>> Evaluation.from_wide(outcomes, items).select(items=["b"], subjects=["Bob"])
        <Evaluation: 1 subject, 1 item, 1 trial, properties none>
        """
        rows, people = self.items.index, self.subject_table.index
        if items is not None:
            names = self.rows_of(known_names(items, self.item_table.index, "item"))
            rows = pd.Index(names, dtype="str")
        if subjects is not None:
            people = pd.Index(known_names(subjects, people, "subject"), dtype="str")
        positions = (
            None if subjects is None else self.subject_table.index.get_indexer(people),
            None if items is None else self.items.index.get_indexer(rows),
        )
        graded, ungraded = (cells.select(*positions) for cells in (self.coded, self.ungraded_cells))
        properties = self.subject_table.loc[people]
        return Evaluation.of_cells(
            self.items.loc[rows], properties.index, graded, subjects=properties, ungraded=ungraded
        )

    def _with(self, cells: Cells, ungraded: Cells | None) -> Self:
        """Replace the counts."""
        people = self.subject_table
        return self.of_cells(self.items, people.index, cells, subjects=people, ungraded=ungraded)

    def with_measured(self, demands: xr.DataArray) -> "Evaluation":
        """Add probabilities of levels to the items, for a layout with `Measured` demands.

        Parameters
        ----------
        demands : DataArray
            Probabilities as `measured_columns` takes them, such as those of `Ratings.demands`. They
            must include all items and may include others.

        Returns
        -------
        Evaluation
            New evaluation, whose items have one column per level and label. Columns with these
            names are replaced.

        Raises
        ------
        DataError
            When an item has no probabilities, rows are steps of graded outcomes, or the array is
            not as `measured_columns` takes it.

        Examples
        --------
        >>> items = pd.DataFrame(index=["a", "b"])
        >>> answers = Evaluation.from_wide(pd.DataFrame({"a": [1], "b": [0]}, ["Ann"]), items)
        >>> coordinates = {"item": ["b", "a"], "level": [0, 1]}
        >>> hard = xr.DataArray([[0.1, 0.9], [0.7, 0.3]], coordinates, name="hard")
        >>> answers.with_measured(hard).items
              hard 0  hard 1
        item
        a        0.7     0.3
        b        0.1     0.9
        """
        refuse_steps(self.rows, "Evaluation.with_measured")
        items, people = with_levels(self.items, demands), self.subject_table
        return Evaluation.of_cells(
            items, people.index, self.coded, subjects=people, ungraded=self.ungraded_cells
        )

    def __add__(self, other: "Evaluation") -> "Evaluation":
        """Join two evaluations: all subjects, all items, and the outcomes of both.

        Parameters
        ----------
        other : Evaluation
            Evaluation with further items, subjects or outcomes. An outcome that both have (the same
            successes and trials of a subject on an item) is counted once, because a table that has
            grown contains its earlier rows. Of ungraded attempts in a cell, the larger number
            counts.

        Returns
        -------
        Evaluation
            New evaluation with the items and subjects of the first in their order, followed by
            those that only the other has. A property that only one of the two has is missing for
            items or subjects of the other.

        Raises
        ------
        DataError
            When an item or a subject has different properties in the two evaluations, or a cell has
            different outcomes (the message names them); or when only one of them has steps of
            graded outcomes.

        Examples
        --------
        >>> items = pd.DataFrame({"size": [1.0, 2.0]}, index=["a", "b"])
        >>> first = Evaluation.from_wide(pd.DataFrame({"a": [1]}, index=["Ann"]), items[:1])
        >>> later = pd.DataFrame({"a": [1, 0], "b": [0, 1]}, index=["Ann", "Bob"])
        >>> first + Evaluation.from_wide(later, items)
        <Evaluation: 2 subjects, 2 items, 4 trials, properties size>
        """
        if not isinstance(other, Evaluation):
            return NotImplemented
        items, people, graded, ungraded = united(self, other)
        return Evaluation.of_cells(items, people.index, graded, subjects=people, ungraded=ungraded)

    def __repr__(self) -> str:
        done = int(self.coded.trials.sum())
        what = many(done, "trial")
        if self.rows is not None:
            done = int(self.rows.attempts(self.coded).sum())
            what = f"{many(done, 'attempt')} in {many(len(self.items), 'row')} of steps"
        missing = int(self.ungraded_cells.trials.sum())
        what += f", {missing:,} ungraded" if missing else ""
        items, properties = self.item_table, self.subject_table.columns
        of_people = f", of subjects {some(properties, 12)}" if len(properties) else ""
        return (
            f"<Evaluation: {many(len(self.subject_table), 'subject')}, {many(len(items), 'item')}, "
            f"{what}, properties {some(items.columns, 12) or 'none'}{of_people}{self._decided()}>"
        )

    def _decided(self) -> str:
        """List what was decided when a table was read."""
        if self.notes is None:
            return ""
        pairs = zip(self.notes["what"], self.notes["count"], strict=True)
        return f"; {'; '.join(f'{what} ({count})' for what, count in pairs)}"

    def _overview(self) -> Overview:
        rates = self.success_rates()
        done = len(self.coded) / np.prod(self.coded.shape)
        facts = {
            "success rates": f"{rates.min():.2f} to {rates.max():.2f}, mean {rates.mean():.2f}",
            "attempted": f"{done:.0%} of all pairs of a subject and a row of items",
        }
        if len(self.ungraded_cells):
            bounds = self.success_bounds()
            facts["with ungraded attempts"] = (
                f"{bounds['low'].mean():.2f} if all had failed, {bounds['high'].mean():.2f} if all "
                "had succeeded (means of the rates)"
            )
        calls = {
            "ml.check(layout, evaluation)": "what a layout can learn from these data",
            "ml.fit(layout, evaluation, seed=1)": "a profile of each subject",
        }
        by_subject = self.success_bounds() if len(self.ungraded_cells) else rates.to_frame()
        tables = {"success rates": by_subject, "items": self.item_table}
        return Overview(facts, calls, tables)


def _read_items(items: pd.DataFrame) -> pd.DataFrame:
    table = with_one_level_each(named(items, "items", "item"), "items")
    if not len(table):
        raise DataError("there are no items; give at least one, as a row of items")
    return table
