"""What is damaged in a store is never read as a fit, and the error says what to do."""

import shutil

import pytest
import xarray as xr
from helpers import folders, pretend
from helpers.populations import cohort_data, exam_layout

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


@pytest.mark.parametrize(
    "damage",
    [
        flip,
        lambda file: file.write_bytes(file.read_bytes()[:-1]),
        lambda file: file.write_bytes(b""),
        lambda file: shutil.copy(file.with_name("unit-0-2-0.npz"), file),  # another subject's
    ],
    ids=["flipped", "truncated", "empty", "copied"],
)
def test_damaged_draws(filled, animal_ai, damage):
    file = filled / "unit-2-1-0.npz"
    fit = ml.load(filled)
    damage(file)
    message = f"{file} is damaged .*; restore a copy, or delete it and fit again with this store"
    for ask in (
        fit.profiles,
        lambda: fit.posterior.sel(subject="s2").load(),
        lambda: fit.save(filled.parent / "fit.nc"),
    ):
        with raises(message):
            ask()
    assert not (filled.parent / "fit.nc").exists()
    assert fit.posterior["noiseLevel"].sel(subject="s3").notnull().all()
    file.unlink()  # as the message says
    with raises(message):
        fit.profiles()
    with folders.opened(filled, animal_ai, folders.evaluation()) as store:
        assert store.next_units(2)
        folders.add(store, animal_ai, 2)
        assert len(ml.Fit.of(store.posterior()).diagnostics()) == 3


@pytest.mark.parametrize(
    "damage",
    [
        flip,
        lambda file: file.write_bytes(file.read_bytes()[:4000]),
        lambda file: file.write_text(""),
        lambda file: xr.Dataset().to_netcdf(file),
    ],
)
def test_a_damaged_head(filled, animal_ai, damage):
    damage(filled / "head.nc")
    pattern = r"head.nc cannot be read \(.*: restore a copy, or fit again into another store"
    with raises(pattern):
        ml.load(filled)
    before = sorted(filled.iterdir())
    with raises(pattern), folders.opened(filled, animal_ai, folders.evaluation()):
        pass
    assert sorted(filled.iterdir()) == before


def test_draws_of_another_store(filled, animal_ai, tmp_path):
    with folders.opened(tmp_path / "other", animal_ai, folders.evaluation(), seed=4) as store:
        folders.add(store, animal_ai, 2)
    shutil.copy(tmp_path / "other" / "unit-2-1-0.npz", filled)
    with raises("unit-2-1-0.npz is damaged .*it is a copy of another file"):
        ml.load(filled)


def test_a_damaged_chain_of_a_joint_fit_is_sampled_again(tmp_path, monkeypatch):
    pretend.install_jointly(monkeypatch)
    options = {"draws": 20, "chains": 2, "seed": 3, "reruns": 0, "progressbar": False}
    store = tmp_path / "store"

    def again():
        return ml.fit(exam_layout(), cohort_data(), store=store, **options)

    fit = again()
    flip(store / "unit-0-1-1.npz")
    for call in (lambda: ml.load(store), again):
        with raises(r"unit-0-1-1\.npz is damaged"):
            call()
    (store / "unit-0-1-1.npz").unlink()
    assert again().data.identical(fit.data)


@pytest.mark.slow
def test_every_file_damaged(filled, rng):
    """Flip a byte, or cut a file short: that is noticed, or nothing that is read depends on it."""
    files = sorted(file for file in filled.iterdir() if file.stat().st_size)
    expected = ml.load(filled).data.load()
    tried, refused = 0, 0
    for file in files:
        content = file.read_bytes()
        places = rng.integers(len(content), size=12)
        versions = [content[:length] for length in (0, 1, len(content) // 2, len(content) - 1)]
        for place in places:
            flipped = bytearray(content)
            flipped[place] ^= 0x40
            versions.append(bytes(flipped))
        for version in versions:
            file.write_bytes(version)
            tried += 1
            try:
                again = ml.load(filled).data.load()
            except FitError:
                refused += 1
            else:
                assert again.identical(expected), file
        file.write_bytes(content)
    assert ml.load(filled).data.identical(expected)
    assert refused > tried / 2
