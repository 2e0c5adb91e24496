"""File of an adaptive test: its layout, bank and options, and then a line for every call."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from ...common.errors import FitError
from ...common.files import write_text

_FORMAT = 1
_KIND = "adaptive test"


@dataclass(eq=False)
class Journal:
    """Record of a test, in memory and, with a path, on disk.

    A line is on the disk before the call that wrote it returns. An incomplete line, which a killed
    process was writing, is left out: its call did not return.

    Attributes
    ----------
    begun : dict of str to object
        Layout, bank and options.
    events : list of dict
        Items that were asked, and answers.
    path : Path or None
        File of the test.
    """

    begun: Mapping[str, Any]
    events: list[dict[str, Any]] = field(default_factory=list)
    path: Path | None = None

    def add(self, **event: Any) -> None:
        """Write a line to the disk, and add it to the events.

        Raises
        ------
        FitError
            When it cannot be written; the events are then unchanged.
        """
        if self.path is not None:
            try:
                with self.path.open("a", encoding="utf-8", newline="") as file:
                    file.write(json.dumps(event) + "\n")
                    file.flush()
                    os.fsync(file.fileno())
            except OSError as error:
                raise FitError(
                    f"cannot write to {self.path}: {error.strerror}; make room or restore the "
                    "file, then load the test from it"
                ) from error
        self.events.append(event)

    def save(self, path: Path) -> None:
        """Write all lines to a file, completely or not at all."""
        first = {"format": _FORMAT, "kind": _KIND, **self.begun}
        lines = [json.dumps(line) for line in (first, *self.events)]
        write_text(path, "".join(f"{line}\n" for line in lines))

    @classmethod
    def read(cls, path: Path) -> "Journal":
        """Read a file, which further calls write to.

        Raises
        ------
        FitError
            When there is no such file, or it is no test.
        """
        try:
            text = path.read_text(encoding="utf-8")
        except FileNotFoundError as error:
            raise FitError(f"there is no file {path}; begin one with path=") from error
        except (OSError, UnicodeDecodeError) as error:
            raise FitError(f"cannot read {path}: {error}; give the file of a test") from error
        lines = text.split("\n")
        torn = lines.pop()
        try:
            begun, *events = map(json.loads, lines)
            if begun.pop("kind") != _KIND:
                raise ValueError("it is of another kind")
            written = int(begun.pop("format"))
        except (ValueError, KeyError, AttributeError, TypeError) as error:
            raise FitError(
                f"{path} is no adaptive test, or damaged ({error}); give a file that "
                "AdaptiveTest wrote"
            ) from error
        if written != _FORMAT:
            raise FitError(
                f"{path} has format {written}, and this version of measurement-layouts reads "
                f"format {_FORMAT}; read it with the version that wrote it, or begin again"
            )
        found = cls(begun, events, path)
        if torn:
            found.save(path)
        return found


def write_table(table: pd.DataFrame) -> dict[str, Any]:
    """Write a table as plain lists."""
    return {
        "index": list(table.index),
        "columns": {str(name): _plain(table[name]) for name in table.columns},
    }


def read_table(written: Mapping[str, Any]) -> pd.DataFrame:
    """Read what `write_table` wrote."""
    return pd.DataFrame(written["columns"], index=written["index"])


def _plain(column: pd.Series) -> list[Any]:
    """Write a column's values as numbers, truth values, nothing or texts."""
    kept = bool | int | float | str
    return [
        cell if isinstance(cell, kept) else None if pd.isna(cell) else str(cell)
        for cell in column.tolist()
    ]
