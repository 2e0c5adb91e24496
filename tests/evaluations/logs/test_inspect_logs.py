"""Logs of Inspect, held against its own objects; odd content and files that are none."""

import json
import zipfile

import pandas as pd
import pytest
from helpers.inspect_tasks import quietly, run, samples, stumble, write
from helpers.inspect_tasks import written_sample as sample
from hypothesis import given
from hypothesis import strategies as st
from inspect_ai import eval, eval_retry
from inspect_ai.log import EvalDataset, EvalSampleLimit, ProvenanceData, read_eval_log
from inspect_ai.model import ChatMessageUser
from inspect_ai.scorer import value_to_float

from measurement_layouts.common.errors import DataError
from measurement_layouts.evaluations import read_inspect
from measurement_layouts.evaluations.logs import files
from measurement_layouts.evaluations.logs.attempts import read_scores
from measurement_layouts.evaluations.notes import Notes


def metadata(number):
    inner = {"carry": number % 2, "hints": ["a"]}
    return {"digits": number, "inner": inner, "big": {"k": "y" * 2000}}


@pytest.fixture(scope="module", params=["eval", pytest.param("json", marks=pytest.mark.slow)])
def log(request, tmp_path_factory):
    """Two epochs of 12 samples under four scorers, in both formats."""
    folder = tmp_path_factory.mktemp(request.param)
    return run(folder, format=request.param, epochs=2, dataset=samples(12, metadata))


def ours(imported):
    rows = imported.outcomes.dropna(subset="outcome")
    return dict(zip(zip(rows["item"], rows["attempt"], strict=True), rows["outcome"], strict=True))


def notes_of(imported):
    return imported.notes.set_index("what")["count"].to_dict()


@pytest.mark.parametrize(
    ("name", "key"), [("includes", None), ("match", None), ("odd", None), ("parts", "style")]
)
def test_outcomes_are_those_of_the_tools_own_objects(log, name, key):
    wanted = {}
    for one in read_eval_log(log.location).samples:
        score = one.scores.get(name)
        value = None if score is None else score.value if key is None else score.value[key]
        if value is not None and value == value:
            wanted[f"sums/{one.id}", one.epoch] = value_to_float()(value)
    scorer = name if key is None else f"{name}/{key}"
    assert ours(read_inspect(log.location, scorer=scorer)) == wanted
    assert ours(read_inspect(log.location, scorer="parts/form")) != wanted  # the twin


def test_epochs_are_trials_or_their_mean(log):
    imported = read_inspect(log.location, scorer="odd")
    assert len(imported.outcomes) == 24
    assert imported.outcomes["ungraded"].value_counts().to_dict() == {"no score": 4}
    evaluation = read_inspect(log.location, scorer="match").evaluation()
    assert (evaluation.trials.to_numpy() == 2).all()
    [score] = [one for one in log.results.scores if one.name == "match"]
    rate = evaluation.success_rates()["mockllm/model"]
    assert rate == pytest.approx(score.metrics["accuracy"].value, abs=1e-12)
    averaged = read_inspect(log.location, scorer="odd", epochs="mean")
    assert averaged.outcomes["item"].is_unique
    assert averaged.outcomes["ungraded"].notna().sum() == 2
    assert notes_of(averaged)["averaged: attempts of one subject at one item"] == 12


def test_metadata_are_meta_features(log):
    items = read_inspect(log.location, scorer="match").items
    items = items.drop(columns="big.k", errors="ignore")  # summaries leave out large fields
    assert items.to_dict("list") == {
        "digits": list(range(12)),
        "inner.carry": [number % 2 for number in range(12)],
    }
    picked = read_inspect(log.location, scorer="match", features=["inner.carry"])
    assert picked.items.columns.tolist() == ["inner.carry"]


def test_values_state_outcomes_and_what_is_no_grade(log):
    with pytest.raises(DataError, match=r"0\.25, 0\.5, 0\.75 .*Score or Graded.*\.table\(\)"):
        read_inspect(log.location, scorer="odd").evaluation()
    values = {"P": 1, 0.25: 0, "0.75": 1, "N": None}
    imported = read_inspect(log.location, scorer="odd", values=values)
    assert imported.evaluation().trials.to_numpy().sum() == 18
    assert imported.evaluation().ungraded["ungraded"].sum() == 6


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({}, "several scorers:"),
        ({"scorer": {"sums": "parts"}}, "has no scorer 'parts'"),
        ({"scorer": {"products": "match"}}, "no task products; the logs"),
        ({"scorer": "match", "epochs": "best"}, "epochs='best'"),
        ({"scorer": "match", "ungraded": "keep"}, "ungraded='keep'; give"),
        ({"scorer": "match", "features": ["carry"]}, "carry; known: digits,"),
        ({"scorer": "match", "subject": ["level"]}, "metadata have no level"),
        ({"scorer": "odd", "values": {"P": 2}}, "'P' is to be 2; give an"),
    ],
)
def test_arguments_that_the_log_does_not_have_are_refused(log, arguments, error):
    with pytest.raises(DataError, match=error):
        read_inspect(log.location, **arguments)


@pytest.mark.slow
def test_an_error_and_its_retry_count_once(tmp_path):
    """The retry copies finished samples, and runs the failed one again."""
    marker = tmp_path / "marker"
    stopped = quietly(eval, stumble(str(marker)), tmp_path, model="mockllm/model", max_samples=1)
    assert stopped.status == "error"
    alone = read_inspect(stopped.location)
    missing = alone.outcomes.set_index("item")["ungraded"].dropna()
    assert missing["stumble/3"] == "error"
    marker.touch()
    again = quietly(eval_retry, stopped, tmp_path)
    both = read_inspect([stopped.location, again.location])
    assert len(both.outcomes) == 12
    assert both.outcomes["outcome"].notna().all()
    copied = notes_of(both)["dropped: the same attempt in several logs, counted once"]
    assert copied == sum(one.error is None for one in stopped.samples) > 0
    retried = notes_of(both)["dropped: attempts without a grade that another log has again"]
    assert retried == len(missing)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "log.json"


def test_attempts_without_a_grade_are_kept_dropped_or_failures(path):
    limit = EvalSampleLimit(type="token", limit=100)
    write(
        path, sample(1), sample(2, "I", limit=limit), sample(3, None, limit=limit), sample(4, None)
    )
    outcomes = read_inspect(path).outcomes
    assert outcomes["outcome"].fillna(-1).tolist() == [1, 0, -1, -1]
    assert outcomes["ungraded"].dropna().tolist() == ["limit: token", "no score"]
    assert read_inspect(path, ungraded="fail").outcomes["outcome"].tolist() == [1, 0, 0, 0]
    assert read_inspect(path, ungraded="drop").outcomes["outcome"].tolist() == [1, 0]
    bounds = read_inspect(path).evaluation().success_bounds().loc["tiny"]
    assert bounds.tolist() == [0.5, 0.25, 0.75, 2, 2]


@pytest.mark.parametrize(
    ("asked", "subjects"),
    [
        ("model", ["tiny (incited=1)", "tiny (incited=2)", "tiny (incited=unset)"]),
        (["incited"], ["tiny (incited=1)", "tiny (incited=2)", "tiny (incited=None)"]),
    ],
)
def test_one_model_under_several_prompts_is_several_subjects(tmp_path, asked, subjects):
    """By task metadata, which are no difference where they belong to another task."""
    for name, own in (("a", {"incited": 1}), ("b", {"incited": 2}), ("c", None)):
        write(tmp_path / f"{name}.json", sample(1), metadata=own)
    other = {"incited": 2, "version": 3}
    write(tmp_path / "d.json", sample(1, input="other"), task="products", metadata=other)
    read = read_inspect(tmp_path, subject=asked)
    assert sorted(set(read.outcomes["subject"])) == sorted(subjects)
    assert len(read.outcomes) == 4
    with pytest.raises(DataError, match="have several outcomes"):
        read_inspect(tmp_path, subject="model name")


def test_runs_are_told_apart_by_their_settings(tmp_path):
    for digits in (1, 2):
        write(tmp_path / f"{digits}.json", sample(1, input=digits), task_args={"digits": digits})
    assert read_inspect(tmp_path).items.index.tolist() == ["sums (digits=1)/1", "sums (digits=2)/1"]
    write(tmp_path / "2.json", sample(1, input=1), task_args={"digits": 1}, model_args={"t": 1})
    assert set(read_inspect(tmp_path).outcomes["subject"]) == {"tiny (t=unset)", "tiny (t=1)"}
    write(tmp_path / "2.json", sample(1, input=1), task_args={"digits": 1})
    with pytest.raises(DataError, match=r"1 attempt\(s\) have several outcomes: tiny on"):
        read_inspect(tmp_path)


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (5, r"sums/2 \(5\)"),
        ("7", r"sums/2 \('7'\)"),
        (10**400, "sums/2"),
        (float("inf"), "sums/2"),
        ("good", r"sums/2 \('good'\)"),
        ([1, 0], "sums/2"),
    ],
)
def test_what_is_no_outcome_is_refused(path, value, told):
    """Inspect would silently call most of it zero."""
    write(path, sample(1), sample(2, value))
    with pytest.raises(DataError, match=rf"scorer match: 1 value\(s\) are .*{told}.*values="):
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
    [read] = read_scores(pd.Series([value], ["sums/1"], dtype=object), "scorer", Notes(), "")
    assert read == value_to_float()(value)


def test_five_is_five_in_every_notation():
    scores = pd.Series([5, 5.0, "5", 2], list("abcd"), dtype=object)
    values = {"5": 0.4, "2.0": 0.6}
    assert read_scores(scores, "scorer", Notes(), "", values).tolist() == [0.4, 0.4, 0.4, 0.6]


def test_samples_not_run_or_declared_invalid_are_dropped_and_listed(path):
    invalid = sample(2, invalidation=ProvenanceData(author="Ann", reason="leaked"))
    dataset = EvalDataset(sample_ids=[1, 2, 3, 4])
    write(path, sample(1), invalid, status="cancelled", dataset=dataset, log={"invalidated": True})
    imported = read_inspect(path)
    assert imported.outcomes["item"].tolist() == ["sums/1"]
    notes = notes_of(imported)
    assert notes["dropped: samples declared invalid"] == 1
    assert notes["dropped: samples that were not run"] == 2
    assert notes["log with status cancelled: its finished samples count"] == 1


def test_nothing_scored_is_an_error_that_lists_why(path):
    write(path, sample(1, None), sample(2, float("nan")))
    with pytest.raises(DataError, match=r"no attempt .* is left: .*ungraded \(no score\)"):
        read_inspect(path, scorer="match")


@pytest.mark.parametrize("suffix", ["json", "eval"])
@pytest.mark.parametrize("text", ["short", "x" * 6000])
def test_two_inputs_under_one_name_are_refused(tmp_path, suffix, text):
    """Also where summaries have only the beginning of an input; messages' identities are none."""
    for model, end in (("a", "1"), ("b", "1"), ("c", "2")):
        asked = [ChatMessageUser(content=text + end)]
        write(tmp_path / f"{model}.{suffix}", sample(input=asked), model=model)
    assert len(read_inspect([tmp_path / f"a.{suffix}", tmp_path / f"b.{suffix}"]).outcomes) == 2
    with pytest.raises(DataError, match=r"sums/1 has another input in .*c\..* than in .*a\."):
        read_inspect(tmp_path)


def test_features_are_of_items_or_subjects(tmp_path):
    """Twin: `seconds` is missing once, and so is no property of the models."""
    for model, budget in (("a", 10), ("b", 20)):
        fields = {"budget": budget, "subject": f"the {model}", "seconds": budget, "size": 3}
        less = {name: fields[name] for name in ("budget", "subject", "size")}
        both = sample(1, metadata=fields), sample(2, metadata=less | {"seconds": None})
        write(tmp_path / f"{model}.json", *both, model=model)
    imported = read_inspect(tmp_path, features=["size", "budget", "subject"])
    assert imported.items.to_dict("list") == {"size": [3, 3]}
    assert imported.subjects["budget"].to_dict() == {"a": 10, "b": 20}
    assert imported.subjects["feature.subject"].tolist() == ["the a", "the b"]
    pd.testing.assert_frame_equal(imported.evaluation().subject_table, imported.subjects)
    for number, size in ((1, 1), (2, 2)):
        both = sample(1, metadata={"size": size}), sample(2, metadata={"size": 0})
        write(tmp_path / f"{'ab'[number - 1]}.json", *both, model="ab"[number - 1])
    with pytest.raises(DataError, match="size"):
        read_inspect(tmp_path, features=["size"])


@pytest.mark.parametrize("name", ["log.eval", "log.json"])
@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b'{"version": 2}', b"[]", b'{"eval": 1}'])
def test_what_is_no_log_is_named(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=f"{name}: this is no log of Inspect that can be read"):
        read_inspect(tmp_path / name)


def test_missing_logs_are_named(tmp_path):
    with pytest.raises(DataError, match=r"the folder has no \.eval or \.json logs"):
        read_inspect(tmp_path)
    with pytest.raises(DataError, match=r"nowhere\.eval: no such file"):
        read_inspect(tmp_path / "nowhere.eval")
    with pytest.raises(DataError, match="no logs are given"):
        read_inspect([])


def repacked(source, path, change):
    """Pack a log again, with each of its files as `change` returns it; None leaves it out."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            content = change(name, old.read(name))
            if content is not None:
                new.writestr(name, content)
    return path


def test_a_log_that_was_cut_off_is_read_from_its_samples(tmp_path):
    def cut_off(name, content):
        return None if name == "summaries.json" or name.startswith("_journal/summ") else content

    made = [sample(number, "CI"[number % 2], metadata={"digits": number}) for number in range(4)]
    whole = write(tmp_path / "new.eval", *made)
    old = read_inspect(repacked(whole, tmp_path / "old.eval", cut_off))
    assert old.items["digits"].tolist() == [0, 1, 2, 3]
    assert old.outcomes["outcome"].tolist() == [1, 0, 1, 0]


def test_a_log_may_have_any_name_and_links_are_followed_once(tmp_path):
    folder = tmp_path / "logs"
    for name in ("gpt4.json", "deep/2025-02-11T15-17-00_sums_a.json", "b.eval"):
        write(folder / name, sample(), model=name)
    (folder / "b.eval").rename(folder / "c.zip")
    (folder / "logs.json").write_text(json.dumps({"a.json": {"eval": {"task": "sums"}}}))
    write(tmp_path / "blobs" / "0a1b.json", sample(), model="linked")
    (tmp_path / "blobs" / "0a1b.json").rename(tmp_path / "blobs" / "0a1b")
    (folder / "x.json").symlink_to("../blobs/0a1b")
    (folder / "y.json").symlink_to("../blobs/0a1b")
    (folder / "loop").symlink_to(".")
    (folder / "lost.json").symlink_to("nowhere")
    read = read_inspect([folder, tmp_path / "blobs"])
    named = {"gpt4.json", "deep/2025-02-11T15-17-00_sums_a.json", "b.eval", "linked"}
    assert set(read.outcomes["subject"]) == named
    assert len(read.outcomes) == 4
    notes = notes_of(read)
    assert notes["dropped: files of the folder that are no logs of this kind"] == 1
    assert notes["dropped: further names of a file, which is read once"] == 2
    assert notes["dropped: links that lead to no file"] == 1


@pytest.mark.parametrize("stated", [None, 100])
def test_what_a_log_unpacks_to_is_limited(tmp_path, monkeypatch, stated):
    """The limit holds for what is unpacked, also where the file states another size."""

    def grow(name, content):
        return b'{"a": "' + b"x" * 10**7 + b'"}' if name == "header.json" else content

    path = repacked(write(tmp_path / "log.eval", sample()), tmp_path / "bomb.eval", grow)
    assert path.stat().st_size < 10**5
    if stated is not None:
        size = (10**7 + 9).to_bytes(4, "little")
        path.write_bytes(path.read_bytes().replace(size, stated.to_bytes(4, "little")))
    monkeypatch.setattr(files, "MOST_BYTES", 10**6)
    with pytest.raises(DataError, match=r"bomb\.eval.*(more than 0\.95.* MiB|can be read)"):
        read_inspect(path)


def test_the_number_and_the_depth_of_values_are_limited(tmp_path, monkeypatch):
    path = write(tmp_path / "log.json", sample(metadata={"many": [0] * 2000}))
    read_inspect(path)
    monkeypatch.setattr(files, "MOST_VALUES", 1000)
    with pytest.raises(DataError, match=r"log\.json: there are more than 1,000 values"):
        read_inspect(path)
    monkeypatch.undo()
    path.write_text("[" * 200_000)
    with pytest.raises(DataError, match="nested too deeply"):
        read_inspect(path)
