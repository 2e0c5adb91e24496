"""Five studies: the layout with a population beside the recommended one, subject by subject.

Splits are those of `population_data`, seeds 0, 1 and so on: random cells (subject x item), where
both layouts know every subject and every item, and whole items, of which nothing is known but their
properties. Both fits have the same draws. What a figure is:

- **Brier score**: per trial; the goal is that of the recommended layout, for whole items with two
  standard errors over the splits: nothing is known of a new item's ease, so no gain is expected.
- **AUROC**: mean over the subjects whose held-out outcomes differ.
- **calibration error**: ten bins, all held-out cells together.
- **coverage**: of held-out cells, the share of subjects, and of items, whose number of successes
  lies in the 90 % interval of what the draws foresee. An interval holds at least 90 %, for numbers
  of successes are whole; the goal is .90 less three standard errors over so many of them.
"""

import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple

import numpy as np
from lines import Line, at_least, at_most
from population_adele import abilities
from population_data import COHORTS, Cohort, held_cells, held_items, time_horizons
from population_scores import Difference, brier, over_splits

import measurement_layouts as ml
from measurement_layouts import scenarios
from measurement_layouts.inference.forecasts.reading import levels_of_items
from measurement_layouts.inference.forecasts.streaming import probabilities
from measurement_layouts.inference.forecasts.support import features_of_items
from measurement_layouts.validation.prediction.scoring_rules import (
    auroc,
    expected_calibration_error,
)

STUDIES = {
    "animal-ai-olympics": COHORTS["animal-ai"],
    "fraction-subtraction": COHORTS["fractions"],
    "gsm8k": COHORTS["gsm8k"],
    "weirdml": time_horizons,
    "adele": COHORTS["adele"],
}
"""By the scenario's name, its real cohort."""
LENGTH = {"draws": 300, "tune": 400, "chains": 2}
QUICK = {"draws": 100, "tune": 150, "chains": 2}
SPLITS = 4
MASS = 0.9
_MEMORY_MIB = 64.0


class Scored(NamedTuple):
    """What one layout made of one split."""

    brier: float
    auroc: float
    ece: float
    seconds: float
    subjects: np.ndarray
    items: np.ndarray


def study(name: str, quick: bool, seed: int) -> list[Line]:
    """Hold the population layout of a study against the recommended one."""
    scenario, cohort = scenarios.get(name), STUDIES[name]()
    made = {
        "population": scenario.every_layout()["population layout"](),
        "recommended": scenario.layouts[scenario.recommended](),
    }
    length = QUICK if quick else LENGTH
    lines = []
    for what, hold, slack in (("cells", held_cells, 0.0), ("whole items", held_items, 2.0)):
        found: dict[str, list[Scored]] = {one: [] for one in made}
        for split in range(2 if quick else SPLITS):
            held = hold(cohort, split)
            for one, layout in made.items():
                found[one].append(scored(layout, cohort, held, length, seed))
        lines += _beside(f"{name}, {what}", found["population"], found["recommended"], slack)
    return lines


def scored(
    layout: ml.Layout, cohort: Cohort, held: np.ndarray, length: Mapping[str, int], seed: int
) -> Scored:
    """Fit what is not held out, and score the rest; coverage where all of it is known."""
    start = time.perf_counter()
    fit = ml.fit(
        layout, cohort.without(held), seed=seed, progressbar=False, reruns=0, n_jobs=2, **length
    )
    forecast = fit.forecast(cohort.evaluation.items).data["mean"]
    seconds = time.perf_counter() - start
    chances = forecast.reindex(subject=cohort.evaluation.subjects).to_numpy()
    asked = np.broadcast_to(held, cohort.trials.shape) & (cohort.trials > 0)
    won, tried = cohort.successes, cohort.trials
    areas = [
        auroc(chances[row][own], won[row][own], tried[row][own])
        for row, own in enumerate(asked)
        if own.any() and 0 < won[row][own].sum() < tried[row][own].sum()
    ]
    error = expected_calibration_error(chances[asked], won[asked], tried[asked])
    known = np.zeros(0, bool), np.zeros(0, bool)
    if held.ndim == 2:
        known = inside(fit, cohort, asked, seed)
    return Scored(brier(chances, cohort, held), float(np.mean(areas)), error, seconds, *known)


def inside(
    fit: ml.Fit, cohort: Cohort, asked: np.ndarray, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Say of which subjects and items the number of successes lies in its interval."""
    rng, names = np.random.default_rng(seed), list(fit.constants["item"].to_numpy())
    order = cohort.evaluation.items.index.get_indexer(names)
    features = {**features_of_items(fit), **levels_of_items(fit)}
    draws = fit.posterior.sizes["chain"] * fit.posterior.sizes["draw"]
    of_items = np.zeros((asked.shape[1], draws))
    held = []
    for row, subject in enumerate(fit.subjects):
        place = cohort.evaluation.subjects.index(subject)
        tried = np.where(asked[place], cohort.trials[place], 0).astype(int)
        of_subject = np.zeros(draws)
        for places, chance in probabilities(fit, row, features, len(names), memory_mib=_MEMORY_MIB):
            drawn = rng.binomial(tried[order[places], None], np.clip(chance, 0, 1))
            of_items[order[places]] += drawn
            of_subject += drawn.sum(axis=0)
        if tried.any():
            held.append(_holds(of_subject[None], cohort.successes[place][tried > 0].sum())[0])
    there = asked.any(axis=0)
    came = np.where(asked, cohort.successes, 0).sum(axis=0)[there]
    return np.array(held), _holds(of_items[there], came)


def _holds(drawn: np.ndarray, came: np.ndarray | float) -> np.ndarray:
    """Whether what came lies in the central interval of the draws, a row each."""
    ends = (1 - MASS) / 2, (1 + MASS) / 2
    low = np.quantile(drawn, ends[0], axis=1, method="inverted_cdf")
    high = np.quantile(drawn, ends[1], axis=1, method="inverted_cdf")
    return (low <= came) & (came <= high)


def _beside(case: str, ours: list[Scored], theirs: list[Scored], slack: float) -> list[Line]:
    """Write the lines of one kind of split; goals are so many standard errors away."""

    def mean(found: list[Scored], what: str) -> float:
        return float(np.mean([getattr(one, what) for one in found]))

    def apart(what: str) -> Difference:
        both = ([getattr(one, what) for one in found] for found in (ours, theirs))
        return over_splits(*both)

    def said(what: str) -> str:
        difference, error = apart(what)
        return f"{difference:+.4f} +- {error:.4f} apart over {len(ours)} splits"

    beside = "population against recommended layout"
    lines = [
        at_most(
            f"{case}: {beside}",
            name,
            mean(ours, what),
            mean(theirs, what) + slack * apart(what).error,
            "(the recommended layout's)",
            ours=said(what),
        )
        for what, name in (("brier", "Brier score"), ("ece", "calibration error"))
    ]
    lines.append(
        at_least(
            f"{case}: {beside}",
            "AUROC",
            mean(ours, "auroc"),
            mean(theirs, "auroc") - slack * apart("auroc").error,
            "(the recommended layout's)",
            ours=said("auroc"),
        )
    )
    for which in ("subjects", "items"):
        own, other = (
            np.concatenate([getattr(one, which) for one in found]) for found in (ours, theirs)
        )
        if len(own):
            chance = 3 * np.sqrt(MASS * (1 - MASS) / len(own))
            lines.append(
                at_least(
                    f"{case}: 90 % intervals of {which}' successes, population",
                    "coverage",
                    float(own.mean()),
                    MASS - chance,
                    f"of {len(own)}",
                    ours=f"recommended {other.mean():.3f}",
                )
            )
    lines.append(
        at_most(
            f"{case}: {beside}",
            "seconds of a fit and its forecast",
            mean(ours, "seconds"),
            600,
            "s",
            ours=f"recommended {mean(theirs, 'seconds'):.0f} s",
        )
    )
    return lines


ROWS: dict[str, Callable[[bool, int], list[Line]]] = {
    "abilities": abilities,
    **{f"splits-{name}": partial(study, name) for name in STUDIES},
}
"""By case: from whether it is to be quick and a seed to lines of the table."""
