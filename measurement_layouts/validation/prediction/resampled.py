"""Scores of predictions with weights of items, for a bootstrap over items."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...common.proportions import rates

SCORES = ("auroc", "ece", "brier")

BINS = 10
_TOGETHER = 64  # number of resamples computed together, so that counts fit the processor's cache


@dataclass(frozen=True, eq=False)
class Predicted:
    """Predictions and outcomes, with a row per repeat, subject and item.

    Parameters
    ----------
    chances : ndarray, shape (rows, methods)
        Predicted probabilities; NaN if there is none.
    won, lost : ndarray, shape (rows,)
        Numbers of successes and failures.
    repeat, subject, item : ndarray of int, shape (rows,)
        Numbers of the repeat, the subject and the item, each from 0.
    """

    chances: np.ndarray
    won: np.ndarray
    lost: np.ndarray
    repeat: np.ndarray
    subject: np.ndarray
    item: np.ndarray

    def scored(self, times: np.ndarray) -> np.ndarray:
        """Score predictions with weights of the items.

        Parameters
        ----------
        times : ndarray of int, shape (resamples, items)
            Number of times that each item counts.

        Returns
        -------
        ndarray, shape (3, resamples, subjects, methods)
            Area under the ROC curve, expected calibration error (10 bins) and Brier score, as in
            `scoring_rules`, averaged over repeats. NaN if a prediction is missing or there is no
            trial, or, for the area, if all outcomes are of one class.

        Examples
        --------
        >>> zero = np.zeros(2, dtype=int)
        >>> both = Predicted(np.full((2, 1), 0.5), np.array([1.0, 0.0]), np.array([0.0, 1.0]), zero,
        ...                  zero, np.arange(2))
        >>> both.scored(np.array([[1, 1], [2, 0]])).reshape(3, 2)
        array([[0.5 ,  nan],
               [0.  , 0.5 ],
               [0.25, 0.25]])
        """
        subjects, methods = self.subject.max() + 1, self.chances.shape[1]
        total = np.zeros((len(SCORES), len(times), subjects, methods))
        known = np.zeros_like(total, dtype=np.int32)
        missing = np.zeros((subjects, methods), dtype=bool)
        parts = self._parts()
        for subject, rows in parts:
            missing[subject] |= np.isnan(self.chances[rows]).any(axis=0)
        for first in range(0, len(times), _TOGETHER):
            block = slice(first, first + _TOGETHER)
            counted = np.ascontiguousarray(times[block].T, dtype=float)
            for subject, rows in parts:
                own = counted[self.item[rows]]
                for method in np.flatnonzero(~missing[subject]):
                    outcomes = self.chances[rows, method], self.won[rows], self.lost[rows]
                    found = np.stack([auroc_of(*outcomes)(own), *_losses(*outcomes, own)])
                    there = ~np.isnan(found)
                    total[:, block, subject, method] += np.where(there, found, 0)
                    known[:, block, subject, method] += there
        return rates(total, known)

    def calibration_errors(self, times: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Compute the expected calibration error of all cells together, with weights of the items.

        Parameters
        ----------
        times : ndarray of int, shape (resamples, items)
            Number of times that each item counts.
        weight : ndarray, shape (subjects,)
            Weights of the subjects; those with the weight 0 may lack predictions.

        Returns
        -------
        ndarray, shape (resamples, methods)
            Errors in ten bins, over all repeats; NaN if a prediction is missing.

        Examples
        --------
        >>> zero = np.zeros(2, dtype=int)
        >>> both = Predicted(np.full((2, 1), 0.5), np.array([1.0, 0.0]), np.array([0.0, 1.0]), zero,
        ...                  np.arange(2), zero)
        >>> both.calibration_errors(np.array([[1]]), np.ones(2))
        array([[0.]])
        """
        rows = weight[self.subject] > 0
        item, won = self.item[rows], (weight[self.subject] * self.won)[rows]
        trials = won + (weight[self.subject] * self.lost)[rows]
        items = times.shape[1]
        total = np.bincount(item, trials, items) @ times.T
        errors = []
        for chances in self.chances[rows].T:
            places = _bins(chances) * items + item
            gaps = np.bincount(places, trials * chances - won, BINS * items).reshape(BINS, items)
            errors.append(rates(np.abs(gaps @ times.T).sum(axis=0), total))
        return np.stack(errors, axis=1)

    def _parts(self) -> list[tuple[int, np.ndarray]]:
        """Return the rows of each repeat and subject, with the number of the subject."""
        keys = self.repeat * (self.subject.max() + 1) + self.subject
        order = np.argsort(keys, kind="stable")
        starts = np.flatnonzero(np.diff(keys[order], prepend=-1))
        return [(int(self.subject[rows[0]]), rows) for rows in np.split(order, starts[1:])]


def auroc_of(
    chances: np.ndarray, won: np.ndarray, lost: np.ndarray
) -> Callable[[np.ndarray], np.ndarray]:
    """Return a function that computes the area under the ROC curve for weights of items.

    Predictions are sorted once, so that the function is fast.

    Parameters
    ----------
    chances, won, lost : ndarray, shape (items,)
        Predictions, successes and failures.

    Returns
    -------
    callable
        Function that returns areas, (resamples,), given the number of times that each item counts,
        (items, resamples).

    Examples
    --------
    >>> area = auroc_of(np.array([0.2, 0.7, 0.7]), np.array([0, 0, 1]), np.array([1, 1, 0]))
    >>> area(np.array([[1, 0], [1, 1], [1, 1]]))
    array([0.75, 0.5 ])
    """
    tried = np.flatnonzero(won + lost)
    order = tried[np.argsort(chances[tried], kind="stable")]
    starts = np.flatnonzero(np.diff(chances[order], prepend=-1))
    right, wrong = won[order, None], lost[order, None]

    def area(times: np.ndarray) -> np.ndarray:
        if not len(order):
            return np.full(times.shape[1], np.nan)
        counted = times[order]
        above = np.add.reduceat(counted * right, starts)
        below = np.add.reduceat(counted * wrong, starts)
        pairs = above.sum(axis=0) * below.sum(axis=0)
        ordered = (above * (below.cumsum(axis=0) - below / 2)).sum(axis=0)
        return rates(ordered, pairs)

    return area


def _losses(
    chances: np.ndarray, won: np.ndarray, lost: np.ndarray, times: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Compute expected calibration errors and Brier scores, (resamples,) each."""
    trials = won + lost
    gaps = np.zeros((BINS, len(chances)))
    gaps[_bins(chances), np.arange(len(chances))] = trials * chances - won
    squares = won * (1 - chances) ** 2 + lost * chances**2
    total = trials @ times
    return rates(np.abs(gaps @ times).sum(axis=0), total), rates(squares @ times, total)


def _bins(chances: np.ndarray) -> np.ndarray:
    """Return the bin of each prediction."""
    return np.searchsorted(np.arange(1, BINS) / BINS, chances, side="right")
