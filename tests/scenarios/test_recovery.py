"""Known truth is recovered: intervals of the simulated cohort hold it as often as they promise.

The cohort's truth are the published posterior means. They lie inside the prior's range, where
intervals of a uniform prior hold the truth more often than their mass, so the promise is one-sided
here; `tests/inference` checks the two-sided one on profiles drawn from the prior.
"""

import numpy as np
import pandas as pd
import pytest

import measurement_layouts as ml
from measurement_layouts.scenarios import animal_ai_olympics as aaio

MASS = 0.9
COHORTS = 4
# binomial error of the coverage of 4 x 68 independent intervals; 4 elements at z = 3 raise a false
# alarm in half a percent of seeds
SLACK = 3 * np.sqrt(MASS * (1 - MASS) / (COHORTS * 68))


@pytest.fixture(scope="module")
def intervals():
    parts = []
    for seed in range(1, COHORTS + 1):
        cohort = aaio.simulated_cohort(seed)
        fit = ml.fit(
            aaio.published_layout(),
            cohort.evaluation,
            chains=2,
            draws=1000,
            tune=500,
            seed=seed,
            progressbar=False,
        )
        table = fit.profiles(MASS).set_index(["subject", "node"])
        truth = cohort.profiles.rename_axis(index="subject", columns="node").stack()
        parts.append(table.assign(truth=truth, cohort=seed))
    return pd.concat(parts)


def coverage(table, truth):
    held = (table["low"] <= truth) & (truth <= table["high"])
    return held.groupby("node").mean()


@pytest.mark.slow
def test_intervals_hold_the_truth(intervals):
    found = coverage(intervals, intervals["truth"])
    assert set(found.index) == {node.name for node in aaio.published_layout().latents}
    assert (found >= MASS - SLACK).all(), found


@pytest.mark.slow
def test_intervals_do_not_hold_the_profile_of_another_agent(intervals):
    """The twin: with the truths of the cohort turned upside down the check must fail."""
    turned = intervals.groupby(["cohort", "node"])["truth"].transform(
        lambda truth: truth.to_numpy()[::-1]
    )
    found = coverage(intervals, turned)
    assert (found.drop("rightLeftBias") < MASS - SLACK).all(), found
