"""Rows of measured demands in layouts: coverage, bias, swapped annotators, size, real outcomes."""

import argparse
import json
import os
import resource
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr
from scipy.optimize import minimize
from scipy.special import logsumexp, ndtr

import measurement_layouts as ml
from measurement_layouts.inference.fit import Fit
from measurement_layouts.linking import guessing, logistic, product
from measurement_layouts.scenarios import adele

LEVELS = np.arange(6)
RATERS = ("gpt4o", "gemini")
FEW = ("Language", "Planning", "Semantic Memory", "Working Memory")
SLOPE = 1.5  # log-odds per level
ITEMS, TOGETHER = 500, 5  # of a battery, and subjects on it
SIZE = {"draws": 300, "tune": 400, "chains": 2, "reruns": 0, "progressbar": False}
SHARED = 0.3  # of the errors' variance, in the row of errors that correlate
LARGE, SUBJECTS = 16_108, 15  # of the battery as large as ADeLe
HELD, MODELS = 800, 12  # items trained on and held out, of real outcomes


@cache
def annotations(data: Path) -> dict[str, pd.DataFrame]:
    """Levels by the two annotators, of items that have all of them in both."""
    found = {}
    for rater in RATERS:
        path = data / "demand_annotations" / f"annotations_{rater}.csv"
        table = pd.read_csv(path, dtype=str).iloc[:, 2:]
        found[rater] = table.apply(pd.to_numeric, errors="coerce")
    there = np.logical_and.reduce([table.isin(LEVELS).all(axis=1) for table in found.values()])
    return {rater: table[there].astype(int) for rater, table in found.items()}


def confusion(noise: float, bias: float) -> np.ndarray:
    """Probabilities of what a rater says (columns) of a true level (rows)."""
    logs = -0.5 * ((LEVELS[None] - LEVELS[:, None] - bias) / noise) ** 2
    return np.exp(logs - logsumexp(logs, axis=1, keepdims=True))


@cache
def measured(data: Path, dimension: str) -> tuple[np.ndarray, float, np.ndarray]:
    """Shares of the true levels, noise, and biases of two raters who are as reliable as another."""
    said = [table[dimension].to_numpy() for table in annotations(data).values()]
    counts = np.zeros((6, 6))
    np.add.at(counts, tuple(said), 1)

    def parts(point: np.ndarray) -> tuple[np.ndarray, float, np.ndarray]:
        logs = np.append(point[:5], 0)
        return np.exp(logs - logsumexp(logs)), float(np.exp(point[5])), point[6] * np.array([1, -1])

    def minus(point: np.ndarray) -> float:
        shares, noise, biases = parts(point)
        one, other = (confusion(noise, bias) for bias in biases)
        joint = np.einsum("z,za,zb->ab", shares, one, other)
        return -float((counts * np.log(joint + 1e-12)).sum() / counts.sum())

    return parts(minimize(minus, np.zeros(7), method="BFGS").x)


def likely(data: Path, said: dict[str, pd.DataFrame]) -> np.ndarray:
    """Probabilities of true levels given what raters said, (items, dimensions, levels)."""
    (first, *_) = said.values()
    found = np.empty((*first.shape, 6))
    for at, dimension in enumerate(first):
        shares, noise, biases = measured(data, dimension)
        found[:, at] = shares
        for rater, bias in zip(RATERS, biases, strict=True):
            if rater in said:
                found[:, at] *= confusion(noise, bias)[:, said[rater][dimension]].T
    return found / found.sum(axis=-1, keepdims=True)


def drawn(chances: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw a level for each row of probabilities."""
    upto = np.cumsum(chances, axis=-1)
    ranks = rng.random((*chances.shape[:-1], 1)) * upto[..., -1:]
    return np.asarray((upto < ranks).sum(axis=-1))


def said_anew(
    data: Path, truth: pd.DataFrame, rng: np.random.Generator, share: float = 0.0, rater: int = 0
) -> pd.DataFrame:
    """Let a rater judge again; a share of the errors' variance is missed by agreement."""
    said = {}
    for dimension, levels in truth.items():
        _, noise, biases = measured(data, str(dimension))
        chances = confusion(noise / (1 - share) ** 0.5, biases[rater])
        said[dimension] = drawn(chances[levels.to_numpy()], rng)
    return pd.DataFrame(said, index=truth.index)


def layout(demand: ml.MetaFeature | ml.Measured) -> ml.Layout:
    """All demands are needed."""
    normal = ml.Prior("Normal", mu=4, sigma=1.5)
    able = ml.Capability("ability", unit="level", prior=normal, labels=demand.labels)
    right = product(logistic(able - demand, slope=SLOPE), over="dimension")
    return ml.Layout("all needed", ml.Success("right", right))


def naive(names: tuple[str, ...]) -> ml.Layout:
    """The layout that takes what a rater said as true."""
    return layout(ml.MetaFeature("demand", levels=LEVELS, unit="level", labels=names))


def averaging(names: tuple[str, ...]) -> ml.Layout:
    """The layout with measured demands."""
    return layout(ml.Measured("demand", levels=LEVELS, unit="level", labels=names))


def columns(levels: pd.DataFrame) -> pd.DataFrame:
    """Levels as a layout reads them."""
    return levels.add_prefix("demand[").add_suffix("]")


def array(levels: pd.DataFrame, chances: np.ndarray) -> xr.DataArray:
    """Probabilities as a layout with measured demands reads them."""
    coordinates = {"item": levels.index, "dimension": list(levels), "level": LEVELS}
    return xr.DataArray(chances, coordinates, name="demand")


def chances_of(data: Path, rater: str, said: pd.DataFrame, *, augmented: bool) -> xr.DataArray:
    """Measure demands from the levels of one rater."""
    found = array(said, likely(data, {rater: said}))
    return ml.annotation.augmented_demands(found) if augmented else found


def answers(truth: pd.DataFrame, able: pd.DataFrame, seed: int) -> ml.Evaluation:
    """Outcomes on the true levels."""
    profiles = able.add_prefix("ability[").add_suffix("]")
    return ml.simulate(naive(tuple(truth)), columns(truth), profiles, seed=seed)


def items_of(data: Path, count: int, rng: np.random.Generator) -> dict[str, pd.DataFrame]:
    """Some real items' levels by both annotators, on the few dimensions."""
    tables = annotations(data)
    chosen = rng.choice(len(tables["gpt4o"]), count, replace=False)
    names = [f"item-{number}" for number in range(count)]
    return {
        rater: table.iloc[chosen][list(FEW)].set_axis(names, axis=0)
        for rater, table in tables.items()
    }


def abilities(rng: np.random.Generator, subjects: int) -> pd.DataFrame:
    """Abilities from the layout's prior."""
    names = [f"subject-{number}" for number in range(subjects)]
    return pd.DataFrame(rng.normal(4, 1.5, (subjects, len(FEW))), names, list(FEW))


def fitted(made: ml.Layout, evaluation: ml.Evaluation, seed: int) -> Fit:
    """Fit with the benchmark's number of draws."""
    return ml.fit(made, evaluation, seed=seed, **SIZE)


def estimates(made: ml.Layout, evaluation: ml.Evaluation, seed: int) -> np.ndarray:
    """Means, sds and ends of 90 % intervals of abilities: (4, subjects, dimensions)."""
    draws = fitted(made, evaluation, seed).posterior["ability"]
    draws = draws.stack(all=("chain", "draw")).transpose("all", "subject", "dimension").to_numpy()
    return np.stack([draws.mean(axis=0), draws.std(axis=0), *np.quantile(draws, [0.05, 0.95], 0)])


def covered(
    which: str, share: float = 0.0, *, apart: bool = False
) -> Callable[[list[int], Path], dict[str, object]]:
    """Make the row of how often 90 % intervals hold, and of the bias."""

    def measure(seeds: list[int], data: Path) -> dict[str, object]:
        inside, off = [], []
        for seed in seeds:
            rng = np.random.default_rng([seed, 1])
            real, able = items_of(data, ITEMS, rng), abilities(rng, TOGETHER)
            truth = pd.DataFrame(drawn(likely(data, real), rng), real["gpt4o"].index, list(FEW))
            if apart:
                truth = truth.apply(lambda levels, rng=rng: rng.permutation(levels))
            outcomes, said = answers(truth, able, seed), said_anew(data, truth, rng, share)
            given = outcomes.items.drop(columns=outcomes.items.columns)
            made = naive(FEW) if which == "naive" else averaging(FEW)
            told = ml.Evaluation(
                given.join(columns(said)), outcomes.successes, outcomes.trials
            ).with_measured(chances_of(data, "gpt4o", said, augmented=which == "augmented"))
            mean, _, low, high = estimates(made, told, seed)
            inside.append(((low <= able) & (able <= high)).to_numpy())
            off.append((mean - able).to_numpy())
        held, error = np.array(inside), np.array(off)
        return {
            "found": {"coverage": round(float(held.mean()), 3), "bias": _bias(error)},
            "n": held.size,
            "note": f"standard error {_clustered(held)} over batteries of {TOGETHER} subjects, "
            f"{ITEMS} items, {len(FEW)} dimensions",
        }

    return measure


def _bias(error: np.ndarray) -> dict[str, float]:
    """Mean error, in levels, and its standard error over batteries."""
    return {"mean": round(float(error.mean()), 3), "se": _clustered(error)}


def _clustered(values: np.ndarray) -> float:
    """Standard error of a mean, from the means of batteries."""
    means = values.reshape(len(values), -1).mean(axis=1)
    return round(float(means.std(ddof=1) / len(means) ** 0.5), 3) if len(means) > 1 else np.nan


def swapped(levels: str) -> Callable[[list[int], Path], dict[str, object]]:
    """Make the row of swapped annotators; outcomes are simulated on the consensus of both.

    The annotators' levels are real; or real, but shuffled among items with the same true level on
    a dimension; or simulated with the errors of the rater model. Two calibrated posteriors from
    different annotators differ, with s and c the sds by an annotator and by known levels, by a
    normal deviate of variance 2 (s^2 - c^2).
    """

    def measure(seeds: list[int], data: Path) -> dict[str, object]:
        ways = ("naive", "measured", "augmented")
        moved: dict[str, list[np.ndarray]] = {which: [] for which in ways}
        wider: dict[str, list[float]] = {which: [] for which in ways[1:]}
        foreseen: dict[str, list[float]] = {which: [] for which in ways[1:]}
        for seed in seeds:
            rng = np.random.default_rng([seed, 2])
            both, able = items_of(data, ITEMS, rng), abilities(rng, TOGETHER)
            truth = pd.DataFrame(drawn(likely(data, both), rng), both["gpt4o"].index, list(FEW))
            outcomes = answers(truth, able, seed)
            if levels == "shuffled":
                both = shuffled(both, truth, rng)
            if levels == "simulated":
                both = {
                    rater: said_anew(data, truth, rng, rater=at) for at, rater in enumerate(RATERS)
                }
            known = ml.Evaluation(columns(truth), outcomes.successes, outcomes.trials)
            least = estimates(naive(FEW), known, seed)[1]
            sds = {}
            for which in ways:
                made = naive(FEW) if which == "naive" else averaging(FEW)
                each = []
                for rater, said in both.items():
                    told = ml.Evaluation(columns(said), outcomes.successes, outcomes.trials)
                    given = chances_of(data, rater, said, augmented=which == "augmented")
                    told = told.with_measured(given)
                    each.append(estimates(made, told, seed))
                sds[which] = np.mean([own[1] for own in each], axis=0)
                moved[which].append(np.abs(each[0][0] - each[1][0]) / sds[which])
            for which, ratios in wider.items():
                ratios.append(float((sds[which] / sds["naive"]).mean()))
                left = np.maximum(2 - 2 * (least / sds[which]) ** 2, 1e-9)
                foreseen[which].append(float(1 - 2 * ndtr(-(left**-0.5)).mean()))
        return {
            "found": {
                "moved less than 1 sd": {
                    which: round(float((np.array(all_) < 1).mean()), 3)
                    for which, all_ in moved.items()
                },
                "of calibrated posteriors": _means(foreseen, 3),
                "sds beside naive": _means(wider, 2),
            },
            "n": np.array(moved["naive"]).size,
            "note": f"{ITEMS} items of {levels} levels; standard error "
            f"{_clustered(np.array(moved['augmented']) < 1)} over batteries of {TOGETHER} subjects",
        }

    return measure


def shuffled(
    both: dict[str, pd.DataFrame], truth: pd.DataFrame, rng: np.random.Generator
) -> dict[str, pd.DataFrame]:
    """Exchange both raters' levels, on each dimension, among items with the same true level."""
    found = {rater: said.copy() for rater, said in both.items()}
    for name, levels in truth.items():
        source = np.arange(len(levels))
        for level in LEVELS:
            own = np.flatnonzero(levels == level)
            source[own] = rng.permutation(own)
        for rater, said in both.items():
            found[rater][name] = said[name].to_numpy()[source]
    return found


def _means(values: dict[str, list[float]], digits: int) -> dict[str, float]:
    """Means by name, rounded."""
    return {name: round(float(np.mean(each)), digits) for name, each in values.items()}


def large(seeds: list[int], data: Path) -> dict[str, object]:
    """Fit 15 subjects to a battery of the size of ADeLe."""
    rng = np.random.default_rng([seeds[0], 3])
    tables = annotations(data)
    chosen = rng.choice(len(tables["gpt4o"]), LARGE, replace=False)
    said = tables["gpt4o"].iloc[chosen].set_axis([f"item-{i}" for i in range(LARGE)], axis=0)
    count = int(os.environ.get("MEASURED_SUBJECTS", SUBJECTS))
    names = [f"subject-{number}" for number in range(count)]
    able = pd.DataFrame(rng.normal(5, 1.5, (count, said.shape[1])), names, list(said))
    truth = pd.DataFrame(drawn(likely(data, {"gpt4o": said}), rng), said.index, list(said))
    told = answers(truth, able, seeds[0]).with_measured(array(said, likely(data, {"gpt4o": said})))
    start = time.monotonic()
    fit = fitted(averaging(tuple(said)), told, seeds[0])
    seconds = time.monotonic() - start
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    worst = float(fit.profiles()["rhat"].max())
    found = {"minutes": round(seconds / 60, 1), "GiB": round(memory, 2), "R-hat": round(worst, 3)}
    return {
        "found": found,
        "n": count,
        "note": f"subjects as of MEASURED_SUBJECTS ({SUBJECTS} by default), {SIZE['chains']} x "
        f"({SIZE['tune']} + {SIZE['draws']}) draws each; the machine had "
        f"{os.getloadavg()[0]:.0f} processes for its {os.cpu_count()} cores",
    }


def real_outcomes(seeds: list[int], data: Path) -> dict[str, object]:
    """Annotate ADeLe-labelled items again, and forecast real outcomes that were held out."""
    noise = float(np.mean([measured(data, name)[1] for name in annotations(data)["gpt4o"]]))
    chances = confusion(noise, 0.0)
    briers, widths = [], []
    for seed in seeds:
        rng = np.random.default_rng([seed, 4])
        whole = adele.load(data / "adele_labelled")
        keep = rng.permutation(whole.items.index)[: 2 * HELD]
        whole = whole.select(items=keep, subjects=whole.subjects[:MODELS])
        labels = [name for name in whole.items if name.startswith("demand[")]
        names = tuple(name.removeprefix("demand[").removesuffix("]") for name in labels)
        truth = whole.items[labels].to_numpy().astype(int).clip(0, 5)
        said = pd.DataFrame(drawn(chances[truth], rng), whole.items.index, list(names))
        shares = np.stack([(said == level).mean(axis=0) for level in LEVELS], axis=-1) + 1e-3
        given = np.moveaxis(chances[:, said.to_numpy()], 0, -1) * shares
        given /= given.sum(axis=-1, keepdims=True)
        items = whole.items.drop(columns=labels).join(columns(said))
        items["chance"] = 1 - items["unguessability"] / 100
        told = ml.Evaluation(items, whole.successes, whole.trials)
        apart = array(said, given)
        scores, spreads = [], []
        for kind, demands in (
            (ml.MetaFeature, apart),
            (ml.Measured, apart),
            (ml.Measured, ml.annotation.augmented_demands(apart)),
        ):
            both = told.with_measured(demands)
            train, test = both.select(items=keep[:HELD]), both.select(items=keep[HELD:])
            demand = kind("demand", levels=LEVELS, unit="level", labels=names)
            fit = fitted(with_guesses(demand), train, seed)
            right = test.successes.loc[fit.subjects].to_numpy()
            forecast = fit.forecast(test.items).data["mean"].sel(subject=fit.subjects).to_numpy()
            scores.append(float(((forecast - right) ** 2).mean()))
            draws = fit.posterior["ability"].stack(all=("chain", "draw"))
            spreads.append(
                float((draws.quantile(0.95, "all") - draws.quantile(0.05, "all")).mean())
            )
        briers.append(scores)
        widths.append(np.array(spreads) / spreads[0])
    ways = ("naive", "measured", "augmented")
    brier, width = (
        dict(zip(ways, np.mean(values, axis=0).round(digits).tolist(), strict=True))
        for values, digits in ((briers, 4), (widths, 2))
    )
    return {
        "found": {"Brier": brier, "intervals beside naive": width},
        "n": HELD * MODELS * len(seeds),
        "note": f"{MODELS} models, {HELD} items trained on; noise of annotators {noise:.2f} levels",
    }


def with_guesses(demand: ml.MetaFeature | ml.Measured) -> ml.Layout:
    """All demands are needed, and some items can be guessed."""
    prior = ml.Prior("Normal", mu=5, sigma=2)
    able = ml.Capability("ability", unit="level", prior=prior, labels=demand.labels)
    slope = ml.Slope("slope", unit="1/level", prior=ml.Prior("LogNormal", mu=0, sigma=0.5))
    right = product(logistic((able - demand) * slope), over="dimension")
    chance = ml.MetaFeature("chance", low=0, high=1)
    return ml.Layout("ADeLe", ml.Success("right", guessing(right, chance)))


ROWS: dict[str, tuple[Callable[[list[int], Path], dict[str, object]], str]] = {
    "naive coverage": (covered("naive"), "say how low"),
    "measured coverage": (covered("measured"), ".90 +- 3 standard errors, bias below .05"),
    "augmented coverage": (covered("augmented"), ".90 +- 3 standard errors, bias below .05"),
    "measured, dimensions apart": (covered("measured", apart=True), "the same"),
    "correlated errors": (covered("measured", SHARED), "say how far off"),
    "augmented, correlated errors": (covered("augmented", SHARED), "say how far off"),
    "swapped annotator": (
        swapped("real"),
        ">= .95 move less than 1 sd, sds at most twice the naive ones",
    ),
    "swapped annotator, shuffled": (swapped("shuffled"), "say what is due to other dimensions"),
    "swapped annotator, simulated": (swapped("simulated"), "say what is the highest possible"),
    "size of ADeLe": (large, "<= 10 min, <= 4 GiB on two cores"),
    "real outcomes": (real_outcomes, "held-out Brier not above the naive layout's"),
}


def rows(seeds: list[int], data: Path, chosen: set[str] | None) -> list[dict[str, object]]:
    """Measure the rows that are asked for, all by default."""
    found = []
    for name, (measure, goal) in ROWS.items():
        if chosen is None or name in chosen:
            start = time.monotonic()
            row = {"row": name, "goal": goal, **measure(seeds, data)}
            found.append(row | {"seconds": round(time.monotonic() - start)})
    return found


def main() -> None:
    """Print the rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--seeds", type=int, default=20, help="batteries of the rows (20)")
    parser.add_argument("--data", type=Path, default=os.environ.get("MEASUREMENT_LAYOUTS_DATA"))
    parser.add_argument("--rows", nargs="*", choices=list(ROWS))
    asked = parser.parse_args()
    seeds = list(range(1, asked.seeds + 1))
    for row in rows(seeds, Path(asked.data), set(asked.rows) if asked.rows else None):
        print(json.dumps(row) if asked.json else row, flush=True)


if __name__ == "__main__":
    main()
