"""Correlations of demands are SciPy's, item by item that a subject attempted."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

from measurement_layouts import DataError, Evaluation
from measurement_layouts.batteries.demands import demand_correlations

NAMES = ["QLl", "MS", "UG"]


@pytest.fixture(scope="module")
def evaluation():
    """Ann fails where much logic is asked; Bob throws coins, and skips half of the items."""
    rng = np.random.default_rng(9)
    items = pd.DataFrame(
        {"QLl": rng.integers(0, 6, 400), "MS": rng.integers(0, 3, 400), "UG": 75.0},
        index=[f"i{k}" for k in range(400)],
    )
    items.loc[items["QLl"] > 3, "UG"] = 100.0
    ann = (rng.random(400) < 1 / (1 + np.exp(items["QLl"].to_numpy() - 2.5))).astype(float)
    bob = np.where(rng.random(400) < 0.5, rng.integers(0, 2, 400), np.nan)
    return Evaluation.from_wide(pd.DataFrame([ann, bob], ["Ann", "Bob"], items.index), items)


def test_against_scipy(evaluation):
    found = demand_correlations(evaluation, NAMES)
    items = evaluation.items
    assert np.allclose(found.between, spearmanr(items[NAMES]).statistic, atol=1e-12)
    for subject in evaluation.subjects:
        done = evaluation.trials.loc[subject] > 0
        success = evaluation.successes.loc[subject][done]
        expected = [spearmanr(items.loc[done, name], success).statistic for name in NAMES]
        assert np.allclose(found.success.loc[subject], expected, atol=1e-12)
    rates = evaluation.successes.sum() / evaluation.trials.sum()
    expected = [spearmanr(items[name], rates).statistic for name in NAMES]
    assert np.allclose(found.overall, expected, atol=1e-12)


def test_errors(evaluation):
    with pytest.raises(DataError, match="no column AT"):
        demand_correlations(evaluation, ["AT"])
