"""The baselines that pool, on real data: the figures measured by hand."""

import numpy as np
import pandas as pd
import pytest
from helpers.real_folders import study

from measurement_layouts.scenarios import animal_ai_olympics, fraction_subtraction
from measurement_layouts.validation import cross_validate
from measurement_layouts.validation.prediction.pooled import fit_rasch, standardised


@pytest.fixture(scope="module")
def exam():
    """The mathematics exam, one row per student."""
    return pd.read_csv(study("math_exam", "math_exam.csv") / "math_exam.csv")


def brier(won, **columns):
    """Mean over three splits by cells."""
    found = []
    for seed in range(3):
        held = np.random.default_rng(seed).random(won.shape) < 0.2
        chance = fit_rasch(won * ~held, ~held, **columns)
        found.append(np.mean((chance - won)[held] ** 2))
    return np.mean(found)


def test_the_exam(exam):
    """By hand .1916 and, with a covariate, .1892; the student's mean .2333, the item's .2180."""
    won = exam[[f"solved{item}" for item in range(1, 14)]].to_numpy()
    tests = standardised(exam[["tests"]].to_numpy(dtype=float))
    assert brier(won) == pytest.approx(0.1916, abs=0.001)
    assert brier(won, subject_columns=[tests]) == pytest.approx(0.1892, abs=0.001)
    shuffled = np.random.default_rng(1).permutation(tests)
    assert brier(won, subject_columns=[shuffled]) > 0.1905  # twin


@pytest.mark.parametrize(
    ("load", "folder", "mean", "rasch"),
    [
        (animal_ai_olympics.load, "aaio", 0.158, 0.107),
        (fraction_subtraction.load, "fraction_subtraction", 0.159, 0.1275),
    ],
)
def test_cross_validation_by_cells(load, folder, mean, rasch):
    evaluation = load(study(folder))
    found = []
    for seed in range(3):
        options = {"split": "cells", "repeats": 1, "seed": seed, "progressbar": False}
        cells = cross_validate(["aggregate", "rasch"], evaluation, **options).predictions
        cells["loss"] = (cells["probability"] - cells["successes"]) ** 2
        found.append(cells.groupby("method")["loss"].mean())
    found = pd.concat(found, axis=1).mean(axis=1)
    assert found["aggregate"] == pytest.approx(mean, abs=0.002)
    assert found["rasch"] == pytest.approx(rasch, abs=0.0015)
