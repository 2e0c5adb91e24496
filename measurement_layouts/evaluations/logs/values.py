"""Values as logs and tables have them: scores become outcomes, columns become of one kind."""

import math
import sys
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from ...common.errors import DataError
from ...common.messages import some
from ...linking.errors import short
from ..tables import is_missing
from ..words import no_numbers
from .imported import Notes

# the values of inspect_ai.scorer.value_to_float; a test compares the two
GRADES = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0, "yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}


class ScoreReader:
    """Reads scores one by one, and refuses at the end what it could not read.

    Parameters
    ----------
    source : str
        Whose scores, for messages, such as "scorer match".
    values : mapping, optional
        Outcomes in [0, 1] of scores, before any other rule; None for a score that is no grade. A
        number may be given as text.
    words : mapping of str to float
        Outcomes of other texts, as they are written or in lower case.
    notes : Notes
        Notes, to which every mapping is added.
    remedy : str
        What to do about numbers outside [0, 1] and about foreign values.

    Raises
    ------
    DataError
        When `values` maps a score to a number outside [0, 1].

    Examples
    --------
    >>> reader = ScoreReader("scorer match", {"P": 1.0}, GRADES, Notes(), "map them with values")
    >>> [reader.read(score, "sums/1") for score in ("C", "P", 0.25, True, "yes")]
    [1.0, 1.0, 0.25, 1.0, 1.0]
    """

    def __init__(
        self,
        source: str,
        values: Mapping[str | float, float | None] | None,
        words: Mapping[str, float],
        notes: Notes,
        remedy: str,
    ) -> None:
        self._source, self._words, self._notes, self._remedy = source, words, notes, remedy
        self._values = {_key(score): _outcome(score, to) for score, to in (values or {}).items()}
        self._wrong: dict[str, list[str]] = {}

    def read(self, score: object, where: str, count: int = 1) -> float:
        """Read one score, which occurs `count` times; NaN where there is none."""
        if is_missing(score):
            return math.nan
        known = isinstance(score, str | int | float)
        outcome = self._mapped(score) if isinstance(score, str | int | float) else None
        if outcome is None or outcome < 0 or outcome > 1:
            what = "neither numbers nor known words" if outcome is None else "outside [0, 1]"
            shown = short(repr(score)) if known else type(score).__name__
            self._wrong.setdefault(what, []).extend([f"{short(where)} ({shown})"] * count)
            return math.nan
        if math.isnan(outcome):
            self._notes.add(f"mapped: {self._source}, {score!r} is no grade", where, count)
        elif isinstance(score, str | bool) or outcome != score:
            self._notes.add(f"mapped: {self._source}, {score!r} is {outcome:g}", where, count)
        return float(outcome)

    def check(self) -> None:
        """Refuse what could not be read.

        Raises
        ------
        DataError
            Naming whose scores, where they are, and what to do.
        """
        for what, cells in self._wrong.items():
            raise DataError(
                f"{self._source}: {len(cells)} value(s) are {what}: {some(dict.fromkeys(cells))}; "
                f"{self._remedy}"
            )

    def _mapped(self, score: str | float) -> float | None:
        """Find the outcome; None if it is unknown."""
        if _key(score) in self._values:
            return self._values[_key(score)]
        if not isinstance(score, str):
            return score
        return self._words.get(score, self._words.get(score.lower(), _as_number(score)))


def _key(score: str | float) -> str:
    """Write a score so that 5, 5.0 and "5" are one, and True is another than 1."""
    if isinstance(score, bool):
        return str(score)
    number = _as_number(score)
    return str(score) if number is None else repr(number)


def _as_number(score: str | float) -> float | None:
    try:
        number = float(score)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _outcome(score: object, to: object) -> float:
    if to is None:
        return math.nan
    if isinstance(to, int | float) and 0 <= to <= 1:
        return float(to)
    raise DataError(
        f"values: {score!r} is to be {to!r}; give an outcome in [0, 1], or None for no grade"
    )


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
        Whether all cells are texts because the file has no types; then numbers among them
        are no change.

    Returns
    -------
    DataFrame
        A new one; a column that has the name of the index, `item`, is renamed.

    Examples
    --------
    >>> items = pd.DataFrame({"size": ["1", "2"], "kind": ["a", 3]}, index=["x", "y"])
    >>> tidy(items, Notes()).to_dict("list")
    {'size': [1, 2], 'kind': ['a', '3']}
    """
    columns: dict[str, pd.Series] = {}
    for place, name in enumerate(map(str, items.columns)):
        told = name
        while told in (items.index.name or "item", *columns):
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
        notes.add(f"mapped: {name} has several kinds of values, read as texts", there[0])
    if read is None:
        _note_bad_cells(pd.Series(texts, column.index), name, notes)
    return pd.Series(texts, column.index, dtype="str") if read is None else read


def _note_bad_cells(texts: pd.Series, name: str, notes: Notes) -> None:
    """Say which cells keep a column from being numbers, where most of them are."""
    there = texts[~texts.isin(_MISSING)].to_frame()
    foreign, _ = no_numbers(there, np.ones(there.shape, dtype=bool))
    bad = there[foreign].iloc[:, 0] if 0 < 2 * foreign.sum() < len(there) else there.iloc[:0, 0]
    for item, text in bad.items():
        notes.add(f"read as texts: {name}, for cells that are no numbers", f"{item} ({text!r})")


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
