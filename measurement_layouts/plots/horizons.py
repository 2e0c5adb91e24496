"""Time horizons against dates of release."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter, date2num

from ..common.errors import DataError
from ..common.messages import many, some
from ..estimation.horizons import HorizonTrend
from ..evaluations.tables import need_columns
from . import style
from .labels import write_names
from .lines import Look, lines

_ROOM = 0.06  # share of each axis that is left free around the points
_DAYS = 120.0  # least span of the dates
_OCTAVES = 4.0  # least span of the hours, in doublings
_TICKS = {
    **{f"{count} s": count / 3600 for count in (1, 2, 5, 10, 30)},
    **{f"{count} min": count / 60 for count in (1, 2, 5, 10, 30)},
    **{f"{count:,} h": float(count) for count in (1, 2, 4, 8, 16, 40, 80, 160, 400, 1000)},
}
_COARSE = ("1 s", "10 s", "1 min", "10 min", "1 h", "8 h", "40 h", "160 h", "1,000 h")


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
    names = ["hours", "low", "high", "released"]
    need_columns(horizons.columns, names, "the table of horizons has")
    table = horizons.assign(released=pd.to_datetime(horizons["released"]))
    table = table.dropna(subset=["released"])
    low, hours, high = (table[name].astype(float) for name in ("low", "hours", "high"))
    wrong = table.index[~((low > 0) & (low <= hours) & (hours <= high) & np.isfinite(high))]
    if table.empty or len(wrong):
        problem = f"correct or drop {some(wrong)}" if len(wrong) else "no subject has a date"
        raise DataError(
            "the table of horizons needs 0 < low <= hours <= high, all finite, and dates; "
            f"{problem}"
        )
    points = table.assign(series="subject", x=_days(table["released"]), y=hours)
    frames, looks = [points], {"subject": Look(marker="o")}
    if trend is not None:
        line = trend.line.assign(series="trend", x=_days(pd.to_datetime(trend.line["released"])))
        frames.append(line.assign(y=line["hours"]))
        months, slow, fast = trend.texts()
        label = f"doubling every {months} months ({slow} to {fast})"
        looks = {"trend": Look(style.QUIET, label, "-", band=True, width=1.2), **looks}
    shown = pd.concat(frames)
    bottom, top = np.exp2(
        _limits(np.log2(shown["low"].min()), np.log2(shown["high"].max()), _OCTAVES)
    )
    (panel,) = lines(
        shown,
        looks,
        ax=ax,
        size=(7.0, 4.4),
        title=f"Time horizons of {many(len(table), 'subject')}, {style.percent(prob)} intervals",
        x="released",
        y="time horizon (people's hours at even odds)",
        xlim=_limits(shown["x"].min(), shown["x"].max(), _DAYS),
    )
    panel.set_yscale("log")
    panel.set_ylim(bottom, top)
    ticks = {word: hours for word, hours in _TICKS.items() if bottom <= hours <= top}
    if len(ticks) > len(_COARSE):
        ticks = {word: ticks[word] for word in _COARSE if word in ticks}
    panel.set_yticks(list(ticks.values()), list(ticks))
    panel.minorticks_off()
    locator = AutoDateLocator(minticks=3, maxticks=8)  # type: ignore[no-untyped-call]
    panel.xaxis.set_major_locator(locator)
    panel.xaxis.set_major_formatter(ConciseDateFormatter(locator))  # type: ignore[no-untyped-call]
    write_names(panel, points["x"], points["y"], list(points.index))
    return panel  # type: ignore[no-any-return]


def _days(dates: pd.Series) -> np.ndarray:
    return np.asarray(date2num(dates), dtype=float)  # type: ignore[no-untyped-call]


def _limits(low: float, high: float, least: float) -> tuple[float, float]:
    span = max(high - low, least)
    middle, half = (low + high) / 2, (0.5 + _ROOM) * span
    return middle - half, middle + half
