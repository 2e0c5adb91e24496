"""The real counts and published horizons: what they are, and what ours are beside them."""

import os
import shutil

import numpy as np
import pandas as pd
import pytest

import measurement_layouts as ml
from measurement_layouts.scenarios import weirdml
from measurement_layouts.scenarios.weirdml import data


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
    assert set(counts.items.groupby("task")["threshold"].agg(tuple)) == {data.THRESHOLDS}
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


def test_calibration(counts):
    """Ratios are those of the source: 0.357, 0.308, 0.19, 0.174 and 0.131."""
    corrected = weirdml.calibrated(counts)
    ratio = (corrected.items["hours"] / counts.items["hours"]).groupby(counts.items["threshold"])
    assert ratio.mean().round(3).tolist() == [0.357, 0.308, 0.19, 0.174, 0.131]
    assert corrected.items["step"].min() > 0
    pd.testing.assert_frame_equal(corrected.successes, counts.successes)


def test_published_horizons(folder):
    plain, corrected = (
        weirdml.published_horizons(folder, hours=hours) for hours in ("estimated", "calibrated")
    )
    assert plain["released"].is_monotonic_increasing
    assert list(plain.index) == list(corrected.index)
    assert len(plain) == 10
    for table in (plain, corrected):
        assert (table["low"] < table["hours"]).all()
        assert (table["hours"] < table["high"]).all()
        assert table["slope"].between(0.5, 1.5).all()
    assert (corrected["hours"] < plain["hours"]).all()
    dates = weirdml.released(folder)
    assert len(dates) == 87
    pd.testing.assert_series_equal(dates[plain.index], plain["released"], check_names=False)


@pytest.mark.parametrize("layout", [weirdml.recommended_layout(), weirdml.nested_layout()])
def test_declared_ranges_hold_the_real_items(layout, counts):
    for items in (counts.items, weirdml.calibrated(counts).items):
        for feature in layout.meta_features:
            columns = items[list(feature.columns)]
            found = columns.to_numpy()[~columns.isna().to_numpy()]
            assert feature.low <= found.min() <= found.max() <= feature.high


def test_a_changed_file_is_refused(folder, tmp_path):
    for name in data.FILES.checksums:
        shutil.copy(folder / name, tmp_path)
        (tmp_path / name).chmod(0o644)
    path = tmp_path / "item_features_task_threshold.csv"
    path.write_text(path.read_text().replace("0.25", "0.26", 1))
    with pytest.raises(ml.DataError, match="its checksum is"):
        weirdml.load(tmp_path)


def test_no_folder_is_named(monkeypatch):
    monkeypatch.delenv("MEASUREMENT_LAYOUTS_DATA", raising=False)
    with pytest.raises(ml.DataError, match="MEASUREMENT_LAYOUTS_DATA"):
        weirdml.load()
