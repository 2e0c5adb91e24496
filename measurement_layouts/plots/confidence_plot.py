"""Confidence of models in one action against the consensus of people."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from . import style
from .disposition_lines import CURVE, draw_curves, explain, line_entries, tidy

_SIZE = (5.4, 5.2)  # inches


def confidence_plot(
    curves: pd.DataFrame,
    *,
    prob: float = 0.9,
    ax: Axes | None = None,
) -> Axes:
    r"""Draw the confidence of models in one action against the consensus of people.

    Both are :math:`\max(\mathrm{TPR}, 1 - \mathrm{TPR})`, averaged over the scenarios of a bin:
    [50 %, 60 %) to [90 %, 100 %), and unanimity. A model that chooses as people do is not on the
    diagonal: few samples look surer than the rate behind them, and so do few votes, unanimous ones
    most of all.

    Parameters
    ----------
    curves : DataFrame
        Result of `measurement_layouts.dispositions.confidence_by_group`.
    prob : float, default 0.9
        Mass of the intervals, as it was given to that function; the legend states it.
    ax : Axes, optional
        Axes to draw on (default: a new figure).

    Returns
    -------
    Axes
        Horizontal axis: mean consensus in the bin; vertical axis: mean confidence, both in %. There
        is a thin line for each model and a thick one for each group. Bins with fewer than five
        scenarios are left out.

    Raises
    ------
    DataError
        When a column is missing, the table has no rows, or there are too many groups.
    FitError
        When `prob` is not between 0 and 1.

    References
    ----------
    Taubenfeld et al., Evaluating alignment of behavioral dispositions in LLMs, Figure 3.

    Examples
    --------
    >>> import measurement_layouts as ml
    >>> from measurement_layouts.scenarios.dispositions import simulated_study
    >>> study = simulated_study(per_statement=4, models=["sim-01", "sim-04"])
    >>> curves = ml.dispositions.confidence_by_group(study.judgments, resamples=100)
    >>> confidence_plot(curves).get_ylabel()
    'model confidence (%)'
    """
    curves = tidy(curves, "curves", CURVE, ["confidence", "low", "high"])
    panel = style.single(ax, _SIZE)
    figure = panel.get_figure(root=True) if ax is None else None
    draw_curves(panel, curves, "confidence")
    look: dict[str, Any] = {"color": style.QUIET, "linestyle": ":", "linewidth": 1.2, "zorder": 0}
    (dotted,) = panel.plot([50, 100], [50, 100], label="confidence equals consensus", **look)
    _frame(panel)
    style.title(panel, "Confidence of models and consensus of people")
    explain(np.array([panel]), figure, [*line_entries(curves, prob), dotted])
    return panel


def _frame(ax: Axes) -> None:
    ticks = range(50, 101, 10)
    ax.set(xlim=(48, 102), ylim=(48, 102), aspect="equal", xticks=ticks, yticks=ticks)
    ax.set(xlabel="human consensus (%)", ylabel="model confidence (%)")
    style.rules(ax)
    style.quiet_frame(ax, "left", "bottom")
