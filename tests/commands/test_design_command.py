"""The command ``design``: the battery as CSV and what is refused."""

import io

import pandas as pd
import pytest

from measurement_layouts.command import main


@pytest.fixture
def asked(data):
    """The options that name layout and bank."""
    return ["design", f"{data / 'layout.py'}:plain", "--items", str(data / "items.csv")]


def test_the_battery_is_written(asked, tmp_path, capsys):
    path = tmp_path / "battery.csv"
    assert main([*asked, "--n", "12", "--out", str(path)]) == 0
    told = capsys.readouterr()
    assert told.out == ""
    assert "Battery for layout 'reaching': 12 items of 40, cost 12" in told.err
    battery = pd.read_csv(path, index_col="item")
    assert battery.columns.tolist()[:3] == ["order", "gain", "cost"]
    assert main([*asked, "--n", "12", "--out", str(path)]) == 2  # it is there already
    assert main([*asked, "--n", "3", "--target", "reach"]) == 0
    assert len(pd.read_csv(io.StringIO(capsys.readouterr().out))) == 3


def test_a_design_starts_from_a_subject_of_a_fit(asked, fitted, capsys):
    start = [*asked, "--n", "3", "--given", str(fitted)]
    assert main(start) == 2
    assert "name the one to start from, as --subject" in capsys.readouterr().err
    distances = {}
    for subject in ("Ann", "Bob"):
        assert main([*start, "--subject", subject]) == 0
        battery = pd.read_csv(io.StringIO(capsys.readouterr().out))
        distances[subject] = battery["distance"].mean()
    assert distances["Ann"] < distances["Bob"]  # 3 m and 6 m are reached


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--target", "smell"], "no profile element smell"),
        (["--costs", "price"], "price"),
    ],
)
def test_refused_in_one_line(asked, options, message, capsys):
    assert main([*asked, *options]) == 2
    told = capsys.readouterr().err
    assert message in told
    assert told.count("\n") == 1
