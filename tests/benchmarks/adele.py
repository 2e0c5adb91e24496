"""Eighteen demands at the published size: minutes, memory, and what converges.

Run by hand: ``python tests/benchmarks/adele.py [--json] [--quick] [--seeds N ...] [--data DIR]``.
Prints a table in Markdown, or one JSON object; exit status 1 when a goal is missed. Fits are of
fifteen subjects on 16,108 simulated items; the assessors are compared on the 3,328 real ones where
MEASUREMENT_LAYOUTS_DATA names them, otherwise on as many simulated ones. Nothing is compiled
beforehand. ``--quick`` takes fewer subjects and items: its numbers say only that everything runs.
Memory is read as Linux counts it. What a gradient costs beside PyMC's is a case of ``engine.py``.
"""

import argparse
import os
import sys
import tempfile
import time

import processes
from battery_cases import DATA
from lines import Line, at_most
from running import run

import measurement_layouts as ml
from measurement_layouts.common.messages import many
from measurement_layouts.scenarios.adele import data
from measurement_layouts.scenarios.adele.battery import ITEMS, simulated_cohort
from measurement_layouts.scenarios.adele.layouts import (
    additive_layout,
    capability_layout,
    with_places,
)
from measurement_layouts.scenarios.adele.reproduction.estimates import COLUMNS
from measurement_layouts.scenarios.adele.scales import DEMANDS

SAMPLING = {"draws": 500, "tune": 500, "chains": 2, "reruns": 0}
FOLDS, LABELLED = 10, 3_328
SUBJECT = "GPT-4o"
GIB = 2**30


def assessors(quick: bool, seed: int) -> list[Line]:
    """One subject's table of assessors, by cross-validation."""
    real = bool(os.environ.get(DATA)) and not quick
    items = 400 if quick else LABELLED
    everybody = data.load() if real else simulated_cohort(seed, items).evaluation
    evaluation, places = with_places(everybody.select(subjects=[SUBJECT]))
    columns = [*COLUMNS, "unguessability"]
    methods = {
        "forest": ml.validation.Forest(columns),
        "regression": ml.validation.Regression(columns),
        "algebraic": ml.validation.Algebraic(COLUMNS, "unguessability"),
        "additive layout": additive_layout(places),
    }
    start, busy = time.perf_counter(), time.process_time()
    held_out = ml.validation.Items(folds=FOLDS)
    found = ml.validation.cross_validate(
        methods, evaluation, split=held_out, seed=seed, progressbar=False
    )
    summary = found.differences()
    seconds = time.perf_counter() - start
    worked = time.process_time() - busy
    areas = ", ".join(f"{name} {area:.2f}" for name, area in summary["auroc"].items())
    kind = "real" if real else "simulated"
    case = f"1 subject, {len(evaluation.items):,} {kind} items, {FOLDS} folds: 4 assessors"
    print(f"{case}: {seconds:.3g} s, {worked:.3g} of processors", file=sys.stderr)
    own = f"{seconds:.3g} s; AUROC of {areas}"
    return [at_most(case, "seconds", seconds, 60, "s", ours=own)]


def fits(quick: bool, seed: int) -> list[Line]:
    """Everybody's profile by both layouts, from compilation to the diagnostics."""
    cohort = simulated_cohort(seed, 800 if quick else ITEMS)
    evaluation, places = with_places(cohort.evaluation, "benchmark")
    if quick:
        evaluation = evaluation.select(subjects=[SUBJECT])
    layouts = {
        "abilities, all needed": capability_layout(),
        "demands add up, a shift per benchmark": additive_layout(places),
    }
    return [
        line for name, layout in layouts.items() for line in fitted(name, layout, evaluation, seed)
    ]


def fitted(name: str, layout: ml.Layout, evaluation: ml.Evaluation, seed: int) -> list[Line]:
    """Fit one layout; its minutes, the peak of memory, and how far chains agree."""
    processes.forget_peak()
    start, busy = time.perf_counter(), time.process_time()
    fit = ml.fit(layout, evaluation, seed=seed, progressbar=False, **SAMPLING)
    diagnostics = fit.diagnostics()
    minutes = (time.perf_counter() - start) / 60
    worked = (time.process_time() - busy) / 60
    gibibytes = processes.peak() / GIB
    count = len(evaluation.subjects)
    who = many(count, "subject")
    case = f"{who}, {len(evaluation.items):,} items, {len(DEMANDS)} demands: {name}"
    spent = f"{minutes:.3g} min, {worked:.3g} of processors"
    settled = f"{(diagnostics['status'] == 'ok').sum()} of {count} converged at once"
    reached = f"ESS from {diagnostics['ess'].min():.0f} on"
    print(f"{case}: {spent}; {settled}", file=sys.stderr)
    rhat = diagnostics["rhat"].max()
    return [
        at_most(case, "minutes", minutes, 10, "min", ours=spent),
        at_most(case, "peak of the process", gibibytes, 2, "GiB"),
        at_most(
            case, "the worst chains", rhat, 1.1, "R-hat", ours=f"{rhat:.3f}; {settled}; {reached}"
        ),
    ]


def main(arguments: list[str] | None = None) -> int:
    """Measure and report."""

    def measure(options: argparse.Namespace, seed: int) -> list[Line]:
        with tempfile.TemporaryDirectory() as folder:
            os.environ |= processes.caches(folder)
            return [*assessors(options.quick, seed), *fits(options.quick, seed)]

    return run("adele", __doc__, measure, arguments, quick="subjects and items", data=True)


if __name__ == "__main__":
    sys.exit(main())
