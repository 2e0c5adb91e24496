"""Reading of tables: names as texts, cells as numbers."""

import warnings
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..common.errors import DataError
from ..common.given import kind_of
from ..common.messages import quoted, some
from ..common.names import SAME, merged, plain, rewritten, shown
from ..layouts.fields import is_broken
from ..linking.errors import short
from ..linking.real import real

MOST = 1e15
"""Largest count; sums of counts up to this stay exact."""

NAMING = "give their names, as in subject='model' (--subject model), or rename the columns"
"""What to do about a long table whose columns have other names."""


def named(table: object, what: str, kind: str) -> pd.DataFrame:
    """Return a copy of a table whose rows are indexed by texts, with plain names of columns.

    Parameters
    ----------
    table : object
        Object given as a table.
    what : str
        Name of the table in messages.
    kind : str
        Kind of the rows, which is also the name of the index.

    Returns
    -------
    DataFrame
        Table with the same columns.

    Raises
    ------
    DataError
        When the object is not a DataFrame, its columns have several levels, a name is missing or
        occurs twice, two columns are one, or a name or a cell contains half a character.

    Warns
    -----
    UserWarning
        When a name is written otherwise, with other blanks or composed.
    """
    frame = need_frame(table, what)
    if frame.columns.nlevels > 1:
        raise DataError(
            f"{what}: the names of columns have {frame.columns.nlevels} levels; give each column "
            "one name, as in table.columns = ['size', ...]"
        )
    names = texts(frame.index, f"{what}, {kind}")
    columns = rewritten(frame.columns)
    if columns:
        frame = frame.rename(columns=columns)
        _warn_of(columns, f"{what}, columns")
        twice = frame.columns[frame.columns.duplicated()].intersection(list(columns.values()))
        if len(twice):
            raise DataError(f"{what}: the columns {some(twice)} are there twice; {SAME}, keep one")
    refuse_repeats(names, kind, what)
    refuse_broken(frame, names, what, kind)
    return frame.set_axis(pd.Index(names, name=kind, dtype="str"), axis=0)


def one_level_each(table: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, dict[str, str]]]:
    """Unite texts of a column that differ in blanks or in the composition of Unicode only.

    Texts that are one with no other of their column are kept as they are.

    Parameters
    ----------
    table : DataFrame
        Table with one property per column.

    Returns
    -------
    table : DataFrame
        Table in which such texts have one form.
    changed : dict of str to dict of str to str
        By column, the texts that changed and their new form.

    Examples
    --------
    >>> table, changed = one_level_each(pd.DataFrame({"kind": ["jay", "jay ", "crow "]}))
    >>> table["kind"].tolist(), changed
    (['jay', 'jay', 'crow '], {'kind': {'jay ': 'jay'}})
    """
    changed = {}
    for number, (column, dtype) in enumerate(zip(table.columns, table.dtypes, strict=True)):
        if pd.api.types.is_numeric_dtype(dtype) or not table.columns.is_unique:
            continue
        forms = merged(table.iloc[:, number])
        if forms:
            changed[str(column)] = forms
            table = table.assign(**{column: table.iloc[:, number].replace(forms)})
    return table, changed


def with_one_level_each(table: pd.DataFrame, what: str) -> pd.DataFrame:
    """Do what `one_level_each` does, and warn of the texts that changed."""
    table, changed = one_level_each(table)
    for column, forms in changed.items():
        _warn_of(forms, f"{what}, column {column!r}")
    return table


def _warn_of(changed: dict[str, str], where: str) -> None:
    warnings.warn(
        f"{where}: renamed {shown(changed)}, since {SAME}",
        skip_file_prefixes=(str(Path(__file__).parents[1]),),
    )


def need_frame(table: object, what: str) -> pd.DataFrame:
    """Return a table, and refuse what is none.

    Raises
    ------
    DataError
        When it is not a DataFrame.
    """
    if not isinstance(table, pd.DataFrame):
        raise DataError(f"{what}: this is {kind_of(table)}; give a pandas DataFrame")
    return table


def refuse_broken(table: pd.DataFrame, names: Sequence[str], what: str, kind: str) -> None:
    """Refuse half a character in the name of a column or in a cell.

    Parameters
    ----------
    table : DataFrame
        Table, whose columns may have names of any type.
    names : sequence of str
        Names of its rows.
    what, kind : str
        Names of the table and of a row in messages.

    Raises
    ------
    DataError
        When there is half a character; the error names column and row.
    """
    dtypes = list(table.dtypes)  # all at once: a table may have a column per item
    for number, column in enumerate(table.columns):
        if is_broken(str(column)):
            raise DataError(
                f"{what}: the name {column!r} of column {number}, counted from 0, contains half a "
                "character, which cannot be saved; correct the text"
            )
        if isinstance(dtypes[number], np.dtype) and dtypes[number].kind != "O":
            continue
        for row, cell in enumerate(table.iloc[:, number].astype(object)):
            if isinstance(cell, str) and is_broken(cell):
                raise DataError(
                    f"{what}, {kind} {names[row]}: {str(column)!r} contains half a character, "
                    f"which cannot be saved: {cell!r}; correct the text"
                )


def texts(names: Iterable[object], where: str) -> list[str]:
    """Write names as plain texts: composed, with single spaces inside and no outer blanks.

    Raises
    ------
    DataError
        When there are no names, one is missing, or one contains half a character or a zero
        byte.

    Warns
    -----
    UserWarning
        When a name is written otherwise.
    """
    listed = written(names, where)
    changed = rewritten(listed)
    if not changed:
        return listed
    _warn_of(changed, where)
    return [changed.get(name, name) for name in listed]


def written(names: Iterable[object], where: str) -> list[str]:
    """Write names as texts, without further changes.

    Raises
    ------
    DataError
        As `texts` does.
    """
    if isinstance(names, pd.Index | pd.Series):
        names = names.astype(object).to_numpy()  # quicker to go through
    try:
        listed = list(names)
    except TypeError:
        raise DataError(f"{where}: {names!r} is no list of names; give one") from None
    missing = [
        row for row, name in enumerate(listed) if not isinstance(name, str) and is_missing(name)
    ]
    if missing:
        raise DataError(
            f"{where}: no name in row(s) {some(missing)}, counted from 0; name each, or drop them"
        )
    listed = [str(name) for name in listed]
    for name in dict.fromkeys(listed):
        if is_broken(name) or "\0" in name:
            fault = "half a character, which cannot be saved; correct the text"
            if "\0" in name:
                fault = "a zero byte, which ends a text in files; remove it"
            raise DataError(
                f"{where}: the name {name!r} in row {listed.index(name)}, counted from 0, contains "
                f"{fault}"
            )
    return listed


def refuse_repeats(names: Iterable[str], kind: str, where: str) -> None:
    """Refuse names that occur more than once.

    Raises
    ------
    DataError
        When there are such names, which the error lists.
    """
    index = pd.Index(names)
    repeated = list(index[index.duplicated()].unique())
    if repeated:
        raise DataError(
            f"{where}: the {kind} name(s) {some(repeated)} occur more than once; give each {kind} "
            "one row and one name (from_long(..., repeats='trials') counts repeated attempts)"
        )


def same_names(have: Iterable[str], need: Iterable[str], where: str, reference: str) -> None:
    """Refuse two sets of names that differ.

    Raises
    ------
    DataError
        When they differ; the error lists missing and extra names.
    """
    missing, extra = sorted(set(need) - set(have)), sorted(set(have) - set(need))
    differences = [f"missing {some(missing)}"] if missing else []
    differences += [f"extra {some(extra)}"] if extra else []
    if differences:
        raise DataError(
            f"{where} are not those of {reference}: {'; '.join(differences)}; give both the same "
            "names"
        )


def refuse_unknown(names: Iterable[str], known: pd.Index, kind: str, where: str = "") -> None:
    """Refuse outcomes of items or subjects that have no row in their table.

    Parameters
    ----------
    names : iterable of str
        Names of items or subjects with outcomes.
    known : Index
        Names in the table of properties.
    kind : {"item", "subject"}
        What the names are of.
    where : str
        Beginning of the message.

    Raises
    ------
    DataError
        When a name is unknown; the error lists the unknown ones.
    """
    index = pd.Index(list(names), dtype="str").unique()
    unknown = index[known.get_indexer(index) < 0]
    if len(unknown):
        raise DataError(
            f"{where}outcomes for {len(unknown)} {kind}(s) that `{kind}s` does not have: "
            f"{some(unknown)}; add their properties, or drop those rows"
        )


def known_names(names: Iterable[object], known: pd.Index, kind: str) -> list[str]:
    """Read a selection of known names; a single text is one name.

    Raises
    ------
    DataError
        When a name is unknown, missing or given twice.
    """
    where = f"the {kind}s asked for"
    wanted = [plain(name) for name in written([names] if isinstance(names, str) else names, where)]
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise DataError(f"unknown {kind}(s): {some(unknown)}; known: {some(known)}")
    refuse_repeats(wanted, kind, where)
    return wanted


def three_columns(names: tuple[str, str, str]) -> tuple[str, str, str]:
    """Write names of the columns of subjects, items and outcomes as `plain_columns` does.

    Raises
    ------
    DataError
        When they are not three different texts.
    """
    forms = [plain(name) if isinstance(name, str) else name for name in names]
    texts = [name for name in forms if isinstance(name, str)]
    if len(set(texts)) < 3:
        raise DataError(f"subject, item and outcome are the columns {some(names)}; name three")
    subject, item, outcome = texts
    return subject, item, outcome


def need_columns(
    have: Iterable[Hashable], need: Sequence[Hashable], where: str, remedy: str = ""
) -> None:
    """Refuse a table that lacks a column, or has it twice.

    Parameters
    ----------
    have, need : iterable of hashable
        Names of columns.
    where : str
        Name of the table and verb, for messages.
    remedy : str
        What to do if a column is missing.

    Raises
    ------
    DataError
        When columns are missing or occur twice; the error lists them.
    """
    columns = Counter(have)
    missing = [name for name in need if name not in columns]
    if missing:
        raise DataError(
            f"{where} no column {some(map(quoted, missing))}; the columns are "
            f"{some(map(quoted, columns.elements()), 12) or 'none'}; "
            f"{remedy or _renaming(missing, columns) or 'rename one, or add it'}"
        )
    twice = [name for name in dict.fromkeys(need) if columns[name] > 1]
    if twice:
        raise DataError(f"{where} several columns {some(twice)}; keep one of each name")


def renamed(
    table: object, columns: Mapping[str, str] | None, names: Sequence[str], every: Sequence[str]
) -> Any:
    """Rename columns, or the levels of an index, to the names that a reader expects.

    Parameters
    ----------
    table : object
        Table; another object is returned unchanged.
    columns : mapping of str to str, optional
        Names of columns in the table, by the names that the reader expects. Others are not changed.
    names : sequence of str
        Columns that are read from this table.
    every : sequence of str
        Columns that are read from any table.

    Returns
    -------
    object
        The renamed table.

    Raises
    ------
    DataError
        When `columns` has a name that is read from no table.

    Examples
    --------
    >>> votes = pd.DataFrame({"who": ["Ann"], "vote": ["agree"]})
    >>> renamed(votes, {"rater": "who"}, ["rater", "vote"], ["rater", "vote"])
      rater   vote
    0   Ann  agree
    """
    unknown = [name for name in columns or {} if name not in every]
    if unknown:
        raise DataError(f"columns= names {some(unknown)}; what is read are {some(every, 20)}")
    if not columns or not isinstance(table, pd.DataFrame):
        return table
    have = {*table.columns, *table.index.names}
    forms = {old: new for new, old in columns.items() if new in names and old in have}
    replaced = [name for name in forms.values() if name in table.columns and name not in forms]
    rest = table.drop(columns=replaced)
    return rest.rename(columns=forms).rename_axis(index=lambda name: forms.get(name, name))


def _renaming(missing: Sequence[Hashable], have: Iterable[Hashable]) -> str:
    """Find columns that differ from missing ones in spaces or capitals only."""
    spellings = {str(name).strip().lower(): name for name in have}
    near = {spellings.get(str(name).strip().lower()): name for name in missing}
    near.pop(None, None)
    if not near:
        return ""
    return f"names differ in spaces or capitals; use table.rename(columns={near!r})"


def is_missing(value: object) -> bool:
    """Whether a single cell or name is None, NaN, NaT or NA."""
    if isinstance(value, float | np.floating):
        return bool(np.isnan(value))
    return value is None or value is pd.NA or value is pd.NaT


def read_numbers(table: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Read cells as numbers: Python's, NumPy's or pandas', truth values as 0 and 1.

    Parameters
    ----------
    table : DataFrame
        Columns of any kind.

    Returns
    -------
    values : ndarray of float
        NaN where a cell is missing or is no number.
    foreign : ndarray of bool
        Which cells are something else, such as text (also text that looks like a number).

    Examples
    --------
    >>> values, foreign = read_numbers(pd.DataFrame({"size": [1, None, "big"]}))
    >>> values.ravel(), foreign.ravel()
    (array([ 1., nan, nan]), array([False, False,  True]))
    """
    if all(isinstance(dtype, np.dtype) and dtype.kind in "biuf" for dtype in table.dtypes):
        return table.to_numpy(dtype=float, copy=True), np.zeros(table.shape, dtype=bool)
    values = np.empty(table.shape)
    foreign = np.zeros(table.shape, dtype=bool)
    for number in range(table.shape[1]):
        column = table.iloc[:, number]
        if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_complex_dtype(column):
            values[:, number] = column.to_numpy(dtype=float, na_value=np.nan)
            continue
        for row, cell in enumerate(column.astype(object)):
            value = float(cell) if isinstance(cell, np.bool) else real(cell)
            foreign[row, number] = value is None and not is_missing(cell)
            values[row, number] = np.nan if value is None else value
    return values, foreign


def name_cells(table: pd.DataFrame, bad: np.ndarray, pattern: str = "{} on {}: {}") -> str:
    """Write the first few bad cells: row, column and content."""
    positions = np.argwhere(bad)
    cells = [
        pattern.format(
            short(table.index[row]), short(table.columns[column]), _shown(table.iloc[row, column])
        )
        for row, column in positions[:6]
    ]
    more = len(positions) - 5
    return some(cells) if more < 2 else f"{some(cells[:5])} and {more} more"


def _shown(cell: object) -> str:
    plain = cell.item() if isinstance(cell, np.generic) else cell
    return "missing" if is_missing(plain) else short(repr(plain))
