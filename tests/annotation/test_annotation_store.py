"""Runs that resume: what a store keeps, and whose annotations it refuses."""

import dataclasses
import json
import re
import signal
import threading

import anyio
import pytest
from filelock import FileLock
from helpers.mock_annotators import GOOD, ITEMS, Mock
from inspect_ai.model import GenerateConfig, get_model

from measurement_layouts.annotation import AnnotationError, annotate, load_rubric

RUBRIC = load_rubric("risk_aversion")


@pytest.fixture
def store(tmp_path):
    return tmp_path / "runs" / "bands.jsonl"


def test_a_second_call_asks_nothing(store):
    first = annotate(ITEMS, RUBRIC, Mock().model, store=store)
    mock = Mock()
    second = annotate(ITEMS, RUBRIC, mock.model, store=store)
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


def test_an_interrupted_run_goes_on_where_it_was(store, ctrl_c):
    """Ctrl-C while the fourth item is asked about: three are kept, three are left."""

    async def wait():
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        await anyio.sleep(60)

    stopping = Mock(lambda item, _: wait() if item == "d" else GOOD)
    with pytest.raises(KeyboardInterrupt):
        annotate(ITEMS, RUBRIC, stopping.model, store=store, connections=1)
    assert list(stopping.calls) == list("abcd")
    mock = Mock()
    said = annotate(ITEMS, RUBRIC, mock.model, store=store)
    assert mock.calls == dict.fromkeys("def", 1)
    assert list(said.bands.index) == list(ITEMS)


def test_what_failed_is_asked_again_and_its_tokens_add_up(store):
    failing = Mock(lambda item, _: "no" if item in "bc" else GOOD)
    assert len(annotate(ITEMS, RUBRIC, failing.model, store=store).failures) == 2
    mock = Mock()
    said = annotate(ITEMS, RUBRIC, mock.model, store=store)
    assert mock.calls == {"b": 1, "c": 1}
    assert said.failures.empty
    assert said.usage.loc["b"].drop("seconds").tolist() == [4, 400, 40]
    assert said.usage.loc["a"].drop("seconds").tolist() == [1, 100, 10]


def test_time_is_counted_over_attempts_and_runs(store):
    async def slow(answer):
        await anyio.sleep(0.05)
        return answer

    items = {"a": ITEMS["a"]}
    failing = annotate(items, RUBRIC, Mock(lambda *_: slow("no")).model, attempts=2, store=store)
    assert 0.1 <= failing.usage.loc["a", "seconds"] < 5
    before = failing.usage.loc["a", "seconds"]
    said = annotate(items, RUBRIC, Mock(lambda *_: slow(GOOD)).model, store=store)
    assert before + 0.05 <= said.usage.loc["a", "seconds"] < before + 5
    assert annotate(items, RUBRIC, Mock().model, store=store).usage.equals(said.usage)
    store.write_bytes(re.sub(rb', "seconds": [0-9.e-]+', b"", store.read_bytes()))
    untimed = annotate(items, RUBRIC, Mock().model, store=store)  # as stores once were
    assert untimed.total[["attempts", "seconds"]].tolist() == [3, 0]


def test_a_changed_text_and_a_new_item_are_asked_about(store):
    annotate(ITEMS, RUBRIC, Mock().model, store=store)
    mock = Mock()
    items = {**ITEMS, "a": "The item a. C: a third thing.", "g": "The item g."}
    said = annotate(items, RUBRIC, mock.model, store=store)
    assert mock.calls == {"a": 1, "g": 1}
    assert said.usage.loc["a"].drop("seconds").tolist() == [1, 100, 10]
    assert len(said.bands) == 7


def _untimed(lines):
    """Lines of a store without how long the model took."""
    return re.sub(rb'"seconds": [0-9.e-]+', b"", lines)


@pytest.mark.parametrize("cut", [1, 20, 10_000])
def test_a_half_written_last_line_is_survived(store, cut):
    """Also where that is the first line, or all of it but the end of the line."""
    annotate(ITEMS, RUBRIC, Mock().model, store=store, connections=1)
    whole = store.read_bytes()
    store.write_bytes(whole[: max(len(whole) - cut, 40)])
    mock = Mock()
    annotate(ITEMS, RUBRIC, mock.model, store=store, connections=1)
    assert list(mock.calls) == (["f"] if cut < 10_000 else list(ITEMS))
    assert _untimed(store.read_bytes()) == _untimed(whole)


def test_items_are_written_as_they_finish(store):
    lines = []
    mock = Mock(lambda *_: lines.append(len(store.read_text().splitlines())) or GOOD)
    annotate(ITEMS, RUBRIC, mock.model, store=store, connections=1)
    assert lines == [1, 2, 3, 4, 5, 6]


# --- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"rubric": load_rubric("red_against_blue")}, "their rubric is 'risk aversion', now it"),
        (
            {"rubric": dataclasses.replace(RUBRIC, unbiased="The best option.")},
            "their prompt is '.{16}', now it is '.{16}'; give another store",
        ),
        ({"model": get_model("mockllm/other")}, "their model is 'mockllm/model', now it is"),
        ({"temperature": 0.5}, r"their settings is \{\}, now it is \{'temperature': 0.5\}"),
    ],
)
def test_a_store_of_other_annotations_is_refused(store, change, complaint):
    annotate(ITEMS, RUBRIC, Mock().model, store=store)
    before = store.read_bytes()
    asked = {"rubric": RUBRIC, "model": Mock().model, **change}
    with pytest.raises(AnnotationError, match=complaint):
        annotate(ITEMS, store=store, **asked)
    assert store.read_bytes() == before


def test_how_requests_are_sent_does_not_matter(store):
    annotate(ITEMS, RUBRIC, Mock().model, store=store)
    config = GenerateConfig(max_connections=2)
    model = get_model("mockllm/model", config=config)
    assert len(annotate(ITEMS, RUBRIC, model, store=store, timeout=9).bands) == 6


@pytest.mark.parametrize("content", ["some notes", "some notes\nof mine\n", '{"a": 1}\n', "[1]\n"])
def test_another_file_is_refused_and_stays(store, content):
    store.parent.mkdir()
    store.write_text(content)
    with pytest.raises(AnnotationError, match=r"bands\.jsonl exists and contains no anno"):
        annotate(ITEMS, RUBRIC, Mock().model, store=store)
    assert store.read_text() == content


@pytest.mark.parametrize("damage", ["{", '{"item": "a"}', '{"colour": 3}'])
def test_a_damaged_line_is_named(store, damage):
    annotate(ITEMS, RUBRIC, Mock().model, store=store)
    lines = store.read_text().splitlines(keepends=True)
    store.write_text("".join([*lines[:2], damage + "\n", *lines[3:]]))
    with pytest.raises(AnnotationError, match=r"bands\.jsonl, line 3, is damaged; delete the line"):
        annotate(ITEMS, RUBRIC, Mock().model, store=store)


def test_a_store_in_use_is_refused(store):
    store.parent.mkdir()
    with FileLock(f"{store}.lock"), pytest.raises(AnnotationError, match="is in use; wait"):
        annotate(ITEMS, RUBRIC, Mock().model, store=store)


def test_a_folder_is_no_store(tmp_path):
    with pytest.raises(AnnotationError, match=r"cannot use .*: Is a directory; give another store"):
        annotate(ITEMS, RUBRIC, Mock().model, store=tmp_path)


def test_a_full_disk_stops_the_run_with_its_reason(store, monkeypatch):
    def full(_descriptor):
        if len(store.read_text().splitlines()) > 2:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(AnnotationError, match=r"No space left .*; earlier annotations are safe"):
        annotate(ITEMS, RUBRIC, Mock().model, store=store)
    monkeypatch.undo()
    assert json.loads(store.read_text().splitlines()[1])["item"] == "a"
    assert len(annotate(ITEMS, RUBRIC, Mock().model, store=store).bands) == 6
