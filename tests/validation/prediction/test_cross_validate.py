"""Cross-validation: the same folds for everybody, groups held out, no look at what is held out."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from helpers import banded_items
from helpers.banded_items import FEW, SETS, layout, predictions

import measurement_layouts as ml
from measurement_layouts import DataError, FitError
from measurement_layouts.linking import logistic
from measurement_layouts.validation import Groups, Items, cross_validate
from measurement_layouts.validation.prediction import cross_validate as running
from measurement_layouts.validation.prediction import layouts
from measurement_layouts.validation.prediction.splits import drawn, masked


@pytest.fixture(scope="module")
def items():
    return banded_items.battery()


@pytest.fixture(scope="module")
def evaluation():
    return banded_items.evaluation()


def test_a_band_helps_where_it_matters(items, evaluation):
    """And does not where only the capability matters: the twin."""
    gain = cross_validate(SETS, evaluation, **FEW).differences().loc["demand and band"]
    assert gain["auroc_low"] > 0
    assert gain["brier_high"] < 0
    assert gain["auroc_difference"] > 3 * gain["auroc_se"]
    chance = logistic(1 - items["size"].to_numpy(), 2)
    outcomes = pd.DataFrame([np.random.default_rng(4).binomial(1, chance)], ["Bob"], items.index)
    nothing = (
        cross_validate(SETS, ml.Evaluation.from_wide(outcomes, items), **FEW).differences().iloc[1]
    )
    assert nothing["auroc_low"] < 0
    assert abs(nothing["auroc_difference"]) < 3 * nothing["auroc_se"]


# --- groups --------------------------------------------------------------------------------------


def constant_groups(rates):
    """Outcomes that the group decides: a share of 50 items in each succeeds."""
    codes = np.repeat(np.arange(len(rates)), 50)
    items = pd.DataFrame({"code": codes, "test": [f"t{code}" for code in codes]})
    outcomes = np.concatenate([np.arange(50) < rate * 50 for rate in rates])
    return ml.Evaluation.from_wide(pd.DataFrame([outcomes], ["Ann"]), items)


class Memory:
    """Predict what items of the same code did; of an unknown code, what all did."""

    def predict(self, training, items, *, seed):
        code, everything = training.items["code"], training.success_rates()
        sums = [t.T.groupby(code).sum() for t in (training.successes, training.trials)]
        known = (sums[0] / sums[1]).fillna(everything)
        names = {"subject": training.subjects, "item": items}
        return xr.DataArray(known.loc[code[items]].to_numpy().T, names, list(names))


def test_whole_groups_are_held_out():
    """What a group alone decides cannot be foreseen without it; twin: with random folds it is."""
    evaluation = constant_groups([0, 1, 0, 1])
    assert (
        cross_validate({"memory": Memory()}, evaluation, **FEW).differences()["auroc"].item() == 1
    )
    found = cross_validate({"memory": Memory()}, evaluation, **FEW | {"split": Groups("test")})
    assert np.isnan(found.differences()["auroc"].item())  # one number for all items of a group
    assert found.scores["remark"].str.contains("one number for all items").all()
    per_group = found.predictions.assign(test=np.repeat(np.arange(4), 50)).groupby("test")["fold"]
    assert per_group.agg(["min", "max"]).to_numpy().tolist() == [[k, k] for k in range(4)]


def parts_of(split, evaluation, seed):
    (folds,) = drawn(split, evaluation, repeats=1, seed=seed)
    return [fold.items(evaluation) for fold in folds]


def test_groups_are_dealt_out_evenly():
    sizes = [70, 50, 40, 30, 20, 10, 10, 10]
    names = np.repeat([f"t{place}" for place in range(8)], sizes)
    names = names[np.random.default_rng(1).permutation(240)]
    items = pd.DataFrame({"test": names})
    evaluation = ml.Evaluation.from_wide(pd.DataFrame([[1] * 240], ["Ann"]), items)
    parts = parts_of(Groups("test", 3), evaluation, 1)
    assert [len(part) for part in parts] == [80, 80, 80]
    groups = [set(items.set_axis(evaluation.items.index).loc[part, "test"]) for part in parts]
    assert sum(map(len, groups)) == len(set.union(*groups)) == 8
    again = parts_of(Groups("test", 8), evaluation, 2)
    assert [len(part) for part in again] == pd.Series(names).value_counts(sort=False).tolist()


@pytest.mark.parametrize(
    ("column", "values", "message"),
    [
        ("hue", ["a", "b"], "the items have no column hue"),
        ("test", ["a", "a"], r"Groups\('test'\): all items are of the group a"),
        ("test", ["a", None], "the items' test: no name in row"),
    ],
)
def test_groups_that_cannot_be_held_out(column, values, message):
    items = pd.DataFrame({"test": values * 5, "size": range(10)})
    evaluation = ml.Evaluation.from_wide(pd.DataFrame([[1, 0] * 5], ["Ann"]), items)
    with pytest.raises(DataError, match=message):
        cross_validate({"size": ["size"]}, evaluation, **FEW | {"split": Groups(column)})


def test_a_subject_of_one_group():
    evaluation = constant_groups([0.5, 0.5])
    keep = (evaluation.items["test"] == "t0").astype(int)
    one = ml.Evaluation(evaluation.items, evaluation.successes * keep, evaluation.trials * keep)
    with pytest.raises(DataError, match="Ann would have no training outcome in fold 0; leave"):
        cross_validate({"code": ["code"]}, one, **FEW | {"split": Groups("test")})


# --- nobody looks at what is held out ------------------------------------------------------------


class Leaky:
    """Twin of an honest assessor: it knows everything."""

    def __init__(self, evaluation):
        self.rates = evaluation.successes / evaluation.trials

    def predict(self, training, items, *, seed):
        names = {"subject": training.subjects, "item": items}
        return xr.DataArray(self.rates[items].to_numpy(), names, list(names))


LEVELS = ["logic", "memory"]
HONEST = {
    "forest": ml.validation.Forest(LEVELS),
    "forest of several sizes": ml.validation.Forest(LEVELS, (2, 50)),
    "best": ml.validation.Forest(LEVELS, best=1),
    "universal": ml.validation.Forest(LEVELS, (2, 50), universal=True),
    "regression": ml.validation.Regression(LEVELS),
    "algebraic": ml.validation.Algebraic(LEVELS, "guess"),
    "layout": ml.validation.FittedLayout(
        ml.Layout(
            "level",
            ml.Success(
                "done",
                logistic(
                    ml.Capability("skill", low=0, high=6) - ml.MetaFeature("logic", low=0, high=5)
                ),
            ),
        ),
        method="grid",
    ),
}


def levelled(turn=()):
    """Two subjects on demands in levels; some outcomes turned round."""
    rng = np.random.default_rng(5)
    items = pd.DataFrame(rng.integers(0, 5, (160, 2)), columns=LEVELS).assign(guess=75.0)
    items.index = [f"q{number}" for number in range(160)]
    chance = 1 / (1 + np.exp(items["logic"].to_numpy() - np.array([[1.5], [3.0]])))
    solved = pd.DataFrame(rng.random((2, 160)) < chance, ["Ann", "Bob"], items.index)
    solved[list(turn)] = ~solved[list(turn)]
    return ml.Evaluation.from_wide(solved, items)


COSTLY = ("forest", "forest of several sizes", "best", "universal")


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] * (name in COSTLY))
        for name in [*HONEST, "leaky"]
    ],
)
def test_no_assessor_sees_the_outcomes_it_predicts(name):
    """Turned round where they are held out, outcomes change no prediction there; elsewhere they
    do. Twin: an assessor that knows everything.
    """
    (held_out, rest) = parts_of(Items(folds=2), levelled(), 3)
    tables = []
    for evaluation in (levelled(), levelled(held_out)):
        assessor = HONEST[name] if name in HONEST else Leaky(evaluation)
        found = cross_validate({"one": assessor}, evaluation, **FEW | {"resamples": 2})
        tables.append(predictions(found, "one"))
    one, two = tables
    assert one[held_out].equals(two[held_out]) == (name != "leaky")
    assert np.isclose(one[rest], two[rest]).all() == (name == "leaky")


# --- layouts -------------------------------------------------------------------------------------


def test_a_layout_is_fitted_to_the_same_folds(evaluation):
    options = {"draws": 50, "tune": 100, "chains": 2}
    found = cross_validate(
        {"joined": ml.validation.FittedLayout(layout(), **options)}, evaluation, **FEW
    )
    held_out = found.predictions.query("fold == 1")["item"].tolist()
    training = masked(evaluation, held_out)
    fit = ml.fit(layout(), training, reruns=0, seed=3, progressbar=False, **options)
    expected = fit.forecast(evaluation.items.loc[held_out]).data["mean"].to_numpy()
    np.testing.assert_array_equal(predictions(found, "joined")[held_out], expected)
    assert found.differences().loc["joined", "auroc"] > 0.7


def test_a_subject_that_could_not_be_sampled(evaluation, monkeypatch):
    """It has no score, with the reason; the others do."""
    both = {"index": ["Ann", "Bob"], "columns": evaluation.items.index}
    twice = ml.Evaluation(
        evaluation.items,
        pd.DataFrame(np.repeat(evaluation.successes.to_numpy(), 2, 0), **both),
        pd.DataFrame(1, **both),
    )
    real, fits = layouts.fit, []

    def lose_bob(layout, training, **options):
        fits.append(real(layout, training, subjects=["Ann", "Bob"][: 2 - len(fits)], **options))
        return fits[-1]

    monkeypatch.setattr(layouts, "fit", lose_bob)
    found = cross_validate(
        {"joined": ml.validation.FittedLayout(layout(), draws=20, tune=50)}, twice, **FEW
    )
    table = found.table.set_index("subject")
    assert table.loc["Ann", ["auroc", "ece", "brier"]].notna().all()
    assert table.loc["Bob", ["auroc", "ece", "brier", "auroc_se"]].isna().all()
    assert table["remark"].str.contains("some items have no predicti").tolist() == [False, True]
    assert found.differences()["subjects"].tolist() == [1]
    assert found.forecasts()["joined"].data["subject"].to_numpy().tolist() == ["Ann"]


# --- refused before anything is fitted -----------------------------------------------------------


@pytest.mark.parametrize(
    ("methods", "options", "error", "message"),
    [
        ({}, {}, DataError, "there are no methods"),
        ({"more": ["size", "hue"]}, {}, DataError, "more: the items have no column hue; the col"),
        ({"more": 3}, {}, DataError, "more: a int is not a method; give a layout, a baseline's"),
        (
            SETS,
            {"split": Items(folds=241)},
            DataError,
            "folds=241, but there are 240 items; give a small",
        ),
        (SETS, {"resamples": 1}, FitError, "resamples=1; give"),
        (SETS, {"prob": 90}, FitError, "prob=90; give"),
        (SETS, {"seed": "one"}, FitError, "seed='one'; give"),
    ],
)
def test_what_is_refused(evaluation, monkeypatch, methods, options, error, message):
    monkeypatch.setattr(running, "predicted", None)
    with pytest.raises(error, match=message):
        cross_validate(methods, evaluation, **FEW | options)


def test_items_that_do_not_fit(evaluation, monkeypatch):
    monkeypatch.setattr(running, "predicted", None)
    bare = ml.Evaluation(evaluation.items[["size"]], evaluation.successes, evaluation.trials)
    with pytest.raises(DataError, match="joined: lower: the items have no column lower"):
        cross_validate({"size": ["size"], "joined": layout()}, bare, **FEW)
    few = evaluation.trials * (evaluation.items.index == "q0")
    sparse = ml.Evaluation(evaluation.items, evaluation.successes * few, few)
    with pytest.raises(DataError, match=r"Ann would have no training outcome in fold \d; leave"):
        cross_validate(SETS, sparse, **FEW)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda names: 0.5, "one: predict returned float; return a DataArray"),
        (lambda names: xr.DataArray([1.0], dims="item"), r"one: predict returned \('item',\)"),
        (lambda names: xr.DataArray(1.5, names, list(names)), r"not a probability on q\d+ \(Ann\)"),
    ],
)
def test_predictions_that_are_none(evaluation, answer, message):
    class Odd:
        def predict(self, training, items, *, seed):
            return answer({"item": items, "subject": training.subjects})

    with pytest.raises(DataError, match=message):
        cross_validate({"one": Odd()}, evaluation, **FEW)
