"""The benchmark of threshold verdicts: what its birds are, and that its goals can be missed."""

import argparse

import pandas as pd
import pytest
import threshold_verdicts as benchmark

import measurement_layouts as ml


def test_birds_are_those_of_the_layout():
    """Success rates by the layout's simulation, and by the benchmark's own formula."""
    birds = pd.DataFrame({"memory": [8.0], "sideBias": 0.0, "slips": benchmark.SLIPS}, ["bird"])
    drawn = ml.simulate(benchmark.layout(), benchmark.bank(), birds, seed=1, trials=4000)
    rates = drawn.successes.loc["bird"] / 4000
    assert (rates - benchmark.chances(8)).abs().max() < 0.03


@pytest.mark.parametrize(
    ("side", "missed"), [("above", "200 birds of 8 s"), ("below", "200 birds of 50 s"), ("", None)]
)
def test_whoever_says_the_same_of_all_misses_a_goal(monkeypatch, side, missed):
    monkeypatch.setattr(benchmark, "verdict", lambda *_: (side, 5))
    options = argparse.Namespace(quick=False, subjects=200)
    wrong = [line.case for line in benchmark.measure(options, 1) if not line.holds]
    assert wrong == ([missed] if missed else [])


def test_a_short_run_gives_no_verdict():
    options = argparse.Namespace(quick=True, subjects=200)
    short = [line for line in benchmark.measure(options, 1) if line.case == "2 birds of 8 s"]
    assert [line.figure.obtained for line in short] == [0, 1, 12]
