"""Means by group, with intervals from resampled rows."""

import numpy as np
import pandas as pd

from ..common.options import inside, whole
from ..common.seeds import subject_seed


def group_means(
    values: pd.DataFrame, groups: pd.Series, *, prob: float, resamples: int, seed: int
) -> pd.DataFrame:
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
    DataFrame
        As from `group_ratios`. In the group ``all`` all scenarios have the same weight.

    Raises
    ------
    FitError
        When an option is out of range.

    Examples
    --------
    >>> values = pd.DataFrame({"one": [0.0, 1.0, 1.0], "two": [0.5, np.nan, 0.5]})
    >>> means = group_means(values, pd.Series(["x", "x", "y"]), prob=0.9, resamples=50, seed=1)
    >>> means["mean"].unstack("group").round(2)
    group   all    x    y
    one    0.67  0.5  1.0
    two    0.50  0.5  0.5
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
) -> pd.DataFrame:
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
    DataFrame
        Indexed by the columns' names and ``group``, in order of appearance, then ``all``, in which
        all values have the same weight: ``count`` (number of values), ``mean`` (NaN without
        values), ``low`` and ``high`` (NaN if no group has two rows with values).

    Raises
    ------
    FitError
        When an option is out of range.
    """
    prob, resamples = inside("prob", prob, such_as=0.9), whole("resamples", resamples, least=2)
    seed = whole("seed", seed)
    both = np.stack([sums.to_numpy(dtype=float), counts.to_numpy(dtype=float)], axis=1)
    names = list(groups.unique())
    totals, drawn, several = [], [], []
    for name in names:
        rows = both[(groups == name).to_numpy()]
        rng = np.random.default_rng(subject_seed(seed, str(name)))
        shares = np.full(len(rows), 1 / len(rows))
        times = rng.multinomial(len(rows), shares, size=resamples).astype(float)
        totals.append(rows.sum(axis=0))
        drawn.append((times @ rows.reshape(len(rows), -1)).reshape(resamples, *rows.shape[1:]))
        several.append((rows[:, 1] > 0).sum(axis=0) > 1)
    total, draws = np.stack([*totals, sum(totals)]), np.stack([*drawn, sum(drawn)], axis=1)
    ratios = pd.DataFrame(_ratio(draws).reshape(resamples, -1))  # its quantiles leave NaN out
    ends = ratios.quantile([(1 - prob) / 2, (1 + prob) / 2]).to_numpy()
    known = np.stack([*several, np.any(several, axis=0)])
    low, high = np.where(known, ends.reshape(2, *known.shape), np.nan)
    tables = {"count": total[:, 1].astype(int), "mean": _ratio(total), "low": low, "high": high}
    columns = sums.columns.repeat(len(names) + 1)
    levels = [columns.get_level_values(level) for level in range(columns.nlevels)]
    groups_of = [*names, "all"] * sums.shape[1]
    index = pd.MultiIndex.from_arrays([*levels, groups_of], names=[*columns.names, "group"])
    return pd.DataFrame({name: table.T.ravel() for name, table in tables.items()}, index)


def _ratio(sums: np.ndarray) -> np.ndarray:
    """Divide sums by counts, along the last axis but one; NaN where the count is 0."""
    total, count = sums[..., 0, :], sums[..., 1, :]
    return np.asarray(np.where(count > 0, total / np.where(count > 0, count, 1), np.nan))
