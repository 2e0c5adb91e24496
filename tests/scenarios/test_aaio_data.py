"""The loader of the real data: coding, checks and download."""

import shutil

import numpy as np
import pandas as pd
import pooch
import pytest

from measurement_layouts import DataError
from measurement_layouts.scenarios import animal_ai_olympics as aaio

FILES = ("scores_all.csv", "task_codes.csv")


@pytest.fixture
def copy(real_data, tmp_path):
    for name in FILES:
        shutil.copy(real_data / name, tmp_path)
        (tmp_path / name).chmod(0o644)
    return tmp_path


@pytest.fixture
def no_data(monkeypatch):
    monkeypatch.delenv("MEASUREMENT_LAYOUTS_DATA", raising=False)


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


def test_distances_are_coded_as_published(evaluation):
    distance, coded = evaluation.items["distance"], evaluation.items["rewardDistance"]
    assert (round(distance.mean(), 2), round(distance.std(ddof=1), 2)) == (27.79, 11.10)
    expected = (distance - distance.mean()) / distance.std(ddof=1)
    np.testing.assert_allclose(coded, expected, rtol=0, atol=1e-12)


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


def test_the_folder_may_hold_the_files_or_their_folder(evaluation, real_data):
    same(aaio.load(real_data.parent), evaluation)


@pytest.mark.parametrize("up", [0, 1])
def test_the_environment_variable_names_either(evaluation, real_data, monkeypatch, up):
    folder = (real_data, real_data.parent)[up]
    monkeypatch.setenv("MEASUREMENT_LAYOUTS_DATA", str(folder))
    same(aaio.load(), evaluation)


def test_a_given_folder_goes_before_the_environment_variable(monkeypatch, evaluation, real_data):
    monkeypatch.setenv("MEASUREMENT_LAYOUTS_DATA", "/nowhere")
    same(aaio.load(real_data), evaluation)


def test_a_changed_file_is_refused(copy):
    path = copy / "scores_all.csv"
    path.write_text(path.read_text().replace("True", "False", 1))
    with pytest.raises(DataError, match="is not the published file: its checksum"):
        aaio.load(copy)


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file_is_named(copy, name):
    (copy / name).unlink()
    with pytest.raises(DataError, match=f"there is no {name} in {copy}.*set --data to the folder"):
        aaio.load(copy)


def test_a_missing_folder_of_the_environment_variable_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("MEASUREMENT_LAYOUTS_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(DataError, match=r"nowhere or.*set MEASUREMENT_LAYOUTS_DATA to"):
        aaio.load()


@pytest.mark.usefixtures("no_data")
def test_download(monkeypatch, evaluation, real_data, tmp_path):
    asked = {}

    def retrieve(url, known_hash, fname, path):
        asked[url] = known_hash
        return str(shutil.copy(real_data / url.rsplit("/", 1)[1], tmp_path / fname))

    monkeypatch.setattr(pooch, "retrieve", retrieve)
    same(aaio.load(), evaluation)
    assert asked == {aaio.ADDRESS + name: f"sha256:{aaio.FILES.checksums[name]}" for name in FILES}
    assert aaio.COMMIT in aaio.ADDRESS


@pytest.mark.usefixtures("no_data")
def test_no_network(monkeypatch):
    def retrieve(*args, **options):
        raise ConnectionError("no route to host")

    monkeypatch.setattr(pooch, "retrieve", retrieve)
    with pytest.raises(DataError, match=r"could not be downloaded.*no route to host") as caught:
        aaio.load()
    for word in (*FILES, aaio.ADDRESS, "--data", "MEASUREMENT_LAYOUTS_DATA"):
        assert word in str(caught.value)
