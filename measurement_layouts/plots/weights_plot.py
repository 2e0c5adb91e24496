"""Values that subjects share: means, weights and spreads."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ..layouts import Layout
from . import style
from .effects import effect_groups, effect_rows, effect_unit, mean_and_interval

_NAMED = 100  # largest number of rows that are all named
_ROW, _FRAME = 0.24, 0.7  # height of a row and of the space around a panel, in inches


def weights_plot(
    population: pd.DataFrame,
    *,
    nodes: str | Sequence[str] | None = None,
    layout: Layout | None = None,
    prob: float = 0.9,
    ax: style.Panels | None = None,
) -> np.ndarray:
    """Draw the values that subjects share: means, weights, spreads, and levels of categories.

    Each value has one row. Values whose interval contains 0 are pale; intervals of spreads do not
    contain 0.

    Parameters
    ----------
    population : DataFrame
        Result of ``fit.population()``.
    nodes : str or sequence of str, optional
        Nodes of the table, or elements ``node[label]`` (default: all).
    layout : Layout, optional
        Layout that declares the units of the nodes; there is one panel for each unit. Without it
        there is one panel.
    prob : float, default 0.9
        Mass of the intervals, as given to ``fit.population()``; the legend states it.
    ax : Axes or sequence of Axes, optional
        Axes to draw on, one for each unit (default: a new figure).

    Returns
    -------
    ndarray of Axes
        One Axes per unit. Rows are in the order of the table, the first at the top.

    Raises
    ------
    DataError
        When a node is not in the table, or the table lacks a
        column.
    FitError
        When `prob` is not between 0 and 1, or the number of axes is wrong.

    Examples
    --------
    >>> population = pd.DataFrame({"node": ["gain", "school"], "label": "", "level": ["", "x"],
    ...                            "mean": [0.7, -0.1], "low": [0.6, -0.4], "high": [0.8, 0.2]})
    >>> (panel,) = weights_plot(population)
    >>> [tick.get_text() for tick in panel.get_yticklabels()]
    ['school: x', 'gain']
    """
    words = mean_and_interval(prob)
    panels: dict[str, list[pd.DataFrame]] = {}
    for name, rows in effect_groups(population, nodes, "fit.population()").items():
        names = [style.words(f"{name}: {level}" if level else name, 45) for level in rows["level"]]
        unit = effect_unit(rows["node"].iloc[0], layout)
        panels.setdefault(unit, []).append(rows.assign(name=names))
    tables = {unit: pd.concat(parts)[::-1] for unit, parts in panels.items()}
    heights = [_FRAME + _ROW * min(len(rows), _NAMED) for rows in tables.values()]
    longest = max(int(rows["name"].str.len().max()) for rows in tables.values())
    axes, figure = style.panels(ax, len(tables), 1, (4.4 + longest * 0.07, 0.8 + sum(heights)))
    for (unit, rows), panel in zip(tables.items(), axes, strict=True):
        effect_rows(panel, rows, rows["name"].tolist(), _NAMED, words=words)
        panel.set_xlabel(style.words(f"value ({unit})") if unit else "value")
    if figure is not None:
        axes[0].get_gridspec().set_height_ratios(heights)
    style.heading(figure, "Shared values: posterior means and intervals")
    style.legend(axes, figure, 2)
    return axes
