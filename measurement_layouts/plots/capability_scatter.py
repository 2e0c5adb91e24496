"""One capability against another, all subjects at once."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from ..common.errors import FitError
from ..common.messages import many, some
from ..inference.fit import Fit
from ..inference.posterior.diagnostics import profiles, verdicts
from ..inference.posterior.posterior import rows_of, span, success_rates
from ..layouts.elements import Element, find_elements
from . import style
from .labels import write_names

_PROB = 0.9  # mass of the intervals
_LEAST = 0.25  # least share of the range that colours span, so that small differences look small
_SMALLEST, _LARGEST = 14.0, 150.0  # marker areas at success 0 and 1, in square points


def capability_scatter(
    fit: Fit,
    x: str | None = None,
    y: str | None = None,
    *,
    colour: str | None = None,
    names: Sequence[object] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw one profile element against another, with one point per subject.

    Points are posterior means, and grey lines are 90 % intervals. The area of a point grows with
    the subject's success rate, and its colour is the posterior mean of `colour`. A point is hollow
    if one of these elements is prior-dominated, and crossed if one has separate modes, between
    which the mean may lie (see `profiles`). A dagger marks a subject that did not converge (see
    `diagnose`).

    Parameters
    ----------
    fit : Fit
        Fit whose profiles are drawn.
    x, y : str, optional
        Nodes, or elements ``node[label]`` (default: the first two capabilities).
    colour : str, optional
        Element shown as colour (default: the first noise node; without one, all points have the
        same colour).
    names : sequence, optional
        Subjects whose names are all written (default: extreme subjects and others far from each
        other, as many as there is room for).
    ax : Axes, optional
        Axes to draw on (default: a new figure).

    Returns
    -------
    Axes
        Axes in the units of the nodes; dotted lines are the ends of finite ranges.

    Raises
    ------
    DataError
        When a subject is named twice.
    FitError
        When a node or subject is unknown, a node has several labels and none was chosen, or the
        layout has fewer than two capabilities and `x` and `y` are not both given.

    References
    ----------
    Burden et al. (2023), figure 4.

    Examples
    --------
    >>> from measurement_layouts.inference.fitting import fit
    >>> from measurement_layouts.scenarios import animal_ai_olympics as aaio
    >>> cohort = aaio.simulated_cohort()
    >>> result = fit(aaio.published_layout(), cohort.evaluation, subjects=["sim-01"],
    ...              draws=100, tune=200, chains=2, seed=1, progressbar=False)
    >>> capability_scatter(result).get_title()
    'Cognitive profiles of 1 subject: posterior means, 90% intervals'
    """
    across, up = _chosen(fit, x, y)
    noise = [element for element in fit.elements if element.latent.kind == "noise"]
    shade = _one(fit, colour) if colour is not None else noise[0] if noise else None
    named = fit.subjects if names is None else fit.named(names)
    table, status = profiles(fit, prob=_PROB), verdicts(fit)["status"]
    marks = [rows_of(table, one, fit.subjects) for one in (across, up, shade) if one is not None]
    hollow = np.any([table_of["prior_dominated"] for table_of in marks], axis=0)
    split = np.any([table_of["modes"] for table_of in marks], axis=0)
    right, top = marks[:2]
    areas = _SMALLEST + (_LARGEST - _SMALLEST) * success_rates(fit).to_numpy()
    ax = style.single(ax, (7.4, 5.6))
    pale: dict[str, Any] = {"color": style.FAINT, "linewidth": 0.8, "zorder": 1}
    ax.hlines(top["mean"], right["low"], right["high"], **pale)
    ax.vlines(right["mean"], top["low"], top["high"], **pale)
    style.range_ends(ax, across, "x")
    style.range_ends(ax, up, "y")
    paint: dict[str, Any] = {"color": style.colour(across)}
    if shade is not None:
        level = marks[2]["mean"].to_numpy()
        low, high = span(fit, shade)
        most = max(level.max(), low + _LEAST * (high - low))
        paint = {"c": level, "cmap": style.amount_map(), "vmin": low, "vmax": most}
    edges: dict[str, Any] = {"edgecolors": "white", "linewidths": 0.6, "zorder": 3}
    points = ax.scatter(right["mean"], top["mean"], areas, **edges, **paint)
    white: dict[str, Any] = {"facecolors": "white", "edgecolors": style.QUIET, "zorder": 3.5}
    if hollow.any():
        ax.scatter(right["mean"][hollow], top["mean"][hollow], areas[hollow], **white)
    style.cross(ax, right["mean"], top["mean"], split, areas)
    ax.set(xlabel=style.element_label(across), ylabel=style.element_label(up))
    count = many(len(fit.subjects), "subject")
    mass = style.percent(_PROB)
    style.title(ax, f"Cognitive profiles of {count}: posterior means, {mass} intervals")
    if shade is not None:
        ax.figure.colorbar(points, ax=ax, label=f"posterior mean of {style.element_label(shade)}")
    for rate in (0.0, 0.5, 1.0):
        area = _SMALLEST + (_LARGEST - _SMALLEST) * rate
        ax.scatter([], [], area, color=style.PRIOR, edgecolors="white", label=f"{rate:g}")
    if hollow.any():
        ax.scatter([], [], 40, label="prior-dominated", **white)
    if split.any():
        ax.scatter([], [], 38, label=style.SPLIT, **style.CROSS)
    doubted = set(status.index[status == "not converged"])
    if doubted:
        ax.scatter([], [], 0, label="† not converged")
    ax.legend(title="success rate", fontsize=8, title_fontsize=8, loc="best")
    texts = [f"{name}{' †' * (name in doubted)}" * (name in named) for name in fit.subjects]
    write_names(ax, right["mean"], top["mean"], texts, every=names is not None)
    return ax


def _chosen(fit: Fit, x: str | None, y: str | None) -> tuple[Element, Element]:
    capabilities = [element for element in fit.elements if element.latent.kind == "capability"]
    wanted = [None if name is None else _one(fit, name) for name in (x, y)]
    spare = [element for element in capabilities if element not in wanted]
    if wanted.count(None) > len(spare):
        raise FitError(
            f"layout {fit.layout.name!r} has {len(capabilities)} capability(s); give both x= and "
            f"y=, out of {some((element.name for element in fit.elements), 20)}"
        )
    across, up = (spare.pop(0) if element is None else element for element in wanted)
    return across, up


def _one(fit: Fit, name: str) -> Element:
    chosen = find_elements(fit.elements, name)
    if len(chosen) > 1:
        raise FitError(
            f"{name} has {len(chosen)} labels; choose one: {some((e.name for e in chosen), 20)}"
        )
    return chosen[0]
