"""All maxima of log-likelihood curves, their standard errors and profile-likelihood sets."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize.elementwise import find_minimum, find_root
from scipy.signal import find_peaks
from scipy.stats import chi2, norm

from .curves import Line
from .estimates import Interval

_LEAST = 0.01  # least fall of the curve, in nats, between two maxima; less may be rounding
_NEAR = 20.0  # maxima within this many nats of the highest are refined
_LEVEL = 1e-9  # greatest difference, in nats, of a curve that is level up to an end of the grid
_NUDGE = 1e-3  # step inwards from an end of the grid, relative to the first gap
_POLISHED: Any = {"xatol": 0.0, "xrtol": 4e-16, "fatol": 1e-11, "frtol": 0.0}

type Curve = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""Function from values of the latent and numbers of subjects, of one length, to log-likelihoods."""


@dataclass(frozen=True)
class Peaks:
    """Maxima of one curve, the highest first.

    Attributes
    ----------
    at, logs : ndarray, shape (maxima,)
        Positions and heights of the maxima. The position is infinite if the curve has its maximum
        there only in the limit.
    """

    at: np.ndarray
    logs: np.ndarray


def peaks(curve: Curve, line: Line, heights: np.ndarray) -> list[Peaks]:
    """Find the maxima of several curves.

    Two maxima are counted separately if the curve falls by at least 0.01 nats between them. Maxima
    more than 20 nats below the highest are given at their grid point and not refined.

    Parameters
    ----------
    curve : Curve
        Function that computes heights at any value.
    line : Line
        The grid.
    heights : ndarray, shape (curves, places)
        Heights at the points of the grid.

    Returns
    -------
    list of Peaks
        The maxima of each curve.

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
    # a curve rises at most as much between points as beside them
    hidden = logs - np.minimum(*sides)
    near = np.flatnonzero(logs + hidden > heights.max(axis=1)[who] - _NEAR)
    _polish(curve, line, who, top, near, at, logs)
    at = np.where((top == final) & np.isinf(line.high), line.high, at)
    at = np.where((top == 0) & np.isinf(line.low), line.low, at)
    order = np.lexsort([-logs, who])
    splits = np.cumsum([len(part) for part in tops])[:-1]
    parts = (np.split(values[order], splits) for values in (at, logs))
    return [Peaks(*found) for found in zip(*parts, strict=True)]


def _tops(row: np.ndarray) -> np.ndarray:
    lowest = row.min() - 1.0
    tops, _ = find_peaks(np.concatenate([[lowest], row, [lowest]]), prominence=_LEAST)
    tops -= 1
    for number, top in enumerate(tops):
        level = row >= row[top] - _LEVEL
        if not level.all():
            tops[number] = len(row) - 1 if level[top:].all() else 0 if level[:top].all() else top
    return np.asarray(tops)


def _polish(
    curve: Curve,
    line: Line,
    who: np.ndarray,
    top: np.ndarray,
    todo: np.ndarray,
    at: np.ndarray,
    logs: np.ndarray,
) -> None:
    """Refine the positions of maxima between the points of the grid."""
    places, final = line.places, len(line.places) - 1
    left, middle, right = (places[np.clip(top + step, 0, final)] for step in (-1, 0, 1))
    # an end of the grid has no neighbour beyond it, and may itself be the maximum
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
    better = -found.f_x > logs[todo]  # false where the bracket has no maximum (NaN)
    at[todo[better]], logs[todo[better]] = found.x[better], -found.f_x[better]


_FALL = 1e-3  # fall of a parabolic log-likelihood, in nats, at the nearer points
_NARROW = 1e-6  # an interval narrower than this, relative to the scale, is a step
_SMOOTH = 0.25  # greatest relative difference from the curvature at half the distance
_NO_ERROR = "no standard error: the likelihood has a step, a kink or a plateau at its maximum"


def standard_errors(
    curve: Curve,
    who: np.ndarray,
    at: np.ndarray,
    pieces: list[Interval],
    prob: float,
    scale: float,
) -> tuple[np.ndarray, list[str]]:
    r"""Compute one over the square root of the observed information.

    .. math:: \mathrm{se} = \left(-\ell''(\hat\theta)\right)^{-1/2}

    The derivative is the central difference of five points, the nearer ones where the
    log-likelihood has fallen by about 0.001 nats. In smooth likelihoods its relative error is 1e-6,
    which is far above rounding and far below the change of the curvature itself.

    Parameters
    ----------
    curve : Curve
        Function that computes log-likelihoods at any value.
    who : ndarray, shape (maxima,)
        Numbers of the subjects.
    at : ndarray, shape (maxima,)
        Positions of the maxima.
    pieces : list of (float, float)
        The profile-likelihood interval around each maximum.
    prob : float
        Confidence of these intervals.
    scale : float
        Scale of the latent, to which tolerances are relative.

    Returns
    -------
    errors : ndarray, shape (maxima,)
        Standard errors; NaN where the maximum is a step, a kink or a plateau.
    reasons : list of str
        Why the standard error is NaN (else empty).

    Examples
    --------
    >>> def curve(places, _):
    ...     return 20 * np.log(places) + 10 * np.log1p(-places)
    >>> only = np.array([0]), np.array([2 / 3]), [(0.51, 0.79)]
    >>> found, _ = standard_errors(curve, *only, prob=0.9, scale=1.0)
    >>> float(found[0].round(6)), round((2 / 3 / 3 / 30) ** 0.5, 6)
    (0.086066, 0.086066)
    """
    ends = np.array(pieces).reshape(-1, 2)
    normal = float(norm.isf((1 - prob) / 2))
    near = np.minimum(at - ends[:, 0], ends[:, 1] - at)
    step = np.where(np.isfinite(near), near, scale) * np.sqrt(2 * _FALL) / normal
    step = at + step - at  # the step as rounded in the points
    offsets = np.arange(-2, 3)
    points = at[:, None] + step[:, None] * offsets
    logs = curve(points.ravel(), np.repeat(who, 5)).reshape(-1, 5)
    falls = logs[:, [2]] - logs
    with np.errstate(divide="ignore", invalid="ignore"):
        inner, outer = (falls[:, [a, b]].sum(axis=1) for a, b in ((1, 3), (0, 4)))
        information = (16 * inner - outer) / (12 * step**2)
        errors = 1 / np.sqrt(information)
        smooth = (abs(outer / (4 * inner) - 1) < _SMOOTH) & (
            abs(falls[:, 1] - falls[:, 3]) < _SMOOTH * inner
        )
    smooth &= near >= _NARROW * scale
    return np.where(smooth, errors, np.nan), ["" if fine else _NO_ERROR for fine in smooth]


def compatible(
    curve: Curve, line: Line, heights: np.ndarray, found: list[Peaks], prob: float
) -> list[list[Interval]]:
    r"""Find the profile-likelihood sets of several curves.

    .. math:: C = \left\{\theta : \ell(\hat\theta) - \ell(\theta) \le
       \tfrac{1}{2} \chi^2_{1, prob}\right\}

    Parameters
    ----------
    curve : Curve
        Function that computes log-likelihoods at any value.
    line : Line
        The grid.
    heights : ndarray, shape (curves, places)
        Log-likelihoods at the points of the grid.
    found : list of Peaks
        Maxima of the curves.
    prob : float
        Confidence, in (0, 1).

    Returns
    -------
    list of list of (float, float)
        For each curve, its intervals in ascending order. An interval that reaches an end of the
        grid ends at the end of the latent's range.

    References
    ----------
    Wilks, S. S. (1938), The large-sample distribution of the likelihood ratio for testing composite
    hypotheses, Annals of Mathematical Statistics 9.

    Examples
    --------
    >>> def curve(places, _):
    ...     return -(places**2) / 2
    >>> line = Line(np.linspace(-9, 9, 60), -9.0, 9.0, 1.0)
    >>> heights = curve(line.places, 0)[None]
    >>> ((piece,),) = compatible(curve, line, heights, peaks(curve, line, heights), 0.9)
    >>> np.round(piece, 4)
    array([-1.6449,  1.6449])
    """
    slack = chi2.ppf(prob, 1) / 2
    who, before, after, inside = [], [], [], []
    for row, (logs, top) in enumerate(zip(heights, found, strict=True)):
        known = np.isfinite(top.at)  # between two points, the maximum may be the only value inside
        places = np.concatenate([line.places, top.at[known]])
        order = np.argsort(places, kind="stable")
        places = places[order]
        within = np.concatenate([logs, top.logs[known]])[order] >= top.logs[0] - slack
        crossing = np.flatnonzero(within[1:] != within[:-1])
        who.append(np.full(len(crossing), row))
        before.append(places[crossing])
        after.append(places[crossing + 1])
        inside.append(bool(within[0]))
    highest = np.array([top.logs[0] for top in found])
    rows, left, right = (np.concatenate(part) for part in (who, before, after))
    edges = _edges(curve, rows, left, right, highest[rows] - slack)
    return [_pieces(edges[rows == row], starts, line) for row, starts in enumerate(inside)]


def _edges(
    curve: Curve, rows: np.ndarray, left: np.ndarray, right: np.ndarray, level: np.ndarray
) -> np.ndarray:
    if not len(rows):
        return left

    def above(values: np.ndarray, *of: Any) -> np.ndarray:
        return np.asarray(curve(values, of[0].astype(int)) - of[1])

    with np.errstate(divide="ignore", invalid="ignore"):  # its parabolas through level points
        found = find_root(above, (left, right), args=(rows, level))
    return np.where(found.success, found.x, (left + right) / 2)


def _pieces(edges: np.ndarray, starts_inside: bool, line: Line) -> list[Interval]:
    ends = [line.low] * starts_inside + list(map(float, edges))
    ends += [line.high] * (len(ends) % 2)
    return list(zip(ends[::2], ends[1::2], strict=True))
