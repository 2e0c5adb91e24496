"""Layouts with a population: of one ability, of explained items, and of two capabilities."""

import numpy as np
import pandas as pd

import measurement_layouts as ml
from helpers.populations import normal, shared, spread_of
from measurement_layouts.linking import logistic

P = "population"


def zero_sum(name):
    """Item effects that sum to zero, with a spread of their own."""
    return ml.Effect(
        name, per="item", prior=ml.Prior("ZeroSumNormal", sigma=spread_of(f"{name}Spread"))
    )


def rasch():
    """Abilities around a mean, and items' eases that sum to zero."""
    ability = ml.Capability("ability", prior=normal(shared("mean"), spread_of("spread")))
    return ml.Layout("rasch", ml.Success("solved", logistic(ability + zero_sum("ease"))))


def free_items(centre=0):
    """A Rasch model whose item effects do not sum to zero, around 0 or a mean of their own."""
    ability = ml.Capability("ability", prior=normal(shared("mean"), spread_of("spread")))
    around = shared("itemMean") if centre == "free" else centre
    ease = ml.Effect("ease", per="item", prior=normal(around, spread_of("easeSpread")))
    return ml.Layout("free items", ml.Success("solved", logistic(ability + ease)))


def explanatory(residual=True):
    """A covariate of subjects, a weight of an item property, eases of tasks and of items."""
    tests = ml.MetaFeature("tests", low=-3, high=3, per="subject")
    length = ml.MetaFeature("length", low=-3, high=3)
    mean, gain, weight = (shared(name) for name in ("mean", "gain", "weight"))
    ability = ml.Capability("ability", prior=normal(mean + gain * tests, spread_of("spread")))
    of_task = ml.Effect("ofTask", per=ml.Category("task"), prior=normal(0, spread_of("taskSpread")))
    chance = ability - weight * length + of_task
    if residual:
        chance = chance + zero_sum("ease")
    return ml.Layout("explanatory", ml.Success("solved", logistic(chance)))


def two_capabilities():
    """Two capabilities that an item needs both of, with item effects on the first."""
    near = ml.MetaFeature("distance", low=0, high=4)
    small = ml.MetaFeature("smallness", low=0, high=4)
    go = ml.Capability("go", prior=normal(ml.Effect("goMean", per=P, prior=normal(2, 1)), 1))
    see = ml.Capability(
        "see", prior=normal(ml.Effect("seeMean", per=P, prior=normal(2, 1)), spread_of("seeSpread"))
    )
    chance = logistic(go - near + zero_sum("ease")) * logistic(see - small)
    return ml.Layout("two capabilities", ml.Success("got", chance))


def items(count=8):
    """Items of all three layouts."""
    rng = np.random.default_rng(1)
    return pd.DataFrame(
        {
            "length": rng.uniform(-2, 2, count),
            "distance": rng.uniform(0, 4, count),
            "smallness": rng.uniform(0, 4, count),
            "task": np.resize(["a", "b", "c"], count),
        },
        index=[f"item {number}" for number in range(count)],
    )


def subjects(count=12):
    """Subjects of all three layouts."""
    tests = np.random.default_rng(2).uniform(-2, 2, count)
    return pd.DataFrame({"tests": tests}, index=[f"subject {number}" for number in range(count)])


def simulated(layout, people=12, tasks=8, seed=1):
    """Outcomes of a draw from the priors, and that draw."""
    of_items, of_subjects = items(tasks), subjects(people)
    truth = ml.validation.draw_truth(layout, of_items, of_subjects, seed=seed)
    return ml.simulate(layout, of_items, truth, seed=seed, subjects=of_subjects), truth
