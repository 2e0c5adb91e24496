"""Seconds and peak memory of a large evaluation of few attempts: read, rates, check, save, load.

Outcomes are simulated: 10,000 subjects, 100,000 items and a million answers, a thousandth of all
pairs. Files are of the data of a joint fit with few draws, which are zeros.

Run: python benchmarks/sparse.py [--subjects N] [--items N] [--answers N]
"""

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

import measurement_layouts as ml
from measurement_layouts.evaluations import read_table
from measurement_layouts.inference.fit import Fit
from measurement_layouts.inference.model.cohort import Cohort
from measurement_layouts.inference.posterior.assembly import marks
from measurement_layouts.inference.posterior.posterior import observed_data
from measurement_layouts.inference.sampling.draws import SamplingOptions
from measurement_layouts.linking import logistic


def layout() -> ml.Layout:
    """Return a layout of abilities with a common mean and spread."""
    prior = ml.Prior("Normal", mu=ml.Bias("mean", per="population"), sigma=ml.Spread("spread"))
    return ml.Layout("answers", ml.Success("right", logistic(ml.Capability("skill", prior=prior))))


def fitted(evaluation: ml.Evaluation) -> Fit:
    """Return a fit of the evaluation whose draws are zeros."""
    model, names = layout(), {"chain": [0, 1], "draw": np.arange(10)}
    skill = (("chain", "draw", "subject"), np.zeros((2, 10, len(evaluation.subjects))))
    diverging = (("chain", "draw"), np.zeros((2, 10), dtype=bool))
    shared = dict.fromkeys(("mean", "spread"), (("chain", "draw"), np.zeros((2, 10))))
    prior = {name: (("chain", "draw"), np.zeros((1, 10))) for name in ("mean", "spread", "skill")}
    who, items = {"subject": evaluation.subjects}, {"item": list(evaluation.items.index)}
    groups = {
        "posterior": xr.Dataset({"skill": skill, **shared}, {**who, **names}),
        "sample_stats": xr.Dataset({"diverging": diverging}, names),
        "prior": xr.Dataset(prior),
        "observed_data": observed_data(evaluation.coded, who["subject"], items["item"]),
        "constant_data": xr.Dataset({}, {**who, **items}),
    }
    tree = xr.DataTree.from_dict(groups)
    empty = {"failures": json.dumps({}), "attempts": json.dumps({})}
    tree.attrs = marks(model, SamplingOptions(), 1, "nuts") | empty
    return Fit(model, tree, {})


def measured(what: str, call: Callable[[], Any]) -> Any:
    """Call a function, and print its seconds and the peak of memory meanwhile."""
    Path("/proc/self/clear_refs").write_text("5")  # forgets the peak until now
    started = time.perf_counter(), time.process_time()
    result = call()
    wall, busy = time.perf_counter() - started[0], time.process_time() - started[1]
    status = Path("/proc/self/status").read_text()
    peak = int(status.split("VmHWM:")[1].split()[0]) / 1024
    print(f"{what:12} {wall:6.1f} s  {busy:6.1f} s of processor  {peak:6.0f} MiB", flush=True)
    return result


def main() -> None:
    """Measure each step in turn."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in (("subjects", 10_000), ("items", 100_000), ("answers", 1_000_000)):
        parser.add_argument(f"--{name}", type=int, default=default)
    sizes = parser.parse_args()
    rng = np.random.default_rng(1)
    rows = pd.DataFrame(
        {
            "subject": rng.integers(0, sizes.subjects, sizes.answers),
            "item": rng.integers(0, sizes.items, sizes.answers),
        }
    )
    rows["outcome"] = rng.integers(0, 2, len(rows))
    with tempfile.TemporaryDirectory() as folder:
        answers, saved = Path(folder) / "answers.csv", Path(folder) / "fit.nc"
        rows.to_csv(answers, index=False)
        del rows
        imported = measured("read", lambda: read_table(answers))
        evaluation = measured("evaluation", imported.evaluation)
        del imported
        measured("rates", evaluation.success_rates)
        measured("group rates", evaluation.group_rates)
        measured("select", lambda: evaluation.select(subjects=evaluation.subjects[::2]))
        measured("join", lambda: evaluation + evaluation)
        measured("cohort", lambda: Cohort.of_evaluation(layout(), evaluation))
        measured("check", lambda: ml.check(layout(), evaluation))
        fit = measured("fit's data", lambda: fitted(evaluation))
        measured("save", lambda: fit.save(saved))
        measured("load", lambda: ml.load(saved).coded)


if __name__ == "__main__":
    main()
