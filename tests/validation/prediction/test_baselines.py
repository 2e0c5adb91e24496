"""Baselines: closed forms, counts as weights, and no look at what is held out."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

import measurement_layouts as ml
from measurement_layouts import DataError
from measurement_layouts.validation.prediction.baselines import per_subject
from measurement_layouts.validation.prediction.splits import masked

COLUMNS = ["size", "distance"]


def aggregate(columns):
    return ml.validation.Aggregate()


def forest(columns):
    return ml.validation.Forest(columns, min_samples_split=2)


def nearest(columns):
    return ml.validation.Classifier(columns, KNeighborsClassifier(3))


MADE = [aggregate, ml.validation.Regression, forest, nearest]


@pytest.fixture
def counted(rng):
    """Twelve items, two subjects, several trials; Bob left some items out."""
    items = pd.DataFrame(rng.normal(size=(12, 2)), columns=COLUMNS).rename(index="q{}".format)
    made = {"index": ["Ann", "Bob"], "columns": items.index}
    trials = pd.DataFrame(rng.integers(2, 9, (2, 12)), **made)
    trials.iloc[1, :3] = 0
    chance = 1 / (1 + np.exp(-3 * items["size"].to_numpy()))
    return ml.Evaluation(items, pd.DataFrame(rng.binomial(trials, chance), **made), trials)


HELD_OUT = ["q4", "q9", "q7"]


def means(baseline, training, columns=COLUMNS, seed=1):
    return baseline(columns).predict(training, HELD_OUT, seed=seed).to_pandas()


def test_masked_takes_outcomes_and_leaves_items(counted):
    training = masked(counted, HELD_OUT)
    assert (training.trials[HELD_OUT] == 0).all(axis=None)
    kept = counted.items.index.difference(HELD_OUT)
    pd.testing.assert_frame_equal(training.trials[kept], counted.trials[kept])
    pd.testing.assert_frame_equal(training.successes[kept], counted.successes[kept])
    pd.testing.assert_frame_equal(training.items, counted.items)
    assert (counted.trials.loc["Ann"] > 0).all()  # the whole is as it was
    with pytest.raises(DataError, match=r"unknown item\(s\): q99"):
        masked(counted, ["q99"])
    with pytest.raises(DataError, match="no outcomes for Ann, Bob"):
        masked(counted, counted.items.index)


def test_the_aggregate_is_the_training_mean(counted):
    training = masked(counted, HELD_OUT)
    found = means(aggregate, training)
    for subject, rate in training.success_rates().items():
        assert found.loc[subject].tolist() == [rate] * 3
    # in closed form: each trial of an outcome y costs (rate - y)^2
    scores = ml.score_forecast(ml.validation.Aggregate().forecast(training, HELD_OUT), counted)
    for subject, rate in training.success_rates().items():
        s = counted.successes.loc[subject, HELD_OUT].sum()
        n = counted.trials.loc[subject, HELD_OUT].sum()
        exact = (s * (1 - rate) ** 2 + (n - s) * rate**2) / n
        assert scores.loc[subject, "brier"] == pytest.approx(exact, abs=1e-12)


def test_counts_are_weights(counted):
    """The same as every trial in a row of its own, to the tolerance of the fit (1e-4)."""
    training = masked(counted, HELD_OUT)
    found = means(ml.validation.Regression, training)
    test = counted.items.loc[HELD_OUT].to_numpy()
    for subject in training.subjects:
        s, n = (t.loc[subject].to_numpy() for t in (training.successes, training.trials))
        rows = np.repeat(counted.items.to_numpy(), n, axis=0)
        single = np.concatenate([np.arange(k) < y for y, k in zip(s, n, strict=True)])
        exact = LogisticRegression().fit(rows, single).predict_proba(test)[:, 1]
        assert np.abs(found.loc[subject] - exact).max() < 1e-3
        once = LogisticRegression().fit(counted.items.to_numpy()[n > 0], 2 * s[n > 0] > n[n > 0])
        unweighted = once.predict_proba(test)[:, 1]
        assert np.abs(found.loc[subject] - unweighted).max() > 0.01  # twin that must fail


def test_outcomes_of_one_class_and_no_columns_are_forecast_by_the_mean(counted):
    sure = ml.Evaluation(counted.items, counted.trials, counted.trials)
    for baseline in MADE[1:]:
        assert (means(baseline, masked(sure, HELD_OUT)) == 1).all(axis=None)
        training = masked(counted, HELD_OUT)
        assert means(baseline, training, []).equals(means(aggregate, training))


def test_forests_follow_the_seed(counted):
    training = masked(counted, HELD_OUT)
    assert means(forest, training).equals(means(forest, training))
    assert not means(forest, training).equals(means(forest, training, seed=2))


def test_a_baseline_is_given_the_training_rows_of_one_subject(counted):
    seen = []

    def spy(train, successes, trials, test, seed):
        seen.append((train, successes, trials, test, seed))
        return np.full(len(test), 0.5)

    training = masked(counted, HELD_OUT)
    per_subject(spy, training, HELD_OUT, COLUMNS, seed=7, who="spy")
    seen.sort(key=lambda given: -len(given[0]))  # Bob left some out
    for subject, (train, successes, trials, test, seed) in zip(counted.subjects, seen, strict=True):
        used = training.trials.columns[training.trials.loc[subject] > 0]
        assert train.tolist() == counted.items.loc[used].to_numpy().tolist()
        assert successes.tolist() == counted.successes.loc[subject, used].tolist()
        assert trials.tolist() == counted.trials.loc[subject, used].tolist()
        assert test.tolist() == counted.items.loc[HELD_OUT].to_numpy().tolist()
        assert seed == 7


@pytest.mark.parametrize("baseline", MADE)
def test_held_out_outcomes_change_nothing(counted, baseline):
    turned = counted.successes.copy()
    turned[HELD_OUT] = (counted.trials - counted.successes)[HELD_OUT]
    other = ml.Evaluation(counted.items, turned, counted.trials)
    one, two = (means(baseline, masked(data, HELD_OUT)) for data in (counted, other))
    assert one.equals(two)


def test_outcomes_of_the_items_to_be_forecast_are_refused(counted):
    """Twin of the above: whoever forgets to mask is caught, for a single item too."""
    with pytest.raises(DataError, match="aggregate: q4, q9, q7 are to be forecast, but have train"):
        means(aggregate, counted)
    with pytest.raises(DataError, match="aggregate: q9 are to be forecast"):
        means(aggregate, masked(counted, ["q4", "q7"]))


def test_properties_that_cannot_be_predicted_from(counted):
    training = masked(counted, HELD_OUT)
    with pytest.raises(DataError, match="the items have no column colour"):
        means(ml.validation.Regression, training, ["colour"])
    items = counted.items.assign(size=[np.inf, *counted.items["size"][1:]], colour="red")
    odd = ml.Evaluation(items, training.successes, training.trials)
    with pytest.raises(DataError, match=r"predicts from finite numbers, .* q0 on size: inf; give"):
        means(ml.validation.Regression, odd)
    with pytest.raises(DataError, match="q0 on colour: 'red'"):
        means(ml.validation.Regression, odd, ["colour"])


def test_columns_of_very_different_scale_converge(counted):
    """No warning: pytest turns warnings into errors."""
    items = counted.items * [1e4, 1e-3] + [3e5, 0]
    means(
        ml.validation.Regression,
        masked(ml.Evaluation(items, counted.successes, counted.trials), HELD_OUT),
    )


def test_a_classifier_without_weights_sees_every_trial(counted):
    """Neighbours by hand, of the rows as often as they occur."""
    training = masked(counted, HELD_OUT)
    found = means(nearest, training)
    test = counted.items.loc[HELD_OUT].to_numpy()
    for subject in training.subjects:
        s, n = (t.loc[subject].to_numpy() for t in (training.successes, training.trials))
        rows = counted.items.to_numpy()
        both = np.concatenate([np.repeat(rows, s, axis=0), np.repeat(rows, n - s, axis=0)])
        y = np.repeat([1, 0], [s.sum(), (n - s).sum()])
        exact = KNeighborsClassifier(3).fit(both, y).predict_proba(test)[:, 1]
        assert found.loc[subject].tolist() == exact.tolist()


def test_a_classifier_follows_the_seed_and_must_tell_chances(counted):
    training = masked(counted, HELD_OUT)
    made = ml.validation.Classifier(COLUMNS, RandomForestClassifier())
    own = made.predict(training, HELD_OUT, seed=1)
    assert own.to_pandas().equals(means(forest, training))
    with pytest.raises(DataError, match="a LinearRegression does not predict probabilities"):
        ml.validation.Classifier(COLUMNS, LinearRegression())


def test_a_subjects_own_training_outcomes_are_not_predicted(counted):
    """Cells: Bob attempted q4 and Ann is asked; nobody learns of Bob what he has done."""
    trials = counted.trials.copy()
    trials.loc["Ann", HELD_OUT] = 0
    training = ml.Evaluation(counted.items, counted.successes.where(trials > 0, 0), trials)
    for made in MADE:
        found = means(made, training)
        assert found.loc["Ann"].notna().all()
        assert found.loc["Bob"].isna().all()


@pytest.mark.slow
def test_many_subjects_are_forecast_in_processes_alike(rng):
    """Small tables of many subjects go to processes; each of its own, to the same digits."""
    items = pd.DataFrame(rng.normal(size=(9, 2)), columns=COLUMNS).rename(index="q{}".format)
    wide = pd.DataFrame(rng.integers(0, 2, (60, 9)), [f"s{k}" for k in range(60)], items.index)
    training = masked(ml.Evaluation.from_wide(wide, items), HELD_OUT[:1])
    found = ml.validation.Regression(COLUMNS).predict(training, HELD_OUT[:1], seed=1).to_pandas()
    few = training.select(subjects=list(wide.index[:5]))
    alone = ml.validation.Regression(COLUMNS).predict(few, HELD_OUT[:1], seed=1).to_pandas()
    assert found.loc[few.subjects].equals(alone)
