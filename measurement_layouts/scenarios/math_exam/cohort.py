"""Simulated students with known abilities, on the exam's items."""

import numpy as np
import xarray as xr

from ...inference.simulate import draw_outcomes
from ..scenario import Cohort
from .data import items
from .layouts import recommended_layout

STUDENTS = 60
WEIGHT, SPREAD, EASE_SPREAD = 0.7, 0.9, 1.0
"""Log-odds: per standard deviation of the exercises, of abilities given those, and of items."""


def true_values(seed: int = 1, students: int = STUDENTS) -> xr.Dataset:
    """Draw abilities and eases of the recommended layout, given shared values from the real data.

    Parameters
    ----------
    seed : int
        Seed of the draws.
    students : int
        Number of students.

    Returns
    -------
    Dataset
        One variable per latent, with students and items as coordinates; and ``tests``, the
        standardised exercises.

    Examples
    --------
    >>> true_values()["ability"].std().round(1).item()
    1.0
    """
    rng = np.random.default_rng([seed, students])
    exercises = rng.normal(size=students).clip(-2.5, 2.5)
    tests = (exercises - exercises.mean()) / exercises.std()
    ease = rng.normal(0, EASE_SPREAD, len(items()))
    names = [f"student-{number:02d}" for number in range(1, students + 1)]
    return xr.Dataset(
        {
            "mean": 0.3,
            "weight": WEIGHT,
            "spread": SPREAD,
            "easeSpread": EASE_SPREAD,
            "ease": ("item", ease - ease.mean()),
            "tests": ("subject", tests),
            "ability": ("subject", rng.normal(0.3 + WEIGHT * tests, SPREAD)),
        },
        {"subject": names, "item": items().index.to_numpy()},
    )


def simulated_cohort(seed: int = 1, students: int = STUDENTS) -> Cohort:
    """Simulate students on the 13 items, half of them in each batch; no item favours a batch.

    Parameters
    ----------
    seed : int
        Seed of true values and outcomes.
    students : int
        Number of students.

    Returns
    -------
    Cohort
        Outcomes and true abilities.

    Examples
    --------
    >>> simulated_cohort().evaluation
    <Evaluation: 60 subjects, 13 items, 780 trials, properties rewritten, of subjects tests, batch>
    """
    truth = true_values(seed, students)
    people = truth[["tests"]].to_dataframe()
    people["batch"] = np.resize(["first", "second"], students)
    evaluation = draw_outcomes(
        recommended_layout(), items(), truth, np.random.default_rng(seed), subjects=people
    )
    return Cohort(evaluation, truth[["ability"]].to_dataframe())
