"""Subjects ranked by their expected success on a job, in sets that are not distinguished."""

import numpy as np
from matplotlib.axes import Axes

from ..decisions.suitability import Suitability
from . import style

_WIDTH, _ROW, _REST = 6.4, 0.3, 1.4  # inches
_MOST = 80


def suitability_plot(suitability: Suitability, *, ax: Axes | None = None) -> Axes:
    """Draw the expected success of each subject on a job, the best first.

    Each subject has a point and an interval. Subjects on one band cannot be distinguished from the
    first subject of that band. The order of subjects can be certain even if their intervals
    overlap, since all of them are set the same job.

    Parameters
    ----------
    suitability : Suitability
        Result of `measurement_layouts.decisions.suitability`.
    ax : Axes, optional
        Axes to draw on (default: a new figure).

    Returns
    -------
    Axes
        Horizontal axis: expected share of successes, from 0 to 1. There is one row per subject, for
        the first 80.

    Raises
    ------
    DataError
        When `suitability` is something else.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame(
    ...     {"expected": [0.8, 0.7], "low": [0.7, 0.6], "high": [0.9, 0.8], "best": [0.8, 0.2],
    ...      "tied": [1, 1]}, index=pd.Index(["Ann", "Bob"]))
    >>> found = Suitability(table, pd.DataFrame(), pd.DataFrame(), 0.9, 0.9, True)
    >>> [label.get_text() for label in suitability_plot(found).get_yticklabels()]
    ['Ann', 'Bob']
    """
    table = suitability.ranking.head(_MOST)
    panel = style.single(ax, (_WIDTH, _REST + _ROW * len(table)))
    rows = np.arange(len(table))
    for place, (number, own) in enumerate(table.groupby("tied", sort=True)):
        at = rows[(table["tied"] == number).to_numpy()]
        colour, marker = style.METHODS[place % len(style.METHODS)]
        panel.axhspan(at[0] - 0.45, at[-1] + 0.45, color=colour, alpha=0.1, linewidth=0)
        panel.hlines(at, own["low"], own["high"], color=colour, linewidth=1.8)
        panel.plot(own["expected"], at, marker, color=colour, markersize=6)
    style.row_notes(panel, [f"best with {p:.0%}" if p >= 0.005 else "" for p in table["best"]], 8)
    panel.set_yticks(rows, [style.words(name) for name in table.index], fontsize=9)
    panel.set_ylim(len(table) - 0.5, -0.5)
    panel.set_xlim(0, 1)
    panel.set_xlabel(f"expected share of successes ({suitability.prob:.0%} interval)")
    left = len(suitability.ranking) - len(table)
    more = f"; {left} are not drawn" if left else ""
    style.title(panel, f"Suitability for the job: {suitability.in_words()}{more}")
    style.quiet_frame(panel, "bottom")
    return panel
