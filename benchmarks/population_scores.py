"""Scores of held-out cells, and how far two forecasts' scores are apart."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from population_data import Cohort


class Difference(NamedTuple):
    """A mean difference and its standard error."""

    mean: float
    error: float


def losses(chances: np.ndarray, cohort: Cohort, held: np.ndarray) -> np.ndarray:
    """Squared distances of forecasts from the share of successes, per trial; subjects x items.

    NaN where a cell is not held out, or was not attempted. `held` has subjects x items, or items.
    """
    attempted = np.broadcast_to(held, cohort.trials.shape) & (cohort.trials > 0)
    share = cohort.successes / np.where(attempted, cohort.trials, 1)
    spread = share * (1 - share)  # of the single trials of a cell about their share
    return np.where(attempted, (chances - share) ** 2 + spread, np.nan)


def brier(chances: np.ndarray, cohort: Cohort, held: np.ndarray) -> float:
    """Mean of `losses`, each cell counted as often as it has trials."""
    found = losses(chances, cohort, held)
    there = np.isfinite(found)
    return float(np.average(found[there], weights=cohort.trials[there]))


def over_splits(ours: Sequence[float], theirs: Sequence[float]) -> Difference:
    """Compare scores of the same splits; the error is of their mean over the splits."""
    apart = np.subtract(ours, theirs)
    return Difference(float(apart.mean()), float(apart.std(ddof=1) / np.sqrt(len(apart))))
