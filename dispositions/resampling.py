"""Means by group, with intervals from rows drawn anew."""

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
        By group, in order of appearance, then ``all``; columns are those averaged. `count` is how
        many values a mean is of; where there is none it is NaN. The ends are NaN, too, where no
        group has two rows with values.
    """

    count: pd.DataFrame
    mean: pd.DataFrame
    low: pd.DataFrame
    high: pd.DataFrame


def group_means(
    values: pd.DataFrame, groups: pd.Series, *, prob: float, resamples: int, seed: int
) -> GroupMeans:
    """Average columns by group; intervals are percentiles over rows drawn anew within each group.

    Parameters
    ----------
    values : DataFrame
        By scenario; missing values are left out.
    groups : Series
        Group of each scenario, such as its trait.
    prob, resamples, seed
        As in `group_ratios`.

    Returns
    -------
    GroupMeans
        In the row ``all`` all scenarios count alike.

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
    """Divide summed values by their number, by group, where rows hold several values each.

    All columns see the same draws of rows, with replacement; each group keeps its number of rows.
    A draw without a value of a column does not count for it.

    Parameters
    ----------
    sums, counts : DataFrame
        By row, such as a rater: the sum of its values, and how many these are.
    groups : Series
        Group of each row.
    prob : float
        Mass of the intervals, in (0, 1).
    resamples : int
        How often rows are drawn, at least 2.
    seed : int
        Of the draws; a group's depend on its name and size alone.

    Returns
    -------
    GroupMeans
        In the row ``all`` all values count alike.

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
    """Means over the rows of each group, and over all rows, and the same of rows drawn anew.

    Attributes
    ----------
    count, mean : ndarray, shape (groups + 1, columns)
        The number of values, and their mean; all rows come last.
    draws : ndarray, shape (groups + 1, resamples, columns)
        Means of rows drawn anew.
    several : ndarray of bool, shape (groups + 1, columns)
        Where at least two rows have a value.
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
    """Draw rows anew within groups, and divide their sums by their counts.

    Parameters
    ----------
    sums, counts, groups, resamples, seed
        As in `group_ratios`.

    Returns
    -------
    RatioDraws
        NaN where nothing was counted.

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
    """Divide sums by counts; NaN where nothing was counted."""
    total, count = sums
    return np.asarray(np.where(count > 0, total / np.where(count > 0, count, 1), np.nan))


def quantiles(means: np.ndarray, at: list[float]) -> np.ndarray:
    """Quantiles over draws, the second axis, of those that are defined; NaN where none is."""
    found = np.quantile(means, at, axis=1)
    for group, column in np.argwhere(np.isnan(found[0])):
        own = means[group, :, column]
        own = own[~np.isnan(own)]
        if len(own):
            found[:, group, column] = np.quantile(own, at)
    return np.asarray(found)
