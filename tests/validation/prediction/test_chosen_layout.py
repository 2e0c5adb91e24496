"""Layouts chosen on training outcomes: for more of the same groups, or for others."""

import numpy as np
import pandas as pd
import pytest

import measurement_layouts as ml
from measurement_layouts import DataError, FitError
from measurement_layouts.linking import logistic, total
from measurement_layouts.validation import ChosenLayout
from measurement_layouts.validation.prediction.splits import drawn, masked

GROUPS = ("a", "b", "c", "d")
QUICK = {"draws": 60, "tune": 80, "chains": 1}
SIZE = ml.MetaFeature("size", low=-9, high=9)
BY_SIZE = ml.Layout("size", ml.Success("done", logistic(ml.Bias("weight") * SIZE)))
_WHERE = {"labels": GROUPS, "dim": "where"}
_SHIFTS = ml.Bias("shift", **_WHERE) * ml.MetaFeature("group", levels=(0, 1), **_WHERE)
BY_GROUP = ml.Layout("group", ml.Success("done", logistic(total(_SHIFTS, over="where"))))
LAYOUTS = {"size": BY_SIZE, "group": BY_GROUP}


@pytest.fixture(scope="module")
def evaluation():
    """Success by size, and more so by group: two groups are easy, two are hard."""
    rng = np.random.default_rng(1)
    group = np.arange(160) % 4
    flags = pd.DataFrame(np.eye(4, dtype=int)[group], columns=[f"group[{g}]" for g in GROUPS])
    items = flags.assign(size=rng.normal(size=160), test=np.array(GROUPS)[group])
    items.index = [f"q{number}" for number in range(160)]
    margin = items["size"] + np.where(group < 2, 2.5, -2.5)
    outcomes = rng.random((2, 160)) < 1 / (1 + np.exp(-margin.to_numpy()))
    wide = pd.DataFrame(outcomes.astype(int), ["Ann", "Bob"], items.index)
    return ml.Evaluation.from_wide(wide, items)


def test_what_is_best_depends_on_what_is_to_be_foreseen(evaluation):
    """Who knows the group foresees more of it; of another group, only the size says something."""
    same = ChosenLayout(LAYOUTS, **QUICK).compare(evaluation, seed=1)
    others = ChosenLayout(LAYOUTS, groups="test", folds=4, **QUICK).compare(evaluation, seed=1)
    assert list(same.index) == ["group", "size"]
    assert list(others.index) == ["size", "group"]


def test_the_score_is_that_of_predictions_out_of_fold(evaluation):
    chosen = ChosenLayout(LAYOUTS, groups="test", folds=2, **QUICK)
    expected = 0.0
    for _, _, fold in drawn(ml.validation.Groups("test", 2), evaluation, repeats=1, seed=1):
        cells = fold.held_out(evaluation)
        fitted = ml.validation.FittedLayout(BY_SIZE, **QUICK)
        chances = fitted.predict(masked(evaluation, cells["item"].unique()), cells, seed=1)
        expected += np.log(np.where(cells["successes"] > 0, chances, 1 - chances)).sum()
    assert chosen.compare(evaluation, seed=1)["size"] == pytest.approx(expected / 320, rel=1e-12)


def test_what_is_wrong_is_named(evaluation):
    with pytest.raises(DataError, match="1 layout to choose from; give at least two"):
        ChosenLayout({"size": BY_SIZE})
    with pytest.raises(DataError, match=r"layouts\['size'\]: this is a str, not a Layout"):
        ChosenLayout({"size": "size.py", "hue": BY_SIZE})
    with pytest.raises(DataError, match="layouts: this is a list, not a mapping"):
        ChosenLayout([BY_SIZE, BY_SIZE])
    with pytest.raises(FitError, match="folds=1"):
        ChosenLayout(LAYOUTS, folds=1)
    bare = ml.Evaluation(
        evaluation.items.drop(columns="size"), evaluation.successes, evaluation.trials
    )
    with pytest.raises(DataError, match="size"):
        ml.validation.cross_validate({"chosen": ChosenLayout(LAYOUTS)}, bare, progressbar=False)
