"""Joint fits: held-out cells, effective draws of shared values, and cohorts of known posterior."""

import sys
import time
from collections.abc import Mapping

import numpy as np
import pandas as pd
import processes
from arviz_stats.base import array_stats
from battery_cases import data_folder
from population_data import COHORTS, SPLITS, Cohort, held_cells
from population_layouts import ALONE, LAYOUTS
from population_mixed import mixed
from population_scores import brier, over_splits

import measurement_layouts as ml
from measurement_layouts.linking import logistic

SHORT = {"draws": 400, "tune": 400, "chains": 2}
FULL = {"draws": 1000, "tune": 1000, "chains": 4}


def held_out_cells(name: str, *, seed: int) -> list[float]:
    """Score held-out cells of a cohort by its joint layout, beside Rasch and each subject alone.

    Returns
    -------
    list of float
        Mean Brier score of the joint fit; its difference from Rasch and two standard errors of it
        over the splits; its difference from each subject alone.
    """
    cohort, scores = COHORTS[name](), []
    for split in SPLITS:
        held = held_cells(cohort, split)
        right, tried = (np.where(held, 0.0, table) for table in (cohort.successes, cohort.trials))
        ways = [
            _chances(LAYOUTS[name](), cohort, held, seed),
            mixed(right, tried).chances,
            _chances(ALONE[name](), cohort, held, seed),
        ]
        scores.append([brier(chances, cohort, held) for chances in ways])
        print(f"{name}, split {split}: joint, Rasch, alone {scores[-1]}", file=sys.stderr)
    joint, rasch, alone = np.transpose(scores)
    apart = over_splits(joint, rasch)
    return [float(joint.mean()), apart.mean + 2 * apart.error, float((joint - alone).mean())]


def _chances(layout: ml.Layout, cohort: Cohort, held: np.ndarray, seed: int) -> np.ndarray:
    """Fit what is not held out, and forecast every cell."""
    fit = ml.fit(layout, cohort.without(held), seed=seed, progressbar=False, **SHORT)
    found = fit.forecast(cohort.evaluation.items).data["mean"]
    return np.asarray(found.reindex(subject=cohort.evaluation.subjects).to_numpy())


def effective_draws(
    layout: ml.Layout,
    evaluation: ml.Evaluation,
    length: Mapping[str, int],
    seed: int,
    *,
    items: bool = True,
) -> list[float]:
    """Fit twice, compiled by the first: least effective draws of the second, and per second.

    Parameters
    ----------
    layout, evaluation : Layout, Evaluation
        A joint layout with its cohort.
    length : mapping
        Draws, tuning draws and chains.
    seed : int
        Of the chains.
    items : bool
        Whether values of items count as shared values; otherwise the population's alone.
    """
    ml.fit(layout, evaluation, seed=seed, progressbar=False, draws=10, tune=10, chains=1)
    start = time.perf_counter()
    fit = ml.fit(layout, evaluation, seed=seed, progressbar=False, **length)
    seconds = time.perf_counter() - start
    tables = [fit.population()]
    if items and any("item" in map(str, latent.plates) for latent in layout.latents):
        tables.append(fit.items())
    least = float(pd.concat(tables)[["ess_bulk", "ess_tail"]].min().min())
    print(f"{layout.name}: {least:.0f} effective draws in {seconds:.1f} s", file=sys.stderr)
    return [least, least / seconds]


def known_posterior(seed: int) -> list[float]:
    """Fit a one-parameter model of which others have computed 501 posterior means.

    Returns
    -------
    list of float
        The largest distance of a mean, in Monte Carlo standard errors of the difference; effective
        draws of the population's mean.
    """
    folder = data_folder("inference_gym_1pl")
    answers, truth = (
        pd.read_csv(folder / f"{name}.csv", index_col=0) for name in ("answers", "truth")
    )
    evaluation = ml.Evaluation.from_wide(answers, pd.DataFrame(index=answers.columns))
    mean = ml.Effect("mean", prior=ml.Prior("Normal", mu=0.75, sigma=1))
    ability = ml.Capability("ability", prior=ml.Prior("Normal", mu=mean, sigma=1))
    hard = ml.Effect("difficulty", per="item", prior=ml.Prior("Normal", mu=0, sigma=1))
    layout = ml.Layout("1PL", ml.Success("right", logistic(ability - hard)))
    fit = ml.fit(layout, evaluation, seed=seed, progressbar=False, **FULL)
    draws = fit.data["posterior"].to_dataset().transpose("chain", "draw", ...)
    own = (draws["ability"] - draws["mean"]).sel(subject=answers.index).to_numpy()
    parts = [draws["mean"].to_numpy()[..., None], own]
    parts.append(draws["difficulty"].sel(item=answers.columns).to_numpy())
    drawn = np.concatenate(parts, axis=2)
    right = truth.loc[["mean", *answers.index, *answers.columns]]
    effective = np.array(
        [array_stats.ess(np.ascontiguousarray(x)) for x in np.moveaxis(drawn, 2, 0)]
    )
    error = np.sqrt(drawn.var((0, 1)) / effective + right["mean_standard_error"].to_numpy() ** 2)
    apart = np.abs(drawn.mean((0, 1)) - right["mean"].to_numpy()) / error
    return [float(apart.max()), float(effective[0])]


def large(seed: int, size: int = 1000) -> list[float]:
    """Fit so many simulated subjects on as many items: minutes, GiB and the largest R-hat."""
    evaluation = simulated(size, size, seed)
    processes.forget_peak()
    start = time.perf_counter()
    fit = ml.fit(two_abilities(), evaluation, seed=seed, progressbar=False, **FULL)
    minutes = (time.perf_counter() - start) / 60
    gibibytes = processes.peak() / 2**30
    return [minutes, gibibytes, float(fit.population()["rhat"].max())]


def two_abilities() -> ml.Layout:
    """Two abilities that are both needed, and an ease of each item."""
    sums, words = (ml.MetaFeature(name, low=-2, high=2) for name in ("sums", "words"))
    parts = []
    for name, demand in (("reckoning", sums), ("reading", words)):
        mean = ml.Effect(f"{name}Mean", prior=ml.Prior("Normal", mu=1, sigma=2))
        spread = ml.Spread(f"{name}Spread", prior=ml.Prior("HalfNormal", sigma=1))
        prior = ml.Prior("Normal", mu=mean, sigma=spread)
        parts.append((ml.Capability(name, prior=prior), demand))
    spread = ml.Spread("easeSpread", prior=ml.Prior("HalfNormal", sigma=1))
    ease = ml.Effect("ease", per="item", prior=ml.Prior("ZeroSumNormal", sigma=spread))
    (first, one), (second, other) = parts
    return ml.Layout(
        "two", ml.Success("solved", logistic(first - one + ease) * logistic(second - other))
    )


def simulated(subjects: int, items: int, seed: int) -> ml.Evaluation:
    """Draw outcomes of two abilities and items' eases."""
    rng = np.random.default_rng(seed)
    names, people = [f"i{at}" for at in range(items)], [f"s{at}" for at in range(subjects)]
    table = pd.DataFrame(rng.uniform(-2, 2, (items, 2)), names, ["sums", "words"])
    able = rng.normal([1.5, 1.5], [1.0, 0.8], (subjects, 2))
    ease = rng.normal(0, 0.7, items)
    first = 1 / (1 + np.exp(-(able[:, :1] - table["sums"].to_numpy() + ease)))
    second = 1 / (1 + np.exp(-(able[:, 1:] - table["words"].to_numpy())))
    came = (rng.random((subjects, items)) < first * second).astype(int)
    counts = pd.DataFrame(came, people, names)
    return ml.Evaluation(table, counts, counts * 0 + 1)
