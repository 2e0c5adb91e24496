"""Two forms of a subject's outcomes: counts, and the quicker one where nothing is divided."""

from dataclasses import dataclass

import numpy as np

from .values import Value, Values


@dataclass(frozen=True)
class Outcomes:
    """The form in which a subject's outcomes are given to a kernel.

    Attributes
    ----------
    unanimous : bool
        Whether all trials of a row came out alike, so that one logarithm tells its probability.
    """

    unanimous: bool

    @classmethod
    def of(cls, successes: np.ndarray, trials: np.ndarray) -> "Outcomes":
        """Choose the form for outcomes per row."""
        return cls(bool(((successes == 0) | (successes == trials)).all()))

    @property
    def names(self) -> tuple[str, ...]:
        """What is given per row."""
        return ("base", "sign", "trials") if self.unanimous else ("successes", "failures")

    def arrays(self, successes: np.ndarray, trials: np.ndarray) -> list[np.ndarray]:
        """Numbers per row, in the order of `names`."""
        if not self.unanimous:
            return [successes, trials - successes]
        lost = (successes < trials).astype(float)
        return [lost, 1 - 2 * lost, trials]

    def log_probability(self, values: Values, p: Value, *given: Value) -> Value:
        """Log-probability of each row, but for the binomial coefficients."""
        if not self.unanimous:
            return values("binomial", p, *given)
        base, sign, trials = given
        came = values("add", base, values("mul", sign, p))  # p, or 1 - p
        return values("mul", trials, values("log", came))
