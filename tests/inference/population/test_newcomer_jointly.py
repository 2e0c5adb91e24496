"""Newcomers given the fit of the others are close to the joint fit of all."""

import numpy as np
import pytest
from helpers.newcomers import compare, explanatory, figures, simulated
from scipy.special import expit
from scipy.stats import norm


@pytest.fixture(scope="module")
def evaluation():
    return simulated(subjects=40, items=12, seed=1)


@pytest.fixture(scope="module")
def compared(evaluation):
    sampling = {"draws": 500, "tune": 300, "chains": 4, "progressbar": False}
    return compare(explanatory(), evaluation, evaluation.subjects[:5], sampling=sampling)


@pytest.mark.slow
def test_newcomers_are_close_to_the_joint_fit(compared):
    found = figures(compared)
    assert found["newcomers"] == 5
    assert found["rms"] <= 0.1
    assert found["beyond"] == 0
    assert set(compared["status"]) == {"ok"}
    assert compared["sd_ratio"].between(0.9, 1.1).all()


@pytest.mark.slow
def test_with_the_prior_ignored_they_would_not_be(compared, evaluation):
    """The twin: each ability from its own outcomes, with a prior that knows no population."""
    rates = evaluation.successes.mean().to_numpy().clip(0.02, 0.98)
    ease = np.log(rates / (1 - rates))
    grid = np.linspace(-9, 9, 901)
    chance = expit(grid[:, None] + ease - ease.mean())
    alone = []
    for subject in compared["subject"]:
        solved = evaluation.successes.loc[subject].to_numpy() == 1
        density = norm.pdf(grid, 0, 5) * np.where(solved, chance, 1 - chance).prod(axis=1)
        alone.append(density @ grid / density.sum())
    difference = (np.array(alone) - compared["joint_mean"]) / compared["joint_sd"]
    found = figures(compared.assign(difference=difference))
    assert found["rms"] > 0.1
    assert found["beyond"] > 0
