"""Something unseen of the items: what a gradient and a fit cost beside the plain model.

Run by hand: ``python tests/benchmarks/unseen.py [--json] [--quick] [--seeds N ...]``. Prints a
table in Markdown, or one JSON object; exit status 1 when a goal is missed. Four subjects on 2,357
simulated items, each with a stance that ten others voted on. The plain model is a mixture of
binomials, compiled by nutpie. ``--quick`` takes fewer items: its numbers say only that everything
runs.
"""

import argparse
import sys
import time

import log_density
import numpy as np
import pandas as pd
from gradient_cases import densities_agree
from lines import Line, at_most, times_faster
from running import run

import measurement_layouts as ml
from measurement_layouts.linking import logistic, total

ITEMS, VOTERS, TRIALS = 2_357, 10, 20
TRAITS = ("a", "b", "c", "d")
MEANS, SPREAD = np.array([-0.5, 0.0, 0.2, -0.3]), 2.0
SAMPLING = {"draws": 500, "tune": 500, "chains": 2, "reruns": 0}
PROFILES = pd.DataFrame(
    {
        "slope": [2.5, 1.0, 0.5, 1.5],
        "noise": [0.3, 0.05, 0.1, 0.6],
        **{f"disposition[{trait}]": np.linspace(-1, 1, 4) for trait in TRAITS},
    },
    index=["Ann", "Bob", "Cyd", "Dot"],
)


def layout() -> ml.Layout:
    """Stances with a slope, votes and noise, and a disposition for each of four traits."""
    votes = [ml.MetaFeature(name, low=0, high=VOTERS) for name in ("votesFor", "votesAgainst")]
    pull = ml.MetaFeature("commonPull", low=-6, high=6)
    trait = ml.MetaFeature("trait", levels=(0, 1), labels=TRAITS, dim="trait kind")
    disposition = ml.Bias(
        "disposition", labels=TRAITS, dim="trait kind", prior=ml.Prior("Normal", mu=0, sigma=2)
    )
    stance = ml.Unseen("stance", pull, SPREAD, *votes, ml.Noise("noise"))
    margin = ml.Slope("slope") * stance + total(disposition * trait, over="trait kind")
    return ml.Layout("dispositions", ml.Success("choice", logistic(margin)))


def cohort(items: int, seed: int) -> ml.Evaluation:
    """Votes are drawn, and four subjects choose 20 times on each item."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, len(TRAITS), items)
    stance = rng.normal(MEANS[kind], SPREAD)
    yes = rng.binomial(VOTERS, 1 / (1 + np.exp(-stance)))
    columns = {f"trait[{trait}]": kind == place for place, trait in enumerate(TRAITS)}
    table = pd.DataFrame(columns).astype(float).rename("item-{}".format)
    table = table.assign(votesFor=yes, votesAgainst=VOTERS - yes, commonPull=MEANS[kind])
    return ml.simulate(layout(), table, PROFILES, seed=seed, trials=TRIALS)


def gradients(evaluation: ml.Evaluation) -> Line:
    """One subject's log-density and gradient against the plain model's."""
    who = layout(), evaluation, evaluation.subjects[0]
    own, other = log_density.ours(*who), log_density.plain(*who)
    times = log_density.microseconds([own, other], rounds=5)
    ours, theirs = np.median(times, axis=0) * 1e-6
    return times_faster(
        f"{len(evaluation.items):,} items with something unseen, log-density and gradient",
        "the plain mixture, compiled by nutpie",
        ours=ours,
        theirs=theirs,
        least=15,
        answers=densities_agree(own, other),
        ratio=log_density.ratio(times),
    )


def fits(evaluation: ml.Evaluation, seed: int) -> Line:
    """Everybody's profile, compilation included."""
    start = time.perf_counter()
    found = ml.fit(layout(), evaluation, seed=seed, progressbar=False, **SAMPLING)
    each = (time.perf_counter() - start) / len(found.subjects)
    case = f"{len(found.subjects)} subjects, {len(evaluation.items):,} items with something unseen"
    return at_most(case, "seconds of a subject", each, 60, "s")


def main(arguments: list[str] | None = None) -> int:
    """Measure and report."""

    def measure(options: argparse.Namespace, seed: int) -> list[Line]:
        evaluation = cohort(200 if options.quick else ITEMS, seed)
        return [gradients(evaluation), fits(evaluation, seed)]

    return run("unseen", __doc__, measure, arguments, quick="items")


if __name__ == "__main__":
    sys.exit(main())
