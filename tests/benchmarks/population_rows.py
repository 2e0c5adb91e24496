"""The benchmark's rows of joint fits: forecasts, draws per second, newcomers and growth."""

import resource
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from itertools import batched

import numpy as np
import pandas as pd
import population_by_hand as by_hand
from lines import Line, at_most, in_words
from population_data import COHORTS, SPLITS, Cohort, held_cells, held_items, known_items
from population_layouts import ALONE, LAYOUTS
from population_rivals import RIVALS, forecast
from population_scores import brier, losses, over_groups, over_splits

import measurement_layouts as ml
from measurement_layouts.linking import logistic

MEAN, RASCH, EXPLAINED, FACTORS = RIVALS
type Hold = Callable[[Cohort, int], np.ndarray]
GOALS = {RASCH: -2.0, "each alone": 0.0}
"""How many standard errors away from a rival the score of held-out cells is to be; 0 otherwise."""
GRACE = {EXPLAINED: 0.0005}
"""How far above a rival the score may lie."""
NEWCOMERS, AT_ONCE = 24, 20
"""Newcomers of a cohort, and the part of a cohort, one in so many, that is left out at a time."""
SHORT = {"draws": 400, "tune": 400, "chains": 2}
QUICK = {"draws": 100, "tune": 150, "chains": 2}
FULL = {"draws": 1000, "tune": 1000, "chains": 4}


def chances(layout: ml.Layout, cohort: Cohort, held: np.ndarray, length: Mapping) -> np.ndarray:
    """Fit what is not held out, and forecast every cell."""
    return chances_of(
        ml.fit(layout, cohort.without(held), seed=1, progressbar=False, **length), cohort
    )


def chances_of(fit: ml.Fit, cohort: Cohort) -> np.ndarray:
    """Forecast every cell; NaN for subjects that are not in the fit."""
    found = fit.forecast(cohort.evaluation.items).data["mean"]
    return found.reindex(subject=cohort.evaluation.subjects).to_numpy()


def joint_cells(name: str, quick: bool, seed: int) -> list[Line]:
    """Score held-out cells beside each subject alone, Rasch, and what else is a goal there."""
    cohort, rivals = COHORTS[name](), [RASCH]
    rivals += {"fractions": [FACTORS], "exam": [EXPLAINED]}.get(name, [])
    scores, _ = _scored(name, cohort, held_cells, rivals, quick, seed)
    return [
        _beside(cohort, "cells", rival, scores, GOALS.get(rival, 0.0), GRACE.get(rival, 0.0))
        for rival in scores.columns.drop("ours")
    ]


def joint_items(name: str, quick: bool, seed: int) -> list[Line]:
    """Score groups of items held out beside each subject alone; beside its mean, as found.

    Splits hold out the same groups again and again, so the error is clustered by groups.
    """
    cohort = COHORTS[name]()
    scores, lost = _scored(name, cohort, held_items, [MEAN], quick, seed)
    return [
        _beside(cohort, "whole items", rival, scores, 2.0, lost=lost)
        for rival in scores.columns.drop("ours")
    ]


def _scored(
    name: str, cohort: Cohort, hold: Hold, rivals: list[str], quick: bool, seed: int
) -> tuple[pd.DataFrame, dict[str, list[np.ndarray]]]:
    """Score one layout, its rivals and each subject alone: a row per split, and losses of cells."""
    length, table = QUICK if quick else SHORT, {}
    lost: dict[str, list[np.ndarray]] = defaultdict(list)
    for split in SPLITS[: 2 if quick else None]:
        held = hold(cohort, split)
        found = {rival: forecast(rival, cohort, held, seed) for rival in rivals}
        found["each alone"] = chances(ALONE[name](), cohort, held, length)
        found["ours"] = chances(LAYOUTS[name](), cohort, held, length)
        table[split] = {way: brier(chance, cohort, held) for way, chance in found.items()}
        for way, chance in found.items():
            lost[way].append(losses(chance, cohort, held))
        print(f"{name}, split {split}: {table[split]}", file=sys.stderr)
    return pd.DataFrame.from_dict(table, "index"), lost


def _beside(
    cohort: Cohort,
    what: str,
    rival: str,
    scores: pd.DataFrame,
    errors: float,
    grace: float = 0.0,
    lost: Mapping[str, list[np.ndarray]] | None = None,
) -> Line:
    """Hold a score to a rival's, so many standard errors away: of groups if `lost` is given."""
    apart, error = over_splits(scores["ours"], scores[rival])
    told = f"{apart:.4f} +- {error:.4f} apart over {len(scores)} splits"
    if lost is not None:
        ours, theirs = (np.array(lost[way]) for way in ("ours", rival))
        error = over_groups(ours, theirs, cohort.groups).error
        told += f", +- {error:.4f} over {cohort.groups.nunique()} groups of items"
    theirs = float(scores[rival].mean())
    return at_most(
        f"{cohort.name}, {what}, joint fit against {rival}",
        "Brier score",
        float(scores["ours"].mean()),
        theirs + errors * error + grace,
        f"({rival} {theirs:.4f})",
        ours=told,
    )


def joint_draws(name: str, quick: bool, seed: int) -> list[Line]:
    """Take effective draws per second of the worst shared value, beside the best form by hand."""
    cohort, layout = COHORTS[name](), LAYOUTS[name]()
    length = QUICK if quick else FULL
    found, fit = sampled(layout, cohort.evaluation, length, seed)
    lines = [
        at_most(
            f"{cohort.name}, joint fit: shared values short of effective draws",
            "values below 400",
            float((found["ess_bulk"] < 400).sum()),
            0,
            f"of {len(found)}",
            ours=f"least {found['ess_bulk'].min():.0f} in {in_words(fit)}",
        )
    ]
    if name not in by_hand.MODELS:
        return lines
    build = by_hand.MODELS[name]
    rivals = [
        by_hand.sampled(build, cohort, form=form, sampling=length, seed=seed)
        for form in by_hand.FORMS
    ]
    best = max(rivals, key=lambda rival: rival.per_second)
    ratio = found["ess_bulk"].min() / fit / best.per_second
    goal = 20 if name == "exam" else 3
    lines.append(
        at_most(
            f"{cohort.name}: time of an effective draw, of that of the best form by hand",
            "part",
            1 / ratio,
            1 / goal,
            "",
            ours=f"{ratio:.1f} times; by hand {best.least:.0f} in {in_words(best.seconds)}",
        )
    )
    return lines


def sampled(
    layout: ml.Layout,
    evaluation: ml.Evaluation,
    length: Mapping,
    seed: int,
    clock: Callable[[], float] = time.perf_counter,
) -> tuple[pd.DataFrame, float]:
    """Fit twice, compiled by the first; shared values, and the seconds of the second."""
    ml.fit(layout, evaluation, seed=seed, progressbar=False, draws=10, tune=10, chains=1)
    start = clock()
    fit = ml.fit(layout, evaluation, seed=seed, progressbar=False, **length)
    seconds = clock() - start
    tables = [fit.population()]
    if any("item" in map(str, latent.plates) for latent in layout.latents):
        tables.append(fit.items())
    return pd.concat(tables), seconds


def new_subjects(name: str, quick: bool, seed: int) -> list[Line]:
    """Forecast the rest of newcomers, ten of whose items are known, beside each fitted alone."""
    cohort, layout = COHORTS[name](), LAYOUTS[name]()
    length, people = QUICK if quick else SHORT, cohort.evaluation.subjects
    chosen = np.random.default_rng(seed).permutation(people)[: 2 if quick else NEWCOMERS].tolist()
    scores, seconds = [], []
    for group in batched(chosen, max(1, len(people) // AT_ONCE), strict=False):
        others = cohort.evaluation.select(subjects=[one for one in people if one not in group])
        fit = ml.fit(layout, others, seed=1, progressbar=False, **length)
        first = {one: known_items(cohort, one, seed) for one in group}
        held = np.ones(cohort.trials.shape, dtype=bool)
        for one in group:
            held[people.index(one)] = ~first[one]
        apart = cohort.without(held, list(group))
        alone = chances_of(
            ml.fit(ALONE[name](), apart, seed=1, progressbar=False, **length), cohort
        )
        for one in group:
            place = people.index(one)
            start = time.perf_counter()
            new = fit.newcomer(apart.select(subjects=[one]))
            seconds.append(time.perf_counter() - start)
            row = held & (np.arange(len(people)) == place)[:, None]
            ours = chances_of(new, cohort)
            scores.append([brier(chance, cohort, row) for chance in (ours, alone)])
    ours, theirs = np.transpose(scores)
    apart_by, error = over_splits(ours, theirs)
    case = f"{cohort.name}, newcomers of ten items"
    return [
        at_most(
            f"{case}: the rest foreseen",
            "Brier score",
            float(ours.mean()),
            float(theirs.mean()),
            "(each alone)",
            ours=f"{apart_by:.4f} +- {error:.4f} apart, {len(ours)} newcomers",
        ),
        at_most(f"{case}: a newcomer", "seconds", float(np.median(seconds)), 1, "s"),
    ]


def growing(quick: bool, seed: int) -> list[Line]:
    """Simulate 250, 500 and 1,000 subjects of 100 items: seconds per effective draw.

    Seconds are those of the processor, which other programs change little.
    """
    found, told = {}, []
    for count in (50, 100, 200) if quick else (250, 500, 1000):
        evaluation = _simulated(count, 100, seed)
        length = QUICK if quick else FULL
        table, seconds = sampled(_two_abilities(), evaluation, length, seed, time.process_time)
        least = table["ess_bulk"].min()
        found[count] = seconds / least / count
        told.append(f"{count:,} subjects: least {least:.0f} in {in_words(seconds)}")
    least, most = min(found), max(found)
    return [
        at_most(
            "simulated: processor time per effective draw and subject, most against fewest",
            "ratio",
            found[most] / found[least],
            1.25,
            "",
            ours="; ".join(told),
        )
    ]


def large(quick: bool, seed: int) -> list[Line]:
    """Simulate 1,000 subjects of 1,000 items, of two abilities each."""
    size = 100 if quick else 1000
    evaluation = _simulated(size, size, seed)
    start = time.perf_counter()
    length = QUICK if quick else FULL
    fit = ml.fit(_two_abilities(), evaluation, seed=seed, progressbar=False, **length)
    seconds = time.perf_counter() - start
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    worst = fit.population()["rhat"].max()
    case = f"simulated, {size:,} x {size:,}"
    return [
        at_most(case, "minutes", seconds / 60, 30, "min"),
        at_most(case, "memory", memory, 4, "GiB"),
        at_most(case, "largest R-hat of what is shared", float(worst), 1.01, ""),
    ]


def _two_abilities() -> ml.Layout:
    """Two abilities that are both needed, and an ease of each item."""
    sums, words = (ml.MetaFeature(name, low=-2, high=2) for name in ("sums", "words"))
    parts = []
    for name, demand in (("reckoning", sums), ("reading", words)):
        mean = ml.Bias(f"{name}Mean", per="population", prior=ml.Prior("Normal", mu=1, sigma=2))
        prior = ml.Prior("Normal", mu=mean, sigma=ml.Spread(f"{name}Spread"))
        parts.append((ml.Capability(name, prior=prior), demand))
    spread = ml.Spread("easeSpread")
    ease = ml.Bias("ease", per="item", prior=ml.Prior("ZeroSumNormal", sigma=spread))
    (first, one), (second, other) = parts
    return ml.Layout(
        "two", ml.Success("solved", logistic(first - one + ease) * logistic(second - other))
    )


def _simulated(subjects: int, items: int, seed: int) -> ml.Evaluation:
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


ROWS = {
    **{f"joint-cells-{name}": (joint_cells, name) for name in LAYOUTS},
    **{f"joint-items-{name}": (joint_items, name) for name in LAYOUTS},
    **{f"joint-draws-{name}": (joint_draws, name) for name in LAYOUTS},
    **{f"newcomers-{name}": (new_subjects, name) for name in LAYOUTS},
}
"""Cases of a cohort: the function, and the cohort's name."""
