"""Choices of models against their self-reports, statement by statement, one panel per model."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from . import style
from .disposition_lines import explain, group_styles, mass, tidy
from .self_report_plot import RHO, written_rho

_COLUMNS = 5
_PANEL = (2.2, 2.1)  # inches, without the text above
_LINE = 9.0  # height of a line above a panel, in points


def self_report_panels(
    reports: pd.DataFrame,
    correlations: pd.DataFrame,
    *,
    prob: float = 0.9,
    ax: style.Panels | None = None,
) -> np.ndarray:
    r"""Draw choices of models against their self-reports by statement, one panel per model.

    The horizontal axis is the rating that the model gave a statement. The vertical axis is the mean
    rate of the action that agrees with the statement, over its scenarios. Each trait has a colour,
    a least-squares line and, above the panel, Spearman's :math:`\rho` over its statements, with a
    bootstrap interval. The line is solid if the interval does not contain 0.

    Parameters
    ----------
    reports, correlations : DataFrame
        Results of `measurement_layouts.dispositions.self_reports` and `self_report_correlations`,
        by statement.
    prob : float, default 0.9
        Mass of the intervals, as it was given to `self_report_correlations`; the legend states it.
    ax : Axes or sequence of Axes, optional
        Axes to draw on, one for each model (default: a new figure).

    Returns
    -------
    ndarray of Axes
        One Axes per model. Horizontal axis: rating, 1 to 7; vertical axis: rate in %.

    Raises
    ------
    DataError
        When a column is missing, a table has no rows, or there are more traits than colours.
    FitError
        When `prob` is not between 0 and 1, or the number of axes is wrong.

    References
    ----------
    Taubenfeld et al., Evaluating alignment of behavioral dispositions in LLMs, appendix F
    and Figure 13.

    Examples
    --------
    >>> import measurement_layouts as ml
    >>> from measurement_layouts.scenarios.dispositions import simulated_study
    >>> study = simulated_study(per_statement=4, models=["sim-01", "sim-04"])
    >>> options = {"by": "statement", "divided_below": None}
    >>> reports = ml.dispositions.self_reports(study.judgments, **options)
    >>> rho = ml.dispositions.self_report_correlations(study.judgments, **options)
    >>> axes = self_report_panels(reports, rho)
    >>> [panel.get_title() for panel in axes]
    ['sim-01', 'sim-04']
    """
    keys, columns = ["model", "trait"], ["trait", "reported", "revealed"]
    table = tidy(reports, "reports", ["model", "statement"], columns)
    rho = tidy(correlations, "correlations", keys, [*RHO, "slope", "intercept"]).set_index(keys)
    models, traits = (list(table[name].unique()) for name in keys)
    panel_size = _PANEL[0], _PANEL[1] + (len(traits) + 1) * _LINE / 72
    axes, figure, wide = style.grid(
        ax, len(models), _COLUMNS, panel_size, (0.5, 1.3), 4.6, sharey=True
    )
    styles = group_styles(traits)
    for panel, model in zip(axes, models, strict=True):
        for which, (trait, look) in enumerate(styles.items()):
            if (model, trait) in rho.index:
                statements = table[(table["model"] == model) & (table["trait"] == trait)]
                row = rho.loc[(model, trait)]
                _draw(panel, statements, row, *look)
                _write(panel, len(traits) - 1 - which, written_rho(row), look[0])
        _frame(panel)
        panel.set_title(style.words(model, 34), fontsize=9, pad=len(traits) * _LINE + 5)
    style.outer_labels(axes, wide, "rating (1 to 7)", "agreeing action (%)", fontsize=9)
    style.heading(figure, "Reported and revealed, statement by statement")
    unsure = style.entry(f"{mass(prob)} of ρ includes 0", linestyle=(0, (3, 2)))
    explain(axes, figure, [*style.named_entries(styles, markersize=4), unsure])
    return axes


def _draw(ax: Axes, statements: pd.DataFrame, row: pd.Series, colour: str, marker: str) -> None:
    """Draw the statements of a trait and, if they have a correlation, their line."""
    x, y = statements["reported"], 100 * statements["revealed"]
    ax.scatter(x, y, s=11, color=colour, marker=marker, alpha=0.45, linewidths=0)
    if np.isfinite(row["rho"]):
        ends = np.array([x.min(), x.max()])
        line = "-" if row["low"] > 0 or row["high"] < 0 else (0, (3, 2))
        heights = 100 * (row["intercept"] + row["slope"] * ends)
        ax.plot(ends, heights, color=colour, linewidth=1.7, linestyle=line, zorder=3)


def _write(ax: Axes, line: int, said: str, colour: str) -> None:
    """Write a correlation above the panel, at a number of lines from it."""
    above: dict[str, Any] = {
        "xycoords": "axes fraction",
        "textcoords": "offset points",
        "ha": "center",
    }
    ax.annotate(said, (0.5, 1), (0, 4 + line * _LINE), fontsize=7, color=colour, **above)


def _frame(ax: Axes) -> None:
    ax.set(xlim=(0.6, 7.4), ylim=(-4, 104), xticks=range(1, 8), yticks=[0, 50, 100])
    ax.axhline(50, color=style.RULE, linewidth=1.0, zorder=0)
    ax.tick_params(labelsize=8)
    style.quiet_frame(ax, "left", "bottom")
