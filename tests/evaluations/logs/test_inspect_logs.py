"""Logs that Inspect itself wrote, held against its own objects."""

import subprocess
import sys

import pytest
from helpers.inspect_tasks import model, quietly, run, samples, stumble
from inspect_ai import eval, eval_retry
from inspect_ai.log import read_eval_log
from inspect_ai.scorer import match, value_to_float

from measurement_layouts.common.errors import DataError
from measurement_layouts.evaluations.logs.inspect_logs import read_inspect


def metadata(number):
    return {
        "digits": number,
        "inner": {"carry": number % 2, "hints": ["a"]},
        "big": {"k": "y" * 2000},
    }


@pytest.fixture(scope="module", params=["eval", pytest.param("json", marks=pytest.mark.slow)])
def log(request, tmp_path_factory):
    """Two epochs of 12 samples under four scorers, in both formats."""
    folder = tmp_path_factory.mktemp(request.param)
    return run(folder, format=request.param, epochs=2, dataset=samples(12, metadata))


def by_the_tool(log, name, key=None):
    """Outcomes by the log's own objects and the tool's own conversion."""
    found = {}
    for sample in read_eval_log(log.location).samples:
        score = sample.scores.get(name)
        value = None if score is None else score.value if key is None else score.value[key]
        if value is not None and value == value:
            found[f"sums/{sample.id}", sample.epoch] = value_to_float()(value)
    return found


def ours(imported):
    rows = imported.outcomes
    return dict(zip(zip(rows["item"], rows["attempt"], strict=True), rows["outcome"], strict=True))


@pytest.mark.parametrize(
    ("scorer", "key"), [("includes", None), ("match", None), ("odd", None), ("parts", "style")]
)
def test_outcomes_are_those_of_the_tools_own_objects(log, scorer, key):
    wanted = by_the_tool(log, scorer, key)
    assert (
        ours(read_inspect(log.location, scorer=scorer if key is None else f"{scorer}/{key}"))
        == wanted
    )
    assert ours(read_inspect(log.location, scorer="parts/form")) != wanted  # the twin


def test_epochs_are_trials_and_their_mean_is_the_logs_accuracy(log):
    evaluation = read_inspect(log.location, scorer="match").evaluation()
    assert (evaluation.trials.to_numpy() == 2).all()
    [score] = [each for each in log.results.scores if each.name == "match"]
    rate = evaluation.success_rates()["mockllm/model"]
    assert rate == pytest.approx(score.metrics["accuracy"].value, abs=1e-12)
    averaged = read_inspect(log.location, scorer="odd", epochs="mean")
    assert len(averaged.outcomes) == len(set(averaged.outcomes["item"])) == 10
    [row] = averaged.notes.query("what.str.startswith('averaged')").to_dict("records")
    assert row["count"] == 10


def test_every_mapping_and_every_drop_is_listed(log):
    notes = read_inspect(log.location, scorer="odd").notes.set_index("what")["count"]
    expected = {
        "mapped: scorer odd, 'C' is 1": 4,
        "mapped: scorer odd, 'I' is 0": 2,
        "mapped: scorer odd, 'P' is 0.5": 2,
        "mapped: scorer odd, 'N' is 0": 2,
        "mapped: scorer odd, True is 1": 2,
        "mapped: scorer odd, 'yes' is 1": 2,
        "mapped: scorer odd, '0.75' is 0.75": 2,
        "dropped: samples without a score by odd": 2,
        "dropped: scorer odd is missing (nan)": 2,
        "dropped: field inner.hints contains lists": 24,
        "dropped: field big is over 1 kB, left out of Inspect's summary": 24,
        "dropped: items without any outcome": 2,
    }
    assert notes.to_dict() == expected


def test_metadata_are_meta_features(log):
    items = read_inspect(log.location, scorer="match").items
    assert items.index.tolist() == [f"sums/{number}" for number in range(12)]
    assert items.to_dict("list") == {
        "digits": list(range(12)),
        "inner.carry": [number % 2 for number in range(12)],
    }
    picked = read_inspect(log.location, scorer="match", features=["inner.carry"])
    assert picked.items.columns.tolist() == ["inner.carry"]
    with pytest.raises(DataError, match=r"unknown feature\(s\): carry; known: digits, inner.carry"):
        read_inspect(log.location, scorer="match", features=["carry"])


def test_values_say_what_partial_credit_is(log):
    with pytest.raises(DataError, match=r"0\.25, 0\.5, 0\.75 .*Score or Graded.*\.table\(\)"):
        read_inspect(log.location, scorer="odd").evaluation()
    imported = read_inspect(log.location, scorer="odd", values={"P": 1, 0.25: 0, "0.75": 1})
    assert imported.evaluation().trials.to_numpy().sum() == 20
    assert ours(imported)["sums/2", 1] == 1
    with pytest.raises(DataError, match=r"'P' is to be 2; give an outcome in \[0, 1\]"):
        read_inspect(log.location, scorer="odd", values={"P": 2})


def test_several_scorers_must_be_chosen_among(log):
    names = "includes, match, odd, parts/form, parts/style"
    with pytest.raises(DataError, match=f"task sums has several scorers: {names}; choose"):
        read_inspect(log.location)
    with pytest.raises(DataError, match="has no scorer 'parts'"):
        read_inspect(log.location, scorer={"sums": "parts"})
    with pytest.raises(DataError, match="no task products; the logs have sums"):
        read_inspect(log.location, scorer={"products": "match"})
    with pytest.raises(DataError, match="epochs='best'"):
        read_inspect(log.location, scorer="match", epochs="best")


@pytest.mark.slow
def test_an_error_and_its_retry_count_once(tmp_path):
    """The retry copies finished samples, and runs the failed one again."""
    marker = tmp_path / "marker"
    failing = stumble(str(marker))
    first = quietly(eval, failing, tmp_path, model="mockllm/model", fail_on_error=False)
    imported = read_inspect(first.location)
    assert len(imported.outcomes) == 11
    assert imported.notes["what"].tolist().count("dropped: samples stopped by an error") == 1
    assert "stumble/3" not in imported.items.index
    stopped = quietly(eval, failing, tmp_path, model="mockllm/model", max_samples=1)
    assert stopped.status == "error"
    marker.touch()
    again = quietly(eval_retry, stopped, tmp_path)
    assert again.status == "success"
    both = read_inspect([stopped.location, again.location])
    notes = both.notes.set_index("what")["count"]
    assert len(both.outcomes) == 12
    assert notes["log with status error: its finished samples count"] == 1
    copied = notes["dropped: the same attempt in several logs, counted once"]
    assert copied == sum(each.error is None for each in stopped.samples) > 0


@pytest.mark.slow
def test_a_second_run_is_refused_and_another_configuration_is_another_subject(tmp_path):
    logs = [run(tmp_path, scorers=[match()], dataset=samples(3)) for _ in range(2)]
    with pytest.raises(DataError, match=r"3 attempt\(s\) have several outcomes: mockllm/model on"):
        read_inspect(tmp_path)
    [only] = set(read_inspect(logs[0].location).outcomes["subject"])
    assert only == "mockllm/model"
    warm = run(tmp_path, scorers=[match()], dataset=samples(3), temperature=0.5)
    imported = read_inspect([logs[0].location, warm.location])
    assert imported.evaluation().subjects == [
        "mockllm/model (temperature=unset)",
        "mockllm/model (temperature=0.5)",
    ]
    [renamed] = imported.notes.query("what.str.startswith('renamed')").to_dict("records")
    assert renamed["count"] == 2
    with pytest.raises(DataError, match="have several outcomes"):
        read_inspect([logs[0].location, warm.location], subject="model name")
    other = run(tmp_path, scorers=[match()], dataset=samples(3), model=model("mockllm/other"))
    two = read_inspect([logs[0].location, other.location]).evaluation()
    assert two.subjects == ["mockllm/model", "mockllm/other"]
    assert len(two.items) == 3


@pytest.mark.slow
def test_without_the_package_the_extra_is_named(tmp_path):
    (tmp_path / "a.eval").write_text("")
    code = f"""
import sys
sys.modules["inspect_ai"] = None  # as if it were not installed
from measurement_layouts.evaluations.logs.inspect_logs import read_inspect
read_inspect({str(tmp_path / "a.eval")!r})
"""
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert 'inspect-ai, which is not installed: pip install "measurement-layouts[inspect]"' in (
        told.stderr
    )
