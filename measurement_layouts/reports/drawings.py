"""Coordinates of drawings of curves and of reliability."""

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..common.digits import in_brackets, short
from ..layouts import Success
from .curves import Curve
from .geometry import Scale, line, place
from .outcomes import Outcome

WIDTH, HEIGHT = 232, 150
_LEFT, _RIGHT, _TOP, _BOTTOM = 30, 224, 8, 126
SIDE = 320


@dataclass(frozen=True, eq=False)
class Mark:
    """An observed mean with its interval, empty if unknown, and the expected mean."""

    x: str
    rate: str
    low: str
    high: str
    expected: str


@dataclass(frozen=True, eq=False)
class CurveDrawing:
    """Coordinates of a curve in an SVG."""

    name: str
    unit: str
    band: str
    middle: str
    marks: list[Mark]
    ends: tuple[str, str]
    told: str


def curve_drawing(curve: Curve, of_several: bool) -> CurveDrawing:
    """Compute the coordinates of a curve."""
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
    told = f"{curve.outcome.name}, {_told(curve, ends)}" if of_several else _told(curve, ends)
    return CurveDrawing(column.name, column.unit, band, middle, marks, ends, told)


def _marks(
    table: pd.DataFrame, x: str, rate: str, expected: str, across: Scale, up: Scale
) -> list[Mark]:
    """Compute the coordinates of observed means, given the names of the columns."""
    rows = table[[x, rate, "low", "high", expected]].to_numpy(dtype=float)
    return [
        Mark(across(at), *(up(other) if np.isfinite(other) else "" for other in others))
        for at, *others in rows
    ]


def _told(curve: Curve, ends: tuple[str, str]) -> str:
    """Describe a curve in words."""
    pairs = curve.observed[["value", "rate"]].to_numpy()
    rates = ", ".join(f"{rate:.2f} at {short(value)}" for value, rate in pairs)
    seen, ahead = ("success rates", "success")
    if not isinstance(curve.outcome.node, Success):
        seen, ahead = ("means", "mean")
    observed = f"observed {seen} {rates}" if rates else "no outcomes"
    if curve.forecast is None:
        return f"{curve.column.name}: {observed}"
    first, last = (float(curve.forecast["mean"].iloc[end]) for end in (0, -1))
    return (
        f"{curve.column.name} from {ends[0]} to {ends[1]}: forecast {ahead} goes from {first:.2f} "
        f"to {last:.2f}; {observed}"
    )


@dataclass(frozen=True, eq=False)
class Reliability:
    """Coordinates, in an SVG, of success rates or other means in bins of the forecast."""

    outcome: Outcome
    marks: list[Mark]
    bars: list[tuple[str, str, str]]
    counts: list[dict[str, str]]
    trials: int
    told: str


def reliability_drawing(outcome: Outcome, rates: pd.DataFrame) -> Reliability:
    """Compute the coordinates of a calibration curve of ten bins, at least one with an attempt."""
    across, up = Scale(0, 1, 40, SIDE - 12), Scale(0, 1, SIDE - 70, 12)
    most = rates["trials"].max()
    marks = _marks(rates, "forecast", "success", "forecast", across, up)
    bars = [
        (across(at / 10 + 0.01), place(SIDE - 6 - 26 * count / most), place(26 * count / most))
        for at, count in zip(rates.index.to_numpy(), rates["trials"], strict=True)
    ]
    columns = ["forecast", "success", "low", "high", "trials"]
    counts = [_in_words(*row) for row in rates[columns].to_numpy(dtype=float).tolist()]
    off = float(np.average(abs(rates["forecast"] - rates["success"]), weights=rates["trials"]))
    mean = "success rate" if isinstance(outcome.node, Success) else "mean outcome"
    told = f"{mean} against mean forecast in {len(rates)} bins, {off:.2f} apart on average"
    return Reliability(outcome, marks, bars, counts, int(rates["trials"].sum()), told)


def _in_words(
    forecast: float, success: float, low: float, high: float, trials: float
) -> dict[str, str]:
    """Write a bin's numbers."""
    return {
        "forecast": f"{forecast:.2f}",
        "success": f"{success:.2f}",
        "interval": "–" if math.isnan(low) else in_brackets(low, high),
        "trials": f"{trials:.0f}",
    }
