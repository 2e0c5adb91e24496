"""Reproductions: published tables are read, figures hold or fall as they should, on real data."""

import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from measurement_layouts import scenarios
from measurement_layouts.estimation.estimate import estimate
from measurement_layouts.scenarios import adele, propensities
from measurement_layouts.scenarios.adele import reproduction as scales
from measurement_layouts.scenarios.adele.scales import SUBJECTS
from measurement_layouts.scenarios.animal_ai_olympics import published_layout
from measurement_layouts.scenarios.animal_ai_olympics import reproduction as animals
from measurement_layouts.scenarios.object_permanence import AGENTS
from measurement_layouts.scenarios.object_permanence import reproduction as permanence
from measurement_layouts.scenarios.propensities import reproduction as leanings
from measurement_layouts.scenarios.propensities.layouts import PUBLISHED, RECOMMENDED
from measurement_layouts.validation.prediction.cross_validate import cross_validate
from measurement_layouts.validation.prediction.splits import Groups, Items

SILENT = ["4o 0", "4o unprompted", "o1 0", "o1 unprompted"]


def held(figures):
    return [figure.holds for figure in figures]


def as_published(evaluation, table):
    """What `compare` reads of a fit, with Figure 9 as its profiles."""
    profiles = [
        {"subject": subject, "node": node} | {of: row[f"{node}_{of}"] for of in ("mean", "sd")}
        for subject, row in table.iterrows()
        for node in animals._COMPARED
    ]
    verdict = pd.DataFrame({"rhat": 1.0, "divergences": 0, "reason": ""}, evaluation.subjects)
    return SimpleNamespace(
        layout=published_layout(),
        subjects=evaluation.subjects,
        names=lambda rows: [evaluation.subjects[row] for row in rows],
        coded=evaluation.coded,
        profiles=lambda: pd.DataFrame(profiles),
        diagnostics=lambda: verdict,
    )


def test_animal_ai_figures_hold_for_the_published_profiles_alone(evaluation, published_tables):
    table = animals.figure_9(published_tables, evaluation.subjects)
    assert held(animals.compare(as_published(evaluation, table), table)) == [True] * 9
    others = as_published(evaluation, table.set_axis(table.index[::-1], axis=0))
    assert not any(held(animals.compare(others, table))[1:7])


def trial(error, criticised):
    """A cohort with this error of every capability, and this property found for every agent."""
    names = list(AGENTS)
    errors = pd.DataFrame(error, names, list(permanence.RANGES))
    methods = {PUBLISHED: 0.1, RECOMMENDED: 0.08 + error, "aggregate": 0.2}
    return permanence.Trial(
        {PUBLISHED: errors, RECOMMENDED: errors},
        pd.DataFrame(methods, names),
        pd.Series([criticised(AGENTS[name]) for name in names], names),
        pd.Series(error == 0, names),
    )


def test_object_permanence_figures_hold_for_true_profiles_alone(published_tables):
    tables = permanence.read_tables(published_tables)
    right = [trial(0.0, lambda agent: agent.missing)] * 2
    found = permanence.compare(right, tables).figures
    assert held(found) == [True] * 21
    assert [figure.obtained for figure in found[-3:]] == [30, 17, 0]
    wrong = permanence.compare([trial(0.5, lambda _: "rewardVisible")] * 2, tables)
    assert not any(held(wrong.figures))


@pytest.fixture(scope="module")
def risk(risk_data):
    return propensities.load(risk_data)


@pytest.fixture(scope="module")
def released(risk, risk_data):
    maxima = estimate(propensities.published_layout(), risk, prob=0.95)
    return leanings.against_released(maxima, propensities.released(risk_data))


def test_likelihoods_optima_and_intervals_are_the_released_ones(released):
    assert all(held(leanings._released_figures(released, SILENT)))
    assert (released["gain"] > 0.01).sum() == 47
    assert sorted(released.index[~released["identified"]]) == SILENT
    changed = {"gain": -1.0, "there": 0.0, "at_origin": 0.0, "identified": True}
    wrong = released.assign(**changed, our_half=2 * released["our_half"])
    assert not any(held(leanings._released_figures(wrong, SILENT)))


def test_summary_of_a_recovery():
    columns = {"estimate": [0.1, 1.3, 9.0], "low": [-1, 1.2, 8], "high": [1, 2, 10]}
    table = pd.DataFrame(columns, list("abc")).assign(identified=[True, True, False])
    found = leanings.summary(table, pd.Series(0.0, list("abc")).add([0, 1, 2]))
    assert found == pytest.approx(
        {"identified": 2, "coverage": 0.5, "bias": 0.2, "rmse": 0.05**0.5}
    )


def test_scores_are_weighted_by_accuracy():
    rows = [("A", "m", 0.6, 0.1, 0.2), ("B", "m", np.nan, 0.3, 0.4)]
    scores = pd.DataFrame(rows, columns=["subject", "method", *scales.SCORES])
    theirs = pd.DataFrame({"auroc": [0.7], "ece": [0.01]}, ["m"])
    row = scales.by_method(scores, pd.Series({"A": 0.25, "B": 0.75}), theirs).loc["m"]
    assert row["brier"] == pytest.approx(0.3)
    assert row["weighted brier"] == pytest.approx(0.25 * 0.2 + 0.75 * 0.4)
    assert row["weighted auroc"] == pytest.approx(0.6)
    assert row["published weighted auroc"] == 0.7


def test_the_papers_averages_are_weighted_by_accuracy(published_tables):
    """The last rows of the tables: to the third digit, once not quite."""
    weights = np.array([subject.accuracy for subject in SUBJECTS.values()])
    for file in ("adele_table3_in_distribution.csv", "adele_table5_benchmark_ood.csv"):
        auroc = pd.read_csv(published_tables / file)["demands_auroc"].to_numpy()
        split = "in distribution" if "table3" in file else "benchmark OOD"
        found = scales.published_scores(published_tables, split).at[scales.FOREST, "auroc"]
        assert found == auroc[-1]
        assert found == pytest.approx(auroc[:-1] @ weights / weights.sum(), abs=0.0021)


@pytest.mark.slow
def test_regression_is_that_of_scikit_learn_alone(adele_data):
    """On all real items, in distribution and with benchmarks left out."""
    marked, places = scales.prepared(adele.load(adele_data))
    for split in ("in distribution", "benchmark OOD"):
        method = {scales.REGRESSION: scales.methods(split, places)[scales.REGRESSION]}
        column = scales.SPLITS[split]
        held_out = Items(folds=10) if column is None else Groups(column)
        found = cross_validate(method, marked, split=held_out, resamples=2, progressbar=False)
        means = found.scores[list(scales.SCORES)].mean()
        known = scales._ELSEWHERE[split, scales.REGRESSION]
        assert means.to_numpy() == pytest.approx(known, abs=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["animal-ai-olympics", "math-exam", "weirdml"])
def test_figures_of_a_study_hold(name, real_data, published_tables):
    found = scenarios.reproduce(name, real_data.parent, published_tables)
    assert [figure for figure in found.figures if not figure.holds] == []
    assert json.dumps(found.to_dict(), allow_nan=False)
