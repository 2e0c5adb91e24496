"""Ability profiles of a few subjects on polar axes."""

from collections.abc import Iterable
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
from . import style

_APART = 0.16  # of the angle between two dimensions: from one subject's bar to the next
_FEWEST = 3  # dimensions


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
    if isinstance(found, Fit):
        chosen = found.subjects if subjects is None else found.named(subjects)
        table, lowest, title = _of_fit(found, chosen)
    else:
        chosen = found.subjects if subjects is None else texts(subjects, "the subjects")
        table, lowest = _of_curves(found, chosen), float(found.lowest)
        title = f"Abilities (levels), {style.percent(found.prob)} intervals"
    looks, dimensions = style.group_styles(chosen), list(dict.fromkeys(table["dimension"]))
    if len(dimensions) < _FEWEST or not chosen or len(looks) < len(chosen):
        raise FitError(
            f"{len(chosen)} profiles of {some(dimensions)}; give one or more different subjects, "
            "and three or more dimensions, or draw curve_panels or profile_forest"
        )
    if not np.isfinite(table["ability"]).any():
        raise FitError(f"{some(chosen)}: no curve in any dimension; see the reasons in table")
    ax = _polar(ax)
    spokes = np.arange(len(dimensions)) * 2 * np.pi / len(dimensions)
    centre = min(lowest, float(np.floor(table["ability"].min())))
    top = max(table["ability"].max(), table.get("top", table["ability"]).max())
    rim = centre + 1.06 * (float(top) - centre)
    for number, (name, (colour, marker)) in enumerate(looks.items()):
        spokes_of = table[table["subject"] == name].set_index("dimension").loc[dimensions]
        angles = spokes + (number - (len(looks) - 1) / 2) * _APART * spokes[1]
        low, high = (spokes_of[end].clip(centre, rim) for end in ("low", "high"))
        ax.vlines(angles, low, high, color=colour, linewidth=2.4, alpha=0.55)
        ring = np.append(np.arange(len(angles)), 0)
        look: dict[str, Any] = {"color": colour, "marker": marker, "markersize": 4.5}
        label = style.legend_words(name)
        ax.plot(
            angles[ring], spokes_of["ability"].to_numpy()[ring], linewidth=1.2, label=label, **look
        )
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
    ax.set_title(title, pad=18, fontsize=11)
    below: dict[str, Any] = {"bbox_to_anchor": (0.5, -0.07), "ncols": min(len(looks), 3)}
    ax.legend(loc="upper center", fontsize=8, frameon=False, **below)
    return ax


def _of_curves(curves: CharacteristicCurves, subjects: list[str]) -> pd.DataFrame:
    short = dict(zip(curves.dimensions, short_names(curves.dimensions), strict=True))
    rows = [curves.row(name, dimension) for name in subjects for dimension in curves.dimensions]
    table = pd.DataFrame(rows).astype(dict.fromkeys(["ability", "low", "high"], float))
    top = float(curves.bins["level"].max())
    return table.assign(dimension=table["dimension"].map(short), top=top)


def _of_fit(fit: Fit, subjects: list[str]) -> tuple[pd.DataFrame, float, str]:
    """Return posterior means by subject and dimension, the lowest level, and the title."""
    capabilities = [one for one in fit.elements if one.latent.kind == "capability"]
    labelled = [one for one in capabilities if one.label]
    chosen = labelled if len(labelled) >= _FEWEST else capabilities  # without a level of them all
    units = {str(one.latent.unit) for one in chosen}
    if len(chosen) < _FEWEST or len(units) > 1:
        raise FitError(
            f"layout {fit.layout.name!r} has the capabilities "
            f"{some(map(style.element_label, chosen)) or '(none)'}; three in one unit are "
            "needed, so draw profile_forest instead"
        )
    names = {(one.latent.name, one.label): one.label or one.name for one in chosen}
    table = profiles(fit, subjects=subjects).rename(columns={"mean": "ability"})
    keys = zip(table["node"], table["label"], strict=True)
    dimensions = pd.Series([names.get(key) for key in keys], table.index, dtype=object)
    table = table.assign(dimension=dimensions).dropna(subset="dimension")
    unit = chosen[0].latent.unit
    lows = [one.latent.low for one in chosen]
    if unit.powers and None in lows:
        lows = [feature.low for feature in fit.layout.meta_features if feature.unit == unit]
    finite = [float(low) for low in lows if low is not None and np.isfinite(low)]
    title = f"{style.with_unit('Posterior means', unit)}, 90% intervals"
    return table, min(finite, default=0.0), title


def _polar(ax: PolarAxes | None) -> PolarAxes:
    if ax is None:
        import matplotlib.pyplot as plt

        look: dict[str, Any] = {"subplot_kw": {"projection": "polar"}, "layout": "constrained"}
        return cast("PolarAxes", plt.subplots(figsize=(5.6, 6.2), **look)[1])
    if ax.name != "polar":
        raise FitError(f"ax= is {ax.name}; make polar axes, with subplot_kw={{'polar': True}}")
    return ax
