"""Permutation importances of properties for predictions."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from ..validation.prediction.importance import Importance
from . import style

_PANEL, _ROW, _LETTER = 3.6, 0.22, 0.075  # inches
_SCORES = {"brier": "rise of the Brier score", "auroc": "fall of the AUROC"}


def importance_plot(importance: Importance, *, ax: style.Panels | None = None) -> np.ndarray:
    """Draw permutation importances with intervals and their elbow, one panel per method.

    The most important property is at the top. Filled points are before the elbow, which a line
    marks. The number beside a point is the share of folds whose own elbow selects the property.

    Parameters
    ----------
    importance : Importance
        Result of `permutation_importance`.
    ax : Axes or sequence of Axes, optional
        Axes to draw on, one for each method (default: a new figure).

    Returns
    -------
    ndarray of Axes
        One Axes per method. Horizontal axis: loss of the score when the property is shuffled.

    Raises
    ------
    FitError
        When the number of axes is wrong.

    References
    ----------
    General scales paper, appendix 8.5.1 and Figure 16.

    Examples
    --------
    >>> import pandas as pd
    >>> names = ["method", "repeat", "fold", "subject", "property", "importance"]
    >>> rows = [("mine", 0, fold, "Ann", name, value) for fold in (0, 1)
    ...         for name, value in (("size", 0.2), ("hue", 0.01), ("hour", 0.0))]
    >>> found = Importance(pd.DataFrame(rows, columns=names), "brier", 0.9, 1.0)
    >>> [label.get_text() for label in importance_plot(found)[0].get_yticklabels()]
    ['hour', 'hue', 'size']
    """
    tables = {
        name: part.iloc[::-1] for name, part in importance.table.groupby("method", sort=False)
    }
    longest = max(len(style.words(name, 40)) for name in importance.table["property"])
    most, count = max(map(len, tables.values())), len(tables)
    size = count * (_PANEL + longest * _LETTER), most * _ROW + 2.0
    axes, figure = style.panels(ax, count, count, (max(size[0], 5.4), max(size[1], 3.0)))
    for panel, (method, table) in zip(axes, tables.items(), strict=True):
        _draw(panel, table)
        verdict = str(importance.stability["verdict"].to_dict()[method])
        end = verdict.rpartition("), ")[2] if "), " in verdict else verdict
        style.title(panel, f"{method!s}: {int(table['chosen'].sum())} chosen, {end}")
        interval = style.percent(importance.prob)
        panel.set_xlabel(
            f"{_SCORES[importance.score]} when shuffled\n(mean over folds, {interval} interval)",
            fontsize=9,
        )
    if figure is not None:
        note = "filled: before the elbow (dashed); number: share of folds that choose it"
        figure.supxlabel(note, fontsize=8, color=style.QUIET)
    return axes


def _draw(panel: Axes, table: pd.DataFrame) -> None:
    chosen, colour = table["chosen"].to_numpy(), style.METHODS[0][0]
    panel.axvline(0, color=style.INK, linewidth=0.9, zorder=0)
    nobody = np.zeros(len(table), dtype=bool)
    style.forest_rows(
        panel, table["importance"], table, ~chosen, nobody, colour, size=26, alpha=0.6
    )
    if not chosen.all():
        panel.axhline(
            len(table) - chosen.sum() - 0.5, color=style.QUIET, linestyle="--", linewidth=1
        )
    style.row_notes(panel, map("{:.0%}".format, table["folds"]), 7.5)
    style.row_names(panel, [style.words(name, 40) for name in table["property"]], 8)
    panel.locator_params(axis="x", nbins=4)
    style.quiet_frame(panel, "bottom")
