"""Properties of items and of subjects: columns of one kind, that are the same in all their rows."""

import warnings
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from ..common.errors import DataError
from ..common.messages import many, some
from ..common.names import plain
from .notes import Notes
from .tables import is_missing, named
from .words import ABSENT, no_numbers

_TEXTS = {"doc", "document", "input", "problem", "prompt", "query", "question", "stem"}
_TRUTH = {"True": True, "true": True, "False": False, "false": False}
_EXACT = 2**53  # whole numbers below are exact as floats


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


def divided(
    table: pd.DataFrame,
    items: Sequence[str] | pd.Index,
    subjects: Sequence[str] | pd.Index,
    notes: Notes,
    *,
    wanted: Collection[str] = ("item", "subject"),
    strict: bool = True,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Divide columns beside outcomes into properties of the items and of the subjects.

    A column that has one value in all rows of each item is a property of the items, and otherwise
    of the subjects, if it has one value in all rows of each subject. A cell that is missing in some
    rows is taken from the others. Other columns describe attempts and are dropped.

    Parameters
    ----------
    table : DataFrame
        One row per outcome.
    items, subjects : sequence of str
        Item and subject of each row.
    notes : Notes
        Notes, to which properties of subjects and dropped columns are added.
    wanted : collection of {"item", "subject"}
        Whose properties are wanted; others are dropped.
    strict : bool
        Whether a column that differs within few items is refused, or dropped with a warning.

    Returns
    -------
    items, subjects : DataFrame
        Properties by item and by subject, in the order in which they appear.

    Raises
    ------
    DataError
        When a column has one value in all rows of most items, or of half of the subjects, and
        several in the rows of the others: the error names one, with its values and rows. Also when
        an item has several texts in a column such as `question`.
    """
    is_file = "file" in table.attrs
    table = typed(notes.levels(without_lists(table, notes)), notes, written=is_file)
    names = {"item": _index(items, "item"), "subject": _index(subjects, "subject")}
    varying = {kind: differing(table, index) for kind, index in names.items()}
    repeated = {kind: max(1, (index.value_counts() > 1).sum()) for kind, index in names.items()}
    columns: dict[str, list[str]] = {"item": [], "subject": []}
    refused = [kind for kind in wanted if strict or kind == "subject"]
    for column in table.columns:
        differ = {kind: varying[kind].index[varying[kind][column]] for kind in names}
        slips = ["item"] if 2 * len(differ["item"]) < repeated["item"] else []
        if 2 * len(differ["subject"]) <= repeated["subject"]:
            slips.append("subject")
        if not len(differ["item"]):
            columns["item"].append(column)
        elif str(column).lower() in _TEXTS:
            raise _differs(table[column], names["item"], differ["item"])
        elif not len(differ["subject"]):
            columns["subject"].append(column)
        elif len(slips) == 1 and slips[0] in refused:
            raise _differs(table[column], names[slips[0]], differ[slips[0]])
        else:
            notes.add(f"dropped: {column} differs within an item", differ["item"][0])
            if slips and set(slips) <= set(wanted):
                _warn_of_slips(column, differ["item"])
    for kind in set(names) - set(wanted):
        if columns[kind]:
            what = f"dropped: columns beside a table of {kind}s"
            notes.add(what, some(columns[kind]), len(columns[kind]))
            columns[kind] = []
    for column in columns["subject"]:
        first = varying["item"].index[varying["item"][column]][0]
        notes.add(f"property of the subjects: {column} differs within an item", first)
    of_item, of_subject = (
        _of_name(table[columns[kind]], names[kind], notes) for kind in ("item", "subject")
    )
    return of_item, of_subject


def _index(names: Sequence[str] | pd.Index, kind: str) -> pd.Index:
    return pd.Index(list(names), name=kind, dtype="str")


def _differs(column: pd.Series, names: pd.Index, differ: pd.Index) -> DataError:
    """Make the error for a property that differs within one item or subject."""
    kind, name = names.name, differ[0]
    (rows,) = np.nonzero((names == name) & column.notna().to_numpy())
    values = pd.Series(rows, column.iloc[rows]).groupby(level=0, sort=False).first()
    cells = [f"{value!r} in row {row}" for value, row in values.items()]
    more = f" (and of {len(differ) - 1} more)" if len(differ) > 1 else ""
    return DataError(
        f"{column.name} is not the same in all rows of {kind} {name}{more}: {some(cells)}, counted "
        f"from 0; correct these rows, name the {kind}s apart, or drop the column"
    )


def _warn_of_slips(column: str, items: pd.Index) -> None:
    warnings.warn(
        f"{column} is dropped: it has one value in all rows of most items or subjects, and several "
        f"for item(s) {some(items)}; if it is a property, correct these rows",
        skip_file_prefixes=(str(Path(__file__).parent),),
    )


def _of_name(table: pd.DataFrame, names: pd.Index, notes: Notes) -> pd.DataFrame:
    """Take the first value of each column that is not missing, by name."""
    if names.name in table.columns:
        changed = f"feature.{names.name}"
        notes.add("renamed: a field whose name is taken", f"{names.name} is {changed}")
        table = table.rename(columns={str(names.name): changed})
    rows = table.set_axis(names, axis=0)
    if not len(rows.columns):
        return rows[~rows.index.duplicated()]
    return rows.groupby(level=0, sort=False).first()


def differing(table: pd.DataFrame, names: Iterable[str]) -> pd.DataFrame:
    """Find the columns that differ between rows with the same name; missing cells do not differ.

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
    rows = table.set_axis(np.array(list(names), object), axis=0)
    return rows.groupby(level=0, sort=False).nunique().gt(1)


def without_lists(table: pd.DataFrame, notes: Notes) -> pd.DataFrame:
    """Leave out columns whose cells are lists or records."""
    nested = []
    for column, dtype in table.dtypes.items():
        if dtype.kind == "O" and table[column].map(_is_list).any():
            notes.add(f"dropped: field {column} contains lists", column)
            nested.append(column)
    return table.drop(columns=nested)


def typed(table: pd.DataFrame, notes: Notes, *, written: bool = False) -> pd.DataFrame:
    """Make columns numbers, truth values or texts, as a CSV file gives them back.

    Texts that are all numbers become numbers, and an empty text is missing. A column of several
    kinds of cells that are not all numbers stays as it is.

    Parameters
    ----------
    table : DataFrame
        Table with one property per column.
    notes : Notes
        Notes, to which columns that changed are added.
    written : bool
        Whether all cells are texts because a file has no types; then numbers are no change.

    Examples
    --------
    >>> items = pd.DataFrame({"size": ["1", "2"], "kind": ["a", 3]}, index=["x", "y"])
    >>> typed(items, Notes()).to_dict("list")
    {'size': [1, 2], 'kind': ['a', 3]}
    """
    columns = [_typed(table.iloc[:, at], notes, written) for at in range(table.shape[1])]
    return pd.concat(columns, axis=1) if columns else table


def without_mixed(table: pd.DataFrame, notes: Notes) -> pd.DataFrame:
    """Write the cells of columns of several kinds as texts; an empty text is missing."""
    for column, dtype in table.dtypes.items():
        if isinstance(dtype, np.dtype) and dtype.kind == "O":
            notes.add(f"mapped: {column} has several kinds of values, read as texts", column)
            present = table[column].notna() & (table[column] != "")
            written = table[column].map(str).where(present).astype("str")
            table = table.assign(**{str(column): written})
    return table


def _typed(column: pd.Series, notes: Notes, written: bool) -> pd.Series:
    """Find the one kind that all cells have."""
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "biuf":
        return column
    cells = column.astype(object)
    present = cells[[not (is_missing(cell) or cell == "") for cell in cells]]
    texts = present.map(str).astype("str")
    truths = present.map(lambda cell: isinstance(cell, bool | np.bool)).to_numpy(dtype=bool)
    words = present.map(lambda cell: isinstance(cell, str)).to_numpy(dtype=bool)
    kind = "texts"
    values: pd.Series = texts
    if len(texts) and texts.isin(_TRUTH).all():
        kind, values = "truth values", texts.map(_TRUTH).astype(bool)
    elif not truths.any():
        numbers = _numbers(texts[~texts.str.lower().isin(ABSENT)])
        kind, values = ("texts", texts) if numbers is None else ("numbers", numbers)
    if kind == "texts" and not words.all():
        return column
    if kind == "texts":
        _note_bad_cells(texts, str(column.name), notes)
    elif words.any() and not written:
        notes.add(f"mapped: texts of {column.name} read as {kind}", texts.iloc[0], len(texts))
    if len(values) < len(cells):
        values = values if kind == "texts" else values.astype(float)
    filled: pd.Series = values.reindex(cells.index)
    filled.name = column.name
    return filled


def _numbers(texts: pd.Series) -> pd.Series | None:
    """Read texts as numbers if all are; whole numbers stay whole where floats are exact."""
    values = pd.to_numeric(texts, errors="coerce")
    infinite = np.isinf(values.astype(float))
    if values.isna().any() or texts[infinite].str.lstrip("+-").str.isdecimal().any():
        return None
    exact = values.dtype.kind in "iu" and values.abs().max() < _EXACT
    return values.astype("int64" if exact else float)


def _note_bad_cells(texts: pd.Series, name: str, notes: Notes) -> None:
    """Name the cells that keep a column from being numbers, where most of them are."""
    filled = texts[~texts.str.lower().isin(ABSENT)].to_frame()
    bad, _ = no_numbers(filled, np.ones(filled.shape, dtype=bool))
    if 0 < 2 * bad.sum() < len(filled):
        for item, text in filled.iloc[:, 0][bad[:, 0]].items():
            notes.add(f"read as texts: {name}, for cells that are no numbers", f"{item} ({text!r})")


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
        pairs = zip(shared, one.loc[shared, column], other.loc[shared, column], strict=True)
        for name, here, there in pairs:
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


def _compared(cell: object) -> object:
    return plain(cell) if isinstance(cell, str) else repr(cell) if _is_list(cell) else cell


def _is_list(cell: object) -> bool:
    return isinstance(cell, Iterable) and not isinstance(cell, str)
