"""Explanations of forecasts against chances, what-ifs and distances computed by hand."""

import numpy as np
import pandas as pd
import pytest
from helpers import joint_fits
from helpers.two_needs import DRAWS, ITEMS, abilities, capability, crafted, demand, fitted
from scipy.special import expit

import measurement_layouts as ml
from measurement_layouts import DataError, FitError
from measurement_layouts.linking import logistic, logit, product

CLOSE = {"abs": 1e-9}


def test_nodes_fail_with_the_chance_by_hand():
    fit, draws = fitted(noise=False)
    why = fit.explain({"small": 4.0, "far": 4.5}, "Ann")
    fails = 1 - expit(draws["sight"] - 4.0)
    assert why.nodes.index.tolist() == ["sees"]
    expected = [fails.mean(), *np.quantile(fails, [0.05, 0.95])]
    assert why.nodes.loc["sees"].tolist() == pytest.approx(expected, **CLOSE)
    assert f"by node of the layout: sees {fails.mean():.3f}" in str(why)


def of_layout(fit, table, subject):
    """What the layout says of success: mean, low and high, before anything is added for shift."""
    (node,) = fit.layout.outcomes
    (row,) = ml.summarise(fit.derive(node.name, table, subjects=[subject])).itertuples()
    return row.mean, row.low, row.high


def test_it_explains_the_forecast():
    fit, _ = fitted()
    table = pd.DataFrame({"small": [4.0], "far": [3.0]}, ["new"])
    for subject in ("Ann", "Bob"):
        found = fit.explain(table, subject)
        assert found.success == pytest.approx(of_layout(fit, table, subject), abs=1e-12)
        assert found.item == "new"
    trained = fit.explain("task-1", "Ann").success
    again = fit.explain({"small": 5.0, "far": 1.0}, "Ann").success
    assert trained == pytest.approx(again, abs=1e-12)


def test_what_ifs_are_on_the_same_draws():
    fit, draws = fitted(noise=False)
    found = fit.explain({"small": 4.0, "far": 4.5}, "Ann", changes={"sight": 2, "far": -1.5})

    def success(sight, small, far):
        able = np.clip(draws["sight"] + sight, -9, 9)
        return expit(able - small) * expit(draws["reach"] - far)

    now = success(0, 4, 4.5)
    for row, own in zip(
        found.changes.to_dict("records"),
        (success(2, 4, 4.5), success(0, 4, 3), success(2, 4, 3)),
        strict=True,
    ):
        assert row["success"] == pytest.approx(own.mean(), **CLOSE)
        ends = np.quantile(own - now, [0.05, 0.95])
        assert (row["gain_low"], row["gain_high"]) == pytest.approx(tuple(ends), **CLOSE)
    assert found.changes.index.tolist() == ["sight 2 more", "far 1.5 less (3)", "all of these"]
    assert "With sight 2 more: success" in str(found)


def test_labels_are_nodes_of_their_own():
    labels = ("read", "write", "speak")
    skill = capability("skill", labels=labels)
    asks = demand("asks", labels=labels)
    part = ml.Derived("part", logistic(skill - asks))
    margin = ml.Derived("margin", skill - asks)
    through = logistic(ml.linking.total(margin, over="dimension"))
    layout = ml.Layout("l", ml.Success("ok", product(part, over="dimension") * through))
    draws = np.stack(abilities(2, 1.0, 4.0, 6.0), axis=1)
    items = {f"asks[{label}]": [0.0, 3.0, 5.0] for label in labels}
    fit = crafted(layout, items, {"skill": draws})
    item = dict(zip(items, (2.0, 3.0, 1.0), strict=True))
    why = fit.explain(item, "Ann", changes={"skill[write]": 2.0})
    apart = draws - np.array([2.0, 3.0, 1.0])
    assert why.nodes.index.tolist() == [f"part[{label}]" for label in labels]  # no margins
    assert why.nodes["fails"].tolist() == pytest.approx((1 - expit(apart)).mean(axis=0))
    apart[:, 1] += np.minimum(2, 9 - draws[:, 1])
    success = expit(apart).prod(axis=1) * expit(apart.sum(axis=1))
    assert why.changes["success"].iloc[0] == pytest.approx(success.mean())


def test_what_is_unseen_is_averaged_over():
    measured, error = demand("measured"), ml.MetaFeature("error", low=0, high=3)
    difficulty = ml.Unseen("difficulty", measured, error)
    solves = ml.Derived("solves", logistic(capability("skill") - difficulty))
    layout = ml.Layout("u", ml.Success("ok", solves * 1))
    (skill,) = abilities(6, 3.0)
    fit = crafted(layout, {"measured": [1.0, 4.0], "error": [0.5, 1.0]}, {"skill": skill})
    table = pd.DataFrame({"measured": [5.0], "error": [1.5]}, ["new"])
    why = fit.explain(table, "Ann", instead={"measured": 1.0})
    assert why.success.mean == pytest.approx(of_layout(fit, table, "Ann")[0])
    assert why.nodes["fails"].tolist() == pytest.approx([1 - why.success.mean])
    easier, _, _ = of_layout(fit, table.assign(measured=1.0), "Ann")
    assert why.changes["success"].tolist() == pytest.approx([easier])


def rasch(far):
    """Ability against a demand, and what each item has of its own; on the log-odds of a part."""
    ability = ml.Capability("ability", prior=ml.Prior("Normal", mu=0, sigma=1))
    spread = ml.Spread("spread")
    ease = ml.Bias("ease", per="item", prior=ml.Prior("Normal", mu=0, sigma=spread))
    return ml.Layout("r", ml.Success("ok", logistic(logit(logistic(ability - far)) + ease)))


@pytest.fixture(scope="module")
def jointly():
    layout = rasch(demand("far"))
    items = pd.DataFrame({"far": [0.0, 1.0, 2.0]}, ["a", "b", "c"])
    outcomes = pd.DataFrame([[1, 0, 1], [1, 1, 0]], ["Ann", "Bob"], items.index)
    evaluation = ml.Evaluation.from_wide(outcomes, items)
    draws = joint_fits.random_draws(layout, evaluation, DRAWS, seed=3)
    draws["ease"][:, 1] -= 2  # an item that is harder than its demand says
    draws["ease"][:, 0] += 5
    return joint_fits.crafted(layout, evaluation, draws), draws


def test_items_and_subjects_of_joint_fits_may_be_new(jointly):
    fit, draws = jointly
    known = fit.explain("b", "Ann", changes={"ability": 1.0}, instead={"far": 0.0})
    ability, ease = draws["ability"][:, 0], draws["ease"][:, 1]
    assert known.success.mean == pytest.approx(expit(ability - 1 + ease).mean())
    expected = [expit(ability + ease).mean()] * 2 + [expit(ability + 1 + ease).mean()]
    assert known.changes["success"].tolist() == pytest.approx(expected)
    table = pd.DataFrame({"far": [1.0]}, ["new"])
    new = fit.explain(table, "Bob")
    assert new.success.mean == pytest.approx(of_layout(fit, table, "Bob")[0])
    assert new.nearest.index.tolist() == ["b", "a", "c"]
    stranger = fit.explain("c", pd.DataFrame(index=["Cy"]), changes={"ability": 2.0})
    assert stranger.subject == "Cy"
    assert len(stranger.nearest) == 0
    assert stranger.changes["gain_low"].iloc[0] > 0


def test_nearest_items_have_the_same_level_of_every_category():
    """A hard item of size 4 with easy items of the same size before it in the table."""
    kind, size = ml.Category("kind"), demand("size")
    skill = ml.Capability("skill", low=-2, high=8, per=("subject", kind))
    layout = ml.Layout("kinds", ml.Success("ok", logistic(skill - size)))
    items = pd.DataFrame({"kind": ["easy"] * 6 + ["hard"] * 6, "size": [*range(6)] * 2})
    items.index = [f"i{number}" for number in range(12)]
    outcomes = pd.DataFrame([[1] * 6 + [1, 1, 0, 0, 0, 0]] * 2, ["Ann", "Bob"], items.index)
    evaluation = ml.Evaluation.from_wide(outcomes, items)
    draws = joint_fits.random_draws(layout, evaluation, DRAWS, seed=3)
    fit = joint_fits.crafted(layout, evaluation, draws)
    why = fit.explain({"item": "new", "kind": "hard", "size": 4}, "Ann")
    assert why.nearest.index[0] == "i10"
    assert set(why.nearest.index) < set(items.index[6:])
    assert fit.explain("i10", "Ann", neighbours=9).nearest.index.tolist()[:2] == ["i9", "i11"]
    strange = fit.explain({"item": "new", "kind": "odd", "size": 4}, "Ann")
    assert strange.nearest.empty


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"item": "task-9"}, FitError, "the fit has no item 'task-9'"),
        ({"subject": None}, FitError, "there are 2 subjects"),
        ({"subject": "Cy"}, FitError, "Cy"),
        ({"item": {"small": 1.0}}, DataError, "far"),
        ({"item": pd.DataFrame(ITEMS)}, DataError, "the table of the item has 4"),
        ({"changes": {"height": 1.0}}, FitError, "no profile element height"),
        ({"changes": {"far": "less"}}, FitError, "far:"),
        ({"changes": {"far": np.inf}}, FitError, "far:"),
        ({"instead": {"sight": 1.0}}, FitError, "instead names sight"),
        (
            {"instead": {"far": 1.0}, "changes": {"far": 1.0}},
            FitError,
            "in either instead or changes",
        ),
        ({"instead": {"far": None}}, FitError, "far:"),
        ({"prob": 1.0}, FitError, "prob"),
        ({"neighbours": -1}, FitError, "neighbours"),
    ],
)
def test_what_cannot_be_explained_is_refused_by_name(options, error, message):
    fit, _ = fitted(noise=False)
    with pytest.raises(error, match=message):
        fit.explain(**{"item": "task-1", "subject": "Ann"} | options)


def test_graded_outcomes_are_refused_by_name():
    skill = logistic(capability("skill") - demand("far"))
    layout = ml.Layout("g", ml.Graded("grade", skill, grades=("poor", "fair", "good")))
    items = pd.DataFrame({"far": [1.0, 2.0, 3.0]}, ["a", "b", "c"])
    graded = pd.DataFrame([["poor", "fair", "good"]], ["Ann"], items.index)
    evaluation = ml.Evaluation.of_outcomes(layout, {"grade": graded}, items)
    fit = ml.fit(layout, evaluation, method="grid")
    with pytest.raises(FitError, match=r"grade of layout 'g' is not a single Success"):
        fit.explain("a", "Ann")
