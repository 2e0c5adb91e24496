"""Means of groups with intervals by the bootstrap: rows are drawn again within each group."""

from typing import Any

import numpy as np
import pandas as pd

from .options import inside, whole
from .proportions import rates
from .seeds import subject_seed


def group_means(
    values: pd.DataFrame,
    groups: pd.Series,
    *,
    prob: float,
    resamples: int,
    seed: int,
    overall: bool = True,
) -> pd.DataFrame:
    """Average the columns of a table within groups of its rows.

    Parameters
    ----------
    values : DataFrame
        Values; NaN where there is none.
    groups : Series
        Group of each row.
    prob : float
        Mass of the interval, in (0, 1).
    resamples : int
        Number of resamples of the rows of each group, with replacement, at least 2.
    seed : int
        Seed of the resamples. A group's resamples depend on the seed and on its name only.
    overall : bool, default True
        Whether all rows together are a further group, ``all``, which keeps the sizes of groups.

    Returns
    -------
    DataFrame
        By column of `values` and ``group``, in the order of appearance: the ``count`` of values,
        their ``mean``, and the percentiles ``low`` and ``high``, which are NaN where each group has
        one value at most.

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
    options: dict[str, Any] = {"resamples": resamples, "seed": seed, "overall": overall}
    return group_ratios(values.fillna(0), counts, groups, prob=prob, **options)


def group_ratios(
    sums: pd.DataFrame,
    counts: pd.DataFrame,
    groups: pd.Series,
    *,
    prob: float,
    resamples: int,
    seed: int,
    overall: bool = True,
) -> pd.DataFrame:
    """Average values that come several to a row, such as the votes of a rater; see `group_means`.

    `sums` and `counts` have the sums and the numbers of the values of each row and column.
    """
    prob, resamples = inside("prob", prob, such_as=0.9), whole("resamples", resamples, least=2)
    seed = whole("seed", seed)
    both = np.stack([sums.to_numpy(dtype=float), counts.to_numpy(dtype=float)], axis=1)
    totals: dict[object, Any] = {}
    drawn: dict[object, Any] = {}
    vary: dict[object, Any] = {}
    for name in groups.unique():
        rows = both[(groups == name).to_numpy()]
        rng = np.random.default_rng(subject_seed(seed, str(name)))
        times = rng.multinomial(len(rows), np.full(len(rows), 1 / len(rows)), size=resamples)
        totals[name] = rows.sum(axis=0)
        drawn[name] = np.tensordot(times.astype(float), rows, 1)
        vary[name] = (rows[:, 1] > 0).sum(axis=0) > 1
    if overall:
        totals["all"], drawn["all"] = sum(totals.values()), sum(drawn.values())
        vary["all"] = np.any(list(vary.values()), axis=0)
    tables = {}
    for name, (total, count) in totals.items():
        resampled = pd.DataFrame(rates(drawn[name][:, 0], drawn[name][:, 1]))
        low, high = resampled.quantile([(1 - prob) / 2, (1 + prob) / 2]).to_numpy()  # without NaN
        statistics = {"count": count.astype(int), "mean": rates(total, count)}
        statistics |= {"low": np.where(vary[name], low, np.nan)}
        statistics |= {"high": np.where(vary[name], high, np.nan)}
        tables[name] = pd.DataFrame(statistics, sums.columns)
    table = pd.concat(tables, names=["group"])
    table = table.reorder_levels([*range(1, table.index.nlevels), 0])  # the group is the last one
    columns = sums.columns.to_frame(index=False).to_numpy().tolist()
    order = [(*column, name) for column in columns for name in tables]
    return pd.DataFrame(table.reindex(pd.MultiIndex.from_tuples(order, names=table.index.names)))
