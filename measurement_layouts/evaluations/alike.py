"""Whether tables without names have the same rows, judged by meta-features and outcomes."""

from typing import NamedTuple

import numpy as np
import pandas as pd


class Content(NamedTuple):
    """What items are, without their names.

    Attributes
    ----------
    features : ndarray, shape (items, columns)
        NaN where undefined.
    successes, trials : ndarray, shape (items, cells)
        Outcomes, a cell for every subject, or for every step of its outcomes.
    """

    features: np.ndarray
    successes: np.ndarray
    trials: np.ndarray


def equal(values: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Say which features are the same in two tables of the same rows, but for rounding.

    Features may differ by a millionth of their column's largest magnitude.
    """
    most = np.where(np.isfinite(others), np.abs(others), 0).max(axis=0, initial=0)
    return np.isclose(values, others, rtol=0, atol=1e-6 * most, equal_nan=True)


def by_features(values: np.ndarray, known: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """Find the row of another table that has the features of a row.

    Parameters
    ----------
    values, known : ndarray, shape (rows, columns) and (other rows, columns)
        Features.
    numbers : ndarray of int, shape (rows,)
        Row of the other table to compare with, or -1, if rows of the other table share features.

    Returns
    -------
    ndarray of int, shape (rows,)
        Rows of the other table; -1 where none has the features.

    Examples
    --------
    >>> known = np.array([[1.5], [2.5], [3.5]])
    >>> by_features(np.array([[3.5], [1.5], [7.0]]), known, np.array([0, 1, 2]))
    array([ 2,  0, -1])
    >>> by_features(known[:2] * 0, known * 0, np.array([0, 1]))
    array([0, 1])
    """
    index, keys = (pd.Index(_keys(table)) for table in (known, values))
    if index.is_unique:
        return np.asarray(index.get_indexer(keys))
    return np.where((numbers >= 0) & (index[numbers] == keys), numbers, -1)


def same_rows(content: Content, known: Content, numbers: np.ndarray) -> np.ndarray:
    """Find the row of another table that has the features and the outcomes of a row.

    Returns
    -------
    ndarray of int, shape (rows,)
        As in `by_features`; -1 for all rows unless at least half of them have the features of a
        row of the other table, and these have the same outcomes in all cells that both attempted.
    """
    rows = by_features(content.features, known.features, numbers)
    there = np.flatnonzero(rows >= 0)
    mine, theirs = (
        np.stack([table.successes[which], table.trials[which]])
        for table, which in ((content, there), (known, rows[there]))
    )
    both = (mine[1] > 0) & (theirs[1] > 0)
    if 2 * len(there) < len(rows) or not both.any() or (mine != theirs)[:, both].any():
        return np.full(len(rows), -1)
    return rows


def _keys(values: np.ndarray) -> np.ndarray:
    """Write rows as bytes, the same for equal rows."""
    plain = np.where(np.isnan(values), np.nan, values + 0.0)  # one NaN, and no negative zero
    return np.array([row.tobytes() for row in plain], dtype=object)
