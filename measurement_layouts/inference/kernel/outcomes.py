"""The form in which outcomes are given to machine code, and their log-probability by row."""

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from ...evaluations.subject_data import EDGE
from .values import Value, Values

_SMALLEST = -690.0  # the exponential of smaller numbers may be 0
CONSTANT_TERM = "constant"  # name of a subject's binomial coefficients, in nats


def log_ways(successes: np.ndarray, trials: np.ndarray) -> np.ndarray:
    """Compute the logarithms of the binomial coefficients of counts."""
    return np.asarray(
        gammaln(trials + 1) - gammaln(successes + 1) - gammaln(trials - successes + 1)
    )


@dataclass(frozen=True)
class Outcomes:
    """The form in which a subject's outcomes are given to a kernel.

    Attributes
    ----------
    unanimous : bool
        Whether each row has only successes or only failures, so that one logarithm is sufficient.
    unseen : str or None
        Dimension over which the outcomes' probability is averaged. Rows are then kinds of items
        with equal outcomes, with their numbers.
    crowded : bool
        Whether a row has so many trials that their probability may underflow at all places of the
        dimension.
    """

    unanimous: bool
    unseen: str | None = None
    crowded: bool = False

    @classmethod
    def of(cls, successes: np.ndarray, trials: np.ndarray) -> "Outcomes":
        """Choose the form of outcomes, given as counts by row."""
        return cls(bool(((successes == 0) | (successes == trials)).all()))

    @classmethod
    def averaged(cls, trials: np.ndarray, unseen: str) -> "Outcomes":
        """Choose the form of outcomes whose probability is averaged over a dimension."""
        return cls(False, unseen, bool(trials.max(initial=0) * np.log(EDGE) < _SMALLEST))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the numbers that are given per row."""
        if self.unseen is not None:
            return ("successes", "failures", "times", "best")
        return ("signed",) if self.unanimous else ("successes", "failures")

    def arrays(self, successes: np.ndarray, trials: np.ndarray) -> list[np.ndarray]:
        """Return the numbers per row, in the order of `names`."""
        numbers = [successes, trials - successes]
        if self.unanimous:
            numbers = [np.where(successes < trials, -trials, trials)]
        return [np.asarray(column, dtype=float) for column in numbers]

    def log_probability(
        self, values: Values, p: Value, weights: Value | None, *given: Value
    ) -> Value:
        """Make the log-probability of each row, without its coefficient."""
        guarded = values("maximum", p, values.constant(EDGE))
        p = values("minimum", guarded, values.constant(1 - EDGE))
        if weights is None and self.unanimous:
            (signed,) = given
            failed = values("where", values("lt", signed, values.zero), values.one, values.zero)
            chance = values("abs", values("sub", p, failed))  # p, or 1 - p
            return values("mul", values("abs", signed), values("log", chance))
        successes, failures, *averaged = given
        logs = values(
            "add",
            values("mul", successes, values("log", p)),
            values("mul", failures, values("log", values("sub", values.one, p))),
        )
        if weights is None or self.unseen is None:
            return logs
        logs = values("add", logs, values("log", weights))
        times, best = averaged
        largest = values.reduce("max", logs, self.unseen) if self.crowded else best
        ratios = values("exp", values("sub", logs, largest))
        average = values("add", largest, values("log", values.reduce("sum", ratios, self.unseen)))
        return values("mul", times, average)
