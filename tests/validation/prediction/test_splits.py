"""What is held out: as asked for, the same for all methods, and seen by none of them."""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GroupShuffleSplit, KFold, TimeSeriesSplit

import measurement_layouts as ml
from measurement_layouts import DataError, FitError
from measurement_layouts.validation import Cells, Given, Groups, Items, cross_validate
from measurement_layouts.validation.prediction.splits import drawn, masked

LITTLE = {"split": Items(0.25), "repeats": 2, "seed": 3, "progressbar": False}


@pytest.fixture
def counts(cohort):
    """Three subjects with several trials on some items."""
    rng = np.random.default_rng(2)
    part = cohort.select(subjects=["Ann", "Bob", "Cyd"])
    times = rng.integers(1, 4, part.trials.shape)
    return ml.Evaluation(
        part.items, rng.binomial(times, 0.6) + 0 * part.successes, times * part.trials
    )


class Spy:
    """An assessor that remembers what it was given."""

    def __init__(self):
        self.seen = []

    def predict(self, training, cells, *, seed):
        self.seen.append((training, list(pd.unique(cells["item"])), seed))
        return np.full(len(cells), 0.5)


def run(evaluation, methods, **options):
    return cross_validate(methods, evaluation, **{**LITTLE, **options})


def test_masked_takes_outcomes_and_leaves_items(counts):
    held_out = list(counts.items.index[:3])
    training = masked(counts, held_out)
    assert (training.trials[held_out] == 0).all(axis=None)
    kept = counts.items.index.difference(held_out)
    pd.testing.assert_frame_equal(training.trials[kept], counts.trials[kept])
    pd.testing.assert_frame_equal(training.successes[kept], counts.successes[kept])
    with pytest.raises(DataError, match=r"unknown item\(s\): q99"):
        masked(counts, ["q99"])
    with pytest.raises(DataError, match="no outcomes for Ann, Bob"):
        masked(counts, counts.items.index)


def test_splits_differ_between_repeats_and_hold_out_the_share(counts):
    spy = Spy()
    run(counts, {"spy": spy}, repeats=5)
    assert len({tuple(items) for _, items, _ in spy.seen}) == 5
    assert {len(items) for _, items, _ in spy.seen} == {6}
    assert [seed for *_, seed in spy.seen] == [3, 4, 5, 6, 7]
    for training, items, _ in spy.seen:
        assert (training.trials[items] == 0).all(axis=None)
        rest = training.items.index.difference(items)
        assert training.trials[rest].equals(counts.trials[rest])


def test_cells_are_drawn_as_said(counts):
    """Row by row over attempted cells; the next repeat goes on with the same generator."""
    found = run(counts, ["aggregate"], split=Cells(0.3)).predictions
    rng = np.random.default_rng(3)
    tried = counts.trials.to_numpy() > 0
    for repeat in range(2):
        held = np.zeros(tried.shape, dtype=bool)
        held[tried] = rng.random(tried.sum()) < 0.3
        subjects, items = np.nonzero(held)
        rows = found[found["repeat"] == repeat]
        assert rows["subject"].tolist() == [counts.subjects[k] for k in subjects]
        assert rows["item"].tolist() == [counts.items.index[k] for k in items]
        assert rows["trials"].tolist() == counts.trials.to_numpy()[held].tolist()  # all of them


@pytest.mark.parametrize("split", [Cells(folds=4), Items(folds=4), Groups("rewardSize", 3)])
def test_each_cell_is_predicted_once_from_all_others(counts, split):
    spy = Spy()
    found = run(counts, {"spy": spy}, split=split, repeats=None).predictions
    assert len(found) == (counts.trials > 0).sum(axis=None)
    assert not found.duplicated(["subject", "item"]).any()
    for number, (training, _, _) in enumerate(spy.seen):
        own = found[found["fold"] == number]
        assert (
            training.trials.to_numpy().sum() == counts.trials.to_numpy().sum() - own["trials"].sum()
        )


def parts_of(split, evaluation, seed):
    plan = drawn(split, evaluation, repeats=1, seed=seed)
    return [list(pd.unique(fold.held_out(evaluation)["item"])) for _, _, fold in plan]


def test_splitters_of_scikit_learn(counts):
    """Of items, of cells, and of groups; training sets are the splitter's own."""
    names = counts.items.index
    assert parts_of(Items(folds=KFold(3)), counts, 1) == [
        list(names[k : k + 8]) for k in (0, 8, 16)
    ]
    run_of = {"items": KFold(3), "cells": Cells(folds=KFold(3, shuffle=True, random_state=1))}
    for split in run_of.values():
        found = run(counts, ["aggregate"], split=split, repeats=None).predictions
        assert len(found) == (counts.trials > 0).sum(axis=None)
    spy = Spy()
    run(counts, {"spy": spy}, split=TimeSeriesSplit(3), repeats=None)
    for training, items, _ in spy.seen:  # later items are predicted from earlier ones
        learnt = np.flatnonzero(training.trials.sum() > 0)
        assert learnt.max() < names.get_indexer(items).min()
    split = Groups("rewardSize", GroupShuffleSplit(2, random_state=1))
    sizes = counts.items["rewardSize"]
    for part in parts_of(split, counts, 1):
        assert not set(sizes[part]) & set(sizes.drop(part))


@pytest.mark.parametrize("kind", ["query", "rest", "mask", "names"])
def test_given_sets(counts, kind):
    size = counts.items["rewardSize"]
    small, large = size <= 1.0, size > 1.0
    train, test = {
        "query": ("rewardSize <= 1.0", "rewardSize > 1.0"),
        "rest": (None, "rewardSize > 1.0"),
        "mask": (small, large),
        "names": (list(size.index[small]), list(size.index[large])),
    }[kind]
    spy = Spy()
    found = run(counts, {"spy": spy}, split=Given(train=train, test=test), repeats=None)
    ((training, items, _),) = spy.seen
    assert items == list(size.index[large])
    assert (training.trials[items] == 0).all(axis=None)
    assert training.trials[size.index[small]].equals(counts.trials[size.index[small]])
    assert set(found.predictions["item"]) == set(items)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: {"split": Items(0.01)}, DataError, r"Items\(share=0.01\) holds"),
        (lambda: {"split": Items(1.5)}, FitError, "share=1.5; give a number"),
        (lambda: {"split": Cells(1e-9)}, DataError, r"Cells\(share=1e-09\) holds"),
        (lambda: {"split": Groups("rewardSize", 1)}, FitError, "folds=1; give"),
        (lambda: {"split": Groups("hue")}, DataError, "the items have no column hue"),
        (lambda: {"split": "rows"}, DataError, "split='rows'; give 'items',"),
        (lambda: {"split": Given("big > 1")}, DataError, "test='big > 1' is not a"),
        (lambda: {"split": Given("rewardSize > 99")}, DataError, "test is empty; give at"),
        (
            lambda: {"split": Given("rewardSize > 0", "rewardSize > 0")},
            DataError,
            "are in both train and test;",
        ),
        (lambda: {"split": Given(["q99"])}, DataError, r"unknown item\(s\): q99"),
        (lambda: {"repeats": 0}, FitError, "repeats=0; give a whole"),
        (lambda: {"seed": -1}, FitError, "seed=-1; give"),
    ],
)
def test_what_cannot_be_held_out(cohort, make, error, message):
    with pytest.raises(error, match=message):
        run(cohort, ["aggregate"], **make())


def test_subject_that_would_keep_nothing(cohort):
    outcomes = cohort.successes.where(cohort.trials > 0)
    outcomes.loc["Dot", outcomes.columns[1:]] = np.nan
    sparse = ml.Evaluation.from_wide(outcomes, cohort.items)
    with pytest.raises(DataError, match=r"Dot would have no training outcome in fold 0 of repeat"):
        run(sparse, ["aggregate"], repeats=20)
    one_group = cohort.items.assign(test="a")
    evaluation = ml.Evaluation(one_group, cohort.successes, cohort.trials)
    with pytest.raises(DataError, match=r"Ann, .* would have no training outcome"):
        run(evaluation, ["aggregate"], split=Groups("test"))
