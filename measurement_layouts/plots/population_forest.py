"""Profiles of subjects beside the prediction of their population."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from ..common.messages import many
from ..inference.fit import Fit
from ..inference.population.standing import populated, standing
from ..inference.posterior.posterior import rows_of, success_rates
from . import style

_COLUMNS = 4
_NAMED = 100  # largest number of subjects that are named
_TALL = 9.0  # height in inches, if subjects are not named
_WIDTH = 2.9  # width of a panel, in inches
_ROOM = 0.04


def population_forest(
    fit: Fit,
    *,
    nodes: str | Sequence[str] | None = None,
    subjects: Iterable[object] | None = None,
    prob: float = 0.9,
    ax: style.Panels | None = None,
) -> np.ndarray:
    """Draw every subject's profile over its population's distribution, one panel per element.

    A pale bar is the population's prediction for a new subject with the same covariates and
    categories, and the tick is its mean. The coloured interval is the profile given the subject's
    own outcomes. A small diamond is the estimate from these outcomes alone: the further the point
    is from the diamond towards the tick, the more the profile depends on the population (see
    `standing`). Subjects are in the order of their success rate, which is written beside the name,
    the best at the top; subjects with the same rate are in the order of the first panel's means.

    Parameters
    ----------
    fit : Fit
        Fit of subjects that were fitted together.
    nodes : str or sequence of str, optional
        Nodes, or elements ``node[label]``, of the profile (default: all whose prior depends on
        shared values).
    subjects : iterable, optional
        Subjects (default: all).
    prob : float, default 0.9
        Mass of the equal-tailed intervals, in (0, 1).
    ax : Axes or sequence of Axes, optional
        Axes to draw on, one for each panel (default: a new figure).

    Returns
    -------
    ndarray of Axes
        One Axes per element. Horizontal axis: the node, in its unit. Names are left out if there
        are more than 100 subjects.

    Raises
    ------
    DataError
        When a subject is named twice.
    FitError
        As in `standing`, and when the number of axes is wrong.

    Examples
    --------
    >>> import measurement_layouts as ml
    >>> from measurement_layouts.linking import logistic
    >>> mean = ml.Effect("mean")
    >>> ability = ml.Capability("ability", prior=ml.Prior("Normal", mu=mean, sigma=1))
    >>> layout = ml.Layout("coins", ml.Success("heads", logistic(ability)))
    >>> outcomes = pd.DataFrame([[1, 1, 0, 1], [0, 1, 0, 0], [1, 1, 1, 1]], list("abc"))
    >>> evaluation = ml.Evaluation.from_wide(outcomes, pd.DataFrame(index=range(4)))
    >>> result = ml.fit(layout, evaluation, draws=200, tune=200, chains=2, seed=1,
    ...                 progressbar=False)
    >>> len(population_forest(result))
    1
    """
    who = fit.subjects if subjects is None else fit.named(subjects)
    table = standing(fit, nodes, who, prob)
    found = populated(fit.layout, nodes, fit.levels)
    rates = success_rates(fit, fit.places(who))
    means = rows_of(table, found[0], who)["mean"]
    who = list(pd.DataFrame({"rate": rates, "mean": means}).sort_values(["rate", "mean"]).index)
    crowd = len(who) > _NAMED
    names = [] if crowd else [f"{style.words(name)}  {rates[name]:.2f}" for name in who]
    panel_size = _WIDTH, _TALL if crowd else len(who) * 0.165 + 0.9
    around = max(map(len, names), default=4) * 0.07, 1.5
    axes, figure, columns = style.grid(
        ax, len(found), _COLUMNS, panel_size, around, 5.6, sharey=True
    )
    for place, (element, panel) in enumerate(zip(found, axes, strict=True)):
        rows = rows_of(table, element, who)
        _population(panel, rows, prob)
        _profiles(panel, rows, style.colour(element), prob)
        style.range_ends(panel, element, "x")
        share = style.percent(round(rows["population_weight"].median(), 2))
        style.title(panel, f"population's share of a mean: {share} (median)")
        panel.set(xlabel=style.element_label(element), ylim=(-0.7, len(who) - 0.3))
        first = place % columns == 0 if figure is not None else place == 0
        style.row_names(panel, names, 8, shown=first)
        if crowd and first:
            panel.set_ylabel(f"{many(len(who), 'subject')} by success rate")
        style.quiet_frame(panel, "bottom")
    style.heading(figure, f"{many(len(who), 'subject')}: profiles and their population")
    style.legend(axes, figure, min(columns, 2))
    return axes


def _population(ax: Axes, rows: pd.DataFrame, prob: float) -> None:
    """Draw the population's prediction for each subject, as a bar and a tick."""
    at = np.arange(len(rows))
    ax.barh(
        at,
        rows["population_high"] - rows["population_low"],
        left=rows["population_low"],
        height=1.0 if len(rows) > _NAMED else 0.86,
        color=style.RULE,
        linewidth=0,
        zorder=0,
    )
    ax.vlines(
        rows["population_mean"], at - 0.43, at + 0.43, color=style.PRIOR, linewidth=1.4, zorder=1
    )
    pale: dict[str, Any] = {
        "color": style.RULE,
        "linewidth": 7,
        "markeredgecolor": style.PRIOR,
        "markersize": 8,
    }
    what = f"population: mean, {style.percent(prob)} interval"
    ax.plot([], [], marker="|", markeredgewidth=1.4, label=what, **pale)


def _profiles(ax: Axes, rows: pd.DataFrame, colour: str, prob: float) -> None:
    """Draw profiles, and estimates from the subjects' outcomes alone."""
    at, crowd = np.arange(len(rows)), len(rows) > _NAMED
    ax.hlines(
        at, rows["low"], rows["high"], color=colour, linewidth=0.5 if crowd else 1.4, alpha=0.55
    )
    ax.plot(
        rows["mean"],
        at,
        "o",
        color=colour,
        markersize=1.6 if crowd else 4,
        zorder=3,
        label=f"profile: posterior mean, {style.percent(prob)} interval",
    )
    shown = rows[["low", "high", "population_low", "population_high"]].to_numpy()
    low, high = shown.min(), shown.max()
    room = _ROOM * (high - low)
    inside = rows["alone"].between(low - room, high + room).to_numpy()
    ax.plot(
        rows["alone"][inside],
        at[inside],
        "D",
        markerfacecolor="white",
        markeredgecolor=style.INK,
        markeredgewidth=0.4 if crowd else 0.7,
        markersize=1.8 if crowd else 3.2,
        zorder=2.5,
        label="own outcomes alone (normal approximation)",
    )
    ax.set_xlim(low - room, high + room)
