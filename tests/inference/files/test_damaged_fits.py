"""Files that are no fit, or are damaged, edited or another layout's, are never read as a fit."""

import pytest
import xarray as xr

from measurement_layouts import FitError
from measurement_layouts.inference.files import trees
from measurement_layouts.inference.fit import load


def raises(pattern):
    return pytest.raises(FitError, match=pattern)


def edited(saved, tmp_path, **attributes):
    """The same fit with other attributes, by someone who also set the checksum right."""
    with xr.open_datatree(saved) as tree:
        data = tree.load()
    data.attrs |= attributes
    trees.write_tree(tmp_path / "edited.nc", data, list(data.children))
    return tmp_path / "edited.nc"


# --- files that are no fit -----------------------------------------------------------------------


def test_no_file(tmp_path):
    with raises("there is no file or store .*nowhere.nc"):
        load(tmp_path / "nowhere.nc")


def test_netcdf_that_is_no_fit(tmp_path):
    path = tmp_path / "map.nc"
    xr.Dataset({"height": ("x", [1.0, 2.0])}).to_netcdf(path)
    with raises(r"map.nc cannot be read \(.*it is damaged or not a saved fit"):
        load(path)


def test_damaged_anywhere(damaged, rng):
    """HDF5 reads most damaged numbers without a word, or crashes: the checksum comes before."""
    content = damaged.read_bytes()
    for place in rng.integers(len(content), size=12):
        flipped = bytearray(content)
        flipped[place] ^= 0x40
        damaged.write_bytes(flipped)
        with raises("contents do not match the checksum at its end"):
            load(damaged)


def test_a_single_changed_number(saved, tmp_path):
    """Twin of the above: a file in good order whose contents are not what was saved."""
    with xr.open_datatree(saved) as tree:
        data = tree.load()
    data["posterior"]["noiseLevel"][0, 0, 0] += 1e-9
    path = tmp_path / "changed.nc"
    data.to_netcdf(path)
    with raises("changed.nc cannot be read .*contents do not match the checksum at its end"):
        load(path)


# --- another layout ------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [0, 7])
def test_another_format(saved, tmp_path, number):
    path = edited(saved, tmp_path, format=number, measurement_layouts="3.1")
    with raises(
        f"has format {number}, and this version of measurement-layouts reads format 4; read it "
        "with version 3.1, or fit again"
    ):
        load(path)
