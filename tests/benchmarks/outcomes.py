"""Outcomes of several steps: what they cost beside 0/1 outcomes, and how they fare with a beta.

Run by hand: ``python tests/benchmarks/outcomes.py [--json] [--quick] [--seeds N ...]``. Prints a
table in Markdown, or one JSON object; exit status 1 when a goal is missed. Two abilities that are
both needed, on 200 simulated items: succeeded or not, and scored in 10 places. Then scores drawn
from a beta distribution, which the layout takes for a logistic one: how far its forecasts of mean
scores on other items lie from the truth. ``--quick`` takes fewer items: its numbers say only that
everything runs.
"""

import argparse
import sys
import time

import log_density
import numpy as np
import pandas as pd
from lines import Line, at_most
from running import run
from scipy.special import expit

import measurement_layouts as ml
from measurement_layouts.linking import logistic, mixture

ITEMS, CONCENTRATION = 200, 4.0
SAMPLING = {"draws": 500, "tune": 500, "chains": 2, "reruns": 0}
PROFILES = pd.DataFrame(
    {
        "navigation": [2.0, 3.0, 4.0, 3.5],
        "sight": [4.0, 3.0, 2.5, 4.5],
        "precision": 3.0,
        "noise": 0.1,
    },
    index=["Ann", "Bob", "Cyd", "Dot"],
)


def performance() -> ml.Derived:
    """Two abilities against two demands, and noise."""
    able = [
        logistic(ml.Capability(ability, low=0, high=6) - ml.MetaFeature(demand, low=0, high=6))
        for ability, demand in (("navigation", "distance"), ("sight", "smallness"))
    ]
    return ml.Derived("able", mixture(able[0] * able[1], by=ml.Noise("noise"), toward=0.5))


def layouts(precision: ml.Slope | float) -> dict[str, ml.Layout]:
    """The same performance, seen as success and as a score."""
    able = performance()
    score = ml.Score("credit", able, precision=precision)
    return {
        "success": ml.Layout("success", ml.Success("solved", able)),
        "score": ml.Layout("score", score),
        "both": ml.Layout("both", ml.Success("solved", able), score),
    }


def battery(items: int, seed: int) -> pd.DataFrame:
    """Items of which no two are alike."""
    demands = np.random.default_rng(seed).uniform(0, 6, (items, 2))
    table = pd.DataFrame(demands, columns=["distance", "smallness"])
    return table.rename("item-{}".format)


def gradients(table: pd.DataFrame, seed: int) -> list[Line]:
    """One subject's log-density and gradient, a score in 10 places beside 0/1."""
    found, known = [], layouts(3.0)
    for name in ("score", "both"):
        who = [
            log_density.ours(layout, ml.simulate(layout, table, PROFILES, seed=seed), "Ann")
            for layout in (known[name], known["success"])
        ]
        times = log_density.microseconds(who, rounds=5)
        ratio = 1 / log_density.ratio(times)
        case = f"{len(table):,} items, {name} in 10 places: log-density and gradient"
        ours = f"{np.median(times, axis=0)[0]:.3g} µs"
        found.append(at_most(case, "times as long as 0/1", ratio, 15, "times", ours=ours))
    return found


def fits(table: pd.DataFrame, seed: int) -> list[Line]:
    """Everybody's profile, with the layout compiled before."""
    seconds = {}
    for name, layout in layouts(ml.Slope("precision")).items():
        evaluation = ml.simulate(layout, table, PROFILES, seed=seed)
        ml.fit(
            layout, evaluation, seed=seed, progressbar=False, **{**SAMPLING, "draws": 4, "tune": 4}
        )
        start = time.perf_counter()
        ml.fit(layout, evaluation, seed=seed, progressbar=False, **SAMPLING)
        seconds[name] = (time.perf_counter() - start) / len(PROFILES)
    return [
        at_most(
            f"{len(table):,} items, {name}: a subject's fit",
            "times as long as 0/1",
            seconds[name] / seconds["success"],
            15,
            "times",
            ours=f"{seconds[name]:.3g} s",
        )
        for name in ("score", "both")
    ]


def beta_means(table: pd.DataFrame) -> np.ndarray:
    """Mean scores of all subjects, (subjects, items)."""
    who = PROFILES.to_dict("records")
    return np.array(
        [
            expit(one["navigation"] - table["distance"]) * expit(one["sight"] - table["smallness"])
            for one in who
        ]
    )


def from_a_beta(items: int, seed: int) -> list[Line]:
    """Forecast mean scores that a beta distribution made."""
    seen, new = battery(items, seed), battery(items, seed + 1).rename("new {}".format)
    mean, rng = beta_means(seen), np.random.default_rng(seed)
    drawn = rng.beta(CONCENTRATION * mean, CONCENTRATION * (1 - mean))
    layout = layouts(ml.Slope("precision"))["score"]
    scores = {"credit": pd.DataFrame(drawn, PROFILES.index, seen.index)}
    evaluation = ml.Evaluation.of_outcomes(layout, scores, seen)
    found = ml.fit(layout, evaluation, seed=seed, progressbar=False, **SAMPLING)
    expected = found.forecast(new).expected["mean"].to_numpy().reshape(len(PROFILES), -1)
    error = np.abs(expected - beta_means(new))
    bias = float((expected - beta_means(new)).mean())
    case = f"scores by a beta of concentration {CONCENTRATION:g}, {items:,} items, forecasts"
    return [
        at_most(
            case, "mean distance from the true mean score", float(error.mean()), 0.06, "points"
        ),
        at_most(case, "bias", abs(bias), 0.02, "points"),
    ]


def main(arguments: list[str] | None = None) -> int:
    """Measure and report."""

    def measure(options: argparse.Namespace, seed: int) -> list[Line]:
        items = 40 if options.quick else ITEMS
        table = battery(items, seed)
        return [*gradients(table, seed), *fits(table, seed), *from_a_beta(items, seed)]

    return run("outcomes", __doc__, measure, arguments, quick="items")


if __name__ == "__main__":
    sys.exit(main())
