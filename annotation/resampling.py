"""Intervals of measures of agreement: estimates over items drawn anew, with replacement."""

from collections.abc import Callable

import numpy as np

from ..inference.errors import AnnotationError

type Statistic = Callable[[np.ndarray], float]


def resampled(
    statistic: Statistic,
    said: np.ndarray,
    prob: float,
    resamples: int,
    random: np.random.Generator,
) -> tuple[float, float, float, str]:
    """Estimate a measure, with percentiles of its estimates over items drawn anew.

    Parameters
    ----------
    statistic : function of ndarray
        The measure; NaN where it is not defined.
    said : ndarray
        Item x annotator.
    prob : float
        Of the interval.
    resamples : int
        How often items are drawn.
    random : numpy.random.Generator
        Draws them.

    Returns
    -------
    estimate, low, high : float
        NaN where they are not defined. Draws without a measure do not count.
    reason : str
        Why there is no interval; else empty.
    """
    estimate = statistic(said) if len(said) else np.nan
    if np.isnan(estimate):
        return np.nan, np.nan, np.nan, ""
    if len(said) == 1:
        return estimate, np.nan, np.nan, "one item gives no interval"
    drawn = np.array(
        [statistic(said[random.integers(len(said), size=len(said))]) for _ in range(resamples)]
    )
    defined = drawn[~np.isnan(drawn)]
    if not len(defined):
        return estimate, np.nan, np.nan, "too few items differ for an interval"
    low, high = np.quantile(defined, [(1 - prob) / 2, (1 + prob) / 2])
    return estimate, float(low), float(high), ""


def check_resampling(prob: float, resamples: int = 1) -> None:
    """Refuse an interval that cannot be.

    Parameters
    ----------
    prob : float
        Of the interval.
    resamples : int, default 1
        How often items are drawn.

    Raises
    ------
    AnnotationError
        When one is out of range.
    """
    if not 0 < prob < 1:
        raise AnnotationError(f"prob={prob!r}; give a number between 0 and 1, such as 0.95")
    if resamples < 1:
        raise AnnotationError(f"resamples={resamples!r}; give a whole number of at least 1")
