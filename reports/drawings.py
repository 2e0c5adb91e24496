"""Places of a curve and of reliability in their drawings."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from .curves import Curve
from .geometry import Scale, line, place
from .numbers import short

WIDTH, HEIGHT = 232, 150
_LEFT, _RIGHT, _TOP, _BOTTOM = 30, 224, 8, 126
SIDE = 320


@dataclass(frozen=True, eq=False)
class Mark:
    """An observed rate with its interval, and what was expected."""

    x: str
    rate: str
    low: str
    high: str
    expected: str


@dataclass(frozen=True, eq=False)
class CurveDrawing:
    """A curve, ready to be written as SVG."""

    name: str
    unit: str
    about: str
    band: str
    middle: str
    marks: list[Mark]
    ends: tuple[str, str]
    told: str


def curve_drawing(curve: Curve) -> CurveDrawing:
    """Lay a curve out."""
    column, seen = curve.column, curve.observed
    low, high = column.span
    values = seen["value"].to_numpy()
    across = Scale(min(low, *values, low), max(high, *values, high), _LEFT + 6, _RIGHT - 6)
    up = Scale(0, 1, _BOTTOM, _TOP)
    marks = _marks(seen, "value", "rate", "expected", across, up)
    band = middle = ""
    if curve.forecast is not None:
        rows = curve.forecast[["value", "mean", "low", "high"]].to_numpy()
        middle = line((across(value), up(mean)) for value, mean, _, _ in rows)
        lower = [(across(value), up(low)) for value, _, low, _ in rows]
        upper = [(across(value), up(high)) for value, _, _, high in rows[::-1]]
        band = f"{line([*lower, *upper])}Z"
    ends = short(across.low), short(across.high)
    about = column.feature.about
    return CurveDrawing(
        column.name, column.unit, about, band, middle, marks, ends, _told(curve, ends)
    )


def _marks(
    table: pd.DataFrame, x: str, rate: str, expected: str, across: Scale, up: Scale
) -> list[Mark]:
    """Lay observed rates out, given the columns."""
    rows = table[[x, rate, "low", "high", expected]].to_numpy(dtype=float)
    return [Mark(across(at), *(up(other) for other in others)) for at, *others in rows]


def _told(curve: Curve, ends: tuple[str, str]) -> str:
    """Say what the curve shows."""
    pairs = curve.observed[["value", "rate"]].to_numpy()
    rates = ", ".join(f"{rate:.2f} at {short(value)}" for value, rate in pairs)
    observed = f"observed success rates {rates}" if rates else "no outcomes"
    if curve.forecast is None:
        return f"{curve.column.name}: {observed}"
    first, last = (float(curve.forecast["mean"].iloc[end]) for end in (0, -1))
    return (
        f"{curve.column.name} from {ends[0]} to {ends[1]}: forecast success goes from {first:.2f} "
        f"to {last:.2f}; {observed}"
    )


@dataclass(frozen=True, eq=False)
class Reliability:
    """Success rates in bins of the forecast, ready to be written as SVG."""

    marks: list[Mark]
    bars: list[tuple[str, str, str]]
    counts: list[dict[str, str]]
    trials: int
    told: str


def reliability_drawing(rates: pd.DataFrame) -> Reliability:
    """Lay out a calibration curve of ten bins."""
    across, up = Scale(0, 1, 40, SIDE - 12), Scale(0, 1, SIDE - 70, 12)
    most = rates["trials"].max()
    marks = _marks(rates, "forecast", "success", "forecast", across, up)
    bars = [
        (across(at / 10 + 0.01), place(SIDE - 6 - 26 * count / most), place(26 * count / most))
        for at, count in zip(rates.index.to_numpy(), rates["trials"], strict=True)
    ]
    counts = [
        {
            "forecast": f"{row.forecast:.2f}",
            "success": f"{row.success:.2f}",
            "interval": f"[{row.low:.2f}, {row.high:.2f}]",
            "trials": f"{row.trials}",
        }
        for row in rates.itertuples()
    ]
    off = float(np.average(abs(rates["forecast"] - rates["success"]), weights=rates["trials"]))
    told = f"success rate against mean forecast in {len(rates)} bins, {off:.3f} apart on average"
    return Reliability(marks, bars, counts, int(rates["trials"].sum()), told)
