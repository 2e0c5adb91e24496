"""Rows of effects with intervals, from the tables of a joint fit."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from ..common.errors import DataError
from ..common.messages import some
from ..common.options import inside
from ..layouts import Layout
from ..linking import units
from . import style

COLUMNS = ("node", "label", "mean", "low", "high")


def effect_groups(
    table: pd.DataFrame, nodes: str | Sequence[str] | None, source: str
) -> dict[str, pd.DataFrame]:
    """Split a table of effects by node and label.

    Parameters
    ----------
    table : DataFrame
        Table with the columns ``node``, ``label``, ``mean``, ``low`` and ``high``. Columns between
        ``label`` and ``mean`` have the levels.
    nodes : str or sequence of str or None
        Nodes, or elements ``node[label]``; None for all.
    source : str
        Function that returns such a table, for messages.

    Returns
    -------
    dict of str to DataFrame
        Rows of each element, in the order of the table or of `nodes`. The column ``level`` has the
        level; those of several plates are joined by commas.

    Raises
    ------
    DataError
        When a column is missing, there is no row, or a node is not in the table.
    """
    missing = [name for name in COLUMNS if name not in table.columns]
    if missing or table.empty:
        what = f"no column {some(missing)}" if missing else "no rows"
        raise DataError(f"the table has {what}; give the result of {source}")
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
    """Return the unit that a layout declares for a node, or an empty text."""
    latent = layout.nodes.get(node) if layout is not None else None
    return units.name(latent.unit) or "" if latent is not None else ""


def mean_and_interval(prob: float) -> tuple[str, str]:
    """Describe the rows whose interval does not contain 0, and the rows whose interval does.

    Parameters
    ----------
    prob : float
        Mass of the intervals.

    Returns
    -------
    tuple of str
        Texts of the legend.

    Raises
    ------
    FitError
        When `prob` is not between 0 and 1.
    """
    words = f"mean and {style.percent(inside('prob', prob, such_as=0.9))} interval"
    return words, f"{words} that contains 0"


def effect_rows(
    ax: Axes,
    rows: pd.DataFrame,
    names: Sequence[str],
    most: int,
    *,
    words: tuple[str, str],
    marked: np.ndarray | None = None,
) -> None:
    """Draw one row per effect from the bottom, which is pale if the interval contains 0.

    Parameters
    ----------
    ax : Axes
        Axes to draw on.
    rows : DataFrame
        Effects: ``mean``, ``low`` and ``high``.
    names : sequence of str
        Names of the rows.
    most : int
        Largest number of rows that are all named.
    words : tuple of str
        Texts of the legend for dark and for pale rows.
    marked : ndarray of bool, shape (rows,), optional
        Whether each row is dark (default: rows whose interval does not contain 0).
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
    ax.tick_params(axis="y", length=0)
    if step > 1:
        ax.set_ylabel(f"{len(names[::step])} of {len(rows)} are named")
    ax.set_ylim(-0.7, len(rows) - 0.3)
    style.rules(ax, "x")
    style.quiet_frame(ax, "bottom")
