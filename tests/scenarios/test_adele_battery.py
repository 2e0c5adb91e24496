"""The simulated battery has the published structure, and its subjects the published accuracies."""

import numpy as np
import pandas as pd
import pytest

from measurement_layouts.inference.model.features import read_features
from measurement_layouts.inference.simulate import expected_success
from measurement_layouts.scenarios.adele.battery import (
    ITEMS,
    battery,
    rule,
    simulated_cohort,
    tasks,
    true_profiles,
)
from measurement_layouts.scenarios.adele.scales import DEMANDS, SUBJECTS

SOME = 2000


@pytest.fixture(scope="module")
def whole_battery():
    return battery()


@pytest.fixture(scope="module")
def demands(whole_battery):
    return whole_battery[[f"demand[{code}]" for code in DEMANDS]].set_axis(list(DEMANDS), axis=1)


@pytest.fixture(scope="module")
def cohort():
    return simulated_cohort(seed=2, items=SOME)


def test_benchmarks_tasks_and_sizes(whole_battery):
    table = tasks()
    assert (len(whole_battery), len(table), table["benchmark"].nunique()) == (ITEMS, 63, 20)
    sizes = whole_battery.groupby(["benchmark", "task"]).size()
    assert sizes.to_dict() == table.set_index(["benchmark", "task"])["items"].to_dict()
    assert whole_battery.index.is_unique


def test_a_part_of_the_battery_keeps_its_proportions(whole_battery):
    part = battery(items=SOME)
    assert len(part) == SOME
    pd.testing.assert_frame_equal(part, whole_battery.loc[part.index])
    taken = part["benchmark"].value_counts()
    expected = whole_battery["benchmark"].value_counts() * SOME / ITEMS
    assert taken.sub(expected).abs().max() <= 1  # rounding


def closest(demands):
    """The two pairs of demands with the highest rank correlations."""
    found = demands.corr("spearman").to_numpy()
    rows, columns = np.triu_indices(len(found), 1)
    best = np.argsort(found[rows, columns])[-2:]
    return {(demands.columns[rows[k]], demands.columns[columns[k]]) for k in best}


def test_correlations_are_like_those_of_figure_4(demands):
    assert closest(demands) == {("CL", "QLl"), ("CL", "MCu")}
    table = demands.corr("spearman")
    assert table.loc["CL", "QLl"] > 0.8
    assert table.loc["CL", "MCu"] > 0.79
    assert (table.loc[["KNc", "KNs"], ["QLl", "QLq", "KNf", "KNn"]] < 0).to_numpy().all()
    rng = np.random.default_rng(1)
    alone = demands.apply(rng.permutation)
    assert closest(alone) != closest(demands)  # twin


def test_social_cognition_and_space_are_rare(demands):
    empty = (demands == 0).mean()
    assert set(empty.nlargest(2).index) == {"MS", "SNs"}
    assert empty[["MS", "SNs"]].min() > 0.8


def test_accuracies_are_the_published_ones(published_tables):
    table = pd.read_csv(published_tables / "adele_table3_in_distribution.csv", index_col="subject")
    found = {name: subject.accuracy for name, subject in SUBJECTS.items()}
    assert found == table["accuracy"].dropna().to_dict()


def test_subjects_reach_their_accuracies(cohort):
    """Within 3.5 standard errors of a mean of 0/1 outcomes, and what rounding profiles costs."""
    published = pd.Series({name: subject.accuracy for name, subject in SUBJECTS.items()})
    error = (published * (1 - published) / SOME) ** 0.5

    def reached(rates):
        return ((rates - published).abs() < 3.5 * error + 0.003).all()

    assert reached(cohort.evaluation.success_rates())
    assert not reached(cohort.evaluation.success_rates() + 0.04)  # twin


def test_outcomes_follow_the_rule(cohort):
    """All successes against their expectation: a z value of a seeded draw."""
    features = read_features(rule(), cohort.evaluation.items)

    def z(profiles):
        chance = expected_success(rule(), features, profiles, SOME)
        spread = (chance * (1 - chance)).sum() ** 0.5
        return abs((cohort.evaluation.successes.to_numpy() - chance).sum()) / spread

    assert z(cohort.profiles) < 3
    assert z(cohort.profiles + 0.3) > 10  # twin: more able subjects


def test_profiles_have_the_pattern_of_figure_8():
    profiles = true_profiles().set_axis(list(DEMANDS), axis=1)
    extra = profiles.sub(profiles.mean(axis=1), axis=0)
    reasons = pd.Series({name: subject.reasons for name, subject in SUBJECTS.items()})
    reasoning = extra[["QLl", "QLq", "MCr", "MS"]].mean(axis=1)
    assert reasoning[reasons].mean() > reasoning[~reasons].mean() + 0.2
    known = extra.filter(like="KN").mean(axis=1)
    assert known["LLaMA-3.1-405B-Instruct"] > known["LLaMA-3.2-1B-Instruct"] + 0.4
    distilled = [name for name, subject in SUBJECTS.items() if subject.distilled]
    assert extra.loc[distilled, "SNs"].mean() < 0
