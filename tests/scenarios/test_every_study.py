"""What every study has in common: cohorts by seed, declared ranges, and files with checksums."""

import functools
import http.server
import importlib
import shutil
import threading

import pandas as pd
import pytest

from measurement_layouts import DataError, scenarios
from measurement_layouts.inference.model.features import read_features
from measurement_layouts.scenarios.animal_ai_olympics import FILES as OFFERED
from measurement_layouts.scenarios.files import Files

WITH_FILES = [name for name in scenarios.NAMES if name not in ("object-permanence", "dispositions")]


def files(name):
    return importlib.import_module(scenarios.get(name).load.__module__).FILES


@pytest.mark.parametrize("name", scenarios.NAMES)
def test_a_seed_makes_the_same_cohort_and_another_makes_another(name):
    one, again, other = map(scenarios.get(name).simulate, (4, 4, 5))
    pd.testing.assert_frame_equal(one.evaluation.successes, again.evaluation.successes)
    pd.testing.assert_frame_equal(one.profiles, again.profiles)
    assert not one.evaluation.successes.equals(other.evaluation.successes)
    assert one.evaluation.subjects == list(one.profiles.index)


@pytest.mark.parametrize("name", scenarios.NAMES)
def test_layouts_read_the_items_of_cohorts(name):
    """Reading refuses what is missing or outside the declared ranges."""
    scenario = scenarios.get(name)
    items = scenario.simulate(3).evaluation.items
    for make in scenario.layouts.values():
        if not make().joint:
            assert read_features(make(), items)


@pytest.mark.parametrize("name", WITH_FILES)
def test_layouts_read_the_real_items(name, real_data):
    scenario = scenarios.get(name)
    items = scenario.load(real_data.parent).items
    for make in scenario.layouts.values():
        if not make().joint:
            assert read_features(make(), items)


@pytest.mark.parametrize("name", WITH_FILES)
def test_a_changed_file_is_refused(name, tmp_path):
    for file in files(name).checksums:
        (tmp_path / file).write_text("changed")
    with pytest.raises(DataError, match="is not the published file"):
        scenarios.get(name).load(tmp_path)


@pytest.mark.parametrize("name", WITH_FILES)
def test_a_missing_file_is_named(name, tmp_path, monkeypatch):
    first = next(iter(files(name).checksums))
    with pytest.raises(DataError, match=f"there is no {first} in .*; set --data to"):
        scenarios.get(name).load(tmp_path)
    monkeypatch.setenv("MEASUREMENT_LAYOUTS_DATA", str(tmp_path))
    with pytest.raises(DataError, match="set MEASUREMENT_LAYOUTS_DATA to"):
        scenarios.get(name).load(None)


@pytest.mark.parametrize("name", [name for name in WITH_FILES if name != "animal-ai-olympics"])
def test_without_a_folder_the_error_says_that_there_is_no_download(name, monkeypatch):
    monkeypatch.delenv("MEASUREMENT_LAYOUTS_DATA", raising=False)
    with pytest.raises(DataError, match=r"not offered for download.*--data") as caught:
        scenarios.get(name).load(None)
    assert all(file in str(caught.value) for file in files(name).checksums)


@pytest.fixture
def server(tmp_path, real_data):
    """Address of a local server that offers the two files of the Animal-AI Olympics."""
    for name in OFFERED.checksums:
        shutil.copy(real_data / name, tmp_path)
    quiet = type("Quiet", (http.server.SimpleHTTPRequestHandler,), {"log_message": print})
    handler = functools.partial(quiet, directory=str(tmp_path))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as served:
        threading.Thread(target=served.serve_forever).start()
        yield f"http://127.0.0.1:{served.server_port}/"
        served.shutdown()


def test_files_are_downloaded_cached_and_checked(server, tmp_path, monkeypatch):
    monkeypatch.delenv("MEASUREMENT_LAYOUTS_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    offered = Files("aaio", server)
    paths = offered.find(None)
    assert {path.name for path in paths.values()} == set(OFFERED.checksums)
    (tmp_path / "scores_all.csv").write_text("changed")
    assert offered.find(None) == paths  # from the cache
    paths["scores_all.csv"].unlink()
    with pytest.raises(DataError, match="could not be downloaded") as caught:
        offered.find(None)
    for word in (*OFFERED.checksums, server, "--data", "MEASUREMENT_LAYOUTS_DATA"):
        assert word in str(caught.value)
