"""Effects of items, from the smallest to the largest."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ..common.messages import many
from ..layouts import Layout
from . import style
from .effects import effect_groups, effect_rows, effect_unit, mean_and_interval

_COLUMNS = 4
_NAMED = 100  # largest number of rows that are all named


def caterpillar_plot(
    items: pd.DataFrame,
    *,
    nodes: str | Sequence[str] | None = None,
    layout: Layout | None = None,
    prob: float = 0.9,
    ax: style.Panels | None = None,
) -> np.ndarray:
    """Draw the effects of items, or of categories of items, in the order of their means.

    Effects whose interval contains 0 are pale.

    Parameters
    ----------
    items : DataFrame
        Result of ``fit.items()``.
    nodes : str or sequence of str, optional
        Nodes of the table, or elements ``node[label]`` (default: all).
    layout : Layout, optional
        Layout that declares the units of the nodes.
    prob : float, default 0.9
        Mass of the intervals, as given to ``fit.items()``; the legend states it.
    ax : Axes or sequence of Axes, optional
        Axes to draw on, one for each element (default: a new figure).

    Returns
    -------
    ndarray of Axes
        One Axes per node and label. Horizontal axis: the effect. If there are more than 100 rows,
        only some are named.

    Raises
    ------
    DataError
        When a node is not in the table, or the table lacks a column.
    FitError
        When `prob` is not between 0 and 1, or the number of axes is wrong.

    Examples
    --------
    >>> items = pd.DataFrame({"node": "ease", "label": "", "item": ["a", "b"],
    ...                       "mean": [0.4, -0.4], "low": [0.1, -0.9], "high": [0.7, 0.1]})
    >>> (panel,) = caterpillar_plot(items)
    >>> [tick.get_text() for tick in panel.get_yticklabels()]
    ['b', 'a']
    """
    words = mean_and_interval(prob)
    groups = effect_groups(items, nodes, "fit.items()")
    longest = max(len(rows) for rows in groups.values())
    panel = 3.4, min(longest, _NAMED) * 0.165 + 0.9
    axes, figure, _ = style.grid(ax, len(groups), _COLUMNS, panel, (0, 1.0), 5.0)
    for (name, rows), panel in zip(groups.items(), axes, strict=True):
        ordered = rows.sort_values("mean", kind="stable")
        names = [style.words(level, 30) for level in ordered["level"]]
        effect_rows(panel, ordered, names, _NAMED, words=words)
        unit = effect_unit(rows["node"].iloc[0], layout)
        panel.set_xlabel(style.words(f"{name} ({unit})" if unit else name))
        style.title(panel, many(len(rows), "effect"))
    style.heading(figure, "Effects of items: posterior means and intervals")
    style.legend(axes, figure, 2)
    return axes
