"""Tables that commands read: items, subjects and outcomes."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from ..common.errors import DataError
from ..evaluations.evaluation import Evaluation
from ..evaluations.logs.table import read_table
from ..evaluations.notes import Notes
from ..evaluations.opening import read_properties as read_file_of_properties
from ..evaluations.properties import joined
from ..evaluations.steps import expanded
from ..evaluations.table_files import read_file
from ..evaluations.tables import NAMING, known_names, need_columns
from ..layouts import Graded, Layout
from .options import FITTED_DATA, ITEMS, SUBJECTS, Data, FittedData, Tables
from .printing import say

if TYPE_CHECKING:
    from ..evaluations.logs.imported import Imported
    from ..inference.fit import Fit


def read_evaluation(layout: Layout, data: Data | FittedData) -> Evaluation:
    """Read outcomes and properties of items and subjects; print changes to standard error.

    Parameters
    ----------
    layout : Layout
        What declares the outcomes.
    data : Data or FittedData
        Files, and names of columns.

    Returns
    -------
    Evaluation
        Of all outcomes.

    Raises
    ------
    DataError
        When they cannot be read, or are not those of the layout.
    """
    names, outcomes = [outcome.name for outcome in layout.outcomes], data.outcomes or []
    files = dict(text.split("=", 1) for text in outcomes if text.partition("=")[0] in names)
    if len(names) == len(outcomes) == 1:
        files = files or {names[0]: outcomes[0]}
    if len(outcomes) != len(files) or set(files) != set(names):
        wanted = " ".join(f"{name}=FILE" for name in names)
        raise DataError(f"layout {layout.name!r} takes --outcomes {wanted}; give one file for each")
    if layout.steps is None:
        return read_outcomes(replace(data, outcomes=[*files.values()]))
    if data.items is None:
        raise DataError(f"the outcomes of layout {layout.name!r} need the items, as --items")
    rows: dict[str, pd.DataFrame] = {}
    people = pd.DataFrame()
    for outcome in layout.outcomes:
        path = Path(files[outcome.name])
        if isinstance(outcome, Graded):  # by name or number
            columns = [data.subject, data.item, data.outcome]
            table = read_file(path)
            need_columns(table.columns, columns, f"{path}, of grades, has", NAMING)
            rows[outcome.name] = table[columns].set_axis(["subject", "item", "outcome"], axis=1)
        else:
            imported = read_one_table(path, data)
            print_notes(imported)
            rows[outcome.name] = imported.table()
            people = joined(people, imported.subjects, "subject")
    if data.subject_table is not None:
        people = read_properties(data.subject_table, "subject", data.subject)
    else:  # grades have no properties of their subjects
        people = people.reindex(pd.concat(rows)["subject"].map(str).unique())
    items = read_properties(data.items, "item")
    return Evaluation.of_outcomes(layout, rows, items, subjects=people)


def read_outcomes(data: Data | FittedData) -> Evaluation:
    """Read outcomes of 0 and 1 from one file."""
    if data.outcomes is None or len(data.outcomes) != 1:
        raise DataError("outcomes without a layout are one table; give one file as --outcomes")
    imported = read_one_table(Path(data.outcomes[0]), data)
    print_notes(imported)
    return imported.evaluation()


def read_one_table(path: Path, tables: Tables) -> "Imported":
    """Read successes or scores, with the properties of items and subjects."""
    return read_table(
        path,
        tables.items,
        subjects=tables.subject_table,
        subject=tables.subject,
        item=tables.item,
        outcome=tables.outcome,
    )


def read_properties(path: Path, kind: str, column: str = "") -> pd.DataFrame:
    """Read properties of items or subjects, indexed by a column, or else by the first one.

    Parameters
    ----------
    path : Path
        The file.
    kind : {"item", "subject"}
        What has a row.
    column : str, optional
        Name of the column with their names (default: the kind).

    Returns
    -------
    DataFrame
        The properties.

    Raises
    ------
    DataError
        When they cannot be read.
    """
    return read_file_of_properties(path, column or kind, kind, Notes())


def print_notes(imported: "Imported") -> None:
    """Print to standard error what an import dropped, mapped, renamed or averaged."""
    for what, count, example in imported.notes[["what", "count", "example"]].to_numpy().tolist():
        say(f"{what}: {count}" + f" (such as {example})" * bool(example), error=True)


def fitted_evaluation(fit: "Fit", path: Path, data: FittedData = FITTED_DATA) -> Evaluation:
    """Read the data of a fit, from the named files or else from the fit's folder.

    Raises
    ------
    DataError
        When the fit lies alone and no file is named, or the items are not the fit's.
    """
    if data.outcomes:
        return read_evaluation(fit.layout, data)
    items, subjects = data.items or path / ITEMS, data.subject_table or path / SUBJECTS
    if not (data.items or items.is_file()):
        raise DataError(f"{path} has no {ITEMS}; give the items with all properties as --items")
    table = read_properties(items, "item")
    if fit.layout.steps is not None:
        table = expanded(fit.layout.steps, table)
    table = table.loc[known_names(fit.item_names, table.index, "item")]
    people = None
    if data.subject_table or subjects.is_file():  # a fit that lies alone has none
        people = read_properties(subjects, "subject", data.subject)
    index = pd.Index(fit.subjects, name="subject", dtype="str")
    return Evaluation.of_cells(table, index, fit.coded, subjects=people)
