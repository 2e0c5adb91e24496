"""Items beside subjects: the Wright map, item curves with observed points, and test information."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..common.messages import many
from ..inference.fit import Fit
from ..inference.population.item_information import information, reliability
from ..inference.population.item_information import item_curves as curves_of
from ..inference.population.item_places import HARDER, capabilities_of, item_places
from ..inference.posterior.diagnostics import profiles
from ..inference.posterior.posterior import rows_of
from ..layouts.elements import find_elements
from . import style
from .lines import Look, lines

_BINS = 24
_LEFT = 2.0  # width of the panel of subjects, in inches
_NAMED, _LEAST = 40, 24  # largest number of items that are all named; least number with room
_HEIGHT, _COLUMN = 4.5, 0.15  # inches
_ROOM = 0.06  # share of the view that is left free above and below
_GROUPS = 6  # of subjects by level, for observed rates
_SHOWN = 12  # largest number of items whose curves are drawn by default


def wright_map(
    fit: Fit,
    *,
    nodes: str | Sequence[str] | None = None,
    prob: float = 0.9,
    ax: style.Panels | None = None,
) -> np.ndarray:
    """Draw the number of subjects at each level of a capability, beside the items' levels.

    The level of an item is the level of the capability at which the average subject of the fit
    succeeds half of the time (see `item_places`); it has an interval. A triangle at the upper or
    lower edge is an item without such a level: it is too hard or too easy whatever the capability
    is.

    Parameters
    ----------
    fit : Fit
        Fit of subjects, together or separately.
    nodes : str or sequence of str, optional
        Capabilities with one value per subject, or elements ``node[label]`` (default: all).
    prob : float, default 0.9
        Mass of the equal-tailed interval, in (0, 1).
    ax : sequence of Axes, optional
        Axes to draw on, two for each capability (default: a new figure with a row for each).

    Returns
    -------
    ndarray of Axes
        Two Axes for each capability: subjects, counted by their posterior means, and items, the
        easiest first. Vertical axis: the capability, in its unit.

    Raises
    ------
    FitError
        As in `item_places`, and when the number of axes is wrong.

    References
    ----------
    Wright and Masters (1982), Rating scale analysis.

    Examples
    --------
    >>> from measurement_layouts.inference.fitting import fit
    >>> from measurement_layouts.scenarios import animal_ai_olympics as aaio
    >>> cohort = aaio.simulated_cohort()
    >>> result = fit(aaio.published_layout(), cohort.evaluation, subjects=["sim-01"],
    ...              draws=100, tune=200, chains=2, seed=1, progressbar=False)
    >>> axes = wright_map(result, nodes="visualAbility")
    >>> axes[0].get_ylabel()
    'visualAbility (sd)'
    """
    levels = item_places(fit, nodes, prob)
    pairs = levels[["node", "label"]].drop_duplicates().itertuples(index=False)
    names = [f"{node}[{label}]" if label else node for node, label in pairs]
    elements = find_elements(fit.elements, names)
    table, mass = profiles(fit, prob=prob), style.percent(prob)
    sure: dict[Any, float] = {}
    if len(fit.subjects) > 1:
        sure = reliability(fit).set_index(["node", "label"])["reliability"].to_dict()
    count = len(levels) // len(elements)
    wide = min(max(count, _LEAST), _NAMED) * _COLUMN
    size = _LEFT + wide + 0.9, 1.0 + len(elements) * _HEIGHT
    axes, figure = style.panels(ax, 2 * len(elements), 2, size)
    if figure is not None:
        axes[0].get_gridspec().set_width_ratios([_LEFT, wide])
    for number, element in enumerate(elements):
        histogram, scale = axes[2 * number : 2 * number + 2]
        key = element.latent.name, element.label
        items = levels[(levels["node"] == key[0]) & (levels["label"] == key[1])]
        edge = np.where(items["beyond"] == HARDER, np.inf, -np.inf)
        order = np.where(items["beyond"] == "", items["place"], edge)
        items = items.assign(order=order).sort_values(["order", "item"], kind="stable")
        means = rows_of(table, element, fit.subjects)["mean"].to_numpy()
        shown = np.concatenate([means, items["place"], items["low"], items["high"]])
        shown = shown[np.isfinite(shown)]
        room = _ROOM * np.ptp(shown) or 1.0
        view = float(shown.min() - room), float(shown.max() + room)
        counts, edges = np.histogram(means, _BINS, view)
        bars = {"align": "edge", "alpha": 0.75, "edgecolor": "white", "linewidth": 0.6}
        bars |= {"color": style.colour(element), "label": "subjects, by their posterior means"}
        histogram.barh(edges[:-1], counts, np.diff(edges), **bars)
        histogram.invert_xaxis()
        histogram.locator_params(axis="x", nbins=4, integer=True)
        histogram.set(xlabel="subjects", ylabel=style.element_label(element), ylim=view)
        reliable = f", reliability {sure[key]:.2f}" if key in sure else ""
        style.title(histogram, many(len(means), "subject") + reliable)
        style.title(scale, many(count, "item"))
        at = np.arange(len(items))
        inside = (items["beyond"] == "").to_numpy()
        ends = items[["low", "high"]].clip(*view)
        scale.vlines(at[inside], ends["low"][inside], ends["high"][inside], color=style.QUIET)
        look = {
            "color": style.INK,
            "markersize": 4,
            "label": f"item: {mass} interval",
        }
        scale.plot(at[inside], items["place"][inside], "o", **look)
        hard = (items["beyond"] == HARDER).to_numpy()
        for marker, chosen, height, label in (
            ("^", hard, view[1] - room / 4, "too hard at any level"),
            ("v", ~inside & ~hard, view[0] + room / 4, "too easy at any level"),
        ):
            if chosen.any():
                look = {"color": style.EXTRAPOLATED, "markersize": 5, "linestyle": "none"}
                scale.plot(at[chosen], np.full(chosen.sum(), height), marker, label=label, **look)
        step = -(-len(items) // _NAMED)
        texts = [style.words(name, 24) for name in items["item"]]
        scale.set_xticks(at[::step], texts[::step], rotation=90, fontsize=7)
        if step > 1:
            scale.set_xlabel(f"{len(texts[::step])} of {len(items)} items are named")
        scale.set(xlim=(-0.8, len(items) - 0.2), ylim=view)
        scale.tick_params(axis="y", length=0, labelleft=False)
        for panel, sides in ((histogram, ("left", "bottom")), (scale, ("bottom",))):
            style.range_ends(panel, element, "y")
            style.rules(panel)
            style.quiet_frame(panel, *sides)
    style.heading(
        figure, "Subjects, and the level at which an average one succeeds half of the time"
    )
    style.legend(axes, figure, 2)
    return axes


def item_curves(
    fit: Fit,
    items: Sequence[object] | None = None,
    *,
    node: str | None = None,
    prob: float = 0.9,
    ax: style.Panels | None = None,
) -> np.ndarray:
    """Draw the success on items by the level of a capability, beside observed success rates.

    A curve is the success of the average subject of the fit, with its interval. Points are observed
    success rates of groups of subjects, at the mean level of the group: six groups of equal size,
    by their posterior means. Where other capabilities matter, the points of groups that differ in
    them depart from the curve.

    Parameters
    ----------
    fit : Fit
        Fit of subjects, together or separately.
    items : sequence, optional
        Items, a panel each (default: the first twelve).
    node : str, optional
        Capability, or element ``node[label]`` (default: the first).
    prob : float, default 0.9
        Mass of the equal-tailed intervals, in (0, 1).
    ax : Axes or sequence of Axes, optional
        Axes to draw on, one for each item (default: a new figure).

    Returns
    -------
    ndarray of Axes
        One Axes per item. Horizontal axis: the capability in its unit; vertical axis: success, in
        [0, 1]. Markers grow with the number of trials.

    Raises
    ------
    FitError
        When the node is not a capability of the subjects, an item is unknown, or the number of axes
        is wrong.

    References
    ----------
    Lord (1980), Applications of item response theory to practical testing problems.

    Examples
    --------
    >>> from measurement_layouts.inference.fitting import fit
    >>> from measurement_layouts.scenarios import animal_ai_olympics as aaio
    >>> cohort = aaio.simulated_cohort()
    >>> result = fit(aaio.published_layout(), cohort.evaluation, subjects=["sim-01", "sim-60"],
    ...              draws=100, tune=200, chains=2, seed=1, progressbar=False)
    >>> len(item_curves(result, ["item-01", "item-02"], node="visualAbility"))
    2
    """
    names = [str(name) for name in fit.item_names]
    chosen = names[:_SHOWN] if items is None else [str(item) for item in items]
    element = capabilities_of(fit, node)[0]
    curves = curves_of(fit, element.name, chosen, prob)
    means = rows_of(profiles(fit), element, fit.subjects)["mean"].to_numpy()
    groups = np.argsort(np.argsort(means, kind="stable")) * _GROUPS // len(means)
    successes, trials = fit.coded.tables
    counts = [
        pd.DataFrame(
            {
                "panel": item,
                "x": pd.Series(means).groupby(groups).mean(),
                "solved": pd.Series(successes[:, names.index(item)]).groupby(groups).sum(),
                "trials": pd.Series(trials[:, names.index(item)]).groupby(groups).sum(),
            }
        )
        for item in chosen
    ]
    observed = pd.concat(counts).query("trials > 0")
    area = 8 + 40 * observed["trials"] / max(observed["trials"].max(), 1)
    observed = observed.assign(series="rate", y=observed["solved"] / observed["trials"], area=area)
    curves = curves.rename(columns={"item": "panel", "level": "x", "success": "y"})
    mass = style.percent(prob)
    return lines(
        pd.concat([curves.assign(series="curve"), observed]),
        {
            "curve": Look(style.colour(element), f"average subject, {mass} band", "-", band=True),
            "rate": Look(style.INK, "observed success rate of a group of subjects", marker="o"),
        },
        ax=ax,
        title=f"Success on {many(len(chosen), 'item')} by {style.words(element.name, 40)}",
        x=style.element_label(element),
        y="success",
        ylim=(-0.04, 1.04),
    )


def information_plot(
    fit: Fit,
    *,
    node: str | None = None,
    prob: float = 0.9,
    ax: style.Panels | None = None,
) -> np.ndarray:
    """Draw the test information and the standard error of an estimate by the level of a capability.

    Parameters
    ----------
    fit : Fit
        Fit of subjects, together or separately.
    node : str, optional
        Capability, or element ``node[label]`` (default: the first).
    prob : float, default 0.9
        Mass of the equal-tailed interval, in (0, 1).
    ax : sequence of Axes, optional
        Two axes to draw on (default: a new figure).

    Returns
    -------
    ndarray of Axes
        Information, and one divided by its root, by the capability in its unit. Ticks at the bottom
        are subjects.

    Raises
    ------
    FitError
        When the node is not a capability of the subjects, or the number of axes is wrong.

    References
    ----------
    Birnbaum (1968), in Lord and Novick, Statistical theories of mental test scores, chapter 20.

    Examples
    --------
    >>> from measurement_layouts.inference.fitting import fit
    >>> from measurement_layouts.scenarios import animal_ai_olympics as aaio
    >>> cohort = aaio.simulated_cohort()
    >>> result = fit(aaio.published_layout(), cohort.evaluation, subjects=["sim-01", "sim-60"],
    ...              draws=100, tune=200, chains=2, seed=1, progressbar=False)
    >>> [panel.get_title() for panel in information_plot(result)]
    ['test information', 'standard error']
    """
    element = capabilities_of(fit, node)[0]
    table = information(fit, element.name, prob).rename(columns={"level": "x"})
    curve = table.assign(panel="test information", y=table["information"])
    error = table.assign(panel="standard error", y=table["se"])
    error = error.assign(low=table["high"] ** -0.5, high=table["low"] ** -0.5)
    label = f"average subject, {style.percent(prob)} band"
    axes = lines(
        pd.concat([curve, error]),
        {"": Look(style.colour(element), label, "-", band=True)},
        ax=ax,
        size=(3.2, 2.6),
        title=f"{many(len(fit.item_names), 'item')} and {style.words(element.name, 40)}",
        x=style.element_label(element),
        entries=(style.entry("a subject, by its posterior mean", marker="|", linestyle="none"),),
    )
    means = rows_of(profiles(fit), element, fit.subjects)["mean"]
    for panel in axes:
        panel.set_ylim(bottom=0)
        marks = {"marker": "|", "linestyle": "none", "color": style.QUIET, "alpha": 0.6}
        panel.plot(means, np.zeros(len(means)), transform=panel.get_xaxis_transform(), **marks)
    return axes
