"""Tables of joint fits: items, population, what each subject has per task, and diagnostics."""

import numpy as np
import pytest
from helpers.joint_fits import crafted, evaluation_of, random_draws, rasch, schooled

import measurement_layouts as ml
from measurement_layouts.linking import logistic, total


@pytest.fixture(scope="module")
def rich():
    layout, evaluation = schooled(), evaluation_of(6, 4)
    draws = random_draws(layout, evaluation, 2000, seed=4)
    return crafted(layout, evaluation, draws), draws, evaluation


def test_items_are_summaries_of_the_draws(rich):
    fit, draws, evaluation = rich
    table = fit.items(prob=0.8)
    assert table.columns.tolist() == [
        *("node", "label", "task", "mean", "sd", "low", "high", "ess_bulk", "ess_tail", "rhat"),
        *("trials", "subjects"),
    ]
    assert table[["node", "task"]].to_numpy().tolist() == [["ofTask", "a"], ["ofTask", "b"]]
    own = draws["ofTask"]
    np.testing.assert_allclose(table["mean"], own.mean(axis=0))
    np.testing.assert_allclose(table["sd"], own.std(axis=0, ddof=1))
    np.testing.assert_allclose(table[["low", "high"]].T, np.quantile(own, [0.1, 0.9], axis=0))
    attempted = evaluation.trials.T.groupby(evaluation.items["task"]).sum().T
    assert table["trials"].tolist() == attempted.sum().tolist()
    assert table["subjects"].tolist() == (attempted > 0).sum().tolist()


def test_levels_of_subjects_and_items_together_have_their_own_trials():
    group, task = ml.Category("school", per="subject"), ml.Category("task")
    favour = ml.Bias("favour", per=(group, task), labels=("up", "down"))
    ease = ml.Bias("ease", per="item")
    chance = logistic(ml.Bias("mood") + total(favour, over="dimension") + ease)
    layout, evaluation = ml.Layout("favours", ml.Success("solved", chance)), evaluation_of(6, 4)
    fit = crafted(layout, evaluation, random_draws(layout, evaluation, 400, seed=1))
    table = fit.items()
    own = table[table["node"] == "favour"]
    assert len(own) == 3 * 2 * 2
    trials = evaluation.trials.stack()
    school = evaluation.subject_table["school"].loc[trials.index.get_level_values(0)].to_numpy()
    kind = evaluation.items["task"].loc[trials.index.get_level_values(1)].to_numpy()
    for row in own.itertuples():
        chosen = trials[(school == row.school) & (kind == row.task)]
        assert row.trials == chosen.sum()
        assert row.subjects == (chosen.groupby(level=0).sum() > 0).sum()
    mine = table[table["node"] == "ease"]
    assert mine["item"].tolist() == evaluation.items.index.tolist()
    assert mine["school"].tolist() == [""] * 4


def test_the_population_is_what_no_item_and_no_subject_has_alone(rich):
    fit, draws, _ = rich
    table = fit.population()
    assert table["node"].tolist() == [
        *("gain", "schoolSpread"),
        *["ofSchool"] * 3,
        *("spread", "taskSpread"),
    ]
    assert table["level"].tolist() == ["", "", "x", "y", "z", "", ""]
    gain = table[table["node"] == "gain"].iloc[0]
    assert gain["mean"] == pytest.approx(draws["gain"].mean())
    shrunk = 1 - draws["gain"].var(ddof=1) / fit.prior["gain"].var(ddof=1)
    assert gain["shrinkage"] == pytest.approx(shrunk)


def test_profiles_have_what_a_subject_has_per_task(rich):
    fit, draws, _ = rich
    table = fit.profiles()
    own = table[(table["subject"] == "s3") & (table["node"] == "liking")]
    assert own["label"].tolist() == ["a", "b"]
    np.testing.assert_allclose(own["mean"], draws["liking"][:, 3].mean(axis=0))
    assert len(table) == 6 * 3


def test_no_subject_is_ok_when_a_shared_value_is_not():
    """A spread whose chains disagree is named; the twin, whose chains agree, is ok."""
    layout, evaluation = rasch(), evaluation_of(5, 4)
    draws = random_draws(layout, evaluation, 4000, seed=3)
    good = crafted(layout, evaluation, draws).diagnostics()
    assert set(good["status"]) == {"ok"}
    assert not good["reason"].str.contains("share").any()
    apart = draws["easeSpread"] + np.repeat([0, 0, 0, 3.0], 1000)
    bad = crafted(layout, evaluation, draws | {"easeSpread": apart}).diagnostics()
    assert set(bad["status"]) == {"not converged"}
    assert bad["reason"].str.contains("easeSpread").all()
    assert (bad["rhat"] > 1.2).all()
    slow = np.repeat(draws["ease"][::40], 40, axis=0)
    few = crafted(layout, evaluation, draws | {"ease": slow}).diagnostics()
    assert (few["ess"] < 400).all()
    assert not (few["status"] == "ok").any()
    assert few["reason"].str.contains(r"ease\[i\d\]").all()
