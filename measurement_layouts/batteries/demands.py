"""Demand profiles of batteries, and correlations of demands."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..common.errors import DataError
from ..common.messages import many, some
from ..evaluations.evaluation import Evaluation
from ..evaluations.tables import (
    name_cells,
    named,
    need_columns,
    read_numbers,
    refuse_repeats,
    texts,
)


def read_demands(items: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """Read the demands of items.

    Parameters
    ----------
    items : DataFrame
        Indexed by item.
    columns : sequence of str
        Columns of demands.

    Returns
    -------
    DataFrame
        Demands as floats, shape (items, columns).

    Raises
    ------
    DataError
        When there are no items or columns, a column is missing or repeated, or a cell is not a
        finite number.

    Examples
    --------
    >>> items = pd.DataFrame({"QLl": [3, 4], "task": ["a", "b"]})
    >>> read_demands(items, ["QLl"])["QLl"].tolist()
    [3.0, 4.0]
    """
    table = named(items, "items", "item")
    wanted = [columns] if isinstance(columns, str) else texts(columns, "the columns of demands")
    if not len(table) or not wanted:
        raise DataError(
            f"{len(table)} items and {len(wanted)} columns of demands; give at least one of each"
        )
    refuse_repeats(wanted, "column", "the columns of demands")
    need_columns(table.columns, wanted, "the items have")
    values, _ = read_numbers(table[wanted])
    bad = ~np.isfinite(values)
    if bad.any():
        raise DataError(
            f"a demand is a number, but {name_cells(table[wanted], bad)}; fill it in, or leave "
            "those items or columns out"
        )
    return pd.DataFrame(values, table.index, wanted)


def short_names(columns: Iterable[object]) -> list[str]:
    """Name dimensions for a figure: by their labels, if all are labels of one meta-feature.

    Examples
    --------
    >>> short_names(["demand[QLl]", "demand[MS]"]), short_names(["demand[QLl]", "size"])
    (['QLl', 'MS'], ['demand[QLl]', 'size'])
    """
    names = [str(column) for column in columns]
    parts = [re.fullmatch(r"(.+)\[(.+)\]", name) for name in names]
    if all(parts) and len({part[1] for part in parts if part}) == 1:
        return [part[2] for part in parts if part]
    return names


LEVELS = (0, 1, 2, 3, 4, 5)
"""Levels of the general scales."""


@dataclass(frozen=True, eq=False, repr=False)
class DemandProfile:
    """Numbers of items of a battery at each level of each dimension.

    It is made by `demand_profile`.

    Attributes
    ----------
    counts : DataFrame
        Numbers of items, with one row per dimension and one column per level.

    Examples
    --------
    >>> items = pd.DataFrame({"QLl": [3, 4, 4], "MS": [0, 0, 1]})
    >>> demand_profile(items, ["QLl", "MS"])
    <DemandProfile: 3 items, 2 dimensions, levels 0, 1, 2, 3, 4, 5>
    """

    counts: pd.DataFrame

    @property
    def items(self) -> int:
        """Number of items."""
        return int(self.counts.iloc[0].sum())

    @property
    def levels(self) -> list[float]:
        """Levels, in ascending order."""
        return [float(level) for level in self.counts.columns.to_numpy()]

    @property
    def shares(self) -> pd.DataFrame:
        """Shares of the items, with the rows and columns of `counts`; a row sums to 1."""
        return self.counts / self.items

    @property
    def means(self) -> pd.Series:
        """Mean level of each dimension."""
        sums = self.counts.to_numpy() @ np.array(self.levels)
        return pd.Series(sums / self.items, self.counts.index)

    def __repr__(self) -> str:
        dimensions = many(len(self.counts), "dimension")
        levels = some((f"{level:g}" for level in self.levels), 12)
        return f"<DemandProfile: {many(self.items, 'item')}, {dimensions}, levels {levels}>"


def demand_profile(
    items: pd.DataFrame, columns: Sequence[str], *, levels: Sequence[float] = LEVELS
) -> DemandProfile:
    """Count the items at each level of each dimension.

    Parameters
    ----------
    items : DataFrame
        Indexed by item.
    columns : sequence of str
        Dimensions to count, each a column of levels.
    levels : sequence of float
        Levels that an item can have; they are sorted.

    Returns
    -------
    DemandProfile
        Counts, shares and means.

    Raises
    ------
    DataError
        When a column is missing or repeated, a demand is not one of the levels, or levels are not
        numbers or repeat.

    References
    ----------
    General scales paper, section 2.2, Figures 5 and 6.

    Examples
    --------
    >>> items = pd.DataFrame({"QLl": [3, 4, 4], "MS": [0, 0, 1]})
    >>> profile = demand_profile(items, ["QLl", "MS"])
    >>> profile.counts
    level      0  1  2  3  4  5
    dimension
    QLl        0  0  0  1  2  0
    MS         2  1  0  0  0  0
    >>> profile.means.round(2).to_dict()
    {'QLl': 3.67, 'MS': 0.33}
    """
    allowed = _levels(levels)
    demands = read_demands(items, columns)
    bad = ~np.isin(demands, allowed)
    if bad.any():
        raise DataError(
            f"{bad.sum()} demand(s) are none of the levels {some(allowed.tolist(), 12)}: "
            f"{name_cells(demands, bad)}; round them, turn a percentage into levels, or name all "
            "levels in levels="
        )
    counts = {
        name: [int((column == level).sum()) for level in allowed]
        for name, column in demands.items()
    }
    return DemandProfile(
        pd.DataFrame.from_dict(
            counts, orient="index", columns=pd.Index(allowed, name="level")
        ).rename_axis("dimension")
    )


def _levels(levels: Sequence[float]) -> np.ndarray:
    try:
        found = np.unique(np.asarray(levels, dtype=float))
    except (TypeError, ValueError):
        raise DataError(f"levels={levels!r}; give numbers, such as 0 to 5") from None
    if not found.size or len(found) != np.size(levels) or not np.isfinite(found).all():
        raise DataError(f"levels={levels!r}; give different finite numbers, such as 0 to 5")
    whole = found.astype("int64")
    return whole if (whole == found).all() else found


@dataclass(frozen=True, eq=False, repr=False)
class DemandCorrelations:
    """Spearman's rank correlations over the items of a battery.

    They are made by `demand_correlations`. A correlation is NaN when one of the two never varies.

    Attributes
    ----------
    between : DataFrame
        Correlations of all pairs of dimensions.
    success : DataFrame
        Correlations of each dimension (column) with the success rates of each subject (row), over
        the items that the subject attempted; it has no rows when there are no outcomes.
    overall : Series or None
        Correlations of each dimension with the success rates of items over all subjects, which
        depend on the subjects; None when there are no outcomes.

    Examples
    --------
    >>> items = pd.DataFrame({"QLl": [1, 2, 3, 4], "MS": [0, 2, 2, 1]})
    >>> demand_correlations(items, ["QLl", "MS"])
    <DemandCorrelations: 2 dimensions, 0 subjects>
    """

    between: pd.DataFrame
    success: pd.DataFrame
    overall: pd.Series | None

    def __repr__(self) -> str:
        dimensions = many(len(self.between), "dimension")
        return f"<DemandCorrelations: {dimensions}, {many(len(self.success), 'subject')}>"


def demand_correlations(
    battery: pd.DataFrame | Evaluation, columns: Sequence[str]
) -> DemandCorrelations:
    """Correlate demands with each other and with success, by ranks.

    A correlation near 1 means that the battery cannot distinguish two dimensions. It does not mean
    that they are the same: other batteries may have items that demand one without the other.

    Parameters
    ----------
    battery : DataFrame or Evaluation
        Items, or items and outcomes.
    columns : sequence of str
        Columns of the items to correlate. They may have any numbers, such as unguessability.

    Returns
    -------
    DemandCorrelations
        Correlations between dimensions, with the success of each subject, and with that of all.

    Raises
    ------
    DataError
        When a column is missing or repeated, or has values that are not finite numbers.

    References
    ----------
    General scales paper, section 3.1 and Figure 4.

    Examples
    --------
    >>> items = pd.DataFrame({"QLl": [1, 2, 3, 4], "MS": [0, 2, 2, 1]}, index=list("abcd"))
    >>> outcomes = pd.DataFrame([[1, 1, 0, 0]], ["Ann"], items.index)
    >>> found = demand_correlations(Evaluation.from_wide(outcomes, items), ["QLl", "MS"])
    >>> found.between.round(2)
          QLl    MS
    QLl  1.00  0.32
    MS   0.32  1.00
    >>> found.success.round(2)
              QLl    MS
    subject
    Ann     -0.89 -0.24
    """
    items = battery.items if isinstance(battery, Evaluation) else battery
    demands = read_demands(items, columns)
    between = demands.corr(method="spearman")
    if not isinstance(battery, Evaluation):
        nobody = pd.DataFrame(index=pd.Index([], name="subject"), columns=demands.columns)
        return DemandCorrelations(between, nobody.astype(float), None)
    successes, trials = battery.successes.to_numpy(), battery.trials.to_numpy()
    rows = [_with_success(demands, *one) for one in zip(successes, trials, strict=True)]
    overall = _with_success(demands, successes.sum(axis=0), trials.sum(axis=0))
    return DemandCorrelations(
        between, pd.DataFrame(rows, battery.subject_table.index, demands.columns), overall
    )


def _with_success(demands: pd.DataFrame, successes: np.ndarray, trials: np.ndarray) -> pd.Series:
    done = trials > 0
    rates = successes[done] / trials[done]
    # a matrix with the rates as last column: it has NaN for a constant column, and no warning
    return (
        pd.concat([demands[done], pd.Series(rates, demands.index[done])], axis=1)
        .corr(method="spearman")
        .iloc[-1, :-1]
    )
