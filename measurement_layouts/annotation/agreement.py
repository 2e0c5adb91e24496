"""Agreement of annotators on the ends of bands, or on the levels of a demand."""

from collections.abc import Mapping
from itertools import combinations

import numpy as np
import pandas as pd

from ..common.errors import AnnotationError
from ..common.optional import need
from ..common.options import whole
from .annotate import Annotations
from .annotators import BAND, LEVEL, refuse_one_annotator, side_by_side, table_of
from .rubric import DEMAND_LEVELS, LEVELS

_UNDEFINED = {
    "kappa": "all levels are equal, so that agreement by chance is complete",
    "alpha": "all levels are equal, so that agreement by chance is complete",
    "spearman": "an annotator gives all items the same level, so that there are no ranks",
}


def agreement(
    annotations: "Mapping[str, Annotations | pd.DataFrame]",
    *,
    levels: int | None = None,
    ends: tuple[int, int] | None = None,
) -> pd.DataFrame:
    r"""Measure the agreement of annotators on both ends of bands, or on levels of a demand.

    .. math:: r_{WG} = 1 - \frac{s^2}{(A^2 - 1) / 12}, \qquad
       \kappa_w = 1 - \frac{\overline{(x - y)^2}}{\overline{(x_i - y_j)^2}}, \qquad
       \alpha = 1 - \frac{D_o}{D_e}

    `s²` is the variance between the annotators of an item (its denominator is their number minus
    one), and `A` is the number of `levels`. r_WG is averaged over items; negative values are not
    set to 0, so that it is 0 on average if annotators choose among all levels at random. For bands
    there are two more measures: the weighted kappa of each pair of annotators, which compares
    differences within items with differences between all items, and Krippendorff's alpha for
    ordinal data, over all annotators. For demands there is Spearman's rank correlation of each
    pair.

    Parameters
    ----------
    annotations : mapping of str to Annotations or DataFrame
        Annotations of each annotator. A frame is indexed by item, with the columns ``low`` and
        ``high`` or the column ``level``, such as the frame that `delphi` returns. An item without
        an annotation by some annotator is left out of the measures that need it.
    levels : int, optional
        Number of equally likely levels that r_WG assumes for annotators without agreement
        (default: the whole scale, 7 levels for bands and 6 for demands). A low end can only be one
        of four levels, and so can a high end: annotators who choose among those at random reach
        0.69. With ``levels=4`` they reach 0, and the measure is stricter.
    ends : (int, int), optional
        Lowest and highest level of the rubric: by default (-3, 3) for bands and (0, 5) for demands.
        Levels of demands begin at 0 whatever the lowest one is.

    Returns
    -------
    DataFrame
        One row per measure (``r_WG``, ``kappa`` or ``spearman`` for each pair, ``alpha``) and end
        (``low``, ``high``; of demands ``level``): ``measure``, ``annotators``, ``end``,
        ``estimate``, the number of ``items`` that were used (those with two annotators or more),
        and ``reason``, which explains an estimate that is NaN. `scipy.stats.bootstrap` has
        intervals.

    Raises
    ------
    AnnotationError
        When there are fewer than two annotators, a frame lacks a column or has an item twice or
        numbers outside the levels, no item was annotated by two annotators, an option is out of
        range, or krippendorff, which alpha of bands needs, is not installed.

    References
    ----------
    James, Demaree and Wolf (1984), Journal of Applied Psychology 69, 85-98. Cohen (1968),
    Psychological Bulletin 70, 213-220. Krippendorff (2011), Computing Krippendorff's
    Alpha-Reliability. General scales paper, section 5.3, computes r_WG between people, where 0.7
    and above is good, and Spearman's correlation between their consensus and a model.

    Examples
    --------
    >>> one = pd.DataFrame({"low": [-3, -1, 0], "high": [1, 3, 0]}, index=["a", "b", "c"])
    >>> two = pd.DataFrame({"low": [-2, -1, 0], "high": [1, 3, 0]}, index=["a", "b", "c"])
    >>> table = agreement({"one": one, "two": two})
    >>> table[["measure", "annotators", "end", "estimate", "items"]].round(3)
      measure annotators   end  estimate  items
    0    r_WG        all   low     0.958      3
    1   kappa   one, two   low     0.857      3
    2   alpha        all   low     0.949      3
    3    r_WG        all  high     1.000      3
    4   kappa   one, two  high     1.000      3
    5   alpha        all  high     1.000      3

    Levels of a demand:

    >>> one = pd.DataFrame({"level": [0, 2, 5]}, index=["a", "b", "c"])
    >>> two = pd.DataFrame({"level": [1, 2, 4]}, index=["a", "b", "c"])
    >>> table = agreement({"one": one, "two": two})
    >>> table[["measure", "annotators", "end", "estimate", "items"]].round(3)
        measure annotators    end  estimate  items
    0      r_WG        all  level     0.886      3
    1  spearman   one, two  level     1.000      3
    """
    refuse_one_annotator(annotations)
    tables = [table_of(one) for one in annotations.values()]
    demands = all("level" in table for table in tables if isinstance(table, pd.DataFrame))
    columns, scale = (LEVEL, DEMAND_LEVELS) if demands else (BAND, LEVELS)
    lowest, highest = (
        (scale[0], scale[-1]) if ends is None else (0 if demands else ends[0], ends[1])
    )
    count = highest - lowest + 1
    count = count if levels is None else min(whole("levels", levels, 2, AnnotationError), count)
    rows: list[tuple[str, str, str, float, int]] = []
    for end, table in side_by_side(annotations, columns, (lowest, highest)).items():
        several = table[table.count(axis=1) >= 2]
        if several.empty:
            raise AnnotationError(
                "no item was annotated by two annotators; give annotations of the same items"
            )
        within = 1 - several.var(axis=1, ddof=1) * 12 / (count**2 - 1)
        rows.append(("r_WG", "all", end, within.mean(), len(several)))
        for pair in combinations(table.columns, 2):
            both = table[list(pair)].dropna().to_numpy()
            name, estimate = ("spearman", _spearman(both)) if demands else ("kappa", kappa(both))
            rows.append((name, ", ".join(pair), end, estimate, len(both)))
        if not demands:
            rows.append(("alpha", "all", end, _alpha(several.to_numpy()), len(several)))
    result = pd.DataFrame(rows, columns=["measure", "annotators", "end", "estimate", "items"])
    reason = result["measure"].map(_UNDEFINED).where(result["items"] > 0, "no item in common")
    return result.assign(reason=reason.where(result["estimate"].isna(), ""))


def kappa(levels: np.ndarray) -> float:
    """Compute Cohen's kappa of two raters with quadratic weights; NaN if all levels are equal.

    Examples
    --------
    >>> round(kappa(np.array([[0, 1], [2, 2], [5, 4]])), 3)
    0.885
    """
    from sklearn.metrics import cohen_kappa_score  # takes a while to import

    if not levels.size or np.ptp(levels) == 0:
        return np.nan
    labels = np.arange(levels.min(), levels.max() + 1)  # all levels: their distances are weights
    return float(cohen_kappa_score(*levels.T, weights="quadratic", labels=labels))


def _alpha(levels: np.ndarray) -> float:
    if np.nanmin(levels) == np.nanmax(levels):
        return np.nan
    krippendorff = need("krippendorff", "krippendorff")
    return float(krippendorff.alpha(reliability_data=levels.T, level_of_measurement="ordinal"))


def _spearman(levels: np.ndarray) -> float:
    from scipy import stats  # takes a while to import

    if not levels.size or (np.ptp(levels, axis=0) == 0).any():
        return np.nan
    return float(stats.spearmanr(levels[:, 0], levels[:, 1]).statistic)
