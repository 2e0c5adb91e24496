"""Fits of many subjects, made without sampling them all, and what was slow of them once."""

import statistics
import tempfile
import time
from pathlib import Path

import battery_cases as batteries
import import_time
import numpy as np
import pandas as pd
import processes
import xarray as xr
from lines import Agreement, Line, at_most, in_words, values_agree
from processes import MIB

import measurement_layouts as ml
from measurement_layouts.linking import logistic
from measurement_layouts.validation.comparison import compare_profiles

SUBJECTS, PAIRED, STORED, ITEMS, SEEDS = 3_000, 100, 1_000, 50_000, 20
SAMPLED = 30  # whose draws are repeated
FLAT = 32.0  # MiB; the draws of a thousand subjects are 122 MiB


def many(count: int, seed: int) -> ml.Fit:
    """Fit a few Animal-AI agents, and repeat their draws under names of their own."""
    study = batteries.animal_ai(seed)
    evaluation = study.evaluation.select(subjects=study.evaluation.subjects[:SAMPLED])
    fit = ml.fit(study.layout, evaluation, seed=seed, reruns=0, progressbar=False)
    places, groups = np.resize(np.arange(SAMPLED), count), {}
    for name, group in fit.data.children.items():
        data = group.to_dataset()
        if "subject" in data.dims:
            names = [f"copy-{number:05d}" for number in range(count)]
            data = data.isel(subject=places).assign_coords(subject=names)
        groups[name] = data
    tree = xr.DataTree.from_dict(groups)
    tree.attrs = fit.data.attrs
    return ml.Fit(fit.layout, tree, {})


def profiles(quick: bool, seed: int) -> list[Line]:
    """Profiles and diagnostics of 300 subjects and of ten times as many."""
    counts = (30, 300) if quick else (SUBJECTS // 10, SUBJECTS)
    seconds = {}
    for count in counts:
        fit = many(count, seed)
        start = time.perf_counter()
        table = fit.profiles()
        fit.diagnostics()
        seconds[count] = time.perf_counter() - start
    fewer, more = counts
    case = f"profiles and diagnostics of {more:,} subjects"
    each = {count: found / count for count, found in seconds.items()}
    named = table["node"] == fit.layout.latents[0].name
    draws = fit.posterior[fit.layout.latents[0].name].to_numpy().reshape(more, -1)
    answers = values_agree(
        "ends of intervals, against NumPy's quantiles",
        table.loc[named, ["low", "high"]].to_numpy().T,
        np.quantile(draws, [0.05, 0.95], axis=1),
    )
    return [
        at_most(case, "seconds", seconds[more], 15, "s", answers=answers),
        at_most(
            case,
            f"seconds of a subject, over those at {fewer:,}",
            each[more] / each[fewer],
            1.5,
            "times",
            ours=f"{in_words(each[more])} each",
        ),
    ]


def report(quick: bool, seed: int) -> list[Line]:
    """The HTML page of three thousand subjects: seconds and size."""
    count = 320 if quick else SUBJECTS
    fit = many(count, seed)
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        size = ml.report(fit, Path(folder) / "report.html").stat().st_size
        seconds = time.perf_counter() - start
    case = f"report of {count:,} subjects"
    return [
        at_most(case, "seconds", seconds, 60, "s"),
        at_most(case, "size of the page", size / MIB, 8, "MiB"),
    ]


def compared(quick: bool, seed: int) -> list[Line]:
    """Every pair of a hundred subjects; superiority of some against all pairs of draws."""
    count = 6 if quick else PAIRED
    fit = many(count, seed)
    start = time.perf_counter()
    table = compare_profiles(fit).table
    seconds = time.perf_counter() - start
    rows = table.iloc[:: max(1, len(table) // 8)]
    expected = [_ahead(fit, *row) for row in rows[["subject", "reference", "node"]].to_numpy()]
    apart = (rows["superiority"] - expected).abs() / rows["superiority_error"]
    answers = Agreement("superiorities", apart.max(), 5, len(rows), "Monte Carlo errors")
    case = f"compare_profiles of {count} subjects"
    return [at_most(case, "seconds", seconds, 3, "s", answers=answers)]


def _ahead(fit: ml.Fit, subject: str, reference: str, node: str) -> float:
    """Compare all pairs of draws, one by one."""
    draws = fit.posterior[node]
    one, other = (draws.sel(subject=name).to_numpy().ravel() for name in (subject, reference))
    return float(np.mean([(each > other).mean() + (each == other).mean() / 2 for each in one]))


def first_layout(quick: bool, seed: int) -> list[Line]:
    """Import and declare a first layout in a fresh process, beside `import pymc`."""
    tasks = {"ours": import_time.DECLARE, "pymc": "import pymc"}
    rounds = 2 if quick else 7
    found = [
        {name: import_time.seconds_of(code) for name, code in tasks.items()}
        for _ in range(rounds + 1)
    ]
    ours, pymc = (statistics.median(turn[name] for turn in found[1:]) for name in tasks)
    case = "import and declare a first layout"
    beside = f"seconds (`import pymc`: {in_words(pymc)})"
    return [at_most(case, beside, ours, 0.5, "s")]


def stored(quick: bool, seed: int) -> list[Line]:
    """A thousand subjects into a store: memory, beyond that at ten."""
    counts = (10, 30) if quick else (10, STORED)
    few, most = (
        processes.run("fit_copies", count=count, rounds=5 if count == 10 else 1, seed=seed)
        for count in counts
    )
    case = f"{counts[1]:,} subjects into a store"
    grown = (most["growth"] - few["growth"]) / MIB
    return [at_most(case, f"growth of memory, beyond that at {counts[0]}", grown, FLAT, "MiB")]


def short_chains(quick: bool, seed: int) -> list[Line]:
    """Sixty-eight agents by 2 x (300 + 300) draws: how many are said not to have converged."""
    study = batteries.animal_ai(seed)
    subjects = study.evaluation.subjects[:: 8 if quick else 1]
    fit = ml.fit(
        *(study.layout, study.evaluation.select(subjects=subjects)),
        **{"draws": 300, "tune": 300, "chains": 2},
        **{"seed": seed, "reruns": 0, "progressbar": False},
    )
    status = fit.diagnostics()["status"]
    case = f"{len(subjects)} agents by 2 x (300 + 300) draws"
    ours = ", ".join(f"{count} {name}" for name, count in status.value_counts().items())
    share = float((status == "not converged").mean())
    return [at_most(case, "share said not to have converged", share, 0.05, "of them", ours=ours)]


def wide_priors(quick: bool, seed: int) -> list[Line]:
    """One subject on 50,000 distinct items with two demands, by twenty seeds."""
    items, runs = (500, 2) if quick else (ITEMS, SEEDS)
    rng = np.random.default_rng(seed)
    names = [f"item-{number:05d}" for number in range(items)]
    table = pd.DataFrame({"d": rng.uniform(0, 10, items), "s": rng.uniform(0, 10, items)}, names)
    demands = [ml.MetaFeature(name, low=0, high=10) for name in ("d", "s")]
    abilities = [ml.Capability(name, low=0, high=100) for name in ("n", "v")]
    parts = [logistic(able - asked) for able, asked in zip(abilities, demands, strict=True)]
    layout = ml.Layout("two", ml.Success("passed", parts[0] * parts[1]))
    truth = pd.DataFrame({"n": [6.0], "v": [4.0]}, ["Ann"])
    evaluation = ml.simulate(layout, table, truth, seed=seed)
    seconds, lost = [], 0
    for own in range(seed, seed + runs):
        start = time.perf_counter()
        fit = ml.fit(layout, evaluation, seed=own, progressbar=False)
        seconds.append(time.perf_counter() - start)
        lost += int(fit.attempts.get("Ann", 1) > 1 or fit.diagnostics()["rhat"].iloc[0] > 1.01)
    case = f"one subject, {items:,} items, wide priors"
    return [
        at_most(case, f"seconds, median of {runs} seeds", statistics.median(seconds), 30, "s"),
        at_most(case, f"seeds with a chain lost, or sampled again, of {runs}", lost, 0, "seeds"),
    ]
