"""Recognition of long tables that were read as wide, and of their columns by other names."""

import re
import shlex
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from .words import read_outcomes

LONG = ("subject", "item", "outcome")
"""Columns of a long table, unless others are given."""

_ENOUGH = 10_000  # most rows that are examined

_KNOWN = {
    "subject": {"subject", "model", "agent", "participant", "person", "student", "system"},
    "item": {"item", "task", "question", "instance", "problem", "example", "prompt"},
    "outcome": {"outcome", "correct", "score", "success", "result", "passed", "accuracy", "acc"},
}


def likely_columns(table: pd.DataFrame, items: pd.Index | None = None) -> dict[str, str] | None:
    """Guess which columns of a long table contain subjects, items and outcomes.

    The columns are recognised by the words in their names, by the known items, and by elimination;
    a column of outcomes has no other values.

    Parameters
    ----------
    table : DataFrame
        Table that may have a row per outcome; levels of a named index count as columns.
    items : Index, optional
        Names of the items, as texts.

    Returns
    -------
    dict of str to str
        Columns by their names in `LONG`; None if the table is not recognised as long.

    Examples
    --------
    >>> rows = pd.DataFrame({"Model ": ["A", "A"], "task id": [1, 2], "is correct": ["Y", "N"]})
    >>> likely_columns(rows)
    {'subject': 'Model ', 'item': 'task id', 'outcome': 'is correct'}
    """
    inside = [name for name in table.index.names if isinstance(name, str)]
    if table.columns.nlevels > 1 or not table.columns.is_unique or not len(table):
        return None
    first = table.head(_ENOUGH)
    whole = first.reset_index([name for name in inside if name not in table.columns])
    names = [name for name in whole.columns if isinstance(name, str)]
    outcomes = {name for name in names if _holds_outcomes(whole[name])}
    told = {kind: [name for name in names if _known(name, kind)] for kind in LONG}
    if items is not None:
        known = set(items)
        there = [name for name in names if known.issuperset(map(str, whole[name]))]
        told["item"] = there or told["item"]
    found: dict[str, str] = {}
    for kind in LONG:
        fits = [name for name in told[kind] if name not in found.values()]
        fits = [name for name in fits if (name in outcomes) == (kind == "outcome")]
        if fits:
            found[kind] = min(fits, key=lambda name: name.strip().lower() != kind)
    left = [name for name in names if name not in found.values()]
    if "outcome" not in found:
        _take_only(found, "outcome", [name for name in left if name in outcomes])
    missing = [kind for kind in LONG if kind not in found]
    if len(missing) == 1 and missing != ["outcome"]:
        repeated = [name for name in left if name not in outcomes and _repeats(whole[name])]
        _take_only(found, missing[0], repeated)
    if len(found) < len(LONG) or not any(_repeats(whole[found[kind]]) for kind in LONG[:2]):
        return None
    return {kind: found[kind] for kind in LONG}


def options(columns: Mapping[str, str], asked: Sequence[str] = LONG) -> str:
    """Write columns as options of a call, except those with the expected names.

    Examples
    --------
    >>> options({"subject": "model", "item": "item", "outcome": "is correct"})
    "subject='model', outcome='is correct'"
    """
    pairs = zip(columns.items(), asked, strict=True)
    return ", ".join(f"{kind}={name!r}" for (kind, name), other in pairs if name != other)


def reading(call: str, table: pd.DataFrame, columns: Mapping[str, str]) -> str:
    """Write the call that reads a long table, given its beginning with a gap for the table."""
    inside = [name for name in columns.values() if name not in table.columns]
    whole = table.reset_index(inside)
    given = [call.format("outcomes.reset_index()" if inside else "outcomes"), options(columns)]
    if "from_long" in call and whole.duplicated([columns["subject"], columns["item"]]).any():
        given.append("repeats='trials'")
    return ", ".join(filter(None, given)) + ")"


def naming(table: pd.DataFrame, asked: Sequence[str], items: pd.Index | None = None) -> str:
    """Write how to name the columns of a long table without the expected names.

    Examples
    --------
    >>> rows = pd.DataFrame({"model": ["A", "A"], "task id": [1, 2], "outcome": ["Y", "N"]})
    >>> print(naming(rows, LONG))
    give subject='model', item='task id' (in the terminal: --subject model --item 'task id'), or
    rename the columns
    """
    columns = likely_columns(table, items)
    if columns is None:
        return "give their names, as in subject='model', or rename the columns"
    pairs = zip(columns.items(), asked, strict=True)
    typed = " ".join(f"--{kind} {shlex.quote(name)}" for (kind, name), own in pairs if name != own)
    return f"give {options(columns, asked)} (in the terminal: {typed}), or rename the columns"


def _known(name: str, kind: str) -> bool:
    return not _KNOWN[kind].isdisjoint(re.split(r"[^a-z0-9]+", name.lower()))


def _holds_outcomes(column: pd.Series) -> bool:
    """Whether all cells are outcomes in [0, 1], and one is there."""
    values, foreign = read_outcomes(pd.DataFrame({0: column.array}))
    there = values[~np.isnan(values)]
    return bool(len(there) and not foreign.any() and ((there >= 0) & (there <= 1)).all())


def _repeats(column: pd.Series) -> bool:
    """Whether a column may have names of subjects or items: texts or whole numbers, repeated."""
    named = column.dtype.kind in "OUTiu" or isinstance(column.dtype, pd.StringDtype)
    return named and len(set(map(str, column))) < len(column)


def _take_only(found: dict[str, str], kind: str, names: list[str]) -> None:
    """Add a column if it is the only candidate."""
    if len(names) == 1:
        found[kind] = names[0]
