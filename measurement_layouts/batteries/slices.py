"""Dominant slices: items on which no other demand is higher than the one of interest."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.sparse import coo_array

from ..common.errors import DataError
from ..evaluations.cells import Cells
from ..evaluations.tables import name_cells
from .demands import read_demands

ANCHOR = 20  # levels above the lowest, where all subjects are assumed to fail


@dataclass(frozen=True, eq=False)
class Slices:
    """Items that count for each dimension at each level.

    An item is in the slice of a dimension and a level when its demand on the dimension is this
    level and none of its other demands is higher. It therefore counts only at its highest level,
    for all dimensions with this level.

    Attributes
    ----------
    dimensions : list of str
        Names of the demands.
    levels : ndarray of float, shape (levels,)
        Levels in ascending order, counted from the scale's lowest.
    level : ndarray of float, shape (items,)
        Highest demand of each item, counted from the scale's lowest.
    dominant : ndarray of bool, shape (items, dimensions)
        Whether a demand is at this level.
    """

    dimensions: list[str]
    levels: np.ndarray
    level: np.ndarray
    dominant: np.ndarray

    @classmethod
    def of(cls, items: pd.DataFrame, dimensions: Iterable[str], lowest: int = 0) -> "Slices":
        """Read demand levels from the items' columns.

        Parameters
        ----------
        items : DataFrame
            Indexed by item.
        dimensions : iterable of str
            Columns of demands, with whole numbers from `lowest` to 19 above it.
        lowest : int
            Lowest level of the scale, at which an item demands nothing.

        Returns
        -------
        Slices
            Slices of all levels that occur. The lowest level occurs if an item demands nothing.

        Raises
        ------
        DataError
            When there are no dimensions, a column is missing or named twice, or a cell is not a
            level.

        Examples
        --------
        >>> items = pd.DataFrame({"logic": [2, 1, 3], "volume": [1, 2, 3]}, index=list("abc"))
        >>> slices = Slices.of(items, ["logic", "volume"])
        >>> slices.level, slices.dominant[:, 0]
        (array([2., 2., 3.]), array([ True, False,  True]))
        """
        table = read_demands(items, dimensions)
        demands = table.to_numpy() - lowest
        bad = (demands < 0) | (demands >= ANCHOR) | (demands % 1 != 0)
        if bad.any():
            raise DataError(
                f"{bad.sum()} demand(s) are no levels: {name_cells(table, bad)}; give whole "
                f"numbers from {lowest} to {lowest + ANCHOR - 1}, and leave items without them out"
            )
        highest = demands.max(axis=1)
        occurring = np.unique(demands)
        levels = occurring[(occurring > 0) | (highest == 0).any()]
        return cls(list(table.columns), levels, highest, demands == highest[:, None])

    def counts(self, cells: Cells, values: np.ndarray, times: np.ndarray) -> np.ndarray:
        """Add up a value of every attempted cell over slices.

        Parameters
        ----------
        cells : Cells
            Attempted cells of subjects and items.
        values : ndarray, shape (cells,)
            Ones, trials or successes.
        times : ndarray, shape (resamples, items)
            How often each item counts.

        Returns
        -------
        ndarray of float, shape (resamples, subjects, dimensions, levels)
        """
        shape = cells.shape[0], len(self.dimensions), len(self.levels)
        cell, dimension = np.nonzero(self.dominant[cells.item])
        item = cells.item[cell]
        level = np.searchsorted(self.levels, self.level[item])
        place = np.ravel_multi_index((cells.subject[cell], dimension, level), shape)
        sums = coo_array((values[cell], (place, item)), (math.prod(shape), cells.shape[1])).tocsr()
        return np.asarray((sums @ times.T.astype(float)).T.reshape(-1, *shape))
