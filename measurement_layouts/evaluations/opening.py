"""Tables of items, subjects and outcomes as they are given: data frames or files."""

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from ..common.errors import DataError
from ..common.given import kind_of
from ..common.messages import some
from ..common.names import plain
from .notes import Notes
from .properties import typed, without_lists
from .table_files import read_file
from .tables import is_missing, named, refuse_broken, written

type Table = str | Path | pd.DataFrame


def opened(source: object, names: Sequence[str], where: str, notes: Notes) -> pd.DataFrame:
    """Read a file, or take a data frame; levels of its index with these names are columns, too.

    Raises
    ------
    DataError
        When it is no table, has no rows, columns repeat, or there is half a character.
    """
    if isinstance(source, str | Path):
        table, where = read_file(Path(source), names), str(source)
        table.attrs["file"] = True
    elif isinstance(source, pd.DataFrame):
        if source.columns.nlevels > 1:
            raise DataError(
                f"{where}: the names of columns have {source.columns.nlevels} levels; give each "
                "column one name, as in table.columns = ['size', ...]"
            )
        levels = [plain(name) if isinstance(name, str) else name for name in source.index.names]
        table = source.set_axis(source.index.set_names(levels), axis=0)
        inside = [name for name in names if name in levels and name not in source.columns]
        for name in inside:
            written(table.index.get_level_values(name), f"{where}, {name}")
        table = table.reset_index(inside)
    else:
        raise DataError(f"{where}: this is {kind_of(source)}; give a path or a pandas DataFrame")
    refuse_broken(table, list(map(str, range(len(table)))), where, "row")
    table = table.set_axis(notes.names(table.columns), axis=1)
    twice = [name for name in table.columns[table.columns.duplicated()] if not is_nameless(name)]
    if twice:
        raise DataError(f"{where}: the column(s) {some(twice)} occur more than once; rename them")
    return table


def read_properties(source: Table, column: str, kind: str, notes: Notes) -> pd.DataFrame:
    """Read a table of items or subjects, indexed by their names.

    These are in the column of this name, or else in the first column of a file or the index of a
    data frame.
    """
    table = opened(source, [column], f"{kind}s", notes)
    first = table.columns[:1].tolist()
    if column in table.columns:
        table = table.set_index(column)
    elif first and (
        "file" in table.attrs
        or (is_numbered(table) and is_nameless(first[0]) and not count_rows(table.iloc[:, 0]))
    ):
        table = table.set_index(first[0])
    table = named_columns(table, notes)
    names = pd.Index(notes.names(table.index), dtype=object)  # maybe with half a character
    checked = named(table.set_axis(names, axis=0), f"{kind}s", kind)
    checked = notes.levels(without_lists(checked, notes))
    return typed(checked, notes, written="file" in table.attrs)


def named_columns(table: pd.DataFrame, notes: Notes) -> pd.DataFrame:
    """Leave out columns without a name, and an index that was written as a column."""
    drop = []
    for column, name in enumerate(table.columns):
        is_index = name in ("index", "level_0") and count_rows(table.iloc[:, column])
        drop.append(is_nameless(name) or is_index)
    if any(drop):
        names = some(map(repr, table.columns[drop]))
        notes.add("dropped: columns without a name", names, sum(drop))
    return table.loc[:, ~np.array(drop, dtype=bool)]


def is_numbered(table: pd.DataFrame) -> bool:
    """Whether rows have no names, but the numbers that pandas gives them."""
    return table.index.name is None and table.index.equals(pd.RangeIndex(len(table)))


def is_nameless(name: object) -> bool:
    """Whether a column has no name, or the one that pandas gives to a column without a name."""
    if not isinstance(name, str):
        return is_missing(name)
    return not name or re.fullmatch(r"Unnamed: \d+(_level_\d+)?", name) is not None


def count_rows(column: pd.Series) -> bool:
    """Whether the cells are the numbers of the rows, from 0 or 1."""
    numbers = pd.to_numeric(column.astype(object), errors="coerce").to_numpy(dtype=float)
    return any((numbers == np.arange(len(column)) + first).all() for first in (0, 1))
