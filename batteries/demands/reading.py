"""Demands of items: columns of numbers without gaps."""

import re
from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from ...common.errors import DataError
from ...evaluations.tables import (
    name_cells,
    named,
    need_columns,
    read_numbers,
    refuse_repeats,
    texts,
)


def read_demands(items: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """Read the demands of items.

    Parameters
    ----------
    items : DataFrame
        Indexed by item.
    columns : sequence of str
        Those that hold demands.

    Returns
    -------
    DataFrame
        Floats, shape (items, columns).

    Raises
    ------
    DataError
        When there are no items or columns, a column is missing or repeated, or a cell holds no
        finite number.

    Examples
    --------
    >>> items = pd.DataFrame({"QLl": [3, 4], "task": ["a", "b"]})
    >>> read_demands(items, ["QLl"])["QLl"].tolist()
    [3.0, 4.0]
    """
    table = named(items, "items", "item")
    wanted = [columns] if isinstance(columns, str) else texts(columns, "the columns of demands")
    if not len(table) or not wanted:
        raise DataError(
            f"{len(table)} items and {len(wanted)} columns of demands; give at least one of each"
        )
    refuse_repeats(wanted, "column", "the columns of demands")
    need_columns(table.columns, wanted, "the items have")
    values, _ = read_numbers(table[wanted])
    bad = ~np.isfinite(values)
    if bad.any():
        raise DataError(
            f"a demand is a number, but {name_cells(table[wanted], bad)}; fill it in, or leave "
            "those items or columns out"
        )
    return pd.DataFrame(values, table.index, wanted)


def short_names(columns: Iterable[object]) -> list[str]:
    """Name dimensions for a figure: by their labels, where all are labels of one meta-feature.

    Examples
    --------
    >>> short_names(["demand[QLl]", "demand[MS]"]), short_names(["demand[QLl]", "size"])
    (['QLl', 'MS'], ['demand[QLl]', 'size'])
    """
    names = [str(column) for column in columns]
    parts = [re.fullmatch(r"(.+)\[(.+)\]", name) for name in names]
    if all(parts) and len({part[1] for part in parts if part}) == 1:
        return [part[2] for part in parts if part]
    return names
