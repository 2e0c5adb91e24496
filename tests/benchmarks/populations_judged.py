"""Populations judged: false alarms and power of what criticises a joint fit, and two real cohorts.

Run by hand: ``python tests/benchmarks/populations_judged.py [--json] [--case NAME ...]
[--data DIR] [--quick] [--cohorts N] [--seeds N ...]``. Prints a table in Markdown, or one JSON
object; exit status 1 when a goal is missed. ``--cohorts`` says how many are simulated where there
is no misfit (500), and a fifth as many of each kind that has some; ``--quick`` takes ten of each,
and few draws of the real cohorts: its numbers say only that everything runs.
"""

import argparse
import math
import sys
from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple

import judged_cohorts as simulated
import numpy as np
import pandas as pd
import population_explained
import population_studies
from lines import Line, at_least, at_most, reported
from population_data import animal_ai, exam
from population_layouts import LAYOUTS
from running import run

import measurement_layouts as ml
from measurement_layouts.validation import PopulationCriticism
from measurement_layouts.validation.criticism.population.dependence import TOGETHER

COHORTS, QUICK = 500, 10
ALPHA = 0.05
ERRORS = 3
FOUND = 0.8
CLEAR = 5.0
LENGTH = {"draws": 500, "tune": 500, "chains": 2}
SHORT = {"draws": 100, "tune": 150, "chains": 2}
TABLES = {
    "subjects": "person fit",
    "items": "item fit",
    "groups": "DIF",
    "between": "DIF of all items together",
    "pairs": "local dependence",
}


def false_alarms(cohorts: int, seed: int) -> list[Line]:
    """Criticise cohorts of the layout itself: how often is anything flagged in each table?"""
    rows, accused, suspected = [], [], []
    for found in simulated.judged(simulated.NULL, cohorts, seed):
        rows.append(
            {name: getattr(found, table)["flagged"].any() for table, name in TABLES.items()}
        )
        suspects = simulated.suspects(found.fit, ALPHA)
        accused.append(suspects["accused"].mean())
        suspected.append(suspects["any"].any())
    flags = pd.DataFrame(rows)
    error = np.sqrt(ALPHA * (1 - ALPHA) / cohorts)
    told = f"of {cohorts} cohorts, stated {ALPHA:g} at most"
    lines = [
        at_most(
            "no misfit: suspicion",
            what,
            float(np.mean(rates)),
            ALPHA + ERRORS * error,
            "",
            ours=told,
        )
        for what, rates in {
            "cohorts with a false alarm, adjusted for all subjects": suspected,
            "subjects accused, each by itself": accused,
        }.items()
    ]
    return [
        *lines,
        *(
            at_most(
                f"no misfit: {name}",
                "distance of the rate of false alarms from the stated one",
                abs(rate - ALPHA),
                ERRORS * error,
                "",
                ours=f"{rate:.3f} of {cohorts} cohorts, stated {ALPHA:g}",
            )
            for name, rate in flags.mean().items()
        ),
    ]


def power(name: str, cohorts: int, seed: int) -> list[Line]:
    """Judge cohorts with a known misfit, and with half of it: how much of it is found?"""
    whole, half = kinds = simulated.MISFITS[name]
    found = _suspected if whole.table == simulated.SUSPICION else _flagged
    rates = [found(kind, cohorts, seed) for kind in kinds]
    lines = [
        at_least(
            f"{name}: {whole.size}",
            "share found",
            rates[0].share,
            FOUND,
            "",
            ours=rates[0].beside(),
        ),
        reported(f"{name}: {half.size}", "share found", rates[1].share, rates[1].beside()),
    ]
    if whole.table == simulated.SUSPICION:
        lines += [
            reported(f"{name}: {kind.size}", "share accused by itself", rate.alone, rate.honest)
            for kind, rate in zip(kinds, rates, strict=True)
        ]
    if whole.table == "groups":
        told = "cohorts found as not invariant"
        lines += [
            reported(f"{name}: {kind.size}", told, rate.together, f"of {cohorts} cohorts")
            for kind, rate in zip(kinds, rates, strict=True)
        ]
    return lines + (_ceilings() if name == "dif" else [])


def _ceilings() -> list[Line]:
    """Say what the best possible tests of differential item functioning find."""
    told = "cohorts found as not invariant"
    singly, together = simulated.dif_ceilings(0.8, 200, 20, ALPHA)
    best = "DIF of 0.8, 100 against 100: best test"
    return [
        reported(f"{best} of single items", "share found", singly, "the first test of Holm's"),
        reported(f"{best} of all items", told, together, "size and share of those known"),
    ]


class _Rates(NamedTuple):
    """What share of what is wrong was flagged, how often anything else and all items together.

    Of suspicion also: what share was found by its own test, and how many of the others.
    """

    share: float
    error: float
    others: float
    together: float
    alone: float = math.nan
    accused: float = math.nan

    @property
    def honest(self) -> str:
        """Say how often others are accused by themselves."""
        return f"{self.accused:.3f} of the other subjects, stated {ALPHA:g} at most"

    def beside(self) -> str:
        """Say how exact the share is, and how often anything else was flagged."""
        return f"+- {self.error:.3f}; {self.others:.3f} of the cohorts have alarms beside them"


def _flagged(kind: simulated.Kind, cohorts: int, seed: int) -> _Rates:
    """Criticise cohorts of a kind."""
    shares, others, together = [], [], []
    for found in simulated.judged(kind, cohorts, seed):
        table = getattr(found, kind.table)
        wrong = table[kind.column].isin(kind.wrong)
        shares.append(table["flagged"][wrong].mean())
        others.append(table["flagged"][~wrong & (table[kind.column] != TOGETHER)].any())
        together.append(found.between["flagged"].any())
    return _Rates(*_share(shares), float(np.mean(others)), float(np.mean(together)))


def _suspected(kind: simulated.Kind, cohorts: int, seed: int) -> _Rates:
    """Ask of the subjects of cohorts of a kind whether they have memorised items."""
    shares, others, alone, accused = [], [], [], []
    for fit, _ in simulated.fitted(kind, cohorts, seed):
        table = simulated.suspects(fit, ALPHA)
        wrong = table[kind.column].isin(kind.wrong)
        shares.append(table["flagged"][wrong].mean())
        others.append(table["any"][~wrong].any())
        alone.append(table["named"][wrong].mean())
        accused.append(table["accused"][~wrong].mean())
    means = (float(np.mean(rates)) for rates in (others, alone, accused))
    return _Rates(*_share(shares), next(means), math.nan, *means)


def _share(shares: list[float]) -> tuple[float, float]:
    """Return the mean share over cohorts and its standard error."""
    return float(np.mean(shares)), float(np.std(shares) / np.sqrt(len(shares)))


def batches(quick: bool, seed: int) -> list[Line]:
    """Ask which items of the exam work otherwise in its two batches."""
    known = exam().evaluation
    found = _criticised(LAYOUTS["exam"](), known, quick, seed, by="batch").groups
    rewritten = found["item"].map(known.items["rewritten"]) == 1
    flagged = found["flagged"]
    names = ", ".join(
        f"{row['item']} ({row['effect']:+.2f} [{row['low']:+.2f}, {row['high']:+.2f}])"
        for row in found[flagged].to_dict("records")
    )
    return [
        reported(
            f"exam, batches: {what} items that work otherwise",
            f"of {int(which.sum())}",
            float((flagged & which).sum()),
            names,
        )
        for what, which in {"rewritten": rewritten, "unchanged": ~rewritten}.items()
    ]


def triplets(quick: bool, seed: int) -> list[Line]:
    """Ask whether near-copies of the Animal-AI Olympics have more in common."""
    cohort = animal_ai()
    items = cohort.evaluation.items.assign(task=cohort.groups)
    known = ml.Evaluation(items, cohort.evaluation.successes, cohort.evaluation.trials)
    found = _criticised(LAYOUTS["animal-ai"](), known, quick, seed, testlets="task").pairs
    together = found["testlet"] == TOGETHER
    return [
        at_least(
            "Animal-AI: triplets all together found as dependent",
            "standardised score",
            float(found["z"][together].iloc[0]),
            CLEAR,
            "",
            ours="common part of variance "
            f"{found['effect'][together].iloc[0]:.2f} squared log-odds",
        ),
        reported(
            "Animal-AI: triplets found as dependent one by one",
            f"of {int((~together).sum())}",
            float((found["flagged"] & (found["effect"] > 0) & ~together).sum()),
            f"mean Q3 {found['q3'].mean():.2f}",
        ),
    ]


def _criticised(
    layout: ml.Layout, known: ml.Evaluation, quick: bool, seed: int, **asked: str
) -> PopulationCriticism:
    """Fit and criticise."""
    length = SHORT if quick else LENGTH
    fit = ml.fit(layout, known, seed=seed, progressbar=False, **length)
    found = ml.validation.criticise(fit, known, **asked)
    assert isinstance(found, PopulationCriticism)
    print(found, *found.suggestions(), sep="\n")
    return found


SIMULATED: Mapping[str, Callable[[int, int], list[Line]]] = {
    "false-alarms": false_alarms,
    **{f"power-{name}": partial(power, name) for name in simulated.MISFITS},
}
REAL: Mapping[str, Callable[[bool, int], list[Line]]] = {
    "exam": batches,
    "triplets": triplets,
    **population_explained.ROWS,
    **population_studies.ROWS,
}


def main(arguments: list[str] | None = None) -> int:
    """Measure and report."""

    def measure(options: argparse.Namespace, seed: int) -> list[Line]:
        count = QUICK if options.quick else options.cohorts
        some = count if options.quick else max(1, count // 5)
        lines = []
        for name in options.case or [*SIMULATED, *REAL]:
            if name in SIMULATED:
                lines += SIMULATED[name](count if name == "false-alarms" else some, seed)
            else:
                lines += REAL[name](options.quick, seed)
        return lines

    options = {
        "--case": {"nargs": "+", "choices": [*SIMULATED, *REAL], "help": "only these"},
        "--cohorts": {"type": int, "default": COHORTS, "metavar": "N", "help": f"({COHORTS})"},
    }
    return run(
        "populations_judged",
        __doc__,
        measure,
        arguments,
        quick="cohorts and draws",
        data=True,
        options=options,
    )


if __name__ == "__main__":
    sys.exit(main())
