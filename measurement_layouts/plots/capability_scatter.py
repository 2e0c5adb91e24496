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
from .labels import spread, write_names

_PROB = 0.9  # mass of the intervals
_LABELS = 25  # number of names that are tried by default
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
    shade = _shade(fit, colour)
    named = [] if names is None else fit.named(names)
    rates = success_rates(fit)
    table, status = profiles(fit, prob=_PROB), verdicts(fit)["status"]
    doubted = set(status.index[status == "not converged"])
    horizontal, vertical = (rows_of(table, element, fit.subjects) for element in (across, up))
    where = np.column_stack([horizontal["mean"], vertical["mean"]])
    area = _area(rates.to_numpy())
    ax = style.single(ax, (7.4, 5.6))
    pale: dict[str, Any] = {"color": style.FAINT, "linewidth": 0.8, "zorder": 1}
    ax.hlines(vertical["mean"], horizontal["low"], horizontal["high"], **pale)
    ax.vlines(horizontal["mean"], vertical["low"], vertical["high"], **pale)
    style.range_ends(ax, across, "x")
    style.range_ends(ax, up, "y")
    paint: dict[str, Any] = {"color": style.colour(across)}
    if shade is not None:
        level = rows_of(table, shade, fit.subjects)["mean"].to_numpy()
        low, high = span(fit, shade)
        top = max(level.max(), low + _LEAST * (high - low))
        paint = {"c": level, "cmap": style.amount_map(), "vmin": low, "vmax": top}
    told = [horizontal, vertical] + ([] if shade is None else [rows_of(table, shade, fit.subjects)])
    vague = np.any([part["prior_dominated"].to_numpy() for part in told], axis=0)
    split = np.any([part["modes"] for part in told], axis=0)
    points = ax.scatter(
        horizontal["mean"],
        vertical["mean"],
        s=area,
        edgecolors="white",
        linewidths=0.6,
        zorder=3,
        **paint,
    )
    if vague.any():
        ax.scatter(
            where[vague, 0],
            where[vague, 1],
            s=area[vague],
            facecolors="white",
            edgecolors=style.QUIET,
            zorder=3.5,
        )
    style.cross(ax, where[:, 0], where[:, 1], split, area)
    ax.set(xlabel=style.element_label(across), ylabel=style.element_label(up))
    who = many(len(fit.subjects), "subject")
    style.title(
        ax, f"Cognitive profiles of {who}: posterior means, {style.percent(_PROB)} intervals"
    )
    if shade is not None:
        ax.figure.colorbar(points, ax=ax, label=f"posterior mean of {style.element_label(shade)}")
    marks = {"hollow": bool(vague.any()), "split": bool(split.any())}
    _legend(ax, where, **marks, not_converged=len(doubted) > 0)
    order = (
        [fit.subjects.index(name) for name in named]
        if names is not None
        else spread(where / np.maximum(np.ptp(where, axis=0), 1e-12), _LABELS)
    )
    write_names(
        ax,
        where,
        area,
        [style.words(name, 40) + " †" * (name in doubted) for name in fit.subjects],
        order,
        all_of_them=names is not None,
    )
    return ax


def _chosen(fit: Fit, x: str | None, y: str | None) -> tuple[Element, Element]:
    capabilities = [e for e in fit.elements if e.latent.kind == "capability"]
    given = [_one(fit, name) for name in (x, y) if name is not None]
    spare = [element for element in capabilities if element not in given]
    if len(given) + len(spare) < 2:
        raise FitError(
            f"layout {fit.layout.name!r} has {len(capabilities)} capability(s); give both x= and "
            f"y=, out of {some((element.name for element in fit.elements), 20)}"
        )
    across = _one(fit, x) if x is not None else spare.pop(0)
    return across, _one(fit, y) if y is not None else spare.pop(0)


def _one(fit: Fit, name: str) -> Element:
    found = find_elements(fit.elements, name)
    if len(found) > 1:
        raise FitError(
            f"{name} has {len(found)} labels; choose one: {some((e.name for e in found), 20)}"
        )
    return found[0]


def _shade(fit: Fit, colour: str | None) -> Element | None:
    if colour is not None:
        return _one(fit, colour)
    noise = [element for element in fit.elements if element.latent.kind == "noise"]
    return noise[0] if noise else None


def _area(rates: np.ndarray) -> np.ndarray:
    return _SMALLEST + (_LARGEST - _SMALLEST) * rates


def _legend(ax: Axes, where: np.ndarray, *, hollow: bool, split: bool, not_converged: bool) -> None:
    """Explain the size and face of points, in the corner with the fewest points."""
    for rate in (0.0, 0.5, 1.0):
        ax.scatter(
            [],
            [],
            s=_area(np.array([rate])),
            color=style.PRIOR,
            edgecolors="white",
            label=f"{rate:g}",
        )
    if hollow:
        ax.scatter([], [], s=40, color="white", edgecolors=style.QUIET, label="prior-dominated")
    if split:
        ax.scatter([], [], s=38, label=style.SPLIT, **style.CROSS)
    if not_converged:
        ax.scatter([], [], s=0, label="† not converged")
    up, right = where[:, 1] > np.mean(ax.get_ylim()), where[:, 0] > np.mean(ax.get_xlim())
    crowd = {
        "upper left": up & ~right,
        "lower right": ~up & right,
        "upper right": up & right,
        "lower left": ~up & ~right,
    }
    emptiest: Any = min(crowd, key=lambda corner: int(crowd[corner].sum()))
    ax.legend(title="success rate", fontsize=8, title_fontsize=8, loc=emptiest)
