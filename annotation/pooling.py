"""Several annotators joined: one band per item, and how uncertain its ends are."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from .annotations import Annotations
from .annotators import BANDS, side_by_side


def pooled(annotations: "Mapping[str, Annotations | pd.DataFrame]") -> pd.DataFrame:
    r"""Join annotators into one band per item, with the spread of its ends.

    .. math:: \text{spread} = \sqrt{3 \cdot \tfrac{1}{2} (s^2_{low} + s^2_{high})}

    A value that is uniform within plus and minus a spread has a standard deviation of the spread
    over the root of 3. So this is the spread of ends whose variance is that between annotators, for
    `uncertain_band`. Half of their range would be too small: of two annotators it is a third of the
    spread on average. Where annotators agree the spread is 0, though ends are rounded to whole
    levels; ``spread.clip(lower=0.5)`` counts the rounding.

    Parameters
    ----------
    annotations : mapping of str to Annotations or DataFrame
        By annotator; a frame is indexed by item, with ``low`` and ``high``.

    Returns
    -------
    DataFrame
        Indexed by ``item``, every one that somebody annotated: ``low`` and ``high`` (means),
        ``low_spread`` and ``high_spread`` of each end, ``spread`` of both, and the number of
        ``annotators``. Of one annotator the spreads are NaN.

    Raises
    ------
    AnnotationError
        When there are fewer than two annotators, or a frame is not as it should be.

    Examples
    --------
    >>> one = pd.DataFrame({"low": [-3, -1], "high": [1, 3]}, index=["a", "b"])
    >>> two = pd.DataFrame({"low": [-1, -1], "high": [1, 3]}, index=["a", "b"])
    >>> pooled({"one": one, "two": two}).round(2)
          low  high  low_spread  high_spread  spread  annotators
    item
    a    -2.0   1.0        2.45          0.0    1.73           2
    b    -1.0   3.0        0.00          0.0    0.00           2
    """
    side = side_by_side(annotations, BANDS)
    count = (~np.isnan(side.said["low"])).sum(axis=1)
    table, variances = pd.DataFrame(index=side.items), {}
    for end in BANDS.columns:
        said = pd.DataFrame(side.said[end], index=side.items)
        table[end] = said.mean(axis=1)
        variances[end] = said.var(axis=1, ddof=1)
    for end in BANDS.columns:
        table[f"{end}_spread"] = np.sqrt(3 * variances[end])
    table["spread"] = np.sqrt(3 * (variances["low"] + variances["high"]) / 2)
    return table.assign(annotators=count)


def open_ended(bands: pd.DataFrame) -> pd.DataFrame:
    """Turn ends at the outermost levels into bands without that end.

    The levels -3 and 3 mean "or beyond": a band from -3 still holds an agent at -5. `band` takes
    the infinite ends as they are, and is then the 2PL of the other end.

    Parameters
    ----------
    bands : DataFrame
        With ``low`` and ``high``, levels from -3 to 3; other columns stay.

    Returns
    -------
    DataFrame
        A copy, with -inf for a low end of -3 and inf for a high end of 3.

    Examples
    --------
    >>> open_ended(pd.DataFrame({"low": [-3, -1], "high": [2, 3]}))
       low  high
    0 -inf   2.0
    1 -1.0   inf
    """
    low, high = bands["low"].astype(float), bands["high"].astype(float)
    return bands.assign(low=low.mask(low <= -3, -np.inf), high=high.mask(high >= 3, np.inf))
