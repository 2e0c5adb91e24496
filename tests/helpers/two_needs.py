"""Fits of given draws under a layout of two needs: explanations that a hand can compute."""

import numpy as np
import pandas as pd

import measurement_layouts as ml
from helpers import small_layouts
from measurement_layouts.linking import guessing, logistic, mixture

DRAWS = 400


def crafted(layout, items, posterior, outcomes=None):
    """Make a fit of Ann and Bob with given draws, each (draws,) or (draws, labels)."""
    table = pd.DataFrame(items)
    table.index = [f"task-{number}" for number in range(len(table))]
    if outcomes is None:
        outcomes = np.tile([1, 0], (2, len(table)))[:, : len(table)]
    evaluation = ml.Evaluation.from_wide(
        pd.DataFrame(outcomes, index=["Ann", "Bob"], columns=table.index), table
    )
    draws = {
        name: np.stack([values, values[::-1]]).reshape(2, 2, DRAWS // 2, *np.shape(values)[1:])
        for name, values in posterior.items()
    }
    return small_layouts.crafted(layout, evaluation, draws)


def abilities(seed, *means):
    """Draw as many as there are means."""
    rng = np.random.default_rng(seed)
    return [rng.normal(mean, 0.7, DRAWS) for mean in means]


def capability(name, **more):
    """Declare an ability that no draw leaves."""
    return ml.Capability(name, low=-9, high=9, **more)


def demand(name, **more):
    """Declare a demand."""
    return ml.MetaFeature(name, low=0, high=9, **more)


def two_factors(noise=None, chance=0.0):
    """Sight and reach, both needed; noise that pulls to 0.5; a chance of guessing."""
    sees = ml.Derived("sees", logistic(capability("sight") - demand("small")))
    both = sees * logistic(capability("reach") - demand("far"))
    if noise:
        both = mixture(both, by=ml.Noise("noise"), toward=0.5)
    return ml.Layout("two", ml.Success("got", guessing(both, chance) if chance else both))


ITEMS = {"small": [1.0, 5.0, 3.0, 0.5], "far": [2.0, 1.0, 6.0, 4.0]}


def fitted(noise=True, chance=0.0):
    """Make a fit, and give the draws of Ann."""
    sight, reach = abilities(1, 3.0, 4.0)
    posterior = {"sight": sight, "reach": reach}
    if noise:
        posterior["noise"] = np.random.default_rng(3).beta(2, 8, DRAWS)
    return crafted(two_factors(noise, chance), ITEMS, posterior), posterior
