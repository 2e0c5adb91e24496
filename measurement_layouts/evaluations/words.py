"""Reading of outcomes as numbers, numbers written as text, and words."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from .tables import read_numbers

_PAIRS = (
    *(("yes", "no"), ("y", "n"), ("true", "false"), ("t", "f"), ("pass", "fail")),
    *(("passed", "failed"), ("correct", "incorrect"), ("right", "wrong")),
    ("success", "failure"),
)
WORDS = {word: float(won) for pair in _PAIRS for word, won in zip(pair, (1, 0), strict=True)}
"""Outcomes by word, in lower case."""

KNOWN = f"in upper or lower case: {', '.join(map('/'.join, _PAIRS))}"
"""The words, for messages."""


def read_outcomes(
    table: pd.DataFrame, words: Mapping[str, float] = WORDS
) -> tuple[np.ndarray, np.ndarray]:
    """Read cells as `read_numbers` does, and texts that are words or finite numbers.

    Parameters
    ----------
    table : DataFrame
        Columns of any kind.
    words : mapping of str to float
        Outcomes by word, in lower case.

    Returns
    -------
    values : ndarray of float
        NaN where a cell is missing or is no outcome.
    foreign : ndarray of bool
        Whether a cell is something else.

    Examples
    --------
    >>> values, foreign = read_outcomes(pd.DataFrame({"a": ["Y", " fail ", "1", None, "maybe"]}))
    >>> values.ravel(), foreign.ravel()
    (array([ 1.,  0.,  1., nan, nan]), array([False, False, False, False,  True]))
    """
    values, foreign = read_numbers(table)
    read: dict[str, float | None] = {}
    for column in range(table.shape[1]):
        if not foreign[:, column].any():
            continue
        for row, cell in enumerate(table.iloc[:, column].to_numpy(dtype=object)):
            if not isinstance(cell, str):
                continue
            if cell not in read:
                read[cell] = _outcome(cell, words)
            outcome = read[cell]
            if outcome is not None:
                values[row, column], foreign[row, column] = outcome, False
    return values, foreign


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
    bad = foreign & read_outcomes(table, {})[1]
    if not bad.any():
        return foreign, ""
    rest = int(foreign.sum() - bad.sum())
    return bad, f" ({rest} more are numbers, but written as text)" if rest else ""


def _outcome(text: str, words: Mapping[str, float]) -> float | None:
    """Read a word, or a finite number; Python alone would also read 1_0."""
    word = text.strip().lower()
    if word in words:
        return words[word]
    try:
        number = float(word)
    except ValueError:
        return None
    return number if np.isfinite(number) and "_" not in word else None
