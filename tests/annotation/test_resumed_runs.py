"""Runs that resume from Inspect's logs: what is asked again, and what is refused."""

import dataclasses
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import anyio
import pytest
from helpers.mock_annotators import GOOD, ITEMS, Mock
from inspect_ai.log import list_eval_logs, read_eval_log
from inspect_ai.model import GenerateConfig, get_model

from measurement_layouts.annotation import (
    DEMAND_RUBRICS,
    AnnotationError,
    annotate,
    load_rubric,
)

RUBRIC = load_rubric("risk_aversion")


@pytest.fixture
def log_dir(tmp_path):
    return tmp_path / "runs" / "bands"


def test_a_second_call_asks_nothing(log_dir):
    first = annotate(ITEMS, RUBRIC, Mock().model, log_dir=log_dir)
    mock = Mock()
    second = annotate(ITEMS, RUBRIC, mock.model, log_dir=log_dir)
    assert mock.calls.total() == 0
    assert second.bands.equals(first.bands)
    assert second.usage.equals(first.usage)
    assert second.answers.equals(first.answers)


@pytest.fixture
def ctrl_c():
    """Ctrl-C raises KeyboardInterrupt: the background jobs of a shell ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_an_interrupted_run_goes_on_where_it_was(log_dir, ctrl_c):
    """Ctrl-C while the fourth item is asked about: three are kept, three are left."""

    async def wait():
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        await anyio.sleep(60)

    stopping = Mock(lambda item, _: wait() if item == "d" else GOOD)
    with pytest.raises(KeyboardInterrupt):
        annotate(ITEMS, RUBRIC, stopping.model, log_dir=log_dir, max_samples=1)
    assert list(stopping.calls) == list("abcd")
    mock = Mock()
    said = annotate(ITEMS, RUBRIC, mock.model, log_dir=log_dir)
    assert mock.calls == dict.fromkeys("def", 1)
    assert list(said.bands.index) == list(ITEMS)


_KILLED = """
import os, signal, sys
import anyio
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from measurement_layouts.annotation import annotate_demands

asked = open(sys.argv[1], "a")
limit = int(sys.argv[3])

async def reply(messages, tools, choice, config):
    await anyio.sleep(0.05)
    asked.write(f"{hash((messages[0].text, messages[-1].text))}\\n")
    asked.flush()
    if sum(1 for _ in open(sys.argv[1])) == limit:
        os.kill(os.getpid(), signal.SIGKILL)
    output = ModelOutput.from_content("mock", "Level: 3\\nUnguessability: 100")
    output.usage = ModelUsage(input_tokens=900, output_tokens=20)
    return output

items = {f"item {number}": f"What is {number} + 4?" for number in range(40)}
said = annotate_demands(
    items, get_model("mockllm/model", custom_outputs=reply), options=dict.fromkeys(items, 4),
    log_dir=sys.argv[2], max_tasks=5, max_samples=2,
)
print(len(said.table), len(said.table.columns), int(said.usage.loc["all", "attempts"]))
"""


@pytest.mark.slow
def test_a_killed_run_asks_nothing_twice(tmp_path):
    """40 texts on 18 rubrics, killed at half: only what was under way is asked about again."""
    asked, log_dir = tmp_path / "asked", tmp_path / "logs"

    def run(limit):
        return subprocess.run(
            [sys.executable, "-c", _KILLED, str(asked), str(log_dir), str(limit)],
            env={**os.environ, "PYTHONHASHSEED": "0"},
            capture_output=True,
            text=True,
        )

    assert run(360).returncode == -signal.SIGKILL
    questions = asked.read_text().splitlines()
    assert len(questions) == len(set(questions)) == 360
    kept = sum(
        sample.error is None
        for info in list_eval_logs(str(log_dir))
        for sample in read_eval_log(info).samples or []
    )
    resumed = run(0)
    assert resumed.stdout.split() == ["40", "19", "720"], resumed.stderr
    everything = asked.read_text().splitlines()
    assert len(set(everything)) == 40 * len(DEMAND_RUBRICS) == 720
    assert len(everything) == 360 + 720 - kept
    assert kept >= 360 - 20  # at most ten requests were under way, and their answers unwritten


def test_what_failed_is_asked_again_and_its_tokens_add_up(log_dir):
    failing = Mock(lambda item, _: "no" if item in "bc" else GOOD)
    assert len(annotate(ITEMS, RUBRIC, failing.model, log_dir=log_dir).failures) == 2
    mock = Mock()
    said = annotate(ITEMS, RUBRIC, mock.model, log_dir=log_dir)
    assert mock.calls == {"b": 1, "c": 1}
    assert said.failures.empty
    assert said.usage.loc["b"].drop("seconds").tolist() == [4, 400, 40]
    assert said.usage.loc["a"].drop("seconds").tolist() == [1, 100, 10]


@pytest.mark.parametrize(
    "change",
    [
        {"rubric": load_rubric("red_against_blue")},
        {"rubric": dataclasses.replace(RUBRIC, unbiased="The best option.")},
        {"model": "mockllm/other"},
        {"temperature": 0.5},
    ],
)
def test_another_question_is_asked_anew_and_may_share_the_folder(log_dir, change):
    annotate(ITEMS, RUBRIC, Mock().model, log_dir=log_dir)
    mock = Mock()
    if "model" in change:
        change = {"model": get_model(change["model"], custom_outputs=mock._answer)}
    asked = {"rubric": RUBRIC, "model": mock.model, **change}
    annotate(ITEMS, log_dir=log_dir, **asked)
    assert mock.calls.total() == 6
    annotate(ITEMS, RUBRIC, mock.model, log_dir=log_dir)
    assert mock.calls.total() == 6


def test_a_changed_text_and_a_new_item_are_asked_about(log_dir):
    annotate(ITEMS, RUBRIC, Mock().model, log_dir=log_dir)
    mock = Mock()
    items = {**ITEMS, "a": "The item a. C: a third thing.", "g": "The item g."}
    said = annotate(items, RUBRIC, mock.model, log_dir=log_dir)
    assert mock.calls == {"a": 1, "g": 1}
    assert said.usage.loc["a"].drop("seconds").tolist() == [1, 100, 10]
    assert len(said.bands) == 7


def test_how_requests_are_sent_does_not_matter(log_dir):
    annotate(ITEMS, RUBRIC, Mock().model, log_dir=log_dir)
    mock = Mock()
    model = get_model(
        "mockllm/model", custom_outputs=mock._answer, config=GenerateConfig(max_connections=2)
    )
    assert len(annotate(ITEMS, RUBRIC, model, log_dir=log_dir, timeout=9).bands) == 6
    assert mock.calls.total() == 0


def test_a_damaged_log_is_named(log_dir):
    annotate(ITEMS, RUBRIC, Mock().model, log_dir=log_dir)
    (log,) = log_dir.glob("*.eval")
    log.write_bytes(log.read_bytes()[:-200])
    with pytest.raises(AnnotationError, match=r"\.eval cannot be read as a log of Inspect; move"):
        annotate(ITEMS, RUBRIC, Mock().model, log_dir=log_dir)


def test_a_file_is_no_folder_of_logs(tmp_path):
    (tmp_path / "notes").write_text("some notes")
    with pytest.raises(AnnotationError, match=r"cannot use .*notes: .*; give another log_dir"):
        annotate(ITEMS, RUBRIC, Mock().model, log_dir=tmp_path / "notes")
    assert Path(tmp_path / "notes").read_text() == "some notes"
