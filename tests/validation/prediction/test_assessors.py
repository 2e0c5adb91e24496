"""Assessors: scikit-learn's own numbers, sizes and columns chosen in training, one for all."""

import warnings

import numpy as np
import pandas as pd
import pytest
from helpers import banded_items
from helpers.banded_items import FEW
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict

import measurement_layouts as ml
from measurement_layouts import DataError, FitError
from measurement_layouts.common.threads import side_by_side
from measurement_layouts.validation.prediction import scoring_rules as scoring
from measurement_layouts.validation.prediction.forests import most_important
from measurement_layouts.validation.prediction.splits import masked


@pytest.fixture(scope="module")
def evaluation():
    return banded_items.evaluation()


@pytest.fixture(scope="module")
def found(evaluation):
    methods = {"size": ["size"], "line": ml.validation.Regression("size")}
    return ml.validation.cross_validate(methods, evaluation, **FEW)


def by_scikit_learn(model, evaluation, cells):
    """Its rows come successes first, and so do those of the folds that it is held against."""
    y = evaluation.successes.loc["Ann"].to_numpy()
    fold = cells["fold"].to_numpy()
    assert np.bincount(fold).tolist() == [120, 120]
    order = np.argsort(-y, kind="stable")
    cv = [(order[fold[order] != k], np.flatnonzero(fold == k)) for k in (0, 1)]
    x, weights = evaluation.items[["size"]].to_numpy(), {"sample_weight": np.ones(240)}
    return cross_val_predict(model, x, y, cv=cv, method="predict_proba", params=weights)[:, 1]


def test_the_forest_is_scikit_learns(evaluation, found):
    cells = found.predictions.query("method == 'size'")
    y = evaluation.successes.loc["Ann"].to_numpy()
    forest = RandomForestClassifier(random_state=3, min_samples_split=50)
    expected = by_scikit_learn(forest, evaluation, cells)
    np.testing.assert_allclose(cells["probability"], expected, rtol=0, atol=1e-12)
    row = found.table.set_index("method").loc["size"]
    assert row["auroc"] == scoring.auroc(expected, y)
    assert row["brier"] == pytest.approx(scoring.brier(expected, y), abs=1e-12)
    assert row["ece"] == pytest.approx(scoring.expected_calibration_error(expected, y), abs=1e-12)
    default = by_scikit_learn(RandomForestClassifier(random_state=3), evaluation, cells)
    assert np.abs(cells["probability"] - default).max() > 0.1  # twin: splits of any size


def test_the_regression_is_scikit_learns(evaluation, found):
    cells = found.predictions.query("method == 'line'")
    exact = LogisticRegression(tol=1e-10, max_iter=10_000)  # another solver, to the optimum
    expected = by_scikit_learn(exact, evaluation, cells)
    np.testing.assert_allclose(cells["probability"], expected, rtol=0, atol=1e-5)
    unpenalised = by_scikit_learn(LogisticRegression(C=1e6), evaluation, cells)
    assert np.abs(cells["probability"] - unpenalised).max() > 1e-3  # twin


HELD_OUT = [f"q{number}" for number in range(0, 240, 4)]


def predict(assessor, evaluation, seed=1):
    return assessor.predict(masked(evaluation, HELD_OUT), HELD_OUT, seed=seed).to_pandas()


@pytest.mark.slow
def test_the_size_of_splits_is_the_best_out_of_bag(evaluation):
    """Each subject has its own: large where there is only noise, small where there is a rule."""
    items = evaluation.items
    noise = np.random.default_rng(1).random(240) < 0.5
    steps = np.floor(items["size"].to_numpy() * 8) % 2 == 0
    wide = pd.DataFrame([noise, steps], ["noise", "rule"], items.index)
    both = ml.Evaluation.from_wide(wide, items)
    chosen = predict(ml.validation.Forest(["size"], (2, 200)), both)
    small, large = (predict(ml.validation.Forest(["size"], size), both) for size in (2, 200))
    assert chosen.loc["noise"].equals(large.loc["noise"])
    assert chosen.loc["rule"].equals(small.loc["rule"])
    assert np.abs(small - large).max(axis=None) > 0.3
    # scikit-learn's own out-of-bag predictions choose so; its rows come successes first
    rows = ~items.index.isin(HELD_OUT)
    x, y = items.loc[rows, ["size"]].to_numpy(), wide.loc["rule", rows].to_numpy(dtype=float)
    order = np.argsort(-y, kind="stable")
    forests = [
        RandomForestClassifier(min_samples_split=size, random_state=1, oob_score=True)
        for size in (2, 200)
    ]
    losses = [
        np.mean((forest.fit(x[order], y[order]).oob_decision_function_[:, 1] - y[order]) ** 2)
        for forest in forests
    ]
    assert losses[0] < losses[1]


@pytest.mark.slow
def test_the_best_columns_are_those_that_matter(evaluation):
    training = masked(evaluation, HELD_OUT)
    noisy = training.items.assign(
        **{name: np.random.default_rng(place).normal(size=240) for place, name in enumerate("abc")}
    )
    training = ml.Evaluation(noisy, training.successes, training.trials)
    columns = ["a", "lower", "b", "size", "c", "upper"]
    assert most_important(training, columns, 3, 50, seed=1) == ["lower", "size", "upper"]
    found = ml.validation.Forest(columns, best=3).predict(training, HELD_OUT, seed=1)
    plain = ml.validation.Forest(["lower", "size", "upper"]).predict(training, HELD_OUT, seed=1)
    assert found.equals(plain)
    everything = ml.validation.Forest(columns).predict(training, HELD_OUT, seed=1)
    assert not np.allclose(found, everything)  # twin


@pytest.fixture(scope="module")
def pair():
    """Two subjects of different success on the same sizes."""
    items = banded_items.battery()
    middle = np.array([[-1.0], [1.0]])
    chance = 1 / (1 + np.exp(2 * (items["size"].to_numpy() - middle)))
    solved = np.random.default_rng(3).random((2, 240)) < chance
    return ml.Evaluation.from_wide(pd.DataFrame(solved, ["low", "high"], items.index), items)


def test_one_forest_for_all(pair):
    """A forest on stacked rows, with a column per subject."""
    found = predict(ml.validation.Forest(["size"], universal=True), pair)
    training = masked(pair, HELD_OUT)
    used = (training.trials.iloc[0] > 0).to_numpy()
    sizes = pair.items["size"].to_numpy()
    x = np.column_stack([np.tile(sizes[used], 2), np.repeat(np.eye(2), used.sum(), axis=0)])
    y = training.successes.to_numpy()[:, used].ravel()
    order = np.argsort(-y, kind="stable")
    forest = RandomForestClassifier(min_samples_split=50, random_state=1)
    forest.fit(x[order], y[order], sample_weight=np.ones(len(y)))
    test = np.column_stack([np.tile(sizes[~used], 2), np.repeat(np.eye(2), 60, axis=0)])
    expected = forest.predict_proba(test)[:, 1].reshape(2, 60)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
    means = found.mean(axis=1)
    assert means["high"] - means["low"] > 0.3  # it tells subjects apart
    assert not np.allclose(found, predict(ml.validation.Forest(["size"]), pair))  # twin: one each


@pytest.mark.slow
def test_one_forest_finds_its_size_on_items_of_its_own(pair):
    """With noise only, large splits; with every outcome alike, their mean."""
    noise = np.random.default_rng(1).random(240) < 0.5
    wide = pd.DataFrame([noise, noise], ["one", "two"], pair.items.index)
    same = ml.Evaluation.from_wide(wide, pair.items)  # out of bag, one would give away the other
    tuned, large, small = (
        predict(ml.validation.Forest(["size"], size, universal=True), same)
        for size in ((2, 300), 300, 2)
    )
    assert tuned.equals(large)
    assert not tuned.equals(small)
    alike = ml.Evaluation.from_wide(wide | True, pair.items)
    assert (predict(ml.validation.Forest(["size"], universal=True), alike) == 1).all(axis=None)


def test_items_come_in_the_order_asked_for(pair):
    training, turned = masked(pair, HELD_OUT), HELD_OUT[::-1]
    for assessor in (
        ml.validation.Forest("size", universal=True),
        ml.validation.Regression("size"),
    ):
        one = assessor.predict(training, HELD_OUT, seed=1)
        assert assessor.predict(training, turned, seed=1).sel(item=HELD_OUT).equals(one)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: ml.validation.Forest("size", 1), FitError, "min_samples_split=1; give"),
        (lambda: ml.validation.Forest("size", ()), FitError, r"min_samples_split=\(\); give"),
        (lambda: ml.validation.Forest("size", (2, 0.5)), FitError, "min_samples_split=0.5; give"),
        (
            lambda: ml.validation.Forest(["size"], best=2),
            FitError,
            "best=2, but there are 1 columns; give a smaller",
        ),
        (lambda: ml.validation.Forest(["size"], best=0), FitError, "best=0; give"),
        (
            lambda: ml.validation.Regression(["size", "size"]),
            DataError,
            r"column name\(s\) size occur more",
        ),
    ],
)
def test_options_that_are_none(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_items_with_outcomes_are_not_predicted(pair):
    for assessor in (
        ml.validation.Forest("size"),
        ml.validation.Forest("size", universal=True),
        ml.validation.Regression("size"),
    ):
        with pytest.raises(DataError, match="q0 are to be forecast, but have train"):
            assessor.predict(pair, ["q0"], seed=1)


def test_threads_leave_the_filters_of_warnings():
    """Also when one empties them; a warning from a thread is heard."""
    before = list(warnings.filters)
    side_by_side(lambda _: warnings.resetwarnings(), [(1,), (2,)])
    assert warnings.filters == before
    with pytest.raises(UserWarning, match="heard"):
        side_by_side(lambda text: warnings.warn(text, stacklevel=1), [("heard",)])
