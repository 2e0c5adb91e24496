"""Rates of models in scenarios where people are divided, trait by trait."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from ..common.density import density
from ..common.messages import many
from ..dispositions.group_curves import model_groups
from ..linking.interval import UNIT
from . import style
from .disposition_lines import explain, group_styles, mass, ordered, tidy

_COLUMNS = 4
_PANEL, _ROW, _LETTER = 2.35, 0.165, 0.07  # inches
_HILL = 0.22  # height of the highest density above the rows, as a share of their height
_AT = np.linspace(0, 1, 201)
_FEWEST = 3  # least number of models for a density


def rate_distributions(
    rates: pd.DataFrame,
    groups: Mapping[str, str] | None = None,
    *,
    prob: float = 0.9,
    ax: style.Panels | None = None,
) -> np.ndarray:
    """Draw mean trait-positive rates of models where people are divided, one panel per trait.

    At the top is the density over models, estimated with a Gaussian kernel. Each row below is a
    model: the mean over the divided scenarios and its bootstrap interval. The dashed line is 50 %,
    near which the rate of people is in these scenarios.

    Parameters
    ----------
    rates : DataFrame
        Result of `measurement_layouts.dispositions.divided_rates`.
    groups : mapping of str to str, optional
        Group of each model (default: all models are one group). A group of three models or more
        that differ has a separate density, whose area is its share of the models.
    prob : float, default 0.9
        Mass of the intervals, as it was given to `divided_rates`; the legend states it.
    ax : Axes or sequence of Axes, optional
        Axes to draw on, one for each trait (default: a new figure).

    Returns
    -------
    ndarray of Axes
        One Axes for each trait with at least five divided scenarios. Horizontal axis: mean rate in
        %. Rows are in the same order in all panels: by group, and within a group from the highest
        mean over the traits to the lowest.

    Raises
    ------
    DataError
        When a column is missing, the table has no rows, a model has no group, or there are too many
        groups.
    FitError
        When `prob` is not between 0 and 1, or the number of axes is wrong.

    References
    ----------
    Taubenfeld et al., Evaluating alignment of behavioral dispositions in LLMs, section 6 and
    Figure 5.

    Examples
    --------
    >>> import measurement_layouts as ml
    >>> from measurement_layouts.scenarios.dispositions import simulated_study
    >>> study = simulated_study(per_statement=4, models=["sim-01", "sim-04"])
    >>> axes = rate_distributions(ml.dispositions.divided_rates(study.judgments, resamples=100))
    >>> axes[0].get_title().splitlines()[0]
    'Empathy'
    """
    table = tidy(rates, "rates", ["model", "trait"], ["scenarios", "rate", "low", "high"])
    groups = model_groups(table["model"].unique(), groups)
    traits = list(table["trait"].unique())
    styles = group_styles(groups.values())
    rows = ordered(table.groupby("model")["rate"].mean(), groups)
    own = {trait: table[table["trait"] == trait].set_index("model") for trait in traits}
    names = [style.words(name, 30) for name in rows]
    left = max(map(len, names)) * _LETTER + 0.2
    high = (len(rows) * (1 + _HILL) + 2) * _ROW + 0.75
    axes, figure, columns = style.grid(
        ax, len(traits), _COLUMNS, (_PANEL, high), (left, 0.7), 4.6, sharey=True
    )
    hills = {trait: _densities(own[trait]["rate"], groups) for trait in traits}
    highest = max((hill.max() for some in hills.values() for hill in some.values()), default=1.0)
    top = -1.0 - max(_HILL * len(rows), 2.0) if any(hills.values()) else -0.8
    for panel, trait in zip(axes, traits, strict=True):
        panel.axvline(50, color=style.QUIET, linestyle=(0, (3, 2)), linewidth=1.0, zorder=0)
        _points(panel, own[trait].reindex(rows), groups)
        for group, hill in hills[trait].items():
            colour = styles[group][0]
            height = -1.0 + hill / highest * (top + 1.3)
            panel.fill_between(100 * _AT, -1.0, height, color=colour, alpha=0.25, linewidth=0)
            panel.plot(100 * _AT, height, color=colour, linewidth=1.4)
        _frame(panel, names, top)
        panel.set_title(
            f"{style.words(trait, 30)}\n{many(own[trait]['scenarios'].max(), 'scenario')}",
            fontsize=9,
        )
    style.outer_labels(axes, columns, "mean trait-positive rate (%)", "", fontsize=9)
    style.heading(figure, "Models where people are divided")
    explain(axes, figure, _entries(styles, prob, any(hills.values())))
    return axes


def _densities(rates: "pd.Series[float]", groups: Mapping[str, str]) -> dict[str, np.ndarray]:
    """Estimate the density of each group of models, times the group's share of the models."""
    return {
        str(group): density(part.to_numpy(), _AT, UNIT) * len(part) / len(rates)
        for group, part in rates.groupby(pd.Series(groups))
        if len(part) >= _FEWEST and part.nunique() > 1
    }


def _points(ax: Axes, table: pd.DataFrame, groups: Mapping[str, str]) -> None:
    """Draw a row per model: mean and interval."""
    for group, (colour, marker) in group_styles(groups.values()).items():
        where = np.flatnonzero(table.index.map(groups) == group)
        part = 100 * table.iloc[where][["rate", "low", "high"]]
        ax.hlines(where, part["low"], part["high"], color=colour, linewidth=1.3)
        ax.scatter(part["rate"], where, s=18, color=colour, marker=marker, zorder=3)


def _frame(ax: Axes, names: list[str], top: float) -> None:
    ax.set(ylim=(len(names) - 0.4, top), xlim=(-2, 102), xticks=[0, 25, 50, 75, 100])
    ax.set_yticks(range(len(names)), names)
    ax.tick_params(axis="y", length=0, labelsize=7.5)
    ax.tick_params(axis="x", labelsize=8)
    style.quiet_frame(ax, "bottom")


def _entries(looks: Mapping[str, tuple[str, str]], prob: float, hills: bool) -> list[Artist]:
    said = f"mean and {mass(prob)}"
    if len(looks) > 1:
        entries = style.named_entries(looks, markersize=4)
        entries.append(style.entry(said, marker="o", markersize=4))
    else:
        entries = [style.entry(said, *look, markersize=4) for look in looks.values()]
    if hills:
        entries.append(Patch(color=style.QUIET, alpha=0.3, label="density over models"))
    return entries
