"""Time horizons against dates of release."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter, date2num

from ..common.errors import DataError
from ..common.messages import many, some
from ..estimation.horizons import HorizonTrend, time_horizons
from ..evaluations.tables import known_names, need_columns, refuse_repeats, texts
from ..inference.fit import Fit
from . import style
from .labels import spread, write_names

_LABELS = 25  # number of names that are tried by default
_AREA, _FEWER = 26.0, 40  # area of a marker in square points; half of it with more models than this
_ASIDE = 0.008  # distance of an estimate from the published one, as a share of the dates' span
_ROOM = 0.06  # share of each axis that is left free around the points
_DAYS = 120.0  # least span of the dates
_OCTAVES = 4.0  # least span of the hours, in doublings
_SECOND, _MINUTE = 1 / 3600, 1 / 60
_FINE = {
    **{f"{count} s": count * _SECOND for count in (1, 2, 5, 10, 30)},
    **{f"{count} min": count * _MINUTE for count in (1, 2, 5, 10, 30)},
    **{f"{count:,} h": float(count) for count in (1, 2, 4, 8, 16, 40, 80, 160, 400, 1000, 2000)},
}
_COARSE = ("1 s", "10 s", "1 min", "10 min", "1 h", "8 h", "40 h", "160 h", "1,000 h")
_MOST = 9  # ticks
_COLOUR, _MARKER = style.METHODS[0]
_OTHER, _OTHER_MARKER = style.METHODS[1]


def horizon_plot(
    horizons: Fit | pd.DataFrame,
    released: pd.Series | None = None,
    *,
    published: pd.DataFrame | None = None,
    trend: HorizonTrend | None = None,
    names: Sequence[object] | None = None,
    prob: float = 0.9,
    ax: Axes | None = None,
) -> Axes:
    """Draw time horizons against dates of release, with their intervals.

    Parameters
    ----------
    horizons : Fit or DataFrame
        A fit whose only capability is in doublings of an hour; or a table indexed by subject, such
        as `time_horizons` returns: ``hours``, ``low``, ``high``, all positive, and ``released``.
    released : Series, optional
        Dates of release, indexed by subject (default: those in the table). Subjects without a date
        are left out.
    published : DataFrame, optional
        Published ``hours``, ``low`` and ``high`` of some of the subjects, which are drawn beside
        the estimates.
    trend : HorizonTrend, optional
        Result of `horizon_trend`, drawn as a line with its interval, which may
        continue beyond the subjects' dates.
    names : sequence, optional
        Subjects whose names are all written (default: extreme subjects and others far from each
        other, as many as there is room for).
    prob : float, default 0.9
        Mass of the intervals that are computed from a fit. For a table, the mass of its intervals,
        which the title states.
    ax : Axes, optional
        Axes to draw on (default: a new figure).

    Returns
    -------
    Axes
        Horizontal axis: date; vertical axis: hours, logarithmic.

    Raises
    ------
    DataError
        When a column is missing, a number is not positive, an
        interval does not contain its estimate, or dates are missing.
    FitError
        When a fit has several capabilities, or an option is out of range.

    Examples
    --------
    >>> table = pd.DataFrame({"hours": [0.1, 2.0], "low": [0.05, 1.5], "high": [0.3, 3.0],
    ...                       "released": ["2024-01-01", "2025-06-01"]}, index=["old", "new"])
    >>> horizon_plot(table).get_title()
    'Time horizons of 2 subjects, 90% intervals'
    """
    table = _table(horizons, released, prob)
    others = table.iloc[:0] if published is None else _others(published, table)
    chosen = None if names is None else known_names(names, table.index, "subject")
    ax = style.single(ax, (7.6, 5.2))
    at = _days(table["released"])
    aside = _days(table["released"][others.index]) + _ASIDE * max(np.ptp(at), _DAYS)
    area = _AREA if len(table) <= _FEWER else _AREA / 2
    if trend is not None:
        _trend(ax, trend)
    _points(ax, at, table, area, _COLOUR, _MARKER, None if published is None else "here")
    if published is not None:
        _points(ax, aside, others, area, _OTHER, _OTHER_MARKER, "published")
    lines = [] if trend is None else [trend.line]
    days = np.concatenate([at, *(_days(line["released"]) for line in lines)])
    _axes(ax, days, pd.concat([table, others, *lines])[["low", "high"]].to_numpy(dtype=float))
    who = many(len(table), "subject")
    style.title(ax, f"Time horizons of {who}, {style.percent(prob)} intervals")
    if ax.get_legend_handles_labels()[1]:
        ax.legend(loc="upper left", fontsize=8, frameon=False)
    points = np.vstack(
        [np.column_stack(part) for part in ((at, table["hours"]), (aside, others["hours"]))]
    )
    shown = [style.words(name, 40) for name in table.index]
    order = _order(
        points, len(table) if chosen is None else table.index.get_indexer(pd.Index(chosen))
    )
    areas = np.full(len(points), area)
    write_names(ax, points, areas, shown, order, all_of_them=chosen is not None)
    return ax


def _order(points: np.ndarray, which: int | np.ndarray) -> list[int]:
    """Order names, those far from the others first, and whether all of them have to be written."""
    wanted = np.arange(which) if isinstance(which, int) else which
    if not len(wanted):
        return []
    apart = np.column_stack([points[wanted, 0], np.log(points[wanted, 1])])
    first = wanted[spread(apart / np.maximum(np.ptp(apart, axis=0), 1e-12), _LABELS)].tolist()
    return first if isinstance(which, int) else list(dict.fromkeys([*first, *wanted.tolist()]))


def _table(horizons: Fit | pd.DataFrame, released: pd.Series | None, prob: float) -> pd.DataFrame:
    if not isinstance(horizons, pd.DataFrame):
        horizons = time_horizons(horizons, prob=prob)
    table = _positive(horizons, "the table of horizons")
    if released is not None:
        dates = released.set_axis(texts(released.index, "released"))
        refuse_repeats(dates.index, "subject", "released")
        known = [name for name in table.index if name in dates.dropna().index]
        if not known:
            raise DataError(
                f"dates are of {some(dates.index)}, and horizons of {some(table.index)}; index "
                "released by subject"
            )
        table = table.loc[known].assign(released=dates[known])
    if "released" not in table:
        raise DataError("there are no dates; give released=, or a table with that column")
    dated = table.assign(released=pd.to_datetime(table["released"])).dropna(subset=["released"])
    if dated.empty:
        raise DataError("no horizon has a date; give dates in the column released, or by released=")
    return dated


def _positive(table: pd.DataFrame, what: str) -> pd.DataFrame:
    need_columns(table.columns, ["hours", "low", "high"], f"{what} has")
    named = table.set_axis(texts(table.index, what))
    refuse_repeats(named.index, "subject", what)
    low, middle, high = (named[name].astype(float) for name in ("low", "hours", "high"))
    wrong = named.index[~((low > 0) & (low <= middle) & (middle <= high) & np.isfinite(high))]
    if len(wrong):
        raise DataError(
            f"{what} needs 0 < low <= hours <= high, all finite; correct or drop {some(wrong)}"
        )
    return named


def _others(published: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
    others = _positive(published, "the table of published horizons")
    known = others[others.index.isin(table.index)]
    if known.empty:
        raise DataError(
            f"published horizons are of {some(others.index)}, and the others of "
            f"{some(table.index)}; give both the same names"
        )
    return known


def _days(dates: pd.Series) -> np.ndarray:
    days: np.ndarray = date2num(dates.to_numpy())  # type: ignore[no-untyped-call]
    return days.astype(float)


def _points(
    ax: Axes,
    at: np.ndarray,
    table: pd.DataFrame,
    area: float,
    colour: str,
    marker: str,
    label: str | None,
) -> None:
    ax.vlines(at, table["low"], table["high"], color=colour, linewidth=1.1, alpha=0.45, zorder=2)
    look: dict[str, Any] = {
        "s": area,
        "color": colour,
        "marker": marker,
        "edgecolors": "white",
        "linewidths": 0.5,
    }
    ax.scatter(at, table["hours"], zorder=3, label=label, **look)


def _trend(ax: Axes, trend: HorizonTrend) -> None:
    days = _days(trend.line["released"])
    months, slow, fast = trend.texts()
    label = f"doubling every {months} months ({slow} to {fast})"
    ends = trend.line["low"], trend.line["high"]
    ax.fill_between(days, *ends, color=style.PRIOR, alpha=0.2, linewidth=0, zorder=0)
    ax.plot(days, trend.line["hours"], color=style.QUIET, linewidth=1.2, zorder=1, label=label)


def _axes(ax: Axes, at: np.ndarray, hours: np.ndarray) -> None:
    """Set limits that include everything; write dates as dates and hours in words."""
    ax.set_xlim(*_limits(at.min(), at.max(), _DAYS))
    bottom, top = np.exp2(_limits(np.log2(hours.min()), np.log2(hours.max()), _OCTAVES))
    ax.set_yscale("log")
    ax.set_ylim(bottom, top)
    fine = {word: hours for word, hours in _FINE.items() if bottom <= hours <= top}
    ticks = fine if len(fine) <= _MOST else {word: fine[word] for word in _COARSE if word in fine}
    ax.set_yticks(list(ticks.values()), list(ticks))
    ax.minorticks_off()
    locator = AutoDateLocator(minticks=3, maxticks=8)  # type: ignore[no-untyped-call]
    ax.xaxis.set_major_locator(locator)
    formatter = ConciseDateFormatter(locator)  # type: ignore[no-untyped-call]
    ax.xaxis.set_major_formatter(formatter)
    style.rules(ax)
    ax.set(xlabel="released", ylabel="time horizon (people's hours at even odds)")
    style.quiet_frame(ax, "left", "bottom")


def _limits(low: float, high: float, least: float) -> tuple[float, float]:
    span = max(high - low, least)
    middle, half = (low + high) / 2, (0.5 + _ROOM) * span
    return middle - half, middle + half
