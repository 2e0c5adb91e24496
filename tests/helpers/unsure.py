"""A small study for tests of digits: some subjects' data say much, others' next to nothing."""

import functools
import itertools
import re

import numpy as np
import pandas as pd
from scipy import stats

import measurement_layouts as ml
from measurement_layouts.linking import logistic, mean_failure, mixture

KNOWN, ALL_RIGHT, HARDLY_TRIED = "Ann", "Bob", "Cyd"
SUBJECTS = (KNOWN, ALL_RIGHT, HARDLY_TRIED)
FEW = 5  # units of the last digit
SELDOM = 2 * stats.norm.sf((FEW - 1) / np.sqrt(2))  # two runs, each with an error of one unit
FRAME = re.compile(r"[\s\u2500-\u257f]")  # a table is as wide as its numbers
NUMBER = re.compile(r"[<>]?[−-]?(?:\d+\.\d+|\d+)")


def layout(*, leaning=True):
    """One capability, a bias and noise, and a capability that no item asks much of."""
    demand, side = (ml.MetaFeature(name, low=-1, high=9) for name in ("demand", "side"))
    rare = ml.MetaFeature("rare", low=0, high=1)
    reach, unseen = ml.Capability("reach", low=0, high=9), ml.Capability("unseen", low=0, high=90)
    margin = reach - demand + (unseen - 45) / 20 * rare
    if leaning:
        margin = margin + ml.Bias("lean") * side
    return ml.Layout(
        "quiz",
        ml.Success("solved", mixture(logistic(margin), by=ml.Noise("noise"), toward=mean_failure)),
    )


def evaluation(count=40):
    """Outcomes of the three subjects; the last one has tried a single item."""
    rng = np.random.default_rng(3)
    columns = {
        "demand": rng.uniform(0, 9, count),
        "side": rng.choice([-1, 1], count),
        "rare": np.r_[np.zeros(count - 2), 0.3, 0.1],
        "told": rng.choice([0, 1], count),
    }
    items = pd.DataFrame(columns, [f"item-{letter}" for letter in map(chr, range(97, 97 + count))])
    chance = 1 / (1 + np.exp(items["demand"] - 4.5 + 0.5 * items["side"]))
    alone = np.r_[1.0, np.full(count - 1, np.nan)]
    solved = (rng.random(count) < chance).to_numpy(dtype=float)
    table = pd.DataFrame([solved, np.ones(count), alone], list(SUBJECTS), items.index)
    return ml.Evaluation.from_wide(table, items)


@functools.cache
def fitted(seed, *, leaning=True):
    """Fit the subjects; without the bias, the one whom the data know."""
    options = {"draws": 400, "tune": 400, "chains": 4, "progressbar": False}
    who = None if leaning else [KNOWN]
    return ml.fit(layout(leaning=leaning), evaluation(), seed=seed, subjects=who, **options)


def new_items():
    """Items that nobody has tried."""
    table = evaluation().item_table.iloc[:6]
    return (table + 0.01).set_axis([f"new-{letter}" for letter in "abcdef"])


def parsed(text):
    """Split a text into numbers, the value of their last digits, and what stands between them."""
    found = NUMBER.findall(text)
    plain = [number.lstrip("<>").replace("−", "-") for number in found]
    units = [10.0 ** -len(number.partition(".")[2]) for number in plain]
    return np.array(plain, dtype=float), np.array(units), NUMBER.sub("#", text)


def far_apart(texts):
    """Count numbers of consecutive texts, and those that differ by five units or more."""
    compared, apart = 0, 0
    pairs = [(parsed(one), parsed(other)) for one, other in itertools.pairwise(texts)]
    for (one, unit, frame), (other, other_unit, other_frame) in pairs:
        if len(one) != len(other) or FRAME.sub("", frame) != FRAME.sub("", other_frame):
            continue  # another statement, or a dash: nothing to hold against each other
        units = np.maximum(unit, other_unit)
        apart += int((np.abs(one - other) >= (FEW - 0.01) * units).sum())
        compared += len(one)
    return compared, apart


def allowed(compared):
    """How many may be so far apart by chance, but for one study in a million."""
    return int(stats.binom.isf(1e-6, compared, SELDOM))
