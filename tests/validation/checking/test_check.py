"""A layout held against data before sampling: what it says, and what it names as a problem."""

import numpy as np
import pandas as pd
import pytest
from helpers import small_layouts
from helpers.small_layouts import battery

import measurement_layouts as ml
from measurement_layouts.layouts.elements import elements
from measurement_layouts.linking import (
    guessing,
    logistic,
    mean_failure,
    mixture,
    presence,
    product,
)
from measurement_layouts.validation.checking.check import check
from measurement_layouts.validation.checking.columns import informed_by
from measurement_layouts.validation.checking.result import in_words

LATENTS = ["node", "label", "per", "levels", "unit", "informed_by", "items", "trials"]
LATENTS += ["least_trials", "prior_sd", "expected_sd", "shrinkage", "confounded_with"]
LATENTS += ["correlation", "verdict"]


def two(extra=0.0):
    size = ml.MetaFeature("size", low=0, high=10)
    distance = ml.MetaFeature("distance", low=-40, high=25, unit="m")
    sight = ml.Capability("sight", low=0, high=10)
    walk = ml.Capability("walk", low=0, high=25, unit="m")
    found = logistic(sight - size + extra) * logistic(walk - distance, 0.5)
    return ml.Layout("two", ml.Success("ok", found))


def evaluation(rng, outcomes=None, **columns):
    count = len(next(iter(columns.values())))
    items = pd.DataFrame(columns, index=[f"i{number}" for number in range(count)])
    if outcomes is None:
        outcomes = rng.integers(0, 2, (3, count))
    names = [f"s{number}" for number in range(len(outcomes))]
    return ml.Evaluation.from_wide(pd.DataFrame(outcomes, names, items.index), items)


def test_a_layout_without_meta_features(rng):
    """There is nothing to say of the items."""
    coin = ml.Layout("coin", ml.Success("heads", ml.Capability("p", low=0, high=1)))
    outcomes = [[1, 0, 1, 1], [0, 1, 0, 0]]
    found = check(coin, evaluation(rng, outcomes, colour=["red", "blue", "red", "blue"]))
    assert found.latents["verdict"].tolist() == ["informed"]
    assert found.features.empty
    assert "Meta-features" not in str(found)
    assert found.problems == []


def test_tables(animal_ai, cohort):
    found = check(animal_ai, cohort)
    assert list(found.latents.columns) == LATENTS
    latents = found.latents.set_index("node")
    assert latents.loc["rightLeftBias", "informed_by"] == "XPos"
    assert latents.loc["rightLeftBias", "items"] == 12  # half of them lie to a side
    assert latents.loc["visualAbility", "informed_by"] == "rewardSize"
    expected = 1 - (latents["expected_sd"] / latents["prior_sd"]) ** 2
    np.testing.assert_allclose(latents["shrinkage"], expected)
    assert found.features.loc["rewardBehind", ["distinct", "low", "high"]].tolist() == [3, 0, 1]
    assert found.expected.shape == (6, 4)
    assert found.expected.loc["Dot"].gt(found.expected.loc["Ann"]).all()  # half the items
    assert found.subjects.loc["Dot", "trials"] == 12
    (problem,) = (text for text in found.problems if "outcomes of" in text)
    assert problem.startswith("all outcomes of 2 subjects are the same (ace, nil)")
    assert repr(found).startswith("<Check of 'animal-ai': ")


def test_the_seed_chooses_the_draws(animal_ai, cohort):
    one, again, other = (check(animal_ai, cohort, seed=seed).latents for seed in (1, 1, 2))
    assert one.equals(again)
    assert not one.equals(other)
    np.testing.assert_allclose(one["expected_sd"], other["expected_sd"], rtol=0.1)


def test_a_demand_that_never_varies(rng):
    size = rng.uniform(0, 10, 60)
    found = check(two(), evaluation(rng, size=size, distance=np.full(60, -40.0)))
    assert any(text.startswith("distance is -40 on all items") for text in found.problems)
    walk = found.latents.set_index("node").loc["walk"]
    assert walk["informed_by"] == ""
    assert walk["shrinkage"] < 0.02  # that of 200 draws by chance
    assert walk["verdict"] == "prior-dominated"
    assert any(text.startswith("walk will be prior-dominated") for text in found.problems)
    apart = check(two(), evaluation(rng, size=size, distance=rng.uniform(0, 25, 60)))
    assert apart.latents.set_index("node").loc["walk", "shrinkage"] > 0.5
    assert apart.problems == []


def test_outcomes_that_count_twice(cohort):
    """The published pull is named, with what it costs; a number is no problem."""
    published = check(small_layouts.animal_ai(), cohort).problems
    (problem,) = (text for text in published if "count twice" in text)
    assert "90 % intervals contain the truth only 78 to 85 % of the time; give toward= a" in problem
    others = check(small_layouts.animal_ai(toward=0.5), cohort).problems
    kept = [text for text in published if text != problem]
    assert [text.split("(")[0] for text in others] == [text.split("(")[0] for text in kept]


def test_demands_that_go_together(rng):
    size = rng.uniform(0, 10, 60)
    spread = rng.uniform(0, 25, 60)
    for distance, said in (
        (2 * size + 1, "size and distance are correlated (1.00); their effects cannot be told"),
        (2 * size + rng.uniform(0, 1, 60), "size and distance are correlated (1.00)"),
        (np.exp(size / 4), "size and distance are correlated (1.00)"),  # in order
        (spread, None),
    ):
        found = check(two(), evaluation(rng, size=size, distance=distance))
        about = [text for text in found.problems if "correlated" in text]
        assert len(about) == (said is not None)
        assert all(text.startswith(said) for text in about)
        r = np.corrcoef(size, distance)[0, 1]
        expected = 1 / (1 - r**2) if r < 1 - 1e-9 else np.inf
        assert found.features["variance_inflation"].tolist() == pytest.approx([expected] * 2)


def test_a_chance_of_guessing_may_go_together_with_a_demand(rng):
    chance = ml.MetaFeature("chance", low=0, high=1)
    size = rng.uniform(0, 10, 60)
    margin = ml.Capability("sight", low=0, high=10) - ml.MetaFeature("size", low=0, high=10)
    layout = ml.Layout("x", ml.Success("ok", guessing(logistic(margin), chance)))
    for column in (size / 20, np.full(60, 0.25)):
        assert check(layout, evaluation(rng, size=size, chance=column)).problems == []


def test_a_demand_that_follows_from_two_others(rng):
    one, two, three = rng.uniform(0, 3, (3, 200))
    demands = [ml.MetaFeature(name, low=0, high=10) for name in ("a", "b", "c")]
    skills = [ml.Capability(f"skill_{demand}", low=0, high=10) for demand in demands]
    parts = [logistic(skill - demand) for skill, demand in zip(skills, demands, strict=True)]
    layout = ml.Layout("three", ml.Success("ok", parts[0] * parts[1] * parts[2]))
    for column, count in ((one + two, 1), (three, 0)):
        found = check(layout, evaluation(rng, a=one, b=two, c=column))
        said = [text for text in found.problems if text.startswith("a, b, c follow from each")]
        assert len(said) == count


def test_latents_that_are_not_told_apart(rng):
    extra = ml.Bias("extra", prior=ml.Prior("Normal", mu=0, sigma=5))
    data = {"size": rng.uniform(0, 10, 400), "distance": np.full(400, -40.0)}
    found = check(two(extra), evaluation(rng, **data))
    latents = found.latents.set_index("node")
    assert latents.loc["extra", "verdict"] == "confounded with sight"
    assert latents.loc["sight", "confounded_with"] == "extra"
    assert latents.loc["sight", "correlation"] < -0.7
    (problem,) = (text for text in found.problems if "told apart" in text)
    assert problem.startswith(("sight and extra will hardly", "extra and sight will hardly"))


def test_cells_that_a_fit_refuses(rng):
    size, distance = rng.uniform(0, 10, 30).astype(object), rng.uniform(0, 25, 30)
    size[3], size[4], distance[5] = None, "big", 30.0
    found = check(two(), evaluation(rng, size=size, distance=distance))
    assert found.features["missing"].tolist() == [2, 0]
    assert found.features["outside"].tolist() == [0, 1]
    said = "\n".join(found.problems)
    assert "size is missing on 1 of 30 items: i3" in said
    assert "size is not a number on 1 of 30 items: i4 (size = 'big')" in said
    assert "distance is not in its range [-40, 25] on 1 of 30 items: i5" in said
    assert "3 of 30 items cannot be used" in said
    assert found.latents["items"].max() == 27


def test_no_usable_item_and_no_column(rng):
    with pytest.raises(ml.DataError, match="no item can be used with layout 'two'"):
        check(two(), evaluation(rng, size=[np.nan] * 4, distance=[1.0] * 4))
    with pytest.raises(ml.DataError, match="distance: the items have no column distance"):
        check(two(), evaluation(rng, size=[1.0] * 4))


def test_undefined_is_not_missing(rng):
    there = ml.MetaFeature("there", levels=(0, 1))
    size = ml.MetaFeature("size", low=0, high=10, given=there)
    sight = ml.Capability("sight", low=0, high=10)
    layout = ml.Layout("x", ml.Success("ok", presence(logistic(sight - size), there)))
    data = {"there": [0, 1] * 20, "size": [np.nan, 3.0, np.nan, 7.0] * 10}
    found = check(layout, evaluation(rng, **data))
    assert found.features["missing"].tolist() == [0, 0]
    assert found.latents["items"].tolist() == [20]
    assert found.problems == []


def test_sums_in_any_order_meet_the_same():
    size = ml.MetaFeature("size", low=0, high=10)
    side = ml.MetaFeature("side", levels=(-1, 1))
    sight, bias, noise = ml.Capability("sight", 0, 10), ml.Bias("bias"), ml.Noise("noise")
    for margin in (
        sight - size + bias * side,
        bias * side + (sight - size),
        sight + bias * side - size,
    ):
        layout = ml.Layout(
            "x", ml.Success("ok", mixture(logistic(margin), by=noise, toward=mean_failure))
        )
        met = {e.name: set(informed_by(layout, e)) for e in elements(layout)}
        assert met == {"sight": {"size", "side"}, "bias": {"side"}, "noise": {"size", "side"}}


def test_labels_meet_their_own_demand():
    labels = ("AS", "CEc")
    demand = ml.MetaFeature("demand", low=0, high=5, labels=labels)
    general = ml.Capability("general", prior=ml.Prior("HalfNormal", sigma=2))
    ability = ml.Capability("ability", prior=ml.Prior("Exponential", scale=general), labels=labels)
    layout = ml.Layout("x", ml.Success("ok", product(logistic(ability - demand), over="dimension")))
    met = {e.name: informed_by(layout, e) for e in elements(layout)}
    assert met["ability[CEc]"] == ["demand[CEc]"]
    assert met["general"] == ["demand[AS]", "demand[CEc]"]


def test_something_unseen(rng):
    mean = ml.MetaFeature("votes", low=-3, high=3)
    layout = ml.Layout("x", ml.Success("ok", logistic(ml.Bias("b") + ml.Unseen("view", mean, 1.0))))
    found = check(layout, evaluation(rng, votes=[0.5] * 30))
    assert found.latents["informed_by"].tolist() == [""]
    assert not any("votes" in text for text in found.problems)  # a fit takes it as it is


@pytest.mark.parametrize("width", [60, 100])
def test_print(animal_ai, cohort, width):
    items = battery().assign(XPos=0)
    found = check(animal_ai, ml.Evaluation(items, cohort.successes, cohort.trials))
    text = in_words(found, width)
    assert max(map(len, text.splitlines())) <= width
    for shown in ("Layout 'animal-ai' against 6 subjects", "rewardDistance", "Problems", "  1. "):
        assert shown in text
    assert "XPos is 0 on all items" in text


def test_findings_are_rows(animal_ai, cohort):
    found = check(animal_ai, cohort)
    assert found.findings["what"].tolist() == ["outcomes twice", "all alike", "groups"]
    assert found.findings["remedy"].ne("").all()
    assert [len(found.problems), len(found.advice)] == [2, 1]


def test_an_effect_per_group_is_suggested_where_texts_group_the_items_and_are_not_used():
    items = pd.DataFrame({"size": np.arange(12.0), "kind": list("abc") * 4}, dtype=object)
    items = items.assign(name=[f"n{place}" for place in range(12)], year=2026, size=np.arange(12.0))
    outcomes = pd.DataFrame([[1] * 6 + [0] * 6, [1, 0] * 6], ["Ann", "Bob"], items.index)
    evaluation = ml.Evaluation.from_wide(outcomes, items)
    margin = ml.Capability("skill", low=0, high=12) - ml.MetaFeature("size", low=0, high=12)
    (advice,) = ml.check(ml.Layout("one", ml.Success("done", logistic(margin))), evaluation).advice
    assert "does not use kind" in advice
    assert "3 groups" in advice
    ease = ml.Bias("ease", per=ml.Category("kind"))
    grouped = ml.Layout("two", ml.Success("done", logistic(margin + ease)))
    assert not ml.check(grouped, evaluation).advice
