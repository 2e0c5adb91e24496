"""The baselines that pool, on real data: the figures of November 2026."""

import pandas as pd
import pytest
from helpers.real_folders import study

from measurement_layouts.scenarios import animal_ai_olympics, fraction_subtraction, math_exam
from measurement_layouts.validation import cross_validate


@pytest.mark.parametrize(
    ("load", "folder", "mean", "rasch"),
    [
        (animal_ai_olympics.load, "aaio", 0.158, 0.1088),
        (fraction_subtraction.load, "fraction_subtraction", 0.159, 0.133),
        (math_exam.load, "math_exam", 0.2333, 0.1912),
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


def test_the_exercises_of_students_help():
    """By an own approximation of the posterior, the scores were .1916 and .1892."""
    evaluation, loss = math_exam.load(study("math_exam")), []
    for seed in range(3):
        options = {"split": "cells", "repeats": 1, "seed": seed, "progressbar": False}
        cells = cross_validate(["explanatory"], evaluation, **options).predictions
        loss.append(((cells["probability"] - cells["successes"]) ** 2).mean())
    assert sum(loss) / 3 == pytest.approx(0.1889, abs=0.0015)
