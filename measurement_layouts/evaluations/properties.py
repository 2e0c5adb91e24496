"""Properties of items and of subjects."""

import warnings
from collections.abc import Hashable, Iterable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from ..common.errors import DataError
from ..common.messages import many, some
from ..common.names import plain
from .tables import is_missing, named


def of_subjects(table: pd.DataFrame | None, subjects: pd.Index) -> pd.DataFrame:
    """Give each subject its row of properties.

    Parameters
    ----------
    table : DataFrame, optional
        Properties, indexed by subject; rows of other subjects are not kept.
    subjects : Index
        Names, as texts.

    Returns
    -------
    DataFrame
        Properties in the order of the subjects; without columns if there is no table.

    Raises
    ------
    DataError
        When a subject has no row, or a name is missing or occurs twice.

    Examples
    --------
    >>> table = pd.DataFrame({"age": [30, 40, 50]}, index=["Ann", "Bob", "Cyd"])
    >>> of_subjects(table, pd.Index(["Cyd", "Ann"], name="subject"))
             age
    subject
    Cyd       50
    Ann       30
    """
    if table is None:
        return pd.DataFrame(index=subjects)
    checked = named(table, "subjects", "subject")
    missing = subjects.difference(checked.index, sort=False)
    if len(missing):
        remedy = "add one, with empty cells (NaN) for what is not known, or leave them out"
        if "subject" in checked.columns:
            remedy = "index the table by its names, as in table.set_index('subject')"
        raise DataError(
            f"subjects: no row for {many(len(missing), 'subject')} with outcomes, {some(missing)}; "
            f"the rows are {some(checked.index)}; {remedy}"
        )
    return checked.loc[subjects]


def differing(table: pd.DataFrame, names: Iterable[str], *, missing: bool = True) -> pd.DataFrame:
    """Find the columns that differ between rows with the same name.

    Parameters
    ----------
    table : DataFrame
        Table, in which several rows may have the same name.
    names : iterable of str
        Names of the rows.
    missing : bool
        Whether a missing cell differs from one with a value.

    Returns
    -------
    DataFrame of bool
        One row per name, in the order in which they appear, and the table's columns.

    Examples
    --------
    >>> table = pd.DataFrame({"size": [1.0, 1.0, 2.0], "day": [1, 2, 1]})
    >>> differing(table, ["a", "a", "b"])
        size    day
    a  False   True
    b  False  False
    """
    rows = table.apply(_hashable).set_axis(np.array(list(names), object), axis=0)
    return rows.groupby(level=0, sort=False).nunique(dropna=not missing).gt(1)


def constant(table: pd.DataFrame, subjects: Iterable[str]) -> pd.DataFrame:
    """Select the columns that are the same in all rows of each subject, as its properties.

    Parameters
    ----------
    table : DataFrame
        Table with a row per outcome.
    subjects : iterable of str
        Subject of each row.

    Returns
    -------
    DataFrame
        One row per subject, in the order in which they appear.

    Examples
    --------
    >>> table = pd.DataFrame({"age": [30, 30, 40], "seconds": [5, 7, 6]})
    >>> constant(table, ["Ann", "Ann", "Bob"])
             age
    subject
    Ann       30
    Bob       40
    """
    names = list(subjects)
    own = table.loc[:, ~differing(table, names).any().to_numpy(dtype=bool)]
    own = own.set_axis(pd.Index(names, name="subject", dtype="str"), axis=0)
    return own[~own.index.duplicated()]


def warn_of_slips(
    column: str, items: Sequence[str], several: int, values: Iterable[object]
) -> None:
    """Warn of a column that is dropped because of a minority of the items, which may be slips.

    Parameters
    ----------
    column : str
        Name of the column.
    items : sequence of str
        Items on whose rows it differs.
    several : int
        Number of items that have several rows.
    values : iterable
        Values on the first of these items.

    Warns
    -----
    UserWarning
        When it differs on less than half of the items with several rows.
    """
    if 2 * len(items) < several:
        warnings.warn(
            f"{column} is dropped: it is the same in all rows of most items, and differs on "
            f"{many(len(items), 'item')}, {some(items)} ({column} = {some(values)}); if it is a "
            "property of the items, correct these rows",
            skip_file_prefixes=(str(Path(__file__).parent),),
        )


def joined(one: pd.DataFrame, other: pd.DataFrame, kind: str) -> pd.DataFrame:
    """Join the properties of two evaluations' items or subjects.

    Parameters
    ----------
    one, other : DataFrame
        Indexed by name.
    kind : str
        Kind of the rows, ``"item"`` or ``"subject"``.

    Returns
    -------
    DataFrame
        Rows of the first table, then those that only the other one has.

    Raises
    ------
    DataError
        When one name has different values of a property in the two, naming both.

    Examples
    --------
    >>> one = pd.DataFrame({"age": [30]}, index=["Ann"])
    >>> joined(one, pd.DataFrame({"age": [31]}, index=["Ann"]), "subject")
    Traceback (most recent call last):
        ...
    measurement_layouts.common.errors.DataError: subject Ann has age = 30 in one ... 31 in the ...
    """
    shared = one.index.intersection(other.index, sort=False)
    for column in one.columns.intersection(other.columns, sort=False):
        ours, theirs = (table.loc[shared, column].astype(object) for table in (one, other))
        for name, here, there in zip(shared, ours, theirs, strict=True):
            if not (is_missing(here) or is_missing(there) or _compared(here) == _compared(there)):
                raise DataError(
                    f"{kind} {name} has {column} = {here!r} in one evaluation and {there!r} in the "
                    f"other: it is another {kind}; correct one of the two, or name them apart"
                )
    new = other.index.difference(one.index, sort=False)
    rows = pd.concat([one, other.loc[new]])
    for column in other.columns:
        brought = other[column].reindex(rows.index)
        if column not in one.columns:
            rows[column] = brought
        elif (rows[column].isna() & brought.notna()).any():
            rows[column] = rows[column].where(rows[column].notna(), brought)
    return rows


def _hashable(column: pd.Series) -> pd.Series:
    """Write cells so that they can be compared: lists as texts, and texts without odd blanks."""
    if pd.api.types.is_numeric_dtype(column.dtype):
        return column
    return column.map(_compared)


def _compared(cell: object) -> Hashable:
    if isinstance(cell, str):
        return plain(cell)
    return cell if isinstance(cell, Hashable) else repr(cell)
