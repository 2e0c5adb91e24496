"""All maxima of curves, also the smallest; polished."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize.elementwise import find_minimum
from scipy.signal import find_peaks

from .line import Line

_LEAST = 0.01  # nats by which the curve falls between two maxima; less may be rounding
_NEAR = 20.0  # nats below the highest within which maxima are polished
_LEVEL = 1e-9  # nats of difference between places on one plateau
_WIDE = 1e-3  # of the scale; where places are dense, no plateau is needed to be level
_NUDGE = 1e-3  # of the first gap, from an end of the line inwards
_POLISHED: Any = {"xatol": 0.0, "xrtol": 4e-16, "fatol": 1e-11, "frtol": 0.0}

type Curve = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""From places and numbers of subjects, of the same length, to heights."""


@dataclass(frozen=True)
class Peaks:
    """Maxima of one curve, the highest first.

    Attributes
    ----------
    at, logs : ndarray, shape (maxima,)
        Where, and how high. A plateau is at its middle, or at infinity if it has no end.
    level : ndarray, shape (maxima, 2)
        Ends of the plateau; NaN where there is none.
    """

    at: np.ndarray
    logs: np.ndarray
    level: np.ndarray


def peaks(curve: Curve, line: Line, heights: np.ndarray) -> list[Peaks]:
    """Find the maxima of several curves.

    Two maxima count as two when the curve falls by 0.01 nats between them. Those more than 20 nats
    below the highest are where the line has them, and not polished.

    Parameters
    ----------
    curve : Curve
        Gives heights anywhere.
    line : Line
        Where curves are known.
    heights : ndarray, shape (curves, places)
        On the line.

    Returns
    -------
    list of Peaks
        By curve.

    Examples
    --------
    >>> def curve(places, _):
    ...     return -20 * (places**2 - 1) ** 2 + places
    >>> places = np.linspace(-2, 2, 50)
    >>> (found,) = peaks(curve, Line(places, -2.0, 2.0, 1.0), curve(places, 0)[None])
    >>> found.at.round(4), found.logs.round(4)
    (array([ 1.0062, -0.9937]), array([ 1.0031, -0.9969]))
    """
    places, final = line.places, len(line.places) - 1
    tops = [_tops(row) for row in heights]
    who = np.repeat(np.arange(len(tops)), [len(top) for top in tops])
    top = np.concatenate(tops)
    at, logs = places[top], heights[who, top]
    sides = [heights[who, np.clip(top + step, 0, final)] for step in (-1, 1)]
    hidden = logs - np.minimum(*sides)  # a curve rises no more between places than beside them
    near = np.flatnonzero(logs + hidden > heights.max(axis=1)[who] - _NEAR)
    ends = np.full((len(top), 2), np.nan)
    for number in near:
        first, last = (_end(heights[who[number]], top[number], step) for step in (-1, 1))
        if last - first >= 2 and places[last] - places[first] > _WIDE * line.scale:
            ends[number] = (
                line.low if first == 0 else places[first],
                line.high if last == final else places[last],
            )
    flat = ~np.isnan(ends[:, 0])
    _polish(curve, line, who, top, near[~flat[near]], at, logs)
    at = np.where(flat, _middle(ends), at)
    at = np.where((top == final) & np.isinf(line.high), line.high, at)
    at = np.where((top == 0) & np.isinf(line.low), line.low, at)
    order = np.lexsort([-logs, who])
    splits = np.cumsum([len(part) for part in tops])[:-1]
    parts = (np.split(values[order], splits) for values in (at, logs, ends))
    return [Peaks(*found) for found in zip(*parts, strict=True)]


def _tops(row: np.ndarray) -> np.ndarray:
    lowest = row.min() - 1.0
    found, _ = find_peaks(np.concatenate([[lowest], row, [lowest]]), prominence=_LEAST)
    return np.asarray(found - 1)


def _end(row: np.ndarray, top: int, step: int) -> int:
    """Walk from a maximum as far as the curve is level."""
    side = row[top + step :: step] if 0 <= top + step < len(row) else row[:0]
    below = side < row[top] - _LEVEL
    return int(top + step * (np.argmax(below) if below.any() else len(side)))


def _middle(ends: np.ndarray) -> np.ndarray:
    low, high = ends.T
    with np.errstate(invalid="ignore"):
        return np.where(np.isinf(low) & np.isinf(high), 0.0, (low + high) / 2)


def _polish(
    curve: Curve,
    line: Line,
    who: np.ndarray,
    top: np.ndarray,
    todo: np.ndarray,
    at: np.ndarray,
    logs: np.ndarray,
) -> None:
    """Move maxima to where they are between the places of the line."""
    places, final = line.places, len(line.places) - 1
    left, middle, right = (places[np.clip(top + step, 0, final)] for step in (-1, 0, 1))
    # at an end of the line there is no neighbour beyond, and the end itself may be highest
    middle = np.where(top == 0, left + _NUDGE * (right - left), middle)
    middle = np.where(top == final, right - _NUDGE * (right - left), middle)
    todo = todo[((left < middle) & (middle < right))[todo]]
    if not len(todo):
        return

    def depth(values: np.ndarray, *rows: Any) -> np.ndarray:
        return -curve(values, rows[0].astype(int))

    with np.errstate(divide="ignore", invalid="ignore"):  # its parabolas through level points
        found = find_minimum(
            depth,
            (left[todo], middle[todo], right[todo]),
            args=(who[todo],),
            tolerances=_POLISHED,
        )
    better = -found.f_x > logs[todo]  # not where the bracket held no maximum: NaN
    at[todo[better]], logs[todo[better]] = found.x[better], -found.f_x[better]
