"""Logs that the lm-evaluation-harness itself wrote, from an environment of its own."""

import json
import os
import subprocess
import venv
from pathlib import Path

import pooch
import pytest
from filelock import FileLock
from helpers import TESTS
from helpers.lm_eval_lines import RESULT_KEYS, SAMPLE_KEYS, line

from measurement_layouts.evaluations.logs.lm_eval import read_lm_eval

VERSION = "0.4.13"
TASK = """
task: {name}
dataset_path: json
dataset_kwargs:
  data_files:
    test: {data}
test_split: test
output_type: {kind}
doc_to_text: "{{{{digits}}}} + 1 ="
metadata:
  version: 1.0
"""
SUMS = """
doc_to_target: "{{answer}}"
repeats: 3
filter_list:
  - name: first
    filter:
      - function: regex
        regex_pattern: "([0-9]+)"
      - function: take_first
  - name: majority
    filter:
      - function: regex
        regex_pattern: "([0-9]+)"
      - function: majority_vote
      - function: take_first
metric_list:
  - metric: exact_match
"""
CHOICES = """
doc_to_target: 1
doc_to_choice: ["1", "2"]
metric_list:
  - metric: acc
  - metric: acc_norm
"""


@pytest.fixture(scope="module")
def harness():
    """A Python with lm-eval, kept in the user's cache (735 MB, no torch; a minute to make)."""
    folder = Path(pooch.os_cache("measurement_layouts_tests")) / f"lm-eval-{VERSION}"
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{folder}.lock"):
        if not (folder / "ready").exists():
            venv.create(folder, with_pip=True, clear=True)
            install = [python, "-m", "pip", "install", "-q", f"lm-eval=={VERSION}"]
            if subprocess.run(install, capture_output=True).returncode:
                pytest.skip("lm-eval cannot be installed here")
            (folder / "ready").touch()
    return python


@pytest.fixture(scope="module")
def logs(harness, tmp_path_factory):
    """What one command leaves: two tasks, three responses and two filters in one of them."""
    folder = tmp_path_factory.mktemp("harness")
    documents = [
        {
            "digits": number,
            "answer": str(number + 1),
            "meta": {"even": number % 2 == 0, "tags": ["a"]},
        }
        for number in range(12)
    ]
    data = folder / "sums.jsonl"
    data.write_text("".join(json.dumps(each) + "\n" for each in documents))
    tasks = folder / "tasks"
    tasks.mkdir()
    for name, kind, rest in (
        ("sums", "generate_until", SUMS),
        ("choices", "multiple_choice", CHOICES),
    ):
        text = TASK.format(name=name, data=data, kind=kind) + rest
        (tasks / f"{name}.yaml").write_text(text)
    script = TESTS / "helpers" / "counting_model.py"
    command = [
        *(harness, script, "--model", "counting", "--model_args", "pretrained=org/counting"),
        *("--tasks", "sums,choices", "--include_path", tasks),
        *("--output_path", folder / "out", "--log_samples"),
    ]
    home = {"HF_HOME": str(folder / "home"), "HF_HUB_OFFLINE": "1"}
    ran = subprocess.run(command, cwd=folder, env=os.environ | home, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr[-2000:]
    return folder / "out"


CHOSEN = {"metric": {"choices": "acc"}}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("chosen", "right"),
    [("first", lambda n: n % 2 == 0), ("majority", lambda n: n % 3 == 0)],
)
def test_outcomes_are_what_the_model_answered(logs, chosen, right):
    imported = read_lm_eval(logs, filter={"sums": chosen}, **CHOSEN)
    evaluation = imported.evaluation()
    assert evaluation.subjects == ["org/counting"]
    outcomes = evaluation.successes.loc["org/counting"]
    assert [outcomes[f"sums/{n}"] for n in range(12)] == [int(right(n)) for n in range(12)]
    notes = imported.notes.set_index("what")["count"]
    assert notes["one value of exact_match for 3 responses: one attempt"] == 12
    assert notes["dropped: lines of other filters"] == 12
    assert imported.items.loc["sums/3", ["digits", "answer", "meta.even"]].tolist() == [3, 4, False]


@pytest.mark.slow
@pytest.mark.parametrize("chosen", ["first", "majority"])
def test_means_are_the_harness_own(logs, chosen):
    [file] = logs.rglob("results_*.json")
    results = json.loads(file.read_text())["results"]
    rows = read_lm_eval(logs, filter={"sums": chosen}, **CHOSEN).outcomes
    means = rows.groupby(rows["item"].str.split("/").str[0])["outcome"].mean()
    assert means["sums"] == pytest.approx(results["sums"][f"exact_match,{chosen}"], abs=1e-12)
    assert means["choices"] == pytest.approx(results["choices"]["acc,none"], abs=1e-12)


@pytest.mark.slow
def test_the_fast_tests_lines_have_the_tools_form(logs):
    [samples] = logs.rglob("samples_sums_*.jsonl")
    for text in samples.read_text().splitlines():
        found = json.loads(text)
        made = line(0, {"exact_match": 1.0}, filter="first", responses=3)
        assert list(found) == list(made)
        assert set(found) == SAMPLE_KEYS | {"exact_match"}
        assert [type(value) for value in found.values()] == [type(value) for value in made.values()]
        assert len(found["resps"][0]) == len(made["resps"][0]) == 3
    [results] = logs.rglob("results_*.json")
    assert set(json.loads(results.read_text())) >= RESULT_KEYS
