"""Assessors: scikit-learn's own numbers, the same folds for everybody, and gains that are real."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import cross_val_predict

import measurement_layouts as ml
from measurement_layouts import DataError, FitError
from measurement_layouts.inference import scoring
from measurement_layouts.inference.assessors import assess as running
from measurement_layouts.inference.assessors.assess import assess
from measurement_layouts.inference.assessors.assessment import Assessment
from measurement_layouts.inference.baselines import masked
from measurement_layouts.linking import band, logistic

FEW = {"folds": 2, "resamples": 200, "seed": 3, "progressbar": False}
SETS = {"demand": ["size"], "demand and band": ["size", "lower", "upper"]}


def layout():
    """A capability and a propensity."""
    skill = ml.Capability("skill", low=-3, high=3)
    prudence = ml.Propensity("prudence", low=-3, high=3)
    size = ml.MetaFeature("size", low=-3, high=3)
    lower, upper = (ml.MetaFeature(end, low=-3, high=3) for end in ("lower", "upper"))
    able = logistic(skill - size, 2)
    return ml.Layout("joined", ml.Success("done", able * band(prudence, lower, upper)))


@pytest.fixture(scope="module")
def items():
    """Sizes, and bands that end on one side."""
    rng = np.random.default_rng(1)
    end, closed_above = rng.integers(-1, 2, 240).astype(float), rng.random(240) < 0.5
    columns = {
        "size": rng.uniform(-2, 2, 240),
        "lower": np.where(closed_above, -3, end),
        "upper": np.where(closed_above, end, 3),
    }
    return pd.DataFrame(columns, [f"q{number}" for number in range(240)])


@pytest.fixture(scope="module")
def evaluation(items):
    """One subject whose propensity lies below some bands."""
    profile = pd.DataFrame({"skill": [1.0], "prudence": [-1.5]}, index=["Ann"])
    return ml.simulate(layout(), items, profile, seed=2)


@pytest.fixture(scope="module")
def found(evaluation):
    return assess(evaluation, {"size": ["size"]}, **FEW)


def predictions(found, method):
    table = found.predictions.query("method == @method")
    return table.pivot_table("probability", "subject", "item", sort=False)


# --- the forest ----------------------------------------------------------------------------------


def test_the_forest_is_scikit_learns(evaluation, found):
    """Its rows come successes first, and so do those of the folds that it is held against."""
    cells = found.predictions
    y = evaluation.successes.loc["Ann"].to_numpy()
    fold = cells["fold"].to_numpy()
    assert np.bincount(fold).tolist() == [120, 120]
    order = np.argsort(-y, kind="stable")
    cv = [(order[fold[order] != k], np.flatnonzero(fold == k)) for k in (0, 1)]

    def forest(**options):
        return cross_val_predict(
            RandomForestClassifier(random_state=3, **options),
            evaluation.items[["size"]].to_numpy(),
            y,
            cv=cv,
            method="predict_proba",
            params={"sample_weight": np.ones(240)},
        )[:, 1]

    expected = forest(min_samples_split=50)
    np.testing.assert_allclose(cells["probability"], expected, rtol=0, atol=1e-12)
    assert found.table["auroc"].item() == scoring.auroc(expected, y)
    assert found.table["brier"].item() == pytest.approx(scoring.brier(expected, y), abs=1e-12)
    assert np.abs(cells["probability"] - forest()).max() > 0.1  # twin: the default forest


def test_a_band_helps_where_it_matters(items, evaluation):
    """And does not where only the capability matters: the twin."""
    gain = assess(evaluation, SETS, **FEW).summary().loc["demand and band"]
    assert gain["auroc_low"] > 0
    assert gain["brier_high"] < 0
    assert gain["auroc_difference"] > 3 * gain["auroc_se"]
    chance = logistic(1 - items["size"].to_numpy(), 2)
    outcomes = pd.DataFrame([np.random.default_rng(4).binomial(1, chance)], ["Bob"], items.index)
    nothing = assess(ml.Evaluation.from_wide(outcomes, items), SETS, **FEW).summary().iloc[1]
    assert nothing["auroc_low"] < 0
    assert abs(nothing["auroc_difference"]) < 3 * nothing["auroc_se"]


def test_no_fold_sees_its_own_outcomes(evaluation, found):
    held_out = found.predictions.query("fold == 0")["item"]
    turned = evaluation.successes.copy()
    turned[held_out] = 1 - turned[held_out]
    other = ml.Evaluation(evaluation.items, turned, evaluation.trials)
    again = assess(other, {"size": ["size"]}, **FEW)
    one, two = (predictions(each, "size") for each in (found, again))
    assert one[held_out].equals(two[held_out])
    rest = one.columns.difference(held_out)
    assert not np.isclose(one[rest], two[rest]).all()  # twin: there they were trained on


# --- layouts -------------------------------------------------------------------------------------


def test_a_layout_is_fitted_to_the_same_folds(evaluation):
    options = {"draws": 50, "tune": 100, "chains": 2, "seed": 3}
    found = assess(evaluation, {}, layouts={"joined": layout()}, **FEW | options)
    held_out = found.predictions.query("fold == 1")["item"].tolist()
    fit = ml.fit(layout(), masked(evaluation, held_out), reruns=0, progressbar=False, **options)
    expected = fit.forecast(evaluation.items.loc[held_out]).data["mean"].to_numpy()
    np.testing.assert_array_equal(predictions(found, "joined")[held_out], expected)
    assert found.summary().loc["joined", "auroc"] > 0.7


def test_a_subject_that_could_not_be_sampled(evaluation, monkeypatch):
    """It has no score, with the reason; the others do."""
    both = {"index": ["Ann", "Bob"], "columns": evaluation.items.index}
    twice = ml.Evaluation(
        evaluation.items,
        pd.DataFrame(np.repeat(evaluation.successes.to_numpy(), 2, 0), **both),
        pd.DataFrame(1, **both),
    )
    real, fits = running.fit, []

    def lose_bob(layout, training, **options):
        fits.append(real(layout, training, subjects=["Ann", "Bob"][: 2 - len(fits)], **options))
        return fits[-1]

    monkeypatch.setattr(running, "fit", lose_bob)
    few = FEW | {"draws": 20, "tune": 50}
    found = assess(twice, {}, layouts={"joined": layout()}, **few)
    table = found.table.set_index("subject")
    assert table.loc["Ann", ["auroc", "brier"]].notna().all()
    assert table.loc["Bob", ["auroc", "brier", "auroc_se"]].isna().all()
    assert table["remark"].str[:15].to_dict() == {"Ann": "", "Bob": "sampling failed"}
    assert found.summary()["subjects"].tolist() == [1]


# --- differences ---------------------------------------------------------------------------------


def compared(successes, trials=None, failed=False, resamples=500):
    """Score two made-up methods that share most of their errors."""
    rng = np.random.default_rng(7)
    successes = np.atleast_2d(successes)
    names = [f"q{number}" for number in range(successes.shape[1])]
    made = {"index": [f"s{place}" for place in range(len(successes))], "columns": names}
    trials = pd.DataFrame(np.ones_like(successes) if trials is None else trials, **made)
    evaluation = ml.Evaluation(pd.DataFrame(index=names), pd.DataFrame(successes, **made), trials)
    first = rng.uniform(0.2, 0.8, successes.shape)
    second = np.clip(first + rng.normal(0, 0.05, successes.shape), 0, 1)
    first[0, 0] = np.nan if failed else first[0, 0]
    chances = xr.DataArray(
        [first, second],
        {"method": ["first", "second"], "subject": evaluation.subjects, "item": names},
    )
    folds = [evaluation.items.index]
    options = {"resamples": resamples, "prob": 0.9, "seed": 1}
    return first, second, Assessment.of(evaluation, chances, folds, **options)


def test_the_standard_error_is_the_paired_one():
    """Of the Brier score in closed form: the spread of items' differences, over sqrt(items)."""
    y = np.random.default_rng(8).integers(0, 2, 150)
    first, second, found = compared(y)
    row = found.table.set_index("method").loc["second"]
    losses = (first[0] - y) ** 2, (second[0] - y) ** 2
    difference = losses[1] - losses[0]
    exact = difference.std() / np.sqrt(150)
    assert row["brier_difference"] == pytest.approx(difference.mean(), abs=1e-12)
    tolerance = 4 / np.sqrt(2 * 500)  # of a standard deviation of 500 resamples
    assert row["brier_se"] == pytest.approx(exact, rel=tolerance)
    ends = difference.mean() + np.array([-1.645, 1.645]) * exact
    assert row[["brier_low", "brier_high"]].tolist() == pytest.approx(ends, abs=0.2 * exact)
    apart = np.hypot(*(loss.std() / np.sqrt(150) for loss in losses))
    assert apart > 2 * row["brier_se"]  # twin: methods scored on items of their own
    assert found.table.iloc[0][["auroc_difference", "auroc_se", "brier_se"]].tolist() == [0, 0, 0]


def test_subjects_are_averaged_on_shared_items():
    """Alike subjects say no more than one does: their items are the same."""
    y = np.random.default_rng(8).integers(0, 2, 150)
    first, second, _ = compared(np.stack([y, y]), resamples=2)
    _, _, found = compared(np.stack([y, 1 - y]))
    losses = [(p - np.stack([y, 1 - y])) ** 2 for p in (first, second)]
    difference = (losses[1] - losses[0]).mean(axis=0)
    row = found.summary().loc["second"]
    assert row["brier_difference"] == pytest.approx(difference.mean(), abs=1e-12)
    exact = difference.std() / np.sqrt(150)
    assert row["brier_se"] == pytest.approx(exact, rel=4 / np.sqrt(2 * 500))
    assert row["subjects"] == 2
    assert found.summary(["s0"])["brier"].tolist() == [loss[0].mean() for loss in losses]
    with pytest.raises(DataError, match=r"unknown subject\(s\): s9"):
        found.summary(["s9"])


def test_scores_that_are_missing():
    y = np.random.default_rng(8).integers(0, 2, (3, 40))
    y[1] = 1
    trials = np.ones_like(y)
    trials[2, 1:], y[2] = 0, 0
    _, _, found = compared(y, trials, failed=True, resamples=20)
    table = found.table.set_index(["subject", "method"])
    assert table["auroc"].notna().tolist() == [False, True, False, False, False, False]
    assert table["brier"].notna().tolist() == [False, True, True, True, True, True]
    assert table.loc[("s0", "first"), "remark"].startswith("sampling failed in a fold")
    assert table.loc[("s1", "second"), "remark"].endswith("it needs a success and a failure")
    assert table.loc["s2", "brier_se"].notna().all()  # resamples without its only item left out
    assert table.loc[("s0", "second"), "auroc_difference":"auroc_high"].isna().all()
    with pytest.raises(DataError, match="none of s0, s1, s2 has a score of every method"):
        found.summary()


# --- refused before anything is fitted -----------------------------------------------------------


@pytest.mark.parametrize(
    ("features", "options", "error", "message"),
    [
        ({}, {}, DataError, "the methods to compare are none"),
        ({"joined": ["size"]}, {}, DataError, "joined, joined; give .* a name of its own"),
        ({"more": ["size", "hue"]}, {}, DataError, "more: the items have no column hue; the col"),
        (SETS, {"folds": 1}, FitError, "folds=1; give a whole number of at least 2"),
        (SETS, {"folds": 241}, DataError, "folds=241, but there are 240 items; ask for fewer"),
        (SETS, {"resamples": 1}, FitError, "resamples=1; give"),
        (SETS, {"prob": 90}, FitError, "prob=90; give"),
        (SETS, {"seed": "one"}, FitError, "seed='one'; give"),
    ],
)
def test_what_is_refused(evaluation, monkeypatch, features, options, error, message):
    monkeypatch.setattr(running, "baseline_forecast", None)
    layouts = {"joined": layout()} if "joined" in features else None
    with pytest.raises(error, match=message):
        assess(evaluation, features, layouts=layouts, **FEW | options)


def test_items_that_do_not_fit(evaluation, monkeypatch):
    monkeypatch.setattr(running, "baseline_forecast", None)
    bare = ml.Evaluation(evaluation.items[["size"]], evaluation.successes, evaluation.trials)
    with pytest.raises(DataError, match="lower: the items have no column lower"):
        assess(bare, {"size": ["size"]}, layouts={"joined": layout()}, **FEW)
    few = evaluation.trials * (evaluation.items.index == "q0")
    sparse = ml.Evaluation(evaluation.items, evaluation.successes * few, few)
    with pytest.raises(DataError, match=r"Ann would keep no training outcome in fold \d; leave"):
        assess(sparse, SETS, **FEW)
