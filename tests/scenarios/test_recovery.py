"""Known truth is recovered: intervals of the simulated cohort hold it as often as they promise.

The cohort's truth are the published posterior means. They lie inside the prior's range, where
intervals of a uniform prior hold the truth more often than their mass, so the promise is one-sided
here; `test_coverage.py` checks the two-sided one on profiles drawn from the prior.
"""

import pytest
from helpers import recovery

from measurement_layouts.scenarios import animal_ai_olympics as aaio

LEAST = recovery.MASS - recovery.slack(recovery.COHORTS * 68)


@pytest.fixture(scope="module")
def intervals():
    return recovery.of_the_cohorts(first=1)


@pytest.mark.slow
def test_intervals_hold_the_truth(intervals):
    found = recovery.coverage(intervals, intervals["truth"])
    assert set(found.index) == {node.name for node in aaio.published_layout().latents}
    assert (found >= LEAST).all(), found


@pytest.mark.slow
def test_intervals_do_not_hold_the_profile_of_another_agent(intervals):
    """The twin: with the truths of the cohort turned upside down the check must fail."""
    turned = intervals.groupby(["seed", "node"])["truth"].transform(
        lambda truth: truth.to_numpy()[::-1]
    )
    found = recovery.coverage(intervals, turned)
    assert (found.drop("rightLeftBias") < LEAST).all(), found
