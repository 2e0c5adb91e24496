"""Baselines: scikit-learn's own numbers, counts as weights, models of all subjects together."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

import measurement_layouts as ml
from measurement_layouts import DataError
from measurement_layouts.validation import Estimator, masked

COLUMNS = ["size", "distance"]
HELD_OUT = ["q4", "q7", "q9"]


@pytest.fixture
def counted(rng):
    """Forty items, two subjects, several trials; Bob left some items out."""
    items = pd.DataFrame(rng.normal(size=(40, 2)), columns=COLUMNS).rename(index="q{}".format)
    made = {"index": ["Ann", "Bob"], "columns": items.index}
    trials = pd.DataFrame(rng.integers(2, 9, (2, 40)), **made)
    trials.iloc[1, :3] = 0
    chance = 1 / (1 + np.exp(-3 * items["size"].to_numpy()))
    return ml.Evaluation(items, pd.DataFrame(rng.binomial(trials, chance), **made), trials)


def predicted(estimator, training, items=HELD_OUT, seed=1):
    """Predict all subjects on some items, as a table."""
    pairs = pd.MultiIndex.from_product([training.subjects, items], names=["subject", "item"])
    chances = estimator.predict(training, pairs.to_frame(index=False), seed=seed)
    return pd.Series(chances, pairs).unstack("item").loc[training.subjects, items]


def single_trials(training, subject):
    """Rows and outcomes of a subject, a row for each trial, successes first."""
    won, tried = (t.loc[subject].to_numpy() for t in (training.successes, training.trials))
    rows = training.items.to_numpy()
    both = np.concatenate([np.repeat(rows, won, axis=0), np.repeat(rows, tried - won, axis=0)])
    return both, np.repeat([1, 0], [won.sum(), (tried - won).sum()])


@pytest.mark.parametrize(
    ("given", "exact", "tolerance"),
    [
        ("logistic", LogisticRegression(tol=1e-10, max_iter=10_000), 1e-5),
        (KNeighborsClassifier(3), KNeighborsClassifier(3), 0),  # it takes no weights
        (make_pipeline(KNeighborsClassifier(3)), KNeighborsClassifier(3), 0),
    ],
)
def test_models_are_scikit_learns_of_single_trials(counted, given, exact, tolerance):
    training = masked(counted, HELD_OUT)
    found = predicted(Estimator(given, COLUMNS), training)
    for subject in training.subjects:
        model = exact.fit(*single_trials(training, subject))
        expected = model.predict_proba(counted.items.loc[HELD_OUT].to_numpy())[:, 1]
        np.testing.assert_allclose(found.loc[subject], expected, rtol=0, atol=tolerance)


def test_forests_are_scikit_learns_with_the_seed(counted):
    once = ml.Evaluation(
        counted.items, (counted.successes > 2).astype(int), (counted.trials > 0).astype(int)
    )
    training = masked(once, HELD_OUT)
    weighted = {"forest": True, RandomForestClassifier(): True}
    for given, weigh in (weighted | {make_pipeline(RandomForestClassifier()): False}).items():
        found = predicted(Estimator(given, COLUMNS), training, seed=3)
        for subject in training.subjects:
            forest = RandomForestClassifier(random_state=3)
            rows, outcomes = single_trials(training, subject)
            forest.fit(rows, outcomes, np.ones(len(rows)) if weigh else None)
            expected = forest.predict_proba(counted.items.loc[HELD_OUT].to_numpy())[:, 1]
            np.testing.assert_array_equal(found.loc[subject], expected)
    other = predicted(Estimator("forest", COLUMNS), training, seed=2)
    assert not other.equals(found)


def test_one_class_and_no_columns_give_the_mean(counted):
    sure = masked(ml.Evaluation(counted.items, counted.trials, counted.trials), HELD_OUT)
    assert (predicted(Estimator("logistic", COLUMNS), sure) == 1).all(axis=None)
    assert (predicted(Estimator("rasch"), sure) == 1).all(axis=None)
    training = masked(counted, HELD_OUT)
    mean = predicted(Estimator("aggregate"), training)
    assert predicted(Estimator("logistic"), training).equals(mean)


def test_texts_go_to_a_pipeline(rng):
    """Words of training items only; the twin knows the held-out words as well."""
    words = rng.choice(["add one", "add two", "name a city", "name a river"], 60)
    texts = [f"{text} item{number}" for number, text in enumerate(words)]
    items = pd.DataFrame({"question": texts}).rename(index="q{}".format)
    right = pd.DataFrame([[text.startswith("add") for text in texts]], ["Ann"], items.index)
    training = masked(ml.Evaluation.from_wide(right.astype(int), items), HELD_OUT)
    model = make_pipeline(TfidfVectorizer(), LogisticRegression())
    found = predicted(Estimator(model, "question"), training)
    rest = ~items.index.isin(HELD_OUT)
    exact = model.fit(items["question"][rest], right.loc["Ann", rest])
    expected = exact.predict_proba(items["question"][HELD_OUT])[:, 1]
    np.testing.assert_allclose(found.loc["Ann"], expected, atol=1e-4)
    assert ((found.loc["Ann"] > 0.5) == right.loc["Ann", HELD_OUT]).all()


def most_likely(won, tried, item_columns, people_columns):
    """Maximise the likelihood with normal priors of variance 1 by SciPy."""
    people, tasks = (
        np.column_stack([np.eye(count), *columns])
        for count, columns in zip(won.shape, (people_columns, item_columns), strict=True)
    )
    cut = people.shape[1]

    def margin(values):
        return (people @ values[:cut])[:, None] + tasks @ values[cut:-1] + values[-1]

    def loss(values):
        likely = won * np.log(expit(margin(values)))
        unlikely = (tried - won) * np.log(expit(-margin(values)))
        return (values[:-1] ** 2).sum() / 2 - likely.sum() - unlikely.sum()

    start = np.zeros(cut + tasks.shape[1] + 1)
    return expit(margin(minimize(loss, start, options={"gtol": 1e-6}).x))


def test_pooled_models_are_the_most_likely_values(rng):
    """With missing cells, several trials, and a new item; the explanatory one knows its size."""
    items = pd.DataFrame({"size": rng.normal(3, 2, 9)}).rename(index="q{}".format)
    people = pd.DataFrame({"age": rng.normal(30, 9, 6), "school": ["a", "b"] * 3}, list("abcdef"))
    tried = rng.integers(0, 4, (6, 9)) * (np.arange(9) > 0)
    won = rng.binomial(tried, expit(rng.normal(size=(6, 1)) + rng.normal(size=9)))
    tables = (pd.DataFrame(table, people.index, items.index) for table in (won, tried))
    training = ml.Evaluation(items, *tables, subjects=people)
    size = items["size"].to_numpy()
    age = (people["age"] - people["age"].mean()) / people["age"].std(ddof=0)
    columns = [(size - size[1:].mean()) / size[1:].std()], [age, np.tile(np.eye(2), (3, 1))]
    exact = {
        "rasch": most_likely(won, tried, [], []),
        "explanatory": most_likely(won, tried, *columns),
    }
    found = {name: predicted(Estimator(name, ["size"]), training, ["q0", "q5"]) for name in exact}
    for name, chances in exact.items():
        np.testing.assert_allclose(found[name], chances[:, [0, 5]], atol=1e-4)
    assert np.abs(found["rasch"] - exact["explanatory"][:, [0, 5]]).max(axis=None) > 0.01, "twin"


def test_graded_outcomes_have_a_model_for_each_step(rng):
    layout = ml.Layout("essays", ml.Graded("grade", ml.Capability("skill", low=0, high=1)))
    items = pd.DataFrame({"size": rng.normal(size=30)}, [f"q{k}" for k in range(30)])
    grades = pd.DataFrame(rng.integers(0, 3, (2, 30)), ["Ann", "Bob"], items.index)
    training = masked(ml.Evaluation.of_outcomes(layout, {"grade": grades}, items), HELD_OUT)
    rows = training.rows_of(HELD_OUT)
    found = predicted(Estimator("logistic", ["size"]), training, rows).to_numpy()
    assert (found[:, 1::2] <= found[:, ::2]).all()
    rest = ~items.index.isin(HELD_OUT)
    first = LogisticRegression(tol=1e-10).fit(items[rest], grades.loc["Bob", rest] >= 1)
    np.testing.assert_allclose(
        found[1, ::2], first.predict_proba(items.loc[HELD_OUT])[:, 1], atol=1e-4
    )
    with pytest.raises(DataError, match="the item as a column takes 0/1 outcomes of items"):
        predicted(Estimator("rasch"), training, rows)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Estimator("mean"), "there is no baseline"),
        (lambda: Estimator(LinearRegression()), "a LinearRegression does not"),
        (lambda: Estimator("forest", ["size", "size"]), "size"),
    ],
)
def test_what_is_no_estimator(make, message):
    with pytest.raises(DataError, match=message):
        make()


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (["hue"], "the items have no column hue"),
        (["size"], "predicts from finite"),
        (["colour"], "q0 on colour:"),
    ],
)
def test_properties_that_cannot_be_read(counted, columns, message):
    items = counted.items.assign(size=[np.inf, *counted.items["size"][1:]], colour="red")
    with pytest.raises(DataError, match=message):
        Estimator("logistic", columns).check(items)
