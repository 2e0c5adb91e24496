"""Counts of items with a part of their own, which attempts share: what these tests are about."""

import numpy as np
import pandas as pd
from scipy.special import expit

import measurement_layouts as ml
from measurement_layouts.linking import logistic

DEMAND = ml.MetaFeature("demand", low=0, high=10)
SKILL = ml.Capability("skill", low=0, high=10)
GRID = {"method": "grid", "draws": 500, "seed": 1, "progressbar": False}


def layout(*unseen):
    """One ability against one demand; an unseen part of the items where it is given."""
    margin = SKILL - DEMAND
    for part in unseen:
        margin = margin + part
    return ml.Layout("counts", ml.Success("ok", logistic(margin)))


def counts(subjects, sd, *, seed=1, items=30, attempts=10):
    """Abilities, and counts; every subject and item has a part of its own, of so many log-odds."""
    rng = np.random.default_rng(seed)
    demands, skills = rng.uniform(0, 10, items), rng.uniform(0, 10, subjects)
    odds = skills[:, None] - demands + sd * rng.normal(size=(subjects, items))
    names, who = (
        [f"{letter}{k}" for k in range(n)] for letter, n in (("i", items), ("s", subjects))
    )
    successes = pd.DataFrame(rng.binomial(attempts, expit(odds)), who, names)
    trials = pd.DataFrame(attempts, who, names)
    return skills, ml.Evaluation(pd.DataFrame({"demand": demands}, names), successes, trials)


def coverage(fit, skills):
    """Share of the 90 % intervals of the ability that hold it."""
    table = fit.profiles()
    own = table[table["node"] == "skill"].set_index("subject")
    own = own.loc[[f"s{k}" for k in range(len(skills))]]
    return float(((own["low"] <= skills) & (skills <= own["high"])).mean())
