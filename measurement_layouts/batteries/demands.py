"""Demand profiles of batteries, and correlations of demands."""

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


def read_demands(items: pd.DataFrame, columns: Iterable[str]) -> pd.DataFrame:
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
    table, what = named(items, "items", "item"), "the columns of demands"
    names = [columns] if isinstance(columns, str) else texts(columns, what)
    if not len(table) or not names:
        raise DataError(
            f"{len(table)} items and {len(names)} columns of demands; give at least one of each"
        )
    refuse_repeats(names, "column", what)
    need_columns(table.columns, names, "the items have")
    values, _ = read_numbers(table[names])
    if not np.isfinite(values).all():
        raise DataError(
            f"a demand is a number, but {name_cells(table[names], ~np.isfinite(values))}; fill it "
            "in, or leave those items or columns out"
        )
    return pd.DataFrame(values, table.index, names)


def short_names(columns: Iterable[object]) -> list[str]:
    """Name dimensions for a figure: by their labels, if all are labels of one meta-feature.

    Examples
    --------
    >>> short_names(["demand[QLl]", "demand[MS]"]), short_names(["demand[QLl]", "size"])
    (['QLl', 'MS'], ['demand[QLl]', 'size'])
    """
    names = [str(column) for column in columns]
    labels = pd.Series(names, dtype="str").str.extract(r"^(.+)\[(.+)\]$")
    together = labels[0].notna().all() and labels[0].nunique() == 1
    return labels[1].tolist() if together else names


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
        return (self.shares * self.levels).sum(axis=1)

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
    numbers = pd.to_numeric(pd.Series(levels), errors="coerce").sort_values()
    if not np.isfinite(numbers).all() or not numbers.size or not numbers.is_unique:
        raise DataError(f"levels={levels!r}; give different finite numbers, such as 0 to 5")
    allowed = pd.Index(numbers.astype("int64" if (numbers % 1 == 0).all() else float), name="level")
    demands = read_demands(items, columns)
    bad = ~demands.isin(allowed).to_numpy()
    if bad.any():
        raise DataError(
            f"{bad.sum()} demand(s) are none of the levels {some(allowed.tolist(), 12)}: "
            f"{name_cells(demands, bad)}; round them, turn a percentage into levels, or name all "
            "levels in levels="
        )
    counts = demands.apply(lambda column: column.value_counts().reindex(allowed, fill_value=0))
    return DemandProfile(counts.T.rename_axis("dimension"))


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
    if not isinstance(battery, Evaluation):
        demands = read_demands(battery, columns)
        nobody = pd.DataFrame(columns=demands.columns, index=pd.Index([], name="subject"))
        return DemandCorrelations(demands.corr("spearman"), nobody.astype(float), None)
    demands, cells = read_demands(battery.items, columns), battery.cells
    subjects, counts = battery.subject_table.index, ["successes", "trials"]
    rows = {name: _with_success(demands, own) for name, own in cells.groupby("subject")}
    success = pd.DataFrame.from_dict(rows, orient="index", columns=demands.columns)
    overall = _with_success(demands, cells.groupby("item", as_index=False)[counts].sum())
    return DemandCorrelations(demands.corr("spearman"), success.reindex(subjects), overall)


def _with_success(demands: pd.DataFrame, cells: pd.DataFrame) -> pd.Series:
    """Correlate demands with success rates; by a matrix, which has NaN for constants, unwarned."""
    rates = (cells["successes"] / cells["trials"]).set_axis(cells["item"])
    table = pd.concat([demands.loc[cells["item"]], rates], axis=1)
    return table.corr("spearman").iloc[-1, :-1]
