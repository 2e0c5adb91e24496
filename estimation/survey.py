"""What the likelihood says of every subject of a layout with one latent."""

from dataclasses import dataclass

import numpy as np
from threadpoolctl import threadpool_limits

from ..evaluations.evaluation import Evaluation
from ..inference.sampling.engine import Battery
from .compatible import compatible
from .curvature import standard_errors
from .curves import Curves
from .estimates import Interval
from .line import Line, line
from .peaks import Peaks, peaks
from .verdict import Outcomes, Verdict, judge

_SUBJECTS = 256  # at a time


@dataclass(frozen=True)
class Survey:
    """Likelihoods of all subjects over the whole line.

    Attributes
    ----------
    curves : Curves
        The likelihoods.
    line : Line
        Where they were looked at.
    peaks : list of Peaks
        All maxima, by subject.
    pieces : list of list of (float, float)
        Compatible values, by subject.
    verdicts : list of Verdict
        By subject.
    """

    curves: Curves
    line: Line
    peaks: list[Peaks]
    pieces: list[list[Interval]]
    verdicts: list[Verdict]

    @property
    def identified(self) -> np.ndarray:
        """Whose data place them; shape (subjects,)."""
        return np.array([verdict.identified for verdict in self.verdicts])

    def errors(self, prob: float) -> tuple[np.ndarray, list[str]]:
        """Compute the standard errors of who is identified; else NaN, and why, by subject."""
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
            flat = not np.isnan(self.peaks[number].level[0, 0])  # as its verdict says
            reasons[number] = "" if flat else reason
        return errors, reasons


def survey(battery: Battery, evaluation: Evaluation, prob: float) -> Survey:
    """Look at every subject's likelihood along the whole range of the only latent.

    Parameters
    ----------
    battery : Battery
        A layout of one latent, and items.
    evaluation : Evaluation
        Outcomes of the subjects.
    prob : float
        Confidence of what counts as compatible.

    Returns
    -------
    Survey
        Everything that was found.
    """
    curves = Curves(battery, evaluation)
    over = line(battery.layout, dict(battery.features), curves.chances)
    counts = _outcomes(evaluation)
    tops, pieces, verdicts = list[Peaks](), list[list[Interval]](), list[Verdict]()
    everybody = np.arange(len(curves.subjects))
    for some in np.split(everybody, everybody[_SUBJECTS::_SUBJECTS]):
        with threadpool_limits(1, user_api="blas"):  # small matrices: threads would wait, not work
            heights = curves.over(over.places, some)
        own = curves.among(some)
        found = peaks(own, over, heights)
        sets = compatible(own, over, heights, found, prob)
        tops += found
        pieces += sets
        verdicts += [
            judge(top, piece, over, row, counts[number])
            for top, piece, row, number in zip(found, sets, heights, some, strict=True)
        ]
    return Survey(curves, over, tops, pieces, verdicts)


def _outcomes(evaluation: Evaluation) -> list[Outcomes]:
    tried = (evaluation.trials > 0).sum(axis=1)
    sums = (evaluation.successes.sum(axis=1), evaluation.trials.sum(axis=1))
    return [Outcomes(*map(int, row)) for row in zip(tried, *sums, strict=True)]
