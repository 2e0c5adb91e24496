"""From real logs of Inspect to a report in three commands."""

import gc
import re
import warnings

import numpy as np
import pandas as pd
import pytest

from measurement_layouts.command import main

inspect_ai = pytest.importorskip("inspect_ai")

LAYOUT = """
import measurement_layouts as ml
from measurement_layouts.linking import logistic, mixture

digits = ml.MetaFeature("digits", low=1, high=12, unit="digit")
addition = ml.Capability("addition", low=0, high=12, unit="digit")
added = mixture(logistic(addition - digits), by=ml.Noise("noise"), toward=0.5)
layout = ml.Layout("addition", ml.Success("correct", added))
"""
MODELS = {"small": 3.0, "large": 9.0}
"""Digits that a model adds in half of the cases."""
SAMPLES = 120


def answers(able, rng):
    """A model that adds well as long as the numbers are short."""
    from inspect_ai.model import ModelOutput, ModelUsage

    def answer(messages, *_):
        left, right = re.findall(r"\d+", messages[-1].text)
        right_one = rng.random() < 1 / (1 + np.exp(len(left) - able))
        total = int(left) + int(right)
        said = ModelOutput.from_content("mock", str(total if right_one else total + 1))
        said.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return said

    return answer


@pytest.fixture
def logs(tmp_path):
    """A log per model, as Inspect itself writes it."""
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import get_model
    from inspect_ai.scorer import match

    rng = np.random.default_rng(1)
    samples = []
    for place in range(SAMPLES):
        digits = 1 + place % 12
        left, right = (int(rng.integers(10 ** (digits - 1), 10**digits)) for _ in range(2))
        metadata = {"digits": digits, "even": left % 2 == 0}
        asked = f"What is {left} + {right}?"
        samples.append(Sample(input=asked, target=str(left + right), id=place, metadata=metadata))
    task = inspect_ai.Task(MemoryDataset(samples), scorer=match(), name="sums")
    for name, able in MODELS.items():
        answer = answers(able, rng)
        model = get_model(f"mockllm/{name}", custom_outputs=answer, memoize=False)
        options = {"display": "none", "score_display": False, "log_realtime": False}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the tool's own, of its own packages
            (log,) = inspect_ai.eval(task, model=model, log_dir=str(tmp_path / "logs"), **options)
            gc.collect()
        assert log.status == "success"
    return tmp_path / "logs"


@pytest.mark.slow
def test_logs_to_a_report(logs, tmp_path, capsys):
    (tmp_path / "layout.py").write_text(LAYOUT, encoding="utf-8")
    data, fitted, page = (tmp_path / name for name in ("data", "fitted", "report.html"))
    tables = ["--items", f"{data}/items.csv", "--outcomes", f"{data}/outcomes.csv"]
    capsys.readouterr()
    assert main(["import", "inspect", str(logs), "--out", str(data)]) == 0
    assert main(["fit", f"{tmp_path}/layout.py", *tables, "--out", str(fitted)]) == 0
    assert main(["report", str(fitted), "--out", str(page)]) == 0

    profiles = pd.read_csv(fitted / "profiles.csv").set_index(["subject", "node"])
    for name, able in MODELS.items():
        found = profiles.loc[(f"mockllm/{name}", "addition")]
        assert abs(found["mean"] - able) < 4 * found["sd"]  # one in 16,000 by chance
        assert found["sd"] < 1
    text = page.read_text(encoding="utf-8")
    for word in ("mockllm/small", "mockllm/large", "addition", "even"):
        assert word in text
