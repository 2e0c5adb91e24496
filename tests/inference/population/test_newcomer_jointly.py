"""Newcomers given the fit of the others are close to the joint fit of all."""

import pytest
from helpers.newcomers import compare, explanatory, figures, simulated


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
