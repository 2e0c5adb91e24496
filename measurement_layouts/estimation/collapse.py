"""Point collapse: the success rate of all items whose band contains a given value."""

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from ..common.errors import DataError
from ..common.messages import many
from ..common.proportions import wilson
from ..evaluations.evaluation import Evaluation
from ..inference.model.bands import ends, find_bands
from ..inference.sampling.engine import Battery
from ..layouts import Layout
from ..linking import LayoutError


def point_collapse(
    low: ArrayLike, high: ArrayLike, successes: ArrayLike, trials: ArrayLike
) -> pd.DataFrame:
    r"""Collapse outcomes on bands onto the line of the propensity.

    .. math:: \hat P_{point}(x) = \frac{\sum_{i: b_{l,i} \le x \le b_{u,i}} k_i}
       {\sum_{i: b_{l,i} \le x \le b_{u,i}} n_i}

    The success rate is constant between neighbouring ends of bands. The value at which it is
    largest is a rough and biased estimate of the propensity. `estimate` has better methods; with
    ``method="collapse"`` it uses this one and corrects for plateaus that have few trials.

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
    given = {"low": low, "high": high, "successes": successes, "trials": trials}
    columns = []
    for name, column in given.items():
        try:
            columns.append(np.asarray(column, dtype=float))
        except (TypeError, ValueError):
            raise DataError(f"{name}: these are not numbers; give one number per item") from None
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
    # counts of the bands that have begun minus those that have ended; this avoids a table of items
    # by plateaus
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
    """Return the middle of the best plateau in a range, or NaN if that plateau has no end.

    The best plateau is the one whose success rate has the highest lower limit of a 95 % interval
    (Wilson's). The raw rate is not used because it is often 1 at the ends of a battery, where only
    one or two bands overlap. Among equal plateaus the widest is taken, and among equally wide ones
    the lowest.
    """
    inside = plateaus.assign(
        low=plateaus["low"].clip(low, high), high=plateaus["high"].clip(low, high)
    )
    inside = inside[(inside["high"] > inside["low"]) & (inside["trials"] > 0)]
    if inside.empty:
        return np.nan
    rate, _ = wilson(inside["success"].to_numpy(), inside["trials"].to_numpy(), prob=0.95)
    top = inside[rate == rate.max()]
    widest = top.loc[(top["high"] - top["low"]).idxmax()]
    middle = (widest["low"] + widest["high"]) / 2
    return float(middle) if np.isfinite(middle) else np.nan


def collapsed(layout: Layout, battery: Battery, evaluation: Evaluation) -> np.ndarray:
    """Collapse every subject's outcomes and return the best values, shape (subjects,).

    Raises
    ------
    LayoutError
        When the layout is not a single band of its latent whose ends are meta-features.
    """
    (latent,) = layout.latents
    found = find_bands(layout)
    limits = None
    if len(found) == 1 and found[0].latent is latent:
        limits = ends(found[0], dict(battery.features), layout)
    if limits is None or any(np.ndim(end) > 1 for end in limits):
        raise LayoutError(
            f"layout {layout.name!r} has {many(len(found), 'band')}; a collapse needs one band of "
            f"{latent.name} whose ends are meta-features without labels; use method='likelihood'"
        )
    low, high = (np.broadcast_to(end, (battery.items,)) for end in limits)
    counts = map(evaluation.coded.counts, range(len(evaluation.subjects)))
    return np.array(
        [
            best_place(point_collapse(low, high, *row), latent.range.low, latent.range.high)
            for row in counts
        ]
    )
