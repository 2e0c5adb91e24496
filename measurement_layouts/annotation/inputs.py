"""Checks of what users give to annotation: texts and tables."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import pandas as pd

from ..common.errors import AnnotationError as AnnotationError  # public, by this name
from ..common.given import kind_of
from ..layouts.fields import is_broken


def read_texts(items: "Mapping[Any, str] | pd.Series", what: str = "text") -> dict[str, str]:
    """Read the texts of items; names become strings.

    Parameters
    ----------
    items : mapping or Series
        Text of each item, by its name.
    what : str, default "text"
        Word for the text in messages.

    Returns
    -------
    dict of str to str
        Text of each item, by its name; at least one.

    Raises
    ------
    AnnotationError
        When there is no item, or an item occurs twice, has no text, or has half a character in its
                name or text.
    """
    if not isinstance(items, Mapping | pd.Series):
        raise AnnotationError(
            f"items: this is {kind_of(items)}; give a mapping or a Series from each item's "
            "name to its text"
        )
    found: dict[str, str] = {}
    pairs: list[tuple[Hashable, Any]] = list(items.items())
    for name, text in pairs:
        if str(name) in found:
            raise AnnotationError(f"the item {str(name)!r} occurs more than once; give it once")
        if not isinstance(text, str) or not text.strip():
            raise AnnotationError(f"the item {str(name)!r} has no {what}; give one, or drop it")
        if is_broken(str(name)) or is_broken(text):
            raise AnnotationError(
                f"the item {str(name)!r}: its name or {what} contains half a character, which "
                "cannot be saved in a file; correct it"
            )
        found[str(name)] = text
    if not found:
        raise AnnotationError("no items; give at least one")
    return found


_COUNTS = ("questions", "attempts", "input_tokens", "output_tokens")


def with_total(rows: "Mapping[str, pd.Series] | Mapping[str, dict[str, float]]") -> pd.DataFrame:
    """Tabulate usage, one row for each name, and their sum as ``all``; counts are integers."""
    table = pd.DataFrame(rows).T
    table = pd.concat([table, table.sum().to_frame("all").T])
    return table.astype({name: int for name in _COUNTS if name in table})


def read_named(
    frame: object, what: str, texts: Sequence[str], others: Sequence[str] = ()
) -> pd.DataFrame:
    """Read a frame with one row for each statement or scenario.

    Parameters
    ----------
    frame : DataFrame
        Frame that the user gave.
    what : str
        ``statement`` or ``scenario``.
    texts : sequence of str
        Columns of text.
    others : sequence of str, default none
        Further columns that are needed.

    Returns
    -------
    DataFrame
        A copy whose index has the names as strings.

    Raises
    ------
    AnnotationError
        When `frame` is not a DataFrame, is empty, lacks a column, has two rows with one name, or
        lacks a text.
    """
    table = read_columns(frame, f"{what}s", (*texts, *others), f"indexed by {what} ")
    table.index = pd.Index([str(name) for name in table.index], name=what, dtype="str")
    refuse_twice(table.index, f"the {what}")
    if not len(table):
        raise AnnotationError(f"no {what}s; give at least one")
    for column in texts:
        for name, text in table[column].items():
            if not isinstance(text, str) or not text.strip():
                raise AnnotationError(
                    f"the {what} {name!r} has no text in {column!r}; give one, or drop the {what}"
                )
    return table


def refuse_twice(names: pd.Index, what: str) -> None:
    """Refuse names that are not unique."""
    if not names.is_unique:
        twice = names[names.duplicated()][0]
        raise AnnotationError(f"{what} {twice!r} occurs twice; give it once")


def read_columns(frame: object, what: str, columns: Sequence[str], shape: str = "") -> pd.DataFrame:
    """Read a frame that has certain columns.

    Parameters
    ----------
    frame : DataFrame
        Frame that the user gave.
    what : str
        Name of the frame in messages.
    columns : sequence of str
        Columns that are needed.
    shape : str, default ""
        Further words of the message about the frame that is needed.

    Returns
    -------
    DataFrame
        A copy.

    Raises
    ------
    AnnotationError
        When `frame` is not a DataFrame, or lacks a column.
    """
    if not isinstance(frame, pd.DataFrame):
        have = f"this is {kind_of(frame)}"
    else:
        lacking = [name for name in columns if name not in frame.columns]
        if not lacking:
            return frame.copy()
        have = f"there is no column {', '.join(map(repr, lacking))}"
    raise AnnotationError(
        f"{what}: {have}; give a DataFrame {shape}with the columns {', '.join(columns)}"
    )


def read_keyed(statements: pd.DataFrame) -> None:
    """Refuse statements whose direction is not given.

    Parameters
    ----------
    statements : DataFrame
        Statements, indexed by name, with the column ``keyed``.

    Raises
    ------
    AnnotationError
        When a value of ``keyed`` is neither 1 nor -1.
    """
    wrong = statements.index[~statements["keyed"].isin([1, -1])]
    if len(wrong):
        raise AnnotationError(
            f"the statement {wrong[0]!r} is keyed {statements.loc[wrong[0], 'keyed']}; give 1 "
            "where agreeing shows the trait, -1 where it shows the opposite"
        )
