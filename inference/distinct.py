"""Distinct combinations of numbers: which rows of several columns are alike."""

from collections.abc import Sequence

import numpy as np


def in_order(columns: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Order rows so that those alike in all columns are neighbours, and number the different ones.

    Parameters
    ----------
    columns : sequence of ndarray, each of shape (rows,)
        At least one; the last one orders first.

    Returns
    -------
    order : ndarray of int
        All rows, ascending; those alike as they came.
    number : ndarray of int
        For every row in that order, which of the different ones it is, counted from 0.

    Examples
    --------
    >>> in_order([np.array([2.0, 1.0, 2.0])])
    (array([1, 0, 2]), array([0, 1, 1]))
    """
    order = np.lexsort(columns)
    new = np.zeros(len(order), dtype=bool)
    for column in columns:
        ordered = column[order]
        new[1:] |= ordered[1:] != ordered[:-1]
    return order, np.cumsum(new)


def distinct(columns: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Find the rows that differ.

    Parameters
    ----------
    columns : sequence of ndarray, each of shape (rows,)
        At least one; the last one orders first.

    Returns
    -------
    first : ndarray of int
        The first row of each different kind; the kinds ascend.
    number : ndarray of int
        For every row, of which kind it is.

    Examples
    --------
    >>> distinct([np.array([2.0, 1.0, 2.0])])
    (array([1, 0]), array([1, 0, 1]))
    """
    order, ordered = in_order(columns)
    number = np.empty(len(order), dtype=np.intp)
    number[order] = ordered
    return order[np.flatnonzero(np.diff(ordered, prepend=-1))], number
