"""Tests that adapt: what they ask, when they stop, and what a killed process leaves."""

import json
import os
import signal
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import measurement_layouts as ml
from measurement_layouts.batteries import Stop
from measurement_layouts.batteries.adaptive import asking
from measurement_layouts.linking import logistic, presence
from measurement_layouts.scenarios import animal_ai_olympics as aaio
from tests.helpers import graded_layouts
from tests.helpers.adaptive_banks import skills_answers, skills_bank, skills_layout

SIGHT = ml.Capability("sight", low=0, high=10)
SMALLNESS = ml.MetaFeature("smallness", low=0, high=10)
LAYOUT = ml.Layout("looking", ml.Success("found", logistic(SIGHT - SMALLNESS)))


def bank(items=60):
    return pd.DataFrame({"smallness": np.linspace(0, 10, items)}, [f"a{n}" for n in range(items)])


def answered(test, count=None):
    """Answer as somebody who finds what is below 6, until it is enough."""
    table = test.bank["smallness"]
    while not test.done and (count is None or len(test.history) < count):
        for item in test.next():
            test.record(item, table[item] < 6)
    return test


def test_it_asks_about_what_is_uncertain_and_stops():
    test = answered(ml.AdaptiveTest(LAYOUT, bank(), stop=Stop(sd={"sight": 0.8}), seed=1))
    assert test.done.startswith("sight has an sd of 0.7")
    assert test.history["sd sight"].iloc[-1] <= 0.8 < test.history["sd sight"].iloc[-2]
    asked = bank().loc[test.history["item"], "smallness"]
    assert abs(asked.iloc[4:] - 6).max() < 2.5
    assert test.profile()["mean"][0] == pytest.approx(6, abs=1)
    random = ml.AdaptiveTest(LAYOUT, bank(), random_share=1.0, seed=1)
    answered(random, len(test.history))
    assert set(random.history["why"]) == {"random"}
    assert random.history["sd sight"].iloc[-1] > test.history["sd sight"].iloc[-1]


@pytest.mark.parametrize(
    ("stop", "reason"),
    [
        (Stop(items=3), "3 items were answered, the limit"),
        (Stop(width={"sight": 4.0}), "sight has a 90% interval 3"),
        (Stop(threshold={"sight": 3.0}), "sight is above 3 with probability 0.9"),
        (Stop(threshold={"sight": 9.0}), "sight is below 9 with probability 0.9"),
        (Stop(cost=4.5), "no item left costs less than what remains of 4.5"),
        (Stop(sd={"sight": 0.01}, items=5), "5 items were answered, the limit"),
        (None, "all 12 items of the bank were answered"),
    ],
)
def test_it_says_why_it_stops(stop, reason):
    test = ml.AdaptiveTest(LAYOUT, bank(12), stop=stop, seed=1)
    assert test.done == ""
    assert answered(test).done.startswith(reason)
    if stop is not None and stop.cost is not None:
        assert len(test.history) == 4
    if stop is not None and stop.items is not None:
        assert test.next(3) == []


def test_all_rules_of_precision_must_hold():
    rules = Stop(sd={"sight": 1.0}, threshold={"sight": 3.0})
    test = answered(ml.AdaptiveTest(LAYOUT, bank(), stop=rules, seed=1))
    assert "sight has an sd of" in test.done
    assert "; sight is above 3" in test.done
    alone = Stop(threshold={"sight": 3.0})
    assert len(answered(ml.AdaptiveTest(LAYOUT, bank(), stop=alone, seed=1)).history) < 3
    assert len(test.history) > 3


def test_several_at_once_are_no_near_copies():
    copies = pd.concat([bank(9)] * 4).set_axis([f"c{n}" for n in range(36)], axis=0)
    steep = ml.Layout("steep", ml.Success("found", logistic(5 * (SIGHT - SMALLNESS))))
    test = ml.AdaptiveTest(steep, copies, seed=1)
    asked = test.next(3)
    assert copies.loc[asked, "smallness"].nunique() == 3
    assert test.in_flight == asked
    assert not set(test.next(2)) & set(asked)


def test_costs_are_weighed():
    costs = {
        name: 1.0 if smallness < 4 else 50.0 for name, smallness in bank()["smallness"].items()
    }
    test = ml.AdaptiveTest(LAYOUT, bank(), costs=costs, seed=1)
    assert bank().loc[test.next(5), "smallness"].max() < 4


def test_a_share_of_the_items_is_random():
    test = answered(ml.AdaptiveTest(LAYOUT, bank(), random_share=0.3, seed=1), 40)
    share = (test.history["why"] == "random").mean()
    assert 0.1 < share < 0.5


def test_one_of_the_best_is_drawn_so_that_subjects_are_asked_different_items(tmp_path):
    """Of forty subjects' first items; twin: without a draw all are asked the same few."""
    first = {
        among: [
            ml.AdaptiveTest(LAYOUT, bank(), among=among, seed=seed).next()[0] for seed in range(40)
        ]
        for among in (1, 8)
    }
    exposed = {among: max(map(items.count, items)) / 40 for among, items in first.items()}
    assert exposed[8] < 0.35 < exposed[1]
    demands = bank()["smallness"][first[8]]
    assert demands.between(3.5, 6.5).all()  # all of them are among those that tell most
    path = tmp_path / "test.jsonl"
    test = ml.AdaptiveTest(LAYOUT, bank(), among=8, seed=5, path=path)
    for _ in range(3):
        (item,) = test.next()
        test.record(item, 1)
    assert ml.AdaptiveTest.load(path).next() == test.next()


def test_items_that_nobody_asked_for_count_too():
    test = ml.AdaptiveTest(LAYOUT, bank(), subject="Ann", seed=1)
    test.record("a20", 3, trials=4)
    (row,) = test.history.to_dict("records")
    assert (row["why"], row["outcome"], row["trials"]) == ("given", 3, 4)
    found = test.evaluation()
    assert (found.successes.loc["Ann", "a20"], found.trials.loc["Ann", "a20"]) == (3, 4)
    assert "a20" not in test.next(5)


def test_the_evaluation_is_what_a_fit_takes():
    test = answered(ml.AdaptiveTest(LAYOUT, bank(), seed=1), 20)
    fit = ml.fit(LAYOUT, test.evaluation(), method="grid", seed=1, progressbar=False)
    row, own = fit.profiles().iloc[0], test.profile().iloc[0]
    assert list(fit.profiles().columns) == list(test.profile().columns)
    assert own["mean"] == pytest.approx(row["mean"], abs=0.1 * row["sd"])
    for column in ("sd", "low", "high", "shrinkage"):
        assert own[column] == pytest.approx(row[column], rel=0.1)


def test_a_short_test_whose_items_are_alike_in_a_property_can_be_fitted(monkeypatch):
    """Items asked share a size, which varies in the bank. Twins: they alone, and such a bank."""
    there = ml.MetaFeature("there", levels=(0, 1))
    hidden = ml.MetaFeature("hidden", low=0, high=9, given=there)
    waiting = ml.Capability("waiting", low=0, high=9)
    part = presence(logistic(waiting - hidden), there)
    layout = ml.Layout("two", ml.Success("found", logistic(SIGHT - SMALLNESS) * part))
    items = pd.DataFrame(
        {"smallness": 5.0, "there": [0, 0, 0, 1, 1], "hidden": [np.nan, np.nan, np.nan, 3, 4]},
        list("abcde"),
    )
    items.loc["e", "smallness"] = 4
    test = ml.AdaptiveTest(layout, items, seed=1)
    for item in ("a", "b"):
        test.record(item, 1)
    found = test.evaluation()
    assert found.items.index[:2].tolist() == ["a", "b"]
    assert set(found.items.index[2:]) <= {"d", "e"}
    assert found.trials.loc["subject"].sum() == 2
    fit = ml.fit(layout, found, method="grid", seed=1, progressbar=False)
    for (_, row), (_, own) in zip(
        fit.profiles().iterrows(), test.profile().iterrows(), strict=True
    ):
        assert own["mean"] == pytest.approx(row["mean"], abs=0.1 * row["sd"])
        assert own["sd"] == pytest.approx(row["sd"], rel=0.1)
    with monkeypatch.context() as broken:
        broken.setattr(asking, "beside", lambda *_: [])
        with pytest.raises(ml.DataError, match="smallness is 5 on all 2 items"):
            ml.fit(layout, test.evaluation(), method="grid", seed=1, progressbar=False)
    for item in ("d", "e"):
        test.record(item, 0)
    assert test.evaluation().items.index.tolist() == list("abde")
    with pytest.raises(ml.DataError, match="smallness is 5 on all 4 items"):
        ml.AdaptiveTest(LAYOUT, bank(4).assign(smallness=5.0), seed=1)


def test_grades_and_several_outcomes_are_recorded():
    layout = ml.Layout("paths", graded_layouts.graded(), graded_layouts.success())
    items = pd.DataFrame({"timeHidden": np.linspace(0, 10, 9)}, [f"i{n}" for n in range(9)])
    test = ml.AdaptiveTest(layout, items, seed=1)
    (item,) = test.next()
    test.record(item, {"path": "near", "found": True})
    assert test.evaluation().rows is not None
    assert test.evaluation().trials.loc["subject"].tolist() == [1, 1, 1, 1, 0, 0, 0, 0]
    assert test.evaluation().successes.loc["subject"].tolist() == [1, 1, 0, 1, 0, 0, 0, 0]
    with pytest.raises(ml.DataError, match="one attempt at a time"):
        test.record("i0", {"path": "near", "found": True}, trials=2)
    with pytest.raises(ml.DataError, match="grades"):
        test.record("i0", {"path": "far", "found": True})
    assert len(test.history) == 1


def test_a_saved_test_goes_on_as_if_never_interrupted(tmp_path):
    rules = Stop(sd={"sight": 0.7}, items=30)
    options = {"stop": rules, "random_share": 0.3, "seed": 1, "target": "sight"}
    whole = answered(ml.AdaptiveTest(LAYOUT, bank(), **options))
    half = ml.AdaptiveTest(LAYOUT, bank(), path=tmp_path / "test.jsonl", **options)
    while not half.done:
        for item in half.next():
            half = ml.AdaptiveTest.load(tmp_path / "test.jsonl")
            assert half.in_flight == [item]
            half.record(item, bank()["smallness"][item] < 6)
        half = ml.AdaptiveTest.load(tmp_path / "test.jsonl")
    pd.testing.assert_frame_equal(whole.history, half.history)
    whole.save(tmp_path / "copy.jsonl")
    copy = ml.AdaptiveTest.load(tmp_path / "copy.jsonl", LAYOUT)
    pd.testing.assert_frame_equal(copy.profile(), whole.profile())
    assert copy.done == whole.done


def test_a_layout_with_own_functions_is_given_again(tmp_path):
    layout, items = aaio.recommended_layout(), aaio.battery(seed=2)
    ml.AdaptiveTest(layout, items, seed=1).save(tmp_path / "test.jsonl")
    with pytest.raises(ml.FitError, match="pass the layout as layout="):
        ml.AdaptiveTest.load(tmp_path / "test.jsonl")
    assert ml.AdaptiveTest.load(tmp_path / "test.jsonl", layout).done == ""


def test_a_line_that_was_torn_is_left_out(tmp_path):
    path = tmp_path / "test.jsonl"
    answered(ml.AdaptiveTest(LAYOUT, bank(), seed=1, path=path), 3)
    text = path.read_text()
    path.write_text(text + '{"item": "a3", "outc')
    assert len(ml.AdaptiveTest.load(path).history) == 3
    assert path.read_text() == text


KILLED = """
import sys
import measurement_layouts as ml
from tests.helpers.adaptive_banks import skills_answers, skills_bank, skills_layout
bank = skills_bank(60)
answers = skills_answers(bank)
test = ml.AdaptiveTest.load(sys.argv[1])
while True:
    for item in test.in_flight or test.next():
        print("asked", item, flush=True)
        test.record(item, answers[item])
        print("done", item, flush=True)
"""


@pytest.mark.trust("faults", "a test that adapts, killed between and within calls")
@pytest.mark.slow
def test_a_killed_process_loses_no_answer(tmp_path):
    items, path = skills_bank(60), tmp_path / "test.jsonl"
    answers = skills_answers(items)
    ml.AdaptiveTest(skills_layout(), items, seed=1, path=path)
    recorded = []
    command = [sys.executable, "-c", KILLED, str(path)]
    for lines in (3, 6):
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            said = [process.stdout.readline() for _ in range(lines)]
            os.kill(process.pid, signal.SIGKILL)
            said += process.stdout.readlines()
        recorded += [line[5:].strip() for line in said if line.startswith("done ")]
    assert len(recorded) >= 3
    left = ml.AdaptiveTest.load(path)
    found = left.history["item"].tolist()
    assert set(recorded) <= set(found)
    assert len(found) <= len(recorded) + 2  # written by a call that did not return
    whole = ml.AdaptiveTest(skills_layout(), items, seed=1)
    for item in found:
        assert (whole.in_flight or whole.next()) == [item]
        whole.record(item, answers[item])
    pd.testing.assert_frame_equal(whole.history, left.history)


def test_a_joint_fit_of_others_is_a_start(tmp_path):
    per = {"per": "population"}
    mean, spread = ml.Bias("mean", **per), ml.Spread("spread")
    ability = ml.Capability("ability", prior=ml.Prior("Normal", mu=mean, sigma=spread))
    size = ml.MetaFeature("size", low=-3, high=3)
    layout = ml.Layout("shared", ml.Success("solved", logistic(ability - size)))
    items = pd.DataFrame({"size": np.linspace(-3, 3, 20)}, [f"i{n}" for n in range(20)])
    rng = np.random.default_rng(1)
    chance = 1 / (1 + np.exp(-(1 + 0.3 * rng.normal(size=(12, 1)) - items["size"].to_numpy())))
    won = pd.DataFrame((rng.random((12, 20)) < chance).astype(int), columns=items.index)
    others = ml.Evaluation.from_wide(won.add_prefix("s", axis=0), items)
    fit = ml.fit(layout, others, draws=300, tune=300, chains=2, seed=1, progressbar=False)
    path = tmp_path / "test.jsonl"
    test = ml.AdaptiveTest(layout, items, given=fit, subject="new", seed=1, path=path)
    assert test.profile()["mean"][0] == pytest.approx(1, abs=0.4)
    for _ in range(4):
        (item,) = test.next()
        test.record(item, 1)
    assert test.profile()["sd"][0] < 0.8
    again = ml.AdaptiveTest.load(path, given=fit)
    pd.testing.assert_frame_equal(again.history, test.history)
    with pytest.raises(ml.FitError, match="was begun with a fit of others"):
        ml.AdaptiveTest.load(path)
    with pytest.raises(ml.FitError, match="shares nothing"):
        ml.AdaptiveTest(LAYOUT, bank(), given=fit)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"target": "hearing"}, ml.FitError, "no profile element hearing"),
        ({"target": {"sight": -1}}, ml.FitError, "give a weight above 0"),
        ({"target": 3}, ml.FitError, "give names of latents"),
        ({"stop": 3}, ml.FitError, "give Stop"),
        ({"stop": Stop(sd={"hearing": 1})}, ml.FitError, "no profile element hearing"),
        ({"random_share": 2}, ml.FitError, "a share from 0 to 1"),
        ({"costs": {"a1": 1}}, ml.DataError, "no cost above 0: a0"),
        ({"costs": dict.fromkeys(bank().index, 0)}, ml.DataError, "no cost above 0"),
        ({"seed": -1}, ml.FitError, "seed=-1"),
        ({"among": 0}, ml.FitError, "among=0"),
        ({"among": 33}, ml.FitError, "from 1 to 32"),
    ],
)
def test_wrong_options_are_refused(options, error, words):
    with pytest.raises(error, match=words):
        ml.AdaptiveTest(LAYOUT, bank(), **options)


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        ({}, "has no rule"),
        ({"sd": {"sight": 0}}, "above 0"),
        ({"sd": 3}, "numbers by latent"),
        ({"width": {"sight": "wide"}}, "above 0"),
        ({"items": 0}, "items=0"),
        ({"cost": -1}, "above 0"),
        ({"items": 3, "prob": 2}, "prob=2"),
        ({"items": 3, "confidence": 0}, "confidence=0"),
    ],
)
def test_wrong_rules_are_refused(rules, words):
    with pytest.raises(ml.FitError, match=words):
        Stop(**rules)


def test_wrong_answers_and_files_are_refused(tmp_path):
    path = tmp_path / "test.jsonl"
    test = ml.AdaptiveTest(LAYOUT, bank(), seed=1, path=path)
    test.record("a3", 1)
    for item, outcome, words in (
        ("a3", 1, "answered already"),
        ("b", 1, "unknown item"),
        ("a4", 2, "from 0 to 1"),
        ("a4", "yes", "from 0 to 1"),
        ("a4", float("nan"), "from 0 to 1"),
    ):
        with pytest.raises(ml.DataError, match=words):
            test.record(item, outcome)
    assert len(ml.AdaptiveTest.load(path).history) == 1
    with pytest.raises(ml.FitError, match="exists already"):
        ml.AdaptiveTest(LAYOUT, bank(), path=path)
    with pytest.raises(ml.FitError, match="another layout"):
        ml.AdaptiveTest.load(path, skills_layout())
    with pytest.raises(ml.FitError, match="there is no file"):
        ml.AdaptiveTest.load(tmp_path / "nowhere")
    other = tmp_path / "other.jsonl"
    for text in ("", "no json\n", "[1]\n", '{"kind": "fit", "format": 1}\n'):
        other.write_text(text)
        with pytest.raises(ml.FitError, match="no adaptive test"):
            ml.AdaptiveTest.load(other)
    for number in (0, 99):
        begun = json.loads(path.read_text().split("\n")[0]) | {"format": number}
        other.write_text(json.dumps(begun) + "\n")
        with pytest.raises(ml.FitError, match=f"has format {number}, .* reads format 1; read it"):
            ml.AdaptiveTest.load(other)
    with pytest.raises(ml.DataError, match="no answer yet"):
        ml.AdaptiveTest(LAYOUT, bank()).evaluation()
