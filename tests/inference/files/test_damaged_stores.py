"""What is damaged in a store is never read as a fit, and the subject it is about is named."""

import json
import shutil

import numpy as np
import pytest
from helpers import folders

import measurement_layouts as ml
from measurement_layouts import FitError


def raises(pattern):
    return pytest.raises(FitError, match=pattern)


@pytest.fixture(scope="module")
def template(animal_ai, tmp_path_factory):
    """The store that tests take copies of."""
    return folders.filled(tmp_path_factory.mktemp("stores") / "store", animal_ai)


@pytest.fixture
def filled(template, tmp_path):
    """Five subjects: s0, s2 and s3 are finished, s1 failed, s4 is to do."""
    return shutil.copytree(template, tmp_path / "store")


def flip(file, place=None):
    content = bytearray(file.read_bytes())
    content[len(content) // 2 if place is None else place] ^= 0x40
    file.write_bytes(content)


def edit(file, change):
    said = json.loads(file.read_text())
    change(said)
    file.write_text(json.dumps(said))


# --- one subject's draws -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (flip, "c.2.0.0 has other contents"),
        (lambda file: file.write_bytes(file.read_bytes()[:-1]), "c.2.0.0 has other contents"),
        (lambda file: file.write_bytes(b""), "c.2.0.0 has other contents"),
        (lambda file: file.unlink(), "No such file or directory: .*c.2.0.0"),
        (
            lambda file: shutil.copy(file.with_name("c.0.0.0"), file),  # another subject's
            "c.2.0.0 has other contents",
        ),
    ],
)
def test_damaged_draws(filled, animal_ai, damage, message):
    damage(filled / "posterior" / "noiseLevel" / "c.2.0.0")
    fit = ml.load(filled)
    remedy = (
        "the data of s2 in the store .*store are damaged; restore a copy, or delete .*2.json and"
    )
    for ask in (
        fit.profiles,
        fit.diagnostics,
        lambda: fit.posterior["noiseLevel"].sel(subject="s2").to_numpy(),
        lambda: fit.data.load(),
        lambda: fit.save(filled.parent / "fit.nc"),
    ):
        with raises(f"^.*{message}.*: {remedy}"):
            ask()
    assert not (filled.parent / "fit.nc").exists()
    assert fit.posterior["noiseLevel"].sel(subject="s3").notnull().all()
    (filled / "records" / "2.json").unlink()  # as the message says
    with folders.opened(filled, animal_ai, folders.evaluation()) as store:
        assert store.finished == {"s0", "s3"}
        store.add(folders.sampled(animal_ai, "s2"))
        assert len(ml.Fit.of(store.posterior()).diagnostics()) == 4


# --- everything else -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "damage",
    [
        lambda file: flip(file, 3),
        lambda file: file.write_text(""),
        lambda file: file.write_text("[]"),
        lambda file: edit(file, lambda said: said.update(attempts=1)),
        lambda file: edit(file, lambda said: said.pop("digest")),
    ],
)
def test_damaged_records(filled, animal_ai, damage):
    damage(filled / "records" / "0.json")
    message = "0.json is damaged .*: restore a copy, or delete it and fit again with this store"
    with raises(message):
        ml.load(filled)
    with raises(message):
        folders.opened(filled, animal_ai, folders.evaluation())


def test_a_record_of_another_subject(filled):
    shutil.copy(filled / "records" / "0.json", filled / "records" / "2.json")
    with raises("its record is that of another subject: the data of s0 in the store .* are dam"):
        ml.load(filled)
    shutil.copy(filled / "records" / "0.json", filled / "records" / "77.json")
    with raises("another subject: the data"):
        ml.load(filled)


@pytest.mark.parametrize("name", ["successes", "trials"])
def test_damaged_outcomes(filled, name):
    import zarr

    zarr.open_array(str(filled), path=f"observed_data/{name}", mode="r+")[80] = 5
    with raises("its outcomes differ from those of its fit: the data of s3 in the store"):
        ml.load(filled)


@pytest.mark.parametrize(
    ("array", "place"),
    [
        ("prior/noiseLevel", (0, 9)),
        ("constant_data/rewardSize", (2,)),
        ("constant_data/meanFailure", (0,)),
    ],
)
def test_damaged_items_priors_and_constants(filled, array, place):
    import zarr

    zarr.open_array(str(filled), path=array, mode="r+")[place] = 0.1234
    with raises("s0 in the store .* damaged|is damaged"):
        ml.load(filled)


@pytest.mark.parametrize("name", ["seed", "tune", "layout", "measurement_layouts"])
def test_edited_attributes(filled, name):
    edit(filled / "zarr.json", lambda said: said["attributes"].update({name: "7"}))
    with raises("store is damaged: its items, prior or attributes do not match their checksum"):
        ml.load(filled)


def test_missing_attributes(filled):
    edit(filled / "zarr.json", lambda said: said["attributes"]["store"].pop("options"))
    with raises(r"store cannot be read \(KeyError: 'options'\); it is damaged"):
        ml.load(filled)


@pytest.mark.trust("faults", "a store with a damaged file")
@pytest.mark.slow
def test_every_file_damaged(filled, rng):
    """Flip a byte of each file: that is found, or nothing that is read depends on it."""
    files = sorted(file for file in filled.rglob("*") if file.is_file() and file.stat().st_size)
    expected = ml.load(filled).data.load()
    found = 0
    for file in files:
        content = file.read_bytes()
        flip(file, int(rng.integers(len(content))))
        try:
            again = ml.load(filled).data.load()
        except FitError:
            found += 1
        else:
            assert again.identical(expected), file
        file.write_bytes(content)
    assert ml.load(filled).data.identical(expected)
    assert found > len(files) / 2


def test_without_its_root(filled):
    (filled / "zarr.json").unlink()
    with raises("there is no store in the folder .*store; give a folder used as store= of fit"):
        ml.load(filled)


def test_without_what_the_root_says_about_the_arrays(filled, animal_ai):
    """It looks like a store that is still being made; its draws must not be overwritten."""
    edit(filled / "zarr.json", lambda said: said.pop("consolidated_metadata"))
    before = sorted(filled.rglob("*"))
    with raises("store cannot be read .*it is damaged"):
        ml.load(filled)
    with raises("store cannot be read .*it is damaged"):
        folders.opened(filled, animal_ai, folders.evaluation())
    assert sorted(filled.rglob("*")) == before


def test_a_folder_that_is_no_store(tmp_path):
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "cat.png").write_text("cat")
    with raises("there is no store in the folder .*photos"):
        ml.load(tmp_path / "photos")


def test_damage_is_what_makes_the_difference(filled):
    """Twin: an undamaged copy is read."""
    assert np.isfinite(ml.load(filled).profiles()["mean"]).all()
