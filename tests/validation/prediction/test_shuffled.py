"""The negative control: outcomes are shuffled within each subject, and then foretell nothing."""

import numpy as np
import pandas as pd
import pytest

import measurement_layouts as ml
from measurement_layouts.linking import logistic
from measurement_layouts.validation import Estimator, FittedLayout, Items, Shuffled, cross_validate
from measurement_layouts.validation.prediction.splits import drawn

SIZE = ml.MetaFeature("size", low=-5, high=5)
SKILL = ml.Capability("skill", low=-5, high=5)
LAYOUT = ml.Layout("size matters", ml.Success("solved", logistic(SKILL - SIZE)))


@pytest.fixture(scope="module")
def evaluation():
    """Six able subjects and six others, on items that some of them left out."""
    rng = np.random.default_rng(1)
    items = pd.DataFrame({"size": rng.uniform(-5, 5, 120)}).rename("q{}".format)
    skill = np.repeat([-2.5, 2.5], 6)[:, None]
    solved = rng.random((12, 120)) < 1 / (1 + np.exp(items["size"].to_numpy() - skill))
    wide = pd.DataFrame(solved, [f"s{k}" for k in range(12)], items.index).astype(float)
    return ml.Evaluation.from_wide(wide.mask(rng.random(wide.shape) < 0.2), items)


class Spy:
    def predict(self, training, cells, *, seed):
        self.training, self.cells = training, cells
        return np.full(len(cells), 0.5)


def test_each_subject_keeps_its_outcomes_and_its_items(evaluation):
    ((_, _, fold),) = drawn(Items(0.2), evaluation, repeats=1, seed=1)
    training, cells, spy = fold.training(evaluation), fold.held_out(evaluation), Spy()
    Shuffled(spy).predict(training, cells, seed=1)
    moved = spy.training
    assert moved.success_rates().equals(training.success_rates())
    for subject in evaluation.subjects:
        learnt = moved.trials.columns[moved.trials.loc[subject] > 0]
        asked = spy.cells.loc[spy.cells["subject"] == subject, "item"]
        attempted = evaluation.trials.columns[evaluation.trials.loc[subject] > 0]
        assert sorted([*learnt, *asked]) == sorted(attempted)  # each once
    both = (training.trials > 0) & (moved.trials > 0)
    same = (training.successes == moved.successes)[both].stack()
    by_chance = training.success_rates().map(lambda rate: rate**2 + (1 - rate) ** 2).mean()
    assert same.mean() == pytest.approx(by_chance, abs=4 * 0.5 / np.sqrt(len(same)))
    assert spy.cells["successes"].tolist() == cells["successes"].tolist()


def test_a_layout_finds_something_only_in_outcomes_that_are_not_shuffled(evaluation):
    """Shuffled between subjects as well, it would lose their means: far behind the aggregate."""
    methods = {
        "aggregate": "aggregate",
        "layout": FittedLayout(LAYOUT, method="grid"),
        "shuffled": "shuffled",
        "regression": Shuffled(Estimator("logistic", ["size"])),
    }
    held = cross_validate(methods, evaluation, split=Items(folds=3), progressbar=False)
    table = held.differences()
    assert table.loc["layout", "brier_difference"] < -4 * table.loc["layout", "brier_se"]
    assert table.loc["shuffled", "brier_difference"] > -2 * table.loc["shuffled", "brier_se"]
    assert table.loc["regression", "brier_difference"] == pytest.approx(0, abs=0.01)
    rates = evaluation.success_rates()
    assert rates.mean() * (1 - rates.mean()) > table.loc["aggregate", "brier"] + 0.04, "twin"
    assert set(held.convergence["method"]) == {"layout", "shuffled"}


def test_grades_move_with_all_their_steps():
    layout = ml.Layout("essays", ml.Graded("grade", ml.Capability("skill", low=0, high=1)))
    rng = np.random.default_rng(2)
    grades = pd.DataFrame(rng.integers(0, 3, (2, 30)), ["Ann", "Bob"], [f"q{k}" for k in range(30)])
    items = pd.DataFrame(index=grades.columns)
    evaluation = ml.Evaluation.of_outcomes(layout, {"grade": grades}, items)
    ((_, _, fold),) = drawn(Items(0.2), evaluation, repeats=1, seed=1)
    training, spy = fold.training(evaluation), Spy()
    Shuffled(spy).predict(training, fold.held_out(evaluation), seed=1)
    for before, after in ((training, spy.training), (spy.training, training)):
        sums = [table.successes.T.groupby(table.rows.item).sum() for table in (before, after)]
        assert sums[0].sum().equals(sums[1].sum())
        assert (sums[0].max() <= 2).all()
    first = spy.training.successes.iloc[:, ::2].to_numpy()
    second = spy.training.successes.iloc[:, 1::2].to_numpy()
    assert (second <= first).all()
    assert not spy.training.successes.equals(training.successes)
