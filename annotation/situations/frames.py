"""Statements, scenarios and what was said about them, as users give it."""

from collections.abc import Sequence

import pandas as pd

from ...inference.errors import AnnotationError

SAMPLE = ("model", "scenario", "sample")
"""What names one answer of a model."""


def read_named(
    frame: object, what: str, texts: Sequence[str], others: Sequence[str] = ()
) -> pd.DataFrame:
    """Read a frame with one row for each statement or scenario.

    Parameters
    ----------
    frame : DataFrame
        As given.
    what : str
        ``statement`` or ``scenario``.
    texts : sequence of str
        Columns that hold text.
    others : sequence of str, default none
        Further columns that have to be there.

    Returns
    -------
    DataFrame
        A copy, indexed by names as text.

    Raises
    ------
    AnnotationError
        When it is no frame, lacks a column, names a row twice, or a text is missing.
    """
    table = read_columns(frame, f"{what}s", (*texts, *others), f"indexed by {what} ")
    table.index = pd.Index([str(name) for name in table.index], name=what, dtype="str")
    if not table.index.is_unique:
        twice = table.index[table.index.duplicated()][0]
        raise AnnotationError(f"the {what} {twice!r} is there twice; give it once")
    if not len(table):
        raise AnnotationError(f"no {what}s; give at least one")
    for column in texts:
        for name, text in table[column].items():
            if not isinstance(text, str) or not text.strip():
                raise AnnotationError(
                    f"the {what} {name!r} has no text in {column!r}; give one, or drop the {what}"
                )
    return table


def read_columns(frame: object, what: str, columns: Sequence[str], shape: str = "") -> pd.DataFrame:
    """Read a frame that has certain columns.

    Parameters
    ----------
    frame : DataFrame
        As given.
    what : str
        What it is called.
    columns : sequence of str
        That have to be there.
    shape : str, default ""
        What else to say of the frame that is wanted.

    Returns
    -------
    DataFrame
        A copy.

    Raises
    ------
    AnnotationError
        When it is no frame, or lacks a column.
    """
    if not isinstance(frame, pd.DataFrame):
        have = f"this is a {type(frame).__name__}"
    else:
        lacking = [name for name in columns if name not in frame.columns]
        if not lacking:
            return frame.copy()
        have = f"there is no column {', '.join(map(repr, lacking))}"
    raise AnnotationError(
        f"{what}: {have}; give a DataFrame {shape}with the columns {', '.join(columns)}"
    )


def read_keyed(statements: pd.DataFrame) -> None:
    """Refuse statements whose direction is not said.

    Parameters
    ----------
    statements : DataFrame
        Indexed by statement, with ``keyed``.

    Raises
    ------
    AnnotationError
        When one is neither 1 nor -1.
    """
    wrong = statements.index[~statements["keyed"].isin([1, -1])]
    if len(wrong):
        raise AnnotationError(
            f"the statement {wrong[0]!r} is keyed {statements.loc[wrong[0], 'keyed']}; give 1 "
            "where agreeing shows the trait, -1 where it shows the opposite"
        )
