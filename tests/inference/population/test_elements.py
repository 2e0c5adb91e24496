"""Elements that are levels of categories, in tables and figures, from draws that are known."""

import numpy as np
import pandas as pd
import pytest
from helpers.joint_fits import crafted, normal, random_draws
from scipy.special import expit

import measurement_layouts as ml
from measurement_layouts.inference.population.standing import standing
from measurement_layouts.linking import logistic, product

KINDS, LABELS = ["birds", "fish"], ["read", "write"]
NAMES = [f"skill[{kind}, {label}]" for kind in KINDS for label in LABELS]


def data():
    rng = np.random.default_rng(2)
    items = pd.DataFrame(rng.uniform(0, 2, (6, 2)), columns=[f"demand[{each}]" for each in LABELS])
    items = items.assign(kind=["birds"] * 3 + ["fish"] * 3).rename("i{}".format)
    outcomes = np.array([rng.permutation([0, 0, 0, 1, 1, 1]) for _ in "abc"])
    return pd.DataFrame(outcomes, [*"abc"], items.index), items


def layout(more=0):
    """A skill for each kind of items and label, about a mean of the kind."""
    kind = ml.Category("kind")
    prior = normal(ml.Bias("level", per=kind), ml.Spread("spread"))
    skill = ml.Capability("skill", labels=LABELS, per=("subject", kind), prior=prior)
    demand = ml.MetaFeature("demand", low=0, high=2, labels=LABELS)
    return ml.Layout(
        "kinds", ml.Success("solved", product(logistic(skill - demand + more), over="dimension"))
    )


@pytest.fixture(scope="module")
def known():
    """A fit, and draws of the skill of shape (draws, subjects, elements)."""
    outcomes, items = data()
    evaluation = ml.Evaluation.from_wide(outcomes, items)
    draws = random_draws(layout(), evaluation, 2000, seed=3)
    draws["level"] += [1.0, -2.0]
    return crafted(layout(), evaluation, draws), draws, draws["skill"].reshape(2000, 3, 4)


def named(table):
    return (table["node"] + "[" + table["label"] + "]").tolist()


def test_profiles_have_a_row_for_each_level_and_label(known):
    fit, _, skill = known
    table = fit.profiles()
    assert named(table) == NAMES * 3
    np.testing.assert_allclose(table["mean"], skill.mean(axis=0).ravel())
    np.testing.assert_allclose(table["sd"], skill.std(axis=0, ddof=1).ravel())


def test_subjects_are_compared_in_each_level_and_label(known):
    fit, _, skill = known
    gaps = (skill[:, 0] - skill[:, 1]).reshape(len(skill), -1)
    for name, values in zip(NAMES, gaps.T, strict=True):
        compared = ml.compare(fit, by=name, subjects=["a", "b"])
        (row,) = compared.table.to_dict("records")
        sign = 1 if row["subject"] == "a" else -1
        assert row["difference"] == pytest.approx(sign * values.mean())
        assert row["ahead"] == pytest.approx((sign * values > 0).mean())


def test_the_population_of_a_level_is_that_of_newcomers(known):
    """Their mean is that of the level, their variance that of the mean and of the spread."""
    fit, draws, _ = known
    table = standing(fit).set_index("subject").loc["a"]
    assert named(table) == NAMES
    level = np.repeat(draws["level"], 2, axis=1)
    sd = np.sqrt(level.var(axis=0) + (draws["spread"] ** 2).mean())
    np.testing.assert_allclose(table["population_mean"], level.mean(axis=0), atol=0.08)
    np.testing.assert_allclose(table["population_sd"], sd, rtol=0.05)


def test_a_change_of_an_element_moves_items_of_its_level_alone(known):
    fit, _, skill = known
    changes = {"skill[birds, write]": 1.0, "skill[fish, write]": 1.0}
    result = fit.explain("i0", "b", changes=changes)
    demands = fit.constants["demand"].to_numpy()[0]
    moved = expit(skill[:, 1, :2] + [0, 1] - demands).prod(axis=1)
    before = expit(skill[:, 1, :2] - demands).prod(axis=1)
    np.testing.assert_allclose(result.success.mean, before.mean())
    np.testing.assert_allclose(result.changes["success"].iloc[0], moved.mean())
    np.testing.assert_allclose(result.changes["gain"].iloc[1], 0, atol=1e-12)


def test_figures_and_descriptions_name_each_element(known):
    fit, _, _ = known
    axes = np.ravel(ml.plots.profile_forest(fit))
    assert [ax.get_xlabel() for ax in axes if ax.get_xlabel()] == NAMES
    findings = ml.describe(fit).findings
    assert set(findings.loc[findings["what"] == "leaning", "where"]) == set(NAMES)


def test_a_check_expects_less_of_a_level_with_fewer_items():
    outcomes, items = data()
    outcomes.loc["c", ["i3", "i4"]] = np.nan
    sds = ml.check(layout(), ml.Evaluation.from_wide(outcomes.astype(float), items)).expected
    assert sds.columns.tolist() == NAMES
    assert (sds.loc["c", NAMES[2:]] > sds.loc["a", NAMES[2:]]).all()


def test_an_adaptive_test_stops_at_an_element(known):
    fit, _, _ = known
    _, items = data()
    stop = ml.batteries.Stop(sd={"skill[fish, read]": 1e9})
    test = ml.AdaptiveTest(
        layout(), items, given=fit, stop=stop, target="skill[birds, read]", seed=1
    )
    assert named(test.profile()) == NAMES
    test.record(test.next()[0], 1)
    assert test.done.startswith("skill[fish, read] has an sd")
    with pytest.raises(ml.FitError, match=r"skill\[worms\]"):
        ml.AdaptiveTest(layout(), items, given=fit, stop=ml.batteries.Stop(sd={"skill[worms]": 1}))


def test_a_joint_fit_has_one_verdict_that_names_the_worst_value(known):
    _, draws, _ = known
    evaluation = ml.Evaluation.from_wide(*data())
    moved = draws["skill"].copy()
    moved[:500, 1, 0, 1] += 50  # of the first of four chains
    row = crafted(layout(), evaluation, draws | {"skill": moved}).diagnostics().loc["all subjects"]
    assert row["status"] == "not converged"
    assert row["subjects"] == "a, b, c"
    assert "separate modes of skill[birds, write] of b" in row["reason"]
    good = crafted(layout(), evaluation, draws).diagnostics()
    assert good["status"].item() == "ok"
    assert "modes" not in good["reason"].item()
    assert good["success"].item() == pytest.approx(data()[0].to_numpy().mean())


def test_values_of_subjects_on_items_are_listed_with_the_items():
    outcomes, items = data()
    evaluation = ml.Evaluation.from_wide(outcomes, items)
    whole = layout(ml.Bias("effect", per=("subject", "item")))
    draws = random_draws(whole, evaluation, 400, seed=3)
    fit = crafted(whole, evaluation, draws)
    assert named(fit.profiles()) == NAMES * 3
    table = fit.items().query("node == 'effect'")
    assert table[["subject", "item"]].iloc[[0, 1, -1]].to_numpy().tolist() == [
        ["a", "i0"],
        ["a", "i1"],
        ["c", "i5"],
    ]
    np.testing.assert_allclose(table["mean"], draws["effect"].mean(axis=0).ravel())
