"""A crossed model of 73,421 ratings of lecturers by students: values, time and memory.

    python benchmarks/ratings.py [--draws 1000] [--seed 1] [--data ../shared/data]

The data are InstEval of the R package lme4 (Bates et al. 2015), as ratings of at least 4 of 5. The
values beside those of the fit are maximum likelihood estimates of lme4's glmer. Memory is the
largest resident size of the process, in MiB, after the fit, after leave-one-out by cell and after
criticism. Seconds are of the processor.
"""

import argparse
import os
import resource
import time
from pathlib import Path

import pandas as pd

import measurement_layouts as ml
from measurement_layouts.linking import logistic

LME4 = {"mean": -0.160, "serviceEffect": -0.136, "studentSpread": 0.476, "lecturerSpread": 0.796}


def layout() -> ml.Layout:
    """Return a layout of generous students and of lecturers, with an effect of service courses."""

    def normal(mean: object, spread: object) -> ml.Prior:
        return ml.Prior("Normal", mu=mean, sigma=spread)

    mean = ml.Bias("mean", per="population", prior=normal(0, 2))
    students = normal(mean, ml.Spread("studentSpread"))
    effect = ml.Bias("serviceEffect", per="population", prior=normal(0, 2))
    lecturers = normal(0, ml.Spread("lecturerSpread"))
    lecturer = ml.Bias("lecturerEffect", per=ml.Category("lecturer"), prior=lecturers)
    service = ml.MetaFeature("service", low=0, high=1)
    generosity = ml.Capability("generosity", prior=students)
    return ml.Layout(
        "ratings", ml.Success("good", logistic(generosity + effect * service + lecturer))
    )


def ratings(folder: Path) -> ml.Evaluation:
    """Read the ratings; an item is a lecturer, in a service course or in another one."""
    rows = pd.read_csv(folder / "insteval" / "ratings.csv", dtype={"student": str, "lecturer": str})
    rows["item"] = rows["lecturer"] + "_" + rows["service"].astype(str)
    rows["good"] = (rows["rating"] >= 4).astype(int)
    items = rows.drop_duplicates("item").set_index("item")[["lecturer", "service"]]
    outcomes = rows[["student", "item", "good"]]
    items = items.astype({"service": float})
    return ml.Evaluation.from_long(outcomes, items, subject="student", outcome="good")


def main() -> None:
    """Fit the ratings, and print values, effective draws and memory."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    data = os.environ.get("MEASUREMENT_LAYOUTS_DATA", "../shared/data")
    parser.add_argument("--data", type=Path, default=Path(data))
    chosen = parser.parse_args()
    options = {"draws": chosen.draws, "tune": chosen.draws, "chains": 4, "progressbar": False}
    evaluation = ratings(chosen.data)
    fit = ml.fit(layout(), evaluation, seed=chosen.seed, **options)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    table = fit.population().set_index("node")
    for node, value in LME4.items():
        row = table.loc[node]
        print(
            f"{node}: {row['mean']:.3f} (lme4 {value:.3f}), effective draws {row['ess_bulk']:.0f} "
            f"(bulk), {row['ess_tail']:.0f} (tail)"
        )
    print(f"status: {', '.join(sorted(set(fit.diagnostics()['status'])))}; peak {peak} MiB")
    for name, judge in (
        ("leave-one-out", lambda: ml.validation.loo(fit, progressbar=False)),
        ("criticism", lambda: ml.validation.criticise(fit, evaluation, progressbar=False)),
    ):
        started = time.process_time()
        result = judge()
        seconds = time.process_time() - started
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        print(
            f"{name}: {repr(result).splitlines()[0]}; {seconds:.0f} s, peak {peak} MiB", flush=True
        )


if __name__ == "__main__":
    main()
