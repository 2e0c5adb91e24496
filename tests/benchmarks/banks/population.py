"""Subjects of one population, whose abilities differ less than the prior of one alone says."""

import numpy as np
import pandas as pd

import measurement_layouts as ml
from measurement_layouts.linking import logistic, mixture, presence, product

from .capabilities import CHANCE, HIGHEST, LETTERS, SLOPE

SEED = 2341
MEANS, SPREAD = (4.0, 5.0, 6.5), 1.2
WIDTH = 2.9
"""Standard deviation of the prior of a subject alone: that of the uniform one on [0, 10]."""
MOST = 1_000
CROWD, TRIED = 60, 60
"""Subjects who are fitted jointly, and random items that each of them has tried."""


def profiles(count: int) -> pd.DataFrame:
    """Draw profiles of the crowd and of newcomers after it."""
    rng = np.random.default_rng(SEED)
    abilities = rng.normal(MEANS, SPREAD, (MOST, len(MEANS)))
    columns = [f"ability[{letter}]" for letter in LETTERS[: len(MEANS)]]
    table = pd.DataFrame(abilities, [f"subject {place}" for place in range(MOST)], columns)
    return table.assign(noise=rng.beta(1, 9, MOST)).iloc[:count]


def layout_alone() -> ml.Layout:
    """Write the layout of one subject alone: the bank's, with normal priors."""
    return _layout("needed-alone", ml.Prior("Normal", mu=HIGHEST / 2, sigma=WIDTH))


def layout_together() -> ml.Layout:
    """Write the layout in which abilities have means and spreads in a population."""
    dims = {"labels": tuple(LETTERS[: len(MEANS)]), "dim": "dimension"}
    prior = ml.Prior("Normal", mu=HIGHEST / 2, sigma=WIDTH)
    mean = ml.Bias("mean", per="population", prior=prior, **dims)
    spread = ml.Spread("spread", prior=ml.Prior("HalfNormal", sigma=WIDTH), **dims)
    return _layout("needed-together", ml.Prior("Normal", mu=mean, sigma=spread))


def _layout(name: str, prior: ml.Prior) -> ml.Layout:
    dims = {"labels": tuple(LETTERS[: len(MEANS)]), "dim": "dimension"}
    needed = ml.MetaFeature("needed", levels=(0, 1), **dims)
    demand = ml.MetaFeature("demand", low=0, high=HIGHEST, **dims)
    ability = ml.Capability("ability", prior=prior, **dims)
    noise = ml.Noise("noise", prior=ml.Prior("Beta", alpha=1, beta=9))
    part = ml.Derived("part", presence(logistic(ability - demand, SLOPE), needed))
    able = product(part, over="dimension")
    return ml.Layout(name, ml.Success("answer", mixture(able, by=noise, toward=CHANCE)))
