"""Forecasts of one subject's success, item by item."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from ..common.errors import DataError, FitError
from ..common.messages import many, some
from ..evaluations.evaluation import Evaluation
from ..inference.forecasts.forecasting import Forecast
from . import style

_NAMED = 80  # largest number of items whose names are written
_PER_ROW = 4  # number of entries in a row of the legend


def forecast_plot(
    forecast: Forecast,
    subject: object,
    evaluation: Evaluation | None = None,
    *,
    ax: Axes | None = None,
) -> Axes:
    """Draw one subject's success probabilities, items in ascending order.

    Parameters
    ----------
    forecast : Forecast
        Forecasts.
    subject : object
        Subject to draw.
    evaluation : Evaluation, optional
        Outcomes to draw as well: ticks at the top for successes and at the bottom for failures of
        single trials, dashes at the success rate of several trials.
    ax : Axes, optional
        Axes to draw on (default: a new figure).

    Returns
    -------
    Axes
        Horizontal axis: items; vertical axis: probability, in [0, 1]. Bars are the forecast's
        intervals. Diamonds are items outside a declared range, hollow diamonds items outside the
        range of the subject's training items, and hollow points training items.

    Raises
    ------
    FitError
        When the subject is not in the forecast.
    DataError
        When the subject or all of the items are missing from the
        evaluation.

    Examples
    --------
    >>> from measurement_layouts.inference.fitting import fit
    >>> from measurement_layouts.scenarios import animal_ai_olympics as aaio
    >>> cohort = aaio.simulated_cohort()
    >>> result = fit(aaio.published_layout(), cohort.evaluation, subjects=["sim-01"],
    ...              draws=100, tune=200, chains=2, seed=1, progressbar=False)
    >>> forecast_plot(result.forecast(aaio.battery(seed=2).head(3)), "sim-01").get_title()
    'sim-01: forecast success on 3 items'
    """
    known = [str(name) for name in forecast.data["subject"].to_numpy()]
    name = str(subject)
    if name not in known:
        raise FitError(f"not in this forecast: {name}; it has {some(known)}")
    chosen = forecast.data.sel(subject=name).sortby("mean")
    items = [str(item) for item in chosen["item"].to_numpy()]
    place = np.arange(len(items))
    mean, low, high = (chosen[column].to_numpy() for column in ("mean", "low", "high"))
    outside, seen = (chosen[column].to_numpy() for column in ("extrapolated", "trained"))
    beyond = np.zeros_like(outside)
    if "outside_training" in chosen:
        beyond = chosen["outside_training"].to_numpy() & ~outside
    inside = ~outside & ~beyond
    names = [style.words(item, 30) for item in items] if len(items) <= _NAMED else []
    height = 4.0 + 0.06 * max(map(len, names), default=6)
    ax = style.single(ax, (min(max(0.14 * len(items) + 1.5, 7.0), 13.0), height))
    style.rules(ax, width=0.8)
    thick = float(np.clip(2 * _NAMED / len(items), 0.5, 2))
    if np.isfinite(low).any():
        mass = f"{style.percent(forecast.prob)} interval"
        pale: dict[str, Any] = {"color": style.PRIOR, "linewidth": thick, "alpha": 0.6}
        ax.vlines(place, low, high, label=mass, **pale)
    size = float(np.clip(20 * _NAMED / len(items), 4, 20))
    for which, marker, face, edge, what in (
        (inside & ~seen, "o", style.INK, style.INK, "forecast"),
        (inside & seen, "o", "white", style.INK, "forecast of a training item"),
        (outside, "D", style.EXTRAPOLATED, style.EXTRAPOLATED, "outside a declared range"),
        (beyond, "D", "white", style.EXTRAPOLATED, "outside the training items"),
    ):
        if which.any():
            look: dict[str, Any] = {"facecolors": face, "edgecolors": edge, "zorder": 3}
            ax.scatter(place[which], mean[which], s=size, marker=marker, label=what, **look)
    if evaluation is not None:
        _outcomes(ax, evaluation, name, items, size)
    ax.set(xlim=(-0.8, len(items) - 0.2), ylim=(-0.08, 1.08), ylabel="probability of success")
    if names:
        ax.set_xticks(place, names, rotation=90, fontsize=7)
        ax.set_xlabel("item, by forecast")
    else:
        ax.set_xlabel(f"rank of the item by forecast ({len(items)} items)")
    handles = list(style.entries(np.array([ax])).values())
    rows = -(-len(handles) // _PER_ROW)
    what = f"forecast success on {many(len(items), 'item')}"
    style.title(ax, f"{name}: {what}", pad=4 + 15 * rows)
    ax.legend(
        handles=handles,
        ncols=-(-len(handles) // rows),
        fontsize=8,
        frameon=False,
        loc="lower center",
        bbox_to_anchor=(0.5, 1.0),
        borderaxespad=0.1,
    )
    style.quiet_frame(ax, "left", "bottom")
    return ax


def _outcomes(
    ax: Axes, evaluation: Evaluation, subject: str, items: list[str], size: float
) -> None:
    """Draw the outcomes over the forecast."""
    if subject not in evaluation.subjects:
        raise DataError(
            f"unknown subject {subject}; the evaluation has {some(evaluation.subjects)}"
        )
    both = [place for place, item in enumerate(items) if item in evaluation.items.index]
    if not both:
        raise DataError(
            f"the evaluation has none of the forecast items {some(items)}; it has "
            f"{some(evaluation.items.index)}; give both the same names"
        )
    found = [items[place] for place in both]
    trials = evaluation.attempts.loc[subject, found].to_numpy()
    successes = evaluation.successes.loc[subject, found].to_numpy()
    where = np.array(both)
    for mask, height, colour, what in (
        ((trials == 1) & (successes == 1), 1.045, style.SUCCESS, "success"),
        ((trials == 1) & (successes == 0), -0.045, style.FAILURE, "failure"),
    ):
        if mask.any():
            look: dict[str, Any] = {"color": colour, "linewidths": 1.8, "clip_on": False}
            at = np.full(mask.sum(), height)
            ax.scatter(where[mask], at, marker="|", s=50, label=what, **look)
    several = trials > 1
    if several.any():
        ax.scatter(
            where[several],
            successes[several] / trials[several],
            marker="_",
            s=3 * size,
            color=style.SUCCESS,
            linewidths=2,
            zorder=4,
            label="success rate of several trials",
        )
