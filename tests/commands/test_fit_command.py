"""`measurement-layouts fit`: what it writes, how it goes on, and when it says no."""

import shutil

import numpy as np
import pandas as pd
import pytest

import measurement_layouts as ml
from measurement_layouts.command import main
from measurement_layouts.commands.layout_file import load_layout
from measurement_layouts.inference.loop import Alone

GRID = ["--method", "grid", "--draws", "500", "--chains", "2", "--jobs", "1"]
TABLES = {"profiles.csv", "diagnostics.csv", "fitted_items.csv", "fitted_subjects.csv"}
FILES = {"fit.nc", "layout.svg", *TABLES}
SUBJECTS = ["Ann", "Bob", "Zoë [x]"]


@pytest.fixture
def plain(data):
    return f"{data / 'layout.py'}:plain"


@pytest.fixture
def stopped_at_bob(monkeypatch):
    """Ctrl-C while the second subject is sampled."""
    sample = Alone.sample

    def stop(model, name, *rest):
        if name == "Bob":
            raise KeyboardInterrupt
        return sample(model, name, *rest)

    monkeypatch.setattr(Alone, "sample", stop)


def test_everything_is_written(fitted):
    assert {path.name for path in fitted.iterdir()} == FILES
    profiles = pd.read_csv(fitted / "profiles.csv")
    assert list(profiles["subject"]) == SUBJECTS
    assert list(pd.read_csv(fitted / "diagnostics.csv")["status"]) == ["ok"] * 3
    assert "reach" in (fitted / "layout.svg").read_text(encoding="utf-8")
    assert list(pd.read_csv(fitted / "fitted_items.csv")) == ["item", "distance", "colour"]


def test_the_fit_is_that_of_the_library(fitted, data, plain):
    rows, items = (pd.read_csv(data / f"{name}.csv") for name in ("outcomes", "items"))
    evaluation = ml.Evaluation.from_long(
        rows.astype({"item": str}), items.astype({"item": str}).set_index("item")
    )
    options = {"method": "grid", "draws": 500, "chains": 2, "seed": 1, "progressbar": False}
    again = ml.fit(load_layout(plain), evaluation, **options)
    pd.testing.assert_frame_equal(again.profiles(), ml.load(fitted / "fit.nc").profiles())


def test_a_subject_that_is_not_converged_is_told(plain, data, tmp_path, capsys):
    """With ten draws the effective sample size is below 100 per chain; status 1.

    The tables lie where the fit goes, and stay.
    """
    for name in ("items.csv", "outcomes.csv"):
        shutil.copy(data / name, tmp_path)
    read = ["--items", f"{tmp_path}/items.csv", "--outcomes", f"{tmp_path}/outcomes.csv"]
    few = ["10" if word == "500" else word for word in [*GRID, "--subjects", "Ann", "Bob"]]
    assert main(["fit", plain, *read, "--out", str(tmp_path), *few]) == 1
    printed = capsys.readouterr().out
    for subject in ("Ann", "Bob"):
        row, reason = [line for line in printed.splitlines() if subject in line]
        assert "±" in row
        assert "not converged" in row
        assert reason.startswith(f"{subject}: not converged: ")
    assert "Zoë" not in printed
    assert {path.name for path in tmp_path.iterdir()} == {*FILES, "items.csv", "outcomes.csv"}


@pytest.mark.parametrize("name", ["fit.nc", "profiles.csv"])
def test_nothing_that_is_there_is_replaced(name, plain, tables, tmp_path, capsys):
    mine = tmp_path / name
    mine.write_text("mine")
    assert main(["fit", plain, *tables, "--out", str(tmp_path), *GRID]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert f"{mine} exists already" in printed.err
    assert "--overwrite" in printed.err
    assert mine.read_text() == "mine"
    assert list(tmp_path.iterdir()) == [mine]


@pytest.mark.usefixtures("stopped_at_bob")
def test_ctrl_c_keeps_what_is_done_and_the_same_command_goes_on(
    plain, tables, fitted, tmp_path, capsys, monkeypatch
):
    command = ["fit", plain, *tables, "--out", str(tmp_path), *GRID]
    assert main(command) == 130
    printed = capsys.readouterr()
    assert printed.out == ""
    assert f"{tmp_path} keeps what is done; the same command, without --overwrite" in printed.err
    assert [path.name for path in tmp_path.iterdir()] == ["store"]

    assert main(["forecast", str(tmp_path), *tables[:2]]) == 0  # what is there can be used
    printed = capsys.readouterr()
    assert "\nAnn,000," in printed.out
    assert "is not finished: <Fit of 'reaching': 1 subject" in printed.err

    assert main([*command, "--seed", "2"]) == 2
    assert "holds another fit (seed: 1, now 2)" in capsys.readouterr().err

    monkeypatch.undo()
    with monkeypatch.context() as full:
        full.setattr(ml.Layout, "draw", lambda *_: (tmp_path / "no" / "where").touch())
        assert main(command) == 2
        assert "No such file" in capsys.readouterr().err
    assert (tmp_path / "store").is_dir()  # it goes last

    assert main(command) == 0
    assert capsys.readouterr().out.endswith(f"{tmp_path}\n")
    assert {path.name for path in tmp_path.iterdir()} == FILES
    once, resumed = (ml.load(path / "fit.nc").posterior["reach"] for path in (fitted, tmp_path))
    np.testing.assert_array_equal(once.to_numpy(), resumed.to_numpy())


@pytest.mark.usefixtures("stopped_at_bob")
def test_overwrite_starts_afresh_and_keeps_the_old_until_then(
    plain, tables, fitted, tmp_path, monkeypatch
):
    out = tmp_path / "out"
    shutil.copytree(fitted, out)
    before = (out / "fit.nc").read_bytes()
    command = ["fit", plain, *tables, "--out", str(out), *GRID, "--seed", "2"]
    assert main(command) == 2
    assert main([*command, "--overwrite"]) == 130
    assert (out / "fit.nc").read_bytes() == before
    monkeypatch.undo()
    assert main([*command, "--overwrite"]) == 0
    assert {path.name for path in out.iterdir()} == FILES
    assert (out / "fit.nc").read_bytes() != before


@pytest.mark.parametrize("more", [[], ["--overwrite"]])
def test_a_folder_called_store_that_is_none(more, plain, tables, tmp_path, capsys):
    mine = tmp_path / "store" / "mine.txt"
    mine.parent.mkdir()
    mine.write_text("mine")
    assert main(["fit", plain, *tables, "--out", str(tmp_path), *GRID, *more]) == 2
    assert "exists and is not a store" in capsys.readouterr().err
    assert mine.read_text() == "mine"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"--subjects": "Eve"}, "unknown subject(s): Eve;"),
        ({"--outcomes": "no.csv"}, "no.csv"),
        ({"--items": "no.csv"}, "no.csv"),
        ({"--items": __file__}, "give a file whose name ends"),
    ],
)
def test_input_that_cannot_be_used(change, message, plain, tables, tmp_path, capsys):
    options = dict(zip(tables[::2], tables[1::2], strict=True)) | change
    pairs = [part for pair in options.items() for part in pair]
    out = tmp_path / "out"
    assert main(["fit", plain, *pairs, "--out", str(out)]) == 2
    printed = capsys.readouterr()
    assert message in printed.err.splitlines()[-1]
    assert "Traceback" not in printed.err
    assert not out.exists()
