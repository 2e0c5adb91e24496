"""Cells of outcomes as numbers: 0 and 1, words such as pass and fail, and counts such as 9/12."""

import re
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from ..common.errors import DataError
from ..linking.real import real
from .tables import is_missing

_PAIRS = (
    *(("yes", "no"), ("y", "n"), ("true", "false"), ("t", "f"), ("pass", "fail")),
    *(("passed", "failed"), ("correct", "incorrect"), ("right", "wrong")),
    ("success", "failure"),
)
WORDS = {word: float(won) for pair in _PAIRS for word, won in zip(pair, (1, 0), strict=True)}
"""Outcomes by word, in lower case."""

KNOWN = f"in upper or lower case: {', '.join(map('/'.join, _PAIRS))}"
"""The words, for messages."""

ABSENT = ("", "na", "n/a", "nan", "null", "none")
"""Texts of cells without a value, in lower case."""

_COUNTS = re.compile(r"(\d{1,15})\s*(?:/|of)\s*(\d{1,15})")

type Values = Mapping[object, float | None]


class Answers(NamedTuple):
    """Cells of outcomes, read.

    Attributes
    ----------
    value, trials : ndarray of float
        Outcome, or successes of so many trials; NaN where there is none, or a cell states none.
    foreign : ndarray of bool
        Whether a cell is something else.
    texts : dict of str to (float, int)
        Outcome of each text that is no number, and how many cells have it.
    """

    value: np.ndarray
    trials: np.ndarray
    foreign: np.ndarray
    texts: dict[str, tuple[float, int]]


def read_answers(
    cells: np.ndarray,
    values: Values | None = None,
    words: Mapping[str, float] = WORDS,
) -> Answers:
    """Read cells as outcomes, each kind of cell once.

    Parameters
    ----------
    cells : ndarray, shape (cells,)
        Numbers, texts or other objects.
    values : mapping, optional
        Outcome, or None for no attempt, by cell; these are read first. If it has one outcome and
        the cells have one other text that is unknown, that text is the other outcome.
    words : mapping of str to float
        Outcomes by word, in lower case.

    Returns
    -------
    Answers
        Arrays with the shape of `cells`.

    Raises
    ------
    DataError
        When `values` has something other than 0 to 1 or None.

    Examples
    --------
    >>> cells = np.array(["Y", " fail ", "9/12", None, "maybe"], dtype=object)
    >>> answers = read_answers(cells)
    >>> answers.value, answers.trials
    (array([ 1.,  0.,  9., nan, nan]), array([nan, nan, 12., nan, nan]))
    >>> answers.foreign
    array([False, False, False, False,  True])
    >>> read_answers(np.array(["mild", "severe"], dtype=object), {"severe": 1}).value
    array([0., 1.])
    """
    outcomes = _outcomes_by_cell(values)
    if cells.dtype.kind in "biuf" and not outcomes:
        return Answers(cells.astype(float), cells * np.nan, np.zeros(len(cells), bool), {})
    keys = pd.Series([_distinct(cell) for cell in cells], dtype=object)
    code, kinds = pd.factorize(keys)
    read = [_read(kind, outcomes, words) for _, kind in kinds]
    unknown = [number for number, pair in enumerate(read) if pair is None]
    stated = {outcome for outcome in outcomes.values() if outcome is not None}
    if len(unknown) == len(stated) == 1 and isinstance(kinds[unknown[0]][1], str):
        read[unknown[0]] = 1 - stated.pop(), np.nan
    pairs = np.array([pair or (np.nan, np.nan) for pair in read]).reshape(-1, 2)
    foreign = np.array([pair is None for pair in read], dtype=bool)
    sizes = np.bincount(code, minlength=len(kinds))
    texts = {
        kind: (pair[0], int(size))
        for (_, kind), pair, size in zip(kinds, pairs, sizes, strict=True)
        if isinstance(kind, str) and _number(kind) is None and np.isnan(pair[1]) and pair[0] >= 0
    }
    return Answers(pairs[code, 0], pairs[code, 1], foreign[code], texts)


def no_numbers(table: pd.DataFrame, foreign: np.ndarray) -> tuple[np.ndarray, str]:
    """Choose the cells to name in an error about cells that are no numbers.

    One bad cell turns all cells of its column to text; only the bad one is named.

    Parameters
    ----------
    table : DataFrame
        Columns of any kind.
    foreign : ndarray of bool
        Cells that are no numbers, as `read_numbers` finds them.

    Returns
    -------
    bad : ndarray of bool
        Cells whose text is no number either; all cells if each is a number written as text.
    remark : str
        Remark on the number of other cells.

    Examples
    --------
    >>> cells = pd.DataFrame({"size": ["1", "nan#12", "3"]})
    >>> bad, remark = no_numbers(cells, np.array([[True], [True], [True]]))
    >>> bad.ravel(), remark
    (array([False,  True, False]), ' (2 more are numbers, but written as text)')
    """
    texts = table.map(lambda cell: isinstance(cell, str) and _number(cell) is not None)
    bad = foreign & ~texts.to_numpy(dtype=bool)
    if not bad.any():
        return foreign, ""
    rest = int(foreign.sum() - bad.sum())
    return bad, f" ({rest} more are numbers, but written as text)" if rest else ""


def _outcomes_by_cell(values: Values | None) -> dict[object, float | None]:
    outcomes: dict[object, float | None] = {}
    for cell, to in (values or {}).items():
        outcome = real(to)
        if to is not None and (outcome is None or not 0 <= outcome <= 1):
            raise DataError(
                f"values: {cell!r} is to be {to!r}; give an outcome from 0 to 1, or None where "
                "there was no attempt"
            )
        outcomes[_key(cell)] = outcome
    return outcomes


def _distinct(cell: object) -> tuple[type, object]:
    """Return what is equal for equal cells only; True is not 1, and all lists are one."""
    if is_missing(cell):
        return type(None), None
    if isinstance(cell, str | int | float | np.generic):
        return type(cell), cell
    number = real(cell)
    return (object, ...) if number is None else (float, number)


def _key(cell: object) -> str | float | None:
    """Write a cell so that 5, 5.0 and "5" are one, and capitals and blanks do not matter."""
    if isinstance(cell, str):
        number = _number(cell)
        return " ".join(cell.lower().split()) if number is None else number
    return float(cell) if isinstance(cell, np.bool) else real(cell)


def _read(
    cell: object, outcomes: Mapping[object, float | None], words: Mapping[str, float]
) -> tuple[float, float] | None:
    """Read one cell as an outcome, or as successes and trials; None if it is something else."""
    if cell is None:
        return np.nan, np.nan
    key = _key(cell)
    if key in outcomes:
        outcome = outcomes[key]
        return np.nan if outcome is None else outcome, np.nan
    if isinstance(key, str):
        counts = _COUNTS.fullmatch(key)
        if counts:
            return float(counts[1]), float(counts[2])
        if key in words or key in ABSENT:
            return words.get(key, np.nan), np.nan
        return None
    return None if key is None else (key, np.nan)


def _number(text: str) -> float | None:
    """Read a finite number; Python alone would also read 1_0."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if np.isfinite(number) and "_" not in text else None
