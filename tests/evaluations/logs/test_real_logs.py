"""Logs that ten versions of Inspect and of lm-evaluation-harness wrote, of 2024 to 2026.

Inspect: `Repeat n` is answered n, which is right if n is odd; sample 6 ends in an error, and 7 in a
limit of messages, which versions treat differently. The harness: three tasks of six documents,
whose means the results state.
"""

import json
import zipfile
from pathlib import Path

import pytest
from helpers.lm_eval_lines import RESULT_KEYS, SAMPLE_KEYS, line

from measurement_layouts.evaluations import read_inspect, read_lm_eval

REAL = Path(__file__).parent / "real"
INSPECT = sorted(path.name for path in REAL.glob("inspect-*"))
SEVENTH = {"inspect-0.3.40.json": 1, "inspect-0.3.46.eval": 1, "inspect-0.3.240.eval": None}
HARNESS = sorted(path.name for path in REAL.glob("lm-eval-*"))


def stated_accuracy(path):
    """The accuracy that the log itself states, over its scored samples."""
    if path.suffix == ".json":
        header = json.loads(path.read_text())
    else:
        with zipfile.ZipFile(path) as archive:
            header = json.loads(archive.read("header.json"))
    return header["results"]["scores"][0]["metrics"]["accuracy"]["value"]


def test_there_are_ten_logs():
    assert (len(INSPECT), len(HARNESS)) == (7, 3)


@pytest.mark.parametrize("name", INSPECT)
def test_every_version_of_inspect_is_read(name):
    imported = read_inspect(REAL / name)
    outcomes = imported.outcomes.set_index("item")["outcome"].sort_index()
    assert outcomes.drop("sums/7").fillna(-1).tolist() == [1, 0, 1, 0, 1, -1, 0]
    seventh = outcomes.dropna().get("sums/7")
    assert seventh == SEVENTH.get(name, 0)
    reasons = imported.outcomes.set_index("item")["ungraded"].dropna()
    stopped = ["sums/6"] if seventh is not None else ["sums/6", "sums/7"]
    assert reasons.to_dict() == dict.fromkeys(stopped, "error")
    assert imported.items["digits"].sort_index().tolist() == [1, 2, 3, 4, 5, 6, 7, 8]
    rates = imported.evaluation().success_bounds().loc["mockllm/model"]
    right, ungraded = 3 + (seventh or 0), len(stopped)
    low, high = right / 8, (right + ungraded) / 8
    assert rates.tolist() == [right / (8 - ungraded), low, high, 8 - ungraded, ungraded]
    assert rates["success"] == pytest.approx(stated_accuracy(REAL / name), abs=1e-12)


@pytest.mark.parametrize("name", HARNESS)
def test_every_version_of_the_harness_is_read(name):
    """Outcomes have the mean that the results state, for each filter."""
    [results] = (REAL / name).glob("results_*.json")
    [(task, stated)] = json.loads(results.read_text())["results"].items()
    means = {
        key: value for key, value in stated.items() if key.split(",")[0] in ("acc", "exact_match")
    }
    assert means
    for key, mean in means.items():
        metric, chosen = key.split(",")
        imported = read_lm_eval(REAL / name, metric=metric, filter=chosen)
        assert imported.evaluation().success_rates()["org/counting"] == pytest.approx(mean)
        assert imported.items.loc[f"{task}/2", ["digits", "answer", "meta.even"]].tolist() == [
            3,
            4,
            False,
        ]


def test_lines_of_other_tests_have_the_form_of_the_harness():
    [samples] = (REAL / "lm-eval-0.4.13").glob("samples_*")
    made = line(0, {"exact_match": 1.0}, filter="first")
    for text in samples.read_text().splitlines():
        written = json.loads(text)
        assert set(written) == set(made) == SAMPLE_KEYS | {"exact_match"}
        assert [type(written[key]) for key in made] == [type(value) for value in made.values()]
    [results] = (REAL / "lm-eval-0.4.13").glob("results_*")
    assert set(json.loads(results.read_text())) >= RESULT_KEYS
