"""Directional alignment of models with people who agree, as a table of coloured numbers."""

import textwrap
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh

from ..common.errors import DataError
from ..common.messages import many
from ..dispositions.comparison import BUCKETS
from ..dispositions.group_curves import model_groups
from . import cells, style
from .cells import LETTERS, ROW
from .disposition_lines import ordered, tidy

_HEADS = {"[0.8, 0.9)": "[80, 90)", "[0.9, 1)": "[90, 100)", "1": "100", "all": "≥ 80"}
_ALL = "all"
_ABOVE: dict[str, Any] = {
    "xycoords": ("data", "axes fraction"),
    "textcoords": "offset points",
    "ha": "center",
    "va": "bottom",
}
_GAP = 0.2  # between traits, in cells
_CELL, _LETTER = 0.62, 0.068  # inches
_LEAST = 4.8  # width of a figure, in inches


def alignment_heatmap(
    alignment: pd.DataFrame,
    groups: Mapping[str, str] | None = None,
    *,
    ax: Axes | None = None,
) -> Axes:
    """Draw directional alignment as a table: one row per model, one column per trait and consensus.

    The number of a cell is the percentage of scenarios with this consensus of people in which the
    model takes the people's side; a tie does not count as their side. A model that chooses as
    people do does not reach 100 %, because samples and votes are few.

    Parameters
    ----------
    alignment : DataFrame
        Result of `measurement_layouts.dispositions.directional_alignment`.
    groups : mapping of str to str, optional
        Group of each model (default: all models are one group). Lines separate the groups.
    ax : Axes, optional
        Axes to draw on (default: a new figure that grows with the table).

    Returns
    -------
    Axes
        Axes whose rows are one unit high: groups in order of appearance, and within a group the
        best model first.

    Raises
    ------
    DataError
        When a column is missing, the table has no rows, no scenario has a consensus of 80 %, or a
        model has no group.

    References
    ----------
    Taubenfeld et al., Evaluating alignment of behavioral dispositions in LLMs, Equations 2
    and 3, Figure 4.

    Examples
    --------
    >>> import measurement_layouts as ml
    >>> from measurement_layouts.scenarios.dispositions import simulated_study
    >>> study = simulated_study(per_statement=4, models=["sim-01", "sim-04"])
    >>> alignment_heatmap(ml.dispositions.directional_alignment(study.judgments)).get_title()
    'Directional alignment of 2 models'
    """
    keys = ["model", "trait", "bucket"]
    table = tidy(alignment, "directional alignment", keys, ["scenarios", "aligned"]).set_index(keys)
    groups = model_groups(table.index.unique("model"), groups)
    columns = _columns(table)
    rows = ordered(table["aligned"].xs((_ALL, _ALL), level=("trait", "bucket")), groups)
    shares = table["aligned"].unstack("model").reindex(index=columns, columns=rows).to_numpy().T
    members = pd.Series(groups).value_counts(sort=False)
    blocks = columns.get_level_values("trait")
    left = np.arange(len(columns)) + _GAP * (pd.factorize(blocks)[0])
    tops = np.arange(len(rows))
    ax = style.single(ax, _size(rows, left, members))
    inks = cells.inks(_fill(ax, shares, left, tops), 100 * shares)
    for (row, column), value in np.ndenumerate(shares):
        if np.isfinite(value):
            x, y = float(left[column]) + 0.5, float(tops[row]) + 0.5
            cells.write(ax, x, y, f"{100 * value:.0f}", str(inks[row, column]))
    _divide(ax, members, left[-1] + 1)
    sizes = table["scenarios"].groupby(level=["trait", "bucket"]).max().reindex(columns)
    lines = _head(ax, columns, sizes, left)
    ax.set(xlim=(0, left[-1] + 1), ylim=(len(rows), 0))
    ax.set_yticks(tops + 0.5, [style.words(name, 40) for name in rows])
    ax.tick_params(length=0, labelsize=LETTERS)
    style.quiet_frame(ax)
    style.title(ax, f"Directional alignment of {many(len(rows), 'model')}", pad=8 + 12 * lines)
    return ax


def _columns(table: pd.DataFrame) -> pd.MultiIndex:
    """Choose traits and their buckets, the highest consensus first and all scenarios last."""
    there = table[table["scenarios"] > 0].droplevel("model").index
    traits = table.index.unique("trait").drop(_ALL, errors="ignore")
    wanted = [(trait, bucket) for trait in traits for bucket in reversed(BUCKETS)] + [(_ALL, _ALL)]
    kept = [pair for pair in wanted if pair in there]
    if not kept:
        raise DataError(
            "no scenario has a consensus of 80% or more; alignment needs scenarios with a consensus"
        )
    return pd.MultiIndex.from_tuples(kept, names=["trait", "bucket"])


def _size(rows: list[str], left: np.ndarray, members: "pd.Series[int]") -> tuple[float, float]:
    names = max(len(style.words(name, 40)) for name in rows)
    beside = 0.3 if _upright(members) else max(map(len, members.index)) * _LETTER
    width = names * _LETTER + (left[-1] + 1) * _CELL + 0.5 + beside * (len(members) > 1)
    return max(width, _LEAST), len(rows) * ROW + 2.6


def _upright(members: "pd.Series[int]") -> bool:
    """Whether the groups' names fit beside their rows when they are written vertically."""
    return all(len(str(name)) * _LETTER < count * ROW for name, count in members.items())


def _fill(ax: Axes, shares: np.ndarray, left: np.ndarray, tops: np.ndarray) -> QuadMesh:
    """Colour the cells, and explain the colours by a bar."""
    across = np.unique(np.round(np.append(left, left + 1), 6))
    down = np.unique(np.round(np.append(tops, tops + 1), 6))
    spread = np.full((len(down) - 1, len(across) - 1), np.nan)
    places = np.searchsorted(down, tops - 1e-3), np.searchsorted(across, left - 1e-3)
    spread[np.ix_(*places)] = 100 * shares
    mesh = cells.fill(ax, spread, across, down, cmap=style.RATE, vmin=0, vmax=100)
    label, shape = "scenarios on the people's side (%)", {"shrink": 0.4, "aspect": 28, "pad": 0.02}
    cells.bar_below(ax, mesh, label, 1.0, LETTERS + 1, **shape)
    return mesh


def _divide(ax: Axes, members: "pd.Series[int]", end: float) -> None:
    """Draw a line between groups, and name each beside its rows."""
    if len(members) == 1:
        return
    look: dict[str, Any] = {"ha": "left", "va": "center", "fontsize": LETTERS + 0.5}
    for group, top, count in zip(members.index, members.cumsum() - members, members, strict=True):
        if top:
            ax.plot([0, end], [top, top], color=style.INK, linewidth=1.8, clip_on=False)
        turned = 270 if _upright(members) else 0
        ax.text(end + 0.15, top + count / 2, style.words(group, 40), rotation=turned, **look)


def _head(ax: Axes, columns: pd.MultiIndex, sizes: pd.Series, left: np.ndarray) -> int:
    """Write the names of columns and, above them, of traits; return the number of lines."""
    heads = [
        f"{_HEADS.get(bucket, bucket)}\nn = {size}"
        for bucket, size in zip(columns.get_level_values("bucket"), sizes, strict=True)
    ]
    ax.xaxis.tick_top()
    ax.set_xticks(left + 0.5, heads)
    traits = columns.get_level_values("trait")
    lines = 1
    for trait in traits.unique():
        places = left[traits == trait]
        name = textwrap.wrap(style.words(trait, 40), max(8 * len(places), 10))
        lines = max(lines, len(name))
        middle = (places[0] + places[-1] + 1) / 2, 1
        ax.annotate("\n".join(name), middle, (0, 26), fontsize=LETTERS + 1.5, **_ABOVE)
    return lines
