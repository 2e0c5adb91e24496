"""Choices of models against their self-reports, statement by statement, one panel per model."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from ..common.errors import FitError
from ..dispositions.self_report import GroupReports
from . import style
from .disposition_lines import explain
from .self_report_plot import written_rho

_COLUMNS = 5
_PANEL = (2.2, 2.1)  # inches, without the text above
_LINE = 9.0  # height of a line above a panel, in points


def self_report_panels(
    reports: GroupReports,
    *,
    ax: style.Panels | None = None,
) -> np.ndarray:
    r"""Draw choices of models against their self-reports by statement, one panel per model.

    The horizontal axis is the rating that the model gave a statement. The vertical axis is the mean
    rate of the action that agrees with the statement, over its scenarios. Each trait has a colour,
    a least-squares line and, above the panel, Spearman's :math:`\rho` over its statements, with a
    bootstrap interval. The line is solid if the interval does not contain 0.

    Parameters
    ----------
    reports : GroupReports
        Result of `measurement_layouts.dispositions.self_reports_by_group`, by statement.
    ax : Axes or sequence of Axes, optional
        Axes to draw on, one for each model (default: a new figure).

    Returns
    -------
    ndarray of Axes
        One Axes per model. Horizontal axis: rating, 1 to 7; vertical axis: rate in %.

    Raises
    ------
    FitError
        When there are more traits than colours, or the number of axes is wrong.

    References
    ----------
    Taubenfeld et al., Evaluating alignment of behavioral dispositions in LLMs, appendix F
    and Figure 13.

    Examples
    --------
    >>> import measurement_layouts as ml
    >>> from measurement_layouts.scenarios.dispositions import simulated_study
    >>> study = simulated_study(per_statement=4, models=["sim-01", "sim-04"])
    >>> reports = ml.dispositions.self_reports_by_group(
    ...     study.judgments, by="statement", divided_below=None
    ... )
    >>> axes = self_report_panels(reports)
    >>> [panel.get_title() for panel in axes]
    ['sim-01', 'sim-04']
    """
    chosen, table, rho = reports.chosen, reports.table, reports.rho
    traits = chosen.judgments.traits
    if len(traits) > len(style.METHODS):
        raise FitError(
            f"there are {len(traits)} traits, and a figure can show {len(style.METHODS)}; choose "
            "some with judgments.select(traits=...)"
        )
    panel_size = _PANEL[0], _PANEL[1] + (len(traits) + 1) * _LINE / 72
    axes, figure, columns = style.grid(
        ax, len(chosen.models), _COLUMNS, panel_size, (0.5, 1.3), 4.6, sharey=True
    )
    styles = style.method_styles(traits)
    for panel, model in zip(axes, chosen.models, strict=True):
        own = table[table.index.get_level_values("model") == model]
        for which, (trait, (colour, marker)) in enumerate(styles.items()):
            found = rho[rho.index == (model, trait)]
            if found.empty:
                continue
            _draw(panel, own[own["trait"] == trait], colour, marker)
            row, line = found.iloc[0], reports.line(model, trait)
            sure = row["low"] > 0 or row["high"] < 0
            look: dict[str, Any] = {"linestyle": "-" if sure else (0, (3, 2)), "zorder": 3}
            panel.plot(
                line["reported"], 100 * line["revealed"], color=colour, linewidth=1.7, **look
            )
            _write(panel, len(traits) - 1 - which, written_rho(row), colour)
        _frame(panel)
        panel.set_title(style.words(model, 34), fontsize=9, pad=len(traits) * _LINE + 5)
    style.outer_labels(axes, columns, "rating (1 to 7)", "agreeing action (%)", fontsize=9)
    style.heading(figure, f"Reported and revealed, statement by statement: {reports.scenarios}")
    unsure = f"{style.percent(reports.prob)} interval of ρ includes 0"
    entries = style.named_entries(styles, markersize=4)
    explain(axes, figure, [*entries, style.entry(unsure, linestyle=(0, (3, 2)))])
    return axes


def _draw(ax: Axes, own: pd.DataFrame, colour: str, marker: str) -> None:
    x, y = own["reported"].to_numpy(dtype=float), 100 * own["revealed"].to_numpy(dtype=float)
    ax.scatter(x, y, s=11, color=colour, marker=marker, alpha=0.45, linewidths=0)


def _write(ax: Axes, line: int, said: str, colour: str) -> None:
    """Write a correlation above the panel, at a number of lines from it."""
    ax.annotate(
        said,
        (0.5, 1),
        xycoords="axes fraction",
        xytext=(0, 4 + line * _LINE),
        textcoords="offset points",
        ha="center",
        fontsize=7,
        color=colour,
    )


def _frame(ax: Axes) -> None:
    ax.set(xlim=(0.6, 7.4), ylim=(-4, 104), xticks=range(1, 8), yticks=[0, 50, 100])
    ax.axhline(50, color=style.RULE, linewidth=1.0, zorder=0)
    ax.tick_params(labelsize=8)
    style.quiet_frame(ax, "left", "bottom")
