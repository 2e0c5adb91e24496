"""What annotators are asked about and what it costs, as users give it."""

import math
import numbers
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ..common.errors import AnnotationError
from ..layouts.fields import is_broken


def read_texts(items: "Mapping[Any, str] | pd.Series", what: str = "text") -> dict[str, str]:
    """Read items: names as texts, each once, each with a text.

    Parameters
    ----------
    items : mapping or Series
        From each item's name to its text.
    what : str, default "text"
        What it is called.

    Returns
    -------
    dict of str to str
        At least one.

    Raises
    ------
    AnnotationError
        When there is none, or one is there twice, has no text or holds half a character.
    """
    if not isinstance(items, Mapping | pd.Series):
        raise AnnotationError(
            f"items: this is a {type(items).__name__}; give a mapping or a Series from each item's "
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
                f"the item {str(name)!r}: its name or {what} holds half a character, which no file "
                "can; mend it"
            )
        found[str(name)] = text
    if not found:
        raise AnnotationError("no items; give at least one")
    return found


def read_prices(prices: object) -> tuple[float, float] | None:
    """Read the prices per million tokens in and out.

    Parameters
    ----------
    prices : (float, float) or None
        As given.

    Returns
    -------
    (float, float) or None
        As numbers.

    Raises
    ------
    AnnotationError
        When they are something else.
    """
    if prices is None:
        return None
    pair = list(prices) if isinstance(prices, tuple | list) else []
    if len(pair) != 2 or not all(
        isinstance(price, numbers.Real) and 0 <= float(price) < math.inf for price in pair
    ):
        raise AnnotationError(
            f"prices={prices!r}; give two amounts per million tokens, in and out, such as (2, 8)"
        )
    return float(pair[0]), float(pair[1])


_CHARACTERS = 4  # of English text to a token


@dataclass(frozen=True)
class Pace:
    """How fast answers come: at a time, and tokens a second of each."""

    connections: int
    speed: float


def read_pace(connections: object, speed: object) -> Pace:
    """Read how fast answers come.

    Raises
    ------
    AnnotationError
        When one of them is not above 0, or `connections` is no whole number.
    """
    if (
        isinstance(speed, bool)
        or not isinstance(speed, numbers.Real)
        or not 0 < float(speed) < math.inf
    ):
        raise AnnotationError(f"speed={speed!r}; give tokens a second, above 0")
    return Pace(whole("connections", connections), float(speed))


def foreseen_row(
    questions: float,
    letters: float,
    answer_tokens: int,
    prices: tuple[float, float] | None,
    pace: Pace,
) -> dict[str, float]:
    """Foresee the usage of questions with so many letters in all, each answered once."""
    tokens = round(letters / _CHARACTERS), round(answer_tokens * questions)
    row = {"questions": questions, "input_tokens": tokens[0], "output_tokens": tokens[1]}
    row["minutes"] = tokens[1] / pace.speed / pace.connections / 60
    if prices is not None:
        row["cost"] = (tokens[0] * prices[0] + tokens[1] * prices[1]) / 1e6
    return row


_COUNTS = ("questions", "attempts", "input_tokens", "output_tokens")


def with_total(rows: "Mapping[str, pd.Series] | Mapping[str, dict[str, float]]") -> pd.DataFrame:
    """Tabulate usage, one row for each name, and their sum as ``all``; counts are integers."""
    table = pd.DataFrame(rows).T
    table = pd.concat([table, table.sum().to_frame("all").T])
    return table.astype({name: int for name in _COUNTS if name in table})


def whole(name: str, value: object) -> int:
    """Read a count.

    Parameters
    ----------
    name : str
        What it is called.
    value : int
        As given.

    Returns
    -------
    int
        At least 1.

    Raises
    ------
    AnnotationError
        When it is something else.
    """
    number = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not number or int(value) < 1:  # type: ignore[call-overload]
        raise AnnotationError(f"{name}={value!r}; give a whole number of at least 1")
    return int(value)  # type: ignore[call-overload,no-any-return]


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
