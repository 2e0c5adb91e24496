"""Capabilities over time: doubling times, kinks, and the future foreseen.

    python tests/benchmarks/measured_time.py --json [--seeds 20] [--data FOLDER] [--rows ROW ...]

Simulated cohorts are made by the scenario's own simulator, in which tasks of equal hours differ by
1.5 doublings for each model; no layout that is fitted here knows that.
"""

import argparse
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import measurement_layouts as ml
from measurement_layouts.estimation import horizon_trend, joint_trend, time_horizons
from measurement_layouts.scenarios import weirdml
from measurement_layouts.scenarios.weirdml.cohort import MONTHS, SLOPE, SPREAD, runs
from measurement_layouts.validation import find_kink, leave_future_out
from measurement_layouts.validation.leave_one_out.compare import stacking_weights

SHAPES = ("line", "kink", "walk")
QUIET: dict[str, Any] = {"chains": 2, "target_accept": 0.9, "progressbar": False}
LONGER = {"draws": 1000, "tune": 1000, "target_accept": 0.95}  # 400 are too few for a walk
FEW = QUIET | {"draws": 400, "tune": 400}
MODELS, RATE, SCATTER = 20, 2.4, 0.4  # doublings a year, doublings
START = 4.0  # doublings of an hour in 2025: most models are then within the battery's hours
FIRST, LAST = "2023-07-01", "2026-02-01"
TRUTHS = {  # change of the rate, and how far a walk moves in a year
    "straight line": (0.0, 0.0),
    "change of 2.4 a year": (2.4, 0.0),
    "change of 4.8 a year": (4.8, 0.0),
    "walk of 1 in a year": (0.0, 1.0),
}
VERDICTS = ("kink", "changed", "cannot tell")
GOALS = {
    "straight line": "kink or changed in at most 5 %",
    "walk of 1 in a year": "kink in at most 5 %",
}
EARLIER = 5  # points before stacking weights are learnt


def real(data: Path) -> ml.Evaluation:
    """Read the real outcomes, with dates."""
    return weirdml.dated(weirdml.load(data), weirdml.released(data))


def months(trend: Any) -> str:
    """Write a doubling time with its interval."""
    return f"{trend.months:.1f} ({trend.low:.1f} to {trend.high:.1f})"


def two_steps(evaluation: ml.Evaluation, released: pd.Series) -> Any:
    """Fit each horizon alone, and then a line through them."""
    fit = ml.fit(weirdml.published_layout(), evaluation, method="grid", seed=1, progressbar=False)
    return horizon_trend(time_horizons(fit, released))


def doubling_time(seeds: list[int], data: Path) -> dict[str, object]:
    """Take the doubling time of 87 real models, jointly and in two steps."""
    evaluation = real(data)
    found = {}
    for shape in SHAPES:
        fit = ml.fit(
            weirdml.trend_layout(shape), evaluation, draws=1000, tune=1000, seed=seeds[0], **QUIET
        )
        found[shape] = joint_trend(fit, weirdml.SINCE)
    apart = two_steps(evaluation, weirdml.released(data))
    note = "; ".join(f"{shape} {months(trend)}" for shape, trend in found.items())
    line = found["line"]
    return {
        "found": f"joint {months(line)}, two steps {months(apart)}",
        "goal": "both with 90 % intervals",
        "n": len(evaluation.subjects),
        "note": f"months; joint: {note}",
    }


def covered(seeds: list[int], data: Path) -> dict[str, object]:
    """Simulate cohorts whose horizons double in five months."""
    held = {"joint": 0, "two steps": 0}
    released = weirdml.release_dates()
    for seed in seeds:
        evaluation = weirdml.dated(weirdml.simulated_cohort(seed).evaluation, released)
        fit = ml.fit(weirdml.trend_layout(), evaluation, seed=seed, **FEW)
        trends = joint_trend(fit, weirdml.SINCE), two_steps(evaluation, released)
        for name, trend in zip(held, trends, strict=True):
            held[name] += trend.low < MONTHS < trend.high
    return {
        "found": {name: round(count / len(seeds), 3) for name, count in held.items()},
        "goal": f".90 +- {3 * (0.09 / len(seeds)) ** 0.5:.2f}, jointly",
        "n": len(seeds),
        "note": "share of 90 % intervals of the doubling time that hold the true 5 months",
    }


def future(seeds: list[int], data: Path) -> dict[str, object]:
    """Foresee the later half of the real models from the earlier."""
    layouts = {shape: weirdml.trend_layout(shape) for shape in SHAPES}
    evaluation = real(data)
    options = QUIET | LONGER
    found = leave_future_out(layouts, evaluation, by="released", seed=seeds[0], **options)
    table = found.table.pivot(index="subject", columns="layout", values="elpd")
    order = [who for who in evaluation.subjects if who in table.index]
    points = table.loc[order, list(SHAPES)].to_numpy()
    stacked = np.empty(len(points))
    for place, own in enumerate(points):
        weights = np.full(len(SHAPES), 1 / len(SHAPES))
        if place >= EARLIER:
            weights = stacking_weights(points[:place])
        stacked[place] = np.log(np.exp(own - own.max()) @ weights) + own.max()
    ahead = {
        name: column - points[:, 0]
        for name, column in [*zip(SHAPES, points.T, strict=True), ("stacked", stacked)]
    }
    said = {
        name: f"{own.sum():+.1f} (se {own.std(ddof=1) * len(own) ** 0.5:.1f})"
        for name, own in ahead.items()
        if name != "line"
    }
    return {
        "found": said,
        "goal": "not below the line's by more than two standard errors",
        "n": len(points),
        "note": "nats ahead of the line, models foreseen whole in three blocks; stacked by weights "
        "that are learnt from the models before",
    }


def trends(seed: int, change: float, pace: float) -> ml.Evaluation:
    """Simulate 20 models about a trend."""
    rng = np.random.default_rng([seed, 25])
    names = pd.Index([f"sim-{number:02d}" for number in range(1, MODELS + 1)], name="subject")
    days = np.sort(rng.uniform(0, (pd.Timestamp(LAST) - pd.Timestamp(FIRST)).days, MODELS))
    dates = pd.Series(pd.Timestamp(FIRST) + pd.to_timedelta(days, unit="D").round("D"), names)
    years = ((dates - pd.Timestamp(weirdml.SINCE)).dt.days / 365.25).to_numpy()
    when = rng.uniform(-0.8, 0.4)
    horizon = START + RATE * years + change * (np.abs(years - when) - np.abs(when)) / 2
    weeks = np.arange(-1.5, 1.1, 1 / 52)
    walk = np.concatenate([[0.0], np.cumsum(rng.normal(0, pace / 52**0.5, len(weeks) - 1))])
    horizon += np.interp(years, weeks, walk - np.interp(0, weeks, walk))
    horizon += rng.normal(0, SCATTER, MODELS)
    ease = rng.normal(size=(MODELS, len(weirdml.TASKS)))
    own = [f"ease[{task}]" for task in weirdml.TASKS]
    about = {"horizon": horizon, "slope": SLOPE, "taskSpread": SPREAD}
    profiles = pd.concat([pd.DataFrame(about, names), pd.DataFrame(ease, names, own)], axis=1)
    items = weirdml.battery(seed)
    reached = runs(items, profiles, rng)
    return weirdml.dated(ml.Evaluation(items, reached, reached * 0 + 5), dates)


def kinks(truth: str) -> Callable[[list[int], Path], dict[str, object]]:
    """Look for kinks where the truth is known."""

    def measure(seeds: list[int], data: Path) -> dict[str, object]:
        verdicts = []
        for seed in seeds:
            evaluation = trends(seed, *TRUTHS[truth])

            fit = ml.fit(weirdml.trend_layout("kink"), evaluation, seed=1, **FEW)
            low, high = np.quantile(fit.posterior["change"], [0.025, 0.975])
            if low <= 0 <= high:  # then the other shapes do not matter to `find_kink`
                verdicts.append("cannot tell")
                continue
            others = {
                shape: ml.fit(weirdml.trend_layout(shape), evaluation, seed=1, **FEW)
                for shape in ("line", "walk")
            }
            verdicts.append(find_kink({"kink": fit, **others}).verdict)
        counts = pd.Series(verdicts).value_counts()
        return {
            "found": {name: int(counts.get(name, 0)) for name in VERDICTS},
            "goal": GOALS.get(truth, "found where it is large"),
            "n": len(seeds),
            "note": f"verdicts; 20 models, scatter {SCATTER}, rate {RATE} doublings a year",
        }

    return measure


ROWS: dict[str, Callable[[list[int], Path], dict[str, object]]] = {
    "WeirdML doubling time": doubling_time,
    "doubling time, simulated": covered,
    "WeirdML, the future left out": future,
    **{f"kink: {truth}": kinks(truth) for truth in TRUTHS},
}


def rows(seeds: list[int], data: Path, chosen: set[str] | None) -> list[dict[str, object]]:
    """Measure the rows that are asked for, all by default."""
    found = []
    for name, measure in ROWS.items():
        if chosen is None or name in chosen:
            start = time.monotonic()
            row = {"row": name, **measure(seeds, data)}
            found.append(row | {"seconds": round(time.monotonic() - start)})
    return found


def main() -> None:
    """Print the rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--data", type=Path, default=os.environ.get("MEASUREMENT_LAYOUTS_DATA"))
    parser.add_argument("--rows", nargs="*", choices=list(ROWS))
    asked = parser.parse_args()
    seeds = list(range(1, asked.seeds + 1))
    for row in rows(seeds, asked.data, set(asked.rows) if asked.rows else None):
        print(json.dumps(row) if asked.json else row, flush=True)


if __name__ == "__main__":
    main()
