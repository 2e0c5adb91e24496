"""Ratings: what several raters said about items, and what could not be read as a level."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
import pandas as pd
import xarray as xr

from ..common.errors import AnnotationError
from ..common.messages import many, some
from ..common.seeds import subject_seed
from ..linking.real import real
from .demand_table import DemandTable
from .inputs import read_columns
from .rater_model import RaterModel, fitted, stated_noise
from .rubric import DEMAND_LEVELS

_PROBLEMS = ("rater", "row", "item", "column", "found")


@dataclass(frozen=True, eq=False)
class Ratings:
    """Levels that several raters gave to items, by dimension.

    Make one with `from_wide` or `from_long`.

    Attributes
    ----------
    said : xarray.DataArray
        Levels as numbers, with the dims item, rater and dimension; NaN where there is none.
    levels : tuple of float
        Of the rubrics, ascending.
    problems : DataFrame
        Cells that hold no level, empty ones too: ``rater`` (of `from_wide`: whose file or table it
        is), ``row`` (of a file, its header being row 1; of a frame, counted from 1), ``item``,
        ``column`` and what was ``found``. They are missing ratings.

    Examples
    --------
    >>> one = pd.DataFrame({"planning": [0, 1, 3], "memory": [1, "", 2]}, index=["a", "b", "c"])
    >>> two = pd.DataFrame({"planning": [0, 2, 3], "memory": [1, "none", 3]}, index=["a", "b", "c"])
    >>> ratings = Ratings.from_wide({"one": one, "two": two})
    >>> ratings
    <Ratings: 3 items, 2 raters, 2 dimensions, 10 levels; 2 cells hold no level>
    >>> ratings.problems
      rater  row item  column found
    0   one    2    b  memory
    1   two    2    b  memory  none
    """

    said: xr.DataArray
    levels: tuple[float, ...]
    problems: pd.DataFrame

    @classmethod
    def from_wide(
        cls,
        tables: "Mapping[str, str | Path | pd.DataFrame | DemandTable]",
        *,
        item: str | Sequence[str] | None = None,
        levels: Sequence[float] = DEMAND_LEVELS,
    ) -> Self:
        """Read a file or a table of each rater, one row per item and one column per dimension.

        Parameters
        ----------
        tables : mapping of str to str, Path, DataFrame or DemandTable
            By rater. Files are CSV. Several runs of one annotator are raters of their own, whose
            errors correlate.
        item : str or sequence of str, optional
            The column that names items, or several, whose values are joined by ``/``; by default
            the first column of a file, and the index of a frame. All others are dimensions;
            ``demand[code]`` is the dimension ``code``.
        levels : sequence of float, default 0 to 5
            Of the rubrics, ascending.

        Returns
        -------
        Ratings
            Of every item that somebody has.

        Raises
        ------
        AnnotationError
            When there is no table, a column is missing, a rater has an item twice, or levels do
            not ascend.

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
            table, first = _table(str(rater), given, item)
            numbers, wrong = _numbers(table, _ascending(levels))
            parts[str(rater)] = numbers
            where = [(str(rater), first + row, table.index[row], *rest) for row, *rest in wrong]
            problems += where
        items = pd.Index(dict.fromkeys(name for part in parts.values() for name in part.index))
        dimensions = list(dict.fromkeys(name for part in parts.values() for name in part.columns))
        values = [part.reindex(index=items, columns=dimensions) for part in parts.values()]
        return cls(
            xr.DataArray(
                np.stack([np.asarray(value, dtype=float) for value in values], axis=1),
                coords={"item": items.to_numpy(object), "rater": [*parts], "dimension": dimensions},
                dims=("item", "rater", "dimension"),
                name="level",
            ),
            _ascending(levels),
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
        """Read one row per level.

        Parameters
        ----------
        frame : DataFrame
            With the columns that the other parameters name.
        item, rater, dimension, level : str
            Names of columns.
        levels : sequence of float, default 0 to 5
            Of the rubrics, ascending.

        Returns
        -------
        Ratings
            Of every item that somebody has.

        Raises
        ------
        AnnotationError
            When a column is missing, a rater said two levels of one item and dimension, or levels
            do not ascend.

        Examples
        --------
        >>> frame = pd.DataFrame({"item": ["a", "a"], "rater": ["one", "two"],
        ...                       "dimension": "planning", "level": [1, 2]})
        >>> Ratings.from_long(frame)
        <Ratings: 1 item, 2 raters, 1 dimension, 2 levels; 0 cells hold no level>
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
                f"ratings, row {first + 1}: the rater {who.iloc[first]!r} says a second level of "
                f"{names['column'].iloc[first]!r} of the item {names['item'].iloc[first]!r}; give "
                "one, or name the runs as raters of their own"
            )
        numbers, wrong = _numbers(frame[[level]], _ascending(levels))
        long = names.assign(rater=who, level=numbers[level].to_numpy())
        order = {column: long[column].drop_duplicates() for column in ("item", "rater", "column")}
        places = [pd.Index(order[name]).get_indexer(long[name]) for name in order]
        values = np.full([len(names) for names in order.values()], np.nan)
        values[tuple(places)] = long["level"]
        rows = [row for row, *_ in wrong]
        return cls(
            xr.DataArray(
                values,
                coords={
                    "item": order["item"].to_numpy(object),
                    "rater": order["rater"].to_list(),
                    "dimension": order["column"].to_list(),
                },
                dims=("item", "rater", "dimension"),
                name="level",
            ),
            _ascending(levels),
            long.iloc[rows]
            .assign(row=np.array(rows, dtype=int) + 1, found=[text for *_, text in wrong])
            .reset_index(drop=True)[list(_PROBLEMS)],
        )

    def rater_model(
        self,
        *,
        reliability: "Mapping[str, float | Mapping[str, float]] | None" = None,
        error_correlation: float = 0.0,
        seed: int = 1,
    ) -> RaterModel:
        """Estimate true levels of the items, and bias, scale, noise and confusions of the raters.

        Two raters do not tell their noises apart: reliabilities of .50 and .50, of .78 and .32 and
        of .98 and .26 give the same correlation. Of two raters, both are therefore taken to be
        equally reliable, unless the reliability of one is stated; of three or more, each has a
        reliability of its own. Nor do ratings show what errors the raters share: their correlation
        is 0 unless it is stated. `sensitivity` shows how much depends on both.

        Parameters
        ----------
        reliability : mapping, optional
            From raters to the share of the variance of their levels that is true, or to a mapping
            from dimensions to it. A single rater needs it; of several, one at least must be left
            out.
        error_correlation : float, default 0
            Between the errors of any two raters, before they are cut into levels; below 1.
        seed : int, default 1
            Of the draws.

        Returns
        -------
        RaterModel
            With the true levels as chances, see `RaterModel.demands`.

        Raises
        ------
        AnnotationError
            When a statement is out of range, names nobody, or leaves nothing to be estimated or
            too much; when nobody rated a dimension.
        """
        stated = _stated(reliability, self)
        if not 0 <= error_correlation < 1:
            raise AnnotationError(
                f"error_correlation={error_correlation!r}; give a number from 0 to below 1"
            )
        names = [str(name) for name in self.said["rater"].values]
        assumed = "the raters are equally reliable" if len(names) == 2 else "none"
        found = {}
        for dimension in map(str, self.said["dimension"].values):
            said = self.said.sel(dimension=dimension).to_numpy()
            if np.isnan(said).all():
                raise AnnotationError(f"nobody rated the dimension {dimension!r}; leave it out")
            noise = self._noises(said, stated.get(dimension, {}))
            found[dimension] = fitted(
                said,
                np.array(self.levels),
                noise,
                (1.0,) * len(noise),
                float(error_correlation),
                subject_seed(seed, dimension),
            )
        items = tuple(map(str, self.said["item"].values))
        return RaterModel(items, tuple(names), self.levels, found, assumed)

    def demands(
        self,
        *,
        reliability: "Mapping[str, float | Mapping[str, float]] | None" = None,
        error_correlation: float = 0.0,
        seed: int = 1,
    ) -> xr.DataArray:
        """Measure demands: chances of true levels, for each item and dimension.

        Parameters
        ----------
        reliability, error_correlation, seed
            As in `rater_model`.

        Returns
        -------
        DataArray
            ``demand``, with the dims item, dimension and level; sums over level are 1. Items that
            nobody rated in a dimension have the chances of any item.

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
        model = self.rater_model(
            reliability=reliability, error_correlation=error_correlation, seed=seed
        )
        return model.demands()

    def _noises(self, said: np.ndarray, stated: Mapping[str, float]) -> tuple[float | int, ...]:
        """Noises that are stated, and numbers of those that are free: two raters share one."""
        names = [str(name) for name in self.said["rater"].values]
        levels, free = np.array(self.levels), []
        for place, name in enumerate(names):
            if name in stated:
                free.append(stated_noise(said[:, place], levels, stated[name]))
            else:
                free.append(place if len(names) > 2 else 0)
        return tuple(free)

    def __repr__(self) -> str:
        items, raters, dimensions = self.said.shape
        return (
            f"<Ratings: {many(items, 'item')}, {many(raters, 'rater')}, "
            f"{many(dimensions, 'dimension')}, {int(self.said.notnull().sum())} levels; "
            f"{many(len(self.problems), 'cell')} hold{'s' * (len(self.problems) == 1)} no level>"
        )


def _stated(reliability: object, ratings: Ratings) -> dict[str, dict[str, float]]:
    """Read stated reliabilities: by dimension and rater."""
    names, dimensions = (
        [str(name) for name in ratings.said[dim].values] for dim in ("rater", "dimension")
    )
    given = {} if reliability is None else reliability
    if not isinstance(given, Mapping):
        raise AnnotationError(
            f"reliability={reliability!r}; give a mapping from raters to numbers, such as "
            f"{{{names[0]!r}: 0.7}}"
        )
    found: dict[str, dict[str, float]] = {name: {} for name in dimensions}
    for rater, value in given.items():
        by_dimension = value if isinstance(value, Mapping) else dict.fromkeys(dimensions, value)
        for known, name, what in (
            (names, rater, "rater"),
            *((dimensions, each, "dimension") for each in by_dimension),
        ):
            if name not in known:
                raise AnnotationError(
                    f"reliability: there is no {what} {name!r}; there is {some(known)}"
                )
        for dimension, number in by_dimension.items():
            share = real(number)
            if share is None or not 0.001 <= share <= 0.999:
                raise AnnotationError(
                    f"reliability of {rater!r} in {dimension!r} is {number!r}; give a number from "
                    "0.001 to 0.999, such as 0.7"
                )
            found[dimension][str(rater)] = share
    for dimension, stated in found.items():
        if len(names) == 1 and not stated:
            raise AnnotationError(
                f"there is only the rater {names[0]!r}, and one rater does not show its noise; "
                f"state its reliability in {dimension!r}, such as "
                f"reliability={{{names[0]!r}: 0.7}}, or add a rater"
            )
        if len(names) > 1 and len(stated) == len(names):
            raise AnnotationError(
                f"reliability: all raters of {dimension!r} have one stated, and their agreement "
                "says what one of them is; leave one out"
            )
    return found


def _ascending(levels: Sequence[float]) -> tuple[float, ...]:
    """Read the levels of a scale."""
    found = tuple(float(level) for level in levels)
    if len(found) < 2 or not np.isfinite(found).all() or (np.diff(found) <= 0).any():
        raise AnnotationError(
            f"levels={some(levels)}; give at least two numbers that ascend, such as range(6)"
        )
    return found


def _table(
    rater: str, given: "str | Path | pd.DataFrame | DemandTable", item: str | Sequence[str] | None
) -> tuple[pd.DataFrame, int]:
    """Read what a rater said, by item, and the number of the first row."""
    first = 1
    if isinstance(given, DemandTable):
        said = {
            name: each.table["level"]
            for name, each in given.annotations.items()
            if "level" in each.table
        }
        table = pd.DataFrame(said)
    elif isinstance(given, pd.DataFrame):
        table = given if item is None else _named(rater, given, item)
    else:
        try:
            read = pd.read_csv(given, dtype=str, keep_default_na=False)
        except (OSError, ValueError) as error:
            raise AnnotationError(f"rater {rater!r}: cannot read {given} ({error})") from error
        table, first = _named(rater, read, read.columns[0] if item is None else item), 2
    table = table.set_axis([str(name) for name in table.index]).rename(columns=_code)
    for names, what in ((table.index, "item"), (table.columns, "column")):
        if names.has_duplicates:
            raise AnnotationError(
                f"rater {rater!r}: the {what} {names[names.duplicated()][0]!r} is there twice; "
                f"give it once{', or more columns that name items' * (what == 'item')}"
            )
    if table.empty:
        raise AnnotationError(f"rater {rater!r}: there are no levels; give a column at least")
    return table, first


def _named(rater: str, table: pd.DataFrame, item: str | Sequence[str]) -> pd.DataFrame:
    """Index a table by the columns that name items."""
    columns = [item] if isinstance(item, str) else list(item)
    table = read_columns(table, f"rater {rater!r}", columns)
    names = table[columns[0]].astype(str)
    for column in columns[1:]:
        names = names + "/" + table[column].astype(str)
    return table.drop(columns=columns).set_axis(names)


def _code(column: object) -> str:
    """Name the dimension of a column, ``demand[code]`` as others."""
    name = str(column)
    return name[7:-1] if name.startswith("demand[") and name.endswith("]") else name


def _numbers(
    table: pd.DataFrame, levels: tuple[float, ...]
) -> tuple[pd.DataFrame, list[tuple[int, str, str]]]:
    """Read levels; list what is none: row, column and text."""
    numbers = table.apply(pd.to_numeric, errors="coerce")
    numbers = numbers.where(numbers.isin(levels)).astype(float)
    rows, columns = np.nonzero(numbers.isna().to_numpy())
    found = [table.iat[row, column] for row, column in zip(rows, columns, strict=True)]
    texts = ["" if pd.isna(value) else str(value) for value in found]
    return numbers, list(zip(rows.tolist(), table.columns[columns], texts, strict=True))
