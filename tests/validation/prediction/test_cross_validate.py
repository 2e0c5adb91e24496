"""Cross-validation: one score of a method wherever it is asked, paired differences, no leaks."""

import numpy as np
import pandas as pd
import pytest
from helpers import banded_items
from helpers.banded_items import FEW, SETS, layout, predictions
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV

import measurement_layouts as ml
from measurement_layouts import DataError, FitError
from measurement_layouts.linking import logistic
from measurement_layouts.validation import (
    Cells,
    CrossValidation,
    Estimator,
    FittedLayout,
    Items,
    Split,
    cross_validate,
    masked,
)
from measurement_layouts.validation.prediction import cross_validate as running
from measurement_layouts.validation.prediction import layouts
from measurement_layouts.validation.prediction.scoring_rules import scores_in_groups
from measurement_layouts.validation.prediction.splits import Fold, drawn

QUIET = {"progressbar": False}


@pytest.fixture(scope="module")
def evaluation():
    return banded_items.evaluation()


class Known:
    """Predict what was made up, by subject and item."""

    def __init__(self, chances):
        self.chances = chances

    def predict(self, training, cells, *, seed):
        pairs = zip(cells["subject"], cells["item"], strict=True)
        return np.array([self.chances.loc[pair] for pair in pairs])


class Everything(Split):
    """One fold that holds everything out, for methods that learn nothing."""

    def draw(self, evaluation, rng):
        every = np.ones(len(evaluation.coded), dtype=bool)
        return [Fold(every, every)]


def compared(successes, trials=None, failed=False, **options):
    """Score two made-up methods that share most of their errors."""
    rng = np.random.default_rng(7)
    successes = np.atleast_2d(successes)
    names = [f"q{number}" for number in range(successes.shape[1])]
    made = {"index": [f"s{place}" for place in range(len(successes))], "columns": names}
    trials = pd.DataFrame(np.ones_like(successes) if trials is None else trials, **made)
    evaluation = ml.Evaluation(pd.DataFrame(index=names), pd.DataFrame(successes, **made), trials)
    first = pd.DataFrame(rng.uniform(0.2, 0.8, successes.shape), **made)
    second = (first + rng.normal(0, 0.05, successes.shape)).clip(0, 1)
    first.iloc[0, 0] = np.nan if failed else first.iloc[0, 0]
    methods = {"first": Known(first), "second": Known(second)}
    held = cross_validate(methods, evaluation, split=Everything(), seed=1, **QUIET, **options)
    return first.to_numpy(), second.to_numpy(), held


# --- one score -----------------------------------------------------------------------------------


def test_one_score_whichever_function_is_asked():
    """Few outcomes of many subjects, several trials, some of one class: pooled over outcomes."""
    rng = np.random.default_rng(5)
    trials = rng.integers(0, 4, (60, 6)) + (np.arange(6) == 0)
    y = rng.binomial(trials, 0.8)
    first, second, held = compared(y, trials, resamples=50)
    summaries, differences, groups = held.summary(), held.differences(), held.by()
    for method, p in (("first", first), ("second", second)):
        whole = scores_in_groups(p.ravel(), y.ravel(), (trials - y).ravel())
        for name in ("brier", "ece"):
            assert held.summary(name)["mean"][method] == pytest.approx(whole[name][0])
            assert differences.loc[method, name] == pytest.approx(whole[name][0])
            assert groups.loc[("", method), name] == pytest.approx(whole[name][0])
        areas = [
            roc_auc_score(
                [1, 0] * 6, np.repeat(own, 2), sample_weight=np.stack([won, tried - won], 1).ravel()
            )
            for own, won, tried in zip(p, y, trials, strict=True)
            if 0 < won.sum() < tried.sum()
        ]
        exact = pytest.approx(np.mean(areas))
        assert held.summary("auroc")["mean"][method] == exact
        assert differences.loc[method, "auroc"] == exact
        assert groups.loc[("", method), "auroc"] == exact
        assert differences.loc[method, "auroc_subjects"] == len(areas) < 60
    assert summaries["subjects"].tolist() == [60, 60]
    each = held.scores.query("method == 'first'").set_index("subject")
    own = scores_in_groups(first[3], y[3], trials[3] - y[3])
    assert each.loc["s3", list(own)].tolist() == pytest.approx(
        [v[0] for v in own.values()], nan_ok=True
    )


def test_a_summary_has_the_standard_error_of_repeats():
    rows = [
        {"repeat": repeat, "fold": 0, "subject": subject, "item": "a", "successes": 0, "trials": 1}
        | {"method": method, "probability": np.sqrt(brier)}
        for repeat, briers in enumerate([(0.1, 0.3), (0.2, 0.6)])
        for subject, brier in zip(("Ann", "Bob"), briers, strict=True)
        for method in ("layout", "mean")
    ]
    held = CrossValidation(pd.DataFrame(rows), pd.Series({"Ann": 0.3, "Bob": 0.9}))
    table = held.summary()
    assert table["mean"].tolist() == pytest.approx([0.3, 0.3])
    assert table["se"].tolist() == pytest.approx([0.1, 0.1])  # of 0.2 and 0.4
    assert held.summary(success=(0.0, 0.3))["mean"].tolist() == pytest.approx([0.15, 0.15])
    assert held.summary(success=(0.0, 0.3))["subjects"].tolist() == [1, 1]
    assert held.per_subject().loc["Bob", "layout"] == pytest.approx(0.45)
    with pytest.raises(DataError, match="the scores have no column loss; the columns are method"):
        held.summary("loss")


def test_outcomes_that_a_method_does_not_predict_are_left_out_for_all():
    y = np.random.default_rng(8).integers(0, 2, (2, 40))
    first, second, held = compared(y, failed=True, resamples=20)
    losses = [(p - y) ** 2 for p in (first, second)]
    expected = [np.delete(loss.ravel(), 0).mean() for loss in losses]
    assert held.summary()["mean"].tolist() == pytest.approx(expected)
    assert "outcomes that some method does not predict (s0)" in str(held)
    nobody = held.predictions.assign(probability=np.nan)
    with pytest.raises(DataError, match="no outcome has a prediction of every method"):
        CrossValidation(nobody, held.success).summary()


def test_graded_outcomes_have_ranked_probability_scores(rng):
    """By hand: the share of training attempts that reached each step."""
    graded = ml.Layout("essays", ml.Graded("grade", ml.Capability("skill", low=0, high=1)))
    items = pd.DataFrame({"size": rng.normal(size=30)}, [f"q{k}" for k in range(30)])
    grades = pd.DataFrame(rng.integers(0, 3, (2, 30)), ["Ann", "Bob"], items.index)
    known = ml.Evaluation.of_outcomes(graded, {"grade": grades}, items)
    for split in (Items(folds=3), Cells(folds=3)):
        held = cross_validate(["aggregate", "logistic"], known, split=split, seed=3, **QUIET)
        rows = held.predictions.query("method == 'aggregate' and subject == 'Ann'")
        fold = pd.Series(dict(zip(rows["item"].str.partition(" ·")[0], rows["fold"], strict=True)))
        own, fold, rps = grades.loc["Ann"], fold[items.index], 0.0
        for number in range(3):
            learnt, asked = own[fold != number], own[fold == number]
            for step in (1, 2):
                rps += (((learnt >= step).mean() - (asked >= step)) ** 2).sum() / 2 / 30
        score = held.scores.set_index(["method", "subject"]).loc[("aggregate", "Ann")]
        assert score["brier"] == pytest.approx(rps, abs=1e-12)
        assert score["trials"] == 30
        brier = held.summary()["mean"]
        assert held.by(pd.Series("all", items.index))["brier"].tolist() == pytest.approx(
            brier.tolist()
        )


# --- differences ---------------------------------------------------------------------------------


def test_the_standard_error_is_the_paired_one():
    """Of the Brier score in closed form: the spread of items' differences, over sqrt(items)."""
    y = np.random.default_rng(8).integers(0, 2, 150)
    first, second, held = compared(np.stack([y, 1 - y]))
    losses = [(p - np.stack([y, 1 - y])) ** 2 for p in (first, second)]
    difference = (losses[1] - losses[0]).mean(axis=0)
    row = held.differences().loc["second"]
    exact = difference.std() / np.sqrt(150)
    assert row["brier_difference"] == pytest.approx(difference.mean(), abs=1e-12)
    assert row["brier_se"] == pytest.approx(exact, rel=4 / np.sqrt(2 * 500))
    ends = difference.mean() + np.array([-1.645, 1.645]) * exact
    assert row[["brier_low", "brier_high"]].tolist() == pytest.approx(ends, abs=0.2 * exact)
    apart = np.hypot(*(loss.mean(axis=0).std() / np.sqrt(150) for loss in losses))
    assert apart > 2 * row["brier_se"], "twin: methods scored on items of their own"


def test_subjects_weigh_as_much_as_they_succeed():
    y = np.zeros((2, 100), dtype=int)
    y[0, ::10], y[1, 10:] = 1, 1  # success rates of 0.1 and 0.9
    first, _, held = compared(y, resamples=5)
    found = held.differences(weights="success").loc["first"]
    losses, areas = ((first - y) ** 2).mean(axis=1), held.per_subject("auroc")["first"]
    assert found["brier"] == pytest.approx(0.1 * losses[0] + 0.9 * losses[1])
    assert found["auroc"] == pytest.approx(0.1 * areas["s0"] + 0.9 * areas["s1"])
    assert held.differences().loc["first", "brier"] == pytest.approx(losses.mean()), "twin"
    with pytest.raises(FitError, match="weights='trials'; give 'success'"):
        held.differences(weights="trials")


# --- groups and calibration ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def grouped():
    rng = np.random.default_rng(7)
    items = pd.DataFrame({"kind": np.where(np.arange(120) % 3 == 0, "short", "long")})
    items = items.rename("q{}".format)
    trials = pd.DataFrame(rng.integers(0, 4, (5, 120)), list("abcde"), items.index)
    known = ml.Evaluation(items, (trials * rng.random(trials.shape)).round().astype(int), trials)
    methods = {"mean": "aggregate", "told": Known(trials * 0 + rng.uniform(0.1, 0.9, 120))}
    return known, cross_validate(methods, known, split=Items(folds=2), **QUIET)


def test_scores_of_groups_are_those_of_their_cells(grouped):
    known, held = grouped
    table = held.by(known.items["kind"])
    assert set(table.index.get_level_values("group")) == {"short", "long"}
    for (group, method), row in table.iterrows():
        cells = held.predictions[held.predictions["method"] == method]
        cells = cells[known.items["kind"].loc[cells["item"]].to_numpy() == group]
        p, won, tried = (cells[name].to_numpy() for name in ("probability", "successes", "trials"))
        assert row["trials"] == tried.sum()
        assert row["gap"] == pytest.approx((p * tried).sum() / tried.sum() - row["success"])
        assert row["forecast"] == pytest.approx((p * tried).sum() / tried.sum())
        assert row["brier"] == pytest.approx(scores_in_groups(p, won, tried - won)["brier"][0])
    assert list(held.by("subject").xs("told", level="method").index) == known.subjects


# --- nobody looks at what is held out ------------------------------------------------------------


class Leaky:
    """Twin of an honest assessor: it knows everything."""

    def __init__(self, evaluation):
        self.known = Known(evaluation.successes / evaluation.trials)

    def predict(self, training, cells, *, seed):
        return self.known.predict(training, cells, seed=seed)


LEVELS = ["logic", "memory"]
SIZES = GridSearchCV(RandomForestClassifier(9), {"min_samples_split": [2, 50]}, cv=2)
HONEST = {
    "forest": Estimator(RandomForestClassifier(9), LEVELS),
    "forest of several sizes": Estimator(SIZES, LEVELS),
    "universal": Estimator(RandomForestClassifier(9), LEVELS, pooled=True),
    "regression": Estimator("logistic", LEVELS),
    "rasch": Estimator("rasch"),
    "explanatory": Estimator("explanatory", LEVELS),
    "algebraic": ml.validation.Algebraic(LEVELS, "guess"),
    "layout": FittedLayout(
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


@pytest.mark.parametrize("name", [*HONEST, "leaky"])
def test_no_assessor_sees_the_outcomes_it_predicts(name):
    """Turned round where they are held out, outcomes change no prediction there; elsewhere they
    do. Twin: an assessor that knows everything.
    """
    plan = drawn(Items(folds=2), levelled(), repeats=1, seed=3)
    held_out, rest = (list(fold.held_out(levelled())["item"].unique()) for _, _, fold in plan)
    tables = []
    for evaluation in (levelled(), levelled(held_out)):
        assessor = HONEST[name] if name in HONEST else Leaky(evaluation)
        held = cross_validate({"one": assessor}, evaluation, **FEW | {"resamples": 2})
        tables.append(predictions(held, "one"))
    one, two = tables
    assert one[held_out].equals(two[held_out]) == (name != "leaky")
    assert np.isclose(one[rest], two[rest]).all() == (name == "leaky")


# --- layouts, and methods of one number ----------------------------------------------------------


def test_a_layout_is_fitted_to_the_same_folds(evaluation):
    options = {"draws": 50, "tune": 100, "chains": 2}
    held = cross_validate({"joined": FittedLayout(layout(), **options)}, evaluation, **FEW)
    held_out = held.predictions.query("fold == 1")["item"].tolist()
    training = masked(evaluation, held_out)
    fit = ml.fit(layout(), training, reruns=0, seed=3, progressbar=False, **options)
    expected = fit.forecast(evaluation.items.loc[held_out]).data["mean"].to_numpy()
    np.testing.assert_array_equal(predictions(held, "joined")[held_out], expected)
    told = held.convergence
    assert told[["method", "repeat", "fold", "subject"]].to_numpy().tolist() == [
        ["joined", 0, fold, "Ann"] for fold in (0, 1)
    ]
    bad = told["status"].isin(["not converged", "failed"]).sum()
    assert f"fits of joined  {bad} of 2 fits not converged" in str(held)


def test_a_subject_that_could_not_be_sampled_is_left_out(evaluation, monkeypatch):
    twice = ml.Evaluation.from_wide(
        pd.concat([evaluation.successes, evaluation.successes.rename({"Ann": "Bob"})]),
        evaluation.items,
    )
    real, fits = layouts.fit, []

    def lose_bob(layout, training, **options):
        fits.append(real(layout, training, subjects=["Ann", "Bob"][: 2 - len(fits)], **options))
        return fits[-1]

    monkeypatch.setattr(layouts, "fit", lose_bob)
    methods = {"joined": FittedLayout(layout(), draws=20, tune=50), "mean": "aggregate"}
    held = cross_validate(methods, twice, **FEW)
    missing = held.predictions[held.predictions["probability"].isna()]
    assert set(missing["subject"]) == {"Bob"}
    assert set(missing["fold"]) == {1}
    assert held.differences()["brier"].notna().all()


# --- refused before anything is fitted -----------------------------------------------------------


@pytest.mark.parametrize(
    ("methods", "options", "error", "message"),
    [
        ({}, {}, DataError, "there are no methods"),
        (["aggregate", "aggregate"], {}, DataError, "give each a name of its own"),
        ([Estimator("rasch")], {}, DataError, "give each a name of its own"),
        (["mean"], {}, DataError, "mean:"),
        ({"more": Estimator("forest", ["hue"])}, {}, DataError, "more:"),
        ({"more": 3}, {}, DataError, "more:"),
        ({"more": LinearRegression()}, {}, DataError, "more:"),
        (SETS, {"resamples": 1}, FitError, "resamples=1; give"),
        (SETS, {"prob": 90}, FitError, "prob=90; give"),
        (SETS, {"seed": "one"}, FitError, "seed='one'; give"),
    ],
)
def test_what_is_refused(evaluation, monkeypatch, methods, options, error, message):
    monkeypatch.setattr(running, "predicted", None)
    with pytest.raises(error, match=message):
        cross_validate(methods, evaluation, **FEW | options)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda count: 0.5, "one:"),
        (lambda count: np.ones(count - 1), r"shape \(119,\) for 120"),
        (lambda count: np.full(count, 1.5), "not a probability on q"),
    ],
)
def test_predictions_that_are_none(evaluation, answer, message):
    class Odd:
        def predict(self, training, cells, *, seed):
            return answer(len(cells))

    with pytest.raises(DataError, match=message):
        cross_validate({"one": Odd()}, evaluation, **FEW)
