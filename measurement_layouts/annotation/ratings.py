"""Levels of demands by several raters: read, checked, and compared."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Self

import numpy as np
import pandas as pd
import xarray as xr

from ..common.errors import AnnotationError
from ..common.messages import many, some
from .agreement import kappa
from .demand_table import DemandTable
from .inputs import read_columns
from .rubric import DEMAND_LEVELS

_KEYS = ["item", "rater", "column"]


@dataclass(frozen=True, eq=False)
class Ratings:
    """Levels that several raters gave to items, by dimension.

    Made by `from_wide` and `from_long`. The model of raters is `estimation.rater_model`.

    Attributes
    ----------
    said : xarray.DataArray
        Levels as numbers, with the dims item, rater and dimension; NaN where there is none.
    levels : tuple of float
        Levels of the rubrics, in ascending order.
    problems : DataFrame
        Cells without a level, which are missing ratings: ``rater``, ``row`` (in a file, whose
        header is row 1; in a frame, counted from 1), ``item``, ``column`` and ``found``, the text
        of the cell, which is empty if the cell is.

    Examples
    --------
    >>> one = pd.DataFrame({"planning": [0, 1, 3], "memory": [1, "", 2]}, index=["a", "b", "c"])
    >>> two = pd.DataFrame({"planning": [0, 2, 3], "memory": [1, "none", 3]}, index=["a", "b", "c"])
    >>> ratings = Ratings.from_wide({"one": one, "two": two})
    >>> ratings
    <Ratings: 3 items, 2 raters, 2 dimensions, 10 levels; 2 cells without a level>
    >>> ratings.problems
      rater  row item  column found
    0   one    2    b  memory
    1   two    2    b  memory  none
    """

    said: xr.DataArray
    levels: tuple[float, ...]
    problems: pd.DataFrame

    @property
    def raters(self) -> list[str]:
        """Names of the raters."""
        return [str(name) for name in self.said["rater"].values]

    @property
    def dimensions(self) -> list[str]:
        """Names of the dimensions."""
        return [str(name) for name in self.said["dimension"].values]

    @classmethod
    def from_wide(
        cls,
        tables: "Mapping[str, str | Path | pd.DataFrame | DemandTable]",
        *,
        item: str | Sequence[str] | None = None,
        levels: Sequence[float] = DEMAND_LEVELS,
    ) -> Self:
        """Read one file or table per rater, with one row per item and one column per dimension.

        Parameters
        ----------
        tables : mapping of str to str, Path, DataFrame or DemandTable
            File (CSV) or table of each rater. Several runs of one annotator are separate
            raters whose errors correlate.
        item : str or sequence of str, optional
            The column with the names of items, or several columns, whose values are joined
            by ``/`` (default: the first column of a file, the index of a frame). All other
            columns are dimensions; the column ``demand[code]`` is the dimension ``code``.
        levels : sequence of float, default 0 to 5
            Levels of the rubrics, in ascending order.

        Returns
        -------
        Ratings
            Ratings of all items in the tables.

        Raises
        ------
        AnnotationError
            When there is no table, a file cannot be read, a column is missing, there are no
            levels, a rater gave two levels of one item and dimension, or `levels` do not ascend.

        Examples
        --------
        >>> one = pd.DataFrame({"set": ["x", "y"], "number": [1, 1], "demand[QLl]": [2, 0]})
        >>> ratings = Ratings.from_wide({"one": one}, item=["set", "number"])
        >>> ratings.said.sel(rater="one", dimension="QLl").to_series().to_dict()
        {'x/1': 2.0, 'y/1': 0.0}
        """
        if not isinstance(tables, Mapping) or not tables:
            raise AnnotationError(
                "no tables; give a mapping from raters to a file, a DataFrame or a DemandTable"
            )
        cells = [_read_wide(str(name), source, item) for name, source in tables.items()]
        return cls._from_cells(pd.concat(cells, ignore_index=True), levels)

    @classmethod
    def from_long(
        cls,
        frame: pd.DataFrame,
        *,
        item: str = "item",
        rater: str = "rater",
        dimension: str = "dimension",
        level: str = "level",
        levels: Sequence[float] = DEMAND_LEVELS,
    ) -> Self:
        """Read a table with one row per level.

        Parameters
        ----------
        frame : DataFrame
            Table with the columns that the other parameters name.
        item, rater, dimension, level : str
            Names of the columns.
        levels : sequence of float, default 0 to 5
            Levels of the rubrics, in ascending order.

        Returns
        -------
        Ratings
            Ratings of all items in the table.

        Raises
        ------
        AnnotationError
            When a column is missing, there are no rows, a rater gave two levels of one item
            and dimension, or `levels` do not ascend.

        Examples
        --------
        >>> frame = pd.DataFrame({"item": ["a", "a"], "rater": ["one", "two"],
        ...                       "dimension": "planning", "level": [1, 2]})
        >>> Ratings.from_long(frame)
        <Ratings: 1 item, 2 raters, 1 dimension, 2 levels; 0 cells without a level>
        """
        columns = {rater: "rater", item: "item", dimension: "column", level: "found"}
        cells = read_columns(frame, "ratings", list(columns)).rename(columns=columns)
        cells = cells[list(columns.values())].astype(dict.fromkeys(_KEYS, str))
        return cls._from_cells(cells.assign(row=np.arange(len(cells)) + 1), levels)

    @classmethod
    def _from_cells(cls, cells: pd.DataFrame, levels: Sequence[float]) -> Self:
        """Arrange cells, whose texts and numbers are in the column `found`, in an array."""
        ascending = tuple(float(level) for level in levels)
        if len(ascending) < 2 or not (np.diff(ascending) > 0).all():
            raise AnnotationError(
                f"levels={some(levels)}; give at least two numbers that ascend, such as range(6)"
            )
        if cells.empty:
            raise AnnotationError("ratings: there are no levels; give at least one row and column")
        if cells.duplicated(_KEYS).any():
            second = cells[cells.duplicated(_KEYS)].iloc[0]
            raise AnnotationError(
                f"rater {second['rater']!r}, row {second['row']}: a second level of "
                f"{second['column']!r} of the item {second['item']!r}; give one, name runs as "
                "separate raters, or items by more columns"
            )
        numbers = pd.to_numeric(cells["found"], errors="coerce")
        numbers = numbers.where(numbers.isin(ascending)).astype(float).rename("level")
        array = cells[_KEYS].join(numbers).set_index(_KEYS)["level"].to_xarray()
        array = array.reindex({key: cells[key].unique() for key in _KEYS})
        problems = cells.loc[numbers.isna(), ["rater", "row", "item", "column", "found"]]
        texts = ["" if pd.isna(value) else str(value) for value in problems["found"]]
        problems = problems.assign(found=texts).reset_index(drop=True)
        return cls(array.rename(column="dimension"), ascending, problems)

    def agreement(self) -> pd.DataFrame:
        """Measure the agreement of the raters, by dimension.

        For annotations that `annotate` returned, the function `agreement` computes r_WG,
        Spearman's correlation and measures for bands.

        Returns
        -------
        DataFrame
            By ``dimension``: ``items``, the number of items with two ratings or more; ``exact``
            and ``within_one``, the shares of pairs of ratings that are equal, or at most one
            position on the scale apart; and ``kappa``, Cohen's with quadratic weights, which is
            NaN if all levels of a pair are equal. All are averaged over pairs of raters.

        Raises
        ------
        AnnotationError
            When there are fewer than two raters, or no item of a dimension has two ratings.

        Examples
        --------
        >>> one = pd.DataFrame({"planning": [0, 1, 3, 4, 2, 2, 0, 5]})
        >>> two = pd.DataFrame({"planning": [0, 2, 3, 4, 2, 1, 0, 4]})
        >>> Ratings.from_wide({"one": one, "two": two}).agreement().round(3)
                   items  exact  within_one  kappa
        dimension
        planning       8  0.625         1.0  0.927
        """
        if len(self.raters) < 2:
            raise AnnotationError(f"there is only the rater {self.raters[0]!r}; give at least two")
        rows = {}
        for dimension in self.dimensions:
            levels = pd.DataFrame(self.said.sel(dimension=dimension), columns=self.raters)
            several = int((levels.count(axis=1) >= 2).sum())
            if not several:
                raise AnnotationError(f"no item has two ratings of {dimension!r}; leave it out")
            pairs = [levels[list(pair)].dropna() for pair in combinations(self.raters, 2)]
            positions = [np.searchsorted(self.levels, pair) for pair in pairs if len(pair)]
            distances = [np.abs(pair[:, 0] - pair[:, 1]) for pair in positions]
            rows[dimension] = {
                "items": several,
                "exact": np.mean([(distance == 0).mean() for distance in distances]),
                "within_one": np.mean([(distance <= 1).mean() for distance in distances]),
                "kappa": np.mean([kappa(pair) for pair in positions]),
            }
        return pd.DataFrame(rows).T.rename_axis("dimension").astype({"items": int})

    def __repr__(self) -> str:
        items, raters, dimensions = self.said.shape
        return (
            f"<Ratings: {many(items, 'item')}, {many(raters, 'rater')}, "
            f"{many(dimensions, 'dimension')}, {int(self.said.notnull().sum())} levels; "
            f"{many(len(self.problems), 'cell')} without a level>"
        )


def _read_wide(
    rater: str, source: "str | Path | pd.DataFrame | DemandTable", item: str | Sequence[str] | None
) -> pd.DataFrame:
    """Read a rater's cells, with their rows: lines of a file, or rows of a table from 1."""
    first = 1
    if isinstance(source, DemandTable):
        tables = {name: column.table for name, column in source.annotations.items()}
        table = pd.DataFrame({name: one["level"] for name, one in tables.items() if "level" in one})
    elif isinstance(source, pd.DataFrame):
        table = source
    else:
        try:
            table, first = pd.read_csv(source, dtype=str, keep_default_na=False), 2
        except (OSError, ValueError) as error:
            raise AnnotationError(f"rater {rater!r}: cannot read {source} ({error})") from error
        item = table.columns[0] if item is None else item
    if item is not None:
        columns = [item] if isinstance(item, str) else list(item)
        names = read_columns(table, f"rater {rater!r}", columns)[columns].astype(str)
        table = table.drop(columns=columns).set_axis(names.agg("/".join, axis=1))
    dimensions = [re.sub(r"^demand\[(.*)\]$", r"\1", str(name)) for name in table.columns]
    rows = np.repeat(np.arange(len(table)) + first, len(dimensions))
    table = table.set_axis(dimensions, axis=1).set_axis(table.index.astype(str))
    cells = pd.Series(table.stack(future_stack=True), name="found").rename_axis(["item", "column"])
    return cells.reset_index().assign(rater=rater, row=rows)
