"""Result of an import: outcomes, items, and a list of changes."""

from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from ...common.errors import DataError
from ...common.files import csv_text, write_text
from ...common.messages import many, some
from ..evaluation import Evaluation
from ..notes import Notes as Notes
from ..ungraded import Treatment

_SHOWN = 12  # names of items or columns that are shown


@dataclass(frozen=True, eq=False)
class Imported:
    """Outcomes and items that were read from logs or tables, and notes on what was changed.

    Parameters
    ----------
    outcomes : DataFrame
        One row per attempt: `subject`, `item`, `attempt` (from 1), `outcome` (in [0, 1]), or
        successes of so many `trials`; and, if
        there are attempts without a grade, `ungraded`, the reason, where `outcome` is missing.
    items : DataFrame
        Meta-features, indexed by item: numbers, truth values or texts.
    notes : DataFrame
        Everything that was dropped, mapped, renamed, averaged or assumed, in the columns `what`,
        `count` and `example`, which names up to twelve of those that were dropped.
    subjects : DataFrame, optional
        Properties of the subjects, indexed by subject: numbers, truth values or texts.

    Examples
    --------
    >>> from measurement_layouts.evaluations.logs.table import read_table
    >>> rows = pd.DataFrame({"subject": ["Ann", "Ann", "Bob"], "item": ["a", "b", "a"],
    ...                      "outcome": [1, 0, None], "size": [1.0, 2.0, 1.0]})
    >>> imported = read_table(rows)
    >>> imported
    <Imported: 1 subject, 2 items (a, b), 2 attempts, properties size, 3 notes>
    >>> imported.evaluation()
    <Evaluation: 1 subject, 2 items, 2 trials, properties size>
    """

    outcomes: pd.DataFrame
    items: pd.DataFrame
    notes: pd.DataFrame
    subjects: pd.DataFrame = field(default_factory=pd.DataFrame)

    def __post_init__(self) -> None:
        if not len(self.subjects.columns):
            names = pd.Index(self.outcomes["subject"].unique(), name="subject", dtype="str")
            object.__setattr__(self, "subjects", pd.DataFrame(index=names))

    def evaluation(self, *, ungraded: Treatment = "bounds") -> Evaluation:
        """Count successes and trials per subject and item.

        Parameters
        ----------
        ungraded : {"drop", "fail", "bounds"}
            What becomes of attempts without a grade: they are left out, are failures, or are kept
            beside the trials (see `Evaluation.success_bounds`).

        Returns
        -------
        Evaluation
            Evaluation in which each attempt with an outcome is a trial.

        Raises
        ------
        DataError
            When an outcome is neither 0 nor 1.
        """
        graded = self.outcomes[self.outcomes["outcome"].notna()]
        partial = graded[~graded["outcome"].isin((0.0, 1.0))]
        if len(partial) and "trials" not in partial.columns:
            values = (f"{value:g}" for value in sorted(partial["outcome"].unique()))
            first = partial.iloc[0]
            raise DataError(
                f"{len(partial)} of {many(len(graded), 'outcome')} are neither 0 nor 1: "
                f"{some(values)} (such as {first['subject']} on {first['item']}); an Evaluation "
                "counts successes. Give a layout whose outcome is a Score or Graded the .table(), "
                "by Evaluation.of_outcomes, or state which values are successes where the logs are "
                "read"
            )
        return Evaluation.from_long(
            self.outcomes,
            self.items,
            subjects=self.subjects,
            repeats="trials",
            ungraded=ungraded,
        )

    def table(self) -> pd.DataFrame:
        """Copy the outcomes, for `Evaluation.of_outcomes`.

        Returns
        -------
        DataFrame
            With the columns of `outcomes`.
        """
        return self.outcomes.copy()

    def write(self, folder: str | Path) -> None:
        """Write `items.csv`, `outcomes.csv` and `subjects.csv`, which `read_table` reads.

        Parameters
        ----------
        folder : str or Path
            Folder, which is made when it does not exist. Files of these names, and `notes.csv`, are
            replaced.

        Raises
        ------
        DataError
            When the folder cannot be written.
        """
        folder = Path(folder)
        tables = {
            "items": self.items.reset_index(),
            "outcomes": self.outcomes,
            "subjects": self.subjects.reset_index(),
            "notes": self.notes,
        }
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for name, table in tables.items():
                write_text(folder / f"{name}.csv", csv_text(table), DataError)
        except (OSError, UnicodeEncodeError) as error:
            raise DataError(f"{folder}: cannot be written ({error}); give another folder") from None

    def __repr__(self) -> str:
        columns = some(self.items.columns, _SHOWN) or "none"
        people = self.subjects.columns
        of_people = f", of subjects {some(people, _SHOWN)}" if len(people) else ""
        missing = int(self.outcomes["outcome"].isna().sum())
        without = f", {missing:,} of them ungraded" if missing else ""
        return (
            f"<Imported: {many(self.outcomes['subject'].nunique(), 'subject')}, "
            f"{many(len(self.items), 'item')} ({some(self.items.index, _SHOWN)}), "
            f"{many(len(self.outcomes), 'attempt')}{without}, properties {columns}{of_people}, "
            f"{many(len(self.notes), 'note')}>"
        )
