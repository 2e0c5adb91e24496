"""The embedded cohort: our own, with nested runs and known horizons."""

import numpy as np
import pytest

from measurement_layouts.inference.simulate import expected_success
from measurement_layouts.scenarios import weirdml

_TIMES = 40


def test_runs_are_nested():
    evaluation = weirdml.simulated_cohort().evaluation
    counts = weirdml.conditional_counts(evaluation)  # refuses what is not nested
    assert counts.trials.to_numpy().sum() < evaluation.trials.to_numpy().sum()
    assert (evaluation.trials == 5).all(axis=None)


def shares_apart(spread_factor):
    """How far shares of successes lie from the layout's probabilities, in standard errors."""
    items, profiles = weirdml.battery(), weirdml.true_profiles()
    rng = np.random.default_rng(1)
    counts = sum(weirdml.runs(items, profiles, rng) for _ in range(_TIMES))
    layout = weirdml.recommended_layout()
    features = {
        "logHours": items["logHours"].to_numpy(),
        "isTask": items[[f"isTask[{task}]" for task in weirdml.TASKS]].to_numpy(float),
    }
    said = profiles.assign(taskSpread=profiles["taskSpread"] * spread_factor)
    p = expected_success(layout, features, said, len(items))
    trials = _TIMES * weirdml.RUNS
    error = np.sqrt(np.maximum(p * (1 - p), 1 / trials) / trials)
    return np.abs((counts.to_numpy() / trials - p) / error)


def test_runs_follow_the_layout():
    """The largest of 2,040 standard normals is below 5 in 999 of 1,000 cases."""
    assert shares_apart(1.0).max() < 5
    assert shares_apart(0.8).max() > 10  # the twin


def test_leaders_double_in_five_months():
    leaders = weirdml.true_profiles()["horizon"].iloc[1::2]
    months = weirdml.release_dates()[leaders.index].diff().dt.days * 12 / 365.25
    assert (months / leaders.diff()).dropna().to_numpy() == pytest.approx(5)
