"""Reliability of annotators by dimension, of one annotator and of all together."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from ..common.digits import fixed
from ..common.messages import many
from ..estimation.raters import RaterModel
from . import style

_ROW, _FRAME, _LETTER = 0.27, 2.0, 0.068  # inches
_APART = 0.14  # distance between the two points of a dimension, in rows


def rater_reliability_plot(
    model: RaterModel, *, least: float = 0.7, prob: float = 0.9, ax: Axes | None = None
) -> Axes:
    """Draw the reliability of one annotator and of all together, by dimension, with a threshold.

    Dimensions for which all annotators together do not reach the threshold are pale. The number at
    the right is the number of averaged annotations that reach it.

    Parameters
    ----------
    model : RaterModel
        Result of `rater_model`.
    least : float, default 0.7
        Reliability that is needed, in (0, 1).
    prob : float, default 0.9
        Mass of the intervals, in (0, 1).
    ax : Axes, optional
        Axes to draw on (default: a new figure that grows with the dimensions).

    Returns
    -------
    Axes
        Horizontal axis: reliability, in [0, 1]. There is one row per dimension, the most reliable
        at the top.

    Raises
    ------
    AnnotationError
        When `least` or `prob` is out of range.

    References
    ----------
    Spearman (1910), British Journal of Psychology 3, 271-295, on the reliability of averages.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from measurement_layouts.annotation import Ratings
    >>> from measurement_layouts.estimation import rater_model
    >>> random = np.random.default_rng(1)
    >>> truth = random.normal(2.5, 1, 100)
    >>> said = {name: np.rint(random.normal(truth, 0.7)).clip(0, 5) for name in ("one", "two")}
    >>> ratings = Ratings.from_wide({name: pd.DataFrame({"planning": levels})
    ...                              for name, levels in said.items()})
    >>> rater_reliability_plot(rater_model(ratings)).get_xlabel()
    'reliability: share of the variance of levels that is true'
    """
    table = model.reliability(least=least, prob=prob).sort_values("together")
    names = [style.words(name, 45) for name in table.index]
    width = 5.4 + max(map(len, names)) * _LETTER
    whole = ax is None
    ax = style.single(ax, (width, _FRAME + _ROW * len(table)))
    raters = model.traits.sizes["rater"]
    together = "both together" if raters == 2 else f"all {raters} together"
    series = [("one", "one annotator", -_APART), ("together", together, _APART)]
    faint = np.where(table["enough"], 1.0, 0.4)
    for (name, label, shift), (colour, marker) in zip(series, style.METHODS, strict=False):
        at = np.arange(len(table)) + shift
        look: dict[str, Any] = {"color": colour, "alpha": faint}
        ax.hlines(at, table[f"{name}_low"], table[f"{name}_high"], linewidth=1.8, **look)
        ax.scatter(table[name], at, s=25, marker=marker, zorder=2, **look)
        ax.plot([], [], marker, color=colour, label=f"{label}, {style.percent(prob)} interval")
    ax.axvline(least, color=style.INK, linestyle="--", linewidth=1.2, label=f"needed: {least:g}")
    style.row_notes(ax, [fixed(needed, 0) for needed in table["needed"]], 8)
    head = 1.02, len(table) - 0.35, "annotations\nneeded"
    ax.text(*head, fontsize=8, transform=ax.get_yaxis_transform())
    ax.set_yticks(range(len(table)), names)
    ax.set_ylim(-0.6, len(table) - 0.4)
    ax.set_xlim(0, 1)
    ax.set_xlabel("reliability: share of the variance of levels that is true")
    style.rules(ax)
    style.quiet_frame(ax, "bottom")
    style.title(ax, f"How well {many(raters, 'annotator')} measure levels", pad=20)
    figure = ax.get_figure(root=True) if whole else None
    if figure is None:
        ax.legend(loc="lower right", fontsize=8)
    else:
        style.legend(np.array([ax]), figure, 2)
    return ax
