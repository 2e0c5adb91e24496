"""Real answers replayed: how far the profile of few items is from that of the full battery.

Each subject is asked the items that it attempted, in the order of an adaptive test, at random, and
in that of two-parameter item response theory, calibrated on all other subjects. All three profiles
are posteriors of the same layout, carried on by the same particles; the full battery's is a fit's.
The error is the root mean square difference of posterior means, in prior standard deviations, over
the capabilities, or over all elements where a layout has no capability.
"""

import sys

import numpy as np
import pandas as pd
from banks import Bank, drawn
from battery_cases import data_folder
from lines import Line, at_most
from next_items_banks import needed
from next_items_irt import calibrated
from next_items_reference import randomly
from next_items_tests import followed, table
from population_data import COHORTS, Cohort
from population_layouts import ALONE

import measurement_layouts as ml
from measurement_layouts.layouts import Capability
from measurement_layouts.layouts.elements import elements
from measurement_layouts.scenarios import propensities

AT = (10, 20, 50, 100, 200)
LENGTH = {"draws": 500, "tune": 500, "chains": 2}
QUICK = {"draws": 100, "tune": 150, "chains": 2}
PRIOR_DRAWS = 2_000
ADAPTIVE, RANDOM, IRT = "adaptive", "random", "two-parameter IRT"
ERRORS = 2


def replayed(name: str, subjects: int, quick: bool, seed: int) -> list[Line]:
    """Compare three ways to ask, on subjects spread evenly over a cohort's success rates."""
    cohort, layout = COHORTS[name](), ALONE[name]()
    known, who = cohort.evaluation, spread_evenly(cohort, subjects)
    at = [count for count in AT if count < len(known.items)][: 1 if quick else None]
    fit = ml.fit(
        layout,
        known.select(subjects=who),
        seed=seed,
        progressbar=False,
        **(QUICK if quick else LENGTH),
    )
    whole, scale = fit.profiles(), drawn(layout, PRIOR_DRAWS, seed)[judged_of(layout)].std()
    rows = []
    for place, one in enumerate(who):
        tried = known.items[known.trials.loc[one] > 0]
        full = table(whole[whole["subject"] == one])["mean"]
        anyhow = randomly(np.empty((1, len(tried))), len(tried), seed + place)[0]
        orders = {ADAPTIVE: (), RANDOM: tried.index[anyhow], IRT: _by_rival(cohort, one)}
        for way, order in orders.items():
            test = ml.AdaptiveTest(layout, tried, subject=one, seed=seed + place)
            for count, found in followed(test, known.successes.loc[one], at, order).items():
                apart = ((found["mean"] - full)[scale.index] / scale).to_numpy()
                sd = (found["sd"][scale.index] / scale).mean()
                error = np.sqrt((apart**2).mean())
                rows.append({"subject": one, "way": way, "items": count, "error": error, "sd": sd})
        print(f"{cohort.name}: subject {place + 1} of {len(who)}", file=sys.stderr, flush=True)
    return _lines(cohort.name, pd.DataFrame(rows))


def _lines(name: str, rows: pd.DataFrame) -> list[Line]:
    """Hold the error of adaptive tests to random choice's at each number of items."""
    errors = rows.pivot_table(index="subject", columns=["items", "way"], values="error")
    sds = rows.groupby(["items", "way"])["sd"].mean()
    lines = []
    for count in sorted(rows["items"].unique()):
        own = errors[count]
        apart = own[ADAPTIVE] - own[RANDOM]
        error = float(apart.std(ddof=1) / np.sqrt(len(apart)))
        mean = own.mean()
        told = (
            f"{apart.mean():+.3f} +- {error:.3f} apart, {len(own)} subjects; random "
            f"{mean[RANDOM]:.3f}, IRT's items {mean[IRT]:.3f}; mean relative sd "
            f"{sds[count, ADAPTIVE]:.3f}, random {sds[count, RANDOM]:.3f}"
        )
        lines.append(
            at_most(
                f"{name}, {count} items",
                "error of the profile, in prior sds",
                float(mean[ADAPTIVE]),
                float(mean[RANDOM] + ERRORS * error),
                "",
                ours=told,
            )
        )
    return lines


def spread_evenly(cohort: Cohort, subjects: int) -> list[str]:
    """Choose subjects from the least successful to the most successful one."""
    order = cohort.evaluation.success_rates().sort_values(kind="stable").index
    places = np.linspace(0, len(order) - 1, min(subjects, len(order))).round().astype(int)
    return [str(order[place]) for place in places]


def judged_of(layout: ml.Layout) -> list[str]:
    """Name the capabilities, or all elements where there are none."""
    every = elements(layout)
    able = [one.name for one in every if isinstance(one.latent, Capability)]
    return able or [one.name for one in every]


def _by_rival(cohort: Cohort, one: str) -> pd.Index:
    """Order a subject's items by what is known from the others."""
    place = cohort.evaluation.subjects.index(one)
    tried = np.flatnonzero(cohort.trials[place])
    answers = np.where(cohort.trials > 0, cohort.successes, np.nan)[:, tried]
    model = calibrated(np.delete(answers, place, axis=0))
    order = model.informed(answers[[place]], min(len(tried), max(AT)))[0]
    return cohort.evaluation.items.index[tried[order]]


def animal_ai_needs(subjects: int, quick: bool, seed: int) -> list[Line]:
    """Count items on the 69 Animal-AI tasks, where everybody attempted everything."""
    cohort, layout = COHORTS["animal-ai"](), ALONE["animal-ai"]()
    return _needed(cohort, layout, judged_of(layout), (10, 25), subjects, quick, seed, True)


def risk_aversion_needs(subjects: int, quick: bool, seed: int) -> list[Line]:
    """Count items on the real bands of risk aversion."""
    cohort, layout = risk_aversion(), propensities.recommended_layout()
    return _needed(cohort, layout, ["propensity"], (40, 80), subjects, quick, seed, False)


def risk_aversion() -> Cohort:
    """Twelve language models under eight conditions, 187 bands."""
    known = propensities.load(data_folder("propensity_ra"))
    return Cohort("risk aversion", known, pd.Series(known.items.index, known.items.index))


def _needed(
    cohort: Cohort,
    layout: ml.Layout,
    judged: list[str],
    reached: tuple[int, ...],
    subjects: int,
    quick: bool,
    seed: int,
    found_only: bool,
) -> list[Line]:
    """Ask some subjects; the rival is calibrated on the rest, on all where there is no rest."""
    known = cohort.evaluation
    bank = Bank(cohort.name, layout, known.items, tuple(judged), reached, seed)
    who = [known.subjects.index(one) for one in spread_evenly(cohort, subjects)]
    rest = np.delete(cohort.successes, who, axis=0)
    crowd = rest if len(rest) else cohort.successes
    return needed(bank, cohort.successes[who], crowd, quick, seed, found_only=found_only)
