"""Random tables of outcomes, and ways to damage a table."""

import contextlib
import datetime
import decimal
import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from helpers.odd_values import NUMBERS, odd

CELLS = (
    None,
    math.nan,
    pd.NA,
    pd.NaT,
    "",
    "1",
    "0",
    " 1",
    "yes",
    "half \ud800",
    True,
    False,
    0,
    1,
    1.0,
    0.0,
    -0.0,
)
CELLS += (2, -1, 0.5, 1e-12, 1 - 1e-12, math.inf, 1e308, b"1", 1 + 0j, decimal.Decimal(1), 10**400)
CELLS += (np.int8(1), np.float16(1), np.bool_(True), np.float64("nan"), np.str_("1"), np.array(1))
CELLS += (pd.Timestamp("2020-01-01"), datetime.timedelta(1), [1], {"a": 1}, (0, 1), object(), 2**63)
CELLS += (np.timedelta64(1, "s"), pd.Timedelta(1), np.longdouble(1), float("1e-320"))
DTYPES: tuple[Any, ...] = (
    *("object", "category", "Int64", "Int8", "UInt8", "boolean", "Float32", "float16", "float32"),
    *("int8", "uint64", "bool", "string", "str", "string[pyarrow]", "int64[pyarrow]"),
    *("double[pyarrow]", "bool[pyarrow]", "complex128", "complex64", "datetime64[ns]"),
    *("datetime64[s]", "timedelta64[ns]", "datetime64[ns, UTC]", "period[D]"),
    *("Sparse[float]", "Sparse[int]", "interval", "S3", "U1", "decimal128(5, 1)[pyarrow]"),
)

type Change = Callable[[pd.DataFrame, random.Random], pd.DataFrame]


def _somewhere(table: pd.DataFrame, choice: random.Random) -> tuple[int, int]:
    return choice.randrange(len(table)), choice.randrange(table.shape[1])


def _cell(table: pd.DataFrame, choice: random.Random) -> pd.DataFrame:
    made = table.astype(object)
    row, column = _somewhere(table, choice)
    value = choice.choice(CELLS) if choice.random() < 0.8 else odd(choice)
    cells = list(made.iloc[:, column])
    cells[row] = value
    series = pd.Series([None] * len(cells), made.index, dtype=object)
    for place, cell in enumerate(cells):
        series.iat[place] = cell
    columns = [made.iloc[:, place] for place in range(made.shape[1])]
    columns[column] = series
    return pd.concat(columns, axis=1).set_axis(table.columns, axis=1)


def _dtype(table: pd.DataFrame, choice: random.Random) -> pd.DataFrame:
    dtype = choice.choice(DTYPES)
    column = choice.randrange(table.shape[1]) if choice.random() < 0.5 else None
    if column is None:
        return table.astype(dtype)
    columns = [table.iloc[:, place] for place in range(table.shape[1])]
    columns[column] = columns[column].astype(dtype)
    return pd.concat(columns, axis=1).set_axis(table.columns, axis=1)


def _column_filled(table: pd.DataFrame, choice: random.Random) -> pd.DataFrame:
    value = choice.choice((*NUMBERS, *CELLS[:24]))
    columns = [table.iloc[:, place] for place in range(table.shape[1])]
    columns[choice.randrange(len(columns))] = pd.Series([value] * len(table), table.index)
    return pd.concat(columns, axis=1).set_axis(table.columns, axis=1)


def _names(length: int, choice: random.Random, old: pd.Index) -> Any:
    way = choice.randrange(9)
    if way == 0:
        return pd.MultiIndex.from_tuples([(f"a{place}", place) for place in range(length)])
    if way == 1:
        return list(range(length))
    if way == 2:
        return [old[0]] * length
    if way == 3:
        return pd.date_range("2020-01-01", periods=length)
    if way == 4:
        return pd.CategoricalIndex([str(name) for name in old]).remove_unused_categories()
    if way == 5:
        names = [*old]
        names[choice.randrange(length)] = choice.choice([None, math.nan, pd.NA, "", 1.5, ("a",), 0])
        return pd.Index(names, dtype=object)
    if way == 6:
        names = [*old]
        names[choice.randrange(length)] = choice.choice(
            ["\n", "naïve", "half \ud800", "· x", "a[b]"]
        )
        return pd.Index(names, dtype=object)
    if way == 7:
        return old[::-1]
    return pd.Index([str(name) for name in old], name=choice.choice(["item", "subject", "x", 3]))


def _rows_named(table: pd.DataFrame, choice: random.Random) -> pd.DataFrame:
    return table.set_axis(_names(len(table), choice, table.index), axis=0)


def _columns_named(table: pd.DataFrame, choice: random.Random) -> pd.DataFrame:
    return table.set_axis(_names(table.shape[1], choice, table.columns), axis=1)


def _doubled_column(table: pd.DataFrame, choice: random.Random) -> pd.DataFrame:
    return pd.concat([table, table.iloc[:, [choice.randrange(table.shape[1])]]], axis=1)


def _doubled_row(table: pd.DataFrame, choice: random.Random) -> pd.DataFrame:
    return pd.concat([table, table.iloc[[choice.randrange(len(table))]]], axis=0)


CHANGES: tuple[Change, ...] = (
    *(_cell, _cell, _dtype, _dtype, _column_filled, _rows_named, _columns_named),
    *(_doubled_column, _doubled_row),
    lambda table, choice: table.iloc[:0],
    lambda table, choice: table.iloc[:, :0],
    lambda table, choice: table.iloc[:1],
    lambda table, choice: table.iloc[:, :1],
    lambda table, choice: table.drop(columns=table.columns[choice.randrange(table.shape[1])]),
    lambda table, choice: table.drop(index=table.index[choice.randrange(len(table))]),
    lambda table, choice: table.T,
    lambda table, choice: table.sample(frac=1, random_state=choice.randrange(1000)),
    lambda table, choice: table.sample(frac=1, axis=1, random_state=choice.randrange(1000)),
    lambda table, choice: table.reset_index(),
)


def damaged(table: pd.DataFrame, choice: random.Random) -> Any:
    """Change a table in up to three ways, or put something else in its place."""
    if choice.random() < 0.04:
        return odd(choice)
    changed = table
    for _ in range(choice.choice([0, 1, 1, 1, 2, 3])):
        if not len(changed) or not changed.shape[1]:
            break
        with contextlib.suppress(Exception):  # pandas does not make every table
            changed = choice.choice(CHANGES)(changed, choice)
    return changed
