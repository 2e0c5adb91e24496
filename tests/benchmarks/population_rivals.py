"""Rivals of populations, by hand in NumPy: forecasts of cells that are held out.

Every rival is given successes and trials of subjects x items, with 0 trials where a cell is held
out, and returns a probability for every cell, averaged over what it knows of subject and item.
"""

from collections.abc import Callable, Iterable

import numpy as np
import pandas as pd
from population_data import Cohort
from population_factors import chosen_factors
from population_mixed import Mixed, mixed
from population_scores import brier


def subject_means(successes: np.ndarray, trials: np.ndarray) -> np.ndarray:
    """Each subject's mean, for every item; everybody's where a subject has no outcome."""
    own = trials.sum(axis=1)
    everybody = successes.sum() / trials.sum()
    mean = np.where(own > 0, successes.sum(axis=1) / np.maximum(own, 1), everybody)
    return np.repeat(mean[:, None], trials.shape[1], axis=1)


type Rival = Callable[[Cohort, np.ndarray, np.ndarray, int], np.ndarray]

RIVALS: dict[str, Rival] = {
    "subject's mean": lambda cohort, right, tried, seed: subject_means(right, tried),
    "Rasch": lambda cohort, right, tried, seed: mixed(right, tried).chances,
    "explanatory": lambda cohort, right, tried, seed: _explained(cohort, right, tried).chances,
    "two factors": lambda cohort, right, tried, seed: chosen_factors(right, tried, seed),
}


FACTORED = ("animal-ai", "fractions", "exam")
"""Cohorts for two factors. The others have few subjects, so that items' modes say too little."""


def forecast(name: str, cohort: Cohort, held: np.ndarray, seed: int) -> np.ndarray:
    """Forecast every cell by a rival that does not see the held-out ones."""
    tried = np.where(held, 0.0, cohort.trials)
    return RIVALS[name](cohort, np.where(held, 0.0, cohort.successes), tried, seed)


def scored(
    cohort: Cohort,
    ways: Iterable[str],
    hold: Callable[[Cohort, int], np.ndarray],
    splits: Iterable[int],
    seed: int,
) -> pd.DataFrame:
    """Brier scores of rivals: one row per split, one column per rival.

    Parameters
    ----------
    cohort : Cohort
        With all outcomes.
    ways : iterable of str
        Names of rivals.
    hold : callable
        From the cohort and a split's seed to what is held out.
    splits : iterable of int
        Their seeds.
    seed : int
        Of what is chosen inside a training set.
    """
    table = {}
    for split in splits:
        held = hold(cohort, split)
        forecasts = {way: forecast(way, cohort, held, seed) for way in ways}
        table[split] = {way: brier(found, cohort, held) for way, found in forecasts.items()}
    return pd.DataFrame.from_dict(table, "index")


def _explained(cohort: Cohort, successes: np.ndarray, trials: np.ndarray) -> Mixed:
    items = cohort.evaluation.items[list(cohort.demands)] if cohort.demands else None
    weighed = cohort.covariates[list(cohort.weighed)] if cohort.weighed else None
    return mixed(successes, trials, demands=items, covariates=weighed)
