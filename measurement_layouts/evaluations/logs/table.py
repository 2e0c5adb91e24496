"""Reading of tables of outcomes in files or data frames, long or wide."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from ...common.errors import DataError
from ...common.given import kind_of
from ...common.messages import quoted, some
from ...common.names import plain
from ..properties import constant, differing, warn_of_slips
from ..tables import (
    NAMING,
    is_missing,
    named,
    need_columns,
    plain_names,
    refuse_broken,
    refuse_repeats,
    refuse_unknown,
    texts,
    three_columns,
    written,
)
from ..ungraded import COLUMN
from ..words import KNOWN, WORDS
from .files import read_file
from .imported import Imported, Notes
from .values import ScoreReader, tidy

type Table = str | Path | pd.DataFrame

_REMEDY = (
    f"code outcomes as numbers in [0, 1] or by a known word ({KNOWN}), and leave a cell empty "
    "where there is none"
)


def read_table(
    outcomes: Table,
    items: Table | None = None,
    *,
    subjects: Table | Sequence[str] | None = None,
    subject: str = "subject",
    item: str = "item",
    outcome: str = "outcome",
) -> Imported:
    """Read a table of outcomes, one row per outcome (long) or per subject (wide).

    A table with the three columns is read as long. Any other table is read as wide, with one row
    per subject and one column per item; it is transposed when the names of its rows are items.
    Names are read as texts, so that "001" is kept. Names that differ in blanks or in the
    composition of Unicode only are one. A column without a name, such as an index that pandas
    wrote, is left out.

    A column of a wide table may be no item but a property of the subjects; `subjects` states such
    columns. The notes list the items.

    Parameters
    ----------
    outcomes : path or DataFrame
        Data frame, or a file in CSV (commas, UTF-8), Parquet or JSON lines. Outcomes are numbers in
        [0, 1] or known words (see `Evaluation.from_wide`). Several rows of one subject and item are
        repeated attempts, which a column `attempt` may number. Rows with a reason in a column
        `ungraded`, such as an error, are attempts without a grade.
    items : path or DataFrame, optional
        Meta-features, with one row per item. The names of items are in the column `item`, or else
        in the first column of a file or the index of a data frame. By default, the meta-features
        are the remaining columns of a long table that have the same value in all rows of an item.
    subjects : path, DataFrame, or list of str, optional
        Properties of the subjects, with one row per subject, named in the same way as `items`. By
        default, the properties are the remaining columns of a long table that differ between rows
        of an item and have the same value in all rows of a subject. A list names the columns of a
        wide table that are properties of the subjects (default: none).
    subject, item, outcome : str
        Names of the columns.

    Returns
    -------
    Imported
        Outcomes, items, subjects and notes.

    Raises
    ------
    DataError
        When a file is broken, a name is missing, an outcome is neither a number in [0, 1] nor a
        known word, or an item or subject has outcomes but no row in `items` or `subjects`. When a
        long table was read as wide, the message tells how to name its columns. Also when
        an item has several texts in a column such as `question` or `prompt`, or a file unpacks to
        more than the limit.

    Warns
    -----
    UserWarning
        When a column is dropped because it differs between rows of a few items, which may be slips.

    Examples
    --------
    >>> wide = pd.DataFrame({"subject": ["Ann", "Bob"], "001": [1, 0], "002": [1, None]})
    >>> imported = read_table(wide)
    >>> imported.outcomes
      subject item  attempt  outcome
    0     Ann  001        1      1.0
    1     Ann  002        1      1.0
    2     Bob  001        1      0.0
    >>> print(*imported.notes["what"], sep=", ")
    wide table: subjects by items, items without meta-features, dropped: outcome is missing (nan)
    """
    notes = Notes()
    names = plain_names(subject, item, outcome)
    three_columns(names)
    stated, apart = None, None
    if isinstance(subjects, str | Path | pd.DataFrame):
        apart = subjects
    elif isinstance(subjects, list | tuple):
        stated = list(subjects)
    elif subjects is not None:
        raise DataError(f"subjects: this is {kind_of(subjects)}; give a table, or a list of names")
    features = None if items is None else _rows(items, names[1], "item", notes)
    people = None if apart is None else _rows(apart, names[0], "subject", notes)
    table = _opened(outcomes, names[:2], notes)
    known = None if features is None else features.index
    if sum(name in table.columns for name in names) > 1:
        need_columns(table.columns, names, "the table of outcomes has", NAMING)
        if stated is not None:
            raise DataError(
                "subjects= names columns, which is for wide tables, and the table of outcomes is "
                "long; leave it out, or give a table with one row per subject"
            )
        table = _named_columns(table, notes)
        reasons = None
        if COLUMN in table.columns:  # see `Imported.with_reasons`
            reasons = table[COLUMN].astype("str").replace("", None)
            table = table[reasons.notna() | table[names[2]].notna()].drop(columns=COLUMN)
            reasons = reasons[table.index]
            table = table.assign(**{names[2]: table[names[2]].where(reasons.isna(), 0)})
        for name in names[:2]:
            table = table.assign(**{name: pd.Series(notes.names(table[name]), table.index, object)})
        rows = from_long(table, names, notes)
        features, people = _beside(table, rows, names, features, people, notes)
        read = _imported(rows, features, people, (outcomes, items, apart), notes)
        return read if reasons is None else read.with_reasons(reasons)
    try:
        wide = _indexed(table, outcomes, names[:2], notes)
        if stated:
            wide, people = _no_items(wide, names[1], stated, notes)
        rows = from_wide(wide, names[:2], known)
        found = rows["item"].unique()
        notes.add(
            "wide table: subjects by items",
            f"the items {some(found, _SHOWN)}",
            rows["subject"].nunique(),
        )
        return _imported(rows, features, people, (outcomes, items, apart), notes)
    except DataError as error:
        if any(name in table.columns for name in names):
            raise
        raise DataError(
            f"{error}; without columns {some(map(quoted, names))}, the table was read as one row "
            f"per subject: if it has one row per outcome, {NAMING}"
        ) from None


_SHOWN = 30  # items that a note lists


def _no_items(
    table: pd.DataFrame, item: str, stated: Sequence[str], notes: Notes
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Take the stated properties of subjects from a wide table."""
    need_columns(table.columns, list(stated), "the table of outcomes has")
    if table.index.name == item:
        raise DataError(
            f"subjects= names {some(stated)}, but the rows of the table are items; give properties "
            "of the subjects as a table with one row per subject"
        )
    columns = list(stated)
    for column in columns:
        notes.add(f"property of the subjects: column {column}, as stated", column)
    people = table[columns].set_axis(texts(table.index, "outcomes, subject"), axis=0)
    return table.drop(columns=columns), people.rename_axis("subject")


def _imported(
    rows: pd.DataFrame,
    features: pd.DataFrame | None,
    people: pd.DataFrame | None,
    sources: tuple[Table, Table | None, Table | None],
    notes: Notes,
) -> Imported:
    """Read cells, and combine outcomes and the properties of items and subjects."""
    outcomes, items, subjects = sources
    if features is None:
        features = pd.DataFrame(index=rows["item"].unique())
    if not len(features.columns):
        notes.add("items without meta-features", features.index[0], len(features))
    features = named(features, "items", "item")
    refuse_unknown(rows["item"], features.index, "item")
    if _is_csv(outcomes):
        rows["outcome"] = rows["outcome"].map(_number)
    read = _read(rows, notes)
    features = attempted(features, read["item"], notes)
    people = _attempting(people, rows["subject"], read["subject"], notes)
    tidied = [
        tidy(
            without_lists(each, notes),
            notes,
            written=_is_csv(outcomes if source is None else source),
        )
        for each, source in ((features, items), (people, subjects))
    ]
    return Imported(read, tidied[0], notes.frame(), tidied[1])


def _opened(table: Table, names: Sequence[str], notes: Notes) -> pd.DataFrame:
    """Read a file, or take a data frame, whose index may be a requested column."""
    if isinstance(table, str | Path):
        found, where = read_file(Path(table)), str(table)
    elif isinstance(table, pd.DataFrame):
        levels = [plain(name) if isinstance(name, str) else name for name in table.index.names]
        table = table.set_axis(table.index.set_names(levels), axis=0)
        inside = [name for name in levels if name in names]
        taken = [name for name in inside if name in table.columns]
        refuse_broken(table, [str(row) for row in range(len(table))], "the table", "row")
        for name in [name for name in names if name in inside]:
            written(table.index.get_level_values(name), f"the table, {name}")
        found, where = table.drop(columns=taken).reset_index(inside), "the table"
    else:
        raise DataError(f"this is {kind_of(table)}; give a path or a pandas DataFrame")
    if not len(found):
        raise DataError(f"{where}: there are no rows; give some")
    found = found.set_axis(notes.names(found.columns), axis=1)
    twice = [name for name in found.columns[found.columns.duplicated()] if not _is_nameless(name)]
    if twice:
        raise DataError(f"{where}: the column(s) {some(twice)} occur more than once; rename them")
    return found


def _indexed(
    table: pd.DataFrame, source: Table, names: Sequence[str], notes: Notes
) -> pd.DataFrame:
    """Index a table by the column of one of the names, by a file's first column, or not at all.

    The first column of a data frame that was read from such a file has no name, and is taken too.
    """
    for name in names:
        if name in table.columns:
            return _plain_index(_named_columns(table, notes).set_index(name), notes)
    numbered = table.index.equals(pd.RangeIndex(len(table))) and table.index.name is None
    if isinstance(source, pd.DataFrame) and not (
        numbered and _is_nameless(table.columns[0]) and not _counts(table.iloc[:, 0])
    ):
        return _plain_index(_named_columns(table, notes), notes)
    notes.add("rows named by the file's first column", table.columns[0])
    found = table.set_index(table.columns[0]).rename_axis(index=None)
    return _plain_index(_named_columns(found, notes), notes)


def _is_nameless(name: object) -> bool:
    """Whether a column has no name, or the one that pandas gives to a column without a name."""
    if is_missing(name) or not isinstance(name, str):
        return is_missing(name)
    return not name or re.fullmatch(r"Unnamed: \d+(_level_\d+)?", name) is not None


def _counts(column: pd.Series) -> bool:
    """Whether the cells are the numbers of the rows, from 0 or 1."""
    numbers = pd.to_numeric(column.astype(object), errors="coerce").to_numpy(dtype=float)
    return any((numbers == np.arange(len(column)) + first).all() for first in (0, 1))


def _named_columns(table: pd.DataFrame, notes: Notes) -> pd.DataFrame:
    """Leave out columns without a name, and an index that was written as a column."""
    drop = np.array(
        [
            _is_nameless(name) or (name in ("index", "level_0") and _counts(table.iloc[:, place]))
            for place, name in enumerate(table.columns)
        ],
        dtype=bool,
    )
    if drop.any():
        shown_names = some(map(repr, table.columns[drop]))
        notes.add("dropped: columns without a name", shown_names, int(drop.sum()))
    return table.loc[:, ~drop]


def _plain_index(table: pd.DataFrame, notes: Notes) -> pd.DataFrame:
    """Write the names of rows plainly."""
    names = pd.Index(notes.names(table.index), name=table.index.name)
    return table.set_axis(names, axis=0)


def _rows(table: Table, column: str, kind: str, notes: Notes) -> pd.DataFrame:
    """Read a table of items or subjects, indexed by their names."""
    found = _indexed(_opened(table, [column], notes), table, [column], notes)
    return notes.levels(named(found, f"{kind}s", kind))


def _attempting(
    subjects: pd.DataFrame | None, rows: pd.Series, outcomes: pd.Series, notes: Notes
) -> pd.DataFrame:
    """Keep the properties of subjects that have outcomes."""
    if subjects is None:
        return pd.DataFrame(index=pd.Index(outcomes.unique(), name="subject", dtype="str"))
    refuse_unknown(outcomes, subjects.index, "subject")
    others = subjects.index.difference(pd.Index(rows), sort=False)
    if len(others):
        notes.add("dropped: subjects without rows of outcomes", some(others), len(others))
    attempting = pd.Index(outcomes.unique()).get_indexer(subjects.index) >= 0
    return subjects[np.asarray(attempting)]


def _read(rows: pd.DataFrame, notes: Notes) -> pd.DataFrame:
    """Read outcomes, each distinct value once, and drop rows without outcomes."""
    reader = ScoreReader("outcome", None, WORDS, notes, _REMEDY)
    distinct: dict[tuple[type, object], list[int]] = {}
    for place, value in enumerate(rows["outcome"]):
        value = None if is_missing(value) else value
        value = value.strip() if isinstance(value, str) else value
        key = value if isinstance(value, str | int | float | np.generic) else repr(value)
        distinct.setdefault((type(value), key), []).append(place)
    values = np.full(len(rows), np.nan)
    for places in distinct.values():
        score = rows["outcome"].iloc[places[0]]
        score = score.strip() if isinstance(score, str) else score
        who, what = rows[["subject", "item"]].iloc[places[0]]
        if is_missing(score):
            notes.add(f"dropped: outcome is missing ({score})", f"{who} on {what}", len(places))
        values[places] = reader.read(score, f"{who} on {what}", len(places))
    reader.check()
    read = rows.assign(outcome=values)[["subject", "item", ATTEMPT, "outcome"]]
    kept = read[~np.isnan(values)].reset_index(drop=True)
    if kept.empty:
        raise DataError("there are no outcomes, since every cell is missing; give at least one")
    lost = sorted(set(read["subject"]) - set(kept["subject"]))
    if lost:
        notes.add("dropped: subjects without any outcome", some(lost), len(lost))
    return kept.astype({"subject": "str", "item": "str", ATTEMPT: "int64"})


def _is_csv(table: Table) -> bool:
    return isinstance(table, str | Path) and Path(table).suffix.lower() == ".csv"


def _number(cell: object) -> object:
    """Read a cell of a CSV file, which is a text, as a number if possible."""
    try:
        return float(cell)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return cell


ATTEMPT = "attempt"


def from_long(table: pd.DataFrame, names: tuple[str, str, str], notes: Notes) -> pd.DataFrame:
    """Take subject, item, outcome and, if there is such a column, the number of the attempt.

    Raises
    ------
    DataError
        When a name is missing, or numbers of attempts are not whole or not distinct.
    """
    subject, item, outcome = names
    opening = f"{table[subject].iloc[0]} on {table[item].iloc[0]}"
    notes.add("long table: a row per outcome", opening, len(table))
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


def _beside(
    table: pd.DataFrame,
    rows: pd.DataFrame,
    names: tuple[str, str, str],
    items: pd.DataFrame | None,
    subjects: pd.DataFrame | None,
    notes: Notes,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Take properties that no table gives from the remaining columns: of items, and of subjects."""
    rest = table.drop(columns=[*names, *table.columns.intersection([ATTEMPT])])
    rest = notes.levels(rest)
    on, by = (rows[name].to_numpy(dtype=object).tolist() for name in ("item", "subject"))
    if items is None or subjects is None:
        rest = without_lists(rest, notes)
    refuse_two_texts(rest, on)
    if subjects is None:
        subjects = of_subjects(rest, on, by, notes)
        rest = rest.drop(columns=subjects.columns)
    if items is None:
        items = of_items(rest, on, notes)
    elif len(rest.columns):
        what = "dropped: columns beside a table of items"
        notes.add(what, some(rest.columns), len(rest.columns))
    return items, subjects


def without_lists(table: pd.DataFrame, notes: Notes) -> pd.DataFrame:
    """Leave out columns whose cells are lists or records."""
    nested = []
    for column in table.columns:
        cells = table[column] if table[column].dtype.kind == "O" else ()
        if any(isinstance(cell, Iterable) and not isinstance(cell, str) for cell in cells):
            notes.add(f"dropped: field {column} contains lists", column)
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


_TEXTS = {"doc", "document", "input", "problem", "prompt", "query", "question", "stem"}


def refuse_two_texts(table: pd.DataFrame, items: Sequence[str]) -> None:
    """Refuse two items under one name, whose texts, such as questions, differ.

    Parameters
    ----------
    table : DataFrame
        One row per attempt.
    items : sequence of str
        Item of each row.

    Raises
    ------
    DataError
        When a column of texts of items has several texts in the rows of one item.
    """
    asked = [name for name in table.columns if str(name).lower() in _TEXTS]
    varying = differing(table[asked], items, missing=False)
    for column in asked:
        if varying[column].any():
            name = varying.index[varying[column]][0]
            texts = table.loc[np.array(list(items), object) == name, column].dropna().unique()
            raise DataError(
                f"{name} has {len(texts)} texts in {column}, {some(map(repr, texts), 3, 60)}: they "
                "are several items; give each its own name, or rename or drop the column"
            )


def of_subjects(
    table: pd.DataFrame, items: Sequence[str], subjects: Sequence[str], notes: Notes
) -> pd.DataFrame:
    """Select the properties of subjects: columns that differ within an item, and no subject.

    Parameters
    ----------
    table : DataFrame
        One row per attempt.
    items, subjects : sequence of str
        Item and subject of each row.
    notes : Notes
        Notes, to which the columns are added.

    Returns
    -------
    DataFrame
        One row per subject.
    """
    varying = differing(table, items, missing=False)
    people = constant(table.loc[:, varying.any()], subjects)
    for column in people.columns:
        what = f"property of the subjects: {column} differs within an item"
        notes.add(what, varying.index[varying[column]][0])
    return people


def of_items(
    table: pd.DataFrame, items: Sequence[str], notes: Notes, *, asked: bool = False
) -> pd.DataFrame:
    """Select the properties of items: columns that are the same in all rows of each item.

    Parameters
    ----------
    table : DataFrame
        One row per attempt.
    items : sequence of str
        Item of each row.
    notes : Notes
        Notes, to which the other columns are added.
    asked : bool
        Whether the columns were asked for, so that others are refused.

    Returns
    -------
    DataFrame
        One row per item; a cell that some rows lack is taken from the others.

    Raises
    ------
    DataError
        When a column that was asked for differs within an item.
    """
    names = pd.Index(list(items), name="item", dtype="str")
    varying = differing(table, items, missing=False)
    others = varying.columns[varying.any()]
    for column in others:
        differ = list(varying.index[varying[column]])
        if asked:
            raise DataError(
                f"{column} differs between attempts at one item, such as {differ[0]}; a "
                "meta-feature belongs to the item, so leave it out of features"
            )
        notes.add(f"dropped: {column} differs within an item", differ[0])
        values = table.loc[names == differ[0], column].dropna()
        warn_of_slips(column, differ, int((names.value_counts() > 1).sum()), values.unique())
    own = table.drop(columns=others).set_axis(names, axis=0)
    if not len(own.columns):
        return own[~own.index.duplicated()]
    return own.groupby(level=0, sort=False).first()


def attempted(items: pd.DataFrame, outcomes: pd.Series, notes: Notes) -> pd.DataFrame:
    """Drop items that no attempt with an outcome is on."""
    there = np.asarray(pd.Index(outcomes.unique()).get_indexer(items.index) >= 0)
    if not there.all():
        notes.add(
            "dropped: items without any outcome", some(items.index[~there]), int((~there).sum())
        )
    return items[there]
