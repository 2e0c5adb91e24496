"""Explanations against parts simulated as coins, closed forms, and formulas written by hand."""

import numpy as np
import pandas as pd
import pytest
from helpers import joint_fits
from helpers.two_needs import (
    DRAWS,
    ITEMS,
    abilities,
    capability,
    crafted,
    demand,
    fitted,
    two_factors,
)
from scipy.special import expit

import measurement_layouts as ml
from measurement_layouts import DataError, FitError
from measurement_layouts.linking import band, logistic, logit, product

CLOSE = {"abs": 1e-9}


@pytest.mark.trust("promises", "one forecast is explained by its parts, and the parts add up")
def test_two_factors_have_the_closed_form():
    fit, draws = fitted(noise=False)
    found = fit.explain({"small": 4.0, "far": 4.5}, "Ann")
    p, q = expit(draws["sight"] - 4.0), expit(draws["reach"] - 4.5)
    weights = (1 - p * q) / (1 - p * q).sum()
    share = (1 - p) * (1 + q) / 2 / (1 - p * q)
    row = found.parts.loc["sees"]
    assert row["share"] == pytest.approx(weights @ share, **CLOSE)
    assert row["fails"] == pytest.approx((1 - p).mean(), **CLOSE)
    assert row["involved"] == pytest.approx((1 - p).sum() / (1 - p * q).sum(), **CLOSE)
    assert row["alone"] == pytest.approx(((1 - p) * q).sum() / (1 - p * q).sum(), **CLOSE)
    both = ((1 - p) * (1 - q)).sum() / (1 - p * q).sum()
    assert row["together"] == pytest.approx(both, **CLOSE)
    assert row["without"] == pytest.approx(q.mean(), **CLOSE)
    ends = np.quantile(share, [0.05, 0.95], weights=weights, method="inverted_cdf")
    assert (row["share_low"], row["share_high"]) == pytest.approx(tuple(ends), **CLOSE)
    assert found.parts["share"].sum() == pytest.approx(1, **CLOSE)
    assert found.parts.index.tolist() == ["sees", "reach"]
    assert found.success.mean == pytest.approx((p * q).mean(), **CLOSE)


def tossed(draws, small, far, chance, times, rng):
    """Toss parts as coins, and say which failed where the item was failed: (failures, parts)."""
    drawn = {name: np.repeat(values, times) for name, values in draws.items()}
    size = len(drawn["sight"])
    misses = rng.random(size) > expit(drawn["sight"] - small)
    falls = rng.random(size) > expit(drawn["reach"] - far)
    lapses = rng.random(size) < drawn["noise"]
    tails, lucky = rng.random(size) < 0.5, rng.random(size) < chance
    failed = np.stack([misses, falls, lapses & tails])
    failed &= ~(lapses & ~tails)  # noise has made it a success
    failed &= ~lucky
    return failed[:, failed.any(axis=0)].T


@pytest.mark.trust("promises", "one forecast is explained by its parts, and the parts add up")
@pytest.mark.parametrize("chance", [0.0, 0.25])
def test_parts_are_those_that_coins_show(chance):
    fit, draws = fitted(chance=chance)
    found = fit.explain({"small": 4.0, "far": 4.5}, "Ann").parts
    failed = tossed(draws, 4.0, 4.5, chance, 500, np.random.default_rng(5))
    count = failed.sum(axis=1)
    truth = {
        "involved": failed.mean(axis=0),
        "alone": (failed & (count == 1)[:, None]).mean(axis=0),
        "share": (failed / count[:, None]).mean(axis=0),
    }
    error = 4 * 0.5 / np.sqrt(len(failed))
    for name, values in truth.items():
        np.testing.assert_allclose(found[name], values, atol=error, err_msg=name)
    assert found["share"].sum() == pytest.approx(1, **CLOSE)
    wrong = found["share"].to_numpy()[[1, 0, 2]]  # the twin: the parts' names exchanged
    assert np.abs(wrong - truth["share"]).max() > 4 * error


def of_layout(fit, table, subject):
    """What the layout says of success: mean, low and high, before anything is added for shift."""
    (node,) = fit.layout.outcomes
    values = fit.derived(table, node.name, subjects=[subject])[node.name]
    return tuple(values.to_numpy().ravel())


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


def test_demands_are_held_against_the_easiest_training_item():
    fit, draws = fitted(noise=False)
    found = fit.explain({"small": 4.0, "far": 4.5}, "Ann")

    def success(small, far):
        return expit(draws["sight"] - small) * expit(draws["reach"] - far)

    now, small, far, both = (success(*at) for at in ((4, 4.5), (0.5, 4.5), (4, 1), (0.5, 1)))
    assert found.demands["easiest"].tolist() == [0.5, 1.0]
    assert found.demands["success"].tolist() == pytest.approx([small.mean(), far.mean()])
    weights = (1 - now) / (1 - now).sum()
    share = ((small - now) + (both - far)) / 2 / (1 - now)
    assert found.demands.loc["small", "share"] == pytest.approx(weights @ share, **CLOSE)
    assert found.remaining.mean == pytest.approx((1 - both).sum() / (1 - now).sum(), **CLOSE)
    assert found.demands["share"].sum() + found.remaining.mean == pytest.approx(1, **CLOSE)


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


def test_another_value_is_an_amount_to_add():
    fit, _ = fitted(noise=False)
    found, added = (
        fit.explain({"small": 4.0, "far": 4.5}, "Ann", **change).changes
        for change in ({"instead": {"far": 3.0}}, {"changes": {"far": -1.5}})
    )
    pd.testing.assert_frame_equal(found, added)


def test_an_ability_stays_in_its_range():
    fit, draws = fitted(noise=False)
    found = fit.explain({"small": 9.0, "far": 0.0}, "Ann", changes={"sight": 100.0})
    expected = expit(9.0 - 9.0) * expit(draws["reach"]).mean()
    assert found.changes["success"].iloc[0] == pytest.approx(expected, **CLOSE)


def test_labels_are_parts_of_their_own():
    labels = ("read", "write", "speak")
    skill = capability("skill", labels=labels)
    asks = demand("asks", labels=labels)
    layout = ml.Layout("l", ml.Success("ok", product(logistic(skill - asks), over="dimension")))
    draws = np.stack(abilities(2, 1.0, 4.0, 6.0), axis=1)
    items = {f"asks[{label}]": [0.0, 3.0, 5.0] for label in labels}
    fit = crafted(layout, items, {"skill": draws})
    item = dict(zip(items, (2.0, 3.0, 1.0), strict=True))
    found = fit.explain(item, "Ann", changes={"skill[read]": 2.0})
    chance = expit(draws - np.array([2.0, 3.0, 1.0]))
    names = [f"skill[{label}]" for label in labels]
    assert found.parts.index.tolist() == names
    assert found.parts["fails"].tolist() == pytest.approx((1 - chance).mean(axis=0))
    assert found.parts["demands"].tolist() == [(f"asks[{label}]",) for label in labels]
    without = chance[:, 1:].prod(axis=1).mean()
    assert found.parts.loc["skill[read]", "without"] == pytest.approx(without)
    more = np.clip(draws[:, 0] + 2, -9, 9)
    assert found.changes["success"].iloc[0] == pytest.approx(
        (expit(more - 2) * chance[:, 1:].prod(axis=1)).mean()
    )
    assert found.limits_most == "skill[read]"


@pytest.mark.parametrize(("centre", "little"), [(-3.0, True), (3.0, False)])
def test_a_band_says_on_which_side_it_is_missed(centre, little):
    low, high = (ml.MetaFeature(name, low=-5, high=5) for name in ("low", "high"))
    risk = ml.Propensity("risk", low=-6, high=6)
    layout = ml.Layout("b", ml.Success("ok", logistic(capability("skill")) * band(risk, low, high)))
    (draws, skill) = abilities(4, centre, 2.0)
    fit = crafted(
        layout, {"low": [-1.0, 0, 1], "high": [1.0, 2, 3]}, {"risk": draws, "skill": skill}
    )
    found = fit.explain("task-0", "Ann")
    row = found.parts.loc["risk"]
    assert row["kind"] == "band"
    below, above = 1 - expit(draws + 1), 1 - expit(1 - draws)
    assert row["too_little"] == pytest.approx(below.sum() / (below + above).sum(), abs=0.02)
    assert (row["too_little"] > 0.9) == little
    assert f"too {'low' if little else 'high'} for the item's band" in str(found)
    assert not set(found.demands.index) & {"low", "high"}
    assert np.isnan(found.parts.loc["skill", "too_little"])


def test_undefined_demands_are_left_out():
    wall = ml.MetaFeature("wall", levels=(0, 1))
    hidden = demand("hidden", given=wall)
    recalls = ml.linking.presence(logistic(capability("memory") - hidden), wall)
    layout = ml.Layout(
        "w", ml.Success("ok", recalls * logistic(capability("reach") - demand("far")))
    )
    memory, reach = abilities(5, 1.0, 3.0)
    items = {"wall": [0, 1, 1], "hidden": [np.nan, 2.0, 5.0], "far": [1.0, 2.0, 3.0]}
    fit = crafted(layout, items, {"memory": memory, "reach": reach})
    there = fit.explain("task-2", "Ann")
    assert {"wall", "hidden"} <= set(there.demands.index)
    gone = fit.explain("task-0", "Ann")
    assert gone.demands.index.tolist() == []
    assert gone.parts.loc["memory", "share"] == 0
    assert "memory" not in str(gone)
    with pytest.raises(FitError, match="hidden is undefined on item 'task-0'"):
        fit.explain("task-0", "Ann", changes={"hidden": 1.0})


def test_what_is_unseen_is_averaged_over():
    measured, error = demand("measured"), ml.MetaFeature("error", low=0, high=3)
    difficulty = ml.Unseen("difficulty", measured, error)
    layout = ml.Layout("u", ml.Success("ok", logistic(capability("skill") - difficulty)))
    (skill,) = abilities(6, 3.0)
    fit = crafted(layout, {"measured": [1.0, 4.0], "error": [0.5, 1.0]}, {"skill": skill})
    table = pd.DataFrame({"measured": [5.0], "error": [1.5]}, ["new"])
    found = fit.explain(table, "Ann")
    assert found.success.mean == pytest.approx(of_layout(fit, table, "Ann")[0])
    assert found.parts["fails"].tolist() == pytest.approx([1 - found.success.mean])
    easier, _, _ = of_layout(fit, table.assign(measured=1.0), "Ann")
    assert found.demands.loc["measured", "success"] == pytest.approx(easier)


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


def test_what_an_item_has_of_its_own_is_a_part(jointly):
    fit, draws = jointly
    found = fit.explain("b", "Ann")
    ability, ease = draws["ability"][:, 0], draws["ease"][:, 1]
    now, usual = expit(ability - 1 + ease), expit(ability - 1 + np.maximum(ease, 0))
    weights = (1 - now) / (1 - now).sum()
    row = found.parts.loc["ease"]
    assert row["kind"] == "effect"
    share = ((usual - now) + 0) / 2 / (1 - now)  # where the ability cannot fail, nothing does
    assert row["share"] == pytest.approx(weights @ share, abs=1e-6)
    assert row["without"] == pytest.approx(usual.mean(), abs=1e-6)
    known = pd.DataFrame({"far": [1.0]}, ["b"])
    assert found.success.mean == pytest.approx(of_layout(fit, known, "Ann")[0])
    assert "ease" in found.demands.index
    assert "the item's own effect" in str(found)
    easy = fit.explain("a", "Ann")  # an item that is easier than its demand says
    assert easy.parts["share"].get("ease", 0.0) < 0.01


def test_a_new_item_has_its_own_from_the_distribution(jointly):
    fit, _ = jointly
    table = pd.DataFrame({"far": [1.0]}, ["new"])
    found = fit.explain(table, "Bob")
    assert found.success.mean == pytest.approx(of_layout(fit, table, "Bob")[0])
    assert 0 < found.parts.loc["ease", "share"] < 0.5
    assert found.nearest.index.tolist() == ["b", "a", "c"]


def test_a_new_subject_has_no_neighbours(jointly):
    fit, _ = jointly
    found = fit.explain("c", pd.DataFrame(index=["Cy"]))
    assert found.subject == "Cy"
    assert len(found.nearest) == 0
    assert found.demands.loc["far", "easiest"] == 0


def test_a_group_of_items_has_its_own_too():
    task = ml.Category("task")
    ability = ml.Capability("ability", prior=ml.Prior("Normal", mu=0, sigma=1))
    of_task = ml.Bias("ofTask", per=task, prior=ml.Prior("Normal", mu=0, sigma=1))
    layout = ml.Layout("t", ml.Success("ok", logistic(ability - demand("far") - of_task)))
    items = pd.DataFrame({"far": [0.0, 1.0, 2.0], "task": ["x", "y", "y"]}, ["a", "b", "c"])
    outcomes = pd.DataFrame([[1, 0, 1], [1, 1, 0]], ["Ann", "Bob"], items.index)
    evaluation = ml.Evaluation.from_wide(outcomes, items)
    draws = joint_fits.random_draws(layout, evaluation, DRAWS, seed=3)
    draws["ofTask"][:, 1] += 2  # a difficulty here: more of it is harder
    fit = joint_fits.crafted(layout, evaluation, draws)
    found = fit.explain("c", "Bob")
    assert found.success.mean == pytest.approx(of_layout(fit, items.loc[["c"]], "Bob")[0])
    theta = draws["ability"][:, 1] - 2
    usual = expit(theta - np.minimum(draws["ofTask"][:, 1], 0)).mean()
    assert found.demands.loc["ofTask", "success"] == pytest.approx(usual)
    assert found.parts.index.tolist() == ["ability"]


def test_the_nearest_items_come_with_the_outcomes_of_the_subject():
    sight, reach = abilities(1, 3.0, 4.0)
    outcomes = [[1, 0, np.nan, 1], [0, 1, 1, 0]]
    fit = crafted(two_factors(), ITEMS, {"sight": sight, "reach": reach}, outcomes)
    found = fit.explain("task-2", "Ann", neighbours=2).nearest
    spread = pd.DataFrame(ITEMS).drop(index=2).std(ddof=0)
    far = np.sqrt((((pd.DataFrame(ITEMS) - [3.0, 6.0]) / spread) ** 2).mean(axis=1))
    assert found.index.tolist() == [f"task-{at}" for at in far.drop(2).nsmallest(2).index]
    assert found["distance"].tolist() == pytest.approx(far.drop(2).nsmallest(2).tolist())
    assert found["trials"].tolist() == [1, 1]
    assert fit.explain("task-2", "Ann", neighbours=0).nearest.empty


def test_of_many_parts_the_smaller_shares_are_added_up():
    labels = tuple("abcdefghi")
    skill = capability("skill", labels=labels)
    asks = demand("asks", labels=labels)
    layout = ml.Layout("l", ml.Success("ok", product(logistic(skill - asks), over="dimension")))
    draws = np.stack(abilities(2, *np.linspace(1, 3, 9)), axis=1)
    items = {f"asks[{label}]": [0.0, 2.0] for label in labels}
    found = crafted(layout, items, {"skill": draws}).explain("task-1", "Ann")
    told = next(one for one in found.sentences if one.startswith("If it fails"))
    rest = found.parts["share"].nsmallest(3).sum()
    assert told.endswith(f"and 3 others for {rest:.2f}.")
    assert told.count("skill[") == 6


def test_a_success_that_is_sure_has_nothing_to_explain():
    fit, _ = fitted(noise=False)
    found = fit.explain({"small": 0.0, "far": 0.0}, "Ann", changes={"sight": 9.0, "reach": 9.0})
    assert "is expected to succeed on new item" in str(found)
    assert found.parts["share"].sum() == pytest.approx(1, **CLOSE)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"item": "task-9"}, FitError, "the fit has no item 'task-9'"),
        ({"subject": None}, FitError, "the fit has 2 subjects"),
        ({"subject": "Cy"}, FitError, "Cy"),
        ({"item": {"small": 1.0}}, DataError, "far"),
        ({"item": pd.DataFrame(ITEMS)}, DataError, "the table of the item has 4 rows"),
        ({"changes": {"height": 1.0}}, FitError, "has no profile element height"),
        ({"changes": {"far": "less"}}, FitError, "far: 'less'"),
        ({"changes": {"far": np.inf}}, FitError, "far: inf"),
        ({"instead": {"sight": 1.0}}, FitError, "instead names sight"),
        ({"instead": {"far": 1.0}, "changes": {"far": 1.0}}, FitError, "either a value or"),
        ({"instead": {"far": None}}, FitError, "far: None"),
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
    with pytest.raises(FitError, match=r"outcome\(s\) grade, which are several, graded or scores"):
        fit.explain("a", "Ann")
