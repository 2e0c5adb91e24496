"""Means by group, with intervals from resampled rows."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..common.options import inside, whole
from ..common.seeds import subject_seed


@dataclass(frozen=True, eq=False)
class GroupMeans:
    """Means of columns over the rows of each group, and over all rows.

    Attributes
    ----------
    count, mean, low, high : DataFrame
        By group, in order of appearance, then ``all``; columns are those that were averaged.
        `count` is the number of values of a mean; a mean without values is NaN. The ends are also
        NaN if no group has two rows with values.
    """

    count: pd.DataFrame
    mean: pd.DataFrame
    low: pd.DataFrame
    high: pd.DataFrame


def group_means(
    values: pd.DataFrame, groups: pd.Series, *, prob: float, resamples: int, seed: int
) -> GroupMeans:
    """Average columns by group; intervals are percentiles over resamples of rows in each group.

    Parameters
    ----------
    values : DataFrame
        Values by scenario; missing values are left out.
    groups : Series
        Group of each scenario, such as its trait.
    prob, resamples, seed
        As in `group_ratios`.

    Returns
    -------
    GroupMeans
        Means and intervals. In the row ``all`` all scenarios have the same weight.

    Raises
    ------
    FitError
        When an option is out of range.

    Examples
    --------
    >>> values = pd.DataFrame({"one": [0.0, 1.0, 1.0], "two": [0.5, np.nan, 0.5]})
    >>> found = group_means(values, pd.Series(["x", "x", "y"]), prob=0.9, resamples=50, seed=1)
    >>> found.mean.round(2)
          one  two
    x    0.50  0.5
    y    1.00  0.5
    all  0.67  0.5
    """
    counts = values.notna().astype(int)
    return group_ratios(values.fillna(0), counts, groups, prob=prob, resamples=resamples, seed=seed)


def group_ratios(
    sums: pd.DataFrame,
    counts: pd.DataFrame,
    groups: pd.Series,
    *,
    prob: float,
    resamples: int,
    seed: int,
) -> GroupMeans:
    """Divide sums of values by their numbers, by group, for rows with several values each.

    All columns use the same resamples of rows, with replacement; each group keeps its number of
    rows. A resample without a value of a column does not count for it.

    Parameters
    ----------
    sums, counts : DataFrame
        Sum and number of the values of each row, such as a rater.
    groups : Series
        Group of each row.
    prob : float
        Mass of the intervals, in (0, 1).
    resamples : int
        Number of resamples, at least 2.
    seed : int
        Seed of the resamples; those of a group depend only on its name and size.

    Returns
    -------
    GroupMeans
        Means and intervals. In the row ``all`` all values have the same weight.

    Raises
    ------
    FitError
        When an option is out of range.
    """
    prob = inside("prob", prob, such_as=0.9)
    found = ratio_draws(sums, counts, groups, resamples=resamples, seed=seed)
    tails = [(1 - prob) / 2, (1 + prob) / 2]
    ends = np.where(found.several, quantiles(found.draws, tails), np.nan)
    names = [*groups.unique(), "all"]
    tables = [found.count, found.mean, *ends]
    return GroupMeans(*(pd.DataFrame(table, names, sums.columns) for table in tables))


@dataclass(frozen=True, eq=False)
class RatioDraws:
    """Means over the rows of each group and over all rows, also for resampled rows.

    Attributes
    ----------
    count, mean : ndarray, shape (groups + 1, columns)
        Number of values, and their mean; the last row is of all rows.
    draws : ndarray, shape (groups + 1, resamples, columns)
        Means of the resamples.
    several : ndarray of bool, shape (groups + 1, columns)
        Whether at least two rows have a value.
    """

    count: np.ndarray
    mean: np.ndarray
    draws: np.ndarray
    several: np.ndarray


def ratio_draws(
    sums: pd.DataFrame,
    counts: pd.DataFrame,
    groups: pd.Series,
    *,
    resamples: int,
    seed: int,
) -> RatioDraws:
    """Resample rows within groups, and divide their sums by their counts.

    Parameters
    ----------
    sums, counts, groups, resamples, seed
        As in `group_ratios`.

    Returns
    -------
    RatioDraws
        Ratios; NaN where the count is 0.

    Raises
    ------
    FitError
        When a number is out of range.
    """
    resamples, seed = whole("resamples", resamples, least=2), whole("seed", seed)
    both = np.stack([sums.to_numpy(dtype=float), counts.to_numpy(dtype=float)])
    names = list(groups.unique())
    plain = np.empty((2, len(names) + 1, sums.shape[1]))
    drawn = np.empty((2, len(names) + 1, resamples, sums.shape[1]))
    several = np.empty((len(names) + 1, sums.shape[1]), dtype=bool)
    for place, name in enumerate(names):
        own = both[:, (groups == name).to_numpy()]
        size = own.shape[1]
        rng = np.random.default_rng(subject_seed(seed, str(name)))
        times = rng.multinomial(size, np.full(size, 1 / size), size=resamples).astype(float)
        plain[:, place], drawn[:, place] = own.sum(axis=1), times @ own
        several[place] = (own[1] > 0).sum(axis=0) > 1
    plain[:, -1], drawn[:, -1] = plain[:, :-1].sum(axis=1), drawn[:, :-1].sum(axis=1)
    several[-1] = several[:-1].any(axis=0)
    return RatioDraws(plain[1].astype(int), _ratio(plain), _ratio(drawn), several)


def _ratio(sums: np.ndarray) -> np.ndarray:
    """Divide sums by counts; NaN where the count is 0."""
    total, count = sums
    return np.asarray(np.where(count > 0, total / np.where(count > 0, count, 1), np.nan))


def quantiles(means: np.ndarray, at: list[float]) -> np.ndarray:
    """Compute quantiles over the defined draws (second axis); NaN if none is defined."""
    found = np.quantile(means, at, axis=1)
    for group, column in np.argwhere(np.isnan(found[0])):
        own = means[group, :, column]
        own = own[~np.isnan(own)]
        if len(own):
            found[:, group, column] = np.quantile(own, at)
    return np.asarray(found)
