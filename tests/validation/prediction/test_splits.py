"""What is held out: the same for all methods, as asked for, and seen by none of them."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import measurement_layouts as ml
from measurement_layouts import DataError, FitError
from measurement_layouts.validation import (
    Cells,
    CrossValidation,
    FittedLayout,
    Given,
    Groups,
    Items,
    cross_validate,
)
from measurement_layouts.validation.prediction import layouts as fitting
from measurement_layouts.validation.prediction.baselines import per_subject
from measurement_layouts.validation.prediction.splits import drawn

LITTLE = {"split": Items(0.25), "repeats": 2, "seed": 3, "progressbar": False}
FEW = {"draws": 40, "tune": 60}
BASELINES = {"aggregate": "aggregate", "line": "logistic", "forest": "forest"}
POOLED = {"rasch": "rasch", "weights": "explanatory"}


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

    def predict(self, training, items, *, seed):
        self.seen.append((training, items, seed))
        return per_subject(
            lambda *given: np.full(len(given[3]), 0.5), training, items, (), seed=seed, who="spy"
        ).data["mean"]


def run(evaluation, methods, **options):
    return cross_validate(methods, evaluation, **{**LITTLE, **options})


@pytest.fixture(scope="module")
def result(animal_ai, cohort):
    fitted = FittedLayout(animal_ai, **FEW)
    return run(cohort, {"published": fitted, "again": fitted, **BASELINES})


# --- splits --------------------------------------------------------------------------------------


def test_all_methods_share_the_splits(result, cohort):
    methods = ["published", "again", *BASELINES]
    assert list(dict.fromkeys(result.scores["method"])) == methods
    same = result.scores.groupby(["repeat", "subject"])[["trials", "success"]].nunique()
    assert (same == 1).all(axis=None)
    counted = result.scores.groupby(["repeat", "subject"])["method"].count()
    assert set(counted) == {5}
    trials = result.scores.query("method == 'again'").pivot_table("trials", "subject", "repeat")
    assert set(trials.loc[["Ann", "ace", "nil"]].to_numpy().ravel()) == {6}  # a quarter of 24
    assert result.success.equals(cohort.success_rates())


def test_one_layout_under_two_names_scores_alike(result):
    """Seeds of the fits do not depend on the name or the place of a layout."""
    table = result.scores.drop(columns="method")
    one, two = (table[result.scores["method"] == name] for name in ("published", "again"))
    pd.testing.assert_frame_equal(one.reset_index(drop=True), two.reset_index(drop=True))


def test_splits_differ_between_repeats_and_hold_out_the_share(counts):
    spy = Spy()
    run(counts, {"spy": spy}, repeats=5)
    splits = [tuple(items) for _, items, _ in spy.seen]
    assert len(set(splits)) == 5
    assert {len(split) for split in splits} == {6}
    assert [seed for *_, seed in spy.seen] == [3, 4, 5, 6, 7]
    for training, items, _ in spy.seen:
        assert (training.trials[items] == 0).all(axis=None)
        rest = training.items.index.difference(items)
        assert training.trials[rest].equals(counts.trials[rest])


@pytest.mark.slow
def test_the_seed_makes_it_reproducible(counts, animal_ai):
    methods = {"published": FittedLayout(animal_ai, **FEW)}
    one, two, other = (run(counts, methods, seed=seed, repeats=1) for seed in (3, 3, 4))
    pd.testing.assert_frame_equal(one.scores, two.scores)
    assert not one.scores["brier"].equals(other.scores["brier"])


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


def test_cells_dealt_to_folds_are_all_predicted_once(counts):
    found = run(counts, ["aggregate"], split=Cells(folds=4), repeats=None)
    assert len(found.predictions) == (counts.trials > 0).sum(axis=None)
    assert not found.predictions.duplicated(["subject", "item"]).any()
    assert found.predictions["fold"].nunique() == 4
    assert found.predictions["probability"].notna().all()
    part = run(counts, ["aggregate"], split=Cells(0.3))
    with pytest.raises(DataError, match="single cells were held out"):
        part.forecasts()
    with pytest.raises(DataError, match="there is no repeat 2"):
        part.forecasts(2)


class OthersOnTheItem:
    """Predict what other subjects did on the item; one half where nobody is known."""

    def predict(self, training, items, *, seed):
        known = (training.successes.sum() / training.trials.sum())[items].fillna(0.5)
        names = {"subject": training.subjects, "item": items}
        return xr.DataArray(np.tile(known, (len(training.subjects), 1)), names, list(names))


def test_other_subjects_are_learnt_from_where_cells_are_held_out():
    """Success that only the item decides; twin: with whole items held out nothing is known."""
    rng = np.random.default_rng(1)
    items = pd.DataFrame({"number": np.arange(40.0)}, [f"q{k}" for k in range(40)])
    wide = pd.DataFrame(np.tile(rng.random(40) < 0.5, (8, 1)), list("abcdefgh"), items.index)
    evaluation = ml.Evaluation.from_wide(wide, items)
    brier = {}
    for split in (Cells(folds=4), Items(folds=4)):
        found = run(evaluation, {"others": OthersOnTheItem()}, split=split, repeats=1)
        brier[type(split)] = found.summary()["mean"].item()
    assert brier[Cells] < 0.01
    assert brier[Items] == 0.25


@pytest.mark.parametrize(
    ("train", "test"),
    [
        ("rewardSize <= 1.0", "rewardSize > 1.0"),
        (None, "rewardSize > 1.0"),
        ("mask", "mask"),
        ("cells", "cells"),
        ("names", "names"),
    ],
)
def test_given_sets(counts, train, test):
    size = counts.items["rewardSize"]
    small, large = size <= 1.0, size > 1.0
    assert small.any()
    assert large.any()
    shape = {"index": counts.subjects, "columns": counts.items.index}
    kinds = {
        "mask": (small, large),
        "names": (list(size.index[small]), list(size.index[large])),
        "cells": tuple(pd.DataFrame(np.tile(mask, (3, 1)), **shape) for mask in (small, large)),
    }
    train, test = kinds.get(test, (train, test))
    spy = Spy()
    found = run(counts, {"spy": spy}, split=Given(train=train, test=test), repeats=None)
    ((training, items, _),) = spy.seen
    assert items == list(size.index[large])
    assert (training.trials[items] == 0).all(axis=None)
    assert training.trials[size.index[small]].equals(counts.trials[size.index[small]])
    assert set(found.predictions["item"]) == set(items)


def test_what_is_in_neither_set_is_neither_learnt_nor_predicted(counts):
    names, spy = list(counts.items.index), Spy()
    found = run(counts, {"spy": spy}, split=Given(train=names[:10], test=names[20:]), repeats=1)
    ((training, items, _),) = spy.seen
    assert items == names[20:]
    assert (training.trials[names[10:]] == 0).all(axis=None)
    assert set(found.predictions["item"]) == set(names[20:])


# --- nothing held out is seen --------------------------------------------------------------------


class Peeks:
    """Twin that must fail: it knows the outcomes by heart."""

    def __init__(self, evaluation):
        self.rates = (evaluation.successes / evaluation.trials.clip(lower=1)).to_numpy()
        self.names = {"subject": evaluation.subjects, "item": list(evaluation.items.index)}

    def predict(self, training, items, *, seed):
        return xr.DataArray(self.rates, self.names, list(self.names)).sel(item=items)


SPLITS = [Items(0.25), Items(folds=3), Cells(0.25), Cells(folds=3), Groups("rewardSize", 3)]


@pytest.mark.parametrize("split", [*SPLITS, Given("rewardSize > 1")], ids=repr)
def test_held_out_outcomes_change_no_forecast(counts, animal_ai, split):
    """Turning all held-out outcomes of a fold around changes scores, but no prediction."""
    (folds,) = drawn(split, counts, repeats=1, seed=3)
    methods = {
        "layout": FittedLayout(animal_ai, draws=10, tune=20, chains=1),
        **BASELINES,
        **POOLED,
        "all": ml.validation.Forest(["rewardSize"], 2, universal=True),
        "best": ml.validation.Forest(["rewardSize", "rewardDistance"], 2, best=1),
    }
    if split != SPLITS[0]:
        methods = {"aggregate": "aggregate", "line": "logistic", "all": methods["all"]} | POOLED
    fold = folds[0]
    turned = counts.successes.where(~fold.test, counts.trials - counts.successes)
    other = ml.Evaluation(counts.items, turned, counts.trials)
    columns = ["method", "subject", "item", "probability"]
    one, two = (
        run(data, methods | {"peeks": Peeks(data)}, split=split, repeats=1, columns=["rewardSize"])
        .predictions.query("fold == 0")[columns]
        .set_index(columns[:3])["probability"]
        for data in (counts, other)
    )
    same = (one == two).groupby("method").all()
    assert same.drop("peeks").all()
    assert not same["peeks"]


def test_counts_are_weighted(counts):
    """Every trial of the aggregate costs (rate - y)^2, rates and scores weighted by trials."""
    spy = Spy()
    scores = run(counts, {"aggregate": "aggregate", "spy": spy}).scores
    aggregate = scores[scores["method"] == "aggregate"]
    for row in aggregate.itertuples():
        training, held_out, _ = spy.seen[row.repeat]
        s = counts.successes.loc[row.subject, held_out].sum()
        n = counts.trials.loc[row.subject, held_out].sum()
        rate = training.success_rates()[row.subject]
        assert (row.trials, row.success) == (n, s / n)
        exact = (s * (1 - rate) ** 2 + (n - s) * rate**2) / n
        assert row.brier == pytest.approx(exact, abs=1e-12)


# --- summaries -----------------------------------------------------------------------------------


def scores(**rows):
    """Brier scores by method, of subjects (columns) in two repeats (rows)."""
    parts = []
    for method, values in rows.items():
        for repeat, row in enumerate(values):
            for subject, value in zip(("Ann", "Bob"), row, strict=True):
                if value is not None:
                    parts.append((method, repeat, subject, value))
    return pd.DataFrame(parts, columns=["method", "repeat", "subject", "brier"])


RATES = pd.Series({"Ann": 0.3, "Bob": 0.9})


def test_summary():
    held = CrossValidation(
        scores(layout=[[0.1, 0.3], [0.2, 0.6]], mean=[[0.2, 0.2], [0.4, 0.4]]), RATES
    )
    table = held.summary()
    assert table.index.tolist() == ["layout", "mean"]
    assert table["mean"].tolist() == pytest.approx([0.3, 0.3])
    # repeats' means 0.2 and 0.4, and 0.2 and 0.4: standard deviation sqrt(0.02), over sqrt(2)
    assert table["se"].tolist() == pytest.approx([0.1, 0.1])
    assert table["subjects"].tolist() == [2, 2]
    assert held.summary(success=(0.0, 0.3))["mean"].tolist() == pytest.approx([0.15, 0.3])
    assert held.summary(success=(0.0, 0.3))["subjects"].tolist() == [1, 1]
    subjects = held.per_subject()
    assert subjects.loc["Bob", "layout"] == pytest.approx(0.45)
    assert subjects.columns.tolist() == ["layout", "mean"]


def test_methods_are_compared_on_what_all_were_scored_on():
    """A fit that failed on a hard subject must not make its method look better."""
    held = CrossValidation(
        scores(layout=[[0.1, None], [0.1, None]], mean=[[0.2, 0.5], [0.2, 0.5]]), RATES
    )
    assert held.summary()["mean"].tolist() == pytest.approx([0.1, 0.2])
    assert held.summary()["subjects"].tolist() == [1, 1]
    assert held.per_subject().index.tolist() == ["Ann"]


def test_unknown_score():
    held = CrossValidation(scores(layout=[[0.1, 0.3]]), RATES)
    with pytest.raises(DataError, match="the scores have no column loss; the columns are method"):
        held.summary("loss")


# --- refused before the first fit ----------------------------------------------------------------


@pytest.fixture
def no_fit(monkeypatch):
    def fitted(*_args, **_kwargs):
        raise AssertionError("a fit was started")

    monkeypatch.setattr(fitting, "fit", fitted)


@pytest.mark.usefixtures("no_fit")
@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: {"split": Items(0.01)}, DataError, "share=0.01 of 24 items holds out 0; hold out"),
        (lambda: {"split": Items(0.99)}, DataError, "share=0.99 of 24 items holds out 24"),
        (lambda: {"split": Items(1.5)}, FitError, "share=1.5; give a number between 0 and 1"),
        (lambda: {"split": Cells("half")}, FitError, "share='half'; give"),
        (
            lambda: {"split": Cells(1e-9)},
            DataError,
            "attempted cells holds out none; hold",
        ),
        (lambda: {"split": Cells(folds=999)}, DataError, "folds=999, but there are .* attempted"),
        (lambda: {"split": Items(0.2, 3)}, DataError, "share=0.2 and folds=3 exclude each"),
        (lambda: {"split": Groups("rewardSize", 1)}, FitError, "folds=1; give"),
        (lambda: {"split": "rows"}, DataError, "split='rows'; give 'items', 'cells', or one of"),
        (lambda: {"split": Given("big > 1")}, DataError, "test='big > 1' is not a valid query of"),
        (lambda: {"split": Given("rewardSize > 99")}, DataError, "test is empty; give at"),
        (
            lambda: {"split": Given("rewardSize > 0", "rewardSize > 0")},
            DataError,
            "are in both train and test; remove them from one",
        ),
        (lambda: {"split": Given(["q99"])}, DataError, r"unknown item\(s\): q99"),
        (lambda: {"repeats": 0}, FitError, "repeats=0; give a whole number of at least 1"),
        (lambda: {"seed": -1}, FitError, "seed=-1; give"),
    ],
)
def test_options(animal_ai, cohort, make, error, message):
    with pytest.raises(error, match=message):
        run(cohort, {"published": animal_ai}, **make())


@pytest.mark.usefixtures("no_fit")
@pytest.mark.parametrize(
    ("methods", "message"),
    [
        (["aggregate", "aggregate"], "the methods are aggregate, aggregate; give each a diff"),
        ([], "there are no methods; give at least one"),
        (["mean"], "mean: there is no baseline 'mean'; there are aggregate, logistic, forest"),
        (
            [ml.validation.Aggregate()],
            "a Aggregate among the methods has no name; give methods by name",
        ),
    ],
)
def test_names_of_methods(cohort, methods, message):
    with pytest.raises(DataError, match=message):
        run(cohort, methods)


@pytest.mark.usefixtures("no_fit")
def test_subject_that_would_keep_nothing(animal_ai, cohort):
    outcomes = cohort.successes.where(cohort.trials > 0)
    outcomes.loc["Dot", outcomes.columns[1:]] = np.nan
    sparse = ml.Evaluation.from_wide(outcomes, cohort.items)
    with pytest.raises(DataError, match=r"Dot would have no training outcome in fold 0 of repeat"):
        run(sparse, {"published": animal_ai}, repeats=20)


def test_one_repeat_has_no_standard_error(counts):
    table = run(counts, ["aggregate"], repeats=1).summary()
    assert np.isnan(table.loc["aggregate", "se"])


# --- what is told --------------------------------------------------------------------------------


def test_the_aggregate_has_no_area_under_the_curve(cohort):
    """And does not keep others from having one; pooled over folds, it would be far below 0.5."""
    found = run(
        cohort, ["aggregate", "logistic"], split=Items(folds=6), repeats=1, columns=["rewardSize"]
    )
    summary = found.summary("auroc")
    assert np.isnan(summary.loc["aggregate", "mean"])
    assert np.isfinite(summary.loc["logistic", "mean"])
    remarks = found.scores.query("method == 'aggregate'")["remark"]
    assert remarks.str.contains("one number for all items of the subject").any()
    assert np.isnan(found.differences().loc["aggregate", "auroc"])
    assert np.isfinite(found.differences().loc["logistic", "brier_difference"])
    for text in (str(found), found._repr_html_()):
        assert "one number for all items of the subject" in text
        assert "Items(folds=6)" in text


def test_convergence_is_told(result):
    told = result.convergence
    assert len(told) == 2 * result.scores.query("method == 'again'").shape[0]
    assert set(told["method"]) == {"published", "again"}
    assert {"repeat", "fold", "subject", "status", "rhat", "reason"} <= set(told.columns)
    bad = told["status"].isin(["not converged", "failed"]).groupby(told["method"]).sum()
    assert f"published: {bad['published']} of" in str(result)


def test_graded_outcomes_have_the_aggregate_beside_them(rng):
    """By hand: the share of training attempts that reached each step; scores are RPS."""
    layout = ml.Layout("essays", ml.Graded("grade", ml.Capability("skill", low=0, high=1)))
    items = pd.DataFrame({"size": rng.normal(size=30)}, [f"q{k}" for k in range(30)])
    grades = pd.DataFrame(rng.integers(0, 3, (2, 30)), ["Ann", "Bob"], items.index)
    evaluation = ml.Evaluation.of_outcomes(layout, {"grade": grades}, items)
    methods = {"mean": "aggregate", "line": "logistic", "trees": ["size"]}
    for split in (Items(folds=3), Cells(folds=3)):
        found = run(evaluation, methods, split=split, repeats=1, columns=["size"])
        rows = found.predictions.query("method == 'mean' and subject == 'Ann'")
        folds = dict(zip(rows["item"].str.partition(" ·")[0], rows["fold"], strict=True))
        own, fold = grades.loc["Ann"], pd.Series(folds)[items.index]
        rps = 0.0
        for number in range(3):
            learnt, asked = own[fold != number], own[fold == number]
            for step in (1, 2):
                rps += (((learnt >= step).mean() - (asked >= step)) ** 2).sum() / 2 / 30
        score = found.scores.set_index(["method", "subject"]).loc[("mean", "Ann")]
        assert score["brier"] == pytest.approx(rps, abs=1e-12)
        assert score["trials"] == 30
        assert found.differences()["brier"]["mean"] == pytest.approx(
            found.summary()["mean"]["mean"], abs=1e-12
        )
        wide = found.predictions.query("method == 'line'").pivot_table(
            "probability", ["subject"], "item", sort=False
        )
        assert (wide.to_numpy()[:, 1::2] <= wide.to_numpy()[:, ::2]).all()


# --- inference -----------------------------------------------------------------------------------


def test_profiles_may_be_integrated(counts):
    """A coin: the forecast is the mean of a beta distribution, up to the grid's draws."""
    layout = ml.Layout("coin", ml.Success("right", ml.Capability("skill", low=0, high=1)))
    found = run(counts, {"coin": FittedLayout(layout, draws=400, method="grid")})
    split = found.predictions.query("repeat == 0")["item"].unique().tolist()
    left = counts.select(items=[item for item in counts.items.index if item not in split])
    right, trials = left.successes.loc["Ann"].sum(), left.trials.loc["Ann"].sum()
    forecast = (right + 1) / (trials + 2)
    rate = counts.successes.loc["Ann", split] / counts.trials.loc["Ann", split]
    weights = counts.trials.loc["Ann", split]
    brier = (rate * (1 - forecast) ** 2 + (1 - rate) * forecast**2) @ weights / weights.sum()
    ours = found.scores.query("subject == 'Ann' and repeat == 0")["brier"].item()
    assert ours == pytest.approx(brier, abs=1e-3)
