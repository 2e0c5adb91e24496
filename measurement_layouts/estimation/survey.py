"""Likelihoods of all subjects of a layout with one latent, and who is identified by the data."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from threadpoolctl import threadpool_limits

from ..common.messages import many
from ..evaluations.evaluation import Evaluation
from ..inference.sampling.engine import Battery
from .curves import Curves, Line, line
from .estimates import Interval
from .peaks import Peaks, compatible, peaks, standard_errors

_TIED = 1e-6  # maxima that differ by less than this, in nats, are equal
_FLAT = 0.05  # least fall of the log-likelihood, in nats, towards an end of the range ...
_LAST = 0.25  # ... over this part of the interval there, for the data to limit the interval
_POINT = 1e-6  # an interval narrower than this, relative to the scale, is written as a point


@dataclass(frozen=True)
class Verdict:
    """Whether a subject is identified by its data, and the values that the data allow.

    Attributes
    ----------
    identified : bool
        Whether there is one estimate.
    compatible : str
        The values that the data allow, in words.
    reason : str
        Why there is no estimate, or remarks on it (else empty).
    """

    identified: bool
    compatible: str
    reason: str


def judge(
    top: Peaks, pieces: Sequence[Interval], line: Line, heights: np.ndarray, alike: str
) -> Verdict:
    """Determine whether a subject is identified by its data.

    A subject is not identified in three cases: when every value is compatible; when the compatible
    values have no end on a side, or end there only because the latent's range does (the
    log-likelihood falls by less than 0.05 nats over the last quarter of the interval at that end);
    or when two maxima differ by less than 1e-6 nats.

    Parameters
    ----------
    top : Peaks
        Maxima of the log-likelihood.
    pieces : sequence of (float, float)
        Intervals of compatible values.
    line : Line
        The grid.
    heights : ndarray, shape (places,)
        Log-likelihoods at the points of the grid.
    alike : str
        That the subject has no success, or no failure, for the reason; empty if it has both.

    Returns
    -------
    Verdict
        Whether the subject is identified, and why not.
    """
    text = in_words(pieces, line)
    open_low, open_high = _open(pieces[0], -1, line, heights), _open(pieces[-1], 1, line, heights)
    if list(pieces) == [(line.low, line.high)]:
        same = np.ptp(heights) < _TIED
        likely = "equally" if same else "about as"
        why = f"the outcomes are {likely} likely at every value"
        return Verdict(False, text, f"{'; '.join(filter(None, [alike, why]))}: any value fits")
    if open_low or open_high:
        side = {(True, True): "either", (True, False): "the lower", (False, True): "the upper"}
        limit = f"the data set no limit on {side[open_low, open_high]} side"
        return Verdict(False, text, f"{alike or limit}: anything {text} fits")
    ties = np.sort(top.at[top.logs > top.logs[0] - _TIED])
    if len(ties) > 1:
        where = " and ".join(f"{place:.4g}" for place in ties)
        return Verdict(False, text, f"{many(len(ties), 'place')} fit equally well: {where}")
    return Verdict(True, text, "; ".join(_remarks(top, pieces, line)))


def in_words(pieces: Sequence[Interval], line: Line) -> str:
    """Describe intervals of compatible values in words.

    Examples
    --------
    >>> line = Line(np.array([-9.0, 9.0]), -np.inf, np.inf, 1.0)
    >>> in_words([(-np.inf, -4.62), (0.05, 0.05), (1.234, 1.3)], line)
    'below -4.62 or at 0.05 or from 1.234 to 1.300'
    """
    return " or ".join(_piece(piece, line) for piece in pieces)


def _piece(piece: Interval, line: Line) -> str:
    low, high = piece
    if low <= line.low:
        return "any value" if high >= line.high else f"below {high:.4g}"
    if high >= line.high:
        return f"above {low:.4g}"
    if high - low < _POINT * line.scale:
        return f"at {(low + high) / 2:.4g}"
    decimals = max(2, 1 - math.floor(math.log10(high - low)))
    return f"from {low:.{decimals}f} to {high:.{decimals}f}"


def _open(piece: Interval, side: int, line: Line, heights: np.ndarray) -> bool:
    """Whether an interval has no end set by the data on a side (-1 low, 1 high)."""
    end, limit = (piece[0], line.low) if side < 0 else (piece[1], line.high)
    if end != limit or math.isinf(limit):
        return end == limit
    within = line.places[[0, -1]]
    inner = limit - side * _LAST * (min(piece[1], within[1]) - max(piece[0], within[0]))
    before, last = np.interp([inner, limit], line.places, heights)
    return bool(last > before - _FLAT)


def _remarks(top: Peaks, pieces: Sequence[Interval], line: Line) -> list[str]:
    found = []
    others = [piece for piece in pieces if not piece[0] <= top.at[0] <= piece[1]]
    if others:
        found.append(f"also possible: {in_words(others, line)}")
    if pieces[0][0] == line.low or pieces[-1][1] == line.high:
        found.append("the interval ends where the range does")
    return found


_SUBJECTS = 256  # number of subjects computed at a time


@dataclass(frozen=True)
class Survey:
    """Likelihoods of all subjects over the whole range of the latent.

    Attributes
    ----------
    curves : Curves
        The likelihoods.
    line : Line
        The grid at whose points they were computed.
    peaks : list of Peaks
        All maxima of each subject.
    pieces : list of list of (float, float)
        Intervals of compatible values of each subject.
    verdicts : list of Verdict
        Whether each subject is identified, with the reason.
    """

    curves: Curves
    line: Line
    peaks: list[Peaks]
    pieces: list[list[Interval]]
    verdicts: list[Verdict]

    @property
    def identified(self) -> np.ndarray:
        """Whether each subject is identified; shape (subjects,)."""
        return np.array([verdict.identified for verdict in self.verdicts])

    def errors(self, prob: float) -> tuple[np.ndarray, list[str]]:
        """Compute each subject's standard error, NaN if not identified, and why it is NaN."""
        errors, reasons = np.full(len(self.peaks), np.nan), [""] * len(self.peaks)
        who = np.flatnonzero(self.identified)
        at = np.array([self.peaks[number].at[0] for number in who])
        around = [
            next(piece for piece in self.pieces[number] if piece[0] <= place <= piece[1])
            for number, place in zip(who, at, strict=True)
        ]
        found, why = standard_errors(self.curves.at, who, at, around, prob, self.line.scale)
        errors[who] = found
        for number, reason in zip(who, why, strict=True):
            reasons[number] = reason
        return errors, reasons


def survey(battery: Battery, evaluation: Evaluation, prob: float) -> Survey:
    """Compute every subject's likelihood along the whole range of the only latent.

    Parameters
    ----------
    battery : Battery
        A layout with one latent, and its items.
    evaluation : Evaluation
        Outcomes of the subjects.
    prob : float
        Confidence of the intervals of compatible values.

    Returns
    -------
    Survey
        Likelihoods, maxima, compatible values and verdicts.
    """
    curves = Curves(battery, evaluation)
    over = line(battery.layout, dict(battery.features), curves.chances)
    tops, pieces, verdicts = list[Peaks](), list[list[Interval]](), list[Verdict]()
    everybody = np.arange(len(curves.subjects))
    for some in np.split(everybody, everybody[_SUBJECTS::_SUBJECTS]):
        with threadpool_limits(1, user_api="blas"):  # matrices too small for threads
            heights = curves.over(over.places, some)
        own = curves.among(some)
        found = peaks(own, over, heights)
        sets = compatible(own, over, heights, found, prob)
        tops += found
        pieces += sets
        verdicts += [
            judge(top, piece, over, row, _alike(*evaluation.coded.counts(number)))
            for top, piece, row, number in zip(found, sets, heights, some, strict=True)
        ]
    return Survey(curves, over, tops, pieces, verdicts)


def _alike(successes: np.ndarray, trials: np.ndarray) -> str:
    """Write that a subject has no success, or no failure; empty if it has both."""
    if successes.any() and (successes < trials).any():
        return ""
    what = "failure" if successes.any() else "success"
    return f"no {what} on {many(int((trials > 0).sum()), 'item')}"
