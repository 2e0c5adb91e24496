"""Comparisons of subjects: coverage of intervals, tied sets left without the best, time and memory.

    python benchmarks/compare.py [--case NAME] [--pairs 1000] [--seed 1] [--data ../shared/data]

Cases: ``outcomes`` (no model: pairs of subjects on clustered items of unequal numbers, whose
clusters differ in difficulty and in how much the one is ahead), ``alone`` (each fitted on its own,
items whose demands are alike within a cluster), ``joint`` (fitted together, with an ease of each
cluster), ``tied`` (ten subjects, half as many simulations as pairs) and ``ratings`` (ten students
of InstEval, see ratings.py). Beside each share of intervals that contain the truth are three of
its standard errors. Joint fits take seconds each: give fewer ``--pairs``.
"""

import argparse
import os
import resource
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import ratings
from scipy.special import expit

import measurement_layouts as ml
from measurement_layouts.linking import logistic

PROB, CLUSTERS, MANY = 0.9, 24, 20_000
SPREAD, WITHIN = 1.0, 0.5  # of demands between clusters, and within


def battery(rng: np.random.Generator, clusters: int = CLUSTERS) -> pd.DataFrame:
    """Draw clusters of 2 to 11 items, whose demands are alike within a cluster."""
    cluster = np.repeat(np.arange(clusters), rng.integers(2, 12, clusters))
    demand = rng.normal(0, SPREAD, clusters)[cluster] + rng.normal(0, WITHIN, len(cluster))
    items = pd.DataFrame({"demand": demand, "cluster": cluster})
    return items.set_index(pd.Index([f"item {number}" for number in items.index], name="item"))


def evaluation(rng: np.random.Generator, chances: np.ndarray, items: pd.DataFrame) -> ml.Evaluation:
    """Draw an outcome of each subject on each item."""
    outcomes = (rng.random(chances.shape) < chances).astype(int)
    names = [f"subject {number}" for number in range(len(chances))]
    return ml.Evaluation.from_wide(pd.DataFrame(outcomes, names, items.index), items)


def layout(joint: bool) -> ml.Layout:
    """Return a layout of skills against demands; a joint one has an ease of each cluster."""
    skill = ml.Capability("skill", prior=ml.Prior("Normal", mu=0, sigma=1))
    margin = skill - ml.MetaFeature("demand", low=-9, high=9)
    if joint:
        normal = ml.Prior("Normal", mu=0, sigma=1)
        margin = margin + ml.Effect("ease", per=ml.Category("cluster"), prior=normal)
    return ml.Layout("skills", ml.Success("solved", logistic(margin)))


def outcomes(pairs: int, seed: int) -> Iterator[dict[str, bool]]:
    """Compare without a model; the truth is the mean difference over all clusters there could be.

    A cluster of any size counts by its items, and sizes do not depend on what is in it.
    """
    for number in range(pairs):
        rng = np.random.default_rng([seed, number])
        items = battery(rng)
        lead = rng.uniform(-0.3, 0.3)
        middle = rng.uniform(0.3, 0.7, CLUSTERS)[items["cluster"]]
        half = (lead + rng.uniform(-0.1, 0.1, CLUSTERS)[items["cluster"]]) / 2
        answers = evaluation(rng, np.stack([middle + half, middle - half]), items)
        yield contains(ml.compare(answers, cluster="cluster"), {"outcomes": lead})


def fitted(pairs: int, seed: int, *, joint: bool) -> Iterator[dict[str, bool]]:
    """Compare by fits; skills, eases and demands are drawn from what the layout says."""
    declared = layout(joint)
    options = {"draws": 500, "tune": 500, "chains": 2} if joint else {"method": "grid"}
    for number in range(pairs):
        rng = np.random.default_rng([seed, number])
        items, skills = battery(rng), rng.normal(size=(2, 1))
        ease = rng.normal(size=CLUSTERS)[items["cluster"]] * joint
        chances = expit(skills - items["demand"].to_numpy() + ease)
        variance = SPREAD**2 + WITHIN**2 + joint
        everywhere = expit(skills + np.sqrt(variance) * rng.normal(size=MANY)).mean(axis=1)
        answers = evaluation(rng, chances, items)
        fit = ml.fit(declared, answers, seed=number, progressbar=False, **options)
        truth = {"these items": chances.mean(axis=1), "more items": everywhere}
        truth["outcomes"] = everywhere
        gaps = {reading: float(values[0] - values[1]) for reading, values in truth.items()}
        yield contains(ml.compare(fit, cluster=answers.items["cluster"]), gaps)


def contains(comparison: ml.Comparison, truth: dict[str, float]) -> dict[str, bool]:
    """Say of each reading whether its interval contains the first subject's lead."""
    rows = comparison.table.set_index("reading")
    sign = 1 if rows["subject"].iloc[0] == "subject 0" else -1
    return {
        reading: bool(rows.loc[reading, "low"] <= sign * lead <= rows.loc[reading, "high"])
        for reading, lead in truth.items()
    }


def tied(simulations: int, seed: int) -> Iterator[dict[str, bool]]:
    """Say whether the truly best of ten is among the tied ones, by outcomes and by a fit."""
    declared = layout(joint=False)
    for number in range(simulations):
        rng = np.random.default_rng([seed, number])
        items, skills = battery(rng), rng.normal(size=(10, 1))
        everywhere = expit(skills + np.hypot(SPREAD, WITHIN) * rng.normal(size=MANY)).mean(axis=1)
        best = f"subject {everywhere.argmax()}"
        answers = evaluation(rng, expit(skills - items["demand"].to_numpy()), items)
        without = ml.compare(answers, cluster="cluster")
        close = evaluation(rng, np.full((10, len(items)), 0.5), items)
        fit = ml.fit(declared, answers, method="grid", seed=number, progressbar=False)
        yield {
            "outcomes": best in without.tied,
            "outcomes, ten equal ones": "subject 0" in ml.compare(close, cluster="cluster").tied,
            "these items": best in ml.compare(fit).tied,
        }


def of_ratings(data: Path, draws: int, seed: int) -> None:
    """Compare ten students of InstEval on all lecturers."""
    answers = ratings.ratings(data)
    options = {"draws": draws, "tune": draws, "chains": 4, "progressbar": False}
    fit = ml.fit(ratings.layout(), answers, seed=seed, **options)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    started = time.process_time()
    comparison = ml.compare(fit, subjects=fit.subjects[:10], cluster=answers.items["lecturer"])
    seconds = time.process_time() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(comparison)
    print(f"{comparison!r}: {seconds:.1f} s, peak {peak} MiB, {before} MiB before")


def main() -> None:
    """Print the share of each case, with three standard errors."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    cases = ("outcomes", "alone", "joint", "tied", "ratings")
    parser.add_argument("--case", choices=cases, action="append")
    parser.add_argument("--pairs", type=int, default=1000)
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    data = os.environ.get("MEASUREMENT_LAYOUTS_DATA", "../shared/data")
    parser.add_argument("--data", type=Path, default=Path(data))
    chosen = parser.parse_args()
    pairs, seed = chosen.pairs, chosen.seed
    for case in chosen.case or cases:
        if case == "ratings":
            of_ratings(chosen.data, chosen.draws, seed)
            continue
        simulated = {
            "outcomes": lambda: outcomes(pairs, seed),
            "alone": lambda: fitted(pairs, seed, joint=False),
            "joint": lambda: fitted(pairs, seed, joint=True),
            "tied": lambda: tied(pairs // 2, seed),
        }[case]()
        shares = pd.DataFrame(simulated)
        for name, share in shares.mean().items():
            error = 3 * np.sqrt(PROB * (1 - PROB) / len(shares))
            print(f"{case}, {name}: {share:.3f} of {len(shares)} (.9 ± {error:.3f})", flush=True)


if __name__ == "__main__":
    main()
