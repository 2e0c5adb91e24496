"""The command, in this process, on three simulated subjects; `test_command_run` looks at `run`."""

import dataclasses
import io
import json
import sys
import warnings
import xml.etree.ElementTree as ET
from pathlib import Path

import pandas as pd
import pytest
from helpers.small_study import COHORT, NAME, REAL, SUBJECTS, three

import measurement_layouts as ml
from measurement_layouts import scenarios
from measurement_layouts.command import main


@pytest.fixture(autouse=True)
def _plain_terminal(monkeypatch):
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "MEASUREMENT_LAYOUTS_DATA"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(scenarios, "get", lambda name: three(REAL))


@pytest.fixture(scope="module")
def own_figures(tmp_path_factory):
    """A published table that is our own fit's, as `reproduce` makes it."""
    layout = REAL.layouts["published layout"]()
    fit = ml.fit(layout, COHORT, seed=1, progressbar=False)
    profiles = fit.profiles().pivot_table(["mean", "sd"], "subject", "node")
    profiles.columns = [f"{node}_{statistic}" for statistic, node in profiles.columns]
    assert fit.diagnostics()["divergences"].sum() == 0
    table = profiles.assign(success_mean=COHORT.success_rates().round(2))
    folder = tmp_path_factory.mktemp("published")
    table.rename_axis("agent").to_csv(folder / "aaio_figure9.csv")
    return folder


def test_published_tables_are_asked_for(capsys):
    assert main(["reproduce", NAME]) == 2
    assert "give their folder as --published" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("scenario", "ability"), [(NAME, "navigationAbility"), ("object-permanence", "OPAbility")]
)
def test_draw(scenario, ability, tmp_path, capsys):
    folder = tmp_path / "new" / "diagrams"
    assert main(["draw", scenario, "--out", str(folder)]) == 0
    drawn = {f"{scenario}.svg", f"{scenario}-recommended.svg"}
    drawn |= {f"{scenario}-population.svg"} if scenario == NAME else set()
    assert {path.name for path in folder.iterdir()} == drawn
    assert set(capsys.readouterr().out.split()) == {str(folder / name) for name in drawn}
    for name in drawn:
        text = (folder / name).read_text()
        assert ET.fromstring(text).tag.endswith("svg")
        assert ability in text


def test_draw_writes_here_by_default(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["draw", NAME]) == 0
    assert len(list(tmp_path.glob("*.svg"))) == 3


def test_draw_touches_no_existing_file(tmp_path, capsys):
    old = tmp_path / f"{NAME}-recommended.svg"
    old.write_text("mine")
    assert main(["draw", NAME, "--out", str(tmp_path)]) == 2
    assert "exists already" in capsys.readouterr().err
    assert old.read_text() == "mine"
    assert list(tmp_path.iterdir()) == [old]  # nor was the other diagram written


@pytest.mark.parametrize("what", ["file", "folder"])
def test_run_touches_no_existing_output(tmp_path, what, capsys):
    used = tmp_path / "used"
    mine = used if what == "file" else used / "mine.txt"
    mine.parent.mkdir(exist_ok=True)
    mine.write_text("mine")
    assert main(["run", NAME, "--out", str(used)]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert f"{used} exists and is no empty folder" in printed.err
    assert mine.read_text() == "mine"
    assert sorted(tmp_path.rglob("*")) == sorted({used, mine})


def test_the_default_output_is_checked_too(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "out" / NAME).mkdir(parents=True)
    (tmp_path / "out" / NAME / "fit.nc").touch()
    assert main(["run", NAME]) == 2
    assert str(Path("out", NAME)) in capsys.readouterr().err


@pytest.mark.parametrize("command", ["run", "draw"])
def test_output_below_a_file_is_refused_before_anything_is_fitted(command, tmp_path, capsys):
    (tmp_path / "file").touch()
    assert main([command, NAME, "--out", str(tmp_path / "file" / "profiles")]) == 2
    assert "give another --out" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["run", "reproduce"])
def test_a_bad_data_folder(command, tmp_path, capsys):
    more = {"run": ["--out", str(tmp_path / "out")], "reproduce": ["--published", str(tmp_path)]}
    assert main([command, NAME, "--data", str(tmp_path), *more[command]]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert f"there is no scores_all.csv in {tmp_path}" in printed.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", ["run", "reproduce"])
def test_simulated_agents_have_no_data(command, tmp_path, capsys):
    """Object permanence: a folder without results is refused before anything is simulated."""
    more = {"run": ["--out", str(tmp_path / "out")], "reproduce": ["--published", str(tmp_path)]}
    arguments = ["--data", str(tmp_path), *more[command]]
    assert main([command, "object-permanence", *arguments]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    told = {"reproduce": f"simulated agents, and {tmp_path} has others; leave --data out"}
    assert told.get(command, f"there is no {tmp_path}/arenas.csv") in printed.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("few")
def test_a_bad_published_folder_is_found_before_fitting(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("measurement_layouts.inference.fitting.fit", None)
    assert main(["reproduce", NAME, "--published", str(tmp_path), "--json"]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "aaio_figure9.csv" in printed.err


@pytest.mark.usefixtures("few")
def test_reproduce_holds(own_figures, capfd):
    status = main(["reproduce", NAME, "--data", "x", "--published", str(own_figures), "--json"])
    printed = capfd.readouterr()
    report = json.loads(printed.out, parse_constant=pytest.fail)
    assert status == 0
    assert list(report) == ["scenario", "seconds", "figures", "tables"]
    assert report["scenario"] == NAME
    assert report["seconds"] > 0
    assert len(report["figures"]) == 9
    for figure in report["figures"]:
        assert list(figure) == ["name", "published", "obtained", "goal", "holds"]
        assert figure["holds"] is True


@pytest.mark.usefixtures("few")
def test_reproduce_falls_short(own_figures, tmp_path, capfd):
    table = pd.read_csv(own_figures / "aaio_figure9.csv", index_col="agent")
    table["visualAbility_mean"] += 0.2
    table.to_csv(tmp_path / "aaio_figure9.csv")
    assert main(["reproduce", NAME, "--published", str(tmp_path)]) == 1
    *lines, last = capfd.readouterr().out.splitlines()
    assert last.startswith("figures that meet their goals: ")
    assert "; the others: " in last
    rows = [line for line in lines if "visualAbility: mean a" in line]
    assert len(rows) == 1
    assert "0.2 " in rows[0]
    assert "│ no" in rows[0]


@pytest.mark.usefixtures("few")
def test_nan_becomes_null(own_figures, tmp_path, capfd, monkeypatch):
    """With one subject there is no correlation."""
    one = COHORT.select(subjects=SUBJECTS[:1])
    alone = dataclasses.replace(REAL, load=lambda folder: one)
    table = pd.read_csv(own_figures / "aaio_figure9.csv", index_col="agent").loc[SUBJECTS[:1]]
    table.to_csv(tmp_path / "aaio_figure9.csv")
    monkeypatch.setattr(scenarios, "get", lambda name: alone)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        status = main(["reproduce", NAME, "--published", str(tmp_path), "--json"])
    printed = capfd.readouterr()
    assert "measurement-layouts: " in printed.err  # what NumPy warns of
    report = json.loads(printed.out, parse_constant=pytest.fail)
    found = [figure for figure in report["figures"] if "correlation" in figure["name"]]
    assert [(figure["obtained"], figure["holds"]) for figure in found] == [(None, False)] * 3
    assert status == 1


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("stream", [Terminal, io.StringIO])
def test_progress_is_shown_on_a_terminal_only(stream, own_figures, monkeypatch, capsys):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", stream())
    main(["reproduce", NAME, "--published", str(own_figures), "--json"])
    shown = sys.stderr.getvalue()
    assert ("time left" in shown and "3/3" in shown) is (stream is Terminal)
    assert ("\x1b" in shown) is (stream is Terminal)
    json.loads(capsys.readouterr().out)
