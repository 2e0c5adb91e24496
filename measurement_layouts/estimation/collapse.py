"""Point collapse: the success rate of all items whose band contains a given value."""

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from ..common.errors import DataError
from ..common.proportions import rates, wilson
from ..evaluations.tables import need_columns


def point_collapse(
    low: ArrayLike, high: ArrayLike, successes: ArrayLike, trials: ArrayLike
) -> pd.DataFrame:
    r"""Collapse outcomes on bands onto the line of the propensity.

    .. math:: \hat P_{point}(x) = \frac{\sum_{i: b_{l,i} \le x \le b_{u,i}} k_i}
       {\sum_{i: b_{l,i} \le x \le b_{u,i}} n_i}

    The success rate is constant between neighbouring ends of bands. The value at which it is
    largest (`collapse_peak`) is a rough and biased estimate of the propensity; `estimate` has a
    better one.

    Parameters
    ----------
    low, high : array_like, shape (items,)
        Ends of the bands (may be infinite).
    successes, trials : array_like, shape (items,)
        Number of successes and of trials of each item.

    Returns
    -------
    DataFrame
        One row per plateau, in ascending order: ``low`` and ``high`` end, ``success`` rate in
        [0, 1] (NaN where no band with trials covers the plateau) and ``trials``. Single points
        at which two bands only touch are left out.

    Raises
    ------
    DataError
        When the four arrays are not numbers, differ in length or are empty, or a band is reversed.

    References
    ----------
    Propensities paper, appendix B.3 and Figure 6.

    Examples
    --------
    >>> point_collapse([-2, 0], [1, 3], successes=[1, 0], trials=[1, 1])
       low  high  success  trials
    0 -2.0   0.0      1.0       1
    1  0.0   1.0      0.5       2
    2  1.0   3.0      0.0       1
    """
    columns = {"low": low, "high": high, "successes": successes, "trials": trials}
    try:
        bands = pd.DataFrame({name: np.asarray(column) for name, column in columns.items()})
        bands = bands.astype(float)
    except (TypeError, ValueError) as error:
        raise DataError(
            f"low, high, successes and trials: {error}; give four lists with a number per item"
        ) from None
    reversed_bands = int((~(bands["low"] <= bands["high"])).sum())
    if bands.empty or reversed_bands:
        raise DataError(
            f"{reversed_bands} of {len(bands)} band(s) have a low end that is not below the high "
            "one, or a missing end; correct them, or leave those items out"
        )
    edges = np.unique(bands[["low", "high"]])
    # counts of the bands that have begun minus those that have ended; this avoids a table of items
    # by plateaus
    begin, end = (np.searchsorted(edges, bands[name]) for name in ("low", "high"))
    counts = {}
    for name in ("successes", "trials"):
        change = np.bincount(begin, bands[name], len(edges))
        change -= np.bincount(end, bands[name], len(edges))
        counts[name] = np.rint(np.cumsum(change)[:-1])
    success, tried = rates(counts["successes"], counts["trials"]), counts["trials"].astype("int64")
    return pd.DataFrame({"low": edges[:-1], "high": edges[1:], "success": success, "trials": tried})


def collapse_peak(
    plateaus: pd.DataFrame, *, low: float = -np.inf, high: float = np.inf
) -> pd.Series:
    """Return the best plateau of a point collapse within a range.

    The best plateau is the one whose success rate has the highest lower limit of a 95 % interval
    (Wilson's). The raw rate is not used because it is often 1 at the ends of a battery, where only
    one or two bands overlap. Among equal plateaus the widest is taken, and among equally wide ones
    the lowest.

    Parameters
    ----------
    plateaus : DataFrame
        Result of `point_collapse`.
    low, high : float
        Ends of the range; plateaus are cut there.

    Returns
    -------
    Series
        ``low``, ``high``, ``success`` and ``trials`` of the best plateau.

    Raises
    ------
    DataError
        When a column is missing, or no plateau in the range has trials.

    Examples
    --------
    >>> plateaus = point_collapse([-2, 0], [1, 3], successes=[9, 5], trials=[10, 10])
    >>> collapse_peak(plateaus).to_dict()
    {'low': -2.0, 'high': 0.0, 'success': 0.9, 'trials': 10.0}
    """
    need_columns(plateaus.columns, ["low", "high", "success", "trials"], "the collapse has")
    cut = plateaus.assign(
        low=plateaus["low"].clip(low, high), high=plateaus["high"].clip(low, high)
    )
    cut = cut[(cut["high"] > cut["low"]) & (cut["trials"] > 0)]
    if cut.empty:
        raise DataError("the collapse has no piece with trials; give items with trials")
    lower, _ = wilson(cut["success"].to_numpy(), cut["trials"].to_numpy(), prob=0.95)
    best = cut[lower == lower.max()]
    peak: pd.Series = best.loc[(best["high"] - best["low"]).idxmax()]
    return peak
