"""The exam's layouts by hand, and its simulator."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

import measurement_layouts as ml
from measurement_layouts.inference.model.cohort import Cohort
from measurement_layouts.inference.population.truth import true_values
from measurement_layouts.inference.simulate import true_chances
from measurement_layouts.scenarios import math_exam


def people(count):
    table = {"tests": np.linspace(-2, 2, count), "batch": np.resize(["first", "second"], count)}
    return pd.DataFrame(table, [f"s{number}" for number in range(count)])


@pytest.mark.parametrize("name", math_exam.LAYOUTS)
def test_chances_by_hand(name):
    """Success is the logistic of ability and ease, and of what favours the student's batch."""
    layout, who = math_exam.LAYOUTS[name](), people(6)
    truth = ml.validation.draw_truth(layout, math_exam.items(), who, seed=3)
    cohort = Cohort.of_tables(layout, math_exam.items(), who)
    chances = true_chances(cohort, true_values(cohort, truth), np.random.default_rng(1))
    margin = truth["ability"].to_numpy()[:, None] + truth["ease"].to_numpy()
    if "favour" in truth:
        margin = margin + truth["favour"].sel(batch=who["batch"].to_numpy()).to_numpy()
    np.testing.assert_allclose(chances, expit(margin), atol=1e-12)


@pytest.mark.parametrize("name", ["recommended layout", "items that differ between batches"])
def test_abilities_lie_about_what_practice_leads_to(name):
    """Over many students the ability's slope on the exercises is the weight that was drawn."""
    layout, who = math_exam.LAYOUTS[name](), people(4000)
    truth = ml.validation.draw_truth(layout, math_exam.items(), who, seed=1)
    rest = truth["ability"].to_numpy() - float(truth["mean"])
    if "ofBatch" in truth:
        rest = rest - truth["ofBatch"].sel(batch=who["batch"].to_numpy()).to_numpy()
    tests = who["tests"].to_numpy()
    slope, spread = (rest * tests).sum() / (tests**2).sum(), float(truth["spread"])
    assert slope == pytest.approx(
        float(truth["weight"]), abs=4 * spread / np.sqrt((tests**2).sum())
    )
    assert (rest - slope * tests).std() == pytest.approx(spread, rel=4 / np.sqrt(2 * 4000))
    # the twin: without the weight the spread does not fit
    assert rest.std() > spread * (1 + 4 / np.sqrt(2 * 4000))


def test_what_favours_a_batch_sums_to_zero_over_batches_and_items():
    layout = math_exam.batches_layout()
    truth = ml.validation.draw_truth(layout, math_exam.items(), people(4), seed=2)
    for dim in ("batch", "item"):
        assert abs(truth["favour"].sum(dim)).max() < 1e-12
    assert abs(truth["favour"]).max() > 0.01


def test_better_students_solve_more():
    cohort = math_exam.simulated_cohort(1, students=400)
    truth = math_exam.true_values(1, students=400)
    chance = expit(truth["ability"].to_numpy()[:, None] + truth["ease"].to_numpy())
    error = np.sqrt((chance * (1 - chance)).mean(axis=0) / 400)
    assert (abs(cohort.evaluation.successes.mean() - chance.mean(axis=0)) < 4 * error).all()
    rates = cohort.evaluation.success_rates()
    assert np.corrcoef(rates, cohort.profiles["ability"])[0, 1] > 0.8
