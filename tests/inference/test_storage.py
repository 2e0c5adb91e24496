"""Saved fits: whole or not at all, equal when read back, and never read when damaged."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import small_layouts
import xarray as xr

import measurement_layouts as ml
from measurement_layouts import FitError
from measurement_layouts.inference.storage import load, save
from measurement_layouts.linking import arrays


@pytest.fixture(scope="module")
def saved(fitted, tmp_path_factory):
    """The shared fit in a file. Nobody may change it."""
    return fitted.save(tmp_path_factory.mktemp("fits") / "fit.nc")


@pytest.fixture
def damaged(saved, tmp_path):
    """A copy that a test may damage."""
    path = tmp_path / "damaged.nc"
    path.write_bytes(saved.read_bytes())
    return path


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


# --- round trip ----------------------------------------------------------------------------------


def test_round_trip(saved, fitted, animal_ai, new_items):
    again = ml.load(saved, layout=animal_ai)
    assert again.layout == fitted.layout
    assert again.failures == fitted.failures
    assert again.subjects == fitted.subjects
    assert again.data.identical(fitted.data)
    for group in fitted.data.children:
        for name, variable in fitted.data[group].variables.items():
            assert again.data[group][name].dtype.kind == variable.dtype.kind, (group, name)
    pd.testing.assert_frame_equal(again.profiles(), fitted.profiles())
    pd.testing.assert_frame_equal(again.diagnostics(), fitted.diagnostics())
    assert again.forecast(new_items).data.identical(fitted.forecast(new_items).data)


def test_saving_leaves_the_fit_as_it_was(fitted, tmp_path):
    before = fitted.data.copy(deep=True)
    fitted.save(tmp_path / "fit.nc")
    assert fitted.data.identical(before)
    assert fitted.data.attrs == before.attrs


def test_a_fit_read_back_saves_again(saved, tmp_path):
    again = ml.Fit.load(saved)
    assert ml.load(again.save(str(tmp_path / "again.nc"))).data.identical(again.data)


def test_the_seed_and_options_are_kept(saved, sampling):
    kept = ml.load(saved).data.attrs
    assert kept["seed"] == sampling["seed"]
    assert kept["tune"] == sampling["tune"]
    assert kept["target_accept"] == 0.8
    assert kept["fingerprint"] == small_layouts.animal_ai().fingerprint


def test_long_reasons_odd_names_and_the_largest_seed(tmp_path):
    """Attributes over 64 kB, names beyond ASCII, 64 bits."""
    names = ["Zoë", "GPT-4o (мини)", "a/b:c", "x" * 300, *map(str, range(1500))]
    items = pd.DataFrame(index=["问题 1", "q/2"])
    outcomes = pd.DataFrame(1, index=names, columns=items.index)
    evaluation = ml.Evaluation.from_wide(outcomes, items)
    posterior = {"p": np.full((len(names), 1, 4), 0.5)}
    failures = {name: "RuntimeError: " + "no finite start " * 9 for name in names[4:]}
    fit = small_layouts.crafted(small_layouts.coin(), evaluation, posterior, failures=failures)
    fit.data.attrs["seed"] = 2**63 - 1
    again = ml.load(fit.save(tmp_path / "odd.nc"))
    assert again.subjects == names[:4]
    assert again.failures == failures
    assert again.data.attrs["seed"] == 2**63 - 1
    assert again.data["observed_data"]["item"].to_numpy().tolist() == ["问题 1", "q/2"]


# --- own linking functions -----------------------------------------------------------------------


@ml.linking_function(range=(0, 1))
def survival(skill, demand):
    """Not one of ours."""
    return arrays.exp(-demand * (1 - skill))


def test_own_linking_function(tmp_path):
    demand = ml.MetaFeature("demand", low=0, high=2)
    skill = ml.Capability("skill", low=0, high=1)
    layout = ml.Layout("own", ml.Success("ok", survival(skill, demand)))
    items = pd.DataFrame({"demand": [0.0, 1.0]}, index=["a", "b"])
    outcomes = pd.DataFrame([[1, 0]], index=["Ann"], columns=items.index)
    evaluation = ml.Evaluation.from_wide(outcomes, items)
    posterior = {"skill": np.linspace(0.1, 0.9, 8).reshape(1, 2, 4)}
    fit = small_layouts.crafted(layout, evaluation, posterior)
    path = fit.save(tmp_path / "own.nc")
    with raises(r"own.nc: its layout cannot be read \(the linking function 'survival' is not known"):
        ml.load(path)
    again = ml.load(path, functions=[survival])
    assert again.layout == layout
    mean = again.forecast(items).data["mean"].sel(item="b").item()
    assert mean == pytest.approx(np.exp(-(1 - posterior["skill"])).mean(), abs=1e-12)

    @ml.linking_function(range=(0, 1))
    def other(skill, demand):
        return arrays.exp(-2 * demand * (1 - skill))

    other.name = "survival"
    with raises("differs from the one the layout was written with"):
        ml.load(path, functions=[other])


# --- files that are no fit -----------------------------------------------------------------------


def test_no_file(tmp_path):
    with raises("there is no file .*nowhere.nc"):
        load(tmp_path / "nowhere.nc")
    with raises("there is no file"):
        load(tmp_path)  # a folder


@pytest.mark.parametrize("content", [b"", b"\0", b"CDF", b"not a fit\n" * 400])
def test_files_that_are_something_else(content, tmp_path):
    path = tmp_path / "other.nc"
    path.write_bytes(content)
    with raises(r"other.nc cannot be read \(.*it is damaged or no saved fit"):
        load(path)


def test_random_bytes(rng, tmp_path):
    path = tmp_path / "random.nc"
    for start in (b"", b"\x89HDF\r\n\x1a\n", b"CDF\x01"):
        path.write_bytes(start + rng.bytes(5000))
        with raises("random.nc"):
            load(path)


def test_netcdf_that_is_no_fit(tmp_path):
    path = tmp_path / "map.nc"
    xr.Dataset({"height": ("x", [1.0, 2.0])}).to_netcdf(path)
    with raises("map.nc is no saved fit: it lacks posterior, sample_stats, .*layout, fingerprint"):
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


TRUNCATE = """
import sys, warnings
from pathlib import Path
from measurement_layouts import FitError, load

warnings.simplefilter("error")
content = Path(sys.argv[1]).read_bytes()
path = Path(sys.argv[2])
refused = 0
step = len(content) // 60
lengths = [*range(0, len(content), step), *(len(content) - cut for cut in (1, 2, 7, 64, 1000))]
for length in lengths:
    path.write_bytes(content[:length])
    try:
        load(path)
    except FitError:
        refused += 1
print(refused, len(lengths))
"""


def test_truncated_at_many_lengths(saved, tmp_path):
    """In a process of its own: a crash of the library that reads would end this one."""
    command = [sys.executable, "-c", TRUNCATE, str(saved), str(tmp_path / "cut.nc")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    refused, tried = map(int, done.stdout.split())
    assert refused == tried > 60


# --- another layout ------------------------------------------------------------------------------


def test_fit_of_another_layout(saved):
    with raises(r"is a fit of the layout 'animal-ai' \(.*\), not of 'coin' \(.*load it without"):
        load(saved, layout=small_layouts.coin())


def test_another_title_is_no_other_layout(saved, animal_ai):
    renamed = ml.Layout("another title", animal_ai.outcome)
    assert load(saved, layout=renamed).layout.name == "animal-ai"


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({"layout": None}, "no saved fit: it lacks layout"),
        ({"failures": None}, "no saved fit: it lacks failures"),
        ({"fingerprint": 7}, "no saved fit: it lacks fingerprint"),
        ({"checksum": None}, "no saved fit: it lacks checksum"),
        ({"layout": "{"}, "contents do not match its checksum"),
        ({"seed": 2}, "contents do not match its checksum"),
    ],
)
def test_edited_attributes(saved, tmp_path, attributes, message):
    with raises(message):
        load(edited(saved, tmp_path, **attributes))


def rewritten(saved, tmp_path, monkeypatch, **attributes):
    """Edited by someone who also set the checksum right, or a check that has become weak."""
    path = edited(saved, tmp_path, **attributes)
    from measurement_layouts.inference import storage

    with xr.open_datatree(path) as tree:
        mark = tree.attrs["checksum"]
    monkeypatch.setattr(storage, "_checksum", lambda data: mark)
    return path


def test_layout_that_is_not_the_one_fitted(saved, tmp_path, monkeypatch, animal_ai):
    written = animal_ai.to_dict()
    next(node for node in written["nodes"] if node["name"] == "rewardSize")["high"] = 2.5
    path = rewritten(saved, tmp_path, monkeypatch, layout=json.dumps(written))
    with raises("its layout has fingerprint .*, but it was fitted with .*; the file or the library"):
        load(path)


@pytest.mark.parametrize("layout", ["{", "{}", '{"nodes": []}', '{"name": 3, "nodes": [7]}'])
def test_layout_that_cannot_be_read(saved, tmp_path, monkeypatch, layout):
    with raises("its layout cannot be read"):
        load(rewritten(saved, tmp_path, monkeypatch, layout=layout))


# --- writing -------------------------------------------------------------------------------------


def test_an_existing_file_is_kept(saved, fitted):
    before = saved.read_bytes()
    with raises("fit.nc exists already; choose another name, or pass overwrite=True"):
        save(fitted, saved)
    assert saved.read_bytes() == before


def test_overwrite(damaged, fitted):
    damaged.write_bytes(b"old")
    assert fitted.save(damaged, overwrite=True) == damaged
    assert load(damaged).data.identical(fitted.data)
    assert [path.name for path in damaged.parent.iterdir()] == ["damaged.nc"]


def test_folder_that_does_not_exist(fitted, tmp_path):
    with raises("cannot write into .*nowhere: No such file or directory; choose or make another"):
        fitted.save(tmp_path / "nowhere" / "fit.nc")


def test_folder_that_is_a_file(fitted, tmp_path):
    (tmp_path / "file").write_text("")
    with raises("cannot write into .*file: Not a directory"):
        fitted.save(tmp_path / "file" / "fit.nc")


def test_path_that_is_a_folder(fitted, tmp_path):
    with raises("exists already"):
        fitted.save(tmp_path)
    with raises("could not write .*nothing was changed"):
        fitted.save(tmp_path, overwrite=True)
    assert list(tmp_path.iterdir()) == []
    assert list(tmp_path.parent.glob(f".{tmp_path.name}*")) == []


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), RuntimeError("HDF error")])
def test_a_write_that_fails_midway_leaves_the_old_file(damaged, fitted, monkeypatch, error):
    def half_written(self, path, **_options):
        Path(path).write_bytes(b"half")
        raise error

    before = damaged.read_bytes()
    monkeypatch.setattr(xr.DataTree, "to_netcdf", half_written)
    with raises("could not write .*damaged.nc: .*; nothing was changed"):
        fitted.save(damaged, overwrite=True)
    assert damaged.read_bytes() == before
    with raises("could not write"):
        fitted.save(damaged.parent / "new.nc")
    assert [path.name for path in damaged.parent.iterdir()] == ["damaged.nc"]


def test_others_may_read_the_file(saved):
    assert saved.stat().st_mode & 0o777 == 0o644
