"""Outcomes by name, as fractions of the highest value, with intervals of their means."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from ..common.proportions import wilson
from ..inference.fit import Fit
from ..layouts import Graded, Layout, Score, Success
from ..layouts.outcomes.steps import Observed
from ..validation.prediction.score import rates_in_bins

_ROUNDING = 1e-9  # of a standard error


@dataclass(frozen=True, eq=False)
class Outcome:
    """One outcome of the layout, of all subjects on all items.

    Attributes
    ----------
    node : Success, Graded or Score
        Node of the layout that declares the outcome.
    reached : ndarray of int, shape (subjects, items, values)
        Number of attempts whose outcome is at least this value. For the lowest value, these are
        all attempts.
    """

    node: Observed
    reached: np.ndarray

    @property
    def name(self) -> str:
        """Name of the outcome in the layout."""
        return self.node.name

    @property
    def values(self) -> list[str]:
        """Possible values, from the lowest to the highest."""
        if isinstance(self.node, Graded):
            return list(self.node.grades)
        top = len(self.node.steps)
        return [f"{value / top:.4g}" for value in range(top + 1)]

    @property
    def listed(self) -> str:
        """Possible values in words."""
        if isinstance(self.node, Score):
            return f"[0, 1] in {self.node.places} places" if self.node.places > 1 else "0 < 1"
        return " < ".join(self.values)

    @property
    def mean_of(self) -> str:
        """What a mean of it is."""
        if isinstance(self.node, Graded):
            return f"mean grade, from {self.node.grades[0]} (0) to {self.node.grades[-1]} (1)"
        return "mean score" if isinstance(self.node, Score) else "success rate"

    @property
    def attempts(self) -> np.ndarray:
        """Number of attempts by subject and item."""
        return np.asarray(self.reached[..., 0])

    @property
    def gained(self) -> np.ndarray:
        """Sums over attempts, by subject and item."""
        return np.asarray(self.reached[..., 1:].sum(axis=-1) / len(self.node.steps))

    @property
    def squares(self) -> np.ndarray:
        """Sums of squares over attempts, by subject and item."""
        top = len(self.node.steps)
        return np.asarray(self.reached[..., 1:] @ (2 * np.arange(top) + 1) / top**2)

    @property
    def counts(self) -> np.ndarray:
        """Number of attempts with each value; shape (subjects, items, values)."""
        return -np.diff(self.reached, axis=-1, append=0)

    def take(self, subjects: np.ndarray, items: np.ndarray) -> "Outcome":
        """Select subjects and items by position."""
        return Outcome(self.node, self.reached[np.ix_(subjects, items)])

    def interval(
        self, mean: np.ndarray, square: np.ndarray, count: np.ndarray, prob: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Compute Wilson's interval of a success rate, or Student's interval of another mean.

        Parameters
        ----------
        mean, square : ndarray
            Means of the outcomes and of their squares.
        count : ndarray of int
            Number of attempts, above 0.
        prob : float
            Mass of the interval.

        Returns
        -------
        low, high : ndarray
            Ends of the interval, in [0, 1]. For grades and scores, NaN if there is one attempt or
            all outcomes are equal, so that their spread is unknown.
        """
        if isinstance(self.node, Success):
            return wilson(mean, count, prob)
        freedom = np.maximum(count - 1, 1)
        error = np.sqrt(np.maximum(square - mean**2, 0) / freedom)
        half = np.where(error > _ROUNDING, stdtrit(freedom, (1 + prob) / 2) * error, np.nan)
        return (mean - half).clip(min=0), (mean + half).clip(max=1)

    def in_bins(self, expected: np.ndarray, prob: float) -> pd.DataFrame:
        """Compare expected outcomes, by subject and item, with observed means in ten bins."""
        forecast, attempts = expected.ravel(), self.attempts.ravel()
        found = rates_in_bins(forecast, self.gained.ravel(), attempts, 10, prob)
        squares = rates_in_bins(forecast, self.squares.ravel(), attempts, 10, prob)["success"]
        found["low"], found["high"] = self.interval(
            found["success"].to_numpy(), squares.to_numpy(), found["trials"].to_numpy(), prob
        )
        return found


def fitted_outcomes(fit: Fit) -> list[Outcome]:
    """Read the outcomes that were fitted."""
    return outcomes_of(fit.layout, *fit.coded.tables)


def outcomes_of(layout: Layout, successes: np.ndarray, trials: np.ndarray) -> list[Outcome]:
    """Read outcomes from counts of shape (subjects, rows); a row is an item, or a step of an item.

    Examples
    --------
    >>> from measurement_layouts import Capability
    >>> layout = Layout("essays", Graded("grade", Capability("skill", low=0, high=1)))
    >>> (grade,) = outcomes_of(layout, np.array([[3, 1]]), np.array([[4, 3]]))
    >>> grade.values, grade.counts.tolist(), grade.gained.tolist()
    (['wrong', 'partly', 'right'], [[[1, 2, 1]]], [[2.0]])
    """
    ends = np.cumsum([len(node.steps) for node in layout.outcomes])
    shape = len(trials), -1, int(ends[-1])
    passed, tried = successes.reshape(shape), trials.reshape(shape)
    found = []
    for node, end in zip(layout.outcomes, ends, strict=True):
        start = end - len(node.steps)
        reached = np.concatenate([tried[..., start : start + 1], passed[..., start:end]], axis=-1)
        found.append(Outcome(node, reached))
    return found
