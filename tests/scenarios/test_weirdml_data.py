"""The real counts and published horizons: what they are, and what ours are beside them."""

import os

import numpy as np
import pandas as pd
import pytest

from measurement_layouts.scenarios import weirdml


@pytest.fixture(scope="module")
def folder(real_data):
    """Folder of the real data, beside the other studies'."""
    found = real_data.parent / "weirdml"
    if not found.is_dir() and not os.environ.get("REQUIRE_REAL_DATA"):
        pytest.skip(f"there is no {found}")
    return found


@pytest.fixture(scope="module")
def counts(folder):
    return weirdml.load(folder)


def grid(table, items):
    """Counts as (subjects, tasks, thresholds), ascending."""
    order = items.sort_values(["task", "threshold"]).index
    return table[order].to_numpy().reshape(len(table), 17, 5)


def test_shape(counts):
    assert counts.successes.shape == (87, 85)
    assert list(counts.items["task"].unique()) == list(weirdml.TASKS)
    assert set(counts.items.groupby("task")["threshold"].agg(tuple)) == {weirdml.THRESHOLDS}
    assert (counts.trials.to_numpy().sum(), counts.successes.to_numpy().sum()) == (37420, 9138)
    assert counts.trials.to_numpy().min() == 1


def test_runs_are_nested(counts):
    """Whoever reached a threshold reached the lower ones, in the same runs."""
    assert (np.diff(grid(counts.successes, counts.items)) <= 0).all()
    assert (np.diff(grid(counts.trials, counts.items)) == 0).all()
    assert (np.diff(grid(counts.items[["hours"]].T, counts.items)) > 0).all()


def test_columns_agree(counts):
    items = counts.items
    assert np.exp2(items["logHours"]).to_numpy() == pytest.approx(items["hours"].to_numpy())
    flags = items[[f"isTask[{task}]" for task in weirdml.TASKS]]
    assert (flags.sum(axis=1) == 1).all()
    assert (flags.idxmax(axis=1) == "isTask[" + items["task"] + "]").all()
    lowest = items["threshold"] == 0.25
    assert (items["nested"] == ~lowest).all()
    assert (items["step"].isna() == lowest).all()


def test_published_horizons(folder):
    table, dates = weirdml.published_horizons(folder), weirdml.released(folder)
    assert table["released"].is_monotonic_increasing
    assert (len(table), len(dates)) == (10, 87)
    assert (table["low"] < table["hours"]).all()
    assert (table["hours"] < table["high"]).all()
    pd.testing.assert_series_equal(dates[table.index], table["released"], check_names=False)
