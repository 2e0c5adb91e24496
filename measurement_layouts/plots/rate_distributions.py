"""Rates of models in scenarios where people are divided, trait by trait."""

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from ..common.messages import many
from ..dispositions.divided_rates import DividedRates
from ..dispositions.model_groups import ModelGroups
from . import style
from .disposition_lines import explain, group_styles

_COLUMNS = 4
_PANEL, _ROW, _LETTER = 2.35, 0.165, 0.07  # inches
_HILL = 0.22  # height of the highest density above the rows, as a share of their height
_AT = np.linspace(0, 1, 201)


def rate_distributions(
    rates: DividedRates,
    *,
    ax: style.Panels | None = None,
) -> np.ndarray:
    """Draw mean trait-positive rates of models where people are divided, one panel per trait.

    At the top is the density over models, estimated with a Gaussian kernel. Each row below is a
    model: the mean over the divided scenarios and its bootstrap interval. The dashed line is 50 %,
    near which the rate of people is in these scenarios.

    Parameters
    ----------
    rates : DividedRates
        Result of `measurement_layouts.dispositions.rates_by_group`. A group of three models or more
        has a separate density, whose area is its share of the models.
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
        When there are too many groups.
    FitError
        When the number of axes is wrong.

    References
    ----------
    Taubenfeld et al., Evaluating alignment of behavioral dispositions in LLMs, section 6 and
    Figure 5.

    Examples
    --------
    >>> import measurement_layouts as ml
    >>> from measurement_layouts.scenarios.dispositions import simulated_study
    >>> study = simulated_study(per_statement=4, models=["sim-01", "sim-04"])
    >>> axes = rate_distributions(ml.dispositions.rates_by_group(study.judgments, resamples=100))
    >>> axes[0].get_title().splitlines()[0]
    'Empathy'
    """
    chosen, found, counts = rates.chosen, rates.means, rates.counts
    traits = [trait for trait in chosen.judgments.traits if trait in counts]
    rows, styles = chosen.ordered(found.mean.loc[traits].mean()), group_styles(chosen)
    names = [style.words(name, 30) for name in rows]
    left = max(map(len, names)) * _LETTER + 0.2
    high = (len(rows) * (1 + _HILL) + 2) * _ROW + 0.75
    panel_size = _PANEL, high
    axes, figure, columns = style.grid(
        ax, len(traits), _COLUMNS, panel_size, (left, 0.7), 4.6, sharey=True
    )
    hills = {trait: rates.densities(trait, _AT) for trait in traits}
    highest = max((hill.max() for some in hills.values() for hill in some.values()), default=1.0)
    top = -1.0 - max(_HILL * len(rows), 2.0) if any(hills.values()) else -0.8
    for panel, trait in zip(axes, traits, strict=True):
        panel.axvline(50, color=style.QUIET, linestyle=(0, (3, 2)), linewidth=1.0, zorder=0)
        parts = {"mean": found.mean, "low": found.low, "high": found.high}
        own = pd.DataFrame({name: part.T[trait] for name, part in parts.items()}).loc[rows]
        _points(panel, own, chosen)
        for group, hill in hills[trait].items():
            colour = styles[group][0]
            height = -1.0 + hill / highest * (top + 1.3)
            panel.fill_between(100 * _AT, -1.0, height, color=colour, alpha=0.25, linewidth=0)
            panel.plot(100 * _AT, height, color=colour, linewidth=1.4)
        _frame(panel, names, top)
        panel.set_title(f"{style.words(trait, 30)}\n{many(counts[trait], 'scenario')}", fontsize=9)
    style.outer_labels(axes, columns, "mean trait-positive rate (%)", "", fontsize=9)
    below = style.percent(rates.threshold)
    style.heading(figure, f"Models where people are divided: consensus below {below}")
    explain(axes, figure, _entries(chosen, rates.prob, any(hills.values())))
    return axes


def _points(ax: Axes, own: pd.DataFrame, chosen: ModelGroups) -> None:
    """Draw a row per model: mean and interval."""
    for group, (colour, marker) in group_styles(chosen).items():
        where = np.flatnonzero([chosen.groups[model] == group for model in own.index])
        part = 100 * own.iloc[where]
        ax.hlines(where, part["low"], part["high"], color=colour, linewidth=1.3)
        ax.scatter(part["mean"], where, s=18, color=colour, marker=marker, zorder=3)


def _frame(ax: Axes, names: list[str], top: float) -> None:
    ax.set(ylim=(len(names) - 0.4, top), xlim=(-2, 102), xticks=[0, 25, 50, 75, 100])
    ax.set_yticks(range(len(names)), names)
    ax.tick_params(axis="y", length=0, labelsize=7.5)
    ax.tick_params(axis="x", labelsize=8)
    style.quiet_frame(ax, "bottom")


def _entries(chosen: ModelGroups, prob: float, hills: bool) -> list[Artist]:
    said = f"mean and {style.percent(prob)} interval"
    looks = group_styles(chosen)
    if len(looks) > 1:
        entries = style.named_entries(looks, markersize=4)
        entries.append(style.entry(said, marker="o", markersize=4))
    else:
        entries = [style.entry(said, *look, markersize=4) for look in looks.values()]
    if hills:
        entries.append(Patch(color=style.QUIET, alpha=0.3, label="density over models"))
    return entries
