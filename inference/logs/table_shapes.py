"""Long and wide tables: from either to one row per outcome."""

from collections.abc import Iterable

import pandas as pd

from ..errors import DataError
from ..tables import named, refuse_repeats, texts
from ..wording import some
from .notes import Notes

ATTEMPT = "attempt"


def from_long(table: pd.DataFrame, names: tuple[str, str, str], notes: Notes) -> pd.DataFrame:
    """Take subject, item, outcome and, where the table numbers them, attempt.

    Raises
    ------
    DataError
        When a name is missing, or an attempt has no whole number of its own.
    """
    subject, item, outcome = names
    notes.add("long table: a row per outcome", some(names), len(table))
    rows = pd.DataFrame(
        {
            "subject": texts(table[subject], f"column {subject!r}"),
            "item": texts(table[item], f"column {item!r}"),
            "outcome": table[outcome].to_numpy(dtype=object),
        }
    )
    if ATTEMPT in table.columns:
        rows[ATTEMPT] = _whole(table[ATTEMPT])
        again = rows.duplicated(["subject", "item", ATTEMPT])
        if again.any():
            first = rows[again].iloc[0]
            raise DataError(
                f"{again.sum()} row(s) repeat a subject, item and attempt, such as "
                f"{first['subject']} on {first['item']}, attempt {first[ATTEMPT]}; keep one of "
                "each, or drop the column to have rows numbered"
            )
    else:
        rows[ATTEMPT] = rows.groupby(["subject", "item"], sort=False).cumcount() + 1
        repeated = int((rows[ATTEMPT] > 1).sum())
        if repeated:
            example = rows.loc[rows[ATTEMPT] > 1, ["subject", "item"]].iloc[0]
            notes.add("repeated rows: further attempts", " on ".join(example), repeated)
    return rows


def from_wide(table: pd.DataFrame, names: tuple[str, str], items: pd.Index | None) -> pd.DataFrame:
    """Go through the cells of a table of subjects by items, subject by subject.

    Parameters
    ----------
    table : DataFrame
        Indexed by subjects, or by items.
    names : (str, str)
        Of subjects and items; an index of the second name is of items.
    items : Index, optional
        Known items; the side with more of them is the items' side.

    Raises
    ------
    DataError
        When a name is missing or occurs twice.
    """
    subject, item = names
    turned = table.index.name == item
    checked = named(table, "outcomes", item if turned else subject)
    columns = texts(checked.columns, "outcomes, columns")
    refuse_repeats(columns, subject if turned else item, "outcomes")
    checked = checked.set_axis(columns, axis=1)
    if items is not None and table.index.name not in names:
        turned = len(items.intersection(checked.index)) > len(items.intersection(columns))
    if not columns:
        raise DataError("the table has no columns of outcomes; give a column per item")
    cells = checked.astype(object)
    cells = cells.T if turned else cells
    return pd.DataFrame(
        {
            "subject": cells.index.repeat(cells.shape[1]),
            "item": list(cells.columns) * len(cells),
            "outcome": cells.to_numpy(dtype=object).ravel(),
            ATTEMPT: 1,
        }
    )


def features_beside(
    table: pd.DataFrame, rows: pd.DataFrame, names: tuple[str, str, str], notes: Notes
) -> pd.DataFrame:
    """Take meta-features from the remaining columns of a long table, one row per item."""
    rest = table.drop(columns=[*names, *table.columns.intersection([ATTEMPT])])
    rest = without_lists(rest, notes).set_axis(pd.Index(rows["item"]), axis=0)
    groups = rest.groupby(level=0, sort=False)
    varying = groups.nunique().gt(1)
    for column in varying.columns[varying.any()]:
        notes.add(f"dropped: {column} differs within an item", varying.index[varying[column]][0])
    first = groups.first() if len(rest.columns) else rest[~rest.index.duplicated()]
    return first.drop(columns=varying.columns[varying.any()])


def without_lists(table: pd.DataFrame, notes: Notes) -> pd.DataFrame:
    """Leave out columns whose cells are lists or records."""
    nested = []
    for column in table.columns:
        cells = table[column] if table[column].dtype.kind == "O" else ()
        if any(isinstance(cell, Iterable) and not isinstance(cell, str) for cell in cells):
            notes.add(f"dropped: field {column} holds lists", column)
            nested.append(column)
    return table.drop(columns=nested)


def _whole(column: pd.Series) -> pd.Series:
    """Read numbers of attempts."""
    numbers = pd.to_numeric(column.astype(object), errors="coerce").to_numpy(dtype=float)
    wrong = ~(numbers == numbers.round())
    if wrong.any():
        raise DataError(
            f"column {ATTEMPT!r}: {wrong.sum()} cell(s) are no whole numbers: "
            f"{some(column[wrong])}; number attempts from 1, or drop the column"
        )
    return pd.Series(numbers.astype("int64"))
