"""An evaluation: items, and what each subject did on them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from .errors import DataError
from .wording import some

_MISSING_HINT = "leave a cell empty (NaN) where the item was not attempted"


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Items with their properties, and successes out of trials per subject and item.

    Make one with `from_wide`, `from_long` or, from counts, directly. Names of items and subjects
    become text.

    Parameters
    ----------
    items : DataFrame
        One row per item, indexed by its name; a column per property.
    successes, trials : DataFrame
        Whole numbers, one row per subject, one column per item in the order of `items`; an item
        not attempted has 0 trials.

    Raises
    ------
    DataError
        When names repeat, the tables do not match, counts are no whole numbers with
        0 <= successes <= trials, or a subject has no outcome at all.

    Examples
    --------
    >>> items = pd.DataFrame({"size": [1.0, 2.0]}, index=["a", "b"])
    >>> outcomes = pd.DataFrame({"a": [1, 1], "b": [0, None]}, index=["Ann", "Bob"])
    >>> evaluation = Evaluation.from_wide(outcomes, items)
    >>> evaluation.trials.loc["Bob"].tolist()
    [1, 0]
    """

    items: pd.DataFrame
    successes: pd.DataFrame
    trials: pd.DataFrame

    def __post_init__(self) -> None:
        items = _renamed(self.items, "item")
        _refuse_repeats(items.index, "items", "row")
        columns = list(items.index)
        tables = {}
        for name in ("successes", "trials"):
            table = _renamed(getattr(self, name), "subject")
            table.columns = [str(column) for column in table.columns]
            _refuse_repeats(table.index, name, "row")
            _same_names(table.columns, columns, f"columns of {name}", "items")
            tables[name] = _counts(table[columns], name)
        _same_names(tables["trials"].index, tables["successes"].index, "trials", "successes")
        tables["trials"] = tables["trials"].loc[tables["successes"].index]
        _within_trials(tables["successes"], tables["trials"])
        object.__setattr__(self, "items", items)
        for name, table in tables.items():
            object.__setattr__(self, name, table)
        empty = self.trials.index[self.trials.sum(axis=1) == 0]
        if len(empty):
            raise DataError(
                f"no outcomes at all for {some(empty)}; a subject needs at least one attempted item "
                "to be fitted, so leave it out"
            )

    @classmethod
    def from_wide(cls, outcomes: pd.DataFrame, items: pd.DataFrame) -> "Evaluation":
        """Read a table of 0/1 outcomes, one row per subject and one column per item.

        Parameters
        ----------
        outcomes : DataFrame
            0, 1, True, False, or missing where the item was not attempted; indexed by subject. A
            table with items as rows is recognised by its names and turned.
        items : DataFrame
            Properties, indexed by item.

        Raises
        ------
        DataError
            When a value is none of those (its subject and item are named), or names do not match.
        """
        outcomes = _renamed(outcomes, "subject")
        outcomes.columns = [str(column) for column in outcomes.columns]
        names = {str(name) for name in items.index}
        if not names & set(outcomes.columns) and names & set(outcomes.index):
            outcomes = outcomes.T
        values = outcomes.map(_as_outcome)
        wrong = [
            f"{outcomes.index[row]} on {outcomes.columns[column]}: {outcomes.iat[row, column]!r}"
            for row, column in np.argwhere(values.to_numpy() == -1)
        ]
        if wrong:
            raise DataError(
                f"{len(wrong)} outcome(s) are neither 0 nor 1: {some(wrong)}; code failure as 0 and "
                f"success as 1, and {_MISSING_HINT}. Counts go in as successes and trials."
            )
        attempted = values.notna()
        return cls(items, values.where(attempted, 0).astype("int64"), attempted.astype("int64"))

    @classmethod
    def from_long(
        cls,
        outcomes: pd.DataFrame,
        items: pd.DataFrame | None = None,
        *,
        subject: str = "subject",
        item: str = "item",
        outcome: str = "outcome",
        repeats: Literal["refuse", "trials"] = "refuse",
    ) -> "Evaluation":
        """Read one row per outcome.

        Parameters
        ----------
        outcomes : DataFrame
            Columns for subject, item and outcome (0, 1, True, False or missing).
        items : DataFrame, optional
            Properties, indexed by item. Without it they are the remaining columns of `outcomes`,
            which must then be the same in all rows of an item.
        subject, item, outcome : str
            Names of the columns.
        repeats : {"refuse", "trials"}
            What several rows of one subject and item are: an error, or repeated trials.

        Raises
        ------
        DataError
            When a column is missing, rows repeat though refused, an outcome is neither 0 nor 1, an
            item's properties differ between its rows, or the item is unknown to `items`.
        """
        _need_columns(outcomes.columns, (subject, item, outcome), "the long table")
        long = outcomes.assign(
            **{subject: outcomes[subject].map(str), item: outcomes[item].map(str)}
        )
        if items is None:
            items = _properties(long.drop(columns=[subject, outcome]), item)
        _known_items(long[item].unique(), items)
        values = long[outcome].map(_as_outcome)
        if (values == -1).any():
            rows = long.loc[values == -1]
            wrong = [f"row {i}: {value!r}" for i, value in rows[outcome].items()]
            raise DataError(
                f"{len(wrong)} outcome(s) in {outcome!r} are neither 0 nor 1: {some(wrong)}; code "
                f"failure as 0 and success as 1, and {_MISSING_HINT}"
            )
        repeated = long.loc[long.duplicated([subject, item]), [subject, item]]
        if repeats == "refuse" and len(repeated):
            pairs = [f"{row[0]} on {row[1]}" for row in repeated.itertuples(index=False)]
            raise DataError(
                f"{len(pairs)} repeated row(s): {some(pairs)}; keep one row of each, or count them "
                "as repeated trials with repeats='trials'"
            )
        keys = [long[subject], long[item]]
        names = [str(name) for name in items.index]

        def table(column: pd.Series) -> pd.DataFrame:
            summed = column.groupby(keys).sum().unstack(fill_value=0)
            return summed.reindex(columns=names, fill_value=0).astype("int64")

        return cls(items, table(values.fillna(0)), table(values.notna().astype("int64")))

    @property
    def subjects(self) -> list[str]:
        """Names of the subjects."""
        return list(self.successes.index)

    def success_rates(self) -> pd.Series:
        """Mean success of each subject over its trials, in [0, 1]."""
        return (self.successes.sum(axis=1) / self.trials.sum(axis=1)).rename("success")

    def select(
        self, items: Iterable[object] | None = None, subjects: Sequence[object] | None = None
    ) -> "Evaluation":
        """Keep some items and some subjects, by name.

        Raises
        ------
        DataError
            When a name is unknown, or a subject is left without outcomes.
        """
        keep = self.items.index if items is None else [str(name) for name in items]
        who = self.successes.index if subjects is None else [str(name) for name in subjects]
        for wanted, known, what in (
            (keep, self.items.index, "item"),
            (who, self.subjects, "subject"),
        ):
            unknown = [name for name in wanted if name not in set(known)]
            if unknown:
                raise DataError(f"unknown {what}(s): {some(unknown)}; know {some(known)}")
        return Evaluation(
            self.items.loc[keep], self.successes.loc[who, keep], self.trials.loc[who, keep]
        )

    def __repr__(self) -> str:
        return (
            f"<Evaluation: {len(self.subjects)} subjects, {len(self.items)} items, "
            f"{int(self.trials.to_numpy().sum())} trials, "
            f"properties {', '.join(map(str, self.items.columns))}>"
        )


def _as_outcome(value: object) -> float:
    """0 or 1, NaN where missing, -1 for anything else."""
    if value is None or value is pd.NA or value is pd.NaT:
        return np.nan
    if isinstance(value, bool | int | float | np.bool_ | np.number):
        return float(value) if value in (0, 1) or np.isnan(value) else -1.0
    return -1.0


def _renamed(table: pd.DataFrame, what: str) -> pd.DataFrame:
    if not isinstance(table, pd.DataFrame):
        raise DataError(f"the {what}s are a {type(table).__name__}; give a pandas DataFrame")
    return table.set_axis(pd.Index([str(name) for name in table.index], name=what), axis=0)


def _refuse_repeats(names: pd.Index, table: str, what: str) -> None:
    repeated = list(names[names.duplicated()].unique())
    if repeated:
        raise DataError(
            f"{table}: {what}s named {some(repeated)} occur more than once; give every {what} a name "
            "of its own (from_long(..., repeats='trials') counts repeated attempts)"
        )


def _same_names(have: Iterable[object], need: Iterable[object], where: str, reference: str) -> None:
    missing, extra = sorted(set(need) - set(have)), sorted(set(have) - set(need))  # type: ignore[type-var]
    if missing or extra:
        found = [f"missing {some(missing)}"] if missing else []
        found += [f"extra {some(extra)}"] if extra else []
        raise DataError(
            f"{where} do not match {reference}: {'; '.join(found)}; give both the same names"
        )


def _need_columns(have: Iterable[object], need: Sequence[str], where: str) -> None:
    missing = [name for name in need if name not in set(have)]
    if missing:
        raise DataError(
            f"{where} has no column {some(missing)}; its columns are {some(have, 12)}; rename one, "
            "or say which it is"
        )


def _known_items(names: Iterable[str], items: pd.DataFrame) -> None:
    unknown = [name for name in names if name not in {str(known) for known in items.index}]
    if unknown:
        raise DataError(
            f"outcomes for {len(unknown)} item(s) that `items` does not have: {some(unknown)}; add "
            "their properties, or drop those rows"
        )


def _properties(long: pd.DataFrame, item: str) -> pd.DataFrame:
    """One row per item from the long table's remaining columns."""
    varying = long.groupby(item, sort=False).nunique(dropna=False).gt(1)
    for column in varying.columns[varying.any()]:
        raise DataError(
            f"{column!r} differs between rows of one item: {some(varying.index[varying[column]])}; a "
            "property belongs to the item, so make it the same in all its rows, drop the column, or "
            "name the items apart"
        )
    return long.drop_duplicates(item).set_index(item)


def _counts(table: pd.DataFrame, name: str) -> pd.DataFrame:
    try:
        values = table.to_numpy(dtype=float)
    except (TypeError, ValueError) as error:
        raise DataError(
            f"{name}: not all values are numbers ({error}); give whole numbers"
        ) from error
    bad = ~np.isfinite(values) | (values < 0) | (values != np.floor(values))
    if bad.any():
        cells = [
            f"{table.index[row]} on {table.columns[column]}: {values[row, column]:g}"
            for row, column in np.argwhere(bad)
        ]
        raise DataError(
            f"{name}: {len(cells)} value(s) are no counts: {some(cells)}; give whole numbers of at "
            "least 0, with 0 trials where an item was not attempted"
        )
    return table.astype("int64")


def _within_trials(successes: pd.DataFrame, trials: pd.DataFrame) -> None:
    over = np.argwhere(successes.to_numpy() > trials.to_numpy())
    if len(over):
        cells = [
            f"{successes.index[row]} on {successes.columns[column]}: "
            f"{successes.iat[row, column]} of {trials.iat[row, column]}"
            for row, column in over
        ]
        raise DataError(f"more successes than trials: {some(cells)}; correct one of the two")
