"""The propensities study: its real data and its simulated cohort."""

import numpy as np
import pandas as pd
import pytest

from measurement_layouts.linking import band
from measurement_layouts.scenarios import propensities

SIZES = {
    "risk_aversion": 350,
    "introversion": 357,
    "red_vs_blue": 348,
    "ultracrepidarianism": 359,
}


@pytest.fixture(scope="module")
def cohort():
    return propensities.simulated_cohort(seed=1)


def test_the_real_study(risk_data):
    evaluation = propensities.load(risk_data)
    assert (len(evaluation.subjects), len(evaluation.items)) == (96, 187)
    assert (evaluation.items["lower"] <= 0).all()
    assert (evaluation.items["upper"] >= 0).all()
    rates = evaluation.success_rates()
    assert sorted(rates.index[rates == 0]) == ["4o 0", "4o unprompted", "o1 0", "o1 unprompted"]
    wide = pd.read_csv(risk_data / "outcomes_wide.csv", index_col="question_id")
    told = {"Nemo +3": "Nemo_RA_+3_outcome", "Gemma 3 -1": "gemma3_RA_-1_outcome"}
    told |= {"Llama 3.2 unprompted": "llama32_RA_outcome", "o1 0": "o1_RA_0_outcome"}
    for subject, column in told.items():
        found = evaluation.successes.loc[subject, wide.index]
        assert found.to_numpy().tolist() == wide[column].tolist()


@pytest.mark.parametrize("propensity", SIZES)
def test_batteries_have_the_published_sizes(propensity):
    items = propensities.battery(propensity)
    assert len(items) == SIZES[propensity]
    assert items["lower"].between(-3, 0).all()
    assert items["upper"].between(0, 3).all()
    pairs = items.groupby(["lower", "upper"]).size()
    assert len(pairs) == 14
    assert pairs.max() - pairs.min() <= 1


def test_everybody_answers_a_battery(cohort):
    own = propensities.obtained()["propensity"]
    trials = cohort.evaluation.trials
    assert trials.sum(axis=1).eq(own.map(SIZES)).all()
    where = cohort.evaluation.items["propensity"]
    for subject in trials.index[::97]:
        assert set(where[trials.loc[subject] > 0]) == {own[subject]}


def test_answers_follow_equation_5(cohort):
    """All successes of 384 subjects against their expectation: a z value of a seeded draw."""
    items, trials = cohort.evaluation.items, cohort.evaluation.trials.to_numpy()
    theta = cohort.profiles["propensity"].to_numpy()[:, None]

    def z(theta):
        chance = band(theta, low=items["lower"].to_numpy(), high=items["upper"].to_numpy())
        spread = (trials * chance * (1 - chance)).sum() ** 0.5
        return abs((cohort.evaluation.successes.to_numpy() - trials * chance).sum()) / spread

    assert z(theta) < 3
    assert z(np.abs(theta) * 0.9) > 10  # twin: other subjects


def test_names_of_subjects():
    assert propensities.condition("o1", np.nan) == "o1 unprompted"
    assert propensities.condition("o1", 0.0) == "o1 0"
    assert propensities.condition("o1", -2.0, "red_vs_blue") == "o1 -2, red against blue"
