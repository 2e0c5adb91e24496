"""The benchmark of forecasts elsewhere: its bounds, errors and splits, on numbers made by hand."""

import json
import os

import elsewhere
import elsewhere_cases as cases
import elsewhere_methods as methods
import elsewhere_scores as scores
import numpy as np
import pandas as pd
import pytest
from battery_cases import DATA
from scipy.optimize import minimize
from scipy.special import expit, logit

import measurement_layouts as ml
from measurement_layouts.linking import logistic
from measurement_layouts.validation import Aggregate, Groups, Regression

real_data = pytest.mark.skipif(not os.environ.get(DATA), reason="there are no real data")


def made(chances, seed=1, groups=4, subjects=5, low=None):
    """Cells of some subjects on items in groups; outcomes by the first method's chances."""
    rng = np.random.default_rng(seed)
    first = next(iter(chances.values()))
    items = len(first) // subjects
    group = np.tile(np.arange(items) * groups // items, subjects)
    return scores.Cells(
        chances,
        (rng.random(len(first)) < first).astype(float),
        np.ones(len(first)),
        np.repeat(np.arange(subjects), items),
        group,
        group,
        low or {},
    )


def test_halved_log_odds_keep_the_order_and_half_the_sureness():
    chances = np.array([0.0, 0.1, 0.5, 0.9, 1.0])
    found = scores.halved(chances)
    assert (np.diff(found) > 0).all()
    assert np.allclose(logit(found[1:4]), logit(chances[1:4]) / 2)
    assert ((found > 0) & (found < 1)).all()


def test_the_oracle_takes_the_offset_of_greatest_likelihood_in_each_group():
    rng = np.random.default_rng(3)
    truth, said = expit(rng.normal(1, 1, 400)), expit(rng.normal(-1, 1, 400))
    cells = made({"truth": truth, "said": said})
    found = scores.oracle(said, cells)
    for group in range(4):
        own = cells.home == group
        won, odds = cells.won[own], logit(said[own])

        def loss(offset, won=won, odds=odds):
            p = expit(odds + offset[0])
            return -(won * np.log(p) + (1 - won) * np.log1p(-p)).sum()

        best = minimize(loss, [0.0]).x[0]
        assert np.allclose(logit(found[own]) - odds, best, atol=1e-4)
    assert (
        scores.scores(cells.also("oracle", found), "oracle")["brier"]
        < (scores.scores(cells, "said")["brier"])
    )


def test_the_oracle_of_a_group_without_a_failure_is_sure():
    cells = made({"sure": np.ones(20) - 1e-12, "half": np.full(20, 0.5)}, groups=1)
    assert (scores.oracle(cells.chances["half"], cells) > 0.999).all()


def test_the_floor_is_the_error_that_right_forecasts_have():
    chances = np.random.default_rng(4).uniform(0.2, 0.9, 1000)
    found = []
    for seed in range(40):
        cells = made({"truth": chances}, seed=seed)
        found.append(scores.scores(cells, "truth")["pooled ece"])
    floor = scores.floor(cells, "truth", seed=1)
    error = np.std(found) / np.sqrt(len(found)) + np.std(found) / 10
    assert abs(np.mean(found) - floor) < 3 * error
    off = made({"truth": chances, "wrong": chances**3})
    table = scores.table(off, seed=1)
    assert table.loc["wrong", "excess ece"] > 0.1 > abs(table.loc["truth", "excess ece"])


def test_errors_over_groups_are_those_of_a_mean_of_groups():
    """Groups of equal size: the jackknife of a mean is its standard error, sd / sqrt(groups)."""
    rng = np.random.default_rng(5)
    one, other = rng.uniform(0.1, 0.9, (2, 200))
    cells = made({"one": one, "other": other}, groups=8)
    found = scores.errors(cells, "one", seed=1)
    apart = (one - cells.won) ** 2 - (other - cells.won) ** 2
    means = pd.Series(apart).groupby(cells.group).mean()
    assert found.loc["other", "brier"] == pytest.approx(apart.mean())
    assert found.loc["other", "brier se"] == pytest.approx(means.std(ddof=1) / np.sqrt(8))
    assert found.loc["one", "brier se"] == 0


def test_many_groups_are_dealt_to_few_blocks():
    cells = made({"one": np.full(400, 0.5)}, groups=80)
    dealt = scores.blocks(cells, seed=1)
    assert len(np.unique(dealt)) == scores.BLOCKS
    assert pd.Series(dealt).groupby(cells.group).nunique().eq(1).all()


def test_what_is_accepted_is_counted_by_the_lower_end():
    chances = np.tile([0.95, 0.92, 0.5, 0.2], 10)
    low = np.tile([0.93, 0.7, 0.3, 0.1], 10)
    cells = made({"ours": chances, "forest": chances}, subjects=2, groups=2, low={"ours": low})
    ours = scores.accepted(cells, "ours", least=0.9)
    assert ours["accepted"].tolist() == [5, 5]
    assert ours["coverage"].tolist() == [0.25, 0.25]
    own = (cells.subject == 0) & (low >= 0.9)
    assert ours.loc[0, "success"] == cells.won[own].mean()
    assert scores.accepted(cells, "forest", least=0.9)["accepted"].tolist() == [10, 10]


def test_coverage_at_a_validity_takes_equal_forecasts_together():
    cells = made({"forest": np.array([0.9, 0.8, 0.8, 0.1])}, subjects=1)
    cells = scores.Cells(
        cells.chances, np.array([1.0, 1, 0, 0]), np.ones(4), *[np.zeros(4)] * 3, {}
    )
    assert scores.coverage_at(cells, "forest", 1.0) == 0.25
    assert scores.coverage_at(cells, "forest", 0.6) == 0.75
    assert scores.coverage_at(cells, "forest", 0.5) == 1.0


def simulated(quick=True):
    """Four subjects on items of six groups, half of which are harder than their size says."""
    rng = np.random.default_rng(6)
    size = rng.uniform(0, 4, 90)
    items = pd.DataFrame({"size": size, "home": [f"g{place % 6}" for place in range(90)]})
    items.index = pd.Index([f"q{place}" for place in range(90)])
    chance = expit(rng.normal(2, 1, (4, 1)) - size - (np.arange(90) % 6 < 3))
    names = [f"s{place}" for place in range(4)]
    outcomes = pd.DataFrame((rng.random((4, 90)) < chance).astype(int), names, items.index)
    evaluation = ml.Evaluation.from_wide(outcomes, items)
    line, mean = Regression(["size"]), Aggregate()
    rivals = {cases.AGGREGATE: mean, cases.REGRESSION: line, cases.FOREST: line}
    return cases.Case(
        "simulated",
        evaluation,
        Groups("home", 3),
        items["home"],
        {cases.TODAY: line, cases.OURS: mean},
        rivals,
    )


def test_every_line_of_a_case_is_told(monkeypatch, tmp_path, capsys):
    known = {"weirdml": simulated, "adele-benchmarks": simulated}
    for name, case in known.items():
        monkeypatch.setitem(cases.CASES, name, case)
    arguments = ["--json", "--keep", str(tmp_path), "--subjects", "3", "--case"]
    assert elsewhere.main([*arguments, *known]) == 1  # the aggregate loses to the regression
    told = json.loads(capsys.readouterr().out)
    names = {figure["name"] for figure in told["figures"]}
    for rival in ("aggregate", "regression", "forest"):
        assert f"simulated, {rival}: brier" in names
    assert f"simulated, today {scores.HALVED}: ece" in names
    assert f"simulated, regression {scores.ORACLE}: auroc" in names
    assert "simulated: pooled ECE less its floor, half of today's" in names
    assert any("accepted at 0.9" in name for name in names)
    kept = sorted(path.name for path in tmp_path.iterdir())
    elsewhere.main([*arguments, "weirdml"])
    assert sorted(path.name for path in tmp_path.iterdir()) == kept


def test_a_kept_forecast_is_read_again_and_another_training_set_is_not(tmp_path):
    case = simulated()
    one = methods.Kept("one", Regression(["size"]), tmp_path)
    folds = case.split.draw(case.evaluation, np.random.default_rng(1))
    parts = [fold.training(case.evaluation) for fold in folds]
    asked = folds[0].items(case.evaluation)[:2]
    first = one.forecast(parts[0], asked, seed=1)
    broken = methods.Kept("one", None, tmp_path)
    again = broken.forecast(parts[0], asked, seed=1)
    assert (again.data["mean"] == first.data["mean"]).all()
    with pytest.raises(AttributeError):
        broken.forecast(parts[1], folds[1].items(case.evaluation)[:2], seed=1)


def test_items_that_show_every_skill_are_trained_on():
    rng = np.random.default_rng(8)
    needed = pd.DataFrame((rng.random((20, 6)) < 0.3).astype(int), columns=list("abcdef"))
    needed.iloc[0] = 1
    needed.index = pd.Index([f"q{place}" for place in range(20)])
    known = ml.Evaluation.from_wide(pd.DataFrame(1, ["Ann"], needed.index), needed)
    for seed in range(20):
        (fold,) = cases.EverySkill(tuple("abcdef")).draw(known, np.random.default_rng(seed))
        kept = fold.train[0]
        assert needed[kept].max().all()
        assert not (fold.train & fold.test).any()
        assert 1 <= kept.sum() <= 6


@real_data
def test_cases_hold_out_what_they_say():
    case = cases.level_six(True)
    (fold,) = case.split.draw(case.evaluation, np.random.default_rng(1))
    assert len(fold.items(case.evaluation)) == 9
    assert case.clusters[fold.items(case.evaluation)].nunique() == 3
    case = cases.word_problems(True)
    (fold,) = case.split.draw(case.evaluation, np.random.default_rng(1))
    steps = case.evaluation.items["steps"]
    assert steps[fold.items(case.evaluation)].min() == 6
    assert steps[fold.train.any(axis=0)].max() == 4
    few = case.smaller(5, 100)
    assert (len(few.evaluation.subjects), len(few.evaluation.items)) == (5, 100)
    case = cases.families(False)
    folds = case.split.draw(case.evaluation, np.random.default_rng(1))
    assert [len(fold.items(case.evaluation)) for fold in folds] == [3] * 23


def test_a_fit_of_the_same_outcomes_is_remembered_and_of_others_is_not():
    case, fits = simulated(), {}
    skill, size = ml.Capability("skill", low=0, high=4), ml.MetaFeature("size", low=0, high=4)
    layout = ml.Layout("one", ml.Success("done", logistic(skill - size)))
    near, wide = (
        methods.Remembered(layout, method="grid", trust=trust, fits=fits) for trust in ("home", 1.0)
    )
    fold, other = case.split.draw(case.evaluation, np.random.default_rng(1))[:2]
    part = fold.training(case.evaluation)
    one = near.fit(part, seed=1)
    assert wide.fit(part, seed=1) is one
    assert near.fit(other.training(case.evaluation), seed=1) is not one
    plain = ml.validation.FittedLayout(layout, method="grid", trust=1.0)
    items = fold.items(case.evaluation)
    told = wide.predict(part, items, seed=1)
    assert told.equals(plain.predict(part, items, seed=1))
    assert not told.equals(near.predict(part, items, seed=1))
