"""Real data that nobody offers for download: a folder is needed, with the files as published."""

import importlib

import pytest

from measurement_layouts import DataError, scenarios

NAMES = ("weirdml", "gsm8k", "fraction-subtraction", "math-exam")


def files(name):
    room = scenarios.get(name).load.__module__
    return importlib.import_module(room).FILES


@pytest.mark.parametrize("name", NAMES)
def test_without_a_folder_the_error_says_that_there_is_no_download(name, monkeypatch):
    monkeypatch.delenv("MEASUREMENT_LAYOUTS_DATA", raising=False)
    with pytest.raises(DataError, match=r"not offered for download.*--data") as caught:
        scenarios.get(name).load(None)
    assert all(file in str(caught.value) for file in files(name).checksums)


@pytest.mark.parametrize("name", NAMES)
def test_a_changed_file_is_refused(name, tmp_path):
    for file in files(name).checksums:
        (tmp_path / file).write_text("changed")
    with pytest.raises(DataError, match="is not the published file"):
        scenarios.get(name).load(tmp_path)
