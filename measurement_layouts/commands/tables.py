"""Tables that commands read: items and outcomes."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from ..common.errors import DataError
from ..evaluations.evaluation import Evaluation
from ..evaluations.forms import Columns
from ..evaluations.logs.table import read_table
from ..evaluations.notes import Notes
from ..evaluations.opening import read_properties
from ..evaluations.properties import joined
from ..evaluations.steps import Rows, expanded
from ..evaluations.table_files import read_file
from ..evaluations.tables import NAMING, known_names, need_columns
from ..layouts import Graded, Layout
from .arguments import Data
from .fit_folder import FitFolder
from .saying import say

if TYPE_CHECKING:
    from ..evaluations.logs.imported import Imported
    from ..inference.fit import Fit


def read_evaluation(layout: Layout, data: Data) -> Evaluation:
    """Read outcomes and properties of items and subjects; print changes to standard error.

    Parameters
    ----------
    layout : Layout
        What declares the outcomes.
    data : Data
        The files.

    Returns
    -------
    Evaluation
        Of all outcomes.

    Raises
    ------
    DataError
        When they cannot be read, or are not those of the layout.
    """
    given = _by_outcome(layout, data.outcomes or [])
    files = {name: Path(path) for name, path in given.items()}
    if layout.steps is None:
        (path,) = files.values()
        return _imported(path, data).evaluation()
    if data.items is None:
        raise DataError(f"the outcomes of layout {layout.name!r} need the items, as --items")
    tables, people = {}, pd.DataFrame()
    for outcome in layout.outcomes:
        if isinstance(outcome, Graded):
            tables[outcome.name] = _grades(files[outcome.name], data.columns)
            continue
        imported = _imported(files[outcome.name], data)
        tables[outcome.name] = imported.table()
        people = joined(people, imported.subjects, "subject")
    if data.subjects is not None:
        people = _properties(data.subjects, "subject", data.columns[0])
    else:  # grades tell nothing of their subjects
        known = pd.concat([table["subject"].map(str) for table in tables.values()])
        people = people.reindex(known.unique())
    return Evaluation.of_outcomes(layout, tables, read_items(data.items), subjects=people)


def _by_outcome(layout: Layout, texts: Sequence[str]) -> dict[str, str]:
    """Read OUTCOME=FILE for each outcome of a layout; of a single one, FILE is enough."""
    names = [outcome.name for outcome in layout.outcomes]
    if len(names) == len(texts) == 1:
        return {names[0]: texts[0].removeprefix(f"{names[0]}=")}
    found = {name: value for name, _, value in (text.partition("=") for text in texts)}
    if len(found) < len(texts) or set(found) != set(names):
        wanted = " ".join(f"{name}=FILE" for name in names)
        raise DataError(f"layout {layout.name!r} takes --outcomes {wanted}; give one file for each")
    return found


def read_outcomes(data: Data) -> Evaluation:
    """Read outcomes of 0 and 1 without a layout, from one file."""
    if len(data.outcomes or []) != 1:
        raise DataError("outcomes without a layout are one table; give one file as --outcomes")
    (path,) = data.outcomes or []
    return _imported(Path(path), data).evaluation()


def _imported(path: Path, data: Data) -> "Imported":
    """Read successes or scores."""
    subject, item, outcome = data.columns
    imported = read_table(
        path, data.items, subjects=data.subjects, subject=subject, item=item, outcome=outcome
    )
    print_notes(imported)
    return imported


def _grades(path: Path, columns: Columns) -> pd.DataFrame:
    """Read grades by name or number, a row for each."""
    table = read_file(path)
    need_columns(table.columns, columns, f"{path}, of grades, has", NAMING)
    return table[list(columns)].set_axis(["subject", "item", "outcome"], axis=1)


def read_items(path: Path) -> pd.DataFrame:
    """Read the items' properties only, as `read_table` reads them.

    Returns
    -------
    DataFrame
        Indexed by the column ``item``, or else by the first one.

    Raises
    ------
    DataError
        When they cannot be read.
    """
    return _properties(path, "item", "item")


def read_people(path: Path) -> pd.DataFrame:
    """Read the subjects' properties only, as `read_items` reads those of items.

    Returns
    -------
    DataFrame
        Indexed by the column ``subject``, or else by the first one.

    Raises
    ------
    DataError
        When they cannot be read.
    """
    return _properties(path, "subject", "subject")


def _properties(path: Path, kind: str, column: str) -> pd.DataFrame:
    """Read properties of items or subjects, indexed by a column, or else by the first one."""
    return read_properties(path, column, kind, Notes())


def print_notes(imported: "Imported") -> None:
    """Print to standard error what an import dropped, mapped, renamed or averaged."""
    for what, count, example in imported.notes[["what", "count", "example"]].to_numpy().tolist():
        such = f" (such as {example})" if example else ""
        say(f"{what}: {count}{such}", error=True)


def fitted_evaluation(fit: "Fit", path: Path, data: Data) -> Evaluation:
    """Read the data of a fit, from the named files or else from the fit's folder.

    Raises
    ------
    DataError
        When the fit lies alone and no file is named, or the items are not the fit's.
    """
    if data.outcomes is not None:
        return read_evaluation(fit.layout, data)
    folder = FitFolder(path)
    if data.items is None and not folder.items.is_file():
        raise DataError(
            f"{path} holds only the properties that its layout uses; give all of them as --items"
        )
    table = read_items(data.items or folder.items)
    rows, steps = fit.item_names, fit.layout.steps
    if steps is not None:
        fitted = known_names(Rows.read(rows).items, table.index, "item")
        table = expanded(steps, table.loc[fitted])
    names = known_names(rows, table.index, "item")
    known = data.subjects or folder.subjects
    named_or_there = data.subjects is not None or known.is_file()  # a fit that lies alone has none
    people = _properties(known, "subject", data.columns[0]) if named_or_there else None
    who = pd.Index(fit.subjects, name="subject", dtype="str")
    return Evaluation.of_cells(table.loc[names], who, fit.coded, subjects=people)
