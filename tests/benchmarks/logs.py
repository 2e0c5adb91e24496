"""Seconds to read evaluation logs: 10,000 samples of each tool, and as many rows of a table.

Run by hand: ``python tests/benchmarks/logs.py [--json] [--quick] [--seeds N ...]``. Prints a table
in Markdown, or one JSON object; exit status 1 when a goal is missed. The logs are written
beforehand, the one of Inspect by Inspect's own writer. ``--quick`` takes fewer samples: its numbers
say only that everything runs.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
from inspect_ai.log import EvalConfig, EvalDataset, EvalLog, EvalSample, EvalSpec, write_eval_log
from inspect_ai.model import ChatMessageAssistant, ChatMessageUser, ModelOutput
from inspect_ai.scorer import Score
from lines import Agreement, Line, at_most, in_words
from running import run

from measurement_layouts.evaluations.logs.imported import Imported
from measurement_layouts.evaluations.logs.inspect_logs import read_inspect
from measurement_layouts.evaluations.logs.lm_eval import read_lm_eval
from measurement_layouts.evaluations.logs.table import read_table

SAMPLES, MOST = 10_000, 30  # seconds
TEXT = "A train leaves at nine and another at ten; when do they meet? " * 8

type Outcomes = np.ndarray


def inspect(path: Path, right: Outcomes) -> Path:
    """Write a log of Inspect, with questions and answers of some length."""
    samples = [
        EvalSample(
            id=number,
            epoch=1,
            input=TEXT,
            target="11",
            messages=[ChatMessageUser(content=TEXT), ChatMessageAssistant(content=TEXT)],
            output=ModelOutput.from_content("tiny", TEXT),
            scores={"match": Score(value="C" if found else "I", answer=TEXT)},
            metadata={"digits": number % 7, "inner": {"carry": number % 3}},
        )
        for number, found in enumerate(right)
    ]
    return write_inspect(path, samples)


def write_inspect(path: Path, samples: list[EvalSample]) -> Path:
    """Write samples as a log of Inspect."""
    spec = EvalSpec(
        created="2026-01-31T12:00:00+00:00",
        task="sums",
        model="tiny",
        dataset=EvalDataset(),
        config=EvalConfig(),
    )
    write_eval_log(EvalLog(eval=spec, status="success", samples=samples), path)
    return path


def lm_eval(path: Path, right: Outcomes) -> Path:
    """Write lines as the lm-evaluation-harness does."""
    with path.open("w") as file:
        for number, found in enumerate(right):
            line = {
                "doc_id": number,
                "doc": {"question": TEXT, "digits": number % 7, "inner": {"carry": number % 3}},
                "resps": [[TEXT]],
                "filtered_resps": ["11"],
                "filter": "none",
                "metrics": ["exact_match"],
                "doc_hash": str(number),
                "exact_match": float(found),
            }
            file.write(json.dumps(line) + "\n")
    return path


def table(path: Path, right: Outcomes) -> Path:
    """Write a long table as CSV."""
    rows = pd.DataFrame({"subject": "tiny", "item": np.arange(len(right)), "outcome": right})
    rows.assign(question=TEXT, digits=rows["item"] % 7).to_csv(path, index=False)
    return path


CASES: dict[str, tuple[str, Callable[[Path, Outcomes], Path], Callable[[Path], Imported]]] = {
    "Inspect, .eval": ("sums.eval", inspect, read_inspect),
    "Inspect, .json": ("sums.json", inspect, read_inspect),
    "lm-evaluation-harness": ("samples_sums.jsonl", lm_eval, read_lm_eval),
    "table, .csv": ("sums.csv", table, read_table),
}


def measure(case: str, folder: Path, right: Outcomes) -> Line:
    """Time from the file to an Evaluation, and compare its outcomes with those written."""
    name, write, read = CASES[case]
    path = write(folder / name, right)
    start = time.perf_counter()
    evaluation = read(path).evaluation()
    seconds = time.perf_counter() - start
    wrong = float((evaluation.successes.to_numpy()[0] != right).sum())
    answers = Agreement("outcomes, wrong ones", wrong, 0.5, len(right), "outcomes")
    what = f"seconds of {len(right):,} samples"
    return at_most(case, what, seconds, MOST, "s", answers=answers, ours=in_words(seconds))


def main(arguments: list[str] | None = None) -> int:
    """Measure and report."""

    def measured(options: argparse.Namespace, seed: int) -> list[Line]:
        right = np.random.default_rng(seed).integers(0, 2, 100 if options.quick else SAMPLES)
        with TemporaryDirectory() as folder:
            return [measure(case, Path(folder), right) for case in CASES]

    return run("logs", __doc__, measured, arguments, quick="samples")


if __name__ == "__main__":
    sys.exit(main())
