"""One subject's estimate, found in a table of estimates and written as text."""

import math

import numpy as np
import pandas as pd

from ..common.digits import fixed
from ..common.errors import FitError
from ..common.messages import some
from ..estimation.estimate import Estimates
from ..layouts.elements import Element, elements, find_elements

_DIGITS = 2  # number of significant digits of a standard error


def estimated(estimates: Estimates, subject: object, node: str | None = None) -> pd.Series:
    """Find one subject's row.

    Parameters
    ----------
    estimates : Estimates
        Estimates of the subjects.
    subject : object
        Subject to draw.
    node : str, optional
        Latent whose estimate is wanted (default: the layout's only one).

    Returns
    -------
    Series
        A row of ``estimates.table``.

    Raises
    ------
    FitError
        When the subject or the node is unknown, or the layout has several latents and none is
        named.
    """
    table, name = estimates.table, str(subject)
    if name not in estimates.subjects:
        raise FitError(f"not in these estimates: {name}; they are of {some(estimates.subjects)}")
    rows = table[table["subject"] == name]
    if node is not None:
        rows = rows[rows["node"] == node]
    if len(rows) != 1:
        raise FitError(
            f"{name}: these estimates are of {some(dict.fromkeys(table['node']))}, and the figure "
            f"shows {node or 'one latent'}; give estimates of a layout with only that latent"
        )
    return rows.iloc[0]


def element_of(estimates: Estimates, row: pd.Series) -> Element:
    """Return the profile element of a row."""
    return find_elements(elements(estimates.layout), str(row["node"]))[0]


def estimate_text(row: pd.Series) -> str:
    """Write an estimate and its standard error, both to two digits of the error.

    Examples
    --------
    >>> estimate_text(pd.Series({"identified": True, "estimate": -1.9375, "se": 0.1055}))
    '−1.94 ± 0.11'
    """
    if not row["identified"]:
        return "not identified"
    if not (np.isfinite(row["se"]) and row["se"] > 0):
        return fixed(row["estimate"], 2)
    decimals = min(max(_DIGITS - 1 - math.floor(math.log10(row["se"])), 0), 4)
    return f"{fixed(row['estimate'], decimals)} ± {fixed(row['se'], decimals)}"
