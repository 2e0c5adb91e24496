"""Subjects and items on the scale of one capability."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from ..common.messages import many
from ..inference.fit import Fit
from ..inference.population.item_places import HARDER, item_places
from ..inference.posterior.diagnostics import profiles
from ..inference.posterior.posterior import rows_of
from ..layouts.elements import Element, find_elements
from . import style

_BINS = 24
_LEFT = 2.0  # width of the panel of subjects, in inches
_NAMED, _LEAST = 40, 24  # largest number of items that are all named; least number with room
_HEIGHT, _COLUMN = 4.5, 0.15  # inches
_LETTERS = 24
_ROOM = 0.06  # share of the view that is left free above and below


def wright_map(
    fit: Fit,
    *,
    nodes: str | Sequence[str] | None = None,
    prob: float = 0.9,
    ax: Sequence[Axes] | np.ndarray | None = None,
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
    places = item_places(fit, nodes, prob)
    found = _elements(fit, places)
    table = profiles(fit, prob=prob)
    count = len(places) // len(found)
    wide = min(max(count, _LEAST), _NAMED) * _COLUMN
    size = _LEFT + wide + 0.9, 1.0 + len(found) * _HEIGHT
    axes, figure = style.panels(ax, 2 * len(found), 2, size)
    if figure is not None:
        axes[0].get_gridspec().set_width_ratios([_LEFT, wide])
    for place, element in enumerate(found):
        left, right = axes[2 * place : 2 * place + 2]
        chosen = (places["node"] == element.latent.name) & (places["label"] == element.label)
        items = places[chosen].assign(order=_order).sort_values(["order", "item"], kind="stable")
        means = rows_of(table, element, fit.subjects)["mean"].to_numpy()
        view = _view(items, means)
        _subjects(left, means, view, element)
        _items(right, items, view, element, prob)
        style.title(left, many(len(means), "subject"))
        style.title(right, many(count, "item"))
    style.heading(
        figure, "Subjects, and the level at which an average one succeeds half of the time"
    )
    style.legend(axes, figure, 2)
    return axes


def _elements(fit: Fit, places: pd.DataFrame) -> list[Element]:
    """Return the elements of a table of places."""
    pairs = places[["node", "label"]].drop_duplicates().itertuples(index=False)
    names = [f"{node}[{label}]" if label else node for node, label in pairs]
    return find_elements(fit.elements, names)


def _order(rows: pd.DataFrame) -> np.ndarray:
    """Move items beyond the scale to its ends."""
    edge = np.where(rows["beyond"] == HARDER, np.inf, -np.inf)
    return np.where(rows["beyond"] == "", rows["place"], edge)


def _view(items: pd.DataFrame, means: np.ndarray) -> tuple[float, float]:
    """Return the range that includes all subjects, places and ends of intervals."""
    shown = np.concatenate([means, items["place"], items["low"], items["high"]])
    shown = shown[np.isfinite(shown)]
    low, high = float(shown.min()), float(shown.max())
    room = _ROOM * (high - low) or 1.0
    return low - room, high + room


def _subjects(ax: Axes, means: np.ndarray, view: tuple[float, float], element: Element) -> None:
    """Draw the numbers of subjects at each level, with bars to the left."""
    each, edges = np.histogram(means, _BINS, view)
    ax.barh(
        edges[:-1],
        each,
        np.diff(edges),
        align="edge",
        color=style.colour(element),
        alpha=0.75,
        edgecolor="white",
        linewidth=0.6,
        label="subjects, by their posterior means",
    )
    ax.set_ylim(*view)
    ax.invert_xaxis()
    ax.xaxis.set_major_locator(MaxNLocator(nbins=4, integer=True))
    ax.set(xlabel="subjects", ylabel=style.element_label(element))
    style.range_ends(ax, element, "y")
    style.rules(ax)
    style.quiet_frame(ax, "left", "bottom")


def _items(
    ax: Axes, items: pd.DataFrame, view: tuple[float, float], element: Element, prob: float
) -> None:
    """Draw the items in the order of their places, each with its name below."""
    at, (low, high) = np.arange(len(items)), view
    ends = items[["low", "high"]].clip(low, high)
    there = (items["beyond"] == "").to_numpy()
    ax.vlines(
        at[there],
        ends["low"][there],
        ends["high"][there],
        color=style.QUIET,
        linewidth=1.3,
        alpha=0.6,
    )
    ax.plot(
        at[there],
        items["place"][there],
        "o",
        color=style.INK,
        markersize=4,
        label=f"item: level of even success, {style.percent(prob)} interval",
    )
    edge, room = np.where(items["beyond"] == HARDER, high, low), 0.25 * _ROOM * (high - low)
    for marker, name, chosen in (
        ("^", "too hard at any level", (items["beyond"] == HARDER).to_numpy()),
        ("v", "too easy at any level", ~there & (items["beyond"] != HARDER).to_numpy()),
    ):
        if chosen.any():
            look: dict[str, Any] = {"color": style.EXTRAPOLATED, "markersize": 5, "label": name}
            inner = edge[chosen] + (room if marker == "v" else -room)
            ax.plot(at[chosen], inner, marker, linestyle="none", **look)
    step = -(-len(items) // _NAMED)
    names = [style.words(name, _LETTERS) for name in items["item"]]
    ax.set_xticks(at[::step], names[::step], rotation=90, fontsize=7)
    if step > 1:
        ax.set_xlabel(f"{len(names[::step])} of {len(items)} items are named")
    ax.set(xlim=(-0.8, len(items) - 0.2), ylim=(low, high))
    ax.tick_params(axis="y", length=0, labelleft=False)
    ax.tick_params(axis="x", length=2)
    style.range_ends(ax, element, "y")
    style.rules(ax)
    style.quiet_frame(ax, "bottom")
