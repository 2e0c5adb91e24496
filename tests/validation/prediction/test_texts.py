"""Assessors of texts: scikit-learn's numbers, an encoder that counts its calls, what is refused."""

import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

import measurement_layouts as ml
from measurement_layouts import DataError
from measurement_layouts.validation import TextClassifier, cross_validate

SUMS = ("add", "subtract", "multiply", "divide")
PLACES = ("river", "city", "mountain", "desert")
FEW = {"split": ml.validation.Items(folds=2), "resamples": 20, "seed": 3, "progressbar": False}


class Letters:
    """Embed a text by its length and its number of vowels; remember what was asked."""

    def __init__(self):
        self.asked = []

    def encode(self, texts):
        self.asked += texts
        vowels = [sum(text.count(vowel) for vowel in "aeiou") for text in texts]
        return np.column_stack([[len(text) for text in texts], vowels])


@pytest.fixture(scope="module")
def evaluation():
    """Ann can reckon and Bob knows places, nine times in ten."""
    rng = np.random.default_rng(1)
    sums = rng.random(160) < 0.5
    words = np.where(sums, rng.choice(SUMS, 160), rng.choice(PLACES, 160))
    numbers = rng.choice(["one", "two", "three"], 160)
    texts = [
        f"{word} {number} item {place}"
        for place, (word, number) in enumerate(zip(words, numbers, strict=True))
    ]
    items = pd.DataFrame({"question": texts, "hour": rng.normal(size=160)})
    items.index = [f"q{number}" for number in range(160)]
    right = sums ^ (rng.random(160) < 0.1)
    outcomes = pd.DataFrame([right, ~right], ["Ann", "Bob"], items.index)
    return ml.Evaluation.from_wide(outcomes.astype(int), items)


def split_in_two(evaluation):
    items = evaluation.items.index
    return ml.validation.masked(evaluation, items[120:]), list(items[:120]), list(items[120:])


def test_words_are_scikit_learns_and_of_training_items_only(evaluation):
    training, train, test = split_in_two(evaluation)
    found = TextClassifier("question").predict(training, test, seed=1).sel(subject="Ann")
    texts, right = evaluation.items["question"], evaluation.successes.loc["Ann"]
    words = TfidfVectorizer().fit(texts[train])
    line = LogisticRegression(max_iter=10_000).fit(words.transform(texts[train]), right[train])
    expected = line.predict_proba(words.transform(texts[test]))[:, 1]
    np.testing.assert_allclose(found, expected, atol=1e-4)  # rows come in another order
    everything = TfidfVectorizer().fit(texts)  # twin: words of the held-out items count, too
    line.fit(everything.transform(texts[train]), right[train])
    leaked = line.predict_proba(everything.transform(texts[test]))[:, 1]
    assert np.abs(leaked - expected).max() > 1e-3


def test_words_foresee_what_they_tell_and_chance_where_texts_are_mixed(evaluation):
    boosted = TextClassifier("question", model=GradientBoostingClassifier(n_estimators=20))
    methods = {"words": TextClassifier("question"), "boosted": boosted, "line": "logistic"}
    found = cross_validate(methods, evaluation, columns=["hour"], **FEW)
    areas = found.summary("auroc")["mean"]
    assert areas["words"] > 0.8
    assert areas["boosted"] > 0.8
    assert abs(areas["line"] - 0.5) < 0.15
    mixed = evaluation.items.assign(question=evaluation.items["question"].to_numpy()[::-1])
    other = ml.Evaluation(mixed, evaluation.successes, evaluation.trials)
    twin = cross_validate({"words": TextClassifier("question")}, other, **FEW)
    assert abs(twin.summary("auroc").loc["words", "mean"] - 0.5) < 0.2


def test_an_encoder_embeds_each_text_once(evaluation):
    letters = Letters()
    method = TextClassifier("question", letters)
    cross_validate({"letters": method}, evaluation, **FEW)
    assert sorted(letters.asked) == sorted(evaluation.items["question"])
    training, train, test = split_in_two(evaluation)
    found = method.predict(training, test, seed=1).sel(subject="Bob")
    rows = pd.DataFrame(Letters().encode(list(evaluation.items["question"])))
    rows.index = evaluation.items.index
    line = LogisticRegression(max_iter=10_000)
    line.fit(rows.loc[train], evaluation.successes.loc["Bob", train])
    np.testing.assert_allclose(found, line.predict_proba(rows.loc[test])[:, 1], atol=1e-3)
    assert len(letters.asked) == 160


def test_a_model_is_loaded_by_its_name(evaluation, monkeypatch):
    """A stand-in for sentence-transformers; no real model has been met here."""
    loaded = []

    def load(name):
        loaded.append(name)
        return Letters()

    library = SimpleNamespace(SentenceTransformer=load)
    monkeypatch.setitem(sys.modules, "sentence_transformers", library)
    training, _, test = split_in_two(evaluation)
    by_name = TextClassifier("question", "all-MiniLM-L6-v2").predict(training, test, seed=1)
    assert loaded == ["all-MiniLM-L6-v2"]
    by_hand = TextClassifier("question", Letters()).predict(training, test, seed=1)
    np.testing.assert_array_equal(by_name, by_hand)


def test_a_name_without_the_library_says_what_to_install(evaluation, monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    method = {"named": TextClassifier("question", "all-MiniLM-L6-v2")}
    with pytest.raises(DataError, match=r"named: this needs sentence-transformers.*\[text\]"):
        cross_validate(method, evaluation, **FEW)


def test_texts_can_be_shuffled(evaluation):
    found = ml.validation.permutation_importance(
        {"words": TextClassifier("question")}, evaluation, repeats=1, progressbar=False
    )
    assert found.table.loc[0, "importance"] > 0.1


@pytest.mark.parametrize(
    ("cells", "says"),
    [
        ([1.0, 2.0], "has no text for a, b"),
        (["why", None], "has no text for b"),
        (["why", ""], "has no text for b"),
        (["x", "?"], "no text in column 'question' has a word of two letters"),
    ],
)
def test_items_without_texts_are_refused(cells, says):
    items = pd.DataFrame({"question": pd.Series(cells, ["a", "b"], dtype=object)})
    with pytest.raises(DataError, match=says):
        TextClassifier("question").check(items)


def test_what_encodes_or_classifies_nothing_is_refused(evaluation):
    with pytest.raises(DataError, match="has no method encode"):
        TextClassifier("question", 5)
    with pytest.raises(DataError, match="does not predict probabilities"):
        TextClassifier("question", model=5)
    short = SimpleNamespace(encode=lambda texts: np.zeros(len(texts)))
    training, _, test = split_in_two(evaluation)
    with pytest.raises(DataError, match=r"shape \(160,\) for 160 texts; it must return"):
        TextClassifier("question", short).predict(training, test, seed=1)
