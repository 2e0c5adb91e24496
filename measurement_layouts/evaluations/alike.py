"""Whether tables without names have the same rows, judged by meta-features."""

import numpy as np
import pandas as pd


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


def _keys(values: np.ndarray) -> np.ndarray:
    """Write rows as bytes, the same for equal rows."""
    plain = np.where(np.isnan(values), np.nan, values + 0.0)  # one NaN, and no negative zero
    return np.array([row.tobytes() for row in plain], dtype=object)
