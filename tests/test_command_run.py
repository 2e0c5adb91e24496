"""What `measurement-layouts run` leaves behind: one run on three subjects, seen by most tests."""

import io
from contextlib import redirect_stderr, redirect_stdout
from types import SimpleNamespace

import matplotlib as mpl
import pandas as pd
import pytest
from helpers.small_study import AGENTS, NAME, REAL, SUBJECTS, three, two
from matplotlib import image

import measurement_layouts as ml
from measurement_layouts import scenarios
from measurement_layouts.command import main

CSV_COLUMNS = {
    "profiles": ["subject", "node", "label", "mean", "sd", "low", "high"],
    "diagnostics": ["subject", "status", "success", "divergences", "rhat", "ess"],
    "forecasts": ["subject", "item", "mean", "low", "high", "trained", "extrapolated"],
    "scores": ["method", "subject", "trials", "success", "brier", "calibration", "refinement"],
}
PICTURES = {
    *("layout", "profiles", "prior-posterior", "forecast", "brier", "calibration"),
    "capabilities",
}


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """One `run` for all that look at its outcome."""
    folder = tmp_path_factory.mktemp("run") / "deep" / "profiles"
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.setattr(scenarios, "get", lambda name: three(REAL))
        mpl.use("Agg")
        status = main(["run", NAME, "--out", str(folder), "--draws", "60", "--seed", "7"])
    return SimpleNamespace(folder=folder, status=status, out=out.getvalue(), err=err.getvalue())


def test_run_prints_every_profile(done):
    assert done.status == 0
    assert "Traceback" not in done.err
    assert "simulated subjects, seed 7" in done.err
    rows = [line for line in done.out.splitlines() if line.startswith("│ sim-")]
    assert [row.count("±") for row in rows] == [4] * len(SUBJECTS)
    assert [subject for subject in SUBJECTS if not any(subject in row for row in rows)] == []


def test_run_names_every_file_it_wrote(done):
    assert {str(path) for path in done.folder.iterdir()} <= set(done.out.split())
    names = {path.name for path in done.folder.iterdir()}
    tables = {f"{name}.csv" for name in CSV_COLUMNS}
    assert names == {"fit.nc", "layout.svg", *tables, *(f"{name}.png" for name in PICTURES)}


@pytest.mark.parametrize("name", CSV_COLUMNS)
def test_tables_are_readable(done, name):
    table = pd.read_csv(done.folder / f"{name}.csv")
    columns = CSV_COLUMNS[name]
    assert [column for column in columns if column not in table.columns] == []
    assert set(table["subject"]) == set(SUBJECTS)


def test_the_forecast_is_of_items_held_out(done):
    forecasts = pd.read_csv(done.folder / "forecasts.csv")
    assert len(forecasts) == 3 * 14  # a fifth of 69
    assert not forecasts["trained"].any()
    assert forecasts["mean"].between(0, 1).all()
    assert set(pd.read_csv(done.folder / "scores.csv")["method"]) == {NAME, "aggregate"}


@pytest.mark.parametrize("name", sorted(PICTURES))
def test_pictures_show_something(done, name):
    pixels = image.imread(done.folder / f"{name}.png")
    assert min(pixels.shape[:2]) > 100
    assert pixels[..., :3].std() > 0.01


def test_the_fit_is_that_of_seed_and_draws(done):
    fit = ml.load(done.folder / "fit.nc")
    layout = REAL.layouts["published layout"]()
    assert fit.layout.fingerprint == layout.fingerprint
    assert fit.posterior.sizes["draw"] == 60
    evaluation = REAL.simulate(7).evaluation.select(subjects=SUBJECTS)
    again = ml.fit(layout, evaluation, draws=60, seed=7, progressbar=False)
    pd.testing.assert_frame_equal(fit.profiles(), again.profiles())


@pytest.mark.slow
def test_run_where_properties_are_undefined_on_some_items(tmp_path, capfd, monkeypatch):
    """Object permanence: time, places and colours are missing where nothing is hidden."""
    scenario = two(scenarios.get("object-permanence"))
    monkeypatch.setattr(scenarios, "get", lambda name: scenario)
    mpl.use("Agg")
    arguments = ["--out", str(tmp_path / "out"), "--draws", "20"]
    assert main(["run", scenario.name, *arguments]) == 0
    out = capfd.readouterr().out
    assert [agent for agent in AGENTS if agent not in out] == []
    tables = {f"{name}.csv" for name in CSV_COLUMNS}
    written = {path.name for path in (tmp_path / "out").iterdir()}
    assert written == {"fit.nc", "layout.svg", *tables, *(f"{name}.png" for name in PICTURES)}
    profiles = pd.read_csv(tmp_path / "out" / "profiles.csv")
    assert set(profiles["subject"]) == set(AGENTS)
    assert profiles["mean"].notna().all()
