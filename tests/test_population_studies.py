"""Population layouts beside recommended ones: scores, intervals and correlations."""

import numpy as np
import pandas as pd
import population_adele as ability
import population_studies as studies
import pytest
from population_data import Cohort, held_cells, held_items
from scipy.special import expit
from scipy.stats import binom

import measurement_layouts as ml
from measurement_layouts.linking import logistic
from measurement_layouts.scenarios.pooling import item_ease, pooled

LENGTH = {"draws": 200, "tune": 300, "chains": 2}


def rasch():
    """Return a layout of one ability and items."""
    return ml.Layout("rasch", ml.Success("solved", logistic(pooled("skill", 0, 2) + item_ease())))


def alone():
    """Return the same without anything shared."""
    skill = ml.Capability("skill", prior=ml.Prior("Normal", mu=0, sigma=2))
    return ml.Layout("alone", ml.Success("solved", logistic(skill)))


@pytest.fixture(scope="module")
def known():
    """Forty subjects of 30 items that differ by 1.5."""
    rng = np.random.default_rng(4)
    chances = expit(rng.normal(size=(40, 1)) + 1.5 * rng.normal(size=30))
    items = pd.DataFrame(index=[f"i{number:02}" for number in range(30)])
    people = [f"s{number:02}" for number in range(40)]
    outcomes = (rng.random(chances.shape) < chances).astype(int)
    evaluation = ml.Evaluation.from_wide(pd.DataFrame(outcomes, people, items.index), items)
    return Cohort("simulated", evaluation, pd.Series(items.index, items.index))


def test_every_study_has_a_row():
    assert "abilities" in studies.ROWS
    assert len(studies.ROWS) == 1 + len(studies.STUDIES) == 6


@pytest.mark.slow
def test_cells_are_scored_and_intervals_hold(known):
    """The twin: who knows of no items has too narrow intervals of their successes."""
    held = held_cells(known, 0)
    shared, own = (studies.scored(make(), known, held, LENGTH, 1) for make in (rasch, alone))
    assert shared.brier < own.brier - 0.02
    assert shared.auroc > own.auroc + 0.1
    assert len(shared.subjects) == 40
    assert len(shared.items) == 30
    slack = 3 * np.sqrt(0.09 / 30)
    assert shared.items.mean() >= 0.9 - slack
    assert own.items.mean() < 0.9 - slack


@pytest.mark.slow
def test_whole_items_have_scores_and_no_intervals(known):
    found = studies.scored(rasch(), known, held_items(known, 0), LENGTH, 1)
    assert 0.1 < found.brier < 0.35
    assert not len(found.subjects)
    assert not len(found.items)


def test_an_interval_of_known_chances_holds_as_many_as_it_should():
    """Binomial draws of one chance, and counts of it: between .90 and what whole numbers add."""
    rng = np.random.default_rng(2)
    came = rng.binomial(40, 0.3, 2000)
    drawn = rng.binomial(40, 0.3, (2000, 800))
    low, high = (binom.ppf(end, 40, 0.3) for end in (0.05, 0.95))
    exact = binom.cdf(high, 40, 0.3) - binom.cdf(low - 1, 40, 0.3)
    assert studies._holds(drawn, came).mean() == pytest.approx(exact, abs=0.03)
    assert studies._holds(drawn, came + 8).mean() < 0.6  # the twin


def test_correlations_within_subjects_and_of_what_is_their_own():
    """Dimensions that are far apart for everybody correlate; without them nothing is left."""
    rng = np.random.default_rng(3)
    shape, people = rng.normal(0, 3, 18), [f"s{number}" for number in range(200)]
    one, other = (pd.DataFrame(shape + rng.normal(size=(200, 18)), people) for _ in range(2))
    assert np.mean(ability.within(one, other)) > 0.8
    assert abs(np.mean(ability.within(ability.own_part(one), ability.own_part(other)))) < 0.06
    levels = pd.Series(np.arange(200.0), people)
    assert ability.order(one.add(levels, axis=0), levels) > 0.99
    assert ability.order(one.add(levels, axis=0), -levels) < -0.99
