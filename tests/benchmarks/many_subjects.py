"""Subjects per minute of `ml.fit`, which compiles once, beside compiling for each subject.

Run by hand: ``python tests/benchmarks/many_subjects.py [SUBJECTS]``. All methods sample the same
posteriors of the same simulated subjects with the same chains and draws, in one process and with
all of its processors; a trivial model beforehand warms the compilers up for everybody. Our
compilation is in our time, so that the first ratio grows with the number of subjects, towards the
second.
"""

import logging
import sys
import time
import warnings
from collections.abc import Callable
from contextlib import redirect_stdout
from typing import Any

import numpy as np
import nutpie
import pymc as pm
from arviz_stats.base import array_stats
from report import report
from scipy.stats import norm

import measurement_layouts as ml
from measurement_layouts.scenarios import animal_ai_olympics as aaio
from measurement_layouts.scenarios.figures import Figure

CHAINS, TUNE, DRAWS = 2, 1000, 1000  # as Burden et al. (2023), appendix A.1
OPTIONS = {"chains": CHAINS, "tune": TUNE, "draws": DRAWS}
SEED = 1
FALSE_ALARM = 1e-3  # chance that equal posteriors are told apart, over all comparisons


def by_default(model: pm.Model) -> Any:
    """Sample as `pm.sample` does when nothing is chosen."""
    return pm.sample(model=model, **OPTIONS, random_seed=SEED, progressbar=False)


def by_pymc(model: pm.Model) -> Any:
    """Sample by PyMC's own NUTS."""
    return pm.sample(
        model=model, **OPTIONS, random_seed=SEED, progressbar=False, nuts_sampler="pymc"
    )


def by_nutpie(model: pm.Model) -> Any:
    """Compile and sample by nutpie."""
    compiled = nutpie.compile_pymc_model(model)
    return nutpie.sample(compiled, **OPTIONS, seed=SEED, progress_bar=False)


OURS, AGAIN = "ml.fit", "ml.fit, the layout compiled already"
RIVALS: dict[str, Callable[[pm.Model], Any]] = {
    "a loop of pm.sample with its defaults": by_default,
    "a loop of pm.sample with PyMC's own NUTS": by_pymc,
    "a loop of nutpie, compiled anew": by_nutpie,
}


def moments(draws: np.ndarray) -> tuple[float, float]:
    """Posterior mean and its Monte Carlo standard error, from (chain, draw)."""
    return float(draws.mean()), float(array_stats.mcse(draws))


def compare(count: int) -> tuple[dict[str, float], dict[str, list[float]]]:
    """Seconds of every method, and distances of its means from ours in standard errors."""
    layout, evaluation = aaio.published_layout(), aaio.simulated_cohort().evaluation
    everybody = evaluation.subjects
    chosen = [everybody[place] for place in np.linspace(5, 60, count, dtype=int)]
    nodes = [latent.name for latent in layout.latents]
    with pm.Model() as trivial:
        pm.Normal("x")
    for sample in RIVALS.values():
        sample(trivial)

    seconds = {}
    for name in (OURS, AGAIN):
        start = time.perf_counter()
        fit = ml.fit(layout, evaluation, subjects=chosen, seed=SEED, progressbar=False, **OPTIONS)
        seconds[name] = time.perf_counter() - start
    seconds |= dict.fromkeys(RIVALS, 0.0)
    distances: dict[str, list[float]] = {name: [] for name in RIVALS}
    for subject in chosen:
        for name, sample in RIVALS.items():
            start = time.perf_counter()
            trace = sample(ml.to_pymc(layout, evaluation, subject))
            seconds[name] += time.perf_counter() - start
            for node in nodes:
                mean, error = moments(trace["posterior"][node].to_numpy())
                own, own_error = moments(fit.posterior[node].sel(subject=subject).to_numpy())
                distances[name].append(abs(mean - own) / np.hypot(error, own_error))
    return seconds, distances


def main(count: int = 4) -> int:
    """Measure and report."""
    start = time.perf_counter()
    logging.getLogger("pymc").setLevel(logging.ERROR)
    with warnings.catch_warnings(), redirect_stdout(sys.stderr):
        warnings.simplefilter("ignore")
        seconds, distances = compare(count)
    comparisons = sum(map(len, distances.values()))
    limit = float(norm.isf(FALSE_ALARM / comparisons / 2))
    rate = {name: 60 * count / taken for name, taken in seconds.items()}
    fastest = max(rate[name] for name in RIVALS)
    figures = [
        Figure(f"subjects per minute, {name}", None, rate[name], ">", fastest, "above every loop's")
        for name in (OURS, AGAIN)
    ]
    for name in RIVALS:
        figures += [
            Figure(f"subjects per minute, {name}", None, rate[name], "<", rate[OURS], "below ours"),
            Figure(f"ours over {name}", None, rate[OURS] / rate[name], ">", 1, "above 1"),
            Figure(
                f"ours over {name}, the layout compiled already",
                None,
                rate[AGAIN] / rate[name],
                ">",
                1,
                "above 1",
            ),
            Figure(
                f"largest distance of posterior means from {name}, in Monte Carlo standard errors",
                None,
                max(distances[name]),
                "<",
                limit,
                f"under {limit:.2f}: false alarm in {FALSE_ALARM:.1%} of runs",
            ),
        ]
    return report(f"{count} subjects", time.perf_counter() - start, figures)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
