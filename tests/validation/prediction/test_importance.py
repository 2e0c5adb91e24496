"""Permutation importance: scikit-learn's numbers, closed forms, the elbow, and folds that agree."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from helpers import banded_items
from sklearn.ensemble import RandomForestClassifier
from sklearn.inspection import permutation_importance as by_scikit_learn

import measurement_layouts as ml
from measurement_layouts import DataError, FitError, plots
from measurement_layouts.validation import permutation_importance
from measurement_layouts.validation.prediction.importance import Importance, elbow

QUIET = {"seed": 3, "progressbar": False}
NAMES = ["method", "repeat", "fold", "subject", "property", "importance"]


class Copies:
    """Predict success by a column of 0 and 1, learning nothing."""

    columns = ("told", "hour")

    def predict(self, training, items, *, seed):
        table = training.items.loc[list(items), "told"].to_numpy(dtype=float)
        cells = np.tile(table, (len(training.subjects), 1))
        names = {"subject": training.subjects, "item": list(items)}
        return xr.DataArray(cells, names, list(names))


@pytest.fixture(scope="module")
def told():
    """Ann succeeds exactly where she is told so, Bob where she fails."""
    rng = np.random.default_rng(5)
    items = pd.DataFrame({"told": rng.permutation([0, 1] * 50), "hour": rng.normal(size=100)})
    items.index = [f"q{number}" for number in range(100)]
    right = items["told"].astype(float)
    return ml.Evaluation.from_wide(pd.DataFrame({"Ann": right, "Bob": 1 - right}).T, items)


@pytest.fixture(scope="module")
def evaluation():
    return banded_items.evaluation()


def test_a_forest_s_importances_are_scikit_learns(evaluation):
    columns, shuffles = ["size", "lower", "upper"], 20
    order = np.random.default_rng(2).permutation(evaluation.items.index)
    train, test = sorted(order[:120]), sorted(order[120:])
    found = permutation_importance(
        {"forest": columns},
        evaluation,
        split=ml.validation.Given(train=train, test=test),
        shuffles=shuffles,
        **QUIET,
    )
    ours = found.table.set_index("property").loc[columns, "importance"].to_numpy()
    won = evaluation.successes.loc["Ann"]
    forest = RandomForestClassifier(min_samples_split=50, random_state=3)
    rows = won[train].sort_values(ascending=False, kind="stable").index  # as ours come
    forest.fit(evaluation.items.loc[rows, columns].to_numpy(), won[rows])

    def closeness(model, x, y):
        return -float(np.mean((model.predict_proba(x)[:, 1] - y) ** 2))

    x, y = evaluation.items.loc[test, columns].to_numpy(), won[test].to_numpy()
    theirs = by_scikit_learn(forest, x, y, scoring=closeness, n_repeats=shuffles, random_state=1)
    error = theirs.importances_std * np.sqrt(2 / shuffles)
    assert (np.abs(ours - theirs.importances_mean) < 4.5 * error).all()
    assert ours[0] > 10 * error[0]  # twin: not all of them are near nothing
    assert found.table["se"].isna().all()  # of a single fold
    assert "single fold" in found.stability["verdict"].iloc[0]


def test_a_column_that_tells_all_costs_what_chance_does(told):
    """Of m held-out items, a share q told: shuffled, p(1 - p) * 2m / (m - 1) are wrong."""
    split = ml.validation.Items(folds=4)
    found = permutation_importance({"copies": Copies()}, told, split=split, shuffles=20, **QUIET)
    ann = found.values[(found.values["subject"] == "Ann")]
    means = ann.pivot_table("importance", "fold", "property")
    assert (means["hour"] == 0).all()
    for fold in range(4):
        wrong = 2 * 0.25 * 25 / 24  # shares of one half, nearly, in folds of 25
        assert means.loc[fold, "told"] == pytest.approx(wrong, abs=0.1)
    bob = found.values.query("subject == 'Bob' and property == 'told'")["importance"]
    assert (bob < -0.3).all()  # shuffling helps whoever does the contrary
    area = permutation_importance(
        {"copies": Copies()}, told.select(subjects=["Ann"]), score="auroc", shuffles=20, **QUIET
    )
    assert area.table.set_index("property").loc["told", "importance"] == pytest.approx(0.5, abs=0.1)


def test_a_layout_rests_on_its_demand_and_a_band_is_shuffled_whole(evaluation):
    """Shuffling one end alone turns bands around, and is refused with what to do."""
    method = {"layout": ml.validation.FittedLayout(banded_items.layout(), method="grid")}
    once = {"repeats": 1, **QUIET}
    found = permutation_importance(
        method, evaluation, together={"band": ["lower", "upper"]}, **once
    )
    assert set(found.table["property"]) == {"size", "band"}
    assert (found.table["importance"] > 0.01).all()
    with pytest.raises(DataError, match=r"with shuffled items.*together="):
        permutation_importance(method, evaluation, **once)


def test_copies_leave_the_predictions_of_the_items_alone(told):
    """What is predicted beside them does not depend on how often they are shuffled."""
    seen = []

    class Watched(Copies):
        def predict(self, training, items, *, seed):
            found = super().predict(training, items, seed=seed)
            seen.append((training.trials.to_numpy().sum(), found))
            return found

    permutation_importance({"copies": Watched()}, told, repeats=1, **QUIET)
    ((trials, found),) = seen
    assert trials == 160  # of 80 items; copies have none
    assert len(found["item"]) == 20 * (1 + 2 * 5)


def importance(rows):
    """Importances of three properties, a row per fold."""
    cells = [
        ("mine", 0, fold, "Ann", name, value)
        for fold, row in enumerate(rows)
        for name, value in zip("abcd", row, strict=True)
    ]
    return Importance(pd.DataFrame(cells, columns=NAMES), share=0.25)


def test_the_elbow_is_the_point_furthest_below_the_line():
    rng = np.random.default_rng(1)
    for _ in range(50):
        values = np.sort(rng.exponential(size=7))[::-1]
        ends = np.array([0.0, values[0]]), np.array([6.0, values[-1]])
        along = (ends[1] - ends[0]) / np.linalg.norm(ends[1] - ends[0])
        points = np.column_stack([np.arange(7.0), values]) - ends[0]
        across = along[0] * points[:, 1] - along[1] * points[:, 0]  # below: negative
        assert elbow(values) == (int(np.argmin(across)) if across.min() < -1e-12 else 7)
    assert elbow(np.array([4.0, 3, 2, 1])) == 4  # a line has none
    assert elbow(np.array([4.0, 3.9, 3.8, 0])) == 4  # nor does what breaks off at its end
    assert elbow(np.array([1.0, 0])) == 2


def test_errors_grow_with_what_folds_share():
    """Nadeau and Bengio's error, by hand; twin: that of independent folds is smaller."""
    found = importance([[1.0, 0.2, 0.1, 0.0], [2.0, 0.2, 0.1, 0.0], [3.0, 0.2, 0.1, 0.0]])
    row = found.table.iloc[0]
    assert row["property"] == "a"
    assert row["se"] == pytest.approx(np.sqrt(1 / 3 + 0.25))
    assert row["high"] - row["importance"] == pytest.approx(2.9199856 * row["se"])
    assert row["se"] > np.sqrt(1 / 3)


def test_stability_is_1_where_folds_agree_and_0_by_chance():
    alike = importance([[1.0, 0.9, 0.1, 0.0]] * 5)
    assert alike.stability.loc["mine", "stability"] == 1
    assert "stable over 5 folds (1.00)" in repr(alike)
    assert alike.chosen() == ["a", "b"]
    rng = np.random.default_rng(4)
    chance = importance([rng.permutation([1.0, 0.9, 0.1, 0.0]) for _ in range(400)])
    assert abs(chance.stability.loc["mine", "stability"]) < 0.02
    assert "not stable over 400 folds" in repr(chance)
    assert "as in all 2 folds" in repr(importance([[4.0, 3, 2, 1]] * 2))


def test_a_figure_marks_the_elbow_and_says_how_many_folds_choose(told):
    found = importance([[1.0, 0.9, 0.1, 0.0], [1.0, 0.1, 0.0, 0.0], [1.0, 0.9, 0.1, 0.0]])
    (panel,) = plots.importance_plot(found)
    assert [label.get_text() for label in panel.get_yticklabels()] == ["d", "c", "b", "a"]
    assert [text.get_text() for text in panel.texts] == ["0%", "0%", "67%", "100%"]
    dashed = [line for line in panel.lines if line.get_linestyle() == "--"]
    assert dashed[0].get_ydata()[0] == 1.5  # between c and b
    assert panel.get_title().startswith("mine: 2 chosen, partly stable over 3 folds (0.")
    plt.close("all")


@pytest.mark.parametrize(
    ("methods", "more", "says"),
    [
        (["aggregate"], {}, "has no properties in an attribute columns"),
        ({"c": Copies()}, {"split": "cells"}, "hold out whole items"),
        ({"c": Copies()}, {"together": {"hue": ["hue"]}}, "give columns of the method"),
        ({"c": Copies()}, {"together": {"hour": ["told"]}}, "with the name of a column"),
        ({"c": Copies()}, {"together": {"x": ["told"], "y": ["told"]}}, "a column twice"),
    ],
)
def test_what_cannot_be_shuffled_is_refused(told, methods, more, says):
    with pytest.raises(DataError, match=says):
        permutation_importance(methods, told, **more, **QUIET)


def test_unknown_scores_and_methods_are_refused(told):
    with pytest.raises(FitError, match="give 'brier' or 'auroc'"):
        permutation_importance({"c": Copies()}, told, score="ece", **QUIET)
    with pytest.raises(DataError, match="theirs"):
        importance([[1.0, 0, 0, 0]] * 2).chosen("theirs")
