"""Parts of figures of dispositions: groups of models, lines by bin, means with bands."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from ..common.errors import DataError
from ..common.messages import some
from ..common.options import inside
from ..dispositions.group_curves import ONE
from ..evaluations.tables import need_columns, need_frame
from . import style

CURVE = ["group", "model", "human"]
"""Columns that identify a point of a curve."""

_ENTRY = 2.2  # width of an entry of a legend, in inches
_THIN: dict[str, Any] = {"linewidth": 0.7, "alpha": 0.35, "zorder": 1}


def tidy(table: object, what: str, keys: Sequence[str], columns: Sequence[str]) -> pd.DataFrame:
    """Check a table of results: its columns or levels of the index, and one row for each key.

    Raises
    ------
    DataError
        When it is no table, a column is missing, it has no rows, or two rows have the same key.
    """
    found = need_frame(table, what).reset_index()
    need_columns(found.columns, [*keys, *columns], f"the table of {what} has")
    twice = found[found.duplicated(list(keys))]
    if found.empty or len(twice):
        fault = f"two rows of {some(twice.iloc[0][list(keys)])}" if len(twice) else "no rows"
        raise DataError(f"{what}: the table has {fault}; give one for each {' and '.join(keys)}")
    return found


def mass(prob: float) -> str:
    """Write the mass of intervals, a share in (0, 1)."""
    return f"{style.percent(inside('prob', prob, such_as=0.9))} interval"


def group_styles(groups: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Return a colour and a marker for each group, in order of appearance.

    Raises
    ------
    DataError
        When there are more groups than colours.
    """
    names = list(dict.fromkeys(groups))
    if len(names) > len(style.METHODS):
        raise DataError(f"{len(names)} groups; a figure can show {len(style.METHODS)}: join some")
    return {ONE: (style.INK, "o")} if names == [ONE] else style.method_styles(names)


def ordered(values: "pd.Series[float]", groups: Mapping[str, str]) -> list[str]:
    """Order models by group, and within it from the highest value to the lowest."""
    rank = pd.factorize(pd.Series(groups))[0]
    table = pd.DataFrame({"group": pd.Series(rank, list(groups)), "value": values})
    return list(table.sort_values(["group", "value"], ascending=[True, False]).index)


def draw_curves(ax: Axes, curves: pd.DataFrame, measure: str) -> None:
    """Draw a measure: one thin line per model, and one mean with its band per group."""
    styles = group_styles(curves["group"])
    for (group, _), line in curves.groupby(["group", "model"], sort=False):
        ax.plot(100 * line["human"], 100 * line[measure], color=styles[str(group)][0], **_THIN)
    for group, (colour, marker) in styles.items():
        means = curves[curves["model"].isna() & (curves["group"] == group)]
        at, mean, low, high = (100 * means[name] for name in ("human", measure, "low", "high"))
        ax.fill_between(at, low, high, color=colour, alpha=0.3, linewidth=0, zorder=2)
        ax.plot(at, mean, color=colour, marker=marker, markersize=4, linewidth=2, zorder=3)


def line_entries(curves: pd.DataFrame, prob: float) -> list[Artist]:
    """Explain thin lines, means and bands."""
    entries: list[Artist] = []
    counts = curves.groupby("group")["model"].nunique()
    for group, look in group_styles(curves["group"]).items():
        name = f"mean of {counts[group]} models" if counts[group] > 1 else "1 model"
        name = name if group == ONE else f"{style.legend_words(group)}: {name}"
        entries.append(style.entry(name, *look, markersize=4, linewidth=2))
    entries.append(Patch(color=style.QUIET, alpha=0.3, label=f"its {mass(prob)}"))
    if counts.sum() > len(counts):
        entries.append(style.entry("one model", linewidth=0.8))
    return entries


def explain(axes: np.ndarray, figure: Figure | None, entries: Sequence[Artist]) -> None:
    """Add a legend below the panels of a new figure, or inside the first of given axes."""
    if figure is None:
        axes[0].legend(handles=entries, fontsize=8, frameon=False)
        return
    lines = math.ceil(len(entries) * _ENTRY / figure.get_figwidth())
    style.legend(axes, figure, math.ceil(len(entries) / lines), entries)
