"""Permutation importances of properties for predictions."""

import numpy as np
import pandas as pd

from . import style

_PANEL, _ROW, _LETTER = 3.6, 0.22, 0.075  # inches


def importance_plot(importance: pd.DataFrame, *, ax: style.Panels | None = None) -> np.ndarray:
    """Draw permutation importances with intervals, one panel per method.

    The most important property is at the top.

    Parameters
    ----------
    importance : DataFrame
        Result of `permutation_importance`.
    ax : Axes or sequence of Axes, optional
        Axes to draw on, one for each method (default: a new figure).

    Returns
    -------
    ndarray of Axes
        One Axes per method. Horizontal axis: rise of the Brier score when the property is shuffled.

    Raises
    ------
    FitError
        When the number of axes is wrong.

    References
    ----------
    General scales paper, appendix 8.5.1 and Figure 16.

    Examples
    --------
    >>> found = pd.DataFrame({"method": "mine", "property": ["size", "hue"],
    ...                       "importance": [0.2, 0.01], "low": [0.1, -0.01], "high": [0.3, 0.03]})
    >>> [label.get_text() for label in importance_plot(found)[0].get_yticklabels()]
    ['hue', 'size']
    """
    tables = {name: table.iloc[::-1] for name, table in importance.groupby("method", sort=False)}
    longest = max(len(style.words(name, 40)) for name in importance["property"])
    most, count = max(map(len, tables.values())), len(tables)
    size = count * (_PANEL + longest * _LETTER), most * _ROW + 2.0
    axes, _ = style.panels(ax, count, count, (max(size[0], 5.4), max(size[1], 3.0)))
    for panel, (method, table) in zip(axes, tables.items(), strict=True):
        panel.axvline(0, color=style.INK, linewidth=0.9, zorder=0)
        none = np.zeros(len(table), dtype=bool)
        colour = style.METHODS[0][0]
        style.forest_rows(panel, table["importance"], table, none, none, colour, size=26, alpha=0.6)
        style.row_names(panel, [style.words(name, 40) for name in table["property"]], 8)
        style.title(panel, str(method))
        label = "rise of the Brier score when shuffled\n(mean over folds, with intervals)"
        panel.set_xlabel(label, fontsize=9)
        panel.locator_params(axis="x", nbins=4)
        style.quiet_frame(panel, "bottom")
    return axes
