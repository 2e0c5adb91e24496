"""Logs of OpenAI evals, in the form that its local recorder writes."""

import json

import numpy as np
import pandas as pd
import pytest
from helpers.evals_lines import ASKED, REPORT, asked, event, events, matched, spec, write

from measurement_layouts.common.errors import DataError
from measurement_layouts.evaluations.logs.openai_evals import read_openai_evals
from measurement_layouts.evaluations.logs.table import read_table

RIGHT = {0: True, 1: False, 2: True}


def notes_of(imported):
    return imported.notes.set_index("what")["count"].to_dict()


def test_a_folder_of_models_is_read(tmp_path):
    """A model of chats and one of texts were asked the same, so their items are the same."""
    write(tmp_path / "sums" / "chat.jsonl", spec("org/chat"), *events(RIGHT), REPORT)
    texts = events({0: False, 1: False, 2: True}, chat=False, run="other")
    write(tmp_path / "sums" / "text.jsonl", spec("text-001", run="other"), *texts, REPORT)
    imported = read_openai_evals(tmp_path)
    evaluation = imported.evaluation()
    assert evaluation.success_rates().round(3).to_dict() == {"org/chat": 0.667, "text-001": 0.333}
    assert evaluation.successes.loc["org/chat"].tolist() == [1, 0, 1]
    assert imported.items.index.tolist() == ["sums.test.0", "sums.test.1", "sums.test.2"]
    assert imported.items["expected"].tolist() == [1, 2, 3]
    assert imported.items.loc["sums.test.1", "prompt"] == (
        f"{ASKED}\nUser: What is 1 plus 1?\n\nAssistant: "
    )
    assert notes_of(imported) == {
        "metric used, the only one of its task: match": 1,
        "mapped: texts of expected read as numbers": 3,
    }


def test_outcomes_are_those_that_pandas_finds(tmp_path):
    """Of many samples in random order: the mean of `correct` by an independent reading."""
    rng = np.random.default_rng(4)
    right = {int(k): bool(rng.random() < 0.3 + 0.004 * k) for k in rng.permutation(100)}
    path = write(tmp_path / "log.jsonl", spec(), *events(right), REPORT)
    table = pd.read_json(path, lines=True)
    matches = table[table["type"] == "match"]
    wanted = pd.Series([data["correct"] for data in matches["data"]], matches["sample_id"])
    rows = read_openai_evals(path).outcomes.set_index("item")["outcome"]
    assert (rows == wanted.astype(float)).all()
    assert len(rows) == 100


def test_another_answer_is_noticed(tmp_path):
    """Twin that must fail: one answer turned over."""
    path = write(tmp_path / "log.jsonl", spec(), *events(RIGHT), REPORT)
    before = read_openai_evals(path).outcomes
    write(path, spec(), *events(RIGHT | {1: True}), REPORT)
    assert not before.equals(read_openai_evals(path).outcomes)


def test_samples_without_outcome_are_dropped_and_listed(tmp_path):
    lines = [*events(RIGHT), asked(9, 7), asked(10, 8), event(11, 8, "error", {"type": "Timeout"})]
    imported = read_openai_evals(write(tmp_path / "log.jsonl", spec(), *lines))
    assert imported.items.index.tolist() == ["sums.test.0", "sums.test.1", "sums.test.2"]
    notes = imported.notes.set_index("what")
    assert notes["count"].to_dict() | {"mapped: texts of expected read as numbers": 3} == {
        "log without a final report: its finished samples count": 1,
        "metric used, the only one of its task: match": 1,
        "dropped: samples without match": 1,
        "dropped: samples stopped by an error": 1,
        "mapped: texts of expected read as numbers": 3,
        "dropped: items without any outcome": 2,
    }
    assert notes.loc["dropped: items without any outcome", "example"] == "sums.test.7, sums.test.8"


def test_metrics_are_chosen_not_guessed(tmp_path):
    lines = [
        asked(0, 5),
        event(1, 5, "metrics", {"accuracy": 1.0, "f1_score": 0.4, "words": 17, "choice": "A"}),
    ]
    path = write(tmp_path / "log.jsonl", spec(), *lines, REPORT)
    with pytest.raises(DataError, match="sums has several metrics: accuracy, f1_score, words;"):
        read_openai_evals(path)
    assert read_openai_evals(path, metric="f1_score").table()["outcome"].tolist() == [0.4]
    assert read_openai_evals(path, metric={"sums": "accuracy"}).outcomes["outcome"].tolist() == [1]
    with pytest.raises(DataError, match=r"metric words: 1 value\(s\) are outside \[0, 1\]: sums.t"):
        read_openai_evals(path, metric="words")
    with pytest.raises(DataError, match="sums has no metric 'match'; it has accuracy, f1_score"):
        read_openai_evals(path, metric="match")


def test_several_outcomes_of_one_sample(tmp_path):
    lines = [asked(0, 5), matched(1, 5, True), matched(2, 5, False)]
    path = write(tmp_path / "log.jsonl", spec(), *lines, REPORT)
    assert read_openai_evals(path).outcomes["outcome"].tolist() == [1, 0]
    assert read_openai_evals(path, repeats="mean").outcomes["outcome"].tolist() == [0.5]


def test_the_same_log_twice_counts_once_and_another_run_is_refused(tmp_path):
    one = write(tmp_path / "one.jsonl", spec(), *events(RIGHT), REPORT)
    copy = write(tmp_path / "copy.jsonl", spec(), *events(RIGHT), REPORT)
    imported = read_openai_evals([one, copy])
    assert imported.outcomes["attempt"].tolist() == [1, 1, 1]
    assert notes_of(imported)["dropped: the same attempt in several logs, counted once"] == 3
    again = write(tmp_path / "again.jsonl", spec(run="B"), *events(RIGHT, run="B"), REPORT)
    with pytest.raises(DataError, match=r"3 attempt\(s\) have several outcomes: tiny-chat on sum"):
        read_openai_evals([one, again])
    warm = spec(run="B", completion_args="temperature=1")
    write(again, warm, *events(RIGHT, run="B"), REPORT)
    assert set(read_openai_evals([one, again]).outcomes["subject"]) == {
        "tiny-chat (completion_args=unset)",
        "tiny-chat (completion_args=temperature=1)",
    }


def test_models_and_scorers_are_named(tmp_path):
    one = write(tmp_path / "one.jsonl", spec(["a", "b"]), *events(RIGHT), REPORT)
    other = spec("c", run="B", cls="includes:Includes")
    two = write(tmp_path / "two.jsonl", other, *events(RIGHT, run="B"), REPORT)
    imported = read_openai_evals([one, two])
    assert imported.outcomes["subject"].unique().tolist() == ["a + b", "c"]
    assert notes_of(imported)["eval sums scored by Match and by Includes"] == 1
    renamed = read_openai_evals(one, subject="ours", features=["expected"])
    assert renamed.outcomes["subject"].unique().tolist() == ["ours"]
    assert renamed.items.columns.tolist() == ["expected"]
    with pytest.raises(DataError, match="subject='ours' names one model, but the logs are of a"):
        read_openai_evals([one, two], subject="ours")


def test_two_samples_under_one_name_are_refused(tmp_path):
    one = write(tmp_path / "one.jsonl", spec("a"), matched(0, 1, True, expected="2"))
    two = write(tmp_path / "two.jsonl", spec("b"), matched(0, 1, True, expected="3"))
    with pytest.raises(
        DataError, match=r"test\.1 has another expected answer in .*two.jsonl \('3'\)"
    ):
        read_openai_evals([one, two])


@pytest.mark.parametrize(
    ("lines", "complaint"),
    [
        ([matched(0, 1, True)], "line 1: this is no log of OpenAI evals, which begins with spec"),
        ([{"spec": 3}], "line 1: this is no log of OpenAI evals"),
        ([{"spec": {"run_id": "1"}}], "its spec names no model as completion_fns"),
        (
            [spec(), {"run_id": "1"}],
            "line 2: this is no event of OpenAI evals, which has sample_id",
        ),
        ([spec(), REPORT], "no attempt with an outcome is left"),
        ([spec(), asked(0, 1)], "no attempt with an outcome is left: .*without any outcome"),
        ([spec(), matched(0, 1, "maybe")], r"metric match: 1 value\(s\) are neither numbers nor"),
    ],
)
def test_what_is_no_log_is_refused_by_name(lines, complaint, tmp_path):
    with pytest.raises(DataError, match=complaint):
        read_openai_evals(write(tmp_path / "log.jsonl", *lines))


def test_an_empty_folder_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"the folder has no \.jsonl logs of OpenAI evals"):
        read_openai_evals(tmp_path)


def test_the_reader_of_tables_says_what_it_is(tmp_path):
    path = write(tmp_path / "a log.jsonl", spec(), *events(RIGHT), REPORT)
    with pytest.raises(DataError, match=r"is a log of OpenAI evals.*read_openai_evals\('") as told:
        read_table(path)
    assert f"measurement-layouts import openai-evals '{path}' --out data" in str(told.value)
    rows = [{"subject": "Ann", "item": "a", "outcome": 1, "spec": "2 m"}]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    assert len(read_table(path).outcomes) == 1
