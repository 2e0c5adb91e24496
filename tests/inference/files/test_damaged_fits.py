"""Files that are no fit, or are damaged, edited or another layout's, are never read as a fit."""

import json

import numpy as np
import pytest
import xarray as xr

import measurement_layouts as ml
from measurement_layouts import FitError
from measurement_layouts.inference.fit import load


def raises(pattern):
    return pytest.raises(FitError, match=pattern)


def edited(saved, tmp_path, **attributes):
    """The same file with other attributes; None takes one away."""
    with xr.open_datatree(saved) as tree:
        data = tree.load()
    kept = {name: text for name, text in (data.attrs | attributes).items() if text is not None}
    data.attrs = kept
    path = tmp_path / "edited.nc"
    data.to_netcdf(path)
    return path


# --- files that are no fit -----------------------------------------------------------------------


def test_no_file(tmp_path):
    with raises("there is no file or store .*nowhere.nc"):
        load(tmp_path / "nowhere.nc")


@pytest.mark.parametrize("content", [b"", b"\0", b"CDF", b"not a fit\n" * 400])
def test_files_that_are_something_else(content, tmp_path):
    path = tmp_path / "other.nc"
    path.write_bytes(content)
    with raises(r"other.nc cannot be read \(.*it is damaged or not a saved fit"):
        load(path)


def test_netcdf_that_is_no_fit(tmp_path):
    path = tmp_path / "map.nc"
    xr.Dataset({"height": ("x", [1.0, 2.0])}).to_netcdf(path)
    with raises(
        "map.nc is not a saved fit: it lacks posterior, sample_stats, .*checksum; fit again"
    ):
        load(path)


def test_damaged_anywhere(damaged, rng):
    """HDF5 reads most damaged numbers without a word: the checksum must not."""
    content = damaged.read_bytes()
    used = np.flatnonzero(np.frombuffer(content, np.uint8))
    for place in rng.choice(used, 12, replace=False):
        flipped = bytearray(content)
        flipped[place] ^= 0x40
        damaged.write_bytes(flipped)
        try:
            again = load(damaged)
        except FitError:
            continue
        damaged.write_bytes(content)  # the byte was none of the fit's
        assert again.data.identical(load(damaged).data)


def test_a_single_changed_number(saved, tmp_path):
    """Twin of the above: a file in good order whose contents are not what was saved."""
    with xr.open_datatree(saved) as tree:
        data = tree.load()
    data["posterior"]["noiseLevel"][0, 0, 0] += 1e-9
    path = tmp_path / "changed.nc"
    data.to_netcdf(path)
    with raises("changed.nc is damaged: its contents do not match its checksum"):
        load(path)


# --- another layout ------------------------------------------------------------------------------


def test_another_title_is_no_other_layout(saved, animal_ai):
    renamed = ml.Layout("another title", animal_ai.outcome)
    assert load(saved, layout=renamed).layout.name == "animal-ai"


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({"failures": None}, "contents do not match its checksum"),
        ({"checksum": None}, "not a saved fit: it lacks checksum"),
        ({"layout": "{"}, "contents do not match its checksum"),
        ({"seed": 2}, "contents do not match its checksum"),
    ],
)
def test_edited_attributes(saved, tmp_path, attributes, message):
    with raises(message):
        load(edited(saved, tmp_path, **attributes))


@pytest.mark.parametrize("number", [0, 7])
def test_another_format(saved, tmp_path, number):
    path = edited(saved, tmp_path, format=number, measurement_layouts="3.1")
    with raises(
        f"has format {number}, and this version of measurement-layouts reads format 3; read it "
        "with version 3.1, or fit again"
    ):
        load(path)


def rewritten(saved, tmp_path, monkeypatch, **attributes):
    """Edited by someone who also set the checksum right, or a check that has become weak."""
    path = edited(saved, tmp_path, **attributes)
    from measurement_layouts.inference.files import trees

    with xr.open_datatree(path) as tree:
        mark = tree.attrs["checksum"]
    monkeypatch.setattr(trees, "checksum", lambda *_: mark)
    return path


def test_layout_that_is_not_the_one_fitted(saved, tmp_path, monkeypatch, animal_ai):
    written = animal_ai.to_dict()
    next(node for node in written["nodes"] if node["name"] == "rewardSize")["high"] = 2.5
    path = rewritten(saved, tmp_path, monkeypatch, layout=json.dumps(written))
    with raises(
        "has a layout with fingerprint .*, but it was fitted with .*; the file or the library"
    ):
        load(path)
