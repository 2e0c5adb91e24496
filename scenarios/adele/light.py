"""ADeLe-Light: a battery without most of its redundant items."""

import numpy as np
import pandas as pd

from ...common.errors import DataError
from ...common.messages import many
from ...common.options import inside, positive, whole
from ...evaluations.tables import name_cells, named, read_numbers

NEIGHBOURS = 10
THRESHOLD = 0.21
DROPPED = 0.9
PUBLISHED_SIZE = 6_179
"""Of the published battery's 16,108 items."""

_TOP = 5.0  # of the scales


def redundancy(items: pd.DataFrame, neighbours: int = NEIGHBOURS) -> pd.Series:
    r"""Measure how far each item's demands are from those of the items nearest to it.

    .. math:: r_i = \frac{1}{k} \sum_{j \in N_k(i)} \sum_d \Bigl(\frac{l_{id} - l_{jd}}{5}\Bigr)^2

    Parameters
    ----------
    items : DataFrame
        One row per item, with columns ``demand[...]`` in levels of 0 to 5; others do not count.
    neighbours : int
        k, at least 1. An item is not a neighbour of itself; one with the same demands is.

    Returns
    -------
    Series
        The average squared distance, at least 0, indexed by item; the smaller, the more redundant.

    Raises
    ------
    DataError
        When there are no demands, a level is no finite number, or there are not more items than
        neighbours.
    FitError
        When `neighbours` is no whole number of at least 1.

    Notes
    -----
    The paper does not say on what scale it measures distances. In whole levels almost no item of
    real benchmarks has neighbours within its threshold of 0.21 (3 % of 3,328 items), and it finds
    68 % redundant. With each scale going from 0 to 1, as here, it is 81 % of those items. If it
    averages over the 18 dimensions, too, it is 67 %; that is a threshold of 0.151 here.

    References
    ----------
    General scales paper, section 5.8.

    Examples
    --------
    >>> items = pd.DataFrame({"demand[AS]": [0, 0, 1, 5]}, index=list("abcd"))
    >>> redundancy(items, neighbours=1).round(2).to_dict()
    {'a': 0.0, 'b': 0.0, 'c': 0.04, 'd': 0.64}
    """
    from sklearn.neighbors import NearestNeighbors  # here, since it takes long to import

    count = whole("neighbours", neighbours, 1)
    table = named(items, "items", "item")
    demands = table.filter(regex=r"^demand\[")
    if demands.empty:
        raise DataError("items have no demands; give columns such as demand[AS], with levels")
    levels, _ = read_numbers(demands)
    lacking = ~np.isfinite(levels)
    if lacking.any():
        raise DataError(
            f"no level for {name_cells(demands, lacking)}; give numbers, or leave those items out"
        )
    if len(levels) <= count:
        raise DataError(
            f"{many(len(levels), 'item')} cannot have {many(count, 'neighbour')} each; give more "
            "items, or fewer neighbours"
        )
    found = NearestNeighbors(n_neighbors=count).fit(levels / _TOP)
    distances, _ = found.kneighbors()
    return pd.Series((distances**2).mean(axis=1), table.index, name="redundancy")


def light(
    items: pd.DataFrame,
    seed: int = 1,
    *,
    neighbours: int = NEIGHBOURS,
    threshold: float = THRESHOLD,
    dropped: float = DROPPED,
) -> pd.DataFrame:
    """Drop most of the items that are redundant.

    Items with a `redundancy` below the threshold are redundant; a part of them, chosen at random,
    is left out. ``evaluation.select(items=light(evaluation.items).index)`` has the outcomes, too.

    Parameters
    ----------
    items : DataFrame
        As in `redundancy`.
    seed : int
        Seed of the choice.
    neighbours : int
        As in `redundancy`.
    threshold : float
        Average squared distance below which an item is redundant, above 0.
    dropped : float
        Part of the redundant items to leave out, in (0, 1).

    Returns
    -------
    DataFrame
        The items kept, in their order.

    Raises
    ------
    DataError
        As `redundancy` does.
    FitError
        When `seed` or `neighbours` is no whole number, `threshold` is not positive or `dropped` not
        between 0 and 1.

    References
    ----------
    General scales paper, section 5.8.

    Examples
    --------
    >>> items = pd.DataFrame({"demand[AS]": [0] * 40 + [3, 4, 5]})
    >>> light(items)["demand[AS]"].tolist()
    [0, 0, 0, 0, 3, 4, 5]
    """
    limit = positive("threshold", threshold, THRESHOLD)
    part = inside("dropped", dropped, DROPPED)
    rng = np.random.default_rng(whole("seed", seed))
    redundant = np.flatnonzero(redundancy(items, neighbours) < limit)
    gone = rng.choice(redundant, round(part * len(redundant)), replace=False)
    return items.iloc[np.setdiff1d(np.arange(len(items)), gone)]
