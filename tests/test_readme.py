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
    """What the README's two examples leave behind."""
    mpl.use("Agg")
    names = {}
    for example in re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)[:2]:
        exec(example, names)
    return names


def differing(text, profiles):
    """Profiles in the text that are not the fitted ones, but for Monte Carlo error."""
    stated = [tuple(map(float, numbers)) for numbers in PROFILE.findall(text)]
    fitted = profiles.set_index(["subject", "node"])[["mean", "low", "high"]]
    order = [("Ann", "digitSpan"), ("Bob", "digitSpan"), ("Bob", "carrySpan"), ("Ann", "carrySpan")]
    return [
        profile
        for profile, row in zip(stated, fitted.loc[order].to_numpy(), strict=True)
        if abs(row - profile).max() > 0.06 + 0.1 * (row[2] - row[1])
    ]


def test_the_readme_is_a_screen_and_a_bit():
    assert len(README.read_bytes()) <= 6_144


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
    assert differing(text, made["fit"].profiles()) == []
    wrong = text.replace("8.4 (7.8 to 8.9)", "8.4 (7.4 to 8.9)")
    assert differing(wrong, made["fit"].profiles()) == [(8.4, 7.4, 8.9)]


@pytest.mark.slow
def test_the_population_forecasts_as_stated(made):
    """The folds have a seed; the posterior moves a score by less than its second digit."""
    assert (made["together"].diagnostics()["status"] == "ok").all()
    text = " ".join(README.read_text().split())
    stated = re.search(r"Brier score .* of (\d\.\d+); those .* have (\d\.\d+)", text)
    scores = made["compared"].summary()["mean"][["exam", "aggregate"]]
    assert list(map(float, stated.groups())) == pytest.approx(scores.to_list(), abs=0.006)


@pytest.mark.slow
def test_the_example_is_calibrated(made):
    """90 % intervals of 800 values, of 200 subjects: the standard error is at most 2 %."""
    items = ml.evaluations.mental_addition().items
    calibration = ml.validation.sbc(
        made["layout"], items, trials=2, simulations=200, seed=1, progressbar=False
    )
    assert calibration.calibrated
    assert calibration.table()["coverage"].drop("log-likelihood").mean() == pytest.approx(
        0.9, abs=0.04
    )
