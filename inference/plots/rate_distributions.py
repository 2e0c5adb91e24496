"""Which way models go where people are divided, trait by trait."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ...linking.interval import Interval
from ..density import density
from ..dispositions.consensus import LEAST, divided
from ..dispositions.resampling import GroupMeans, group_means
from ..errors import DataError
from ..wording import many
from . import style
from .disposition_lines import Shown, explain, shown

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

    from ..dispositions.judgments import SituationalJudgments

_COLUMNS = 4
_PANEL, _ROW, _LETTER = 2.35, 0.165, 0.07  # inches
_HILL = 0.22  # height of the highest density, as a share of the rows; the rows are below it
_FEWEST = 3  # models of which a density is drawn
_AT = np.linspace(0, 1, 201)


def rate_distributions(
    judgments: "SituationalJudgments",
    *,
    models: Sequence[str] | None = None,
    groups: Mapping[str, str] | None = None,
    threshold: float = 0.7,
    prob: float = 0.9,
    resamples: int = 1000,
    seed: int = 1,
    ax: "Axes | Sequence[Axes] | np.ndarray | None" = None,
) -> "np.ndarray":
    """Draw the mean trait-positive rate of each model where people are divided, a panel per trait.

    On top the density over models, by a Gaussian kernel; below, a row per model: the mean over the
    divided scenarios and its bootstrap interval. People are near 50 % there, the dashed line.

    Parameters
    ----------
    judgments : SituationalJudgments
        Choices of people and models.
    models : sequence of str, optional
        Which; all by default.
    groups : mapping of str to str, optional
        Group of each model, for colours; a group of three or more has a density of its own, whose
        area is its share of the models. All models are one group by default.
    threshold : float
        Scenarios with a consensus below it are divided.
    prob : float
        Mass of the intervals.
    resamples, seed : int
        Of the bootstrap over scenarios.
    ax : Axes or sequence of Axes, optional
        Where to draw, one for each trait; a new figure by default.

    Returns
    -------
    ndarray of Axes
        One per trait with at least five divided scenarios. Horizontal: mean rate in %; rows are in
        the same order everywhere: by group, and within it from the highest mean over the traits to
        the lowest.

    Raises
    ------
    DataError
        When a model is unknown or has no group, there are too many groups, or no trait has five
        divided scenarios.
    FitError
        When the number of axes is wrong.

    References
    ----------
    Taubenfeld et al., Evaluating alignment of behavioral dispositions in LLMs, section 6 and
    Figure 5.

    Examples
    --------
    >>> from measurement_layouts.scenarios.dispositions import simulated_study
    >>> study = simulated_study(per_statement=4, models=["sim-01", "sim-04"])
    >>> axes = rate_distributions(study.judgments, resamples=100)
    >>> axes[0].get_title().splitlines()[0]
    'Empathy'
    """
    chosen = shown(judgments, models, groups)
    found, counts = _means(chosen, threshold, prob, resamples, seed)
    traits = [trait for trait in chosen.judgments.traits if trait in counts]
    rows = _rows(found.mean.loc[traits].mean(), chosen)
    columns = min(_COLUMNS, len(traits))
    names = [style.words(name, 30) for name in rows]
    left = max(map(len, names)) * _LETTER + 0.2
    high = (len(rows) * (1 + _HILL) + 2) * _ROW + 0.75
    size = max(left + _PANEL * columns, 4.6), high * -(-len(traits) // columns) + 0.7
    axes, figure = style.panels(ax, len(traits), columns, size, sharey=True)
    hills = {trait: _hills(found.mean.T[trait], chosen) for trait in traits}
    highest = max((hill.max() for some in hills.values() for hill in some.values()), default=1.0)
    top = -1.0 - max(_HILL * len(rows), 2.0) if any(hills.values()) else -0.8
    for panel, trait in zip(axes, traits, strict=True):
        panel.axvline(50, color=style.QUIET, linestyle=(0, (3, 2)), linewidth=1.0, zorder=0)
        parts = {"mean": found.mean, "low": found.low, "high": found.high}
        own = pd.DataFrame({name: part.T[trait] for name, part in parts.items()}).loc[rows]
        _points(panel, own, chosen)
        for group, hill in hills[trait].items():
            colour = chosen.styles[group][0]
            height = -1.0 + hill / highest * (top + 1.3)
            panel.fill_between(100 * _AT, -1.0, height, color=colour, alpha=0.25, linewidth=0)
            panel.plot(100 * _AT, height, color=colour, linewidth=1.4)
        _frame(panel, names, top)
        panel.set_title(f"{style.words(trait, 30)}\n{many(counts[trait], 'scenario')}", fontsize=9)
    style.outer_labels(axes, columns, "mean trait-positive rate (%)", "", fontsize=9)
    if figure is not None:
        below = style.percent(threshold)
        style.heading(figure, f"Models where people are divided: consensus below {below}")
    explain(axes, figure, _entries(chosen, prob, any(hills.values())))
    return axes


def _means(
    chosen: Shown, threshold: float, prob: float, resamples: int, seed: int
) -> tuple[GroupMeans, pd.Series]:
    """Average rates over divided scenarios, by model and trait, and count the scenarios."""
    scenarios = divided(chosen.judgments, threshold).index
    traits = chosen.judgments.scenarios["trait"].loc[scenarios]
    kept = traits[traits.map(traits.value_counts()) >= LEAST]
    if kept.empty:
        raise DataError(
            f"no trait has five scenarios with a consensus below {style.percent(threshold)}; give "
            "a higher threshold="
        )
    rates = chosen.judgments.model_rates()["rate"].unstack("model")
    values = rates.reindex(index=kept.index, columns=chosen.models)
    return group_means(values, kept, prob=prob, resamples=resamples, seed=seed), kept.value_counts()


def _rows(overall: pd.Series, chosen: Shown) -> list[str]:
    """Order models by group, and within it by the mean over the traits."""
    return [
        model
        for members in chosen.members.values()
        for model in overall[members].sort_values(ascending=False).index
    ]


def _hills(means: pd.Series, chosen: Shown) -> dict[str, np.ndarray]:
    """Density over the models of each group, times the group's share of the models."""
    parts = {group: means[members].dropna() for group, members in chosen.members.items()}
    return {
        group: density(part.to_numpy(), _AT, Interval(0, 1)) * len(part) / len(means)
        for group, part in parts.items()
        if len(part) >= _FEWEST and part.nunique() > 1
    }


def _points(ax: "Axes", own: pd.DataFrame, chosen: Shown) -> None:
    """Draw a row per model: mean and interval."""
    for group, (colour, marker) in chosen.styles.items():
        where = np.flatnonzero([chosen.groups[model] == group for model in own.index])
        part = 100 * own.iloc[where]
        ax.hlines(where, part["low"], part["high"], color=colour, linewidth=1.3)
        ax.scatter(part["mean"], where, s=18, color=colour, marker=marker, zorder=3)


def _frame(ax: "Axes", names: list[str], top: float) -> None:
    ax.set_ylim(len(names) - 0.4, top)
    ax.set_xlim(-2, 102)
    ax.set_xticks([0, 25, 50, 75, 100])
    ax.set_yticks(range(len(names)), names)
    ax.tick_params(axis="y", length=0, labelsize=7.5)
    ax.tick_params(axis="x", labelsize=8)
    style.quiet_frame(ax, "bottom")


def _entries(chosen: Shown, prob: float, hills: bool) -> "list[Artist]":
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    said = f"mean and {style.percent(prob)} interval"
    entries: list[Artist] = []
    for group, (colour, marker) in chosen.styles.items():
        name = style.legend_words(group) if len(chosen.styles) > 1 else said
        entries.append(Line2D([], [], color=colour, marker=marker, markersize=4, label=name))
    if len(chosen.styles) > 1:
        entries.append(Line2D([], [], color=style.QUIET, marker="o", markersize=4, label=said))
    if hills:
        entries.append(Patch(color=style.QUIET, alpha=0.3, label="density over models"))
    return entries
