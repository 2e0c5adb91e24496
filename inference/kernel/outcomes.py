"""Two forms of a subject's outcomes: counts, and the quicker one where nothing is divided."""

from dataclasses import dataclass

import numpy as np
from scipy.special import xlogy

from ..compiler import EDGE
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
        return ("base", "sign", "trials") if self.unanimous else ("successes", "failures")

    def arrays(self, successes: np.ndarray, trials: np.ndarray) -> list[np.ndarray]:
        """Numbers per row, in the order of `names`."""
        if not self.unanimous:
            return [successes, trials - successes]
        lost = (successes < trials).astype(float)
        return [lost, 1 - 2 * lost, trials]

    @staticmethod
    def best(successes: np.ndarray, trials: np.ndarray) -> np.ndarray:
        """Log-probability of each row where it is largest, but for the binomial coefficients."""
        failures = trials - successes
        found = xlogy(successes, successes) + xlogy(failures, failures) - xlogy(trials, trials)
        return np.asarray(found)

    def log_probability(
        self, values: Values, p: Value, weights: Value | None, *given: Value
    ) -> Value:
        """Log-probability of each row, but for the binomial coefficients."""
        if weights is not None:
            return self._averaged(values, p, weights, *given)
        if not self.unanimous:
            return values("binomial", p, *given)
        base, sign, trials = given
        came = values("add", base, values("mul", sign, p))  # p, or 1 - p
        return values("mul", trials, values("log", came))

    def _averaged(
        self,
        values: Values,
        p: Value,
        weights: Value,
        successes: Value,
        failures: Value,
        times: Value,
        best: Value,
    ) -> Value:
        """Average the binomial probability over the places of what is unseen."""
        dim = str(self.unseen)
        each = values(
            "add",
            values("mul", successes, values("log", p)),
            values("mul", failures, values("log1p", values("neg", p))),
            values("log", weights),
        )
        most = values.reduce("max", each, dim) if self.crowded else best
        parts = values("exp", values("sub", each, most))
        average = values("add", most, values("log", values.reduce("sum", parts, dim)))
        return values("mul", times, average)
