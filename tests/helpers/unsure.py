"""A small study: some subjects' data say much, others' next to nothing."""

import functools

import numpy as np
import pandas as pd

import measurement_layouts as ml
from measurement_layouts.linking import logistic, mean_failure, mixture

KNOWN, ALL_RIGHT, HARDLY_TRIED = "Ann", "Bob", "Cyd"
SUBJECTS = (KNOWN, ALL_RIGHT, HARDLY_TRIED)


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
    items = pd.DataFrame(columns, [f"item-{number:02d}" for number in range(count)])
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
