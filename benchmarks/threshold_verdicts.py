"""Verdicts of adaptive tests on which side of a threshold a subject is, and how many are wrong.

Run by hand: ``python benchmarks/threshold_verdicts.py [--json] [--quick] [--subjects N]
[--seeds N ...]``. Birds with a memory of 8 s or of 50 s, without a side bias and with slips of .04,
choose one of three sites after delays of 0 to 60 s. The layout has a flat prior on memories of 0 to
120 s, so that five sixths of its mass are above the threshold of 20 s; each bird has at most 120 of
the bank's 240 trials. The number of answers in a row after which a verdict must hold was chosen
with birds of seeds 1000 to 1199; seed 1 takes those from 0 on, and seed s those from 10,000 (s - 1)
on.
"""

import argparse
import sys
from collections.abc import Iterator

import numpy as np
import pandas as pd
from battery_cases import SEED
from lines import Line, at_most, reported
from running import run

import measurement_layouts as ml
from measurement_layouts.linking import guessing, logistic, mixture

SUBJECTS, QUICK, LIMIT, APART = 200, 2, 120, 10_000
THRESHOLD, SLIPS, WRONG = 20, 0.04, 0.05
MEMORIES = (8, 50)


def layout() -> ml.Layout:
    """Memory against a delay, with guesses that prefer a side, and slips."""
    delay = ml.MetaFeature("delay", low=0, high=60, unit="s")
    memory = ml.Capability("memory", low=0, high=120, unit="s")
    left, right = (ml.MetaFeature(side, levels=(0, 1)) for side in ("left", "right"))
    flat = ml.Prior("Uniform", lower=-1, upper=1)
    bias = ml.Bias("sideBias", low=-1, high=1, prior=flat)
    leftward = mixture(1 / 3, by=np.maximum(-bias, 0), toward=left)
    guess = mixture(leftward, by=np.maximum(bias, 0), toward=right)
    knows = logistic(np.log2((memory + 1) / (delay + 1)), 1.7)
    knows = mixture(knows, by=ml.Noise("slips", low=0, high=0.5), toward=0)
    return ml.Layout("hidden food", ml.Success("found", guessing(knows, guess)))


def bank() -> pd.DataFrame:
    """Ten trials for each delay and site."""
    sites = ((1, 0), (0, 0), (0, 1))
    rows = [(delay, *site) for delay in (0, 5, 10, 15, 20, 30, 45, 60) for site in sites]
    table = pd.DataFrame(np.repeat(rows, 10, axis=0), columns=["delay", "left", "right"])
    return table.rename("trial {}".format)


def chances(memory: float) -> pd.Series:
    """Success probabilities of a bird without a side bias, by trial."""
    knows = (1 - SLIPS) / (1 + np.exp(-1.7 * np.log2((1 + memory) / (1 + bank()["delay"]))))
    return 1 / 3 + 2 / 3 * knows


def verdict(memory: float, seed: int, limit: int) -> tuple[str, int]:
    """Test one bird; returns ``"above"``, ``"below"`` or ``""``, and the number of trials."""
    items = bank()
    solved = np.random.default_rng(seed).random(len(items)) < chances(memory)
    stop = ml.batteries.Stop(threshold={"memory": THRESHOLD}, items=limit)
    test = ml.AdaptiveTest(layout(), items, target="memory", stop=stop, seed=seed)
    while not test.done:
        (item,) = test.next()
        test.record(item, bool(solved[item]))
    side = next((side for side in ("above", "below") if f"is {side}" in test.done), "")
    return side, len(test.history)


def measure(options: argparse.Namespace, seed: int) -> Iterator[Line]:
    """Test all birds of both memories."""
    count, limit = (QUICK, 12) if options.quick else (options.subjects, LIMIT)
    first = APART * (seed - SEED)
    for memory in MEMORIES:
        verdicts = []
        for place in range(first, first + count):
            verdicts.append(verdict(memory, place, limit))
            print(f"{memory} s: {place - first + 1} of {count}", file=sys.stderr, flush=True)
        sides, trials = zip(*verdicts, strict=True)
        wrong = sides.count("below" if memory > THRESHOLD else "above") / count
        case = f"{count} birds of {memory} s"
        yield at_most(case, "share of wrong verdicts", wrong, WRONG, "")
        yield reported(case, "share without a verdict", sides.count("") / count, "")
        median = float(np.median(trials))
        yield reported(case, "median number of trials", median, f"mean {np.mean(trials):.1f}")


def main(arguments: list[str] | None = None) -> int:
    """Measure and report."""
    options = {
        "--subjects": {"type": int, "default": SUBJECTS, "metavar": "N", "help": f"({SUBJECTS})"},
    }
    return run(
        "threshold_verdicts", __doc__, measure, arguments, quick="birds and trials", options=options
    )


if __name__ == "__main__":
    sys.exit(main())
