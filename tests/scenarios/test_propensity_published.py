"""The real risk-aversion study against what was released of it, and the verdicts."""

import json

import numpy as np
import pandas as pd
import pytest

import measurement_layouts as ml
from measurement_layouts.estimation.estimate import estimate
from measurement_layouts.scenarios import propensities
from measurement_layouts.scenarios.propensities.layouts import PUBLISHED, RECOMMENDED
from measurement_layouts.scenarios.propensities.reproduction import published, recovery
from measurement_layouts.scenarios.study import judge
from measurement_layouts.validation.prediction.result import CrossValidation

SILENT = ["4o 0", "4o unprompted", "o1 0", "o1 unprompted"]


@pytest.fixture(scope="module")
def study(risk_data):
    return propensities.load(risk_data)


@pytest.fixture(scope="module")
def table(study, risk_data):
    layout = propensities.published_layout()
    maxima = estimate(layout, study, prob=0.95)
    return published.against_released(maxima, propensities.released(risk_data))


def test_log_likelihoods_are_the_released_ones(table):
    assert (table["there"] - table["log_likelihood"]).abs().max() < 1e-5
    assert (table["at_origin"] - table["at_zero"]).abs().max() < 1e-5


def test_no_released_maximum_is_higher(table):
    """Some 47 are lower, by up to hundreds of nats."""
    assert table["gain"].min() > -1e-9
    assert (table["gain"] > 0.01).sum() == 47
    assert table["global"].sum() == 96 - 47


def test_those_without_any_success_are_not_placed(table):
    assert sorted(table.index[~table["identified"]]) == SILENT
    assert table.loc[SILENT, "reason"].str.startswith("no success on 187 items").all()


def test_half_widths_agree_where_the_released_optimum_is_global(table):
    """Theirs are from the curvature, too: equal to a percent away from cliffs."""
    both = table[table["global"] & table["our_half"].notna()]
    assert len(both) > 40
    ratio = both["released_half"] / both["our_half"]
    assert ratio.between(0.95, 1.05).all()
    assert ratio.median() == pytest.approx(1, abs=0.002)


def test_verdicts_on_likelihoods(table):
    figures = [
        *published._likelihood_figures(table),
        *published._unidentified_figures(table, SILENT),
    ]
    assert all(figure.holds for figure in figures)
    lost = table.assign(gain=-1.0, identified=True, there=0.0, our_half=2 * table["our_half"])
    figures = [*published._likelihood_figures(lost), *published._unidentified_figures(lost, SILENT)]
    assert [figure.holds for figure in figures] == [False, True, False, False, False, False]


@pytest.fixture(scope="module")
def fits(study):
    """Two subjects away from cliffs."""
    chosen = {"subjects": ["Nemo +1", "4o +2"], "seed": 1, "progressbar": False}
    layout = propensities.published_layout()
    nuts = ml.fit(layout, study, method="nuts", **chosen)
    return nuts, ml.fit(layout, study, method="grid", **chosen)


def test_nuts_agrees(fits):
    found = published.sampled_against_integrated(*fits)
    assert (found["z"] < published._FAR).all()
    assert not found["flagged"].any()
    assert all(figure.holds for figure in published._sampling_figures(found))


def test_other_draws_do_not(fits):
    """Twin: a posterior a fifth of its width beside."""
    nuts, grid = fits
    values = nuts.data["posterior"]["propensity"]
    shifted = values + 0.2 * values.std(["chain", "draw"])
    moved = nuts.data.copy()
    moved["posterior"] = moved["posterior"].to_dataset().assign(propensity=shifted)
    other = ml.Fit(nuts.layout, moved, nuts.failures)
    found = published.sampled_against_integrated(other, grid)
    assert (found["z"] > published._FAR).all()
    assert not published._sampling_figures(found)[0].holds
    named = found.assign(flagged=True)
    assert [figure.holds for figure in published._sampling_figures(named)] == [True, False]
    named = named.assign(apart=True)
    assert all(figure.holds for figure in published._sampling_figures(named))


def made_scores(ours):
    rows = [
        {
            **{"repeat": repeat, "fold": 0, "subject": f"o1 {level}", "item": "a"},
            **{"successes": 0, "trials": 1, "method": method},
            "probability": np.sqrt(brier + repeat / 1e3),
        }
        for repeat in range(3)
        for level in ("-1", "unprompted")
        for method, brier in ((RECOMMENDED, ours), (PUBLISHED, 0.2), ("aggregate", 0.15))
    ]
    return CrossValidation(pd.DataFrame(rows), pd.Series({"o1 -1": 0.5, "o1 unprompted": 0.5}))


def test_scores_by_condition():
    found = published.by_condition(made_scores(0.1))
    assert found.index.tolist() == ["-1", "unprompted"]
    assert found[RECOMMENDED].to_numpy() == pytest.approx(0.101)
    assert found["se"].to_numpy() == pytest.approx(0, abs=1e-12)
    assert [figure.holds for figure in published._score_figures(found)] == [True] * 3
    worse = published._score_figures(published.by_condition(made_scores(0.16)))
    assert [figure.holds for figure in worse] == [False] * 3


def test_summary_of_a_recovery():
    """By hand: four subjects, one of them not identified."""
    table = pd.DataFrame(
        {
            "estimate": [1.0, 2.0, 3.0, np.nan],
            "low": [0.5, 1.5, 2.9, np.nan],
            "high": [1.5, 2.5, 3.1, np.nan],
            "identified": [True, True, True, False],
        },
        index=list("abcd"),
    )
    found = recovery.summary(table, pd.Series([1.0, 1.7, 2.4, 0.0], index=list("abcd")))
    assert found["identified"] == 3
    assert found["coverage"] == pytest.approx(2 / 3)
    assert found["bias"] == pytest.approx(0.3)
    assert found["rmse"] == pytest.approx((0.45 / 3) ** 0.5)


def test_verdicts_on_recovery():
    methods = pd.DataFrame({"identified": 380, "coverage": [0.91], "bias": [0.001]}, ["grid"])
    repeats = pd.DataFrame({"likelihood": [-1.51, -1.49], "collapse": [-1.1, -1.0]})
    assert all(figure.holds for figure in published._recovery_figures(methods, repeats))
    bad = methods.assign(coverage=0.7, bias=-0.1)
    off = pd.DataFrame({"likelihood": [-1.21, -1.2], "collapse": [-1.5, -1.6]})
    assert not any(figure.holds for figure in published._recovery_figures(bad, off))


def test_the_parts_are_put_together(risk_data, published_tables, monkeypatch):
    """As the command runs it, but for samples and simulations, whose results are made up here."""
    asked = []

    def few(layout, evaluation, **options):
        asked.append(evaluation.subjects)
        return ml.fit(layout, evaluation.select(subjects=["Nemo +1", "4o +2"]), **options)

    subjects = pd.DataFrame({"truth": [0.5, 1.0], "identified (likelihood)": [True, False]})
    methods = pd.DataFrame({"identified": 380, "coverage": [0.9], "bias": [0.0]}, ["grid"])
    repeats = pd.DataFrame({"likelihood": [-1.51, -1.49], "collapse": [-1.1, -1.0]})
    monkeypatch.setattr(published, "fit", few)
    monkeypatch.setattr(published, "cross_validate", lambda *given, **options: made_scores(0.1))
    monkeypatch.setattr(published, "recovery", lambda: (subjects, methods))
    monkeypatch.setattr(published, "figure_6", lambda: repeats)
    found = published.reproduce(propensities.SCENARIO, risk_data, published_tables)
    assert [len(names) for names in asked] == [92, 92]
    assert all(figure.holds for figure in found.figures)
    assert [len(found.tables), len(found.figures)] == [7, 5 + 1 + 2 + 3 + 4]
    json.dumps(found.to_dict(), allow_nan=False)


def test_only_the_aggregate_has_to_be_beaten():
    """Another layout may foresee as much as the recommended one."""
    briers = {RECOMMENDED: 0.10, PUBLISHED: 0.09, "aggregate": 0.20}
    rows = [
        {"repeat": 0, "fold": 0, "subject": "Ann", "item": "a", "successes": 0, "trials": 1}
        | {"method": method, "probability": np.sqrt(brier)}
        for method, brier in briers.items()
    ]
    scores = CrossValidation(pd.DataFrame(rows), pd.Series({"Ann": 0.5}))
    figures = judge(propensities.SCENARIO, scores)
    assert figures[0].bound == pytest.approx(0.20)
    assert figures[0].goal == "below the aggregate"
    assert [figure.holds for figure in figures] == [True, False, True]
