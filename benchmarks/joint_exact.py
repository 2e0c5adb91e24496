"""Joint posteriors of small and large cohorts, against quadrature, PyMC by hand and a reference.

Run by hand: ``python benchmarks/joint_exact.py [--json] [--case NAME ...] [--data DIR]
[--beside FOLDER] [--seeds N ...] [--quick]``. Prints a table in Markdown, or one JSON object; exit
status 1 when a goal is missed. ``--beside`` names another checkout with a ``.venv`` of its own, in
which the same large cohorts are fitted for the rows of effective draws. ``--quick`` takes few
simulations and one seed of the cohorts: its numbers say only that everything runs.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from battery_cases import DATA
from lines import Line, at_least, at_most, failed, reported
from population_data import COHORTS
from population_layouts import LAYOUTS
from running import run
from scipy.stats import kstest

import measurement_layouts as ml

PROGRAM = Path(__file__).resolve()
sys.path.insert(0, str(PROGRAM.parents[1] / "tests"))
from helpers import joint_references as references  # noqa: E402

LARGE = ("exam", "gsm8k", "adele", "fractions")
MIXING = {"ok", "few draws", "few divergences"}
FULL = {"draws": 1000, "tune": 1000, "chains": 4}


def exact_cohorts(chosen: argparse.Namespace, _: int) -> Iterator[Line]:
    """Fit small cohorts by the default call, with and without effects of items."""
    seeds = range(1 if chosen.quick else 3)
    distances, status = list[tuple[float, str]](), []
    for subjects, with_items in product((2, 3, 8, 20), (False, True)):
        reference = references.by_hand if with_items else references.by_quadrature
        for trials, seed in product((1, 12, 300), seeds):
            name = f"{subjects} x {trials}, seed {seed}{', items' * with_items}"
            outcomes = references.drawn(subjects, trials, with_items, seed)
            evaluation = references.evaluation(*outcomes)
            fit = ml.fit(references.layout(with_items), evaluation, seed=seed, progressbar=False)
            status.append(str(fit.diagnostics()["status"].iloc[0]))
            if status[-1] not in MIXING:
                print(f"{name}: {fit.diagnostics()['reason'].iloc[0]}", file=sys.stderr)
            ours = references.summary(references.quantities(fit), subjects)
            theirs = reference(*outcomes)
            for quantity, (value, error) in ours.items():
                exact, exact_error = theirs[quantity]
                distance = abs(value - exact) / np.hypot(error, exact_error)
                distances.append((float(distance), f"{quantity}, {name}"))
    largest, where = max(distances)
    case = f"{len(status)} small cohorts"
    counts = ", ".join(f"{kind}: {status.count(kind)}" for kind in sorted(set(status)))
    yield at_most(
        case,
        f"largest of {len(distances)} distances",
        largest,
        4,
        "combined Monte Carlo errors",
        ours=where,
    )
    unlike = sum(kind not in MIXING for kind in status)
    yield at_most(case, "fits of another status", unlike, 0, "", ours=counts)


def calibration(chosen: argparse.Namespace, seed: int) -> Iterator[Line]:
    """Rank true values in the posterior of simulated cohorts, and in a truncated one."""
    count = 20 if chosen.quick else 200
    for subjects, trials in ((4, 12), (10, 300), (30, 12)):
        ranks = references.ranks(subjects, trials, count, seed, references.fitted)
        yield from _uniform(f"calibration, {subjects} subjects", ranks, least=0.005)
    twin = references.ranks(10, 300, count, seed, references.truncated_and_latticed)
    worst = min(kstest(values, "uniform").pvalue for values in twin.values())
    what = "smallest p of uniform ranks"
    yield at_most("calibration, truncated and latticed twin, 10 x 300", what, worst, 0.005, "")


def _uniform(case: str, ranks: Mapping[str, np.ndarray], least: float) -> Iterator[Line]:
    for quantity, values in ranks.items():
        probability = float(kstest(values, "uniform").pvalue)
        what = f"{quantity}: p of uniform ranks, {len(values)} simulations"
        yield at_least(case, what, probability, least / len(ranks), "")


def new_subject(chosen: argparse.Namespace, _: int) -> Iterator[Line]:
    """Forecast a new subject of 10 with 300 trials each."""
    distances, ours = [], []
    for seed in (5, 7):
        outcomes = references.drawn(10, 300, False, seed)
        evaluation = references.evaluation(*outcomes)
        fit = ml.fit(references.layout(False), evaluation, seed=1, progressbar=False)
        there = fit.forecast(evaluation.items, subjects=pd.DataFrame(index=["new"])).data
        interval = np.array([there["low"].item(), there["high"].item()])
        exact = references.Quadrature(*outcomes).of_a_new_subject()
        distances.append(np.abs(interval - exact).max())
        ours.append(f"[{interval[0]:.3f}, {interval[1]:.3f}] ([{exact[0]:.3f}, {exact[1]:.3f}])")
    what = "ends of the 90 % interval of success, from quadrature"
    yield at_most("new subject, 10 x 300", what, max(distances), 0.02, "", ours="; ".join(ours))


def reference_1pl(chosen: argparse.Namespace, seed: int) -> Iterator[Line]:
    """Fit 400 students and 100 questions whose posterior others have computed."""
    folder = Path(os.environ[DATA]) / "inference_gym_1pl"
    values, status = references.of_one_parameter(folder, seed)
    what = f"largest of {2 * len(values)} distances of means and standard deviations"
    largest = values[["mean_distance", "sd_distance"]].to_numpy().max()
    case = "1PL of inference_gym"
    yield at_most(case, what, largest, 4.5, "Monte Carlo errors", ours=status)
    least = values.loc["mean", "effective"]
    yield at_least(case, "effective draws of the mean", least, 2000, "")
    yield at_least(case, "is ok", float(status == "ok"), 1, "")


def large(name: str, chosen: argparse.Namespace, seed: int) -> Iterator[Line]:
    """Fit a real cohort at full size, here and in another checkout."""
    here = _fitted_by(PROGRAM.parents[1], name, seed)
    case = f"{name}, 4 x 1,000, seconds of processor time"
    told = "{effective:.0f} in {seconds:.1f} s, {status}".format_map
    what = f"least effective draws of shared values (worst: {here['worst']})"
    yield at_least(case, what, here["effective"], 400, "", ours=told(here))
    if chosen.beside is None:
        return
    there = _fitted_by(chosen.beside.resolve(), name, seed)
    ratio = here["effective"] / here["seconds"] / (there["effective"] / there["seconds"])
    what = f"effective draws per second, beside {told(there)}"
    yield at_least(case, what, ratio, 0.5, "times", ours=told(here))


def _fitted_by(folder: Path, name: str, seed: int) -> dict:
    """Fit a large cohort by the code of a checkout, in a process of its own."""
    python = folder / ".venv" / "bin" / "python"
    command = [python, PROGRAM, "--fit", name, "--seeds", str(seed)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def fit_large(name: str, seed: int) -> dict:
    """Fit a real cohort; processor seconds include the choice of the form and compilation."""
    layout, evaluation = LAYOUTS[name](), COHORTS[name]().evaluation
    start = time.process_time()
    fit = ml.fit(layout, evaluation, seed=seed, progressbar=False, reruns=0, **FULL)
    seconds = time.process_time() - start
    effective = dict(_effective_draws(fit))
    worst = min(effective, key=effective.get)
    status = str(fit.diagnostics()["status"].iloc[0])
    return {
        "effective": effective[worst],
        "worst": worst,
        "seconds": seconds,
        "status": status,
    }


def _effective_draws(fit: ml.Fit) -> Iterator[tuple[str, float]]:
    """Yield the effective draws of each value without a subject, least of bulk and tail."""
    for latent in fit.layout.latents:
        draws = fit.posterior[latent.name]
        if "subject" in draws.dims:
            continue
        draws = draws.transpose("chain", "draw", ...).to_numpy()
        for at, values in enumerate(np.moveaxis(draws.reshape(*draws.shape[:2], -1), -1, 0)):
            yield f"{latent.name}[{at}]", references.effective(values)


CASES: dict[str, Callable[[argparse.Namespace, int], Iterator[Line]]] = {
    "cohorts": exact_cohorts,
    "calibration": calibration,
    "new-subject": new_subject,
    "1pl": reference_1pl,
    **{
        f"draws-{name}": lambda chosen, seed, name=name: large(name, chosen, seed) for name in LARGE
    },
}


def measure(chosen: argparse.Namespace, seed: int) -> Iterator[Line]:
    """Measure the cases that were asked for."""
    for name in chosen.case or CASES:
        start = time.perf_counter()
        try:
            yield from CASES[name](chosen, seed)
        except Exception as error:
            print(f"{name}: {error!r}", file=sys.stderr)
            yield failed(name)
        seconds = time.perf_counter() - start
        yield reported(name, "seconds in all", seconds, f"{seconds:.0f} s")


OPTIONS = {
    "--case": {"nargs": "+", "choices": list(CASES), "metavar": "NAME", "help": ", ".join(CASES)},
    "--beside": {"type": Path, "metavar": "FOLDER", "help": "another checkout, with a .venv"},
    "--fit": {"choices": LARGE, "help": argparse.SUPPRESS},
}


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmark, or fit one large cohort for it."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if "--fit" in arguments:
        name, seed = arguments[1], int(arguments[3])
        print(json.dumps(fit_large(name, seed)))
        return 0
    return run(
        "joint-exact", __doc__, measure, arguments, quick="simulations", data=True, options=OPTIONS
    )


if __name__ == "__main__":
    sys.exit(main())
