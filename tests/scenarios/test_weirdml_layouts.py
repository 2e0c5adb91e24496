"""Layouts of time horizons by hand, and counts of nested runs."""

import math

import numpy as np
import pandas as pd
import pytest

import measurement_layouts as ml
from measurement_layouts.linking import evaluate
from measurement_layouts.scenarios import weirdml

TASKS = ("a", "b", "c")
ROUNDING = 1e-12  # some ten operations on numbers of size 10


def sigma(x):
    return 1 / (1 + np.exp(-x))


@pytest.fixture
def values():
    """Values of every node without parents, of a thousand items."""
    rng = np.random.default_rng(3)
    return {
        "logHours": rng.uniform(-2, 10, (1000, 1)),
        "horizon": rng.uniform(-4, 8, (1000, 1)),
        "slope": rng.uniform(0.3, 3, (1000, 1)),
        "taskSpread": rng.uniform(0, 3, (1000, 1)),
        "nested": rng.choice([0.0, 1.0], (1000, 1)),
        "step": rng.uniform(0.1, 4, (1000, 1)),
        "ease": rng.normal(size=(1000, 3)),
        "isTask": np.eye(3)[rng.integers(0, 3, 1000)],
    }


def margins(values):
    task = (values["ease"] * values["isTask"]).sum(axis=1, keepdims=True)
    return values["horizon"] + values["taskSpread"] * task - values["logHours"]


def computed(layout, values):
    dims = tuple(layout.dims)
    known = values if dims else {name: value[:, 0] for name, value in values.items()}
    return np.ravel(evaluate(layout.outcome.expression, known, dims))


def test_published_by_hand(values):
    expected = sigma(values["slope"] * (values["horizon"] - values["logHours"]))
    found = computed(weirdml.published_layout(), values)
    assert found == pytest.approx(expected.ravel(), abs=ROUNDING)


def test_recommended_by_hand(values):
    expected = sigma(values["slope"] * margins(values))
    found = computed(weirdml.recommended_layout(TASKS), values)
    assert found == pytest.approx(expected.ravel(), abs=ROUNDING)
    alike = sigma(values["slope"] * (values["horizon"] - values["logHours"]))
    assert found != pytest.approx(alike.ravel(), abs=ROUNDING)  # the twin: tasks do differ


def test_nested_by_hand(values):
    here = sigma(values["slope"] * margins(values))
    below = sigma(values["slope"] * (margins(values) + values["step"]))
    expected = np.where(values["nested"] == 1, here / below, here)
    found = computed(weirdml.nested_layout(TASKS), values)
    assert found == pytest.approx(expected.ravel(), abs=ROUNDING)
    assert found.max() <= 1
    assert found != pytest.approx(here.ravel(), abs=ROUNDING)  # the twin


@pytest.mark.parametrize("margin", [-800.0, 800.0])
def test_extremes_stay_probabilities(margin):
    """Far below all thresholds the ratio is exp(-slope * step), far above it is 1."""
    expected = math.exp(-2) if margin < 0 else 1.0
    assert float(weirdml.reached(margin, 2.0, 1.0, 1.0)) == pytest.approx(expected)


def counted(successes, runs=5, thresholds=(0.9, 0.25, 0.5)):
    """Counts of one task, in the order of the thresholds given."""
    names = [f"at {threshold}" for threshold in thresholds]
    items = pd.DataFrame({"task": "xor", "threshold": thresholds}, names)
    made = (
        pd.DataFrame([np.broadcast_to(counts, 3)], ["Ann"], names) for counts in (successes, runs)
    )
    return ml.Evaluation(items, *made)


def test_conditional_counts_by_hand():
    found = weirdml.conditional_counts(counted([1, 4, 3]))
    assert found.successes.loc["Ann"].tolist() == [1, 4, 3]
    assert found.trials.loc["Ann"].tolist() == [3, 5, 4]


def test_conditional_likelihood_is_that_of_the_runs():
    """Each run has one outcome, how far it got; the twin counts every threshold by itself."""
    counts, chance = counted([1, 4, 3]), {0.25: 0.7, 0.5: 0.6, 0.9: 0.1}
    exact = np.log([0.3, 0.1, 0.5, 0.1]) @ [1, 1, 2, 1]  # got no, one, two and three thresholds far

    def log_likelihood(table, share):
        k, n = (part.loc["Ann"].to_numpy() for part in (table.successes, table.trials))
        return float(k @ np.log(share) + (n - k) @ np.log1p(-share))

    overall = np.array([chance[threshold] for threshold in (0.9, 0.25, 0.5)])
    ratio = overall / [0.6, 1.0, 0.7]
    assert log_likelihood(weirdml.conditional_counts(counts), ratio) == pytest.approx(exact)
    assert log_likelihood(counts, overall) != pytest.approx(exact, abs=1)
