"""Rows of effects with intervals, as tables of a joint fit have them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ..common.errors import DataError
from ..common.messages import some
from ..common.options import inside
from ..layouts import Layout
from ..linking import units
from . import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLUMNS = ("node", "label", "mean", "low", "high")


def effect_groups(
    table: pd.DataFrame, nodes: str | Sequence[str] | None, source: str
) -> dict[str, pd.DataFrame]:
    """Part a table of effects by node and label.

    Parameters
    ----------
    table : DataFrame
        With the columns ``node``, ``label``, ``mean``, ``low`` and ``high``; levels stand in those
        between ``label`` and ``mean``.
    nodes : str or sequence of str or None
        Nodes, or elements ``node[label]``; all with None.
    source : str
        Where such a table comes from.

    Returns
    -------
    dict of str to DataFrame
        By element, in the order of the table or as asked for; ``level`` names the level, and joins
        those of several plates with commas.

    Raises
    ------
    DataError
        When a column is not there, there is no row, or a node is not in the table.
    """
    missing = [name for name in COLUMNS if name not in table.columns]
    if missing or table.empty:
        what = f"no column {some(missing)}" if missing else "no rows"
        raise DataError(f"the table has {what}; give what {source} returned")
    names = list(table.columns)
    plates = table[names[names.index("label") + 1 : names.index("mean")]].astype(str)
    table = table.assign(level=[", ".join(filter(None, row)) for row in plates.to_numpy()])
    labels = table["label"].map(lambda label: f"[{label}]" if label else "")
    element = table["node"] + labels
    groups = {name: table[element == name] for name in dict.fromkeys(element)}
    if nodes is None:
        return groups
    found: dict[str, pd.DataFrame] = {}
    for wanted in [nodes] if isinstance(nodes, str) else nodes:
        own = {
            name: rows for name, rows in groups.items() if wanted in (name, rows["node"].iloc[0])
        }
        if not own:
            raise DataError(f"no effects of {wanted} in the table; it has {some(groups, 20)}")
        found |= own
    return found


def effect_unit(node: str, layout: Layout | None) -> str:
    """Name the unit of a node where a layout says it; empty elsewhere."""
    latent = layout.nodes.get(node) if layout is not None else None
    return units.name(latent.unit) or "" if latent is not None else ""


def mean_and_interval(prob: float) -> tuple[str, str]:
    """Write what rows are: those whose interval does not contain 0, and those whose does.

    Parameters
    ----------
    prob : float
        Mass of the intervals.

    Returns
    -------
    tuple of str
        For the legend.

    Raises
    ------
    FitError
        When `prob` is not between 0 and 1.
    """
    words = f"mean and {style.percent(inside('prob', prob, such_as=0.9))} interval"
    return words, f"{words} that contains 0"


def effect_rows(
    ax: "Axes",
    rows: pd.DataFrame,
    names: Sequence[str],
    most: int,
    *,
    words: tuple[str, str],
    marked: np.ndarray | None = None,
) -> None:
    """Draw a row per effect from the bottom, pale where the interval contains 0.

    Parameters
    ----------
    ax : Axes
        Where.
    rows : DataFrame
        ``mean``, ``low`` and ``high``.
    names : sequence of str
        Of the rows.
    most : int
        Rows from which only some are named.
    words : tuple of str
        What dark rows are, and pale ones, for the legend.
    marked : ndarray of bool, shape (rows,), optional
        Which rows are dark instead of those whose interval does not contain 0.
    """
    at = np.arange(len(rows))
    clear = ((rows["low"] > 0) | (rows["high"] < 0)).to_numpy() if marked is None else marked
    colour, size = style.METHODS[0][0], 2.0 if len(rows) > most else 4.5
    ax.axvline(0, color=style.QUIET, linewidth=0.9, zorder=0)
    for chosen, shade, name in (
        (clear, colour, words[0]),
        (~clear, style.PRIOR, words[1]),
    ):
        part = rows[chosen]
        if part.empty:
            continue
        ax.hlines(at[chosen], part["low"], part["high"], color=shade, linewidth=1.3, alpha=0.6)
        ax.plot(part["mean"], at[chosen], "o", color=shade, markersize=size, label=name)
    step = -(-len(rows) // most)
    ax.set_yticks(at[::step], names[::step], fontsize=8)
    if step > 1:
        ax.set_ylabel(f"one of {step} is named")
    ax.set_ylim(-0.7, len(rows) - 0.3)
    ax.tick_params(axis="y", length=0)
    style.rules(ax, "x")
    style.quiet_frame(ax, "bottom")
