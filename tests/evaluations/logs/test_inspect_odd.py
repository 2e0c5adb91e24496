"""Logs of odd content, written through Inspect's own classes."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inspect_ai.log import (
    EvalConfig,
    EvalDataset,
    EvalLog,
    EvalSample,
    EvalSampleLimit,
    EvalSpec,
    ProvenanceData,
    write_eval_log,
)
from inspect_ai.model import ChatMessageUser
from inspect_ai.scorer import Score, value_to_float

from measurement_layouts.common.errors import DataError
from measurement_layouts.evaluations.logs.imported import Notes
from measurement_layouts.evaluations.logs.inspect_logs import read_inspect
from measurement_layouts.evaluations.logs.values import GRADES, ScoreReader


def sample(number=1, value="C", **fields):
    scores = None if value is None else {"match": Score(value=value)}
    return EvalSample(
        **{"id": number, "epoch": 1, "input": f"q{number}", "target": "2", "scores": scores}
        | fields
    )


def write(path, *samples, status="success", log=None, **fields):
    spec = {"created": "2026-01-31T12:00:00+00:00", "task": "sums", "model": "tiny"}
    spec |= {"dataset": EvalDataset(), "config": EvalConfig()} | fields
    made = EvalLog(eval=EvalSpec(**spec), status=status, samples=list(samples), **(log or {}))
    write_eval_log(made, path)
    return path


@pytest.fixture
def path(tmp_path):
    return tmp_path / "log.json"


def notes_of(imported):
    return imported.notes.set_index("what")["count"].to_dict()


@pytest.mark.parametrize("value", [5, -0.1, "7", 10**400, float("inf")])
def test_numbers_outside_the_unit_interval_are_refused(path, value):
    write(path, sample(1), sample(2, value))
    with pytest.raises(DataError, match=r"scorer match: 1 value\(s\) are .*sums/2.*values=\{score"):
        read_inspect(path)
    if value not in (10**400, float("inf")):
        assert read_inspect(path, values={value: 0.5}).outcomes["outcome"].tolist() == [1, 0.5]


@pytest.mark.parametrize(("value", "shown"), [("good", "'good'"), ([1, 0], "list"), ("", "''")])
def test_what_the_tool_would_silently_call_zero_is_refused(path, value, shown):
    write(path, sample(1, value))
    with pytest.raises(DataError, match=rf"neither numbers nor known words: sums/1 \({shown}\)"):
        read_inspect(path)


@given(
    st.one_of(
        st.sampled_from(["C", "I", "P", "N", "yes", "No", "TRUE", "false", "0.5", "1", " 0 "]),
        st.booleans(),
        st.floats(0, 1),
        st.integers(0, 1),
    )
)
def test_a_score_is_read_as_the_tool_reads_it(value):
    reader = ScoreReader("scorer match", None, GRADES, Notes(), "")
    assert reader.read(value, "sums/1") == value_to_float()(value)
    reader.check()


def test_true_and_one_are_told_apart_and_five_is_five():
    reader = ScoreReader("scorer", {True: 0.2, "5": 0.4, "2.0": 0.6}, {}, Notes(), "")
    assert [reader.read(value, "") for value in (True, 1, 5, 5.0, "5", 2)] == [
        0.2,
        1,
        0.4,
        0.4,
        0.4,
        0.6,
    ]


def test_limits_count_as_they_were_scored(path):
    limit = EvalSampleLimit(type="token", limit=100)
    write(path, sample(1), sample(2, "I", limit=limit), sample(3, None, limit=limit))
    imported = read_inspect(path)
    assert imported.outcomes["outcome"].tolist() == [1, 0]
    found = notes_of(imported)
    assert found["kept: samples stopped by a limit (token), as they were scored"] == 1
    assert found["dropped: samples stopped by a limit (token), without a score by match"] == 1


def test_samples_not_run_or_declared_invalid_are_dropped_and_listed(path):
    invalid = sample(2, invalidation=ProvenanceData(author="Ann", reason="leaked"))
    dataset = EvalDataset(sample_ids=[1, 2, 3, 4])
    write(path, sample(1), invalid, status="cancelled", dataset=dataset, log={"invalidated": True})
    imported = read_inspect(path)
    assert imported.outcomes["item"].tolist() == ["sums/1"]
    found = notes_of(imported)
    assert found["dropped: samples declared invalid"] == 1
    assert found["dropped: samples that were not run"] == 2
    assert found["log with status cancelled: its finished samples count"] == 1


def test_nothing_scored_is_an_error_that_lists_why(path):
    write(path, sample(1, None), sample(2, float("nan")))
    with pytest.raises(
        DataError, match=r"no attempt .* is left: .*dropped: samples without a score"
    ):
        read_inspect(path, scorer="match")


def test_one_name_for_two_questions_is_refused(tmp_path):
    logs = [
        write(tmp_path / f"{name}.json", sample(1, input=asked), model=name)
        for name, asked in (("a", "1 + 1"), ("b", "2 + 2"))
    ]
    with pytest.raises(DataError, match=r"sums/1 has another input in .*b\.json than in .*a\.json"):
        read_inspect(logs)
    messages = [
        write(
            tmp_path / f"{name}.json",
            sample(1, input=[ChatMessageUser(content="1 + 1")]),
            model=name,
        )
        for name in ("a", "b")
    ]
    assert len(read_inspect(messages).outcomes) == 2  # messages have identities of their own


def test_tasks_are_told_apart_by_their_arguments(tmp_path):
    logs = [
        write(
            tmp_path / f"{digits}.json", sample(1, input=f"{digits}"), task_args={"digits": digits}
        )
        for digits in (1, 2)
    ]
    assert read_inspect(logs).items.index.tolist() == ["sums (digits=1)/1", "sums (digits=2)/1"]


def test_a_feature_that_differs_within_an_item_is_dropped_or_refused(tmp_path):
    logs = [
        write(
            tmp_path / f"{name}.json",
            sample(1, metadata={"size": size, "item": "ball"}),
            sample(2, metadata={"size": 0, "item": "ball"}),
            model=name,
        )
        for name, size in (("a", 1), ("b", 2))
    ]
    imported = read_inspect(logs)
    assert imported.items.to_dict("list") == {"feature.item": ["ball", "ball"]}
    assert imported.subjects.columns.tolist() == []
    assert notes_of(imported)["dropped: size differs within an item"] == 1
    with pytest.raises(DataError, match="size differs between attempts"):
        read_inspect(logs, features=["size"])


def test_a_slip_in_a_feature_is_told(tmp_path):
    logs = [
        write(
            tmp_path / f"{model}.json",
            *(sample(each, metadata={"size": each}) for each in (1, 2, 3)),
            sample(4, metadata={"size": size}),
            model=model,
        )
        for model, size in (("a", 4), ("b", 44))
    ]
    told = r"^size is dropped: .* sums/4; if it is a property"
    with pytest.warns(UserWarning, match=told):
        imported = read_inspect(logs)
    assert imported.items.columns.tolist() == []


def test_a_feature_that_is_the_same_in_all_samples_of_a_model_is_the_models(tmp_path):
    """One that some samples lack is taken from the others."""
    logs = []
    for model, budget in (("a", 10), ("b", 20)):
        told = {"budget": budget, "subject": f"the {model}", "seconds": budget, "size": 3}
        less = {name: told[name] for name in ("budget", "subject", "size")}
        samples = sample(1, metadata=told), sample(2, metadata=less)
        logs.append(write(tmp_path / f"{model}.json", *samples, model=model))
    imported = read_inspect(logs)
    assert imported.items.to_dict("list") == {"size": [3, 3]}
    assert imported.subjects["budget"].to_dict() == {"a": 10, "b": 20}
    assert imported.subjects["feature.subject"].tolist() == ["the a", "the b"]
    assert imported.subjects.columns.tolist() == ["budget", "feature.subject", "seconds"]
    notes = notes_of(imported)
    assert notes["property of the subjects: budget differs within an item"] == 1
    pd.testing.assert_frame_equal(imported.evaluation().subject_table, imported.subjects)
    only = read_inspect(logs, features=["budget"])
    assert (list(only.items.columns), list(only.subjects.columns)) == ([], ["budget"])


@pytest.mark.parametrize("name", ["log.eval", "log.json"])
@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b'{"version": 2}', b"[]"])
def test_what_is_no_log_is_named(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=f"{name}: Inspect cannot read this log"):
        read_inspect(tmp_path / name)


def test_a_folder_gives_its_logs_and_nothing_else(tmp_path):
    folder = tmp_path / "my logs"
    (folder / "deep").mkdir(parents=True)
    write(folder / "2026-01-31T12-00-00_sums_a.eval", sample(1), model="a")
    write(folder / "deep" / "2026-01-31T12-00-00_sums_b.json", sample(1), model="b")
    (folder / "logs.json").write_text("{}")
    assert read_inspect(folder).evaluation().subjects == ["a", "b"]


def test_missing_logs_are_named(tmp_path):
    with pytest.raises(DataError, match=r"the folder has no \.eval or \.json logs"):
        read_inspect(tmp_path)
    with pytest.raises(DataError, match=r"nowhere\.eval: no such file"):
        read_inspect(tmp_path / "nowhere.eval")
    with pytest.raises(DataError, match="no logs are given"):
        read_inspect([])
    with pytest.raises(DataError, match="subject='agent'"):
        read_inspect(tmp_path, subject="agent")
