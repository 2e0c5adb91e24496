"""A joint layout with something of everything, a cohort made up, and fits of given draws."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

import measurement_layouts as ml
from helpers import joint_fits
from measurement_layouts.linking import logistic

POPULATION = "population"


def schools() -> ml.Layout:
    """A covariate, schools, tasks, demands, and what schools have on tasks."""
    tests = ml.MetaFeature("tests", low=-3, high=3, per="subject")
    size = ml.MetaFeature("size", low=0, high=2)
    school, task = ml.Category("school", per="subject"), ml.Category("task")
    of_school = ml.Effect(
        "ofSchool", per=school, prior=joint_fits.normal(0, ml.Spread("schoolSpread"))
    )
    mean, gain = ml.Effect("mean", per=POPULATION), ml.Effect("gain", per=POPULATION)
    location = mean + gain * tests + of_school
    ability = ml.Capability("ability", prior=joint_fits.normal(location, ml.Spread("spread")))
    liking = ml.Effect("liking", per=("subject", task))
    favour = ml.Effect("favour", per=(school, task), prior=joint_fits.normal(0, 0.5))
    margin = ability - size + liking + favour
    return ml.Layout("schools", ml.Success("solved", logistic(margin)))


def cohort(subjects: int = 12, items: int = 7, seed: int = 1) -> ml.Evaluation:
    """Make up who they are, what they are asked and how they do; nobody is all right or wrong."""
    rng = np.random.default_rng(seed)
    who, what = [f"s{k:03d}" for k in range(subjects)], [f"i{k:03d}" for k in range(items)]
    columns = {"size": rng.uniform(0, 2, items), "task": np.resize(["a", "b", "b"], items)}
    own = {
        "tests": rng.normal(size=subjects).clip(-2.9, 2.9),
        "school": np.resize(["x", "y", "z"], subjects),
    }
    outcomes = rng.integers(0, 2, (subjects, items)).astype(float)
    outcomes[:, 0], outcomes[:, 1] = 0, 1
    return ml.Evaluation.from_wide(
        pd.DataFrame(outcomes, who, what),
        pd.DataFrame(columns, what),
        subjects=pd.DataFrame(own, who),
    )


def crafted(
    layout: ml.Layout, evaluation: ml.Evaluation, draws: Mapping[str, np.ndarray]
) -> ml.Fit:
    """Make a joint fit from given draws, (chain, draw, *plates, *labels); others are made up."""
    chains, length = next(iter(draws.values())).shape[:2]
    made = joint_fits.random_draws(layout, evaluation, chains * length, seed=7)
    given = {name: values.reshape(-1, *values.shape[2:]) for name, values in draws.items()}
    return joint_fits.crafted(layout, evaluation, made | given, chains)
