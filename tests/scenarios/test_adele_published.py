"""Verdicts on the general scales, on assessments made by hand."""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from measurement_layouts import DataError
from measurement_layouts.commands.printing import print_figures, print_tables
from measurement_layouts.scenarios import adele
from measurement_layouts.scenarios.adele.battery import simulated_cohort
from measurement_layouts.scenarios.adele.layouts import LAYOUTS
from measurement_layouts.scenarios.adele.light import PUBLISHED_SIZE
from measurement_layouts.scenarios.adele.reproduction import assessed, published
from measurement_layouts.validation.prediction.cross_validate import cross_validate
from measurement_layouts.validation.prediction.estimators import Estimator
from measurement_layouts.validation.prediction.splits import Items

SOME = ["GPT-4o", "LLaMA-3.2-3B-Instruct"]
INSIDE, _, OUTSIDE = assessed.SPLITS


@pytest.fixture(scope="module")
def evaluation():
    return simulated_cohort(items=160).evaluation.select(subjects=SOME)


def means(split, layout):
    """Forest and regression as measured elsewhere, and a layout."""
    rows = {
        method: scores for (where, method), scores in published._ELSEWHERE.items() if where == split
    }
    ours = dict(zip(assessed.SCORES, layout, strict=True))
    return pd.DataFrame.from_dict({**rows, assessed.LAYOUT: ours}, orient="index")


@pytest.mark.parametrize(
    ("split", "layout", "holds"),
    [
        (INSIDE, (0.7545, 0.014, 0.151), [True, True, True]),
        (INSIDE, (0.7535, 0.015, 0.1525), [False, False, False]),
        (OUTSIDE, (0.6595, 0.085, 0.179), [True, True, True]),
        (OUTSIDE, (0.655, 0.09, 0.182), [False, False, False]),
        (OUTSIDE, (0.659, np.nan, 0.1), [False, False, True]),
    ],
)
def test_verdicts_on_real_items(split, layout, holds):
    """The regression is the better one out of distribution, the forest within."""
    figures = published.judge_split(means(split, layout), split)
    assert [figure.holds for figure in figures] == [*holds, True, True]
    assert figures[0].obtained == layout[0]
    assert "forest 0." in figures[0].name
    assert "logistic regression 0." in figures[0].name


def test_nobody_measured_tasks_elsewhere():
    assert len(published.judge_split(means(INSIDE, (0.76, 0.01, 0.15)), "task OOD")) == 3


def test_verdicts_on_the_light_battery():
    assert published.judge_light(PUBLISHED_SIZE).holds
    assert not published.judge_light(round(1.2 * PUBLISHED_SIZE)).holds
    assert not published.judge_light(round(0.8 * PUBLISHED_SIZE)).holds


def test_missing_tables_are_noticed_first(evaluation, tmp_path, monkeypatch):
    monkeypatch.setattr(published, "real_assessment", None)
    scenario = dataclasses.replace(adele.SCENARIO, load=lambda folder: evaluation)
    with pytest.raises(DataError, match="there is no"):
        published.reproduce(scenario, None, tmp_path)


def test_the_report(evaluation, monkeypatch, capsys):
    """All but the work: strict JSON, and text."""
    cheap = {
        **dict.fromkeys([assessed.FOREST, "forest, six best", assessed.LAYOUT], "aggregate"),
        assessed.REGRESSION: Estimator("logistic", ["demand[AS]"]),
    }
    made = cross_validate(cheap, evaluation, split=Items(folds=2), resamples=2, progressbar=False)
    cells = pd.MultiIndex.from_product([SOME, ["AS", "VO"]], names=["subject", "dimension"])
    pair = pd.DataFrame({"layout": [4, 3, 2, 1.0], "curves": [3, np.nan, 2, 0.5]}, cells)
    total = pd.DataFrame({"layout": ["additive"], "elpd": [-3.0]}).set_index("layout")
    theirs = pd.MultiIndex.from_tuples([(assessed.FOREST, assessed.WEIGHTED)])
    theirs = pd.DataFrame({"auroc": 0.839, "ece": 0.011}, theirs.set_names(["method", "subject"]))
    monkeypatch.setattr(published, "published_scores", lambda folder, split: theirs)
    monkeypatch.setattr(published, "real_assessment", lambda evaluation, split: made)
    monkeypatch.setattr(published, "abilities", lambda evaluation: pair)
    monkeypatch.setattr(published, "compared_layouts", lambda evaluation: total)
    for study in ("real_importances", "one_population"):
        monkeypatch.setattr(published, study, lambda evaluation: ([], {}))
    scenario = dataclasses.replace(adele.SCENARIO, load=lambda folder: evaluation)
    found = published.reproduce(scenario, None, Path())
    report = json.loads(json.dumps(found.to_dict(), allow_nan=False), parse_constant=pytest.fail)
    assert len(report["figures"]) == 3 * 3 + 4 + 1
    assert len(report["tables"]) == 2 * 3 + 3
    name = f"12 real subjects, 3,328 items, {INSIDE}"
    assert report["tables"][name][0]["published weighted auroc"] == 0.839
    print_tables({name: found.tables[name]})
    print_figures(found.figures)
    assert "0.839" in capsys.readouterr().out


@pytest.mark.slow
def test_layouts_on_a_few_real_items(adele_data):
    """Within a subject both methods rank dimensions alike; its level the layout does not tell."""
    evaluation = adele.load(adele_data)
    few = evaluation.select(
        subjects=["GPT-4o", *SOME[1:], "Davinci-002"], items=list(evaluation.items.index[::4])
    )
    two = {name: LAYOUTS[name] for name in ("additive", "abilities, all needed")}
    total = published.compared_layouts(few, SOME[:1], two)
    assert set(total.index) == {*two, "additive, tasks known"}
    assert total["elpd_diff"].max() == 0
    means = published.agreement(published.abilities(few), by="subject")
    assert means.loc["GPT-4o", "curves"] > means.loc["Davinci-002", "curves"] + 0.5
    # one subject's correlation over 18 dimensions has a standard error of 0.24, and moves with the
    # processor's rounding by as much: three subjects together are told from none
    assert means["spearman"].drop("all").mean() > 0.3
