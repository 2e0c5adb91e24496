"""Forecasts of items unlike those trained on: what they score, and what nothing may lose to.

Run by hand: ``python tests/benchmarks/elsewhere.py [--json] [--case NAME ...] [--data DIR]
[--keep DIR] [--subjects N] [--items N] [--without METHOD ...] [--quick] [--seeds N ...]``. Prints
a table in Markdown, or one JSON object; exit status 1 when a goal is missed. The cases are those of
``elsewhere_cases.py``, on the data in the folder that MEASUREMENT_LAYOUTS_DATA names. Whatever is
chosen or estimated is so on the training items, by leaving their groups out. Beside every row stand
today's layouts, the subject's mean, a regression and a forest of each subject; today's layout with
every log-odds halved; and the oracle bounds of layout and regression, with one offset for each
group held out, which its own outcomes tell.

Errors are those of differences, by a jackknife over the held-out groups (over items of GSM8K and of
the fractions, where groups are few). ``--keep`` names a folder where forecasts are kept and read
again; ``--subjects`` and ``--items`` take fewer, and ``--without`` leaves methods out. The layout
of ADeLe is chosen among four on the training items of each fold, in the same way as the split,
which takes up to an hour. ``--quick`` takes few draws and chooses none: its numbers say only that
everything runs.
"""

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from elsewhere_cases import AGGREGATE, CASES, FOREST, OURS, PUBLISHED, REGRESSION, TODAY
from elsewhere_scores import (
    HALVED,
    ORACLE,
    Cells,
    accepted,
    cells_of,
    coverage_at,
    errors,
    halved,
    oracle,
    table,
)
from lines import Line, at_least, at_most, reported
from running import run

import measurement_layouts as ml

BELOW = {
    "animal-ai-families": (AGGREGATE, REGRESSION, FOREST, TODAY, PUBLISHED, f"{TODAY} {HALVED}"),
    **dict.fromkeys(("gsm8k", "weirdml", "fractions"), (AGGREGATE, REGRESSION, FOREST)),
    "adele-benchmarks": (REGRESSION, FOREST),
}
"""Whose Brier score is to be undercut."""
NOT_WORSE = ("adele-benchmarks", "adele-tasks", "adele-home")
ERRORS = 2
CALIBRATED = 0.075
SUCCESS, FEWEST = 0.9, 50
QUICK_SUBJECTS = 3


def judged(key: str, options: argparse.Namespace, seed: int) -> tuple[str, Cells]:
    """Forecast what the case holds out, by all methods and bounds."""
    few = QUICK_SUBJECTS if options.quick else options.subjects
    case = CASES[key](options.quick).smaller(few, options.items)
    known = case.methods(key, options.keep)
    found = ml.validation.cross_validate(
        {name: own for name, own in known.items() if name not in (options.without or ())},
        case.evaluation,
        split=case.split,
        seed=seed,
        resamples=2,
        progressbar=False,
    )
    cells = cells_of(found, case.clusters, case.evaluation.items["home"])
    for name in (TODAY, OURS):
        cells = cells.also(f"{name} {HALVED}", halved(cells.chances[name]))
    for name in (TODAY, OURS, REGRESSION):
        cells = cells.also(f"{name} {ORACLE}", oracle(cells.chances[name], cells))
    return case.title, cells


@dataclass(frozen=True, eq=False)
class Judged:
    """Scores of all methods, and how far ours are apart from each."""

    title: str
    scores: pd.DataFrame
    apart: pd.DataFrame

    def beside(self, rival: str, score: str) -> str:
        """Say the difference with its standard error."""
        error = self.apart.loc[rival, f"{score} se"]
        return f"{self.apart.loc[rival, score]:+.4f} +- {error:.4f} apart"

    def held(self, rival: str, score: str, errors: float = 0.0) -> Line:
        """Hold our score to a rival's, and allow some standard errors on the worse side."""
        sign = -1 if score == "auroc" else 1
        limit = self.scores.loc[rival, score] + sign * errors * (
            self.apart.loc[rival, f"{score} se"] if errors else 0.0
        )
        hold = at_least if score == "auroc" else at_most
        grace = f" and {errors:g} errors" * bool(errors)
        case, said = f"{self.title}, against {rival}{grace}", self.beside(rival, score)
        return hold(case, score, float(self.scores.loc[OURS, score]), limit, "", ours=said)


def lines(key: str, title: str, cells: Cells, seed: int) -> Iterator[Line]:
    """Hold our scores to their goals, and tell those of every method."""
    found = Judged(title, table(cells, seed=seed), errors(cells, OURS, seed=seed))
    print(
        f"{title}: {len(cells.won):,} cells", found.scores.round(4), found.apart.round(4), sep="\n"
    )
    for rival in BELOW.get(key, ()):
        for score in ("brier", "auroc", "ece") if key in NOT_WORSE else ("brier",):
            if rival in found.scores.index:
                yield found.held(rival, score)
    if key in NOT_WORSE:
        for score in ("auroc", "brier", "ece"):
            yield found.held(TODAY, score, ERRORS)
    own = found.scores.loc[OURS]
    if key == "adele-benchmarks":
        yield at_most(title, "ece", own["ece"], CALIBRATED, "", ours=found.beside(TODAY, "ece"))
        yield from rejection(title, cells)
    if key in ("gsm8k", "weirdml", "fractions"):
        half = max(found.scores.loc[TODAY, "excess ece"], 0.0) / 2
        what, said = "pooled ECE less its floor, half of today's", f"{own['pooled ece']:.4f} whole"
        yield at_most(title, what, own["excess ece"], half, "", ours=said)
    for name, row in found.scores.iterrows():
        for score in ("auroc", "ece", "brier", "pooled ece"):
            if np.isfinite(row[score]):
                said = found.beside(str(name), score)
                yield reported(f"{title}, {name}", score, float(row[score]), said)


def rejection(title: str, cells: Cells) -> Iterator[Line]:
    """Accept what is forecast to succeed with .9 at least, and count how often it does.

    A subject with at least `FEWEST` accepted cells is claimed; of the others nothing can be.
    Beside ours stands the forest, at the mean forecast from which on it is as often right.
    """
    found = accepted(cells, OURS, least=SUCCESS)
    claimed = found[found["accepted"] >= FEWEST]
    short = claimed["success"] + ERRORS * claimed["error"].fillna(0) < SUCCESS
    said = "; ".join(
        f"{name} {row['success']:.3f} +- {row['error']:.3f} of {row['accepted']:.0f}"
        for name, row in claimed.iterrows()
    )
    case, ours = f"{title}, accepted at {SUCCESS}", len(claimed)
    yield reported(case, "subjects that can be claimed", float(ours), f"of {len(found)}: {said}")
    yield at_most(case, "claimed subjects that succeed less often", float(short.sum()), 1, "")
    if claimed.empty:
        return
    taken = cells.take(cells.low.get(OURS, cells.chances[OURS]) >= SUCCESS)
    validity = taken.won.sum() / taken.tried.sum()
    theirs = coverage_at(cells, FOREST, validity)
    whole = taken.tried.sum() / cells.tried.sum()
    what = f"coverage at the validity {validity:.3f}"
    yield at_least(case, what, float(whole), theirs, f"(forest {theirs:.3f})")


def main(arguments: list[str] | None = None) -> int:
    """Measure and report."""

    def measure(options: argparse.Namespace, seed: int) -> list[Line]:
        return [
            line
            for key in options.case or CASES
            for line in lines(key, *judged(key, options, seed), seed)
        ]

    options = {
        "--case": {"nargs": "+", "choices": list(CASES), "help": "only these"},
        "--keep": {"type": Path, "metavar": "DIR", "help": "keep forecasts there"},
        "--subjects": {"type": int, "metavar": "N", "help": "at most so many, evenly (all)"},
        "--items": {"type": int, "metavar": "N", "help": "at most so many, at random (all)"},
        "--without": {"nargs": "+", "metavar": "METHOD", "help": "methods left out, by name"},
    }
    return run(
        "elsewhere",
        __doc__,
        measure,
        arguments,
        quick="subjects, items and draws",
        data=True,
        options=options,
    )


if __name__ == "__main__":
    sys.exit(main())
