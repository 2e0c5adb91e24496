"""Success of subjects by the bands of the items, with each subject's estimate."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from ..common.errors import DataError
from ..common.messages import many, some
from ..estimation.estimate import Estimates
from ..evaluations.evaluation import Evaluation
from ..evaluations.steps import refuse_steps
from ..evaluations.tables import known_names, name_cells, need_columns, read_numbers
from ..inference.model.bands import find_bands
from ..layouts import Layout, MetaFeature
from . import style
from .propensities import estimate_text, estimated

_ROOM = 0.06  # share of the range that is left free around the points
_BEYOND = 0.5  # share of the range by which the plane grows to include estimates outside it
_AREAS = 12.0, 330.0  # least and greatest area of the largest point, in square points
_WIDTHS = {1: 4.0, 2: 3.1}  # width of a panel in inches, by the number of columns


def characteristic_surface(
    evaluation: Evaluation,
    low: str | None = None,
    high: str | None = None,
    *,
    subjects: Iterable[object] | None = None,
    estimates: Estimates | None = None,
    titles: Mapping[str, str] | None = None,
    rotated: bool = False,
    ax: style.Panels | None = None,
) -> np.ndarray:
    """Draw each subject's success rate by the ends of the items' bands, one panel per subject.

    Items with the same band are one point: its colour is the success rate, from red (failure) over
    yellow to blue (success), and its area is the number of items tried. An estimate and its
    interval are drawn as borders of the bands that contain them: above and to the left of a border
    are the items on which the subject should succeed (if rotated: inside the cone).

    Parameters
    ----------
    evaluation : Evaluation
        Items and outcomes.
    low, high : str, optional
        Columns of the items with the ends (default: those of the band in the estimates' layout).
    subjects : iterable, optional
        Subjects, in this order (default: all).
    estimates : Estimates, optional
        Estimates of the subjects' propensities. One that is not identified is not drawn, and the
        title of its panel states this.
    titles : mapping of str to str, optional
        Titles of panels, by subject (default: the name of the subject).
    rotated : bool, default False
        Whether to draw centre and width of the bands instead of their ends.
    ax : Axes or sequence of Axes, optional
        Axes to draw on, one for each subject (default: a new figure).

    Returns
    -------
    ndarray of Axes
        One Axes per subject. Horizontal axis: lower end, or centre; vertical axis: upper end, or
        width. Items whose band has an infinite end are not drawn; the heading states their number.

    Raises
    ------
    DataError
        When a subject or a column is unknown, an end is not a
        number, there is no finite band, or the columns are neither given nor found in the layout.
    FitError
        When the estimates lack a subject, or the number of axes is wrong.

    References
    ----------
    Propensities paper, Eq. 18, figures 2 (bottom), 3, 5 and 7 to 54.

    Examples
    --------
    >>> items = pd.DataFrame({"lower": [-3, -1, 0], "upper": [0, 1, 3]}, index=list("abc"))
    >>> outcomes = pd.DataFrame([[0, 1, 1]], index=["Ann"], columns=list("abc"))
    >>> evaluation = Evaluation.from_wide(outcomes, items)
    >>> characteristic_surface(evaluation, "lower", "upper")[0].get_ylabel()
    'upper'
    """
    refuse_steps(evaluation.rows, "characteristic_surface")
    everybody = evaluation.subject_table.index
    chosen = known_names(everybody if subjects is None else subjects, everybody, "subject")
    layout = None if estimates is None else estimates.layout
    low, high, node = _columns(layout, low, high)
    bands = _bands(evaluation, low, high)
    rows = {} if estimates is None else {n: estimated(estimates, n, node) for n in chosen}
    surfaces = {name: _surface(evaluation, name, bands) for name in chosen}
    most = max(int(surface["items"].max()) for surface in surfaces.values())
    columns = min(len(chosen), 4)
    width = _WIDTHS.get(columns, 2.35)
    axes, figure, _ = style.grid(ax, len(chosen), columns, (width, width), (1.1, 1.3))
    first, last = float(bands["low"].min()), float(bands["high"].max())
    span = (last - first) or 1.0
    estimates_at = [row["estimate"] for row in rows.values() if row["identified"]]
    shown = np.clip([first, last, *estimates_at], first - _BEYOND * span, last + _BEYOND * span)
    reach = np.ptp(shown) or 1.0
    steps = np.diff(np.unique(bands.to_numpy()))
    spacing = 0.68 * 72 * width * (steps.min() if len(steps) else span) / reach
    area = float(np.clip(spacing**2, *_AREAS))
    room = (_ROOM + area**0.5 / 108 / width) * reach
    view = shown.min() - room, shown.max() + room
    far = 2 * (view[1] - view[0]) + span
    for panel, (name, surface) in zip(axes, surfaces.items(), strict=True):
        row = rows.get(name)
        if row is not None and row["identified"]:
            ends = row[["low", "high"]].to_numpy(dtype=float)
            shade: dict[str, Any] = {"color": style.INK, "alpha": 0.16, "linewidth": 0, "zorder": 1}
            for side in (far, -far) if np.isfinite(ends).all() else ():
                corner = np.array([*ends, *ends[::-1]])
                beyond = corner + np.array([0, 0, side, side])
                pair = (corner, beyond) if side > 0 else (beyond, corner)
                panel.fill(*_place(*pair, rotated=rotated), **shade)
            at = row["estimate"]
            border = np.array([at, at, at - far]), np.array([at + far, at, at])
            ink: dict[str, Any] = {"color": style.INK, "linewidth": 1.6, "zorder": 4}
            panel.plot(*_place(*border, rotated=rotated), label="estimate", **ink)
        points = panel.scatter(
            *_place(surface["low"], surface["high"], rotated=rotated),
            s=area * surface["items"] / most,
            c=surface["success"],
            cmap=style.RATE,
            vmin=0,
            vmax=1,
            edgecolors=style.INK,
            linewidths=0.4 if area > 40 else 0,
            zorder=3,
        )
        widest = float((bands["high"] - bands["low"]).max()) or span
        panel.set(xlim=view, ylim=(-room, widest + room) if rotated else view)
        empty = _place(np.array(view), np.array(view), rotated=rotated)
        panel.plot(*empty, color=style.FAINT, linewidth=0.9, zorder=0)
        panel.locator_params(nbins=9, steps=[1, 2, 5, 10])
        text = "" if row is None else f"\n{estimate_text(row)}"
        panel.set_title(style.words((titles or {}).get(name, name), 28) + text, fontsize=9)
        panel.tick_params(labelsize=8)
        if not rotated:
            panel.set_box_aspect(1)
    style.outer_labels(axes, columns, *_axis_names(layout, low, high, rotated))
    sheet = axes[0].get_figure()
    bar = sheet.colorbar(points, ax=list(axes), label="success rate", aspect=30, shrink=0.8)
    bar.outline.set_visible(False)
    entries = list(style.entries(axes).values())
    if estimates is not None:
        mass = f"{style.percent(estimates.prob)} interval"
        entries.append(style.entry(mass, style.INK, linewidth=7, alpha=0.16))
    ring: dict[str, Any] = {"color": "white", "edgecolors": style.INK, "linewidths": 0.6}
    for count in sorted({1, round(most**0.5), most}) if most > 1 else []:
        name = many(count, "item")
        entries.append(axes[0].scatter([], [], s=area * count / most, label=name, **ring))
    if entries:
        style.legend(axes, figure, max(1, int(1.6 * columns)), entries)
    hidden = len(evaluation.items) - len(bands)
    note = f" ({many(hidden, 'item')} without a finite band not shown)" if hidden else ""
    style.heading(figure, f"Success by the items' bands{note}")
    return axes


def _place(low: Any, high: Any, *, rotated: bool) -> tuple[Any, Any]:
    """Return horizontal and vertical positions of bands: their ends, or centre and width."""
    return ((low + high) / 2, high - low) if rotated else (low, high)


def _columns(
    layout: Layout | None, low: str | None, high: str | None
) -> tuple[str, str, str | None]:
    """Return the given columns, or those of the layout's band, and the band's latent."""
    latents = {
        (band.low.name, band.high.name): band.latent.name if band.latent is not None else None
        for band in (find_bands(layout) if layout is not None else ())
        if isinstance(band.low, MetaFeature) and isinstance(band.high, MetaFeature)
        if not band.end_dims
    }
    if low is not None and high is not None:
        return low, high, latents.get((low, high))
    if len(latents) != 1:
        pairs = some(f"{one} and {other}" for one, other in latents) or "none"
        have = "there are no estimates" if layout is None else f"the layout's bands have {pairs}"
        raise DataError(
            f"low= and high= are not both given, and {have}; give the columns of the items with "
            "the ends"
        )
    ((one, other), node) = next(iter(latents.items()))
    return one, other, node


def _bands(evaluation: Evaluation, low: str, high: str) -> pd.DataFrame:
    """Return the items with two finite ends, as columns ``low`` and ``high``."""
    need_columns(evaluation.items.columns, [low, high], "the items have")
    table = evaluation.items[[low, high]]
    values, wrong = read_numbers(table)
    if wrong.any():
        raise DataError(
            f"{wrong.sum()} end(s) are not numbers: {name_cells(table, wrong)}; give numbers"
        )
    ends = pd.DataFrame(values, table.index, ["low", "high"])
    finite = ends[np.isfinite(values).all(axis=1)]
    if finite.empty:
        raise DataError(f"no item has a finite {low} and {high}; give items with finite bands")
    return finite


def _surface(evaluation: Evaluation, subject: str, bands: pd.DataFrame) -> pd.DataFrame:
    """Join items of one band: ends, number of items tried and success, the most frequent first."""
    outcomes = evaluation.coded.counts(evaluation.subject_table.index.get_loc(subject))
    successes, trials = (pd.Series(values, evaluation.items.index) for values in outcomes)
    counts = bands.assign(successes=successes, trials=trials, items=1)
    tried = counts[counts["trials"] > 0]
    if tried.empty:
        raise DataError(f"{subject} tried no item with a finite band; leave it out")
    joined = tried.groupby(["low", "high"], as_index=False).sum()
    joined["success"] = joined["successes"] / joined["trials"]
    return joined.sort_values("items", ascending=False, kind="stable")


def _axis_names(layout: Layout | None, low: str, high: str, rotated: bool) -> tuple[str, str]:
    if not rotated:
        return style.column_label(low, layout), style.column_label(high, layout)
    features = layout.meta_features if layout is not None else ()
    unit = next((feature.unit for feature in features if low in feature.columns), None)
    return style.with_unit("centre of the band", unit), style.with_unit("width of the band", unit)
