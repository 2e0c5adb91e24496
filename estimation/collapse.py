"""Point collapse: the success rate of all items whose band holds a place."""

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from ..common.errors import DataError
from ..common.messages import many
from ..evaluations.evaluation import Evaluation
from ..inference.model.bands import ends, find_bands
from ..inference.sampling.engine import Battery
from ..layouts import Layout
from ..linking import LayoutError

_NORMAL = 1.959964  # 97.5 % of a normal distribution lie below


def point_collapse(
    low: ArrayLike, high: ArrayLike, successes: ArrayLike, trials: ArrayLike
) -> pd.DataFrame:
    r"""Collapse outcomes on bands onto the line of the propensity.

    .. math:: \hat P_{point}(x) = \frac{\sum_{i: b_{l,i} \le x \le b_{u,i}} k_i}
       {\sum_{i: b_{l,i} \le x \le b_{u,i}} n_i}

    It is constant between neighbouring ends. Where it is largest is a rough and biased estimate of
    the propensity; `estimate` has better ones, and takes this one, with care for plateaus of few
    trials, when asked for ``method="collapse"``.

    Parameters
    ----------
    low, high : array_like, shape (items,)
        Ends of the bands; infinite ones too.
    successes, trials : array_like, shape (items,)
        Counts.

    Returns
    -------
    DataFrame
        One row per plateau, ascending: ``low`` and ``high`` end, ``success`` rate in [0, 1] (NaN
        where no band that was tried is), ``trials``. Single points, where bands only touch, are
        left out.

    Raises
    ------
    DataError
        When the four differ in length or hold nothing, or a band is reversed.

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
    columns = [np.asarray(column, dtype=float) for column in (low, high, successes, trials)]
    if len({column.shape for column in columns}) > 1 or columns[0].ndim != 1 or not columns[0].size:
        shapes = ", ".join(str(column.shape) for column in columns)
        raise DataError(
            f"low, high, successes and trials have the shapes {shapes}; give four lists with a "
            "number per item"
        )
    lows, highs, right, tried = columns
    if not (lows <= highs).all():
        raise DataError(
            f"{np.sum(~(lows <= highs))} band(s) have a low end that is not below the high one, or "
            "a missing end; correct them, or leave those items out"
        )
    edges = np.unique(np.concatenate([lows, highs]))
    left, end = edges[:-1], edges[1:]
    # counts of the bands that began, less those that ended: no table of items by plateaus
    begun, ended = (np.searchsorted(edges, part) for part in (lows, highs))
    within = []
    for counts in (right, tried):
        change = np.bincount(begun, counts, len(edges)) - np.bincount(ended, counts, len(edges))
        within.append(np.rint(np.cumsum(change)[:-1]))
    with np.errstate(invalid="ignore"):
        success = within[0] / within[1]
    return pd.DataFrame(
        {"low": left, "high": end, "success": success, "trials": within[1].astype("int64")}
    )


def best_place(plateaus: pd.DataFrame, low: float, high: float) -> float:
    """Take the middle of the best plateau in a range; NaN where that has no end.

    The best has the highest lower limit of a 95 % interval for its rate (Wilson's): at the thin
    ends of a battery, where one or two bands are, the raw rate is often 1. Of equal ones the widest
    counts, and of equally wide ones the lowest.
    """
    inside = plateaus.assign(
        low=plateaus["low"].clip(low, high), high=plateaus["high"].clip(low, high)
    )
    inside = inside[(inside["high"] > inside["low"]) & (inside["trials"] > 0)]
    if inside.empty:
        return np.nan
    rate = _lower_limit(inside["success"], inside["trials"])
    top = inside[rate == rate.max()]
    widest = top.loc[(top["high"] - top["low"]).idxmax()]
    middle = (widest["low"] + widest["high"]) / 2
    return float(middle) if np.isfinite(middle) else np.nan


def _lower_limit(rate: pd.Series, trials: pd.Series) -> pd.Series:
    """Compute Wilson's limit (1927, Journal of the American Statistical Association 22)."""
    part = _NORMAL**2 / trials
    spread = _NORMAL * np.sqrt((rate * (1 - rate) + part / 4) / trials)
    return (rate + part / 2 - spread) / (1 + part)


def collapsed(layout: Layout, battery: Battery, evaluation: Evaluation) -> np.ndarray:
    """Collapse every subject's outcomes; the best places, shape (subjects,).

    Raises
    ------
    LayoutError
        When the layout is no single band of its latent, with ends from meta-features.
    """
    (latent,) = layout.latents
    found = find_bands(layout)
    limits = None
    if len(found) == 1 and found[0].latent is latent:
        limits = ends(found[0], dict(battery.features), layout)
    if limits is None or any(np.ndim(end) > 1 for end in limits):
        raise LayoutError(
            f"layout {layout.name!r}: a collapse needs one band of {latent.name}, with ends of "
            f"meta-features and no labels, and this has {many(len(found), 'band')}; use "
            "method='likelihood'"
        )
    low, high = (np.broadcast_to(end, (battery.items,)) for end in limits)
    counts = zip(evaluation.successes.to_numpy(), evaluation.trials.to_numpy(), strict=True)
    return np.array(
        [
            best_place(point_collapse(low, high, *row), latent.range.low, latent.range.high)
            for row in counts
        ]
    )
