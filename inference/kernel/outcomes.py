"""Two forms of a subject's outcomes: counts, and the quicker one where nothing is divided."""

from dataclasses import dataclass

import numpy as np
from scipy.special import xlogy

from ...evaluations.evaluation import EDGE
from .mathematics import LEAST
from .values import Value, Values

_SMALLEST = -690.0  # logarithm of a number that is not 0


@dataclass(frozen=True)
class Outcomes:
    """The form in which a subject's outcomes are given to a kernel.

    Attributes
    ----------
    unanimous : bool
        Whether all trials of a row came out alike, so that one logarithm tells its probability.
    unseen : str or None
        Dimension that the outcomes' probability is averaged over; rows then stand for items whose
        outcomes are alike, so many times.
    crowded : bool
        Whether a row has so many trials that their probability may be too small for a number at
        every place.
    """

    unanimous: bool
    unseen: str | None = None
    crowded: bool = False

    @classmethod
    def of(cls, successes: np.ndarray, trials: np.ndarray) -> "Outcomes":
        """Choose the form for outcomes per row."""
        return cls(bool(((successes == 0) | (successes == trials)).all()))

    @classmethod
    def averaged(cls, trials: np.ndarray, unseen: str) -> "Outcomes":
        """Choose the form for outcomes whose probability is averaged over a dimension."""
        return cls(False, unseen, bool(trials.max(initial=0) * np.log(EDGE) < _SMALLEST))

    @property
    def names(self) -> tuple[str, ...]:
        """What is given per row."""
        if self.unseen is not None:
            return ("successes", "failures", "times", "best")
        return ("signed",) if self.unanimous else ("successes", "failures")

    def arrays(self, successes: np.ndarray, trials: np.ndarray) -> list[np.ndarray]:
        """Numbers per row, in the order of `names`."""
        if not self.unanimous:
            return [successes, trials - successes]
        return [np.where(successes < trials, -trials, trials)]

    @staticmethod
    def best(successes: np.ndarray, trials: np.ndarray) -> np.ndarray:
        """Log-probability of each row where it is largest, but for the binomial coefficients."""
        failures = trials - successes
        found = xlogy(successes, successes) + xlogy(failures, failures) - xlogy(trials, trials)
        return np.asarray(found)

    def log_probability(
        self, values: Values, p: Value, q: Value, weights: Value | None, *given: Value
    ) -> Value:
        """Log-probability of each row, but for the binomial coefficients; q = 1 - p."""
        if weights is not None:
            return self._averaged(values, p, q, weights, *given)
        return values("unanimous" if self.unanimous else "binomial", p, q, *given)

    def _averaged(
        self,
        values: Values,
        p: Value,
        q: Value,
        weights: Value,
        successes: Value,
        failures: Value,
        times: Value,
        best: Value,
    ) -> Value:
        """Average the binomial probability over the places of what is unseen."""
        dim, far = str(self.unseen), values.constant(1 - EDGE)
        p = values("minimum", values("maximum", p, values.constant(EDGE)), far)
        q = values("minimum", values("maximum", q, values.constant(LEAST)), far)
        each = values(
            "add",
            values("mul", successes, values("log", p)),
            values("mul", failures, values("log", q)),
            values("log", weights),
        )
        most = values.reduce("max", each, dim) if self.crowded else best
        parts = values("exp", values("sub", each, most))
        average = values("add", most, values("log", values.reduce("sum", parts, dim)))
        return values("mul", times, average)
