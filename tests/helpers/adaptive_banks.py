"""Small layouts, banks and simulated subjects for tests that adapt."""

import numpy as np
import pandas as pd
from scipy.special import expit

import measurement_layouts as ml
from measurement_layouts.linking import band, logistic, mixture, product

SKILLS = ("see", "walk", "count")


def skills_layout():
    """Three needed capabilities, and noise."""
    skill = ml.Capability("skill", low=0, high=10, labels=SKILLS, dim="kind")
    demand = ml.MetaFeature("demand", low=0, high=10, labels=SKILLS, dim="kind")
    able = product(logistic(2 * (skill - demand)), over="kind")
    noise = ml.Noise("noise", prior=ml.Prior("Beta", alpha=1, beta=9))
    return ml.Layout("three skills", ml.Success("solved", mixture(able, by=noise, toward=0.5)))


def skills_bank(items=300, seed=1):
    """Demands of which each is there in three of five items."""
    rng = np.random.default_rng(seed)
    demands = rng.uniform(0, 10, (items, 3)) * (rng.random((items, 3)) < 0.6)
    columns = [f"demand[{name}]" for name in SKILLS]
    return pd.DataFrame(demands, [f"item {number}" for number in range(items)], columns)


def skills_answers(bank, skill=(7.0, 5.0, 8.0), noise=0.05, seed=2):
    """Answers of one subject to all items, by name."""
    able = expit(2 * (np.array(skill) - bank.to_numpy())).prod(axis=1)
    chance = able * (1 - noise) + 0.5 * noise
    drawn = np.random.default_rng(seed).random(len(bank)) < chance
    return dict(zip(bank.index, drawn.astype(int), strict=True))


def band_layout():
    """One propensity with bands, and slips that are known."""
    lower, upper = (ml.MetaFeature(name, low=-9, high=9) for name in ("lower", "upper"))
    risk = ml.Propensity("risk", prior=ml.Prior("Normal", mu=0.15, sigma=1.5))
    return ml.Layout("bands", ml.Success("right", 0.9 * band(risk, lower, upper) + 0.05))


def band_answers(items=60, seed=3):
    """Narrow bands about the middle, that fail, and wide ones, that succeed: either side may be."""
    rng = np.random.default_rng(seed)
    narrow = rng.random(items) < 0.4
    half = np.where(narrow, rng.uniform(0.6, 1.3, items), rng.uniform(2.5, 3.2, items))
    bank = pd.DataFrame({"lower": -half, "upper": half}, [f"band {n}" for n in range(items)])
    return bank, (~narrow).astype(int)
