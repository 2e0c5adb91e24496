"""Scoring forecasts: by name, on unseen outcomes only."""

import numpy as np
import pandas as pd
import pytest

import measurement_layouts as ml
from measurement_layouts import DataError
from measurement_layouts.validation.prediction import scoring_rules as scoring
from measurement_layouts.validation.prediction.over_success import by_subject, smooth, trend
from measurement_layouts.validation.prediction.score import matched

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
        row = table.loc[subject]
        assert row["trials"] == counts[1].sum()
        assert row["success"] == counts[0].sum() / counts[1].sum()
        assert row["brier"] == scoring.brier(p, *counts)
        assert row["log_score"] == scoring.log_score(p, *counts)
        assert row["auroc"] == scoring.auroc(p, *counts)
        assert row["ece"] == scoring.expected_calibration_error(p, *counts)
        parts = row["calibration"] + row["refinement"] + row["remainder"]
        assert row["brier"] == pytest.approx(parts, abs=1e-12)
        assert row["remark"] == ""


def test_items_and_subjects_are_joined_by_name(fitted, new_items, outcomes):
    table = ml.score_forecast(fitted.forecast(new_items), outcomes)
    turned = outcomes.select(items=new_items.index[::-1], subjects=["Eve", "Bob", "Ann"])
    part = fitted.forecast(new_items.iloc[[6, 0, 3, 1, 2, 5, 4]], subjects=["Bob", "Ann"])
    again = ml.score_forecast(part, turned).loc[table.index]
    # sums in another order: rounding of a few dozen terms
    pd.testing.assert_frame_equal(again, table, rtol=1e-12)


def test_a_forecast_of_some_subjects(fitted, new_items, outcomes):
    whole = ml.score_forecast(fitted.forecast(new_items), outcomes)
    part = ml.score_forecast(fitted.forecast(new_items, subjects=["Bob"]), outcomes)
    pd.testing.assert_frame_equal(part, whole.loc[["Bob"]])


# --- leaks ---------------------------------------------------------------------------------------


def test_training_outcomes_are_refused(fitted, cohort, items):
    with pytest.raises(
        DataError,
        match=r"132 outcome\(s\) to be scored were trained on: item-00 \(Ann\), .* and 127 more; "
        "forecast items held out from the fit, or pass training_items=True",
    ):
        ml.score_forecast(fitted.forecast(items), cohort)


def test_a_single_leak_is_found(fitted, cohort, new_items, items, outcomes):
    mixed = pd.concat([new_items, items.loc[["item-07"]]])
    table = pd.DataFrame(1, index=["Ann"], columns=mixed.index)
    with pytest.raises(DataError, match=r"1 outcome.* trained on: item-07 \(Ann\);"):
        ml.score_forecast(fitted.forecast(mixed), ml.Evaluation.from_wide(table, mixed))


def test_training_outcomes_can_be_asked_for(fitted, cohort, items):
    table = ml.score_forecast(fitted.forecast(items), cohort, training_items=True)
    assert table.index.tolist() == cohort.subjects
    assert table.loc["Dot", "trials"] == 12


def test_an_item_that_only_another_subject_attempted_is_no_leak(fitted, cohort, items):
    """Dot left every other item out; Ann's having done them teaches nothing about Dot."""
    unseen = cohort.trials.columns[cohort.trials.loc["Dot"] == 0]
    later = cohort.select(items=unseen, subjects=["Ann", "Bob", "Cyd", "ace", "nil"])
    dot = pd.DataFrame(1, index=["Dot"], columns=unseen)
    own = ml.Evaluation.from_wide(dot, items.loc[unseen])
    assert ml.score_forecast(fitted.forecast(items), own).loc["Dot", "trials"] == 12
    with pytest.raises(DataError, match=r"60 outcome\(s\) to be scored were trained on"):
        ml.score_forecast(fitted.forecast(items), later)


def test_a_training_item_without_outcome_is_no_leak(fitted, cohort, items, new_items):
    mixed = pd.concat([new_items, items.loc[["item-07"]]])
    table = pd.DataFrame(1, index=["Ann"], columns=mixed.index).astype(float)
    table["item-07"] = np.nan
    scores = ml.score_forecast(fitted.forecast(mixed), ml.Evaluation.from_wide(table, mixed))
    assert scores.loc["Ann", "trials"] == 7


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


def test_no_common_outcome(fitted, new_items, outcomes):
    rest = fitted.forecast(new_items.iloc[2:], subjects=["Bob"])
    with pytest.raises(DataError, match="none of the forecast items was attempted; add outcomes"):
        ml.score_forecast(rest, outcomes)


def test_matched_aligns_all_three(fitted, new_items, outcomes):
    chosen, successes, trials = matched(fitted.forecast(new_items), outcomes)
    assert chosen["subject"].to_numpy().tolist() == successes.index.tolist() == ["Ann", "Bob"]
    assert chosen["item"].to_numpy().tolist() == trials.columns.tolist()


def test_smooth_follows_a_line_and_ignores_lonely_places():
    x, y = np.array([0.0, 0.0, 1.0]), np.array([1.0, 3.0, 5.0])
    assert smooth(x, y, np.array([0.0, 1.0]), 0.01) == pytest.approx([2, 5])
    assert smooth(x, y, np.array([30.0]), 0.01) == pytest.approx([5])


def test_scores_need_a_rate_for_everybody():
    scores = pd.DataFrame({"success": [0.5], "brier": [0.2]}, index=["Ann"])
    with pytest.raises(DataError, match="no rate for Ann"):
        by_subject({"layout": scores}, success=pd.Series({"Bob": 0.1}))
    with pytest.raises(DataError, match="at least one method"):
        by_subject({})
    with pytest.raises(DataError, match="have no value of brier"):
        by_subject(scores.assign(brier=np.nan))
    replaced = by_subject({"layout": scores}, success=pd.Series({"Ann": 0.1}))
    assert replaced["layout"]["success"].tolist() == [0.1]


def test_a_line_leads_through_few_scores_and_between_many():
    rates = np.linspace(0, 1, 10)
    at, level = trend(rates[:9], rates[:9] ** 2)
    assert at.tolist() == rates[:9].tolist()
    assert level.tolist() == (rates[:9] ** 2).tolist()
    at, level = trend(rates, rates**2)
    assert len(at) == len(level) == 101
    assert (at[0], at[-1]) == (0, 1)
    assert level == pytest.approx(smooth(rates, rates**2, at, 0.08))
