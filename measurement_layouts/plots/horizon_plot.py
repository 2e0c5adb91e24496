"""Time horizons against dates of release."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter, date2num

from ..common.errors import DataError
from ..common.messages import many, some
from ..estimation.horizons import HorizonTrend
from ..evaluations.tables import need_columns
from . import style
from .labels import spread, write_names

_LABELS = 25  # number of names that are tried
_AREA, _FEWER = 26.0, 40  # area of a marker in square points; half of it with more models than this
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


def horizon_plot(
    horizons: pd.DataFrame,
    *,
    trend: HorizonTrend | None = None,
    prob: float = 0.9,
    ax: Axes | None = None,
) -> Axes:
    """Draw time horizons against dates of release, with their intervals.

    Parameters
    ----------
    horizons : DataFrame
        Indexed by subject, as `time_horizons` returns it: ``hours``, ``low``, ``high``, all
        positive, and ``released``. Subjects without a date are left out.
    trend : HorizonTrend, optional
        Result of `horizon_trend`, drawn as a line with its interval, which may
        continue beyond the subjects' dates.
    prob : float, default 0.9
        Mass of the intervals, which the title states.
    ax : Axes, optional
        Axes to draw on (default: a new figure).

    Returns
    -------
    Axes
        Horizontal axis: date; vertical axis: hours, logarithmic. Extreme subjects and others far
        from each other are named, as many as there is room for.

    Raises
    ------
    DataError
        When a column is missing, a number is not positive, an interval does not contain its
        estimate, or there are no dates.

    Examples
    --------
    >>> table = pd.DataFrame({"hours": [0.1, 2.0], "low": [0.05, 1.5], "high": [0.3, 3.0],
    ...                       "released": ["2024-01-01", "2025-06-01"]}, index=["old", "new"])
    >>> horizon_plot(table).get_title()
    'Time horizons of 2 subjects, 90% intervals'
    """
    need_columns(
        horizons.columns, ["hours", "low", "high", "released"], "the table of horizons has"
    )
    table = horizons.assign(released=pd.to_datetime(horizons["released"]))
    table = table.dropna(subset=["released"])
    low, hours, high = (table[name].to_numpy(dtype=float) for name in ("low", "hours", "high"))
    wrong = table.index[~((low > 0) & (low <= hours) & (hours <= high) & np.isfinite(high))]
    if table.empty or len(wrong):
        problem = f"correct or drop {some(wrong)}" if len(wrong) else "no subject has a date"
        raise DataError(
            "the table of horizons needs 0 < low <= hours <= high, all finite, and dates; "
            f"{problem}"
        )
    ax = style.single(ax, (7.6, 5.2))
    at = _days(table["released"])
    area = _AREA if len(table) <= _FEWER else _AREA / 2
    days, ends = at, np.concatenate([low, high])
    if trend is not None:
        _trend(ax, trend)
        days = np.concatenate([at, _days(trend.line["released"])])
        ends = np.concatenate([ends, trend.line["low"], trend.line["high"]])
        ax.legend(loc="upper left", fontsize=8, frameon=False)
    ax.vlines(at, low, high, color=_COLOUR, linewidth=1.1, alpha=0.45, zorder=2)
    look: dict[str, Any] = {"edgecolors": "white", "linewidths": 0.5}
    ax.scatter(at, hours, area, color=_COLOUR, marker=_MARKER, zorder=3, **look)
    _axes(ax, days, ends)
    style.title(
        ax, f"Time horizons of {many(len(table), 'subject')}, {style.percent(prob)} intervals"
    )
    points = np.column_stack([at, np.log(hours)])
    order = spread(points / np.maximum(np.ptp(points, axis=0), 1e-12), _LABELS)
    names = [style.words(name, 40) for name in table.index]
    points, areas = np.column_stack([at, hours]), np.full(len(at), area)
    write_names(ax, points, areas, names, order, all_of_them=False)
    return ax


def _days(dates: pd.Series) -> np.ndarray:
    days: np.ndarray = date2num(dates.to_numpy())  # type: ignore[no-untyped-call]
    return days.astype(float)


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
