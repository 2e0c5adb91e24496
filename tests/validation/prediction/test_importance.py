"""Permutation importance: scikit-learn's numbers, closed forms, and folds that share items."""

import numpy as np
import pandas as pd
import pytest
from helpers import banded_items
from scipy import stats
from sklearn.ensemble import RandomForestClassifier
from sklearn.inspection import permutation_importance as by_scikit_learn

import measurement_layouts as ml
from measurement_layouts import DataError
from measurement_layouts.validation import Estimator, Items, permutation_importance

QUIET = {"seed": 3, "progressbar": False}


class Copies:
    """Predict success by a column of 0 and 1, learning nothing."""

    columns = ("told", "hour")

    def predict(self, training, cells, *, seed):
        return training.items.loc[cells["item"], "told"].to_numpy(dtype=float)


@pytest.fixture(scope="module")
def told():
    """Ann succeeds exactly where she is told so."""
    rng = np.random.default_rng(5)
    items = pd.DataFrame({"told": rng.permutation([0, 1] * 50), "hour": rng.normal(size=100)})
    items.index = [f"q{number}" for number in range(100)]
    return ml.Evaluation.from_wide(items[["told"]].T.set_axis(["Ann"], axis=0), items)


@pytest.fixture(scope="module")
def evaluation():
    return banded_items.evaluation()


def test_a_forest_s_importances_are_scikit_learns(evaluation):
    columns, shuffles = ["size", "lower", "upper"], 20
    order = np.random.default_rng(2).permutation(evaluation.items.index)
    train, test = sorted(order[:120]), sorted(order[120:])
    forest = RandomForestClassifier(min_samples_split=50)
    found = permutation_importance(
        {"forest": Estimator(forest, columns)},
        evaluation,
        split=ml.validation.Given(train=train, test=test),
        shuffles=shuffles,
        **QUIET,
    )
    ours = found.set_index("property").loc[columns, "importance"].to_numpy()
    won = evaluation.successes.loc["Ann"]
    rows = won[train].sort_values(ascending=False, kind="stable").index  # as ours come
    forest.set_params(random_state=3)
    forest.fit(evaluation.items.loc[rows, columns].to_numpy(), won[rows], np.ones(120))
    x, y = evaluation.items.loc[test, columns].to_numpy(), won[test].to_numpy()
    theirs = by_scikit_learn(
        forest, x, y, scoring="neg_brier_score", n_repeats=shuffles, random_state=1
    )
    error = theirs.importances_std * np.sqrt(2 / shuffles)
    assert (np.abs(ours - theirs.importances_mean) < 4.5 * error).all()
    assert ours[0] > 10 * error[0]  # twin: not all of them are near nothing
    assert found["se"].isna().all()  # of a single fold


def test_a_column_that_tells_all_costs_what_chance_does(told):
    """Of m held-out items half told: shuffled, m / (2 (m - 1)) are wrong, up to uneven halves."""
    found = permutation_importance(
        {"copies": Copies()}, told, split=Items(folds=4), shuffles=20, **QUIET
    ).set_index("property")
    assert found.loc["hour", "importance"] == 0
    assert found.loc["told", "importance"] == pytest.approx(25 / 24 / 2, abs=0.05)


def test_errors_grow_with_what_folds_share(told):
    """Nadeau and Bengio's error of four folds, by hand from the folds' own importances."""
    split = Items(folds=4)
    found = permutation_importance({"copies": Copies()}, told, split=split, **QUIET)
    values = []
    for number, fold in enumerate(split.draw(told, np.random.default_rng(3))):
        own = told.items.loc[fold.held_out(told)["item"], "told"].sort_index()
        own = own.loc[told.items.index[told.items.index.isin(own.index)]].to_numpy()
        rng = np.random.default_rng([3, 3, 0, number])
        values.append(np.mean([(own[rng.permutation(25)] != own).mean() for _ in range(5)]))
    row = found.iloc[0]
    reach = stats.t.ppf(0.95, 3) * row["se"]
    assert [row["low"], row["high"]] == pytest.approx(
        [row["importance"] - reach, row["importance"] + reach]
    )
    assert row["importance"] == pytest.approx(np.mean(values))
    assert row["se"] == pytest.approx(np.std(values, ddof=1) * np.sqrt(1 / 4 + 1 / 3))


def test_a_layout_rests_on_its_demand_and_a_band_is_shuffled_whole(evaluation):
    method = {"layout": ml.validation.FittedLayout(banded_items.layout(), method="grid")}
    split = Items(folds=2)
    found = permutation_importance(
        method, evaluation, together={"band": ["lower", "upper"]}, split=split, **QUIET
    )
    assert set(found["property"]) == {"size", "band"}
    assert (found["importance"] > 0.01).all()


@pytest.mark.parametrize(
    ("methods", "more", "says"),
    [
        (["aggregate"], {}, "has no properties in an attribute columns"),
        ({"c": Copies()}, {"split": "cells"}, "hold out whole items"),
    ],
)
def test_what_cannot_be_shuffled_is_refused(told, methods, more, says):
    twice = ml.Evaluation.from_wide(
        pd.concat([told.successes, told.successes.rename({"Ann": "Bob"})]), told.items
    )
    with pytest.raises(DataError, match=says):
        permutation_importance(methods, twice, **more, **QUIET)
