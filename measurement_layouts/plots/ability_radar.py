"""Ability profiles of a few subjects on polar axes."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pandas as pd
from matplotlib.projections.polar import PolarAxes

from ..batteries.characteristic import CharacteristicCurves
from ..batteries.demands import short_names
from ..common.errors import FitError
from ..common.messages import some
from ..evaluations.tables import texts
from ..inference.fit import Fit
from ..inference.posterior.diagnostics import profiles
from ..inference.posterior.posterior import rows_of
from ..layouts.elements import Element
from . import style

_MOST = len(style.METHODS)
_APART = 0.16  # of the angle between two dimensions: from one subject's bar to the next
_ROOM = 1.06
_FEWEST = 3  # dimensions


@dataclass(frozen=True)
class _Spokes:
    """Abilities of each subject: one row per dimension, with ability, low and high."""

    dimensions: list[str]
    tables: dict[str, pd.DataFrame]
    lowest: float
    top: float
    title: str


def ability_radar(
    found: CharacteristicCurves | Fit,
    *,
    subjects: Iterable[object] | None = None,
    ax: PolarAxes | None = None,
) -> PolarAxes:
    """Draw the abilities of a few subjects around a circle, with their intervals.

    Parameters
    ----------
    found : CharacteristicCurves or Fit
        Result of `characteristic_curves` for at least three dimensions; or of `fit` for a layout
        with at least three capabilities in one unit. If at least three elements have labels,
        capabilities without labels are left out.
    subjects : iterable, optional
        Subjects to draw, at most six (default: all).
    ax : PolarAxes, optional
        Axes to draw on (default: a new figure).

    Returns
    -------
    PolarAxes
        Axes with one spoke per dimension. The distance from the centre, which is the scale's lowest
        level, is the ability in levels, or the posterior mean in the capabilities' unit. Bars are
        intervals, cut at the rim; those of several subjects are side by side. A line is broken
        where there is no curve.

    Raises
    ------
    DataError
        When a subject is named twice.
    FitError
        When a subject is unknown, there are more than six subjects or fewer than three dimensions,
        dimensions have several units, no subject has a curve, or the axes are not polar.

    References
    ----------
    General scales paper, figure 8.

    Examples
    --------
    >>> import pandas as pd
    >>> from measurement_layouts import Evaluation
    >>> from measurement_layouts.batteries.characteristic import characteristic_curves
    >>> levels = np.random.default_rng(1).integers(0, 5, (900, 3))
    >>> items = pd.DataFrame(levels, columns=["logic", "memory", "volume"])
    >>> solved = np.random.default_rng(1).random(900) * levels.max(axis=1) < 1
    >>> evaluation = Evaluation.from_wide(pd.DataFrame([solved], ["Ann"]), items)
    >>> ability_radar(characteristic_curves(evaluation, items.columns)).name
    'polar'
    """
    shown = _of_fit(found, subjects) if isinstance(found, Fit) else _of_curves(found, subjects)
    who, dimensions = list(shown.tables), shown.dimensions
    ax = _polar(ax)
    spokes = np.arange(len(dimensions)) * 2 * np.pi / len(dimensions)
    abilities = np.array([table["ability"] for table in shown.tables.values()], dtype=float)
    if not np.isfinite(abilities).any():
        raise FitError(f"{some(who)}: no curve in any dimension; see the reasons in table")
    centre = min(shown.lowest, float(np.floor(np.nanmin(abilities))))
    rim = centre + _ROOM * (max(float(np.nanmax(abilities)), shown.top) - centre)
    for place, (name, table) in enumerate(shown.tables.items()):
        colour, marker = style.METHODS[place]
        shift = (place - (len(who) - 1) / 2) * _APART * spokes[1]
        angles = spokes + shift
        ability, low, high = (table[key].to_numpy() for key in ("ability", "low", "high"))
        for angle, first, last in zip(angles, low, high, strict=True):
            ends = np.clip([first, last], centre, rim)
            ax.plot([angle, angle], ends, color=colour, linewidth=2.4, alpha=0.55)
        look: dict[str, Any] = {
            "color": colour,
            "marker": marker,
            "markersize": 4.5,
            "linewidth": 1.2,
        }
        round_ = np.append(np.arange(len(angles)), 0)
        label = style.legend_words(name)
        ax.plot(angles[round_], ability[round_], label=label, zorder=3, **look)
    ax.set_theta_zero_location("N")
    ax.set_theta_direction(-1)
    ax.set_xticks(spokes, [style.words(name, 20) for name in dimensions], fontsize=9)
    ax.set_ylim(centre, rim)
    step = 1 if rim - centre < 7 else 2
    rings = np.arange(centre if centre else step, rim, step)  # a centre other than 0 is labelled
    ax.set_yticks(rings, [f"{ring:g}" for ring in rings], fontsize=7, color=style.QUIET)
    ax.set_rlabel_position(float(np.degrees(spokes[1])) / 2)
    ax.grid(color=style.RULE)
    ax.spines["polar"].set_color(style.FAINT)
    ax.set_title(shown.title, pad=18, fontsize=11)
    ax.legend(
        loc="upper center",
        bbox_to_anchor=(0.5, -0.07),
        ncols=min(len(who), 3),
        fontsize=8,
        frameon=False,
    )
    return ax


def _of_curves(curves: CharacteristicCurves, subjects: Iterable[object] | None) -> _Spokes:
    who = curves.subjects if subjects is None else texts(subjects, "the subjects")
    for name in who:
        curves.row(name, curves.dimensions[0])
    _refuse_many(who)
    if len(curves.dimensions) < _FEWEST:
        raise FitError(
            f"{some(curves.dimensions)}: three dimensions are needed; draw curve_panels instead"
        )
    tables = {name: curves.table[curves.table["subject"] == name] for name in who}
    title = f"Abilities (levels), {style.percent(curves.prob)} intervals"
    top = float(curves.bins["level"].max())
    return _Spokes(short_names(curves.dimensions), tables, float(curves.lowest), top, title)


def _of_fit(fit: Fit, subjects: Iterable[object] | None) -> _Spokes:
    who = fit.subjects if subjects is None else fit.named(subjects)
    _refuse_many(who)
    found = [one for one in fit.elements if one.latent.kind == "capability"]
    labelled = [one for one in found if one.label]
    found = labelled if len(labelled) >= _FEWEST else found  # without a level of them all
    units = {str(one.latent.unit) for one in found}
    if len(found) < _FEWEST or len(units) > 1:
        raise FitError(
            f"layout {fit.layout.name!r} has the capabilities "
            f"{some(style.element_label(one) for one in found) or '(none)'}; three in one unit are "
            "needed, so draw profile_forest instead"
        )
    table = profiles(fit, subjects=who)
    rows = pd.concat(
        [rows_of(table, one, who).assign(subject=who, order=n) for n, one in enumerate(found)]
    ).rename(columns={"mean": "ability"})
    tables = {name: rows[rows["subject"] == name].sort_values("order") for name in who}
    title = f"{style.with_unit('Posterior means', found[0].latent.unit)}, 90% intervals"
    labels = [one.label or one.name for one in found]
    return _Spokes(labels, tables, _lowest(fit, found), -np.inf, title)


def _lowest(fit: Fit, found: list[Element]) -> float:
    """Return the lowest declared level of capabilities, else of demands in their unit, else 0."""
    unit = found[0].latent.unit
    declared = [one.latent.low for one in found]
    if unit.powers and None in declared:
        declared = [feature.low for feature in fit.layout.meta_features if feature.unit == unit]
    finite = [float(low) for low in declared if low is not None and np.isfinite(low)]
    return min(finite, default=0.0)


def _refuse_many(who: list[str]) -> None:
    """Refuse subjects that cannot be told apart."""
    if not 0 < len(who) <= _MOST or len(set(who)) < len(who):
        raise FitError(
            f"{len(who)} profiles ({some(who)}) cannot be distinguished in one figure; name "
            f"between 1 and {_MOST} different subjects"
        )


def _polar(ax: PolarAxes | None) -> PolarAxes:
    if ax is None:
        import matplotlib.pyplot as plt

        look: dict[str, Any] = {"subplot_kw": {"projection": "polar"}, "layout": "constrained"}
        return cast("PolarAxes", plt.subplots(figsize=(5.6, 6.2), **look)[1])
    if ax.name != "polar":
        raise FitError(f"ax= is {ax.name}; make polar axes, with subplot_kw={{'polar': True}}")
    return ax
