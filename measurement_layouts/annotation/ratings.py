"""Ratings: levels that several raters gave to items, and cells that could not be read."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Self

import numpy as np
import pandas as pd
import xarray as xr

from ..common.errors import AnnotationError
from ..common.messages import many
from ..common.seeds import subject_seed
from .agreement import kappa
from .demand_table import DemandTable
from .inputs import read_columns
from .rater_density import Raters
from .rater_dimension import fitted
from .rater_model import RaterModel, assumed_of
from .rating_tables import ascending, numbers_of, table_of
from .rubric import DEMAND_LEVELS

_PROBLEMS = ("rater", "row", "item", "column", "found")


@dataclass(frozen=True, eq=False)
class Ratings:
    """Levels that several raters gave to items, by dimension.

    Made by `from_wide` and `from_long`.

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
            When there is no table, a file cannot be read, a column is missing, a table has
            no levels or has an item or a column twice, or `levels` do not ascend.

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
        parts, problems = {}, []
        for rater, given in tables.items():
            table, first = table_of(str(rater), given, item)
            numbers, wrong = numbers_of(table, ascending(levels))
            parts[str(rater)] = numbers
            where = [(str(rater), first + row, table.index[row], *rest) for row, *rest in wrong]
            problems += where
        items = pd.Index(dict.fromkeys(name for part in parts.values() for name in part.index))
        dimensions = list(dict.fromkeys(name for part in parts.values() for name in part.columns))
        values = [
            part.reindex(index=items, columns=dimensions).to_numpy(float) for part in parts.values()
        ]
        return cls(
            _array(np.stack(values, axis=1), items, parts, dimensions),
            ascending(levels),
            pd.DataFrame(problems, columns=list(_PROBLEMS)),
        )

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
        frame = read_columns(frame, "ratings", (item, rater, dimension, level))
        if frame.empty:
            raise AnnotationError("ratings: there are no rows; give at least one")
        who = frame[rater].astype(str)
        names = frame[[item, dimension]].astype(str).set_axis(["item", "column"], axis=1)
        twice = pd.concat([who, names], axis=1).duplicated()
        if twice.any():
            first = int(np.argmax(twice))
            raise AnnotationError(
                f"ratings, row {first + 1}: the rater {who.iloc[first]!r} has a second level of "
                f"{names['column'].iloc[first]!r} of the item {names['item'].iloc[first]!r}; give "
                "one, or name the runs as separate raters"
            )
        numbers, wrong = numbers_of(frame[[level]], ascending(levels))
        long = names.assign(rater=who, level=numbers[level].to_numpy())
        order = {column: long[column].drop_duplicates() for column in ("item", "rater", "column")}
        places = [pd.Index(order[name]).get_indexer(long[name]) for name in order]
        values = np.full([len(names) for names in order.values()], np.nan)
        values[tuple(places)] = long["level"]
        rows = [row for row, *_ in wrong]
        return cls(
            _array(values, *order.values()),
            ascending(levels),
            long.iloc[rows]
            .assign(row=np.array(rows, dtype=int) + 1, found=[text for *_, text in wrong])
            .reset_index(drop=True)[list(_PROBLEMS)],
        )

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
            said = self.said.sel(dimension=dimension).to_numpy()
            said = said[(~np.isnan(said)).sum(axis=1) >= 2]
            if not len(said):
                raise AnnotationError(f"no item has two ratings of {dimension!r}; leave it out")
            pairs = [said[:, pair] for pair in combinations(range(said.shape[1]), 2)]
            pairs = [pair[~np.isnan(pair).any(axis=1)] for pair in pairs]
            pairs = [np.searchsorted(self.levels, pair) for pair in pairs if len(pair)]
            apart = [np.abs(pair[:, 0] - pair[:, 1]) for pair in pairs]
            rows[dimension] = {
                "items": len(said),
                "exact": np.mean([(away == 0).mean() for away in apart]),
                "within_one": np.mean([(away <= 1).mean() for away in apart]),
                "kappa": np.mean([kappa(pair) for pair in pairs]),
            }
        return pd.DataFrame(rows).T.rename_axis("dimension").astype({"items": int})

    def rater_model(
        self,
        *,
        error_correlation: float = 0.0,
        seed: int = 1,
    ) -> RaterModel:
        """Estimate true levels of the items, and bias, scale, noise and confusions of the raters.

        The noises of two raters are not identified by their ratings: reliabilities of .50
        and .50, of .78 and .32, and of .98 and .26 give the same correlation. Two raters
        are therefore assumed to be equally reliable. If there are three raters or more, a
        reliability is estimated for each. Errors that raters share are not identified
        either: their correlation is 0 unless it is stated.

        Parameters
        ----------
        error_correlation : float, default 0
            Correlation between the errors of any two raters, before errors are cut into
            levels; in [0, 1).
        seed : int, default 1
            Seed of the draws.

        Returns
        -------
        RaterModel
            Estimates; `RaterModel.demands` returns the probabilities of true levels.

        Raises
        ------
        AnnotationError
            When there are fewer than two raters, `error_correlation` is out of range, or no
            rater rated a dimension.
        """
        names = self.raters
        if len(names) < 2:
            raise AnnotationError(
                f"there is only the rater {names[0]!r}, and the noise of one rater cannot be "
                "estimated; add a rater"
            )
        if not 0 <= error_correlation < 1:
            raise AnnotationError(
                f"error_correlation={error_correlation!r}; give a number from 0 to below 1"
            )
        levels, found = np.array(self.levels), {}
        for dimension in self.dimensions:
            said = self._of(dimension)
            noise = (0, 0) if len(names) == 2 else tuple(range(len(names)))
            raters = Raters.of(said, levels, noise, float(error_correlation))
            found[dimension] = fitted(*raters, subject_seed(seed, dimension))
        items = tuple(map(str, self.said["item"].values))
        assumed = assumed_of(len(names))
        return RaterModel(
            items, tuple(names), self.levels, found, assumed, float(error_correlation)
        )

    def demands(
        self,
        *,
        error_correlation: float = 0.0,
        seed: int = 1,
    ) -> xr.DataArray:
        """Compute the probabilities of true levels, for each item and dimension.

        Parameters
        ----------
        error_correlation, seed
            As in `rater_model`.

        Returns
        -------
        DataArray
            ``demand``, with the dims item, dimension and level; sums over level are 1. An item
                        that no rater rated on a dimension has the probabilities of a random item.

        Raises
        ------
        AnnotationError
            As in `rater_model`.

        Examples
        --------
        >>> one = pd.DataFrame({"planning": [0, 1, 3, 4, 2, 2, 0, 5]})
        >>> two = pd.DataFrame({"planning": [0, 2, 3, 4, 2, 1, 0, 4]})
        >>> demands = Ratings.from_wide({"one": one, "two": two}).demands()
        >>> demands.sel(dimension="planning", item="2").idxmax("level").item()
        3.0
        """
        return self.rater_model(error_correlation=error_correlation, seed=seed).demands()

    def _of(self, dimension: str) -> np.ndarray:
        """Return the levels of one dimension, shape (items, raters)."""
        said = self.said.sel(dimension=dimension).to_numpy()
        if np.isnan(said).all():
            raise AnnotationError(f"no rater rated the dimension {dimension!r}; leave it out")
        return said

    def __repr__(self) -> str:
        items, raters, dimensions = self.said.shape
        return (
            f"<Ratings: {many(items, 'item')}, {many(raters, 'rater')}, "
            f"{many(dimensions, 'dimension')}, {int(self.said.notnull().sum())} levels; "
            f"{many(len(self.problems), 'cell')} without a level>"
        )


def _array(
    values: np.ndarray, items: Iterable[str], raters: Iterable[str], dimensions: Iterable[str]
) -> xr.DataArray:
    """Label levels of shape (items, raters, dimensions)."""
    coords = {
        "item": np.array(list(items), dtype=object),
        "rater": list(raters),
        "dimension": list(dimensions),
    }
    return xr.DataArray(values, coords, tuple(coords), name="level")
