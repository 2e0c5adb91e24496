"""Comparison of layouts by leave-one-out prediction, in total and by subject or item."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from ..common.messages import many
from ..validation.leave_one_out.compare import LayoutComparison
from . import style

_CLOSE = 20  # number of subjects from which rows are closer together, in smaller letters
_LETTER = 0.066  # inches
_ROW = 0.34  # height of a layout's row, in inches
_APART = 0.8  # share of a row's height that the layouts of a subject use


def layout_comparison_plot(
    compared: LayoutComparison, *, ax: style.Panels | None = None
) -> np.ndarray:
    """Draw the differences of layouts from the best one, in total and by subject, or by item.

    Thick lines are one standard error of the difference, and thin lines are two. A difference below
    4, or one from fewer than 100 items, is less certain than these lines show (see
    `compare_layouts`). A hollow point has a warning in the table. If whole items or subjects were
    left out, a row is a single point without a line.

    Parameters
    ----------
    compared : LayoutComparison
        Result of `compare_layouts`.
    ax : Axes or sequence of Axes, optional
        Two axes to draw on: the total, and subjects or items (default: a new figure).

    Returns
    -------
    ndarray of Axes
        Two Axes. Horizontal axis: elpd minus that of the best layout (in total, or in the row), in
        nats.

    Raises
    ------
    FitError
        When the number of axes is wrong.

    Examples
    --------
    >>> from measurement_layouts.validation.leave_one_out.compare import LayoutComparison
    >>> table = pd.DataFrame({"subject": "Ann", "layout": ["bold", "plain"], "warning": "",
    ...                       "elpd_diff": [0.0, -3.1], "dse": [0.0, 1.2]})
    >>> total, _ = layout_comparison_plot(LayoutComparison(table, table.drop(columns="subject")))
    >>> total.get_title()
    'In total'
    """
    layouts = list(compared.total["layout"])
    rows = compared.rows
    who = list(dict.fromkeys(compared.table[rows]))
    close = len(who) > _CLOSE
    names = [style.words(name, 40) for name in layouts]
    heads = [style.words(name, 40) for name in who]
    step = max(0.17 if close else 0.26, 0.075 * len(layouts))
    height = max(len(who) * step, len(layouts) * _ROW) + 1.9
    width = 6.4 + (max(map(len, names)) + max(map(len, heads))) * _LETTER
    axes, figure = style.panels(ax, 2, 2, (width, height))
    looks = style.method_styles(layouts)
    top, below = axes
    for row, name in enumerate(layouts):
        part = compared.total[compared.total["layout"] == name]
        _draw(top, part, np.array([float(row)]), looks[name], 1.0)
    _rows(top, names, 9)
    if figure is not None:
        top.set_ylim(max(len(names), len(who) * step / _ROW) - 0.4, -0.6)
    top.set_title("In total", fontsize=10)
    middle = (len(layouts) - 1) / 2
    for place, name in enumerate(layouts):
        part = compared.table[compared.table["layout"] == name].set_index(rows).loc[who]
        places = np.arange(len(who)) + _APART * (place - middle) / len(layouts)
        _draw(below, part, places, looks[name], 0.5 if close else 0.8, style.legend_words(name))
    _rows(below, heads, 7.5 if close else 9)
    below.set_title(f"By {rows}", fontsize=10)
    for panel in axes:
        whole = panel is below and compared.unit != "cell"  # a single point has no standard error
        lines = "" if whole else "\nthick line: 1 standard error, thin line: 2"
        panel.set_xlabel(f"elpd minus the best layout's (nats){lines}", fontsize=9)
        if close:
            panel.tick_params(axis="x", top=True, labeltop=True)
            panel.spines["top"].set_visible(True)
    if figure is not None:
        what = f"{many(len(layouts), 'layout')} compared by leave-one-out of {compared.unit}s"
        style.heading(figure, f"{what}: {many(len(who), rows)}")
        style.legend(axes, figure, 3)
    return axes


def _draw(
    panel: Axes,
    part: pd.DataFrame,
    rows: np.ndarray,
    look: tuple[str, str],
    size: float,
    entry: str | None = None,
) -> None:
    colour, marker = look
    behind, error = part["elpd_diff"].to_numpy(), part["dse"].fillna(0).to_numpy()
    for times, thickness in ((2, 1.1), (1, 3.2)):
        ends = behind - times * error, behind + times * error
        panel.hlines(rows, *ends, color=colour, linewidth=thickness * size**0.5, alpha=0.8)
    hollow = (part["warning"] != "").to_numpy()
    panel.scatter(
        behind,
        rows,
        s=46 * size,
        marker=marker,
        facecolors=np.where(hollow, "white", colour),
        edgecolors=colour,
        linewidths=1.1,
        zorder=3,
        label=entry,
    )


def _rows(panel: Axes, names: list[str], letters: float) -> None:
    panel.axvline(0, color=style.INK, linewidth=0.9, zorder=0)
    style.row_names(panel, names, letters)
    panel.set_ylim(len(names) - 0.4, -0.6)
    style.rules(panel, width=0.8)
    style.quiet_frame(panel, "bottom")
