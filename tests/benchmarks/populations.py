"""Populations: forecasts of five cohorts, and effective draws of what their subjects share.

Run by hand: ``python tests/benchmarks/populations.py [--json] [--case NAME ...] [--data DIR]
[--quick] [--seeds N ...]``. Prints a table in Markdown, or one JSON object; exit status 1 when a
goal is missed. Forecasts are scored on ten splits, whose own seeds are 0 to 9 and do not change:
random cells (subject x item), and whole groups of items; `population_data` says what the groups
are. ``--seeds`` are those of the sampler, and of what is chosen inside a training set. ``--quick``
takes two splits and few draws: its numbers say only that everything runs.
"""

import argparse
import sys
from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
import population_by_hand as by_hand
import population_repeated
import population_rows as rows
import population_spreads
from lines import Line, at_most, failed, in_words, means_agree
from population_data import COHORTS, SPLITS, Cohort, held_cells, held_items
from population_rivals import FACTORED, RIVALS, scored
from population_scores import summary
from running import run

MEAN, RASCH, EXPLAINED, FACTORS = RIVALS
KNOWN_BRIER = {RASCH: 0.1916, EXPLAINED: 0.1892}
"""Of the exam, means of the first three splits, measured independently."""
KNOWN_VALUES = {"spread": 0.92, "weight": 0.70}
"""Of the exam's population, by hand."""
TOLERANCE = 0.001
QUICK = {"chains": 2, "tune": 200, "draws": 100}


def of_cells(name: str, quick: bool, seed: int) -> list[Line]:
    """Score the rivals on random cells that are held out."""
    cohort = COHORTS[name]()
    ways = [way for way in RIVALS if way != FACTORS or name in FACTORED]
    scores = scored(cohort, ways, held_cells, SPLITS[: 2 if quick else None], seed)
    found = summary(scores, MEAN)
    lines = [
        at_most(
            f"{cohort.name}, cells: {way}",
            "Brier score",
            row["mean"],
            found["mean"][MEAN],
            "(the subject's mean)",
            ours=f"{row['difference']:.4f} +- {row['error']:.4f} apart",
        )
        for way, row in found.drop(MEAN).iterrows()
    ]
    if name == "exam" and not quick:
        first = scores.iloc[:3].mean()
        lines += [
            at_most(
                f"exam, cells of three splits: {way}",
                f"distance from the known {known:.4f}",
                abs(first[way] - known),
                TOLERANCE,
                "",
            )
            for way, known in KNOWN_BRIER.items()
        ]
    return lines


def of_items(name: str, quick: bool, seed: int) -> list[Line]:
    """Score the rivals that can forecast new items on whole groups that are held out."""
    cohort = COHORTS[name]()
    ways = [MEAN, RASCH, EXPLAINED]
    found = summary(scored(cohort, ways, held_items, SPLITS[: 2 if quick else None], seed), MEAN)
    return [
        at_most(
            f"{cohort.name}, whole items: {way}",
            "Brier score",
            row["mean"],
            found["mean"][MEAN] + 2 * row["error"],
            "(the subject's mean, and two standard errors)",
            ours=f"{row['difference']:.4f} +- {row['error']:.4f} apart",
        )
        for way, row in found.drop(MEAN).iterrows()
    ]


def of_draws(name: str, quick: bool, seed: int) -> list[Line]:
    """Sample the population by hand, in three forms, and the exam by Bambi, too."""
    cohort, build = COHORTS[name](), by_hand.MODELS[name]
    sampling = QUICK if quick else by_hand.SAMPLING
    found = {
        form: by_hand.sampled(build, cohort, form=form, sampling=sampling, seed=seed)
        for form in by_hand.FORMS
    }
    best = max(found, key=lambda form: found[form].per_second)
    lines = [
        same(f"{cohort.name} by hand, {form}", f"{best}, the best", other, found[best])
        for form, other in found.items()
        if form != best
    ]
    if name == "exam":
        lines += [
            at_most(
                f"exam by hand: {value}",
                f"distance from {known:g}",
                abs(found[best].shared["mean"][value] - known) / found[best].shared["sd"][value],
                2,
                "posterior standard deviations",
            )
            for value, known in KNOWN_VALUES.items()
        ]
        lines.append(_by_bambi(cohort, found[best], sampling, seed))
    return lines


def _by_bambi(
    cohort: Cohort, ours: by_hand.Sampled, sampling: Mapping[str, int], seed: int
) -> Line:
    """Sample the exam by Bambi, which is not among the project's dependencies."""
    case = "exam by Bambi"
    try:
        theirs = by_hand.exam_by_bambi(cohort, sampling=sampling, seed=seed)
    except ModuleNotFoundError as error:
        print(f"{case}: {error}; pip install bambi", file=sys.stderr)
        return failed(case)
    return same(case, "PyMC by hand, the best form", theirs, ours)


def same(case: str, against: str, one: by_hand.Sampled, other: by_hand.Sampled) -> Line:
    """Hold posterior means of shared values to each other; say the draws per second of both."""
    both = one.shared.add_suffix(" of one").join(other.shared, how="inner")
    error = np.hypot(both["mcse of one"], both["mcse"])
    answers = means_agree((both["mean of one"] - both["mean"]).abs() / error)
    speeds = ", ".join(
        f"{found.least:.0f} effective draws in {in_words(found.seconds)}" for found in (one, other)
    )
    return Line(case, against, answers.figure(case), answers.unit, speeds)


CASES: dict[str, Callable[[bool, int], list[Line]]] = {
    **{f"cells-{name}": partial(of_cells, name) for name in COHORTS},
    **{f"items-{name}": partial(of_items, name) for name in COHORTS},
    **{f"by-hand-{name}": partial(of_draws, name) for name in by_hand.MODELS},
    **{case: partial(row, name) for case, (row, name) in rows.ROWS.items()},
    "growing": rows.growing,
    "large": rows.large,
    "repeated": population_repeated.repeated,
    "spreads": population_spreads.spreads,
}


def main(arguments: list[str] | None = None) -> int:
    """Measure and report."""

    def measure(options: argparse.Namespace, seed: int) -> list[Line]:
        names = options.case or CASES
        return [line for name in names for line in CASES[name](options.quick, seed)]

    cases = {"--case": {"nargs": "+", "choices": CASES, "help": "only these"}}
    return run(
        "populations",
        __doc__,
        measure,
        arguments,
        quick="splits and draws",
        data=True,
        options=cases,
    )


if __name__ == "__main__":
    sys.exit(main())
