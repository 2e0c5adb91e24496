"""Cells of long tables: names become texts, words are known ones, numbers are in range."""

from collections.abc import Callable, Iterable, Sequence

import numpy as np
import pandas as pd

from ..errors import DataError
from ..tables import is_missing, need_columns, read_numbers
from ..wording import some

_NAMES = (str, int, float, np.number)


def need_table(table: object, what: str, columns: Sequence[str]) -> pd.DataFrame:
    """Take a table that has some columns, once each, and at least one row."""
    if not isinstance(table, pd.DataFrame):
        raise DataError(f"{what}: this is a {type(table).__name__}; give a pandas DataFrame")
    need_columns(table.columns, columns, f"the table of {what} has")
    if table.empty:
        raise DataError(f"{what}: the table has no rows; give at least one, or leave it out")
    return table


def one_row_each(table: object, what: str, kind: str) -> pd.DataFrame:
    """Index a table by the names in the column `kind`, or by its index when that bears the name."""
    if isinstance(table, pd.DataFrame) and kind not in table.columns and table.index.name == kind:
        table = table.reset_index()
    checked = need_table(table, what, [kind])
    names = pd.Index(names_in(checked, kind, what), name=kind, dtype="str")
    refuse_twice(checked, names, what, [kind], f"give each {kind} one row")
    return checked.drop(columns=kind).set_axis(names, axis=0)


def names_in(table: pd.DataFrame, column: str, what: str) -> np.ndarray:
    """Read a column of names as texts; a number becomes its text."""
    cells = table[column]
    if cells.dtype == object:
        foreign = [not (isinstance(cell, _NAMES) or is_missing(cell)) for cell in cells]
        _refuse(table, np.array(foreign), column, what, "give a text or a number")
    codes, names = pd.factorize(cells)
    _refuse(table, codes < 0, column, what, "give a text or a number")
    return np.array([str(name) for name in names], object)[codes]


def words_in(
    table: pd.DataFrame, column: str, what: str, words: Sequence[str], missing: str = ""
) -> np.ndarray:
    """Read a column of words as their places among `words`, in upper or lower case."""
    choice = ", ".join(repr(word) for word in words)
    cells = table[column]
    if cells.dtype == object:
        foreign = [not (isinstance(cell, str) or is_missing(cell)) for cell in cells]
        _refuse(table, np.array(foreign), column, what, f"give one of {choice}")
    codes, found = pd.factorize(cells)
    places = {word: place for place, word in enumerate(words)}
    known = [places.get(word.lower(), -1) if isinstance(word, str) else -1 for word in found]
    result = np.array([*known, places.get(missing, -1)])[codes]
    _refuse(table, result < 0, column, what, f"give one of {choice}")
    return result


def numbers_in(
    table: pd.DataFrame,
    column: str,
    what: str,
    fits: Callable[[np.ndarray], np.ndarray],
    need: str,
) -> np.ndarray:
    """Read a column of numbers that fit; what is missing or no number is NaN and does not."""
    values, _ = read_numbers(table[[column]])
    numbers = values[:, 0]
    _refuse(table, ~fits(numbers), column, what, need)
    return numbers


def refuse_unknown(
    table: pd.DataFrame, names: np.ndarray, known: pd.Index, what: str, kind: str, source: str
) -> None:
    """Refuse names that another table does not have."""
    unknown = ~pd.Index(names).isin(known)
    if unknown.any():
        raise DataError(
            f"{what}: {len(set(names[unknown]))} {kind}(s) that {source} does not have: "
            f"{_places(table, unknown, names)}; add what is missing to {source}, or drop those rows"
        )


def refuse_twice(
    table: pd.DataFrame, keys: pd.Index, what: str, kinds: Sequence[str], remedy: str
) -> None:
    """Refuse keys that occur more than once."""
    twice = keys.duplicated(keep=False)
    if twice.any():
        key = keys[twice][0]
        each = key if isinstance(key, tuple) else (key,)
        said = ", ".join(f"{kind} {name!r}" for kind, name in zip(kinds, each, strict=True))
        more = keys[twice].nunique() - 1
        raise DataError(
            f"{what}: {said} in {_rows(table, [other == key for other in keys])}"
            f"{f', and {more} more like that' if more else ''}; {remedy}"
        )


def _refuse(table: pd.DataFrame, bad: np.ndarray, column: str, what: str, need: str) -> None:
    if bad.any():
        cells = table[column].astype(object).to_numpy()
        raise DataError(
            f"{what}, column {column!r}: {int(bad.sum())} cell(s) cannot be used: "
            f"{_places(table, bad, cells)}; {need}"
        )


def _places(table: pd.DataFrame, bad: np.ndarray, cells: Iterable[object]) -> str:
    shown = [
        f"{table.index.name or 'row'} {row} has {'nothing' if is_missing(cell) else repr(cell)}"
        for row, cell, is_bad in zip(table.index, cells, bad, strict=True)
        if is_bad
    ]
    return some(shown)


def _rows(table: pd.DataFrame, chosen: list[bool]) -> str:
    return f"{table.index.name or 'row'}s {some(table.index[chosen])}"
