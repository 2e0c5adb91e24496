"""Rows of a common scale: held-out scores of models on benchmarks, beside least squares."""

import argparse
import json
import sys
import time
from collections.abc import Callable, Mapping
from functools import cache, partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from scipy.special import expit

import measurement_layouts as ml
from measurement_layouts.evaluations import read_scores
from measurement_layouts.scenarios import benchmark_scores as bs

SIZE = {"draws": 300, "tune": 400, "chains": 2}
LONGER = {"draws": 1000, "tune": 1000, "chains": 2, "target_accept": 0.95}  # of small tables
RIDGE = 0.003  # of least squares, the best of six by cells held out inside ten training sets
SCORES = 3  # of a new model that are known
QUARTER = 92 / 365.25  # of a year
MODELS, BENCHMARKS, MISSING = 60, 40, 0.7
BY_MEAN, BY_SQUARES = 0.1765, 0.098  # root mean square errors by hand, in the data's README
SEEDS = list(range(10))


def least_squares(known: pd.DataFrame, asked: pd.DataFrame, ridge: float = RIDGE) -> np.ndarray:
    """Fit slope x (ability - demand) through a logistic, with a small ridge; forecast scores."""
    models, benchmarks = pd.Index(known["subject"].unique()), pd.Index(known["benchmark"].unique())
    m, b = models.get_indexer(known["subject"]), benchmarks.get_indexer(known["benchmark"])
    scores, ends = known["score"].to_numpy(), [len(models), len(models) + len(benchmarks)]
    means = known.groupby("benchmark")["score"].mean()[benchmarks].clip(0.02, 0.98).to_numpy()
    start = np.concatenate([np.zeros(len(models)), np.log(1 / means - 1), np.ones(len(benchmarks))])
    middle = np.where(np.arange(len(start)) < ends[1], 0.0, 1.0)

    def loss(point: np.ndarray) -> tuple[float, np.ndarray]:
        ability, demand, slope = np.split(point, ends)
        margin = ability[m] - demand[b]
        chance = expit(slope[b] * margin)
        off = chance - scores
        steep = 2 * off * chance * (1 - chance)
        own = [
            np.bincount(m, steep * slope[b], len(models)),
            -np.bincount(b, steep * slope[b], len(benchmarks)),
            np.bincount(b, steep * margin, len(benchmarks)),
        ]
        gap = point - middle
        return off @ off + ridge * gap @ gap, np.concatenate(own) + 2 * ridge * gap

    options = {"maxiter": 5000, "maxfun": 10000}
    point = minimize(loss, start, jac=True, method="L-BFGS-B", options=options).x
    ability, demand, slope = np.split(point, ends)
    m, b = models.get_indexer(asked["subject"]), benchmarks.get_indexer(asked["benchmark"])
    return np.asarray(expit(slope[b] * (ability[m] - demand[b])))


def judged(
    layout: ml.Layout,
    known: pd.DataFrame,
    asked: pd.DataFrame,
    size: Mapping[str, Any] = MappingProxyType(SIZE),
) -> pd.DataFrame:
    """Forecast some cells from others; beside each score its mean, its interval and least squares.

    Cells of models or benchmarks of which nothing is known are left out, for all methods.
    """
    asked = linked(known, asked)
    fit = ml.fit(layout, read_scores(known), seed=1, progressbar=False, **size)
    names = sorted(asked["benchmark"].unique())
    found = bs.expected_scores(fit, names, subjects=sorted(asked["subject"].unique()))
    cells = found.loc[pd.MultiIndex.from_frame(asked[["subject", "benchmark"]])]
    return asked.assign(
        **{name: cells[name].to_numpy() for name in cells},
        squares=least_squares(known, asked),
        average=asked["benchmark"].map(known.groupby("benchmark")["score"].mean()),
    )


def linked(known: pd.DataFrame, asked: pd.DataFrame) -> pd.DataFrame:
    """Keep the cells of models and benchmarks that have a known score."""
    there = asked["subject"].isin(known["subject"]) & asked["benchmark"].isin(known["benchmark"])
    return asked[there]


def error(table: pd.DataFrame, method: str = "mean") -> float:
    """Root mean square error."""
    return float(np.sqrt(np.mean((table[method] - table["score"]) ** 2)))


def holding(table: pd.DataFrame) -> float:
    """Part of the scores, read to a thousandth, that lie in their intervals."""
    read = table["score"].round(3)
    return float(((table["low"] <= read + 1e-9) & (read <= table["high"] + 1e-9)).mean())


@cache
def real(name: str, seed: int, data: Path) -> pd.DataFrame:
    """Hold out a fifth of the real cells."""
    table = bs.scores(data)
    held = np.random.default_rng(seed).random(len(table)) < 0.2
    return judged(_layout(name), table[~held], table[held])


@cache
def newest(which: str, seed: int, data: Path) -> pd.DataFrame:
    """Hold out all but three scores of the newest models."""
    table = bs.scores(data)
    years = table.groupby("subject")["year"].first()
    since = years.quantile(0.75) if which == "a quarter of the models" else years.max() - QUARTER
    new = (table["year"] > since).to_numpy()
    order = pd.Series(np.random.default_rng(seed).random(len(table)), table.index)
    held = new & (order.groupby(table["subject"]).rank() > SCORES).to_numpy()
    return judged(bs.recommended_layout(), table[~held], table[held])


@cache
def simulated(seed: int, *, counted: bool = True) -> pd.DataFrame:
    """Simulate a table of which 30 % is known, and forecast the rest.

    Log-odds scatter about one dimension by a normal deviate, which is not what the layout takes
    them for. If `counted`, scores are shares of 50 to 1000 items, whose own error is larger in
    log-odds near 0 and 1; the layout knows no number of items.
    """
    rng = np.random.default_rng([seed, 60])
    ability = rng.normal(0, 1.2, (MODELS, 1))
    demand, slope = rng.normal(0.3, 1.5, BENCHMARKS), rng.lognormal(0, 0.5, BENCHMARKS)
    scatter, items = rng.lognormal(-1.2, 0.4, BENCHMARKS), rng.integers(50, 1001, BENCHMARKS)
    scores = expit(slope * (ability - demand) + scatter * rng.normal(size=(MODELS, BENCHMARKS)))
    if counted:
        scores = rng.binomial(items, scores) / items
    return judged(bs.common_scale_layout(), *_parted(scores, rng), LONGER)


@cache
def from_prior(seed: int) -> pd.DataFrame:
    """Simulate a table from the layout's prior; ranks of unknown scores among its draws.

    Ranks of equal scores are drawn, so that they are uniform if posterior and forecast are exact.
    """
    rng = np.random.default_rng([seed, 61])
    middle, spread = rng.normal([0, 0, 1.5], 1), np.abs(rng.normal(0, [2, 0.5, 0.5]))
    demand, slope, precision = rng.normal(middle, spread, (BENCHMARKS, 3)).T
    ability = rng.normal(size=(MODELS, 1))
    scatter = rng.logistic(size=(MODELS, BENCHMARKS)) / np.exp(precision)
    known, asked = _parted(expit(np.exp(slope) * (ability - demand) + scatter), rng)
    asked = linked(known, asked)
    fit = ml.fit(bs.common_scale_layout(), read_scores(known), seed=1, progressbar=False, **LONGER)
    draws = fit.posterior.stack(all=("chain", "draw"))
    own = draws["ability"].sel(subject=asked["subject"].to_numpy()).to_numpy()
    demand, slope, precision = (
        draws[name].sel(benchmark=asked["benchmark"].to_numpy()).to_numpy()
        for name in ("demand", "slope", "precision")
    )
    drawn = expit(slope * (own - demand) + rng.logistic(size=own.shape) / precision).round(3)
    score = asked["score"].round(3).to_numpy()[:, None]
    below, same = (drawn < score).mean(axis=1), (drawn == score).mean(axis=1)
    return asked.assign(rank=below + same * rng.random(len(asked)))


def _parted(scores: np.ndarray, rng: np.random.Generator) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Part a table of scores into known and unknown cells."""
    known = rng.random(scores.shape) >= MISSING
    rows, columns = np.indices(scores.shape)
    table = pd.DataFrame(
        {
            "subject": [f"model {row:02d}" for row in rows.ravel()],
            "benchmark": [f"test {column:02d}" for column in columns.ravel()],
            "score": scores.ravel(),
        }
    )
    return table[known.ravel()], table[~known.ravel()]


def _layout(name: str) -> ml.Layout:
    return bs.recommended_layout() if name == "recommended" else bs.common_scale_layout()


def _error_row(tables: list[pd.DataFrame], goal: float | None) -> dict:
    """Mean error over splits; without a goal, least squares is the one."""
    ours, squares, average = (
        np.array([error(table, method) for table in tables])
        for method in ("mean", "squares", "average")
    )
    apart = ours - squares
    note = (
        f"root mean square error, mean of {len(tables)} splits; least squares "
        f"{squares.mean():.4f}, lower than it in {int((apart < 0).sum())} of {len(tables)}; mean "
        f"of the benchmark {average.mean():.4f}"
    )
    told = "below least squares" if goal is None else f"<= {goal}"
    met = ours.mean() < squares.mean() if goal is None else ours.mean() <= goal
    return {"found": round(float(ours.mean()), 4), "goal": told, "met": bool(met), "note": note}


def _holding_row(tables: list[pd.DataFrame], *, apart: bool) -> dict:
    """Part of scores in 90 % intervals; splits share cells, so that these count once each."""
    cells = pd.concat(tables).groupby(["subject", "benchmark"]).size()
    each = np.array([holding(table) for table in tables])
    wide = float(np.mean([(table["high"] - table["low"]).mean() for table in tables]))
    error = _apart(each) if apart else float(np.sqrt(0.09 / len(cells)))
    what = f"{len(tables)} tables" if apart else f"{len(cells)} different cells"
    return _ninety(each.mean(), error, f"90 % intervals, {what}, mean width {wide:.3f}")


def _rank_row(tables: list[pd.DataFrame]) -> dict:
    """Part of ranks in the middle 90 %."""
    each = np.array([table["rank"].between(0.05, 0.95).mean() for table in tables])
    return _ninety(each.mean(), _apart(each), f"ranks among draws, {len(tables)} tables")


def _apart(each: np.ndarray) -> float:
    """Standard error of a mean over tables that share nothing."""
    return float(each.std(ddof=1) / len(each) ** 0.5) if len(each) > 1 else np.nan


def _ninety(found: float, error: float, note: str) -> dict:
    """Row whose goal is .90 within three standard errors."""
    return {
        "found": round(float(found), 4),
        "goal": f".90 +- 3 standard errors of {error:.4f}",
        "met": bool(abs(found - 0.9) <= 3 * error),
        "note": note,
    }


def rows(seeds: list[int], data: Path, chosen: set[str] | None = None) -> list[dict]:
    """Work out the rows of a common scale; those of real data take the first ten seeds."""
    sources: dict[str, tuple[Callable[[int], pd.DataFrame], float | None]] = {
        "real cells, recommended layout": (partial(real, "recommended", data=data), 0.093),
        "real cells, common scale layout": (partial(real, "common scale", data=data), None),
        "newest models, three months": (partial(newest, "three months", data=data), None),
        "newest models, a quarter": (partial(newest, "a quarter of the models", data=data), None),
        "simulated cells": (simulated, None),
        "simulated cells, exact shares": (partial(simulated, counted=False), None),
    }
    by_row: dict[str, tuple[Callable[[int], pd.DataFrame], Callable[..., dict]]] = {}
    for name, (table, goal) in sources.items():
        by_row[f"{name}: error"] = table, partial(_error_row, goal=goal)
        holds = partial(_holding_row, apart=name.startswith("simulated"))
        by_row[f"{name}: intervals"] = table, holds
    by_row["simulated from the layout's prior: ranks"] = from_prior, _rank_row
    found = []
    for row, (table, told) in by_row.items():
        if chosen is None or row in chosen:
            began = time.perf_counter()
            tables = []
            for seed in seeds:
                tables.append(table(seed))
                so_far = {key: value for key, value in told(tables).items() if key != "note"}
                print(f"{row}, up to seed {seed}: {so_far}", file=sys.stderr, flush=True)
            own = told(tables)
            seconds = round(time.perf_counter() - began, 1)
            found.append({"row": row, **own, "n": sum(map(len, tables)), "seconds": seconds})
    return found


def main() -> None:
    """Print rows as JSON, one a line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, nargs="*", default=SEEDS)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--rows", nargs="*", help="names of rows; all by default")
    given = parser.parse_args()
    for row in rows(given.seeds, given.data, set(given.rows) if given.rows else None):
        print(json.dumps(row))


if __name__ == "__main__":
    main()
