"""Readers of files and tables with one rater's levels."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..common.errors import AnnotationError
from ..common.messages import some
from .demand_table import DemandTable
from .inputs import read_columns


def ascending(levels: Sequence[float]) -> tuple[float, ...]:
    """Read the levels of a scale.

    Raises
    ------
    AnnotationError
        When there are fewer than two, or they do not ascend.
    """
    found = tuple(float(level) for level in levels)
    if len(found) < 2 or not np.isfinite(found).all() or (np.diff(found) <= 0).any():
        raise AnnotationError(
            f"levels={some(levels)}; give at least two numbers that ascend, such as range(6)"
        )
    return found


def table_of(
    rater: str, given: "str | Path | pd.DataFrame | DemandTable", item: str | Sequence[str] | None
) -> tuple[pd.DataFrame, int]:
    """Read a rater's levels by item, and the number of the first row.

    Raises
    ------
    AnnotationError
        When a file cannot be read, a column is missing, an item or a column occurs twice, or
        there are no levels.
    """
    first = 1
    if isinstance(given, DemandTable):
        said = {
            name: each.table["level"]
            for name, each in given.annotations.items()
            if "level" in each.table
        }
        table = pd.DataFrame(said)
    elif isinstance(given, pd.DataFrame):
        table = given if item is None else _named(rater, given, item)
    else:
        try:
            read = pd.read_csv(given, dtype=str, keep_default_na=False)
        except (OSError, ValueError) as error:
            raise AnnotationError(f"rater {rater!r}: cannot read {given} ({error})") from error
        table, first = _named(rater, read, read.columns[0] if item is None else item), 2
    table = table.set_axis([str(name) for name in table.index]).rename(columns=_code)
    for names, what in ((table.index, "item"), (table.columns, "column")):
        if names.has_duplicates:
            raise AnnotationError(
                f"rater {rater!r}: the {what} {names[names.duplicated()][0]!r} occurs twice; "
                f"give it once{', or more columns that name items' * (what == 'item')}"
            )
    if table.empty:
        raise AnnotationError(f"rater {rater!r}: there are no levels; give at least one column")
    return table, first


def _named(rater: str, table: pd.DataFrame, item: str | Sequence[str]) -> pd.DataFrame:
    """Index a table by the columns that name items."""
    columns = [item] if isinstance(item, str) else list(item)
    table = read_columns(table, f"rater {rater!r}", columns)
    names = table[columns[0]].astype(str)
    for column in columns[1:]:
        names = names + "/" + table[column].astype(str)
    return table.drop(columns=columns).set_axis(names)


def _code(column: object) -> str:
    """Return the name of a column's dimension: ``code`` for ``demand[code]``, else the column's."""
    name = str(column)
    return name[7:-1] if name.startswith("demand[") and name.endswith("]") else name


def numbers_of(
    table: pd.DataFrame, levels: tuple[float, ...]
) -> tuple[pd.DataFrame, list[tuple[int, str, str]]]:
    """Read levels, and list the row, column and text of each cell without one."""
    numbers = table.apply(pd.to_numeric, errors="coerce")
    numbers = numbers.where(numbers.isin(levels)).astype(float)
    rows, columns = np.nonzero(numbers.isna().to_numpy())
    found: list[Any] = [table.iat[row, column] for row, column in zip(rows, columns, strict=True)]
    texts = ["" if pd.isna(value) else str(value) for value in found]
    return numbers, list(zip(rows.tolist(), table.columns[columns], texts, strict=True))
