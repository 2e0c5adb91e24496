"""Cross-validation of many subjects with few items: seconds, and what the scores are.

Run by hand: ``python tests/benchmarks/prediction.py [--json] [--quick] [--seeds N ...]``. Prints a
table in Markdown, or one JSON object; exit status 1 when a goal is missed. 121 simulated subjects
on 10 items, a fifth of them held out three times: the aggregate, logistic regression and a random
forest, each trained for every subject. The goal is for two idle processors. ``--quick`` takes fewer
subjects: its numbers say only that everything runs.
"""

import argparse
import sys
import time

import numpy as np
import pandas as pd
from lines import Line, at_most
from running import run
from scipy.special import expit

import measurement_layouts as ml

SUBJECTS, ITEMS, REPEATS = 121, 10, 3
SECONDS = 45


def evaluation(subjects: int, seed: int) -> ml.Evaluation:
    """Success by one of three properties."""
    rng = np.random.default_rng(seed)
    items = pd.DataFrame(rng.normal(size=(ITEMS, 3)), columns=list("abc"))
    items.index = pd.Index([f"item-{place:02}" for place in range(ITEMS)])
    chance = expit(rng.normal(size=(subjects, 1)) - items["a"].to_numpy())
    names = [f"sim-{place:03}" for place in range(subjects)]
    outcomes = pd.DataFrame((rng.random(chance.shape) < chance).astype(int), names, items.index)
    return ml.Evaluation.from_wide(outcomes, items)


def measured(options: argparse.Namespace, seed: int) -> list[Line]:
    """Time one cross-validation."""
    subjects, repeats = (4, 1) if options.quick else (SUBJECTS, REPEATS)
    data = evaluation(subjects, seed)
    start = time.perf_counter()
    made = ml.validation.cross_validate(
        ["aggregate", "logistic", "forest"], data, repeats=repeats, seed=seed, progressbar=False
    )
    seconds = time.perf_counter() - start
    case = f"{subjects} subjects, {ITEMS} items, {repeats} repeats: three baselines"
    means = made.summary()["mean"].round(4).to_dict()
    own = f"{seconds:.3g} s; Brier scores {means}"
    return [at_most(case, "seconds", seconds, SECONDS, "s", ours=own)]


def main(arguments: list[str] | None = None) -> int:
    """Measure and report."""
    return run("prediction", __doc__, measured, arguments, quick="subjects and repeats")


if __name__ == "__main__":
    sys.exit(main())
