"""Parts of figures of dispositions: groups of models, lines by bin, means with bands."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from ..common.errors import DataError
from ..dispositions.group_curves import GroupCurves
from ..dispositions.model_groups import ONE, ModelGroups
from . import style

_ENTRY = 2.2  # width of an entry of a legend, in inches
_THIN: dict[str, Any] = {"linewidth": 0.7, "alpha": 0.35, "zorder": 1}


def group_styles(chosen: ModelGroups) -> dict[str, tuple[str, str]]:
    """Return a colour and a marker for each group.

    Raises
    ------
    DataError
        When there are more groups than colours.
    """
    names = list(chosen.members)
    if len(names) > len(style.METHODS):
        raise DataError(
            f"groups= has {len(names)} groups, and a figure can show {len(style.METHODS)}; join "
            "some of them"
        )
    return {ONE: (style.INK, "o")} if names == [ONE] else style.method_styles(names)


def draw_curves(ax: Axes, curves: GroupCurves) -> None:
    """Draw one thin line per model, and one mean with its band per group."""
    chosen, at, styles = curves.chosen, 100 * curves.at, group_styles(curves.chosen)
    for model, group in chosen.groups.items():
        ax.plot(at, 100 * curves.lines[model], color=styles[group][0], **_THIN)
    for group, (colour, marker) in styles.items():
        means = curves.means
        own = 100 * means[means.index.get_level_values("group") == group].droplevel("group")
        where = at.loc[own.index]
        look: dict[str, Any] = {"alpha": 0.3, "linewidth": 0, "zorder": 2}
        ax.fill_between(where, own["low"], own["high"], color=colour, **look)
        look = {"marker": marker, "markersize": 4, "linewidth": 2.0, "zorder": 3}
        ax.plot(where, own["mean"], color=colour, **look)


def line_entries(chosen: ModelGroups, prob: float) -> list[Artist]:
    """Explain thin lines, means and bands."""
    entries: list[Artist] = []
    for group, look in group_styles(chosen).items():
        count = len(chosen.members[group])
        name = f"mean of {count} models" if count > 1 else "1 model"
        name = name if group == ONE else f"{style.legend_words(group)}: {name}"
        entries.append(style.entry(name, *look, markersize=4, linewidth=2))
    entries.append(Patch(color=style.QUIET, alpha=0.3, label=f"its {style.percent(prob)} interval"))
    if len(chosen.models) > len(chosen.members):
        entries.append(style.entry("one model", linewidth=0.8))
    return entries


def explain(axes: np.ndarray, figure: Figure | None, entries: Sequence[Artist]) -> None:
    """Add a legend below the panels of a new figure, or inside the first of given axes."""
    if figure is None:
        axes[0].legend(handles=entries, fontsize=8, frameon=False)
        return
    lines = math.ceil(len(entries) * _ENTRY / figure.get_figwidth())
    style.legend(axes, figure, math.ceil(len(entries) / lines), entries)
