"""A test that adapts, asked and answered from the terminal."""

import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import measurement_layouts as ml
from measurement_layouts.command import main

REACH = 6.0


@pytest.fixture
def begin(data, tmp_path):
    """The arguments that begin a test."""
    layout = f"{data / 'layout.py'}:plain"
    items = str(data / "items.csv")
    return ["next", str(tmp_path / "ann.jsonl"), "--layout", layout, "--items", items]


@pytest.fixture
def state(tmp_path):
    return tmp_path / "ann.jsonl"


def told(capsys, *arguments):
    """Exit status, standard output and standard error."""
    status = main([*map(str, arguments)])
    return status, *capsys.readouterr()


def right(data, item):
    """Whether somebody of a reach of 6 gets an item."""
    items = pd.read_csv(data / "items.csv", dtype={"item": str}).set_index("item")
    return int(items["distance"][item] < REACH)


def command(*arguments, folder=None):
    """The command in a process of its own."""
    code = "import sys; from measurement_layouts.command import main; sys.exit(main(sys.argv[1:]))"
    called = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(called, capture_output=True, text=True, cwd=folder)


@pytest.mark.trust("promises", "an adaptive test from the terminal, a process for each call")
@pytest.mark.slow
def test_a_test_in_processes_of_its_own(begin, state, data):
    first = command(*begin, "--seed", "3", "--sd", "reach=0.9", "--limit", "30")
    assert (first.returncode, first.stderr) == (0, "")
    (item,) = first.stdout.split()
    items = pd.read_csv(data / "items.csv", dtype={"item": str}).set_index("item")
    loop = ml.AdaptiveTest(
        ml.AdaptiveTest.load(state).layout,
        items,
        stop=ml.batteries.Stop(sd={"reach": 0.9}, items=30),
        seed=3,
    )
    assert loop.next() == [item]
    loop.record(item, right(data, item))
    answered = command("record", state, item, "right" if right(data, item) else "0")
    assert answered.returncode == 0, answered.stderr
    assert "reach" in answered.stdout
    assert "90 % interval" in answered.stdout
    asked = command("next", state)
    (item,) = asked.stdout.split()
    assert loop.next() == [item]


def test_until_it_is_done(begin, state, data, capsys):
    status, out, _ = told(capsys, *begin, "--seed", 3, "--sd", "reach=1.1")
    asked = 0
    while status == 0:
        _, shown, _ = told(capsys, "record", state, out.strip(), right(data, out.strip()))
        asked += 1
        status, out, said = told(capsys, "next", state)
    assert (status, out) == (1, "")
    assert said.startswith("done: reach has an sd of")
    assert "done: reach has an sd of" in shown
    assert asked < 20
    assert len(ml.AdaptiveTest.load(state).history) == asked


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--sd", "reach=1.5"], "reach has an sd of 1."),
        (["--threshold", "reach=1"], "reach is above 1 with probability 0.9"),
        (["--threshold", "reach=1", "--confidence", "0.6"], "reach is above 1 with probability"),
    ],
)
def test_each_rule_ends_it(options, reason, begin, state, data, capsys):
    """The rule and its numbers are those of `Stop`, and the reason says which one it was."""
    status, out, said = told(capsys, *begin, *options, "--seed", 3)
    while status == 0:
        told(capsys, "record", state, out.strip(), right(data, out.strip()))
        status, out, said = told(capsys, "next", state)
    assert said.startswith(f"done: {reason}"), said


def test_it_stops_at_the_first_answer_that_is_enough(begin, state, data, capsys):
    """Rules that are looser need fewer answers."""
    asked = []
    for rule in (["--sd", "reach=0.7"], ["--sd", "reach=1.4"]):
        status, out, _ = told(capsys, *begin, *rule, "--seed", 3)
        while status == 0:
            told(capsys, "record", state, out.strip(), right(data, out.strip()))
            status, out, _ = told(capsys, "next", state)
        asked.append(len(ml.AdaptiveTest.load(state).history))
        state.unlink()
    assert asked[0] > asked[1] > 0


def test_one_of_the_best_is_drawn(begin, state, capsys):
    """Eight seeds name more items than the one that tells most; twin: without a draw."""
    first = {}
    for among in (1, 10):
        first[among] = set()
        for seed in range(8):
            first[among].add(told(capsys, *begin, "--among", among, "--seed", seed)[1])
            state.unlink()
    assert len(first[10]) > len(first[1]) + 1


def test_items_without_an_outcome_are_asked_again_until_they_are_skipped(begin, state, capsys):
    _, out, said = told(capsys, *begin, "--n", 3, "--limit", 4, "--seed", 1)
    first = out.split()
    assert (len(set(first)), said) == (3, "")
    status, out, said = told(capsys, "next", state)
    assert (status, out.split()) == (0, first[:1])
    assert said == f"asked again, since no outcome was recorded: {first[0]}\n"
    status, out, _ = told(capsys, "next", state, "--n", 5)
    assert (status, out.split()[:3], len(set(out.split()))) == (0, first, 4)
    status, out, _ = told(capsys, "next", state, "--skip", first[0], "--n", 4)
    assert (status, out.split()[:2], len(set(out.split()))) == (0, first[1:], 4)
    assert first[0] not in out.split()
    status, out, said = told(capsys, "next", state, "--skip", first[0])
    assert (status, out, said.count("\n")) == (2, "", 1)
    assert f"{first[0]} is not in flight" in said


def test_options_of_the_beginning(begin, state, capsys):
    options = ["--subject", "Ann", "--target", "reach", "--random-share", "1", "--seed", "5"]
    assert told(capsys, *begin, *options)[0] == 0
    test = ml.AdaptiveTest.load(state)
    (item,) = test.in_flight
    assert told(capsys, "record", state, item, 3, "--trials", 4)[0] == 0
    test = ml.AdaptiveTest.load(state)
    assert test.history["why"].tolist() == ["random"]
    assert test.history[["outcome", "trials"]].to_numpy().tolist() == [[3, 4]]
    assert test.evaluation().subjects == ["Ann"]


GRADES = """
import measurement_layouts as ml
from measurement_layouts.linking import logistic
reached = logistic(ml.Capability("reach", low=0, high=10, unit="m")
                   - ml.MetaFeature("distance", low=0, high=10, unit="m"))
credit = ml.Score("credit", reached, precision=3, places=4)
graded = ml.Layout("graded", ml.Graded("path", reached), credit)
"""


def test_a_value_for_each_outcome(begin, state, tmp_path, capsys):
    Path(tmp_path / "graded.py").write_text(GRADES)
    begin[3] = f"{tmp_path / 'graded.py'}:graded"
    begun, out, said = told(capsys, *begin, "--seed", 1)
    assert begun == 0, said
    status, _, said = told(capsys, "record", state, out.strip(), "1")
    assert status == 2
    assert "takes path=VALUE credit=VALUE; give one value for each" in said
    assert told(capsys, "record", state, out.strip(), "path=partly", "credit=0.5")[0] == 0
    (outcome,) = ml.AdaptiveTest.load(state).history["outcome"]
    assert outcome == {"path": "partly", "credit": 0.5}


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["next", "{state}"], "there is no test {state}; begin one: next {state} --layout"),
        (["record", "{state}", "a", "1"], "there is no test {state}; begin one"),
        (["next", "{folder}/none/a"], "there is no folder {folder}/none"),
        (["next", "{state}", "--items", "{items}"], "begun with --items and --layout; give both"),
        (["{begin}", "--sd", "reach"], "--sd reach; give NAME=SD, as in --sd reach=0.5"),
        (["{begin}", "--sd", "reach=far"], "--sd reach=far; give NAME=SD"),
        (["{begin}", "--sd", "skill=1"], "skill"),
        (["{begin}", "--threshold", "=3"], "--threshold =3; give NAME=VALUE"),
        (["{begin}", "--sd", "reach=-1"], "reach"),
        (["{begin}", "--threshold", "reach=1", "--confidence", "0"], "confidence=0"),
        (["{begin}", "--costs", "price"], "price"),
        (["{begin}", "--among", "33"], "among=33; give a whole number from 1 to 32"),
        (["{begin}", "--random-share", "2"], "random_share=2.0; give a share from 0 to 1"),
    ],
)
def test_mistakes_are_one_line(arguments, why, begin, state, data, tmp_path, capsys):
    places = {"state": state, "folder": tmp_path, "items": data / "items.csv"}
    given = [
        part
        for text in arguments
        for part in (begin if text == "{begin}" else [text.format(**places)])
    ]
    status, out, said = told(capsys, *given)
    assert (status, out) == (2, "")
    assert why.format(**places) in said
    assert said.count("\n") == 1
    assert not state.exists()


def test_mistakes_of_a_test_that_has_begun(begin, state, capsys):
    begun, out, said = told(capsys, *begin, "--seed", 1)
    assert begun == 0, said
    item = out.strip()
    for arguments, why in (
        (begin, "is there already, and has its bank; leave --items out"),
        (["record", state, "nowhere", "1"], "nowhere"),
        (["record", state, item, "maybe"], "give successes, from 0 to 1"),
        (["record", state, item, "2"], "give successes, from 0 to 1"),
    ):
        status, out, said = told(capsys, *arguments)
        assert (status, out) == (2, "")
        assert why in said
    assert told(capsys, "record", state, item, "0")[0] == 0
    status, _, said = told(capsys, "record", state, item, "0")
    assert status == 2
    assert "was answered already" in said
