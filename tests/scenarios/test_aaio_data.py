"""The loader of the real data: coding, checks and download."""

import pandas as pd
import pytest

from measurement_layouts.scenarios import animal_ai_olympics as aaio


def test_shape(evaluation):
    assert len(evaluation.subjects) == 68
    assert len(evaluation.items) == 69
    assert evaluation.trials.to_numpy().min() == evaluation.trials.to_numpy().max() == 1
    assert list(evaluation.items.columns) == [
        *("rewardSize", "rewardDistance", "rewardBehind", "XPos"),
        *("size", "distance", "colour", "lights"),
    ]


def test_success_rates_equal_figure_9(evaluation, published_tables):
    published = pd.read_csv(published_tables / "aaio_figure9.csv", index_col="agent")
    names = [aaio.SPELLING.get(name, name) for name in evaluation.subjects]
    assert sorted(names) == sorted(published.index)
    expected = published.loc[names, "success_mean"].to_numpy()
    assert evaluation.success_rates().round(2).to_numpy() == pytest.approx(expected, abs=1e-9)


def test_sizes_are_coded_as_published(evaluation):
    coded = evaluation.items.groupby("size")["rewardSize"].unique()
    assert coded.map(len).eq(1).all()
    found = coded.map(lambda values: round(values[0], 3)).to_dict()
    assert found == {0.5: 1.267, 1.0: 0.256, 3.0: -1.206, 5.0: -1.862}


def test_sides_are_coded_as_table_2_says(real_data, evaluation):
    codes = pd.read_csv(real_data / "task_codes.csv", index_col="task")
    side = codes.loc[evaluation.items.index, "reward_side"]
    found = evaluation.items.assign(side=side).groupby("side")[["rewardBehind", "XPos"]].agg(set)
    assert found.to_dict("index") == {
        "behind": {"rewardBehind": {1}, "XPos": {0}},
        "left": {"rewardBehind": {0.5}, "XPos": {-1}},
        "right": {"rewardBehind": {0.5}, "XPos": {1}},
        "straight": {"rewardBehind": {0}, "XPos": {0}},
    }


def same(one, other):
    pd.testing.assert_frame_equal(one.items, other.items)
    pd.testing.assert_frame_equal(one.successes, other.successes)


@pytest.mark.parametrize("up", [0, 1])
def test_the_environment_variable_names_either(evaluation, real_data, monkeypatch, up):
    folder = (real_data, real_data.parent)[up]
    monkeypatch.setenv("MEASUREMENT_LAYOUTS_DATA", str(folder))
    same(aaio.load(), evaluation)
