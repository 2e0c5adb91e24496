"""Columns of one kind: numbers, truth values or texts."""

import sys
from collections.abc import Sequence

import numpy as np
import pandas as pd

from ..tables import is_missing
from .notes import Notes

_TRUTH = {"True": True, "true": True, "False": False, "false": False}
_MISSING = (None, "NA", "N/A", "NaN", "nan", "null", "None")


def tidy(items: pd.DataFrame, notes: Notes, *, written: bool = False) -> pd.DataFrame:
    """Make every column numbers, truth values or texts, as a CSV file gives them back.

    Texts that are all numbers become numbers, mixed cells become texts; an empty text is missing.

    Parameters
    ----------
    items : DataFrame
        Indexed by item.
    notes : Notes
        Told of columns that changed.
    written : bool
        Whether all cells are texts because the file holds nothing else; then numbers among them
        are no change.

    Returns
    -------
    DataFrame
        A new one; a column `item` is renamed, since the items' names are called so.

    Examples
    --------
    >>> items = pd.DataFrame({"size": ["1", "2"], "kind": ["a", 3]}, index=["x", "y"])
    >>> tidy(items, Notes()).to_dict("list")
    {'size': [1, 2], 'kind': ['a', '3']}
    """
    columns: dict[str, pd.Series] = {}
    for place, name in enumerate(map(str, items.columns)):
        told = name
        while told in ("item", *columns):
            told = f"feature.{told}"
        if told != name:
            notes.add("renamed: a field whose name is taken", f"{name} is {told}")
        columns[told] = _tidy(items.iloc[:, place], told, notes, written)
    return pd.DataFrame(columns, index=items.index)


def _tidy(column: pd.Series, name: str, notes: Notes, written: bool) -> pd.Series:
    """Find the one kind that all cells have."""
    cells = [_plain(cell) for cell in column.astype(object)]
    there = [cell for cell in cells if cell is not None]
    numbers = [cell for cell in cells if isinstance(cell, int | float | None)]
    if len(numbers) == len(cells) and not any(isinstance(cell, bool) for cell in cells):
        return _numbers(numbers, column.index)
    if all(isinstance(cell, bool) for cell in there):
        return _truth(cells, column.index)
    texts = [None if cell is None else str(cell) for cell in cells]
    read = _from_texts(texts, column.index)
    kind = "texts" if read is None else "truth values" if read.dtype == bool else "numbers"
    if read is not None and not written:
        notes.add(f"mapped: texts of {name} read as {kind}", there[0], len(there))
    if read is None and not all(isinstance(cell, str) for cell in there):
        notes.add(f"mapped: {name} holds several kinds of values, read as texts", there[0])
    return pd.Series(texts, column.index, dtype="str") if read is None else read


def _from_texts(texts: list[str | None], index: pd.Index) -> pd.Series | None:
    """Read texts as truth values or numbers if all of them are."""
    if all(text is None or text in _TRUTH for text in texts):
        return _truth([_TRUTH.get(text or "") for text in texts], index)
    try:
        return _numbers([None if text in _MISSING else _number(str(text)) for text in texts], index)
    except (ValueError, OverflowError):
        return None


def _number(text: str) -> int | float:
    """Read a number as data files write it; Python alone would also read 1_000."""
    if "_" in text:
        raise ValueError(text)
    try:
        return int(text)
    except ValueError:
        return float(text)


def _truth(cells: Sequence[object], index: pd.Index) -> pd.Series:
    complete = all(cell is not None for cell in cells)
    values = [np.nan if cell is None else cell for cell in cells]
    return pd.Series(values, index, dtype=bool if complete else float)


def _numbers(cells: Sequence[float | None], index: pd.Index) -> pd.Series:
    """Make a column of whole numbers if all are, and few enough digits that they stay exact."""
    values = pd.Series([np.nan if cell is None else float(cell) for cell in cells], index)
    whole = len(cells) > 0 and all(isinstance(cell, int) for cell in cells)
    return values.astype("int64") if whole and values.abs().max() < 2**53 else values.astype(float)


def _plain(cell: object) -> bool | int | float | str | None:
    """Turn a cell into Python's own; missing and empty ones into None."""
    if is_missing(cell) or cell == "":
        return None
    if isinstance(cell, np.generic):
        cell = cell.item()
    if isinstance(cell, int) and abs(cell) > sys.float_info.max:
        return str(cell)
    return cell if isinstance(cell, bool | int | float | str) else str(cell)
