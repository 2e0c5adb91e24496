"""Agreement of annotators on the ends of bands, or on the levels of a demand."""

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from ..common.errors import AnnotationError
from .annotations import Annotations
from .annotators import Scale, scale_of, side_by_side
from .measures import Measure, alpha, kappa
from .resampling import Statistic, check_resampling, resampled

COLUMNS = ("measure", "annotators", "end", "estimate", "low", "high", "items", "reason")
_OF_PAIRS = {"kappa", "spearman"}
_ALIKE = "all levels are equal, so that agreement by chance is complete"
_UNDEFINED = {
    "kappa": _ALIKE,
    "alpha": _ALIKE,
    "spearman": "an annotator gives all items the same level, so that there are no ranks",
}


def agreement(
    annotations: "Mapping[str, Annotations | pd.DataFrame]",
    *,
    levels: int | None = None,
    ends: tuple[int, int] | None = None,
    prob: float = 0.9,
    resamples: int = 1000,
    seed: int = 1,
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
    prob : float, default 0.9
        Mass of the intervals, which are percentiles of estimates from items that are resampled
        with replacement.
    resamples : int, default 1000
        Number of resamples.
    seed : int, default 1
        Seed of the resamples.

    Returns
    -------
    DataFrame
        One row per measure (``r_WG``, ``kappa`` or ``spearman`` for each pair, ``alpha``) and end
        (``low``, ``high``; of demands ``level``): ``measure``, ``annotators``, ``end``,
        ``estimate``, ``low``, ``high``, the number of ``items`` that were used (those with two
        annotators or more), and ``reason``, which explains an estimate or an interval that is NaN.
        Resamples for which a measure is not defined do not count for its interval.

    Raises
    ------
    AnnotationError
        When there are fewer than two annotators, a frame lacks a column or has an item twice or
        numbers outside the levels, no item was annotated by two annotators, or an option is out of
        range.

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
    >>> table = agreement({"one": one, "two": two}, resamples=50)
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
    >>> table = agreement({"one": one, "two": two}, resamples=50)
    >>> table[["measure", "annotators", "end", "estimate", "items"]].round(3)
        measure annotators    end  estimate  items
    0      r_WG        all  level     0.886      3
    1  spearman   one, two  level     1.000      3
    """
    scale = scale_of(annotations, ends)
    levels = len(scale.levels) if levels is None else levels
    _check(levels, len(scale.levels), prob, resamples)
    side = side_by_side(annotations, scale)
    random = np.random.default_rng(seed)
    measures = list(_measures(scale, levels, len(side.names)))
    rows: list[dict[str, Any]] = []
    for end in scale.columns:
        for measure, statistic, who in measures:
            said = side.said[end][:, who]
            said = said[(~np.isnan(said)).sum(axis=1) >= 2]
            if measure == "r_WG" and not len(said):
                raise AnnotationError(
                    "no item was annotated by two annotators; give annotations of the same items"
                )
            names = ", ".join(side.names[one] for one in who) if measure in _OF_PAIRS else "all"
            estimate, low, high, reason = resampled(statistic, said, prob, resamples, random)
            if np.isnan(estimate):
                reason = _UNDEFINED[measure] if len(said) else "no item in common"
            found = (measure, names, end, estimate, low, high, len(said), reason)
            rows.append(dict(zip(COLUMNS, found, strict=True)))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _measures(
    scale: Scale, levels: int, annotators: int
) -> Iterator[tuple[str, Statistic, list[int]]]:
    """Yield each measure's name, the function that computes it, and the annotators it compares."""
    everybody = list(range(annotators))
    yield "r_WG", lambda said: _within_group(said, levels), everybody
    name, statistic = ("kappa", _once(kappa)) if scale.bands else ("spearman", _spearman)
    for pair in combinations(everybody, 2):
        yield name, statistic, list(pair)
    if scale.bands:
        yield "alpha", _once(alpha), everybody


def _within_group(said: np.ndarray, levels: int) -> float:
    """Compute r_WG, averaged over items; each row has at least two levels."""
    between = np.nanvar(said, axis=1, ddof=1)
    return float(np.mean(1 - between * 12 / (levels**2 - 1)))


def _once(measure: Measure) -> Statistic:
    """Turn a measure of counted patterns into one of items, each of which occurs once."""
    return lambda said: float(measure(said, np.ones((1, len(said))))[0])


def _spearman(said: np.ndarray) -> float:
    """Compute Spearman's rank correlation; NaN if an annotator gives all items the same level."""
    if (np.ptp(said, axis=0) == 0).any():
        return np.nan
    return float(stats.spearmanr(said[:, 0], said[:, 1]).statistic)


def _check(levels: int, most: int, prob: float, resamples: int) -> None:
    if not 2 <= levels <= most:
        raise AnnotationError(f"levels={levels!r}; give a whole number from 2 to {most}")
    check_resampling(prob, resamples)
