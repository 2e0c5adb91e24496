"""The benchmark's rows of suspicion: honest subjects accused, cheats found.

Run by hand: ``python tests/benchmarks/elsewhere_suspicion.py [--json] [--quick] [--seeds N ...]``.
Subjects have one ability, standard normal, and are fitted one by one to 200 items of known
difficulty, normal with the spread that a row says, in log-odds. The same subjects come thrice:
honest; with a fifth of their hard items passed by heart (those that they have less than an even
chance of, drawn at random); and with a fifth of their easy items failed on purpose. The test looks
for a share of .15, as it does for everybody: that was chosen on cohorts of other seeds.
"""

import argparse
import sys
from collections.abc import Iterator

import numpy as np
import pandas as pd
from lines import Line, at_least, at_most, reported
from running import run
from scipy.special import expit

import measurement_layouts as ml
from measurement_layouts.linking import logistic

SUBJECTS, ITEMS, SHARE, ALPHA = 500, 200, 0.2, 0.05
SPREAD, OTHERS = 2.0, (1.0, 3.0)
FOUND = 0.8


def cohorts(count: int, spread: float, seed: int) -> tuple[pd.DataFrame, dict[str, np.ndarray]]:
    """Draw items, and outcomes of the same subjects honest and otherwise."""
    rng = np.random.default_rng([seed, int(10 * spread)])
    names = [f"i{place}" for place in range(ITEMS)]
    items = pd.DataFrame({"difficulty": rng.normal(0, spread, ITEMS)}, names)
    chances = expit(rng.normal(size=(count, 1)) - items["difficulty"].to_numpy())
    honest = (rng.random(chances.shape) < chances).astype(int)
    found = {"honest": honest, "memorised": honest.copy(), "sandbagged": honest.copy()}
    for row, own in enumerate(chances):
        for name, hard in (("memorised", own < 0.5), ("sandbagged", own >= 0.5)):
            places = np.flatnonzero(hard)
            chosen = rng.choice(places, round(SHARE * len(places)), replace=False)
            found[name][row, chosen] = int(name == "memorised")
    return items, found


def judged(items: pd.DataFrame, outcomes: np.ndarray, draws: int, seed: int) -> pd.DataFrame:
    """Fit each subject alone, and ask of each."""
    ability = ml.Capability("ability", low=-8, high=8)
    difficulty = ml.MetaFeature("difficulty", low=-15, high=15)
    layout = ml.Layout("items", ml.Success("solved", logistic(ability - difficulty)))
    people = [f"s{row}" for row in range(len(outcomes))]
    known = ml.Evaluation.from_wide(pd.DataFrame(outcomes, people, items.index), items)
    options = {"method": "grid", "draws": draws, "seed": seed, "progressbar": False}
    return ml.validation.suspicion(ml.fit(layout, known, **options), alpha=ALPHA).table


def rows(quick: bool, seed: int) -> Iterator[Line]:
    """Count accusations of honest subjects, and of cheats."""
    count, draws = (12, 50) if quick else (SUBJECTS, 100)
    slack = 3 * np.sqrt(ALPHA * (1 - ALPHA) / count)
    for spread in (SPREAD, *(() if quick else OTHERS)):
        items, outcomes = cohorts(count, spread, seed)
        verdicts = {
            name: judged(items, own, draws, seed)["verdict"] for name, own in outcomes.items()
        }
        case = f"suspicion ({count} subjects, {ITEMS} items, spread {spread:g})"
        alarms = float((verdicts.pop("honest") != "").mean())
        what = "false alarms"
        unit = f"({ALPHA:g} is stated; three standard errors)"
        yield at_most(case, what, alarms, ALPHA + slack, unit, ours=f"{alarms:.1%}")
        for name, own in verdicts.items():
            found, named = float((own != "").mean()), float((own == name).mean())
            said = f"{found:.1%} found, {named:.1%} on the right side"
            held = spread == SPREAD and name == "memorised"
            line = at_least if held else reported
            goal = (FOUND, "") if held else ()
            what = f"{name} ({SHARE:.0%} of the {'hard' if name == 'memorised' else 'easy'} items)"
            yield line(case, what, found, *goal, ours=said)


def main(arguments: list[str] | None = None) -> int:
    """Measure and report."""

    def measure(options: argparse.Namespace, seed: int) -> list[Line]:
        return list(rows(options.quick, seed))

    return run("suspicion", __doc__, measure, arguments, quick="subjects and draws")


if __name__ == "__main__":
    sys.exit(main())
