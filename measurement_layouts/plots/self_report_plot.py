"""Revealed against reported dispositions, one point per model."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes

from ..common.digits import significant, with_interval
from ..dispositions.group_curves import model_groups
from . import style
from .disposition_lines import explain, group_styles, mass, tidy
from .labels import spread, write_names

RHO = ["rho", "low", "high", "reason"]
"""Columns of correlations."""

_COLUMNS = 4
_PANEL = (2.9, 3.0)  # inches
_REPORTED = "reported: mean rating (1 to 7)"
_REVEALED = "revealed: mean trait-positive rate (%)"
_LABELS = 8  # number of names that are tried in a panel
_AREA = 26.0  # area of a marker, in square points


def self_report_plot(
    reports: pd.DataFrame,
    correlations: pd.DataFrame,
    groups: Mapping[str, str] | None = None,
    *,
    prob: float = 0.9,
    ax: style.Panels | None = None,
) -> np.ndarray:
    r"""Draw revealed against reported dispositions of models, one panel per trait.

    The horizontal axis is a model's mean rating of the trait's statements, reverse-scored if
    agreeing means less of the trait. The vertical axis is its mean trait-positive rate, with a
    bootstrap interval over scenarios. The title has Spearman's :math:`\rho` over the models, with
    its interval. If reports predicted choices, points would rise from the lower left to the upper
    right.

    Parameters
    ----------
    reports, correlations : DataFrame
        Results of `measurement_layouts.dispositions.self_reports` and `self_report_correlations`,
        by trait.
    groups : mapping of str to str, optional
        Group of each model (default: all models are one group).
    prob : float, default 0.9
        Mass of the intervals, as it was given to `self_reports`; the legend states it.
    ax : Axes or sequence of Axes, optional
        Axes to draw on, one for each trait (default: a new figure).

    Returns
    -------
    ndarray of Axes
        One Axes per trait. Horizontal axis: rating, 1 to 7; vertical axis: rate in %. Grey lines
        are the middles of both scales.

    Raises
    ------
    DataError
        When a column is missing, a table has no rows, a model has no group, or there are too many
        groups.
    FitError
        When `prob` is not between 0 and 1, or the number of axes is wrong.

    References
    ----------
    Taubenfeld et al., Evaluating alignment of behavioral dispositions in LLMs, Figure 6
    (divided scenarios) and Figure 12 (all scenarios).

    Examples
    --------
    >>> import measurement_layouts as ml
    >>> from measurement_layouts.scenarios.dispositions import simulated_study
    >>> study = simulated_study(per_statement=4, models=["sim-01", "sim-04"])
    >>> reports = ml.dispositions.self_reports(study.judgments, divided_below=None)
    >>> rho = ml.dispositions.self_report_correlations(study.judgments, divided_below=None)
    >>> axes = self_report_plot(reports, rho)
    >>> axes[0].get_title().splitlines()[0]
    'Empathy'
    """
    table = tidy(reports, "reports", ["model", "trait"], ["reported", "revealed", "low", "high"])
    rho = tidy(correlations, "correlations", ["trait"], RHO).set_index("trait")
    groups = model_groups(table["model"].unique(), groups)
    traits = list(table["trait"].unique())
    own = {trait: table[table["trait"] == trait].set_index("model") for trait in traits}
    axes, figure, columns = style.grid(
        ax, len(traits), _COLUMNS, _PANEL, (0.5, 0.9), 4.6, sharey=True
    )
    for panel, trait in zip(axes, traits, strict=True):
        _points(panel, own[trait], groups)
        _frame(panel)
        said = f"\n{written_rho(rho.loc[trait])}" if trait in rho.index else ""
        panel.set_title(style.words(trait, 34) + said, fontsize=9)
    style.outer_labels(axes, columns, _REPORTED, _REVEALED, fontsize=9)
    style.heading(figure, "Reported and revealed dispositions")
    explain(axes, figure, _entries(groups, prob))
    for panel, trait in zip(axes, traits, strict=True):
        _name(panel, own[trait])
    return axes


def written_rho(row: pd.Series) -> str:
    """Write a rank correlation and its interval, or why there is none.

    Examples
    --------
    >>> written_rho(pd.Series({"rho": -0.12, "low": -0.4, "high": 0.2}))
    'ρ = −0.120 [−0.400, 0.200]'
    """
    if not np.isfinite(row["rho"]):
        return f"no ρ: {row['reason']}"
    if not np.isfinite(row["low"]):
        return f"ρ = {significant(row['rho'])}"
    return f"ρ = {with_interval(row['rho'], row['low'], row['high'])}"


def _points(ax: Axes, own: pd.DataFrame, groups: Mapping[str, str]) -> None:
    for group, (colour, marker) in group_styles(groups.values()).items():
        part = own[own.index.map(groups) == group]
        at = part["reported"]
        rate, low, high = (100 * part[name] for name in ("revealed", "low", "high"))
        ax.vlines(at, low, high, color=colour, linewidth=1.0, alpha=0.6)
        look: dict[str, Any] = {"edgecolors": "white", "linewidths": 0.6, "zorder": 3}
        ax.scatter(at, rate, s=_AREA, color=colour, marker=marker, **look)


def _frame(ax: Axes) -> None:
    ax.axhline(50, color=style.RULE, linewidth=1.2, zorder=0)
    ax.axvline(4, color=style.RULE, linewidth=1.2, zorder=0)
    ax.set(xlim=(0.8, 7.2), ylim=(-3, 103), xticks=range(1, 8), yticks=[0, 25, 50, 75, 100])
    ax.tick_params(labelsize=8)
    style.quiet_frame(ax, "left", "bottom")


def _name(ax: Axes, own: pd.DataFrame) -> None:
    """Write the names of extreme models, and of others where there is room."""
    points = np.column_stack([own["reported"], 100 * own["revealed"]])
    order = spread(points / [6, 100], _LABELS)
    names = [style.words(name, 22) for name in own.index]
    write_names(ax, points, np.full(len(own), _AREA), names, order, all_of_them=False)


def _entries(groups: Mapping[str, str], prob: float) -> list[Artist]:
    looks = group_styles(groups.values())
    mark: dict[str, Any] = {"markersize": 5, "linestyle": ""}
    if len(looks) > 1:
        bar = style.entry(f"{mass(prob)} of the rate", marker="|", markersize=9, linestyle="")
        return [*style.named_entries(looks, **mark), bar]
    said = f"a model, with the {mass(prob)} of its rate"
    return [style.entry(said, *look, **mark) for look in looks.values()]
