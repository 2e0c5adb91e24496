"""More outcomes of a fit: evaluations that are added are fitted as one that had all outcomes."""

import numpy as np
import pytest
from helpers.graded_layouts import graded, items, layout, random_outcomes
from helpers.populations import cohort_data, exam_layout
from helpers.small_layouts import animal_ai, battery, profiles

import measurement_layouts as ml

SAMPLING = {"draws": 40, "tune": 60, "chains": 2, "seed": 1, "reruns": 0, "progressbar": False}


def successes():
    return animal_ai(), ml.simulate(animal_ai(), battery(), profiles(), seed=5)


def grades():
    made = layout(graded())
    rng, table = np.random.default_rng(2), items(24)
    tables, _ = random_outcomes(made, table, rng, subjects=("Ann", "Bob", "Cyd"), attempts=1)
    return made, ml.Evaluation.of_outcomes(made, tables, table)


def joint():
    return exam_layout(), cohort_data()


def at(evaluation, here):
    """Keep the outcomes of some cells, and the subjects and items of these cells."""
    who, names = (
        evaluation.successes.index[here.any(axis=1)],
        evaluation.items.index[here.any(axis=0)],
    )
    won, tried = (
        table.where(here, 0).loc[who, names] for table in (evaluation.successes, evaluation.trials)
    )
    people = evaluation.subject_table
    return ml.Evaluation(evaluation.items.loc[names], won, tried, subjects=people)


def parts(evaluation, split):
    """Cells of a first and of a second evaluation; together they are all cells."""
    table = evaluation.item_table.index
    late = evaluation.items.index.isin(evaluation.rows_of(table[len(table) * 2 // 3 :]))
    new = np.arange(len(evaluation.subjects)) >= 2
    here = {
        "items": np.broadcast_to(~late, (len(new), len(late))),
        "subjects": np.broadcast_to(~new[:, None], (len(new), len(late))),
        "both": ~late & ~new[:, None],
        "the same again": np.broadcast_to(~late, (len(new), len(late))),
    }[split]
    return here, np.ones_like(here) if split == "the same again" else ~here


@pytest.mark.parametrize("split", ["items", "subjects", "both", "the same again"])
@pytest.mark.parametrize("case", [successes, grades, joint], ids=lambda case: case.__name__)
def test_outcomes_added_are_fitted_as_if_they_were_there_from_the_start(case, split):
    made, whole = case()
    old, more = (at(whole, here) for here in parts(whole, split))
    assert old.trials.to_numpy().sum() < whole.trials.to_numpy().sum()
    found, expected = (ml.fit(made, one, **SAMPLING) for one in (old + more, whole))
    assert found.data["observed_data"].identical(expected.data["observed_data"])
    assert found.data["constant_data"].identical(expected.data["constant_data"])
    assert found.posterior.identical(expected.posterior)
