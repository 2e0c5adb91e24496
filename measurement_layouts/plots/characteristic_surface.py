"""Success of subjects by the bands of the items, with each subject's estimate."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from ..common.errors import DataError
from ..common.messages import many, some
from ..estimation.estimate import Estimates
from ..evaluations.evaluation import Evaluation
from ..evaluations.steps import refuse_steps
from ..evaluations.tables import known_names, name_cells, need_columns, read_numbers
from ..inference.model.bands import find_bands
from ..layouts import Layout, MetaFeature
from . import style
from .estimated import estimate_text, estimated

_ROOM = 0.05  # share of the range that is left free around the largest points
_BEYOND = 0.5  # share of the range by which the plane grows to include estimates outside it
_AREAS = (12.0, 330.0)  # least and greatest area of the largest point, in square points
_CROWD = 40.0  # area below which a border would hide a point's colour


@dataclass(frozen=True)
class BandPlane:
    """Position of bands, and the part of the plane that is shown.

    Attributes
    ----------
    first, last : float
        Range of the propensity that is shown.
    narrowest, widest : float
        Range of the widths that is shown.
    area : float
        Area of the largest point, in square points, so that neighbours do not overlap.
    rotated : bool
        Whether the axes are centre and width instead of lower and upper end.
    """

    first: float
    last: float
    narrowest: float
    widest: float
    area: float
    rotated: bool

    @classmethod
    def around(
        cls, bands: pd.DataFrame, estimates: Sequence[float], rotated: bool, wide: float
    ) -> "BandPlane":
        """Make a plane with all bands and the estimates near them, given its width in points."""
        ends = bands.to_numpy()
        first, last = float(ends.min()), float(ends.max())
        span = (last - first) or 1.0
        widest = float((bands["high"] - bands["low"]).max()) or span
        seen = [min(max(at, first - _BEYOND * span), last + _BEYOND * span) for at in estimates]
        steps = np.diff(np.unique(ends))
        shown = max([last, *seen]) - min([first, *seen]) or 1.0
        apart = 0.9 * wide * float(steps.min() if len(steps) else span) / shown
        area = float(np.clip(apart**2, *_AREAS))
        room = (_ROOM + area**0.5 / 2 / wide) * shown
        first, last = min([first, *seen]) - room, max([last, *seen]) + room
        return cls(first, last, -room, widest + room, area, rotated)

    def places(self, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return horizontal and vertical positions of bands."""
        return ((low + high) / 2, high - low) if self.rotated else (low, high)

    @property
    def edge(self) -> float:
        """Width of the line around points."""
        return 0.4 if self.area > _CROWD else 0.0

    def frame(self, ax: Axes) -> None:
        """Set the limits, and mark where bands have no width."""
        ax.set_xlim(self.first, self.last)
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_major_locator(MaxNLocator(9, steps=[1, 2, 5, 10]))
        if self.rotated:
            ax.set_ylim(self.narrowest, self.widest)
            ax.axhline(0, color=style.FAINT, linewidth=0.9, zorder=0)
        else:
            ax.set_ylim(self.first, self.last)
            ax.set_box_aspect(1)
            ax.plot(
                [self.first, self.last],
                [self.first, self.last],
                color=style.FAINT,
                linewidth=0.9,
                zorder=0,
            )

    def border(self, ax: Axes, at: float) -> None:
        """Draw the border of the bands that contain a value: they begin below and end above it."""
        far = self.last - self.first + 2 * self.widest
        low = np.array([at, at, at - far])
        high = np.array([at + far, at, at])
        ax.plot(
            *self.places(low, high),
            color=style.INK,
            linewidth=1.6,
            solid_joinstyle="miter",
            zorder=4,
            label="estimate",
        )

    def shade(self, ax: Axes, first: float, last: float, name: str) -> None:
        """Shade the borders of all values between two."""
        far = self.last - self.first + 2 * self.widest
        for low, high in (
            ((first, last, last, first), (first, last, last + far, first + far)),
            ((first, last, last - far, first - far), (first, last, last, first)),
        ):
            corners = self.places(np.array(low, dtype=float), np.array(high, dtype=float))
            ax.fill(*corners, color=style.INK, alpha=0.16, linewidth=0, zorder=1, label=name)


_COLUMNS = 4
_WIDTHS, _WIDTH = {1: 4.0, 2: 3.1}, 2.35  # width of a panel in inches, by the number of columns
_INSIDE = 0.75 * 72  # points within the axes, per inch of a panel
_LETTERS = 28  # largest number of letters of a panel's title


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
    who = known_names(everybody if subjects is None else subjects, everybody, "subject")
    layout = None if estimates is None else estimates.layout
    low, high, node = _columns(layout, low, high)
    bands = _bands(evaluation, low, high)
    rows = {name: estimated(estimates, name, node) for name in who} if estimates is not None else {}
    known = {name: row for name, row in rows.items() if row["identified"]}
    surfaces = {name: _surface(evaluation, name, bands) for name in who}
    most = max(int(surface["items"].max()) for surface in surfaces.values())
    columns = min(len(who), _COLUMNS)
    width = _WIDTHS.get(columns, _WIDTH)
    plane = BandPlane.around(
        bands, [row["estimate"] for row in known.values()], rotated, _INSIDE * width
    )
    axes, figure, _ = style.grid(ax, len(who), columns, (width, width), (1.1, 1.3))
    for panel, (name, surface) in zip(axes, surfaces.items(), strict=True):
        if name in known and estimates is not None:
            _estimate(panel, plane, known[name], estimates.prob)
        drawn = _points(panel, plane, surface, most)
        plane.frame(panel)
        title = style.words((titles or {}).get(name, name), _LETTERS)
        told = f"\n{estimate_text(rows[name])}" if name in rows else ""
        panel.set_title(title + told, fontsize=9)
        panel.tick_params(labelsize=8)
    style.outer_labels(axes, columns, *_axis_names(layout, low, high, rotated))
    _explain(axes, figure, drawn, plane, most)
    hidden = len(evaluation.items) - len(bands)
    note = f" ({many(hidden, 'item')} without a finite band not shown)" if hidden else ""
    style.heading(figure, f"Success by the items' bands{note}")
    return axes


def _columns(
    layout: Layout | None, low: str | None, high: str | None
) -> tuple[str, str, str | None]:
    """Return the given columns, or those of the layout's band, and the band's latent."""
    known = {
        (band.low.name, band.high.name): band.latent.name if band.latent is not None else None
        for band in (find_bands(layout) if layout is not None else ())
        if isinstance(band.low, MetaFeature) and isinstance(band.high, MetaFeature)
        if not band.end_dims
    }
    if low is not None and high is not None:
        return low, high, known.get((low, high))
    if len(known) != 1:
        pairs = some(f"{one} and {other}" for one, other in known) or "none"
        have = "there are no estimates" if layout is None else f"the layout's bands have {pairs}"
        raise DataError(
            f"low= and high= are not both given, and {have}; give the columns of the items with "
            "the ends"
        )
    ((one, other), node) = next(iter(known.items()))
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


def _points(ax: Axes, plane: BandPlane, surface: pd.DataFrame, most: int) -> PathCollection:
    horizontal, vertical = plane.places(surface["low"].to_numpy(), surface["high"].to_numpy())
    return ax.scatter(
        horizontal,
        vertical,
        s=plane.area * surface["items"] / most,
        c=surface["success"],
        cmap=style.RATE,
        vmin=0,
        vmax=1,
        edgecolors=style.INK,
        linewidths=plane.edge,
        zorder=3,
    )


def _estimate(ax: Axes, plane: BandPlane, row: pd.Series, prob: float) -> None:
    if np.isfinite([row["low"], row["high"]]).all():
        plane.shade(ax, row["low"], row["high"], f"{style.percent(prob)} interval")
    plane.border(ax, row["estimate"])


def _axis_names(layout: Layout | None, low: str, high: str, rotated: bool) -> tuple[str, str]:
    if not rotated:
        return style.column_label(low, layout), style.column_label(high, layout)
    features = layout.meta_features if layout is not None else ()
    unit = next((feature.unit for feature in features if low in feature.columns), None)
    return style.with_unit("centre of the band", unit), style.with_unit("width of the band", unit)


def _explain(
    axes: np.ndarray, figure: Figure | None, drawn: PathCollection, plane: BandPlane, most: int
) -> None:
    """Add one colour bar for all panels, and explain sizes and lines."""
    sheet = axes[0].get_figure()
    bar = sheet.colorbar(drawn, ax=list(axes), label="success rate", aspect=30, shrink=0.8)
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelsize=8)
    found = style.entries(axes)
    look: dict[str, Any] = {"color": "white", "edgecolors": style.INK, "linewidths": 0.6}
    for count in sorted({1, round(most**0.5), most}) if most > 1 else []:
        name, area = many(count, "item"), plane.area * count / most
        found[name] = axes[0].scatter([], [], s=area, label=name, **look)
    handles = list(found.values())
    if figure is not None and handles:
        style.legend(axes, figure, len(handles), handles)
    elif handles:
        axes[0].legend(handles=handles, fontsize=8, frameon=False)
