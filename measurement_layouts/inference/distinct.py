"""Distinct combinations of numbers: which rows are equal in all of several columns."""

from collections.abc import Sequence

import numpy as np


def distinct(columns: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Find the distinct rows.

    Parameters
    ----------
    columns : sequence of ndarray, each of shape (rows,)
        At least one column; the last one is the primary sort key.

    Returns
    -------
    first : ndarray of int
        Position of the first row of each distinct kind, with the kinds in ascending order.
    number : ndarray of int
        For every row, the number of its kind.

    Examples
    --------
    >>> distinct([np.array([2.0, 1.0, 2.0])])
    (array([1, 0]), array([1, 0, 1]))
    """
    order = np.lexsort(columns)
    new = np.zeros(len(order), dtype=bool)
    new[:1] = True
    for column in columns:
        ordered = column[order]
        new[1:] |= ordered[1:] != ordered[:-1]
    number = np.empty(len(order), dtype=np.intp)
    number[order] = np.cumsum(new) - 1
    return order[new], number
