"""Tables that commands read: items and outcomes."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from ..inference.data import Evaluation
from ..inference.errors import DataError
from ..inference.logs.notes import Notes
from ..inference.logs.table import read_table
from ..inference.logs.table_files import read_file
from ..inference.logs.tidy import tidy
from ..inference.tables import known_names, named
from .fit_folder import FitFolder

if TYPE_CHECKING:
    from ..inference.logs.imported import Imported
    from ..inference.results import Fit


def read_evaluation(outcomes: Path, items: Path | None) -> Evaluation:
    """Read outcomes and the items' properties; what was dropped or mapped goes to standard error.

    Raises
    ------
    DataError
        When they cannot be read.
    """
    imported = read_table(outcomes, items)
    print_notes(imported)
    return imported.evaluation()


def read_items(path: Path) -> pd.DataFrame:
    """Read the items' properties alone, as `read_table` reads them.

    Returns
    -------
    DataFrame
        Indexed by the column ``item``, or else by the first one.

    Raises
    ------
    DataError
        When they cannot be read.
    """
    table = read_file(path)
    names = "item" if "item" in table.columns else table.columns[0]
    return tidy(named(table.set_index(names), "items", "item"), Notes())


def print_notes(imported: "Imported") -> None:
    """Say on standard error what an import dropped, mapped, renamed or averaged."""
    for what, count, example in imported.notes[["what", "count", "example"]].to_numpy().tolist():
        such = f" (such as {example})" if example else ""
        print(f"{what}: {count}{such}", file=sys.stderr)


def fitted_evaluation(
    fit: "Fit", path: Path, items: Path | None, outcomes: Path | None
) -> Evaluation:
    """Read what a fit was made on: from the files that are named, else from the fit's folder.

    Raises
    ------
    DataError
        When the fit lies alone and no file is named, or the items are not the fit's.
    """
    if outcomes is not None:
        return read_evaluation(outcomes, items)
    known = FitFolder(path).items
    if items is None and not known.is_file():
        raise DataError(
            f"{path} holds only the properties that its layout uses; give all of them as --items"
        )
    table = read_items(items or known)
    observed = fit.observed
    names = known_names(observed["item"].to_numpy(), table.index, "item")
    successes, trials = (
        pd.DataFrame(observed[name].to_numpy(), fit.subjects, names)
        for name in ("successes", "trials")
    )
    return Evaluation(table.loc[names], successes, trials)
