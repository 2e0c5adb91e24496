"""What is compared on which items, and its scores beside the published ones."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier

from measurement_layouts import DataError
from measurement_layouts.scenarios import adele
from measurement_layouts.scenarios.adele.battery import simulated_cohort
from measurement_layouts.scenarios.adele.reproduction import assessed, published
from measurement_layouts.scenarios.adele.subjects import SUBJECTS
from measurement_layouts.validation.prediction.chosen import ChosenLayout
from measurement_layouts.validation.prediction.cross_validate import cross_validate
from measurement_layouts.validation.prediction.estimators import Estimator
from measurement_layouts.validation.prediction.layouts import FittedLayout
from measurement_layouts.validation.prediction.splits import Groups, Items

SOME = ["GPT-4o", "Babbage-002", "LLaMA-3.2-3B-Instruct"]
SPLITS = list(assessed.SPLITS)
SAT = {"benchmark": ["SAT"], "task": ["SAT En", "SAT Math"]}


@pytest.fixture(scope="module")
def evaluation():
    return simulated_cohort(items=160).evaluation.select(subjects=SOME)


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """Published tables: the AUROC tells table, subject and columns, the ECE is a tenth of it."""
    folder = tmp_path_factory.mktemp("published")
    for split, method, (name, prefix) in (
        (split, method, where[split])
        for method, where in assessed._TABLES.items()
        for split in where
    ):
        path = folder / name
        table = pd.read_csv(path) if path.is_file() else blank()
        auroc = 0.5 + np.arange(16) / 100 + SPLITS.index(split) / 1e3 + len(method) / 1e5
        table = table.assign(**{f"{prefix}_auroc": auroc, f"{prefix}_ece": auroc / 10})
        table.to_csv(path, index=False)
    return folder


def blank():
    names = ["GPG-4o" if name == "GPT-4o" else name for name in SUBJECTS]  # as one table has it
    accuracies = [subject.accuracy for subject in SUBJECTS.values()]
    return pd.DataFrame({"subject": [*names, "Weighted Average"], "accuracy": [*accuracies, None]})


def test_items_are_prepared(evaluation):
    marked, places = assessed.prepared(evaluation)
    items = marked.items
    assert sorted(places["task"]) == sorted(items[assessed.WHERE].unique())
    assert sorted(places["benchmark"]) == sorted(items["benchmark"].unique())
    flags = items[[f"place[{place}]" for place in places["task"]]]
    assert (flags.sum(axis=1) == 1).all()
    row = items.iloc[7]
    assert flags.iloc[7].idxmax() == f"place[{row[assessed.WHERE]}]"
    assert row["broad[QL]"] == (row["demand[QLl]"] + row["demand[QLq]"]) / 2
    assert row["broad[UG]"] == row["unguessability"]
    assert items.filter(like="broad[").shape[1] == 11
    pd.testing.assert_frame_equal(marked.successes, evaluation.successes)


def test_what_forests_know(evaluation):
    marked, places = assessed.prepared(evaluation)
    found = assessed.methods("in distribution", places)
    known = {
        name: len(method.columns)
        for name, method in found.items()
        if name.endswith("forest") or "forest," in name
    }
    assert known == {
        "forest": 19,
        "forest, six best": 19,
        "forest, extraneous only": 3,
        "forest, without extraneous": 16,
        "forest, 11 broad": 11,
        "universal forest": 19,
        "forest, tasks known": 19 + len(places["task"]),
    }
    for method in found.values():
        method.check(marked.items)


@pytest.mark.parametrize("split", SPLITS)
def test_the_layout_is_chosen_as_it_is_judged(split):
    """By leaving out what the split leaves out; the reference is the forest."""
    found = assessed.methods(split, SAT)
    assert next(iter(found)) == assessed.FOREST
    chosen = found[assessed.LAYOUT]
    assert isinstance(chosen, ChosenLayout)
    assert chosen.groups == assessed.SPLITS[split]
    assert len(chosen.layouts) == 4
    assert ("forest, tasks known" in found) == (split == "in distribution")


@pytest.mark.parametrize("split", SPLITS)
def test_published_scores(tables, split):
    found = assessed.published_scores(tables, split)
    inside = split == "in distribution"
    assert found.index.unique("method").size == (10 if inside else 7)
    assert (found.index.unique("subject") == [*SUBJECTS, assessed.WEIGHTED]).all()
    for method in found.index.unique("method"):
        wanted = 0.53 + SPLITS.index(split) / 1e3 + len(method) / 1e5
        assert found.loc[(method, "GPT-4o"), "auroc"] == pytest.approx(wanted)
        assert found.loc[(method, "GPT-4o"), "ece"] == pytest.approx(wanted / 10)


def test_bad_published_tables(tables, tmp_path):
    with pytest.raises(DataError, match=r"there is no .*adele_table3.*give the folder"):
        assessed.published_scores(tmp_path, SPLITS[0])
    name = "adele_table3_in_distribution.csv"
    table = pd.read_csv(tables / name)
    table.iloc[::-1].to_csv(tmp_path / name)
    with pytest.raises(DataError, match="other subjects"):
        assessed.published_scores(tmp_path, SPLITS[0])
    table.drop(columns="demands_ece").to_csv(tmp_path / name)
    with pytest.raises(DataError, match="cannot be read"):
        assessed.published_scores(tmp_path, SPLITS[0])


@pytest.fixture(scope="module")
def assessment(evaluation):
    methods = {
        assessed.FOREST: Estimator("logistic", ["demand[AS]", "unguessability"]),
        "mean": "aggregate",
    }
    return cross_validate(
        methods, evaluation, split=Items(folds=2), resamples=10, progressbar=False
    )


def test_by_method(assessment, evaluation, tables):
    theirs = assessed.published_scores(tables, SPLITS[0])
    found = assessed.by_method(assessment, theirs)
    assert found.index.tolist() == [assessed.FOREST, "mean"]
    rates = evaluation.success_rates()
    for score in ("ece", "brier"):
        each = assessment.scores.query("method == 'mean'").set_index("subject")[score]
        by_hand = (each * rates).sum() / rates.sum()
        assert found.loc["mean", score] == pytest.approx(each.mean())
        assert found.loc["mean", f"weighted {score}"] == pytest.approx(by_hand)
    assert np.isnan(found.loc["mean", "weighted auroc"])
    assert found.loc[assessed.FOREST, "published weighted auroc"] == pytest.approx(0.65006)
    assert np.isnan(found.loc["mean", "published weighted auroc"])


def test_by_subject(assessment, tables):
    found = assessed.by_subject(assessment, assessed.published_scores(tables, SPLITS[0]))
    assert len(found) == len(SOME) * 2
    row = found[found["method"] == assessed.FOREST].loc["GPT-4o"]
    assert row["published auroc"] == pytest.approx(0.53006)
    assert row["brier"] == pytest.approx(assessment.per_subject()[assessed.FOREST]["GPT-4o"])
    assert found.loc[found["method"] == "mean", "published auroc"].isna().all()


def test_published_averages_are_weighted_by_accuracy(published_tables):
    """The paper's last rows are what `summary` computes: to the third digit, once not quite."""
    for split in SPLITS:
        found = assessed.published_scores(published_tables, split)["auroc"].unstack("subject")
        weights = np.array([subject.accuracy for subject in SUBJECTS.values()])
        means = (found[list(SUBJECTS)] * weights).sum(axis=1) / weights.sum()
        assert (means - found[assessed.WEIGHTED]).abs().max() < 0.0021


@pytest.mark.slow
def test_regression_is_that_of_scikit_learn_alone(adele_data):
    """On all real items, in distribution and with benchmarks left out."""
    marked, _ = assessed.prepared(adele.load(adele_data))
    for split in ("in distribution", "benchmark OOD"):
        method = {
            assessed.REGRESSION: assessed.methods(split, SAT)[assessed.REGRESSION],
        }
        column = assessed.SPLITS[split]
        held_out = Items(folds=10) if column is None else Groups(column)
        found = cross_validate(method, marked, split=held_out, resamples=2, progressbar=False)
        row = found.scores[list(assessed.SCORES)].mean()
        for score, value in published._ELSEWHERE[split, assessed.REGRESSION].items():
            assert row[score] == pytest.approx(value, abs=0.01)


@pytest.mark.slow
def test_demands_that_add_up_foresee_other_benchmarks_best(adele_data):
    """Real outcomes of every other model, benchmarks left out in five parts.

    The twin, the mean alone, is behind.
    """
    marked, _ = assessed.prepared(adele.load(adele_data))
    marked = marked.select(subjects=marked.subjects[::2])
    every = assessed.methods("benchmark OOD", SAT)[assessed.REGRESSION].columns
    quick = {"draws": 200, "tune": 300, "chains": 1}
    compared = {
        "layout": FittedLayout(adele.additive_layout(), **quick),
        "forest": Estimator(RandomForestClassifier(min_samples_split=50), every),
        "regression": Estimator("logistic", every),
        "aggregate": "aggregate",
    }
    held_out = Groups("benchmark", folds=5)
    found = cross_validate(compared, marked, split=held_out, resamples=2, progressbar=False)
    scores = found.differences()[["auroc", "brier"]]
    rivals = scores.loc[["forest", "regression"]]
    assert scores.loc["layout", "brier"] < rivals["brier"].min()
    assert scores.loc["layout", "auroc"] > rivals["auroc"].max()
    assert scores.loc["aggregate", "brier"] > rivals["brier"].max()
