"""Tables as JSON lines: one object per row, one file per table of a study."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from ..common.errors import DataError
from ..common.files import write_text
from ..common.messages import some
from ..evaluations.logs.files import json_lines

# the tables of a study, and whether each needs a file
FILES = {"scenarios": True, "votes": True, "samples": False, "ratings": False, "raters": False}


def write_study(folder: Path, tables: Mapping[str, pd.DataFrame]) -> None:
    """Write the study's tables that are not empty; a named index is written as fields."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"cannot make {folder}: {error.strerror}; give another folder") from error
    paths = {folder / f"{name}.jsonl": tables[name] for name in FILES if not tables[name].empty}
    if existing := [path.name for path in paths if path.exists()]:
        raise DataError(
            f"{folder} has {some(existing)} already; give another folder, or delete them"
        )
    for path, table in paths.items():
        write(path, table if table.index.names == [None] else table.reset_index())


def read_study(folder: Path) -> dict[str, Any]:
    """Read the files of a study; the table of an optional file that does not exist is None."""
    paths = {name: folder / f"{name}.jsonl" for name in FILES}
    return {
        name: read(path) if FILES[name] or path.exists() else None for name, path in paths.items()
    }


def write(path: Path, table: pd.DataFrame) -> None:
    """Write a table's columns, one row per line; a missing cell becomes null.

    Parameters
    ----------
    path : Path
        Path of the file, which is overwritten.
    table : DataFrame
        Table of texts, numbers, truth values and lists of those. Its index is not written.

    Raises
    ------
    DataError
        When the file cannot be written, or a cell cannot be written as JSON.
    """
    lines = []
    cells = table.astype(object).where(table.notna(), None)
    for row, record in enumerate(cells.to_dict("records")):
        try:
            lines.append(json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n")
        except (TypeError, ValueError) as error:
            raise DataError(
                f"row {row} cannot be written into {path.name}: {error}; turn the cell into a text "
                "or a finite number, or drop the column"
            ) from error
    write_text(path, "".join(lines), DataError)


def read(path: Path) -> pd.DataFrame:
    """Read a table whose rows are indexed by the lines of the file.

    Parameters
    ----------
    path : Path
        Path of the file. Empty lines are ignored.

    Returns
    -------
    DataFrame
        Table with the index `line`, counted from 1; fields that a line lacks are missing.

    Raises
    ------
    DataError
        When the file cannot be read, is empty, or a line is not a JSON object.
    """
    records = dict(json_lines(path))
    return pd.DataFrame(list(records.values()), pd.Index(list(records), name="line"))
