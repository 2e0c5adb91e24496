"""Held-out subjects: joint layouts know their population, baselines all other subjects."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

import measurement_layouts as ml
from measurement_layouts import DataError
from measurement_layouts.linking import logistic
from measurement_layouts.validation import Estimator, FittedLayout, Subjects, cross_validate

QUICK = {"draws": 100, "tune": 200, "chains": 2}
AGE = ml.MetaFeature("age", low=-3, high=3, per="subject")
MEAN = ml.Effect("mean") + ml.Effect("gain") * AGE
ABILITY = ml.Capability("ability", prior=ml.Prior("Normal", mu=MEAN, sigma=ml.Spread("spread")))
EASE = ml.Effect("ease", per="item", prior=ml.Prior("ZeroSumNormal", sigma=ml.Spread("of items")))
JOINT = ml.Layout("joint", ml.Success("solved", logistic(ABILITY + EASE)))


@pytest.fixture(scope="module")
def evaluation():
    rng = np.random.default_rng(3)
    people = pd.DataFrame({"age": rng.normal(size=40)}, [f"s{k}" for k in range(40)])
    items = pd.DataFrame({"size": rng.normal(size=12)}, [f"q{k}" for k in range(12)])
    chance = expit(1.5 * people["age"].to_numpy()[:, None] - items["size"].to_numpy())
    solved = pd.DataFrame(rng.random((40, 12)) < chance, people.index, items.index)
    return ml.Evaluation.from_wide(solved, items, subjects=people)


def test_a_joint_layout_forecasts_newcomers_by_their_properties(evaluation):
    methods = {"joint": FittedLayout(JOINT, **QUICK), "aggregate": "aggregate"}
    split = Subjects(folds=4)
    held = cross_validate(methods, evaluation, split=split, seed=3, progressbar=False)
    table = held.predictions.query("method == 'joint' and fold == 0")
    new = table["subject"].unique()
    others = evaluation.select(subjects=evaluation.subject_table.index.drop(new))
    fit = ml.fit(JOINT, others, seed=3, reruns=0, progressbar=False, **QUICK)
    forecast = fit.forecast(evaluation.items, subjects=evaluation.subject_table.loc[new])
    expected = (
        forecast.data["mean"].to_series().loc[pd.MultiIndex.from_frame(table[["subject", "item"]])]
    )
    np.testing.assert_allclose(table["probability"], expected, rtol=1e-12)
    briers = held.summary()["mean"]
    assert briers["joint"] < briers["aggregate"] - 0.05  # which knows nothing of a newcomer


@pytest.mark.parametrize(
    "model", ["aggregate", "logistic", Estimator("logistic", ["size"], pooled=True), "explanatory"]
)
def test_baselines_learn_from_all_others(evaluation, model):
    """By hand: the mean or a regression of all others; effects of unknown subjects are 0."""
    split = Subjects(folds=4)
    held = cross_validate({"one": model}, evaluation, split=split, seed=3, progressbar=False)
    table = held.predictions.query("fold == 0")
    y = evaluation.successes.drop(index=table["subject"].unique())
    known = evaluation.subject_table.loc[y.index]
    size, age = ((one - one.mean()) / one.std(ddof=0) for one in (evaluation.items, known))
    size = evaluation.items if model != "explanatory" else size
    people = {"aggregate": [], "logistic": [], "explanatory": [np.eye(len(y)), age]}
    items = {"aggregate": [], "explanatory": [np.eye(12), size]}
    blocks = people.get(model, [np.eye(len(y))]), items.get(model, [size])
    rows = [np.repeat(block, 12, axis=0) for block in blocks[0]]
    rows += [np.tile(block, (len(y), 1)) for block in blocks[1]]
    of_new = [np.zeros((12, np.shape(block)[1])) for block in blocks[0]]
    chances = np.full(12, y.to_numpy().mean())
    if rows:
        fit = LogisticRegression(tol=1e-10, max_iter=10_000).fit(
            np.hstack(rows), y.to_numpy().ravel()
        )
        chances = fit.predict_proba(np.hstack([*of_new, *blocks[1]]))[:, 1]
    expected = pd.Series(chances, y.columns)[table["item"]]
    np.testing.assert_allclose(table["probability"], expected, atol=1e-4)


def test_layouts_of_single_subjects_know_no_newcomer(evaluation):
    skill, size = ml.Capability("skill", low=0, high=5), ml.MetaFeature("size", low=-9, high=9)
    alone = ml.Layout("alone", ml.Success("solved", logistic(skill - size)))
    with pytest.raises(
        DataError, match=r"'alone' is fitted to each subject alone, and s\d+, .* joint"
    ):
        cross_validate([alone], evaluation, split="subjects", progressbar=False)
