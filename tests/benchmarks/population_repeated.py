"""The benchmark's row of repeated attempts: intervals where items have a part of each subject."""

import time

import numpy as np
import pandas as pd
from lines import Line, at_most, in_words

import measurement_layouts as ml
from measurement_layouts.linking import logistic

ITEMS, ATTEMPTS, MASS = 30, 10, 0.9
SHORT = {"draws": 500, "tune": 500, "chains": 2}
QUICK = {"draws": 100, "tune": 150, "chains": 2}


def repeated(quick: bool, seed: int) -> list[Line]:
    """Count 90 % intervals that hold an ability, with a part of an item for each subject."""
    count = 20 if quick else 150
    abilities, evaluation = _counts(count, seed)
    start = time.process_time()
    part = ml.Bias(
        "part",
        per=("subject", "item"),
        prior=ml.Prior("Normal", mu=0, sigma=ml.Spread("partSpread")),
    )
    length = QUICK if quick else SHORT
    fit = ml.fit(_layout(part), evaluation, seed=seed, progressbar=False, **length)
    seconds = time.process_time() - start
    alone = ml.fit(_layout(), evaluation, method="grid", seed=seed, progressbar=False)
    held, without = (_held(one, abilities) for one in (fit, alone))
    slack = 3 * np.sqrt(MASS * (1 - MASS) / count)
    case = f"repeated attempts ({ITEMS} items x {ATTEMPTS}, an item part of one log-odds)"
    return [
        at_most(
            case,
            "distance from .90 of the 90 % intervals that hold",
            abs(held - MASS),
            slack,
            "(three standard errors)",
            ours=f"{held:.0%} of {count}, {without:.0%} without it, in {in_words(seconds)}",
        ),
        at_most(f"{case}, left out", "90 % intervals that hold", without, MASS - slack, ""),
    ]


def _layout(*parts: ml.Bias) -> ml.Layout:
    """One ability against one demand; with a part of each subject on each item where given."""
    margin = ml.Capability("ability", low=0, high=10) - ml.MetaFeature("demand", low=0, high=10)
    for part in parts:
        margin = margin + part
    return ml.Layout("counts", ml.Success("solved", logistic(margin)))


def _counts(subjects: int, seed: int) -> tuple[np.ndarray, ml.Evaluation]:
    """Draw abilities, and counts."""
    rng = np.random.default_rng(seed)
    demands, abilities = rng.uniform(0, 10, ITEMS), rng.uniform(0, 10, subjects)
    odds = abilities[:, None] - demands + rng.normal(size=(subjects, ITEMS))
    names, people = [f"i{at}" for at in range(ITEMS)], [f"s{at}" for at in range(subjects)]
    came = pd.DataFrame(rng.binomial(ATTEMPTS, 1 / (1 + np.exp(-odds))), people, names)
    items = pd.DataFrame({"demand": demands}, names)
    return abilities, ml.Evaluation(items, came, came * 0 + ATTEMPTS)


def _held(fit: ml.Fit, abilities: np.ndarray) -> float:
    """Share of the 90 % intervals of the ability that hold it."""
    table = fit.profiles(prob=MASS)
    own = table[table["node"] == "ability"].set_index("subject")
    own = own.loc[[f"s{at}" for at in range(len(abilities))]]
    return float(((own["low"] <= abilities) & (abilities <= own["high"])).mean())
