"""Baselines that pool: the maximum by SciPy, counts, properties, and what is held out."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.special import expit

import measurement_layouts as ml
from measurement_layouts import DataError
from measurement_layouts.validation import Cells, Explanatory, Items, Rasch, cross_validate
from measurement_layouts.validation.prediction.splits import masked


def most_likely(won, tried, item_columns=None, people_columns=None):
    """Maximise the likelihood with normal priors of variance 1 by SciPy, from names as 0 and 1."""
    people, tasks = (
        np.column_stack([np.eye(count), *([] if columns is None else [columns])])
        for count, columns in zip(won.shape, (people_columns, item_columns), strict=True)
    )

    def loss(values):
        abilities, eases = people @ values[: people.shape[1]], tasks @ values[people.shape[1] : -1]
        margin = abilities[:, None] + eases + values[-1]
        likely = won * np.log(expit(margin)) + (tried - won) * np.log(expit(-margin))
        return (values[:-1] ** 2).sum() / 2 - likely.sum()

    best = minimize(loss, np.zeros(people.shape[1] + tasks.shape[1] + 1), options={"gtol": 1e-6}).x
    abilities, eases = people @ best[: people.shape[1]], tasks @ best[people.shape[1] : -1]
    return expit(abilities[:, None] + eases + best[-1])


def standardised(columns):
    return (columns - columns.mean(axis=0)) / columns.std(axis=0)


@pytest.fixture
def study(rng):
    """Sixty items whose size matters, forty subjects whose age does."""
    items = pd.DataFrame({"size": rng.normal(3, 2, 60)}).rename(index="q{}".format)
    names = [f"s{number}" for number in range(40)]
    people = pd.DataFrame({"age": rng.normal(30, 9, 40), "school": ["a", "b"] * 20}, names)
    own = 2 * standardised(people[["age"]].to_numpy()) + 0.5 * rng.normal(size=(40, 1))
    ease = 1.5 * standardised(items[["size"]].to_numpy())
    outcomes = pd.DataFrame(rng.binomial(1, expit(own - ease.T)), names, items.index)
    return ml.Evaluation.from_wide(outcomes, items), people


def with_people(evaluation, people):
    """The same evaluation, with properties of its subjects."""
    return ml.Evaluation(evaluation.items, evaluation.successes, evaluation.trials, subjects=people)


def test_they_are_the_penalised_maximum(rng):
    """Counts of up to four trials, with cells and items that nobody tried."""
    items = pd.DataFrame({"size": rng.normal(3, 2, 9)}).rename(index="q{}".format)
    people = pd.DataFrame({"age": rng.normal(30, 9, 6), "school": ["a", "b"] * 3}, list("uvwxyz"))
    trials = rng.integers(0, 5, (6, 9))
    trials[:, 0] = 0
    won = rng.binomial(trials, expit(rng.normal(size=(6, 1)) + rng.normal(size=9)))
    tables = (pd.DataFrame(table, people.index, items.index) for table in (won, trials))
    training = ml.Evaluation(items, *tables, subjects=people)
    size = items[["size"]].to_numpy()
    size = (size - size[1:].mean()) / size[1:].std()
    of_people = np.column_stack(
        [standardised(people[["age"]].to_numpy()), np.tile(np.eye(2), (3, 1))]
    )
    exact = {Rasch(): most_likely(won, trials)}
    exact[Explanatory(["size"])] = most_likely(won, trials, size, of_people)
    for method, chances in exact.items():
        forecast = method.predict(training, ["q0"], seed=1)
        assert list(forecast["subject"]) == training.subjects
        np.testing.assert_allclose(forecast.to_numpy()[:, 0], chances[:, 0], atol=1e-4)
    blind = Rasch().predict(training, ["q0"], seed=1)
    assert np.abs(blind.to_numpy()[:, 0] - exact[Explanatory(["size"])][:, 0]).max() > 0.01, "twin"


@pytest.mark.parametrize("outcome", [0, 1])
def test_outcomes_that_are_all_alike_are_predicted(outcome):
    names = ["a", "b", "c"]
    outcomes = pd.DataFrame([[outcome, outcome, None]] * 2, ["Ann", "Bob"], names)
    training = ml.Evaluation.from_wide(outcomes, pd.DataFrame(index=names))
    assert (Rasch().predict(training, ["c"], seed=1) == outcome).all()


def test_missing_properties_of_subjects(study):
    """A missing number is the mean, a missing text says nothing."""
    evaluation, people = study
    gone = people.copy()
    gone.iloc[0] = None
    training = masked(evaluation, ["q0"])
    found = Explanatory([]).predict(with_people(training, gone), ["q0"], seed=1)
    assert np.isfinite(found).all()
    gone.loc["s1", "age"] = np.inf
    with pytest.raises(DataError, match=r"but the subjects have s1 on age: inf"):
        Explanatory([]).predict(with_people(training, gone), ["q0"], seed=1)


def test_they_are_named_in_cross_validation(study):
    """New items are told apart by properties alone; on single cells both know the item."""
    evaluation, _ = study
    options = {"seed": 0, "progressbar": False, "repeats": 1}
    methods = ["aggregate", "rasch", "explanatory"]
    items = cross_validate(methods, evaluation, split=Items(), **options)
    cells = cross_validate(methods, evaluation, split=Cells(), **options)
    briers = [found.summary()["mean"] for found in (items, cells)]
    assert briers[0]["explanatory"] < briers[0]["rasch"] - 0.02
    assert briers[1]["rasch"] < briers[1]["aggregate"] - 0.02
    assert briers[1]["explanatory"] < briers[1]["rasch"]
    remarks = items.scores.groupby("method")["remark"].first()
    assert "one number for all items" in remarks["rasch"]
    assert "one number for all items" not in remarks["explanatory"]
    assert items.scores.query("method == 'rasch'")["auroc"].isna().all()


def test_properties_of_subjects_reach_it_through_the_folds(study):
    """Ages decide half of the outcomes; the twin's ages are somebody else's."""
    evaluation, people = study
    few = evaluation.select(items=evaluation.items.index[:8])
    mixed = people.sample(frac=1, random_state=1).set_axis(people.index)
    briers = [
        cross_validate(
            ["rasch", "explanatory"], with_people(few, own), split="cells", progressbar=False
        )
        .summary()["mean"]
        .diff()["explanatory"]
        for own in (people, mixed)
    ]
    assert briers[0] < -0.01
    assert briers[1] > briers[0] + 0.01


def test_seen_items_and_unreadable_ones_are_refused(study):
    evaluation, _ = study
    for method, name in ((Rasch(), "Rasch"), (Explanatory(["size"]), "explanatory")):
        with pytest.raises(DataError, match=f"{name} model: q1 are to be forecast, but have"):
            method.predict(evaluation, ["q1"], seed=1)
    sizes = evaluation.items.assign(size="big")
    broken = ml.Evaluation(sizes, evaluation.successes, evaluation.trials)
    with pytest.raises(DataError, match="explanatory: a baseline predicts from finite numbers"):
        cross_validate({"explanatory": "explanatory"}, broken, columns=["size"])


def test_steps_are_refused():
    layout = ml.Layout("essays", ml.Graded("grade", ml.Capability("skill", low=0, high=1)))
    items = pd.DataFrame({"size": [1.0, 2.0]}, ["a", "b"])
    grades = pd.DataFrame([[1, 2]], ["Ann"], items.index)
    evaluation = ml.Evaluation.of_outcomes(layout, {"grade": grades}, items)
    for method, name in ((Rasch(), "a Rasch"), (Explanatory(["size"]), "an explanatory")):
        with pytest.raises(DataError, match=f"{name} model takes 0/1 outcomes of items"):
            method.predict(evaluation, ["a"], seed=1)
