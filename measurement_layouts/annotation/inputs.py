"""Checks of what users give to annotation: texts and tables."""

from collections.abc import Mapping, Sequence
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
    table = pd.DataFrame(list(items.items()), columns=["item", what], dtype=object)
    return dict(read_named(table.set_index("item"), "item", (what,))[what])


def read_named(
    frame: object, what: str, texts: Sequence[str], others: Sequence[str] = ()
) -> pd.DataFrame:
    """Read a frame with one row for each item, statement or scenario.

    Parameters
    ----------
    frame : DataFrame
        Frame that the user gave.
    what : str
        ``item``, ``statement`` or ``scenario``.
    texts : sequence of str
        Columns of text.
    others : sequence of str, default none
        Further columns that are needed. A column ``keyed`` has 1 or -1.

    Returns
    -------
    DataFrame
        A copy whose index has the names as strings.

    Raises
    ------
    AnnotationError
        When `frame` is not a DataFrame, is empty, lacks a column, has two rows with one name, lacks
        a text, or has half a character in a name or text.
    """
    table = read_columns(frame, f"{what}s", (*texts, *others), f"indexed by {what} ")
    table.index = pd.Index([str(name) for name in table.index], name=what, dtype="object")
    refuse_twice(table.index, f"the {what}")
    if not len(table):
        raise AnnotationError(f"no {what}s; give at least one")
    for column in texts:
        for name, text in table[column].items():
            if not isinstance(text, str) or not text.strip():
                raise AnnotationError(
                    f"the {what} {name!r} has no {column}; give one, or drop the {what}"
                )
            if is_broken(str(name)) or is_broken(text):
                raise AnnotationError(
                    f"the {what} {name!r}: its name or {column} contains half a character, which "
                    "cannot be saved in a file; correct it"
                )
    if "keyed" in others and not table["keyed"].isin([1, -1]).all():
        name, key = next(iter(table.loc[~table["keyed"].isin([1, -1]), "keyed"].items()))
        raise AnnotationError(
            f"the {what} {name!r} is keyed {key}; give 1 where agreeing shows the trait, -1 where "
            "it shows the opposite"
        )
    return table.set_axis(table.index.astype("str"))


def refuse_twice(names: pd.Index, what: str) -> None:
    """Refuse names that are not unique."""
    if not names.is_unique:
        raise AnnotationError(
            f"{what} {names[names.duplicated()][0]!r} occurs more than once; give it once"
        )


def read_columns(frame: object, what: str, columns: Sequence[str], shape: str = "") -> pd.DataFrame:
    """Copy a frame that has certain columns; another one is refused.

    `what` is its name in messages, and `shape` says more of the frame that is needed.
    """
    if not isinstance(frame, pd.DataFrame):
        problem = f"this is {kind_of(frame)}"
    elif lacking := [name for name in columns if name not in frame.columns]:
        problem = f"there is no column {', '.join(map(repr, lacking))}"
    else:
        return frame.copy()
    raise AnnotationError(
        f"{what}: {problem}; give a DataFrame {shape}with the columns {', '.join(columns)}"
    )
