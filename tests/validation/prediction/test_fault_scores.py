"""Forecasts that would flatter, or that cannot be scored, are refused or flagged."""

import math

import numpy as np
import pandas as pd
import pytest
from helpers.fault_cases import evaluation, exactly, fault, fit, items, table

import measurement_layouts as ml
from measurement_layouts import DataError, Evaluation, FitError
from measurement_layouts.validation.prediction import scoring_rules as scoring
from measurement_layouts.validation.prediction.baselines import Algebraic
from measurement_layouts.validation.prediction.scoring_rules import ScoreError

NEW = pd.DataFrame({"distance": [2.0, 3.0], "behind": [0, 1]}, ["y", "z"])
OTHER = items(distance=[6.0, 2.0, 3.0])
FAR = pd.DataFrame({"distance": [20.0], "behind": [0]}, ["far"])


def single_class():
    """Ann passes all new items, Bob none."""
    return Evaluation.from_wide(table([[1, 1], [0, 0]], columns=["y", "z"]), NEW)


def of_steps():
    layout = ml.Layout("essays", ml.Graded("grade", ml.Capability("skill", low=0, high=1)))
    grades = table([["partly", 0], ["right", None]], columns=["a", "b"])
    return layout, Evaluation.of_outcomes(layout, {"grade": grades}, pd.DataFrame(index=["a", "b"]))


def predicted_steps():
    _, graded = of_steps()
    return Algebraic([]).predict(graded, ["b"], seed=1)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        fault(
            "a new item without a column",
            lambda: fit().forecast(NEW[["behind"]]),
            DataError,
            "distance: the items have no column distance; the columns are behind; rename one, or "
            "add it",
        ),
        fault(
            "a new item of an unknown category",
            lambda: fit().forecast(NEW.assign(behind=3)),
            DataError,
            "behind is not one of its levels 0, 1 on 2 item(s): y (behind = 3), z (behind = 3); "
            "correct the item, or add the level",
        ),
        fault(
            "a forecast of an unknown subject",
            lambda: fit().forecast(NEW, subjects=["Eve"]),
            FitError,
            "not in this fit: Eve; it has Ann, Bob",
        ),
        fault(
            "test rows that were trained on",
            lambda: ml.score_forecast(fit().forecast(items()), evaluation()),
            DataError,
            "6 outcome(s) to be scored were trained on: a (Ann), b (Ann), c (Ann), a (Bob), b "
            "(Bob) and 1 more; forecast items held out from the fit, or pass training_items=True "
            "to score the fit on its own data",
        ),
        fault(
            "a name of a trained item with other features",
            lambda: ml.score_forecast(fit().forecast(OTHER), evaluation(OTHER)),
            DataError,
            "6 outcome(s) to be scored have names of training items, but other meta-features: a "
            "(Ann), b (Ann), c (Ann), a (Bob), b (Bob) and 1 more; if the items were recoded, "
            "forecast items held out from the fit, or pass training_items=True to score the fit on "
            "its own data; if these are other items, give them other names, or pass "
            "reused_names=True",
        ),
        fault(
            "nothing to score",
            lambda: ml.score_forecast(fit().forecast(NEW), evaluation()),
            DataError,
            "nothing to score: the forecast and the evaluation share 2 subjects and 0 items; give "
            "both the same names",
        ),
        fault(
            "a probability above 1",
            lambda: scoring.brier([1.2], [1]),
            ScoreError,
            "p is not a probability in [0, 1] at row 0 (1.2); forecast every item, and clip "
            "rounding errors with numpy.clip(p, 0, 1)",
        ),
        fault(
            "a probability that is missing",
            lambda: scoring.log_score([np.nan], [1]),
            ScoreError,
            "p is not a probability in [0, 1] at row 0 (nan); forecast every item, and clip "
            "rounding errors with numpy.clip(p, 0, 1)",
        ),
        fault(
            "a score without a trial",
            lambda: scoring.brier([0.5], [0], [0]),
            ScoreError,
            "there is no trial in 1 rows; a score needs one: leave out subjects that attempted no "
            "item",
        ),
        fault(
            "a prediction of steps of outcomes",
            predicted_steps,
            DataError,
            "an algebraic assessor takes 0/1 outcomes of items, and the evaluation's rows are "
            "steps of outcomes; give one 0/1 outcome alone (Evaluation.from_wide), or compare "
            "layouts by score, cross_validate and compare_layouts",
        ),
    ],
)
def test_refused(call, error, message):
    with exactly(error, message):
        call()


def test_a_new_item_outside_the_range_is_forecast_and_flagged():
    forecast = fit().forecast(pd.concat([NEW, FAR]))
    flags = forecast.to_frame().set_index(["subject", "item"])["extrapolated"]
    assert flags["Ann"].to_dict() == {"y": False, "z": False, "far": True}
    assert repr(forecast) == (
        "<Forecast: 2 subjects, 3 items, 1 of them outside a declared range, 1 outside a subject's "
        "training items, 90% intervals>"
    )


def test_a_few_items_that_chance_makes_equal_are_new():
    """Twin: three items of one step's multiples, and two subjects, are no evidence of a leak."""
    renamed = items().rename(index=str.upper)
    known = Evaluation.from_wide(table([[1, 1, 0], [1, 0, 0]], columns="ABC"), renamed)
    assert ml.score_forecast(fit().forecast(renamed), known)["trials"].tolist() == [3, 3]


def test_an_area_under_a_curve_that_is_undefined_is_not_zero():
    scores = ml.score_forecast(fit().forecast(NEW), single_class())
    assert scores["auroc"].isna().all()
    assert scores["remark"].tolist() == [
        "AUROC is undefined: all 2 trials are successes and it needs a success and a failure",
        "AUROC is undefined: all 2 trials are failures and it needs a success and a failure",
    ]
    assert scores[["brier", "log_score", "ece"]].notna().all(axis=None)


def test_probabilities_of_exactly_0_and_1():
    """By hand: the last bin is closed, so that a forecast of 1 counts."""
    assert scoring.log_score([0, 1], [0, 1]) == 0
    assert scoring.log_score([0, 1], [1, 1]) == math.inf
    assert scoring.auroc([0, 1], [0, 1]) == 1
    parts = scoring.decompose_brier([1, 1, 1, 1], [1, 0, 0, 0])
    assert (parts.brier, parts.calibration, parts.refinement) == (0.75, 0.75**2, 0.1875)


def test_empty_bins_count_for_nothing():
    assert scoring.expected_calibration_error([0.05, 0.95], [0, 1], bins=1000) == pytest.approx(
        0.05
    )
    parts = scoring.decompose_brier([0.05, 0.95], [0, 1], bins=1000)
    assert parts.calibration + parts.refinement + parts.remainder == pytest.approx(parts.brier)
