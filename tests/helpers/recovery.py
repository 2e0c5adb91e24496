"""How often 90 % intervals hold a known truth, per element of the profile."""

import numpy as np
import pandas as pd

import measurement_layouts as ml
from measurement_layouts.scenarios import animal_ai_olympics as aaio

MASS = 0.9
COHORTS = 4


def slack(intervals):
    """Three binomial standard errors: four elements raise a false alarm in 1 % of seeds."""
    return 3 * np.sqrt(MASS * (1 - MASS) / intervals)


def coverage(table, truth):
    """Share of the intervals that hold the truth, by element."""
    return ((table["low"] <= truth) & (truth <= table["high"])).groupby("node").mean()


def of_the_cohorts(first):
    """Intervals of every profile element of several simulated cohorts, beside the truth."""
    layout, tables = aaio.published_layout(), []
    for seed in range(first, first + COHORTS):
        cohort = aaio.simulated_cohort(seed)
        fit = ml.fit(
            *(layout, cohort.evaluation),
            **{"draws": 1000, "tune": 500, "chains": 2, "seed": seed, "progressbar": False},
        )
        truth = cohort.profiles.rename_axis(index="subject", columns="node").stack()
        intervals = fit.profiles(prob=MASS).set_index(["subject", "node"])
        tables.append(intervals.assign(truth=truth, seed=seed))
    return pd.concat(tables)
