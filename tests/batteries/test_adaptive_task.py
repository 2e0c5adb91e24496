"""Tests that adapt inside Inspect: samples in the order of the test, resumed, and read back."""

import asyncio
import os
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pandas as pd
import pytest
from helpers.inspect_tasks import quietly
from inspect_ai import Task, eval, eval_retry, task
from inspect_ai.dataset import Sample
from inspect_ai.log import read_eval_log
from inspect_ai.scorer import Score, includes, match, mean, scorer
from inspect_ai.solver import generate, solver

import measurement_layouts as ml
from measurement_layouts.evaluations.logs.inspect_logs import read_inspect
from measurement_layouts.linking import logistic

ROOT = Path(__file__).parents[2]
ABILITY = 6.2  # digits; the model adds shorter numbers rightly, and no longer ones


def sums(outcome=ml.Success):
    """One ability against the number of digits."""
    adding = ml.Capability("adding", low=0, high=12)
    margin = 2 * (adding - ml.MetaFeature("digits", low=0, high=12))
    return ml.Layout("sums", outcome("right", logistic(margin)))


def bank(count=60, prefix="sum-"):
    """Items from easy to hard."""
    names = [f"{prefix}{number:02d}" for number in range(count)]
    return pd.DataFrame({"digits": [12 * n / (count - 1) for n in range(count)]}, names)


def samples(count=60):
    """Those of the bank, and one that it does not have."""
    digits = [*bank(count)["digits"], 3.0]
    return [
        Sample(id=f"sum-{n:02d}", input=f"Add {each}", target="yes" if each < ABILITY else "no")
        for n, each in enumerate(digits)
    ]


@solver
def stumbling(calls, pause=0.01, at=6):
    """Say yes, write down which samples were asked, and fail on one of them."""

    async def solve(state, generate):
        with Path(calls).open("a") as file:
            file.write(f"{state.sample_id}\n")
        if len(lines(calls)) == at:
            raise RuntimeError("stumbled")
        await asyncio.sleep(pause)
        state.output.completion = "yes"
        return state

    return solve


def lines(file):
    """What is in a file."""
    return Path(file).read_text().split()


@scorer(metrics=[mean()])
def graded():
    """A grade by name, in thirds of the bank."""

    async def score(state, target):
        at = float(state.input_text.split()[-1])
        return Score(value="right" if at < 4 else "partly" if at < 8 else "wrong")

    return score


def plain(**settings):
    """A task of all samples in their order."""
    return Task(samples(), name="sums", **{"solver": generate(), "scorer": match()} | settings)


def asked(log):
    """Ids of a log's samples, in the order in which they were finished."""
    return [sample.id for sample in sorted(log.samples, key=lambda own: own.completed_at)]


def answering():
    """A model that says yes."""
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    def answer(messages, *_):
        made = ModelOutput.from_content("mock", "yes")
        made.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return made

    return get_model("mockllm/model", custom_outputs=answer, memoize=False)


def run(folder, test, made=None, **options):
    """Let Inspect run a test; returns its log."""
    adapted = ml.batteries.adaptive_task(made or plain(), test, **options)
    found = {"model": answering(), "log_realtime": False}
    return quietly(eval, adapted, folder, **found)


STOP = ml.batteries.Stop(sd={"adding": 0.45})


def test_one_at_a_time_is_the_plain_loop(tmp_path):
    test = ml.AdaptiveTest(sums(), bank(), stop=STOP, seed=3)
    log = run(tmp_path, test, connections=1)
    loop = ml.AdaptiveTest(sums(), bank(), stop=STOP, seed=3)
    while not loop.done:
        (item,) = loop.next()
        loop.record(item, int(bank()["digits"][item] < ABILITY))
    assert log.status == "success"
    assert asked(log) == test.history["item"].tolist() == loop.history["item"].tolist()
    assert test.done == loop.done
    assert test.in_flight == []
    far = (bank()["digits"][asked(log)] - ABILITY).abs()
    assert far[5:].mean() < 1.5  # the data set's own order begins 6 digits away, and stays there
    assert len(far) < 15


def test_several_in_flight_and_the_log_is_read_by_both(tmp_path):
    at_once, most = 0, 0

    @solver
    def watching():
        async def solve(state, generate):
            nonlocal at_once, most
            at_once += 1
            most = max(most, at_once)
            await asyncio.sleep(0.05)
            at_once -= 1
            return await generate(state)

        return solve

    test = ml.AdaptiveTest(sums(), bank(), stop=STOP, seed=3)
    log = run(tmp_path, test, plain(solver=watching()), connections=3)
    assert most == 3
    assert test.done
    again = read_eval_log(log.location)
    assert sorted(asked(again)) == sorted(test.history["item"])
    read = read_inspect(log.location)
    outcomes = read.outcomes.set_index("item")["outcome"]
    recorded = test.history.set_index("item")["outcome"]
    assert outcomes.rename(lambda name: name.removeprefix("sums/")).to_dict() == recorded.to_dict()
    assert set(read.items.index) == {f"sums/{name}" for name in recorded.index}


@task
def kept(state, calls):
    """A task that Inspect can make again, which goes on with the test in the file."""
    if Path(state).exists():
        test = ml.AdaptiveTest.load(state)
    else:
        test = ml.AdaptiveTest(sums(), bank(), stop=STOP, seed=3, path=state)
    made = Task(samples(), solver=stumbling(calls), scorer=match())
    return ml.batteries.adaptive_task(made, test, connections=2, retried=True)


def test_a_run_that_failed_goes_on_where_it_was(tmp_path):
    state, calls = str(tmp_path / "state.jsonl"), str(tmp_path / "calls")
    options = {"model": answering(), "log_realtime": False}
    broken = quietly(eval, kept(state, calls), tmp_path, **options)
    before, first = ml.AdaptiveTest.load(state), lines(calls)
    assert broken.status == "error"
    assert first[5] in before.in_flight
    log = quietly(eval_retry, broken, tmp_path, log_realtime=False)
    test, later = ml.AdaptiveTest.load(state), lines(calls)[len(first) :]
    assert log.status == "success"
    assert test.done
    assert sorted(asked(log)) == sorted(test.history["item"])  # the log has those before, too
    assert set(before.in_flight) <= set(test.history["item"])
    assert first[5] in later
    assert not set(later) & set(before.history["item"])  # none that was answered is asked again
    assert len(later) == len(set(later))


KILLED = """
import sys
sys.path[:0] = {paths!r}
from test_adaptive_task import *
test = ml.AdaptiveTest(sums(), bank(), stop=STOP, seed=3, path="state.jsonl")
run(Path.cwd(), test, plain(solver=stumbling("calls", pause=0.3, at=0)), connections=2)
"""


@pytest.mark.slow
def test_a_run_that_was_killed_goes_on(tmp_path):
    script, state = tmp_path / "killed.py", tmp_path / "state.jsonl"
    script.write_text(KILLED.format(paths=sys.path))
    process = subprocess.Popen([sys.executable, script], cwd=tmp_path)
    for _ in range(1200):
        if state.exists() and len(ml.AdaptiveTest.load(state).history) >= 3:
            break
        time.sleep(0.05)
    process.kill()
    process.wait()
    test, before = ml.AdaptiveTest.load(state), lines(tmp_path / "calls")
    answered, waiting = test.history["item"].tolist(), test.in_flight
    assert len(answered) >= 3
    assert waiting
    assert {*answered, *waiting} >= set(before)
    log = run(tmp_path, test, plain(), connections=2)
    assert test.done
    assert asked(log)[0] in waiting
    assert not set(asked(log)) & set(answered)
    assert sorted([*answered, *asked(log)]) == sorted(test.history["item"])


def test_failed_samples_stay_in_flight(tmp_path):
    stop = ml.batteries.Stop(items=8)
    test = ml.AdaptiveTest(sums(), bank(), stop=stop, seed=3)
    made = plain(solver=stumbling(tmp_path / "calls"), fail_on_error=False)
    log = run(tmp_path, test, made, connections=2)
    (failed,) = test.in_flight
    assert len(test.history) == 7
    assert [own.id for own in log.samples if own.error] == [failed]


def test_grades_and_several_scorers(tmp_path):
    layout = sums(ml.Graded)
    test = ml.AdaptiveTest(layout, bank(), stop=ml.batteries.Stop(items=6), seed=3)
    log = run(tmp_path, test, plain(scorer=[graded(), includes()]), scorer="graded")
    expected = {own.id: own.scores["graded"].value for own in log.samples}
    assert test.history.set_index("item")["outcome"].map(lambda own: own["right"]).to_dict() == (
        expected
    )


@pytest.mark.parametrize(
    ("settings", "options", "told"),
    [
        ({"scorer": [match(), includes()]}, {}, "choose one of them:"),
        ({"scorer": graded()}, {}, "nor known words"),
        ({"scorer": graded()}, {"scorer": "exact"}, "not by exact"),
    ],
)
def test_scores_that_are_no_outcomes_end_the_run(tmp_path, settings, options, told):
    test = ml.AdaptiveTest(sums(), bank(), seed=3)
    log = run(tmp_path, test, plain(**settings), **options)
    assert log.status == "error"
    assert told in log.error.message
    assert not len(test.history)


def test_mistakes_are_told_before_the_run():
    test = ml.AdaptiveTest(sums(), bank(70), seed=3)
    with pytest.raises(ml.DataError, match=r"9 item\(s\) of the bank have no sample in task sums"):
        ml.batteries.adaptive_task(plain(), test)
    with pytest.raises(ml.DataError, match="task: this is a str, not a Task of Inspect"):
        ml.batteries.adaptive_task("sums.py", test)
    with pytest.raises(ml.DataError, match="test: this is a Layout, not an AdaptiveTest"):
        ml.batteries.adaptive_task(plain(), sums())
    twice = plain()
    twice.dataset = [*samples(), *samples()]
    with pytest.raises(ml.DataError, match="two samples of the task have the id sum-00"):
        ml.batteries.adaptive_task(twice, ml.AdaptiveTest(sums(), bank(), seed=3))
    with pytest.raises(ml.FitError, match="connections=0"):
        ml.batteries.adaptive_task(plain(), ml.AdaptiveTest(sums(), bank()), connections=0)
    with pytest.raises(ml.DataError, match="recorded once for each item; give epochs=1"):
        ml.batteries.adaptive_task(plain(epochs=2), ml.AdaptiveTest(sums(ml.Graded), bank()))
    with pytest.raises(ml.DataError, match="the layout's outcomes are right"):
        ml.batteries.adaptive_task(
            plain(), ml.AdaptiveTest(sums(), bank()), scorer={"wrong": "match"}
        )


PLAIN = """
import sys
sys.path[:0] = {paths!r}
from test_adaptive_task import plain, stumbling
from inspect_ai import task
@task
def every_sum():
    return plain(solver=stumbling({calls!r}, at=0))
"""


def test_the_command_inspect_finds_the_task(tmp_path):
    """By the entry point that is declared, put where a package's metadata is."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    (entry,) = project["entry-points"]["inspect_ai"].items()
    installed = tmp_path / "site-packages"
    metadata = installed / "measurement_layouts-0.0.dist-info"
    metadata.mkdir(parents=True)
    (installed / "measurement_layouts").symlink_to(ROOT / "measurement_layouts")
    (metadata / "METADATA").write_text("Name: measurement-layouts\nVersion: 0.0\n")
    (metadata / "entry_points.txt").write_text(f"[inspect_ai]\n{' = '.join(entry)}\n")
    (tmp_path / "sums.py").write_text(PLAIN.format(paths=sys.path, calls=str(tmp_path / "calls")))
    state = tmp_path / "ann.jsonl"
    ml.AdaptiveTest(sums(), bank(), stop=ml.batteries.Stop(items=5), seed=3, path=state)
    command = ["inspect_ai", "eval", "measurement_layouts/adaptive", "--model", "mockllm/model"]
    options = ["-T", "task=sums.py@every_sum", "-T", f"test={state}", "--display", "plain"]
    ran = subprocess.run(
        [sys.executable, "-m", *command, *options],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(installed), "INSPECT_LOG_DIR": str(tmp_path / "logs")},
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert len(ml.AdaptiveTest.load(state).history) == 5
    (log,) = (tmp_path / "logs").glob("*.eval")
    assert len(read_eval_log(str(log)).samples) == 5
