"""Tests that adapt: what they ask, when they stop, and what a killed process leaves."""

import errno
import json
import os
import secrets
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from helpers.populations import shared, spread_of
from scipy.stats import beta, norm

import measurement_layouts as ml
from measurement_layouts.batteries import Stop
from measurement_layouts.batteries.adaptive.state_file import StateFile
from measurement_layouts.inference.sampling.particles import Particles
from measurement_layouts.inference.sequential.running import Running
from measurement_layouts.linking import logistic, presence
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
        (Stop(threshold={"sight": 3.0}), "sight is above 3 with probability 0.9"),
        (Stop(threshold={"sight": 9.0}), "sight is below 9 with probability 0.9"),
        (Stop(sd={"sight": 0.01}, items=5), "5 items were answered, the limit"),
        (None, "all 30 items of the bank were answered"),
    ],
)
def test_it_says_why_it_stops(stop, reason):
    test = ml.AdaptiveTest(LAYOUT, bank(30), stop=stop, seed=1)
    assert test.done == ""
    assert answered(test).done.startswith(reason)
    if stop is not None and stop.items is not None:
        assert test.next(3) == []


COIN = ml.Layout("coin", ml.Success("heads", ml.Capability("p", low=0, high=1)))


@pytest.mark.parametrize("threshold", [0.02, 0.3, 0.98])
@pytest.mark.parametrize("p", [0.1, 0.6])
def test_a_verdict_needs_answers_under_the_prior_and_under_equal_odds(threshold, p):
    """Of a coin with a flat prior, for which both probabilities have a closed form."""
    stop = Stop(threshold={"p": threshold}, confidence=0.95)
    coins = pd.DataFrame(index=[f"toss {n}" for n in range(30)])
    test = ml.AdaptiveTest(COIN, coins, stop=stop, seed=1)
    assert test.done == ""  # one side has 0.98 of the prior where the threshold is 0.02 or 0.98
    prior = (1 - threshold) / threshold
    needed = np.array([19 * max(1, prior), min(1, prior) / 19])  # odds of being above
    error = 0.1 + 3 * np.sqrt(np.exp(np.abs(np.log(needed))) / 1000)  # of 1,000 particles, in log
    rng, heads, tosses, sides = np.random.default_rng(3), 0, 0, []
    for toss in coins.index:
        won = int(rng.binomial(6, p))
        test.record(toss, won, trials=6)
        heads, tosses = heads + won, tosses + 6
        above = beta.sf(threshold, 1 + heads, 1 + tosses - heads).clip(1e-6, 1 - 1e-6)
        odds = above / (1 - above) / needed
        side = int(odds[0] >= 1) - int(odds[1] <= 1)
        sides.append(side if (np.abs(np.log(odds)) > error).all() else np.nan)
        if np.isnan(sides[-8:]).any():
            continue
        assert bool(test.done) == (len(sides) >= 8 and abs(sum(sides[-8:])) == 8)
        if test.done:
            name, chance = ("above", above) if side > 0 else ("below", 1 - above)
            assert test.done.startswith(f"p is {name} {threshold:g} with probability ")
            stated = float(test.done.split("probability ")[1].split(",")[0])
            assert stated == pytest.approx(min(chance, 0.999), abs=0.01)
    assert (~np.isnan(sides)).sum() > 5
    assert test.done


def test_a_band_is_one_with_enough_probability_under_the_prior_and_under_equal_odds():
    """Of a coin with a flat prior; the bands' probabilities are those of a beta distribution."""
    cuts, tosses, heads = (0.2, 0.5, 0.8), 0, 0
    stop = Stop(threshold={"p": cuts}, confidence=0.9)
    test = ml.AdaptiveTest(COIN, pd.DataFrame(index=range(40)), stop=stop, seed=1)
    decided = []
    for toss in range(40):
        test.record(str(toss), 4, trials=6)
        heads, tosses = heads + 4, tosses + 6
        masses = np.diff(beta.cdf([0, *cuts, 1], 1 + heads, 1 + tosses - heads))
        even = masses / [0.2, 0.3, 0.3, 0.2]
        decided.append(min(masses[2], even[2] / even.sum()) >= 0.9)
        if test.done:
            break
    assert decided[-8:] == [True] * 8
    assert sum(decided) <= 10  # of eight in a row; two more where particles differ from the law
    assert test.done.startswith("p is between 0.5 and 0.8 with probability 0.9")


@pytest.mark.slow
def test_few_subjects_get_a_wrong_band():
    """Of subjects drawn from the prior, at the confidence that the verdicts state."""
    cuts, wrong, undecided, rng = np.array([3.0, 5.0, 7.0]), 0, 0, np.random.default_rng(5)
    stop = Stop(threshold={"sight": cuts}, confidence=0.9, items=200)
    for number, sight in enumerate(rng.uniform(0, 10, 100)):
        test = ml.AdaptiveTest(LAYOUT, bank(200), stop=stop, seed=number)
        while not test.done:
            for item in test.next():
                chance = 1 / (1 + np.exp(test.bank["smallness"][item] - sight))
                test.record(item, rng.random() < chance)
        bands = ["below 3", "between 3 and 5", "between 5 and 7", "above 7"]
        right = bands[np.searchsorted(cuts, sight)]
        decided = test.done.startswith("sight is")
        undecided += not decided
        wrong += decided and not test.done.startswith(f"sight is {right} with")
    assert wrong <= 10 + 3 * 3
    assert undecided < 50


def test_a_test_in_shadow_mode_asks_on_and_says_where_it_would_have_stopped(tmp_path):
    options = {"stop": Stop(sd={"sight": 0.8}, items=50), "seed": 1}
    real = answered(ml.AdaptiveTest(LAYOUT, bank(), **options))
    path = tmp_path / "shadow.jsonl"
    shadow = answered(ml.AdaptiveTest(LAYOUT, bank(), shadow=True, path=path, **options))
    assert shadow.done == "all 60 items of the bank were answered"
    assert shadow.stopped == real.stopped == len(real.history) < 50
    pd.testing.assert_frame_equal(shadow.history[: len(real.history)], real.history)
    assert shadow.history["stop"][shadow.stopped - 1] == real.done
    assert ml.AdaptiveTest.load(path).stopped == shadow.stopped


@pytest.mark.parametrize("rule", [{"sd": {"sight": 0.5}}, {"threshold": {"sight": 5.2}}])
def test_the_number_of_items_left_is_about_that_of_the_run(rule):
    """In the middle of the test, over subjects; an order of magnitude for a single one."""
    ratios = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        test = ml.AdaptiveTest(LAYOUT, bank(200), stop=Stop(**rule), seed=seed)
        estimates = []
        while not test.done:
            for item in test.next():
                chance = 1 / (1 + np.exp(test.bank["smallness"][item] - 6))
                test.record(item, rng.random() < chance)
            estimates.append(test.items_left)
        middle = len(estimates) // 2
        ratios.append(estimates[middle - 1] / (len(estimates) - middle))
        assert test.items_left is None
    assert 0.6 < np.median(ratios) < 1.7


def test_several_at_once_are_no_near_copies():
    copies = pd.concat([bank(9)] * 4).set_axis([f"c{n}" for n in range(36)], axis=0)
    steep = ml.Layout("steep", ml.Success("found", logistic(5 * (SIGHT - SMALLNESS))))
    test = ml.AdaptiveTest(steep, copies, seed=1)
    asked = test.next(3)
    assert copies.loc[asked, "smallness"].nunique() == 3
    assert test.in_flight == asked
    assert test.next(5)[:3] == asked
    assert len(set(test.in_flight)) == 5


def test_the_evaluation_is_what_a_fit_takes():
    test = answered(ml.AdaptiveTest(LAYOUT, bank(), seed=1), 20)
    fit = ml.fit(LAYOUT, test.evaluation(), method="grid", seed=1, progressbar=False)
    row, own = fit.profiles().iloc[0], test.profile().iloc[0]
    assert list(fit.profiles().columns) == list(test.profile().columns)
    assert own["mean"] == pytest.approx(row["mean"], abs=0.1 * row["sd"])
    for column in ("sd", "low", "high", "shrinkage"):
        assert own[column] == pytest.approx(row[column], rel=0.1)


def test_a_short_test_whose_items_are_alike_in_a_property_can_be_fitted():
    """Items asked share a size, which varies in the bank."""
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
    assert found.items.index.tolist() == list("abcde")
    assert found.trials.loc["subject"].sum() == 2
    fit = ml.fit(layout, found, method="grid", seed=1, progressbar=False)
    for (_, row), (_, own) in zip(
        fit.profiles().iterrows(), test.profile().iterrows(), strict=True
    ):
        assert own["mean"] == pytest.approx(row["mean"], abs=0.1 * row["sd"])
        assert own["sd"] == pytest.approx(row["sd"], rel=0.1)
    steep = ml.Layout("steep", ml.Success("found", logistic(SIGHT - SMALLNESS, ml.Slope("slope"))))
    with pytest.raises(ml.DataError, match="smallness is 5 on all 4 items"):
        ml.AdaptiveTest(steep, bank(4).assign(smallness=5.0), seed=1)


def test_grades_and_several_outcomes_are_recorded():
    layout = ml.Layout("paths", graded_layouts.graded(), graded_layouts.success())
    items = pd.DataFrame({"timeHidden": np.linspace(0, 10, 9)}, [f"i{n}" for n in range(9)])
    test = ml.AdaptiveTest(layout, items, seed=1)
    (item,) = test.next()
    test.record(item, {"path": "near", "found": True})
    assert test.evaluation().rows is not None
    trials, successes = (
        table.loc["subject"].tolist()
        for table in (test.evaluation().trials, test.evaluation().successes)
    )
    assert (trials[:4], successes[:4]) == ([1, 1, 1, 1], [1, 1, 0, 1])
    assert not any(trials[4:])
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
    pd.testing.assert_frame_equal(half.profile(), whole.profile())
    assert half.done == whole.done


def with_file(folder, answers=3, **options):
    """A test that has some answers, and its file."""
    path = folder / "test.jsonl"
    return answered(ml.AdaptiveTest(LAYOUT, bank(), seed=1, path=path, **options), answers), path


def same(one, other):
    """Two tests have the same answers, posterior and items in flight."""
    pd.testing.assert_frame_equal(one.history, other.history)
    pd.testing.assert_frame_equal(one.profile(), other.profile())
    assert one.in_flight == other.in_flight


def disk_full(*_):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_full_disk_leaves_the_test_as_it_was(tmp_path, monkeypatch):
    test, path = with_file(tmp_path)
    before, _ = test.next(2)
    files = {file.name: file.read_bytes() for file in tmp_path.glob("*jsonl")}
    for call in (lambda: test.record(before, 1), lambda: test.skip(before), lambda: test.next(4)):
        with monkeypatch.context() as full:
            full.setattr(os, "fsync", disk_full)
            with pytest.raises(ml.FitError, match="the disk is full: make room"):
                call()
        same(test, ml.AdaptiveTest.load(path))
        assert (len(test.history), len(test.in_flight)) == (3, 2)
        assert {file.name: file.read_bytes() for file in tmp_path.glob("*jsonl")} == files
    test.record(before, 1)
    assert len(test.history) == 4
    same(test, ml.AdaptiveTest.load(path))


@pytest.mark.parametrize(
    ("owner", "name"),
    [
        (Particles, "tune"),
        (Running, "record"),
        (StateFile, "write"),
        (os, "fsync"),
        (Path, "replace"),
        (secrets, "token_hex"),
    ],
)
@pytest.mark.parametrize("first", [True, False])
def test_an_interrupted_answer_counts_once(owner, name, first, tmp_path, monkeypatch):
    """Ctrl-C before or after each step; the same answer, another one or none is recorded then."""
    steep = ml.Layout("steep", ml.Success("found", logistic(9 * (SIGHT - SMALLNESS))))
    path, step, calls = tmp_path / "test.jsonl", getattr(owner, name), 0
    tests = [ml.AdaptiveTest(steep, bank(), seed=1, path=place) for place in (path, None)]
    test, reference = tests
    for item in ("a20", "a30"):
        for one in tests:
            one.record(item, 1)

    def pressed(*arguments, **options):
        nonlocal calls
        calls += 1
        if first:
            raise KeyboardInterrupt
        step(*arguments, **options)
        raise KeyboardInterrupt

    for item, outcome, later in (("a34", 0, 0), ("a35", 1, 0), ("a40", 1, None)):
        with monkeypatch.context() as interrupted:
            interrupted.setattr(owner, name, pressed)
            with pytest.raises(KeyboardInterrupt):
                test.record(item, outcome)
        same(test, reference)
        if later is not None:
            test.record(item, later)
            reference.record(item, later)
            same(test, reference)
            same(ml.AdaptiveTest.load(path), reference)
    assert calls == 3


def test_a_second_writer_is_refused_and_an_answer_counts_once(tmp_path):
    """Both loaded the file; the reference is a test that recorded one answer of each item."""
    _, path = with_file(tmp_path)
    one, two = (ml.AdaptiveTest.load(path) for _ in range(2))
    one.record("a24", 0)
    text = path.read_text()
    for call in (lambda: two.record("a24", 0), lambda: two.record("a25", 1), lambda: two.next()):
        with pytest.raises(ml.FitError, match="was changed by another process or test") as refused:
            call()
        assert str(path) in str(refused.value)
        assert path.read_text() == text
    assert len(two.history) == 3
    same(ml.AdaptiveTest.load(path), one)
    two = ml.AdaptiveTest.load(path)
    two.record("a25", 1)
    one, reference = ml.AdaptiveTest.load(path), ml.AdaptiveTest(LAYOUT, bank(), seed=1)
    for item, outcome in zip(two.history["item"], two.history["outcome"], strict=True):
        reference.record(item, outcome)
    pd.testing.assert_frame_equal(one.profile(), reference.profile())
    path.unlink()
    two.record("a26", 0)  # the state is whole
    assert len(ml.AdaptiveTest.load(path).history) == 6


def test_a_file_that_was_edited_is_refused(tmp_path):
    test, path = with_file(tmp_path)
    test.next()
    first, second, digest = path.read_text().splitlines()
    state = json.loads(second)
    doubled = {**state, "answers": [*state["answers"], state["answers"][0]]}
    harder = json.loads(first)
    harder["bank"]["data"][0] = [1.0]
    for text in (
        f"{first}\n",
        f"{first}\n{second}\n",
        f"{first}\n{second}\n{second}\n{digest}\n",
        f"{first}\n{second[: len(second) // 2]}",
        f"{first}\n{json.dumps(doubled)}\n{digest}\n",
        f"{json.dumps(harder)}\n{second}\n{digest}\n",
    ):
        path.write_text(text)
        with pytest.raises(ml.FitError, match="no adaptive test, or damaged"):
            ml.AdaptiveTest.load(path)


def test_an_item_in_flight_can_be_given_up(tmp_path):
    test, path = with_file(tmp_path, 1, stop=Stop(items=4))
    given_up, kept = test.next(2)
    test.skip(given_up)
    test = ml.AdaptiveTest.load(path)
    assert test.in_flight == [kept]
    answered(test)
    assert test.done == "4 items were answered, the limit"
    assert given_up not in set(test.history["item"])
    for item in (given_up, "a0", "nowhere"):
        with pytest.raises(ml.DataError, match=f"{item} is not in flight"):
            test.skip(item)
    test.record(given_up, 1)
    assert test.history["why"].iloc[-1] == "given"
    few = ml.AdaptiveTest(LAYOUT, bank(4), seed=1)
    for item in few.next(2):
        few.skip(item)
    assert answered(few).done == "all 4 items of the bank were answered or skipped"
    assert len(few.history) == 2


KILLED = """
import sys
import measurement_layouts as ml
from tests.helpers.adaptive_banks import skills_answers, skills_bank, skills_layout
bank = skills_bank(60)
answers = skills_answers(bank)
test = ml.AdaptiveTest.load(sys.argv[1])
while True:
    for item in test.next():
        print("asked", item, flush=True)
        test.record(item, answers[item])
        print("done", item, flush=True)
"""


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
        assert whole.next() == [item]
        whole.record(item, answers[item])
    pd.testing.assert_frame_equal(whole.history, left.history)


def test_a_joint_fit_of_others_is_a_start(tmp_path):
    mean, spread = shared("mean"), spread_of("spread")
    ability = ml.Capability("ability", prior=ml.Prior("Normal", mu=mean, sigma=spread))
    size = ml.MetaFeature("size", low=-3, high=3)
    layout = ml.Layout("shared", ml.Success("solved", logistic(ability - size)))
    items = pd.DataFrame({"size": np.linspace(-3, 3, 20)}, [f"i{n}" for n in range(20)])
    rng = np.random.default_rng(1)
    chance = 1 / (1 + np.exp(-(1 + 0.3 * rng.normal(size=(12, 1)) - items["size"].to_numpy())))
    won = pd.DataFrame((rng.random((12, 20)) < chance).astype(int), columns=items.index)
    others = ml.Evaluation.from_wide(won.add_prefix("s", axis=0), items)
    fit = ml.fit(layout, others, draws=300, tune=300, chains=2, seed=1, progressbar=False)
    draws = fit.posterior.stack(draws=("chain", "draw"))
    chances = norm.sf(1, draws["mean"].to_numpy(), draws["spread"].to_numpy())
    running = Running.of(layout, items, given=fit, subject="new", seed=1)
    assert running.above_before(0, 1.0) == pytest.approx(chances.mean(), abs=0.006)
    path = tmp_path / "test.jsonl"
    test = ml.AdaptiveTest(layout, items, given=fit, subject="new", seed=1, path=path)
    assert test.profile()["mean"][0] == pytest.approx(1, abs=0.4)
    for _ in range(4):
        (item,) = test.next()
        test.record(item, 1)
    assert test.profile()["sd"][0] < 0.8
    again = ml.AdaptiveTest.load(path, given=fit)
    pd.testing.assert_frame_equal(again.history, test.history)
    fit.save(tmp_path / "others.nc")
    saved = ml.load(tmp_path / "others.nc")
    pd.testing.assert_frame_equal(ml.AdaptiveTest.load(path, given=saved).history, test.history)
    with pytest.raises(ml.FitError, match="a joint fit of other subjects is needed"):
        ml.AdaptiveTest.load(path)
    saved.data["posterior"]["mean"].to_numpy()[0, 7] += 1e-9
    with pytest.raises(ml.FitError, match="another fit of others than given="):
        ml.AdaptiveTest.load(path, given=saved)
    with pytest.raises(ml.FitError, match="shares nothing"):
        ml.AdaptiveTest(LAYOUT, bank(), given=fit)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"target": "hearing"}, ml.FitError, "no profile element hearing"),
        ({"target": {"sight": -1}}, ml.FitError, "give a positive number"),
        ({"target": 3}, ml.FitError, "give names of latents"),
        ({"stop": 3}, ml.FitError, "give Stop"),
        ({"stop": Stop(sd={"hearing": 1})}, ml.FitError, "no profile element hearing"),
        ({"random_share": 2}, ml.FitError, "a share from 0 to 1"),
        ({"costs": {"a1": 1}}, ml.DataError, "no cost above 0:"),
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
        ({"sd": {"sight": "wide"}}, "above 0"),
        ({"items": 0}, "items=0"),
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
    with pytest.raises(ml.FitError, match="No such file"):
        ml.AdaptiveTest.load(tmp_path / "nowhere")
    other = tmp_path / "other.jsonl"
    for text in ("", "no json\n", "[1]\n", '{"kind": "fit", "format": 1}\n'):
        other.write_text(text)
        with pytest.raises(ml.FitError, match="no adaptive test"):
            ml.AdaptiveTest.load(other)
    for number in (0, 99):
        begun = json.loads(path.read_text().split("\n")[0]) | {"format": number}
        other.write_text(json.dumps(begun) + "\n")
        with pytest.raises(ml.FitError, match=f"has format {number}, .* reads format 3; read it"):
            ml.AdaptiveTest.load(other)
    with pytest.raises(ml.DataError, match="no answer yet"):
        ml.AdaptiveTest(LAYOUT, bank()).evaluation()
