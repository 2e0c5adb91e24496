"""Repeated attempts that depend on each other: found, at a stated rate, with what they do."""

import numpy as np
import pandas as pd
import pytest
from helpers import graded_layouts as of
from helpers.repeated_attempts import DEMAND, GRID, SKILL, counts, coverage, layout
from scipy import stats

import measurement_layouts as ml
from measurement_layouts.linking import logistic, mixture
from measurement_layouts.validation.criticism import overdispersion
from measurement_layouts.validation.criticism.overdispersion import TOGETHER

ALIKE = "repeated attempts at an item are more alike than the layout allows"


def by_subject(table):
    return table[table["subject"] != TOGETHER]


def together(table):
    return table.set_index("subject").loc[TOGETHER]


def criticised(made, evaluation):
    """Test repeated attempts after a fit on the grid."""
    fit = ml.fit(made, evaluation, **GRID)
    return ml.validation.criticise(fit, evaluation).overdispersion


def test_a_criticism_finds_them_and_everything_says_so(tmp_path):
    """The layout uses every property, so there is no candidate; that is no reason to stop."""
    _, evaluation = counts(3, 1.0, seed=3)
    fit = ml.fit(layout(), evaluation, **GRID)
    found = ml.validation.criticise(fit, evaluation)
    assert found.candidates.empty
    (said,) = found.suggestions()
    assert said.startswith(f"{ALIKE} (3 of 3 subjects, and all together: s0, s1, s2)")
    assert repr(found).endswith(
        "repeated attempts in 3 of 3 subjects, and all together, at 5% over all>"
    )
    described = ml.describe(fit, found)
    assert set(described.findings.query("what == 'intervals'")["subject"]) == {"s0", "s1", "s2"}
    assert (
        "the 90% intervals are too short and contain the value in about 65% of cases (skill)"
        in described.texts["s0"]
    )
    page = ml.report(fit, tmp_path / "page.html", evaluation=evaluation).read_text(encoding="utf-8")
    assert "Repeated attempts (300 at 30 items)" in page
    told = ml.report(fit, tmp_path / "page.md", evaluation=evaluation).read_text(encoding="utf-8")
    assert ALIKE in told
    tables = ml.reports.export_tables(fit, tmp_path / "tables", evaluation=evaluation)
    assert "overdispersion.csv" in [path.name for path in tables]
    _, independent = counts(3, 0.0, seed=3)
    twin = ml.validation.criticise(ml.fit(layout(), independent, **GRID), independent)
    assert twin.suggestions() == []
    assert len(twin.overdispersion) == 4


@pytest.mark.parametrize(("sd", "about"), [(0.0, 0.9), (1.0, 0.7)])
def test_intervals_hold_as_often_as_is_said(sd, about):
    """120 subjects: the share of intervals that hold has a standard error of .027 or .042."""
    skills, evaluation = counts(120, sd)
    fit = ml.fit(layout(), evaluation, **GRID)
    row = together(criticised(layout(), evaluation))
    error = np.sqrt(about * (1 - about) / len(skills))
    actual = coverage(fit, skills)
    assert abs(actual - row["holds"]) < 3 * error
    assert abs(actual - about) < 3 * error
    assert row["holds"] == pytest.approx(about, abs=0.04)


@pytest.mark.parametrize("sd", [0.5, 1.0, 2.0])
def test_the_size_of_parts_is_estimated(sd):
    """50 subjects with 30 items each: at most a fifth of it, since its interval is a tenth."""
    _, evaluation = counts(50, sd, seed=4)
    row = together(criticised(layout(), evaluation))
    assert row["item_sd"] == pytest.approx(sd, rel=0.2)
    assert row["low"] < row["item_sd"] < row["high"]


def rates(made, subjects, sd=0.0, **battery):
    """Every subject's p value, each tested alone."""
    _, evaluation = counts(subjects, sd, seed=9, **battery)
    return by_subject(criticised(made, evaluation))["p"].to_numpy()


SLOPED = ml.Layout("sloped", ml.Success("ok", logistic(SKILL - DEMAND, ml.Slope("slope"))))
LAPSING = ml.Layout(
    "lapsing",
    ml.Success("ok", mixture(logistic(SKILL - DEMAND), by=ml.Noise("noise"), toward=0.5)),
)
BATTERIES = [
    (layout(), {"items": 30, "attempts": 10}),
    (layout(), {"items": 8, "attempts": 3}),
    (SLOPED, {"items": 40, "attempts": 4}),
    (LAPSING, {"items": 20, "attempts": 6}),
]


@pytest.mark.parametrize(("made", "battery"), BATTERIES)
def test_false_alarms_are_as_rare_as_stated(made, battery):
    """120 subjects with independent attempts: three standard errors above 5 %, of 120."""
    p = rates(made, 120, **battery)
    assert (p <= 0.05).mean() <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 120)


def test_power():
    """One log-odds, 30 items of 10 attempts: four of five subjects, each tested alone at 5 %."""
    p = rates(layout(), 100, sd=1.0)
    assert (p <= 0.05).mean() > 0.8 - 3 * np.sqrt(0.8 * 0.2 / 100)


@pytest.mark.slow
@pytest.mark.parametrize(("made", "battery"), BATTERIES[1::2])
def test_alarms_over_all_subjects_are_as_rare_as_stated(made, battery):
    """40 checks of five subjects: their alarms are at most 5 %, and three standard errors.

    The smallest battery and the layout with most values; subjects of all four are tested alone.
    """
    alarms = 0
    for run in range(40):
        _, evaluation = counts(5, 0.0, seed=1000 + run, **battery)
        alarms += bool(criticised(made, evaluation)["flagged"].any())
    assert alarms / 40 <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 40)


def test_the_statistic_is_that_of_tarone():
    """One chance for all items: the excess of squared deviations, all items counting alike."""
    rng = np.random.default_rng(2)
    names = [f"i{k}" for k in range(40)]
    successes = pd.DataFrame(rng.binomial(6, rng.beta(2, 2, (1, 40))), ["s"], names)
    evaluation = ml.Evaluation(pd.DataFrame(index=names), successes, successes * 0 + 6)
    coin = ml.Layout("coin", ml.Success("ok", ml.Capability("chance", low=0, high=1)))
    (row,) = criticised(coin, evaluation).to_dict("records")
    rate = successes.to_numpy().mean() / 6
    expected = np.square(successes.to_numpy() - 6 * rate).sum() - 40 * 6 * rate * (1 - rate)
    assert row["statistic"] == pytest.approx(expected, rel=0.01)
    chi_squared = np.square(successes.to_numpy() - 6 * rate).sum() / (6 * rate * (1 - rate))
    assert row["p"] < 0.01
    assert stats.chi2.sf(chi_squared, 39) < 0.01


def test_what_is_attempted_once_is_not_tested():
    _, evaluation = counts(4, 1.0, attempts=1)
    assert criticised(layout(), evaluation).empty


def test_steps_of_a_grade_belong_to_one_item():
    """Grades of one attempt, written twice, are as alike as can be; drawn anew they are not."""
    made = of.layout(ml.Graded("found", of.keeps(), grades=("no", "partly", "yes"), gap=1.0))
    profiles = pd.DataFrame({"objectPermanence": [4.0, 6.0], "noise": 0.1}, ["Ann", "Bob"])
    twice = ml.simulate(made, of.items(40), profiles, seed=2, trials=2)
    table = criticised(made, twice)
    assert by_subject(table)["items"].tolist() == [40, 40]
    assert not table["flagged"].any()
    once = ml.simulate(made, of.items(40), profiles, seed=2)
    assert criticised(made, once).empty
    copied = ml.Evaluation(once.items, once.successes * 2, once.trials * 2)
    assert together(criticised(made, copied))["flagged"]


def test_one_attempt_of_each_item_holds(rng):
    """What is advised, 150 subjects: 90 % and three standard errors, where ten attempts hold 70."""
    skills, evaluation = counts(150, 1.0)
    chance = evaluation.successes / evaluation.trials
    once = (rng.random(chance.shape) < chance).astype(int)
    fit = ml.fit(layout(), ml.Evaluation.from_wide(once, evaluation.items), **GRID)
    assert coverage(fit, skills) > 0.9 - 3 * np.sqrt(0.9 * 0.1 / 150)


@pytest.mark.slow
def test_a_part_of_the_layout_holds():
    """What is advised: an unseen part whose spread is inferred, 30 subjects by NUTS."""
    skills, evaluation = counts(30, 1.0)
    wide = layout(ml.Unseen("itemEffect", 0, ml.Slope("itemSpread")))
    options = {"draws": 300, "tune": 300, "chains": 2, "reruns": 0, "seed": 1}
    fit = ml.fit(wide, evaluation, **options, progressbar=False)
    assert coverage(fit, skills) > 0.9 - 3 * np.sqrt(0.9 * 0.1 / 30)
    spread = fit.profiles().query("node == 'itemSpread'")
    assert ((spread["low"] <= 1) & (spread["high"] >= 1)).mean() > 0.9 - 3 * np.sqrt(0.9 * 0.1 / 30)


def test_the_forecast_of_coverage_needs_the_parts(monkeypatch):
    """Twin: without what attempts share, intervals would be said to hold as they should."""
    _, evaluation = counts(6, 1.0)
    monkeypatch.setattr(overdispersion, "_NODES", np.zeros(21))
    row = together(criticised(layout(), evaluation))
    assert row["holds"] == pytest.approx(0.9)
