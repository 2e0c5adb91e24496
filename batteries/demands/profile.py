"""Demand profiles: how many items of a battery ask how much of what."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...common.errors import DataError
from ...common.messages import many, some
from ...evaluations.tables import name_cells
from .reading import read_demands

LEVELS = (0, 1, 2, 3, 4, 5)
"""Of the general scales."""


@dataclass(frozen=True, eq=False, repr=False)
class DemandProfile:
    """How many items of a battery ask how much of what.

    Made by `demand_profile`.

    Attributes
    ----------
    counts : DataFrame
        Items; one row per dimension, one column per level.

    Examples
    --------
    >>> items = pd.DataFrame({"QLl": [3, 4, 4], "MS": [0, 0, 1]})
    >>> demand_profile(items, ["QLl", "MS"])
    <DemandProfile: 3 items, 2 dimensions, levels 0, 1, 2, 3, 4, 5>
    """

    counts: pd.DataFrame

    @property
    def items(self) -> int:
        """Number of items."""
        return int(self.counts.iloc[0].sum())

    @property
    def levels(self) -> list[float]:
        """The levels counted, ascending."""
        return [float(level) for level in self.counts.columns.to_numpy()]

    @property
    def shares(self) -> pd.DataFrame:
        """Parts of the items, laid out as `counts`; a row sums to 1."""
        return self.counts / self.items

    @property
    def means(self) -> pd.Series:
        """Mean level of each dimension."""
        sums = self.counts.to_numpy() @ np.array(self.levels)
        return pd.Series(sums / self.items, self.counts.index)

    def __repr__(self) -> str:
        dimensions = many(len(self.counts), "dimension")
        levels = some((f"{level:g}" for level in self.levels), 12)
        return f"<DemandProfile: {many(self.items, 'item')}, {dimensions}, levels {levels}>"


def demand_profile(
    items: pd.DataFrame, columns: Sequence[str], *, levels: Sequence[float] = LEVELS
) -> DemandProfile:
    """Count the items at each level of each dimension.

    Parameters
    ----------
    items : DataFrame
        Indexed by item.
    columns : sequence of str
        Dimensions to count, each a column of levels.
    levels : sequence of float
        Levels that an item can have, from little to much; any order is put right.

    Returns
    -------
    DemandProfile
        Counts, shares and means.

    Raises
    ------
    DataError
        When a column is missing or repeated, a demand is none of the levels, or levels are no
        numbers or repeat.

    References
    ----------
    General scales paper, section 2.2, Figures 5 and 6.

    Examples
    --------
    >>> items = pd.DataFrame({"QLl": [3, 4, 4], "MS": [0, 0, 1]})
    >>> profile = demand_profile(items, ["QLl", "MS"])
    >>> profile.counts
    level      0  1  2  3  4  5
    dimension
    QLl        0  0  0  1  2  0
    MS         2  1  0  0  0  0
    >>> profile.means.round(2).to_dict()
    {'QLl': 3.67, 'MS': 0.33}
    """
    allowed = _levels(levels)
    demands = read_demands(items, columns)
    bad = ~np.isin(demands, allowed)
    if bad.any():
        raise DataError(
            f"{bad.sum()} demand(s) are none of the levels {some(allowed.tolist(), 12)}: "
            f"{name_cells(demands, bad)}; round them, turn a percentage into levels, or name all "
            "levels in levels="
        )
    counts = {
        name: [int((column == level).sum()) for level in allowed]
        for name, column in demands.items()
    }
    return DemandProfile(
        pd.DataFrame.from_dict(
            counts, orient="index", columns=pd.Index(allowed, name="level")
        ).rename_axis("dimension")
    )


def _levels(levels: Sequence[float]) -> np.ndarray:
    try:
        found = np.unique(np.asarray(levels, dtype=float))
    except (TypeError, ValueError):
        raise DataError(f"levels={levels!r}; give numbers, such as 0 to 5") from None
    if not found.size or len(found) != np.size(levels) or not np.isfinite(found).all():
        raise DataError(f"levels={levels!r}; give different finite numbers, such as 0 to 5")
    whole = found.astype("int64")
    return whole if (whole == found).all() else found
