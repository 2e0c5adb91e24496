"""Scores of held-out cells, and how far two forecasts' scores are apart."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from population_data import Cohort


class Difference(NamedTuple):
    """A mean difference and its standard error."""

    mean: float
    error: float

    @property
    def below(self) -> bool:
        """Whether it lies below zero by more than two standard errors."""
        return self.mean + 2 * self.error < 0


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


def over_groups(ours: np.ndarray, theirs: np.ndarray, groups: pd.Series) -> Difference:
    r"""Compare `losses` of the same cells; the error is clustered by groups of items.

    .. math:: \mathrm{se}^2 = \frac{G}{G - 1} \frac{1}{n^2}
        \sum_{g=1}^{G} \Bigl(\sum_{c \in g} (d_c - \bar d)\Bigr)^2

    over the differences d of n cells in G groups. Either array may have a first axis of splits.
    """
    apart = np.subtract(ours, theirs)
    mean = np.nanmean(apart)
    columns = np.nansum(apart - mean, axis=tuple(range(apart.ndim - 1)))
    sums = pd.Series(columns, groups.index).groupby(groups).sum()
    variance = len(sums) / (len(sums) - 1) * (sums**2).sum() / np.isfinite(apart).sum() ** 2
    return Difference(float(mean), float(np.sqrt(variance)))


def summary(scores: pd.DataFrame, against: str) -> pd.DataFrame:
    """Means over splits, and differences from one column with their standard errors.

    Parameters
    ----------
    scores : DataFrame
        One row per split, one column per way to forecast.
    against : str
        The column that the others are held against.
    """
    rows = {
        name: (scores[name].mean(), *over_splits(scores[name], scores[against])) for name in scores
    }
    return pd.DataFrame.from_dict(rows, "index", columns=["mean", "difference", "error"])
