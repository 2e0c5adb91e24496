"""ADeLe-Light: a battery without most of its redundant items."""

import numpy as np
import pandas as pd

from ...common.errors import DataError
from ...common.messages import some
from ...common.options import whole

NEIGHBOURS = 10
THRESHOLD = 0.21
DROPPED = 0.9
PUBLISHED_SIZE = 6_179
"""Number of items of ADeLe-Light, out of the published battery's 16,108."""

_TOP = 5.0  # highest level of the scales


def redundancy(items: pd.DataFrame, neighbours: int = NEIGHBOURS) -> pd.Series:
    r"""Compute the distance of each item's demands from those of its nearest neighbours.

    .. math:: r_i = \frac{1}{k} \sum_{j \in N_k(i)} \sum_d \Bigl(\frac{l_{id} - l_{jd}}{5}\Bigr)^2

    Parameters
    ----------
    items : DataFrame
        One row per item, with columns ``demand[...]`` in levels of 0 to 5; other columns are
        ignored.
    neighbours : int
        Number of neighbours k, at least 1. An item is not a neighbour of itself, but other items
        with the same demands are.

    Returns
    -------
    Series
        Average squared distance, at least 0, indexed by item; an item is more redundant the smaller
        it is.

    Raises
    ------
    DataError
        When there are no demands, a level is missing, or there are not more items than neighbours.

    Notes
    -----
    The paper does not state the scale of its distances. In whole levels almost no item of real
    benchmarks has neighbours within its threshold of 0.21 (3 % of 3,328 items), but the paper finds
    68 % of items redundant. With each scale from 0 to 1, as here, 81 % of those items are
    redundant. If distances are also averaged over the 18 dimensions, 67 % are; this is a threshold
    of 0.151 here.

    References
    ----------
    General scales paper, section 5.8.

    Examples
    --------
    >>> items = pd.DataFrame({"demand[AS]": [0, 0, 1, 5]}, index=list("abcd"))
    >>> redundancy(items, neighbours=1).round(2).to_dict()
    {'a': 0.0, 'b': 0.0, 'c': 0.04, 'd': 0.64}
    """
    from sklearn.neighbors import NearestNeighbors  # imported here because the import is slow

    demands = items.filter(regex=r"^demand\[")
    lacking = demands.index[demands.isna().any(axis=1)]
    if demands.empty or len(lacking) or len(items) <= neighbours:
        raise DataError(
            f"items: {len(items)} rows, {demands.shape[1]} demands, without a level "
            f"{some(lacking) or 'none'}; give columns such as demand[AS], with a level in each "
            f"row, and more than {neighbours} rows"
        )
    neighbourhood = NearestNeighbors(n_neighbors=neighbours).fit(demands.to_numpy() / _TOP)
    distances, _ = neighbourhood.kneighbors()
    return pd.Series((distances**2).mean(axis=1), items.index, name="redundancy")


def light(items: pd.DataFrame, seed: int = 1) -> pd.DataFrame:
    """Drop nine tenths of the redundant items, at random.

    Items with a `redundancy` below 0.21 are redundant.
    ``evaluation.select(items=light(evaluation.items).index)`` also has the outcomes.

    Parameters
    ----------
    items : DataFrame
        As in `redundancy`.
    seed : int
        Seed of the choice.

    Returns
    -------
    DataFrame
        The items that are kept, in their order.

    Raises
    ------
    DataError
        As in `redundancy`.
    FitError
        When `seed` is not a whole number.

    References
    ----------
    General scales paper, section 5.8.

    Examples
    --------
    >>> items = pd.DataFrame({"demand[AS]": [0] * 40 + [3, 4, 5]})
    >>> light(items)["demand[AS]"].tolist()
    [0, 0, 0, 0, 3, 4, 5]
    """
    rng = np.random.default_rng(whole("seed", seed))
    redundant = np.flatnonzero(redundancy(items) < THRESHOLD)
    gone = rng.choice(redundant, round(DROPPED * len(redundant)), replace=False)
    return items.iloc[np.setdiff1d(np.arange(len(items)), gone)]
