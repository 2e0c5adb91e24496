"""Scoring forecasts: by name, on unseen outcomes only."""

import numpy as np
import pandas as pd
import pytest

import measurement_layouts as ml
from measurement_layouts import DataError
from measurement_layouts.validation.prediction.scoring_rules import scores_in_groups

COLUMNS = [
    *("trials", "success", "brier", "calibration", "refinement", "remainder"),
    *("log_score", "auroc", "ece", "outside_training", "remark"),
]


@pytest.fixture
def outcomes(animal_ai, new_items):
    """Counts on the new items; the second subject attempted two of them."""
    rng = np.random.default_rng(4)
    made = {"index": ["Ann", "Bob", "Eve"], "columns": new_items.index}
    trials = pd.DataFrame(rng.integers(1, 5, (3, 7)), **made)
    trials.iloc[1, 2:] = 0
    return ml.Evaluation(new_items, pd.DataFrame(rng.binomial(trials, 0.5), **made), trials)


def test_scores_are_those_of_the_forecast_means(fitted, new_items, outcomes):
    forecast = fitted.forecast(new_items)
    table = ml.score_forecast(forecast, outcomes)
    assert table.columns.tolist() == COLUMNS
    assert table.index.tolist() == ["Ann", "Bob"]  # whom both know
    for subject in table.index:
        p = forecast.data["mean"].sel(subject=subject).to_numpy()
        counts = [t.loc[subject].to_numpy() for t in (outcomes.successes, outcomes.trials)]
        won, trials = counts
        exact = scores_in_groups(p, won, trials - won)
        for name, values in exact.items():
            assert table.loc[subject, name] == pytest.approx(values[0], abs=1e-12)
        assert table.loc[subject, "remark"] == ""


def test_items_and_subjects_are_joined_by_name(fitted, new_items, outcomes):
    table = ml.score_forecast(fitted.forecast(new_items), outcomes)
    turned = outcomes.select(items=new_items.index[::-1], subjects=["Eve", "Bob", "Ann"])
    part = fitted.forecast(new_items.iloc[[6, 0, 3, 1, 2, 5, 4]], subjects=["Bob", "Ann"])
    again = ml.score_forecast(part, turned).loc[table.index]
    # sums in another order: rounding of a few dozen terms
    pd.testing.assert_frame_equal(again, table, rtol=1e-12)


# --- leaks ---------------------------------------------------------------------------------------


def test_training_outcomes_are_refused(fitted, cohort, items):
    with pytest.raises(
        DataError,
        match=r"132 outcome\(s\) to be scored were trained on: item-00 \(Ann\), .* and 127 more; "
        "forecast items held out from the fit, give other items other names, or pass tr",
    ):
        ml.score_forecast(fitted.forecast(items), cohort)


def test_a_single_leak_is_found(fitted, cohort, new_items, items, outcomes):
    mixed = pd.concat([new_items, items.loc[["item-07"]]])
    table = pd.DataFrame(1, index=["Ann"], columns=mixed.index)
    with pytest.raises(DataError, match=r"1 outcome.* trained on: item-07 \(Ann\);"):
        ml.score_forecast(fitted.forecast(mixed), ml.Evaluation.from_wide(table, mixed))


def test_an_item_that_only_another_subject_attempted_is_no_leak(fitted, cohort, items):
    """Dot left every other item out; Ann's having done them teaches nothing about Dot."""
    unseen = cohort.trials.columns[cohort.trials.loc["Dot"] == 0]
    later = cohort.select(items=unseen, subjects=["Ann", "Bob", "Cyd", "ace", "nil"])
    dot = pd.DataFrame(1, index=["Dot"], columns=unseen)
    own = ml.Evaluation.from_wide(dot, items.loc[unseen])
    assert ml.score_forecast(fitted.forecast(items), own).loc["Dot", "trials"] == 12
    with pytest.raises(DataError, match=r"60 outcome\(s\) to be scored were trained on"):
        ml.score_forecast(fitted.forecast(items), later)


# --- nothing to score ----------------------------------------------------------------------------


def test_no_common_names(fitted, new_items, outcomes):
    forecast = fitted.forecast(new_items)
    with pytest.raises(DataError, match=r"share 0 subjects and 7 items; give both the same names"):
        ml.score_forecast(forecast, outcomes.select(subjects=["Eve"]))
    renamed = ml.Evaluation(
        new_items.rename(index=str.upper),
        outcomes.successes.rename(columns=str.upper),
        outcomes.trials.rename(columns=str.upper),
    )
    with pytest.raises(DataError, match="share 2 subjects and 0 items"):
        ml.score_forecast(forecast, renamed)


def test_rows_without_names_are_recognised_by_their_properties(animal_ai, items, cohort):
    """Twin: other rows of the same numbers are new."""
    numbered = cohort.items.reset_index(drop=True)
    tables = (table.set_axis(numbered.index, axis=1) for table in (cohort.successes, cohort.trials))
    training = ml.Evaluation(numbered, *tables).select(subjects=["Ann"])
    fit = ml.fit(animal_ai, training, draws=20, tune=50, chains=2, seed=1, progressbar=False)
    with pytest.raises(DataError, match="were trained on"):
        ml.score_forecast(fit.forecast(training.items), training)
    other = training.items.assign(rewardDistance=training.items["rewardDistance"] + 0.01)
    new = ml.Evaluation(other, training.successes, training.trials)
    assert len(ml.score_forecast(fit.forecast(other), new)) == 1
