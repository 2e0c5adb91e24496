"""A disk that is full, a real one: what could not be written is said, and nothing is left half.

As a user: ``unshare -Urm python -m pytest tests/inference/files/test_fault_full_disk.py``.
"""

import os
import subprocess

import pytest
from helpers.fault_cases import OPTIONS, cohort, exactly, layout, same_draws

import measurement_layouts as ml
from measurement_layouts import FitError
from measurement_layouts.command import main
from measurement_layouts.common.errors import StoreError
from measurement_layouts.inference.loop import Alone

SUBJECTS = 40
LONG = OPTIONS | {"draws": 1000, "n_jobs": 1}
FULL = "the disk is full: make room, or choose another folder; nothing was changed"


@pytest.fixture
def disk(tmp_path):
    """A disk of one MiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(folder)]
    try:
        subprocess.run(mount, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no small disk can be mounted here; as a user, run this under `unshare -Urm`")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def filled(disk, leave=0):
    """Fill the disk but for so many bytes; what takes the room."""
    room = os.statvfs(disk)
    filler = disk / "others"
    filler.write_bytes(bytes(max(0, room.f_bavail * room.f_bsize - leave)))
    return filler


def files(folder):
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def fit():
    """Draws that take more than the disk has."""
    return ml.fit(layout, cohort(SUBJECTS), **LONG)


@pytest.fixture(scope="module")
def short():
    """Draws that take less."""
    return ml.fit(layout, cohort(3), **OPTIONS)


@pytest.mark.parametrize("leave", [None, 300_000, 4096, 0])
def test_saving(disk, fit, short, leave):
    place = disk / "fit.nc"
    place.write_bytes(b"old")
    filler = disk / "others" if leave is None else filled(disk, leave)
    before = files(disk)
    with exactly(FitError, f"could not write {place}: {FULL}"):
        fit.save(place, overwrite=True)
    with exactly(FitError, f"could not write {disk / 'new.nc'}: {FULL}"):
        fit.save(disk / "new.nc")
    assert files(disk) == before
    filler.unlink(missing_ok=True)
    assert same_draws(ml.load(short.save(place, overwrite=True)), short)


def test_a_store(disk, fit, monkeypatch):
    store, wanted = disk / "store", cohort(SUBJECTS).select(subjects=[f"s{n}" for n in range(12)])
    filler = filled(disk, 400_000)
    with pytest.raises(StoreError) as caught:
        ml.fit(layout, wanted, store=store, **LONG)
    done = len(ml.load(store).subjects)
    assert 0 < done < 12
    assert str(caught.value) == (
        f"could not write s{done} into {store}: [Errno 28] No space left on device; kept in it: "
        f"{done} of 12 subjects; make room, and fit again with the same store"
    )
    filler.unlink()
    names, sample = [], Alone.sample

    def noted(model, name, *rest):
        names.append(name)
        return sample(model, name, *rest)

    monkeypatch.setattr(Alone, "sample", noted)
    again = ml.fit(layout, wanted, store=store, **LONG)
    assert names == wanted.subjects[done:]
    assert again.posterior.equals(fit.posterior.sel(subject=wanted.subjects))


@pytest.mark.parametrize("leave", [0, 20_000])
def test_a_store_from_the_start(disk, leave):
    store = disk / "store"
    filler = filled(disk, leave)
    with exactly(
        FitError,
        f"could not write {store / 'head.nc'}: {FULL}",
    ):
        ml.fit(layout, cohort(3), store=store, **OPTIONS)
    filler.unlink()
    assert ml.fit(layout, cohort(3), store=store, **OPTIONS).subjects == ["s0", "s1", "s2"]


@pytest.mark.parametrize("name", ["report.html", "report.md"])
def test_a_report(disk, short, name):
    place = disk / name
    place.write_bytes(b"old")
    filler = filled(disk, leave=0)
    before = files(disk)
    with exactly(FitError, f"could not write {place}: {FULL}"):
        ml.report(short, place, overwrite=True)
    assert files(disk) == before
    filler.unlink()
    assert ml.report(short, place, overwrite=True).stat().st_size > 1000


LAYOUT = """
import measurement_layouts as ml
from measurement_layouts.linking import logistic
distance = ml.MetaFeature("distance", low=0, high=10, unit="m")
behind = ml.MetaFeature("behind", levels=(0, 1))
reach = ml.Capability("reach", low=0, high=10, unit="m")
reaching = ml.Layout("reaching", ml.Success("found", logistic(reach - distance * (1 + behind))))
"""


@pytest.fixture
def command(tmp_path, disk):
    """What `measurement-layouts fit` is typed with, for a folder on the disk."""
    wanted = cohort(6)
    wanted.items.to_csv(tmp_path / "items.csv")
    rows = wanted.successes.stack().rename("outcome").rename_axis(["subject", "item"])
    rows.reset_index().to_csv(tmp_path / "outcomes.csv", index=False)
    (tmp_path / "layout.py").write_text(LAYOUT)
    tables = [f"--{name}={tmp_path / name}.csv" for name in ("items", "outcomes")]
    options = [f"--{name}={OPTIONS[name]}" for name in ("method", "draws", "chains", "seed")]
    return ["fit", f"{tmp_path / 'layout.py'}:reaching", *tables, *options, "--jobs=1"]


@pytest.mark.parametrize("leave", [0, 300_000, 450_000])
def test_the_command(disk, command, capsys, leave):
    out = disk / "out"
    filler = filled(disk, leave)
    assert main([*command, f"--out={out}"]) == 2
    (said,) = (line for line in capsys.readouterr().err.splitlines() if "could not" in line)
    there = sorted(path.name for path in out.iterdir())
    done = len(list((out / "store").glob("unit-*.npz")))
    on = "repeat that command without --overwrite to continue it, or give another --out to begin "
    on += "anew"
    why = "[Errno 28] No space left on device"
    if leave == 0:
        wanted = f"could not write {out / 'store' / 'head.nc'}: {FULL}"
    elif done < 6:
        wanted = (
            f"could not write s{done} into {out / 'store'}: {why}; kept in it: {done} of 6 "
            f"subjects; {on}"
        )
    else:
        wanted = f"could not write {out / 'fit.nc'}: {FULL}"
    assert said == f"measurement-layouts: {wanted}"
    assert there == ["store"]
    filler.unlink()
    assert main([*command, f"--out={out}"]) == 0
    assert {path.name for path in out.iterdir()} == {
        *("fit.nc", "fitted_items.csv", "fitted_subjects.csv"),
        *("profiles.csv", "diagnostics.csv", "layout.svg"),
    }
    assert same_draws(ml.load(out / "fit.nc"), ml.fit(layout, cohort(6), **OPTIONS))
