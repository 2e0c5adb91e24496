"""Misalignment of models with people, by the rate of people."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from . import style
from .disposition_lines import CURVE, draw_curves, explain, line_entries, tidy

_COLUMNS = 4
_PANEL = (2.7, 2.7)  # inches
_MISALIGNMENT = "misalignment (percentage points)"


def misalignment_plot(
    curves: pd.DataFrame,
    *,
    prob: float = 0.9,
    ax: style.Panels | None = None,
) -> np.ndarray:
    r"""Draw the distance of models' trait-positive rates from people's, one panel per trait.

    .. math:: |\mathrm{TPR}_\mathrm{human}(s) - \mathrm{TPR}_\mathrm{model}(s)|

    is averaged over the scenarios with about the same human rate. Bins are symmetric: those of
    consensus, [60 %, 70 %) to [90 %, 100 %), on either side, one bin for unanimity at each end, and
    one bin in the middle for all rates between 40 % and 60 %. Few votes and few samples differ by
    chance, even if people and a model choose at the same rate.

    Parameters
    ----------
    curves : DataFrame
        Result of `measurement_layouts.dispositions.misalignment_by_group`.
    prob : float, default 0.9
        Mass of the intervals, as it was given to that function; the legend states it.
    ax : Axes or sequence of Axes, optional
        Axes to draw on, one for each trait (default: a new figure).

    Returns
    -------
    ndarray of Axes
        One Axes per trait. Horizontal axis: mean human rate in the bin; vertical axis: mean
        misalignment, both in %. There is a thin line for each model and a thick one for each group.
        Bins with fewer than five scenarios are left out.

    Raises
    ------
    DataError
        When a column is missing, the table has no rows, or there are too many groups.
    FitError
        When `prob` is not between 0 and 1, or the number of axes is wrong.

    References
    ----------
    Taubenfeld et al., Evaluating alignment of behavioral dispositions in LLMs, Equation 1 and
    Figure 2.

    Examples
    --------
    >>> import measurement_layouts as ml
    >>> from measurement_layouts.scenarios.dispositions import simulated_study
    >>> study = simulated_study(per_statement=4, models=["sim-01", "sim-04"])
    >>> curves = ml.dispositions.misalignment_by_group(study.judgments, resamples=100)
    >>> axes = misalignment_plot(curves)
    >>> [panel.get_title() for panel in axes]
    ['Empathy', 'Emotion Regulation', 'Assertiveness', 'Impulsiveness']
    """
    curves = tidy(curves, "curves", ["trait", *CURVE], ["misalignment", "low", "high"])
    traits = list(curves["trait"].unique())
    axes, figure, columns = style.grid(
        ax, len(traits), _COLUMNS, _PANEL, (0.5, 0.9), 4.6, sharey=True
    )
    for panel, trait in zip(axes, traits, strict=True):
        draw_curves(panel, curves[curves["trait"] == trait], "misalignment")
        _frame(panel)
        style.title(panel, style.words(trait))
    style.outer_labels(axes, columns, "human trait-positive rate (%)", _MISALIGNMENT, fontsize=9)
    explain(axes, figure, line_entries(curves, prob))
    return axes


def _frame(ax: Axes) -> None:
    top = max(50.0, ax.dataLim.y1 + 2, ax.get_ylim()[1])
    ax.set(xlim=(-3, 103), ylim=(0, top), xticks=[0, 25, 50, 75, 100])
    style.rules(ax)
    ax.tick_params(labelsize=8)
    style.quiet_frame(ax, "left", "bottom")
