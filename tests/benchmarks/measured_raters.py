"""The model of raters: against plain PyMC, on real levels, and on simulated ones.

Run by hand: ``python tests/benchmarks/measured_raters.py [--json] [--seeds N ...] [--data FOLDER]
[--rows NAME ...]``. Each seed is ``--cohorts`` simulated dimensions of 1,000 items, 20 unless said
otherwise.
"""

import argparse
import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import arviz_stats
import numpy as np
import pandas as pd
import pymc as pm
from scipy import stats

import measurement_layouts as ml
from measurement_layouts.annotation.importance import draws_about, mode
from measurement_layouts.annotation.rater_density import Raters
from measurement_layouts.annotation.rater_dimension import summarised

FILES = {name: f"demand_annotations/annotations_{name}.csv" for name in ("gpt4o", "gemini")}
NAMED_BY = ["dataset name", "sample id"]
LEVELS = np.arange(6.0)
ITEMS, COHORTS = 1_000, 20


def real(data: Path) -> ml.annotation.Ratings:
    """Levels of 19,576 items by two language models."""
    paths = {name: data / path for name, path in FILES.items()}
    return ml.annotation.Ratings.from_wide(paths, item=NAMED_BY)


def agreement(seeds: list[int], data: Path) -> list[dict]:
    """The shares of pairs that the files' page says."""
    start = time.perf_counter()
    ratings = real(data)
    table = ratings.agreement(resamples=200, seed=seeds[0])
    pairs = int(table["items"].sum())
    mean = {
        name: float((table[name] * table["items"]).sum() / pairs)
        for name in ("exact", "within_one")
    }
    seconds = time.perf_counter() - start
    empty = (ratings.problems["found"] == "").sum()
    return [
        line("agreement: exact", mean["exact"], ".545", pairs, seconds),
        line("agreement: within one level", mean["within_one"], ".856", pairs, seconds),
        line(
            "cells without a level",
            len(ratings.problems),
            "46",
            ratings.said.size,
            seconds,
            f"{empty} empty, {len(ratings.problems) - empty} with text, each with file and row",
        ),
    ]


def dimensions(seeds: list[int], data: Path) -> list[dict]:
    """Which dimensions two annotators measure well enough."""
    start = time.perf_counter()
    ratings = real(data)
    model = ratings.rater_model(seed=seeds[0])
    seconds = time.perf_counter() - start
    table = model.reliability(least=0.7)
    good = table.index[table["enough"]]
    found = [
        line(
            "dimensions with a reliability of .7 by two annotators",
            len(good),
            "said",
            len(table),
            seconds,
            ", ".join(good),
        )
    ]
    worst = table["one"].sort_values().index[:2]
    for name in worst:
        row = table.loc[name]
        found.append(
            line(
                f"{name}, reliability of one annotator",
                row["one"],
                "not enough",
                len(ratings.said["item"]),
                seconds,
                f"{row['one_low']:.2f} to {row['one_high']:.2f}; of both {row['together']:.2f}; "
                f"{row['needed']:.0f} annotations for .7",
            )
        )
    return found


def disagreement(seeds: list[int], data: Path) -> list[dict]:
    """How much of the raters' disagreement other dimensions of the item explain."""
    start = time.perf_counter()
    ratings = real(data)
    said = ratings.said.transpose("rater", "dimension", "item").to_numpy()
    said = said[..., ~np.isnan(said).any(axis=(0, 1))]
    apart, together = said[0] - said[1], said[0] + said[1]
    shares = {}
    for place, name in enumerate(ratings.said["dimension"].to_numpy()):
        own = (together[place] == np.unique(together[place])[:, None]).astype(float)
        alone, whole = (
            left_over(apart[place], known)
            for known in (own, np.vstack([own, np.delete(together, place, axis=0)]))
        )
        shares[str(name)] = (alone - whole) / apart[place].var()
    return [
        line(
            "disagreement that the item's other dimensions explain, share of its variance",
            float(np.median([*shares.values()])),
            "0, as the model has it",
            said.shape[-1],
            time.perf_counter() - start,
            "median; " + ", ".join(f"{name} {share:.2f}" for name, share in shares.items()),
        )
    ]


def left_over(values: np.ndarray, known: np.ndarray) -> float:
    """Variance that a linear regression does not explain."""
    line_ = np.linalg.lstsq(known.T, values, rcond=None)[0]
    return float(np.var(values - line_ @ known))


def pymc(seeds: list[int], data: Path) -> list[dict]:
    """Posterior of shares, noise and true places of 500 real items, each item's place sampled."""
    ratings = real(data)
    some = np.random.default_rng(seeds[0]).choice(len(ratings.said["item"]), 500, replace=False)
    said = ratings.said.sel(dimension="Planning").to_numpy()[some]
    said = said[~np.isnan(said).any(axis=1)]
    start = time.perf_counter()
    ours = posterior(said, seeds[0])
    seconds = time.perf_counter() - start
    start = time.perf_counter()
    with plain(said):
        trace = pm.sample(
            1500,
            tune=500,
            chains=4,
            cores=1,
            random_seed=seeds[0],
            nuts_sampler="nutpie",
            progressbar=False,
        )
    theirs = time.perf_counter() - start
    gaps, spreads = [], []
    for name, draws in ours.items():
        other = trace.posterior[name].to_numpy()
        chains = other.reshape(*other.shape[:2], -1)
        for place in range(chains.shape[-1]):
            own, each = draws.reshape(len(draws), -1)[:, place], chains[..., place]
            gaps.append(apart(own, each))
            spreads.append(apart((own - own.mean()) ** 2, (each - own.mean()) ** 2))
    return [
        line(
            f"rater model against plain PyMC: largest gap of a {what}, in Monte Carlo errors",
            float(np.abs(found).max()),
            f"<= {stats.norm.isf(0.005 / len(found)):.1f}, as chance has it",
            len(found),
            seconds,
            f"{len(said)} items; root mean square {np.sqrt(np.mean(np.square(found))):.2f}; PyMC "
            f"took {theirs:.0f} s",
        )
        for what, found in (("mean", gaps), ("variance", spreads))
    ]


def plain(said: np.ndarray) -> pm.Model:
    """Write the model of two raters in PyMC, with a place for each item.

    `pm.OrderedProbit` takes eight times as long for a gradient; the probability of a level is here
    the difference of the normal distribution's two tails that are nearer to 0.
    """
    with pm.Model() as model:
        noise = pm.math.exp(pm.Normal("log_noise", 0, 1))
        place = pm.Normal("place", 0, 1, shape=len(said))
        for rater, levels in enumerate(said.T.astype(int)):
            shares = pm.Dirichlet(f"shares{rater}", np.ones(len(LEVELS)))
            cuts = pm.math.sqrt(2) * pm.math.erfinv(2 * shares.cumsum()[:-1] - 1)
            ends = pm.math.concatenate([[-30.0], cuts * pm.math.sqrt(1 + noise**2), [30.0]])
            low, high = ((ends[levels + more] - place) / noise for more in (0, 1))
            above = low > 0
            low, high = pm.math.switch(above, -high, low), pm.math.switch(above, -low, high)
            chance = (pm.math.erfc(-high / 2**0.5) - pm.math.erfc(-low / 2**0.5)) / 2
            pm.Potential(f"said{rater}", pm.math.log(pm.math.maximum(chance, 1e-300)).sum())
    return model


def apart(own: np.ndarray, chains: np.ndarray) -> float:
    """Gap of two means, in Monte Carlo errors; of our draws 0.3 are effective."""
    error = np.hypot(own.std() / np.sqrt(0.3 * len(own)), float(arviz_stats.mcse(chains)))
    return (chains.mean() - own.mean()) / error


def posterior(said: np.ndarray, seed: int) -> dict[str, np.ndarray]:
    """Draws of the model's parameters, and of places of items."""
    patterns, places, counts = np.unique(
        said.astype(int), axis=0, return_inverse=True, return_counts=True
    )
    raters = Raters(patterns, counts.astype(float), LEVELS, (0, 0), (1.0, 1.0), 0.0)
    random = np.random.default_rng(seed)
    centre = mode(raters.log_density, raters.start)
    draws, _ = draws_about(raters.log_density, centre, 4000, random)
    joint = raters.joint(draws)
    joint /= joint.sum(axis=-1, keepdims=True)
    nodes = raters.truths[0]
    steps = np.cumsum(joint, axis=-1)
    chosen = (steps < random.random((*joint.shape[:2], 1))).sum(axis=-1).clip(max=len(nodes) - 1)
    shares = raters.shares(draws)
    return {
        "log_noise": np.log(raters.noises(draws)[:, 0]),
        "shares0": shares[:, 0],
        "shares1": shares[:, 1],
        "place": nodes[chosen][:, places],
    }


def simulated(
    random: np.random.Generator, correlation: float = 0.0
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Levels by two raters of a random dimension; traits, true levels, and true places."""
    shares = random.dirichlet([3, 4, 4, 3, 2, 1], size=2)
    noise = np.exp(random.normal(-0.2, 0.4))
    place = random.normal(size=ITEMS)
    error = random.multivariate_normal([0, 0], [[1, correlation], [correlation, 1]], ITEMS)
    cuts = stats.norm.ppf(np.cumsum(shares, axis=1)[:, :-1]) * np.sqrt(1 + noise**2)
    seen = place[:, None] + noise * error
    said = np.column_stack([np.searchsorted(cuts[r], seen[:, r]) for r in range(2)]).astype(float)
    raters = Raters(said[:1].astype(int), np.ones(1), LEVELS, (0, 0), (1.0, 1.0), 0.0)
    inner = np.concatenate([raters.basis.T @ np.log(each) for each in shares])
    parameters = np.array([*inner, np.log(noise)])
    traits = summarised(raters, parameters[None], np.zeros(1, dtype=int)).traits[0]
    expected = raters.chances(parameters[None], place)[0] @ LEVELS
    return said, traits, np.rint(expected.mean(axis=0)), place


def of_frame(said: np.ndarray) -> ml.annotation.Ratings:
    """Name two raters."""
    return ml.annotation.Ratings.from_wide(
        {name: pd.DataFrame({"d": said[:, place]}) for place, name in enumerate(("one", "two"))}
    )


def covered(chances: np.ndarray, truth: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Whether true levels lie in central 90 % of their chances, a level being split at random."""
    places = truth.astype(int)
    rows = np.arange(len(truth))
    own = chances[rows, places]
    below = np.cumsum(chances, axis=1)[rows, places] - own
    return np.abs(below + random.random(len(truth)) * own - 0.5) <= 0.45


def recovery(seeds: list[int], cohorts: int) -> list[dict]:
    """Biases, scales, noises, reliabilities and true levels of simulated raters."""
    start = time.perf_counter()
    inside, levels, spread = [], [], []
    for seed in seeds:
        random = np.random.default_rng(seed)
        for _ in range(cohorts):
            said, traits, truth, _ = simulated(random)
            model = of_frame(said).rater_model(seed=seed)
            table = model.raters()
            for place, name in enumerate(("bias", "scale", "noise", "reliability")):
                ends = table[[f"{name}_low", f"{name}_high"]].to_numpy()
                inside.append(ends[0, 0] <= traits[0, place] <= ends[0, 1])
            levels.append(covered(model.demands().to_numpy()[:, 0], truth, random).mean())
            spread.append(np.abs(table["bias"].iloc[0] - traits[0, 0]))
    seconds = time.perf_counter() - start
    shares = np.reshape(inside, (-1, 4)).mean(axis=0)
    count = len(levels)
    error = np.sqrt(0.9 * 0.1 / count)
    return [
        line(
            "simulated raters: 90 % intervals of bias hold",
            float(shares[0]),
            f".90 +- {3 * error:.2f}",
            count,
            seconds,
            f"scale {shares[1]:.2f}, noise {shares[2]:.2f}, reliability {shares[3]:.2f}; mean "
            f"error of a bias {np.mean(spread):.3f} levels",
        ),
        line(
            "simulated raters: 90 % of chances hold true levels",
            float(np.mean(levels)),
            f".90 +- {3 * np.std(levels) / np.sqrt(count):.3f}",
            count * ITEMS,
            seconds,
        ),
    ]


def whole(seeds: list[int], cohorts: int) -> list[dict]:
    """Truths that are whole levels, and raters that add bias, scale and normal noise to them."""
    start = time.perf_counter()
    levels, gaps = [], []
    for seed in seeds:
        random = np.random.default_rng(seed + 1_000)
        for _ in range(cohorts):
            truth = random.choice(6, p=random.dirichlet([3, 4, 4, 3, 2, 1]), size=ITEMS)
            bias, noise = random.normal(0, 0.3), random.uniform(0.4, 1)
            seen = (
                truth[:, None] + bias * np.array([1, -1]) + noise * random.normal(size=(ITEMS, 2))
            )
            said = np.rint(seen).clip(0, 5)
            model = of_frame(said).rater_model(seed=seed)
            levels.append(covered(model.demands().to_numpy()[:, 0], truth, random).mean())
            known = np.corrcoef(said.T, truth)[2, :2] ** 2
            gaps.append(model.raters()["reliability"].mean() - known.mean())
    return [
        line(
            "raters of another kind (whole truths, normal errors): 90 % of chances hold them",
            float(np.mean(levels)),
            "said",
            len(levels) * ITEMS,
            time.perf_counter() - start,
            f"reliability off by {np.mean(gaps):+.3f} on average",
        )
    ]


def correlated(seeds: list[int], cohorts: int) -> list[dict]:
    """Errors that correlate .3: taken for independent, and stated."""
    start = time.perf_counter()
    shares, gaps = {0.0: [], 0.3: []}, {0.0: [], 0.3: []}
    for seed in seeds:
        random = np.random.default_rng(seed + 2_000)
        for _ in range(cohorts):
            said, traits, truth, _ = simulated(random, 0.3)
            for stated in shares:
                model = of_frame(said).rater_model(error_correlation=stated, seed=seed)
                chances = model.demands().to_numpy()[:, 0]
                shares[stated].append(covered(chances, truth, random).mean())
                one = model.raters()["reliability"].iloc[0]
                gaps[stated].append(one - traits[0, 3])
    seconds = time.perf_counter() - start
    return [
        line(
            f"errors that correlate .3, {words}: 90 % of chances hold true levels",
            float(np.mean(shares[stated])),
            "said" if not stated else ".90",
            len(gaps[stated]) * ITEMS,
            seconds,
            f"reliability of one rater off by {np.mean(gaps[stated]):+.3f} on average",
        )
        for stated, words in ((0.0, "taken for independent"), (0.3, "stated"))
    ]


def line(row: str, found: float, goal: str, n: int, seconds: float, note: str = "") -> dict:
    """One row of the table."""
    return {
        "row": row,
        "found": round(float(found), 4),
        "goal": goal,
        "n": int(n),
        "seconds": round(seconds, 1),
        "note": note,
    }


_REAL: dict[str, Callable] = {
    "agreement": agreement,
    "dimensions": dimensions,
    "disagreement": disagreement,
    "pymc": pymc,
}
_SIMULATED: dict[str, Callable] = {
    "recovery": recovery,
    "whole": whole,
    "correlated": correlated,
}


def rows(
    seeds: list[int], data: Path, chosen: set[str] | None, cohorts: int = COHORTS
) -> list[dict]:
    """All rows, or those that are chosen by name."""
    wanted = chosen or {*_REAL, *_SIMULATED}
    found = []
    for name, study in _REAL.items():
        if name in wanted:
            found += study(seeds, data)
    for name, study in _SIMULATED.items():
        if name in wanted:
            found += study(seeds, cohorts)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    parser.add_argument("--cohorts", type=int, default=COHORTS)
    parser.add_argument("--rows", nargs="+", choices=[*_REAL, *_SIMULATED])
    parser.add_argument(
        "--data", type=Path, default=os.environ.get("MEASUREMENT_LAYOUTS_DATA", "../shared/data")
    )
    given = parser.parse_args()
    chosen = set(given.rows) if given.rows else None
    found = rows(given.seeds, Path(given.data), chosen, given.cohorts)
    if given.json:
        print(json.dumps(found, indent=1))
    else:
        print(pd.DataFrame(found).to_string(index=False))


if __name__ == "__main__":
    main()
