"""What older versions wrote loads and says the same; what they offered is there."""

import copy
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
from helpers import golden_cases
from helpers.public_interface import broken, interface

import measurement_layouts as ml

VERSIONS = sorted((Path(__file__).parent / "golden").iterdir())
EACH = pytest.mark.parametrize("folder", VERSIONS, ids=lambda folder: folder.name)
TOLERANCE = 1e-9  # other versions of NumPy add up in another order


def expected(folder):
    return json.loads((folder / "expected.json").read_text())


def check(fit, was):
    """Hold what is read from a fit against what its version read."""
    now = golden_cases.read(fit)
    for name in ("fingerprint", "subjects", "statuses"):
        assert now[name] == was[name]
    for name in ("profiles", "forecasts"):
        assert now[name] == [pytest.approx(row, rel=TOLERANCE, abs=TOLERANCE) for row in was[name]]


def test_the_first_version_is_there():
    assert VERSIONS[0].name == "0.1.0"


@EACH
@pytest.mark.parametrize("name", golden_cases.FITS)
@pytest.mark.trust("stability", "fits of every version load")
def test_fits_load(folder, name):
    functions = golden_cases.FUNCTIONS.get(name, [])
    check(ml.load(folder / f"{name}.nc", functions=functions), expected(folder)[name])


@EACH
@pytest.mark.trust("stability", "stores of every version open and go on")
def test_stores_open_and_go_on(folder, tmp_path):
    with zipfile.ZipFile(folder / "store.zip") as packed:
        packed.extractall(tmp_path / "store")
    was = expected(folder)["store"]
    check(ml.load(tmp_path / "store"), was)
    layout = golden_cases.plain()
    outcomes = ml.load(tmp_path / "store").observed["successes"].to_pandas()
    again = golden_cases.evaluation(layout)
    np.testing.assert_array_equal(outcomes, again.successes)  # the simulator's stream is the same
    fit = ml.fit(layout, again, **golden_cases.SAMPLING, store=tmp_path / "store")
    check(fit, was)


@EACH
@pytest.mark.trust("stability", "layouts of every version are read, with the same fingerprint")
def test_layouts_are_read(folder):
    fingerprints = expected(folder)["layouts"]
    written = json.loads((folder / "layouts.json").read_text())
    assert set(written) == set(fingerprints)
    assert len(written) >= 15
    functions = golden_cases.scenario_functions()
    for name, data in written.items():
        assert ml.Layout.from_dict(data, functions).fingerprint == fingerprints[name], name


@EACH
@pytest.mark.trust("stability", "the public interface of every version is there")
def test_the_interface_is_there(folder):
    assert broken(json.loads((folder / "interface.json").read_text()), interface()) == []


def test_a_changed_file_is_noticed():
    """Twin: another profile is not within the tolerance."""
    folder = VERSIONS[0]
    was = expected(folder)["plain"]
    was["profiles"][0][0] += 1e-6
    with pytest.raises(AssertionError):
        check(ml.load(folder / "plain.nc"), was)


def test_a_broken_interface_is_noticed():
    """Twin: what is gone, moved, renamed or changed is named."""
    now = interface()
    old = copy.deepcopy(now)
    old["names"]["ml.gone"] = {}
    old["names"]["ml.Fit"]["members"].append("lost")
    old["names"]["validation.loo"]["called"].insert(0, ["first", "POSITIONAL_OR_KEYWORD", None])
    fit = old["names"]["ml.fit"]["called"]
    fit[fit.index(["draws", "KEYWORD_ONLY", "1000"])] = ["draws", "KEYWORD_ONLY", "500"]
    del old["names"]["ml.simulate"]["called"][0]
    old["commands"]["measurement-layouts fit"].append("--quietly")
    assert broken(old, now) == [
        "ml.Fit.lost is gone",
        "ml.fit: draws was 500, and is 1000",
        "ml.simulate: items has another place",
        "ml.simulate: profiles has another place",
        "ml.simulate: layout must be given",
        "validation.loo: first is gone",
        "validation.loo: fit has another place",
        "ml.gone is gone",
        "measurement-layouts fit has no --quietly any more",
    ]
