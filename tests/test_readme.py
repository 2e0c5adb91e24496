"""The README is short, and its numbers are those that its code prints."""

import re
from pathlib import Path

import matplotlib as mpl
import pytest

import measurement_layouts as ml

README = Path(__file__).resolve().parent.parent / "README.md"
PROFILE = re.compile(r"(\d\.\d)(?: digits| carries)? \((\d\.\d) to (\d\.\d)\)")


@pytest.fixture(scope="module")
def made():
    """What the README's example leaves behind."""
    mpl.use("Agg")
    names = {}
    exec(re.search(r"```python\n(.*?)```", README.read_text(), re.DOTALL)[1], names)
    return names


def stated(text):
    """Means and intervals, in the order in which the text has them."""
    return [tuple(map(float, found)) for found in PROFILE.findall(text)]


def differing(found, profiles):
    """Those of the stated numbers that are not the fitted ones, but for Monte Carlo error."""
    wanted = profiles.set_index(["subject", "node"]).sort_index()[["mean", "low", "high"]]
    order = ["Ann", "digitSpan"], ["Bob", "digitSpan"], ["Bob", "carrySpan"], ["Ann", "carrySpan"]
    assert len(found) == len(order)
    pairs = [(said, wanted.loc[tuple(key)]) for said, key in zip(found, order, strict=True)]
    return [
        said
        for said, own in pairs
        if abs(own.to_numpy() - said).max() > 0.06 + 0.1 * (own["high"] - own["low"])
    ]


def test_the_readme_is_a_screen_and_a_bit():
    assert len(README.read_bytes()) <= 9_000


def test_the_scores_are_those_of_the_sample():
    text = README.read_text()
    sample = ml.evaluations.mental_addition()
    rates = sample.success_rates()
    scores = f"Ann solved {rates['Ann']:.0%} of the items and Bob {rates['Bob']:.0%}."
    assert scores.replace("%", " %") in " ".join(text.split())
    assert f"{int(sample.trials.to_numpy().sum())} answers" in text


def test_ten_things_have_a_page_each():
    rows = re.findall(r"^\| .* \| \[.*\]\((.*)\) \|$", README.read_text(), re.MULTILINE)
    assert len(set(rows)) == 10


@pytest.mark.slow
def test_the_profiles_are_those_of_the_example(made):
    text = README.read_text()
    assert (made["fit"].diagnostics()["status"] == "ok").all()
    assert differing(stated(text), made["fit"].profiles()) == []
    wrong = text.replace("8.4 (7.8 to 8.9)", "8.4 (7.4 to 8.9)")
    assert differing(stated(wrong), made["fit"].profiles()) == [(8.4, 7.4, 8.9)]


@pytest.mark.slow
def test_the_example_is_calibrated(made):
    """90 % intervals of 600 values, of 200 subjects: the standard error is at most 2 %."""
    items = ml.evaluations.mental_addition().items
    found = ml.validation.sbc(
        made["layout"], items, trials=2, simulations=200, seed=1, progressbar=False
    )
    assert found.calibrated
    assert found.table()["coverage"].drop("log-likelihood").mean() == pytest.approx(0.9, abs=0.04)
