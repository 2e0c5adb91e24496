"""Folders that nobody may write into, not root either: said at once, and what is there is read."""

import subprocess

import pytest
from helpers.fault_cases import OPTIONS, cohort, exactly, layout, same_draws

import measurement_layouts as ml
from measurement_layouts import FitError
from measurement_layouts.common.cache import cached


@pytest.fixture(scope="module")
def fit():
    return ml.fit(layout, cohort(3), **OPTIONS)


@pytest.fixture(scope="module")
def closed(tmp_path_factory, fit):
    """A folder with a fit and a half finished store in it, on a file system for reading.

    No test can change it, so that all share it.
    """
    folder = tmp_path_factory.mktemp("read-only") / "closed"
    folder.mkdir()
    fit.save(folder / "fit.nc")
    ml.fit(layout, cohort(3), subjects=["s0"], store=folder / "store", **OPTIONS)
    bind = ["mount", "--bind", str(folder), str(folder)]
    try:
        subprocess.run(bind, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("nothing can be mounted here; as a user, run this under `unshare -Urm`")
    subprocess.run(["mount", "-o", "remount,bind,ro", str(folder)], check=True)
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.mark.parametrize(
    ("write", "said"),
    [
        (
            lambda fit, folder: fit.save(folder / "new.nc"),
            "cannot write into {0}: Read-only file system; choose or make another folder",
        ),
        (
            lambda fit, folder: fit.save(folder / "fit.nc", overwrite=True),
            "cannot write into {0}: Read-only file system; choose or make another folder",
        ),
        (
            lambda fit, folder: ml.report(fit, folder / "report.html"),
            "cannot write into {0}: Read-only file system; choose or make another folder",
        ),
        (
            lambda fit, folder: ml.reports.export_tables(fit, folder),
            "cannot write into {0}: Read-only file system; choose or make another folder",
        ),
        (
            lambda fit, folder: ml.reports.export_tables(fit, folder / "tables"),
            "cannot create the folder {0}/tables: Read-only file system; choose another folder",
        ),
        (
            lambda fit, folder: ml.fit(layout, cohort(3), store=folder / "new", **OPTIONS),
            "cannot write into {0}/new: Read-only file system; give another folder",
        ),
        (
            lambda fit, folder: ml.fit(layout, cohort(3), store=folder / "store", **OPTIONS),
            "cannot write into {0}/store: Read-only file system; give another folder",
        ),
    ],
    ids=["new", "old", "report", "tables", "folder of tables", "new store", "store"],
)
def test_writing(closed, fit, write, said):
    with exactly(FitError, said.format(closed)):
        write(fit, closed)


def test_reading(closed, fit, monkeypatch):
    assert same_draws(ml.load(closed / "fit.nc"), fit)
    assert ml.load(closed / "store").subjects == ["s0"]
    monkeypatch.setenv("MEASUREMENT_LAYOUTS_CACHE", str(closed))
    assert cached("key", ".txt", lambda: b"made") == b"made"


def test_the_command(closed, capsys):
    from measurement_layouts.command import main

    code = closed.parent / "layout.py"
    code.write_text(
        "import measurement_layouts as ml\n"
        "coin = ml.Layout('coin', ml.Success('heads', ml.Capability('p', low=0, high=1)))\n"
    )
    tables = closed.parent / "rows.csv"
    tables.write_text("subject,item,outcome\nAnn,a,1\nAnn,b,0\n")
    items = closed.parent / "items.csv"
    items.write_text("item\na\nb\n")
    typed = ["fit", f"{code}:coin", f"--outcomes={tables}", f"--items={items}"]
    assert main([*typed, f"--out={closed / 'out'}"]) == 2
    assert capsys.readouterr().err.splitlines()[-1] == (
        f"measurement-layouts: cannot write into {closed / 'out'} (Read-only file system); give "
        "another --out"
    )
