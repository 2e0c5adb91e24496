"""Risk over coverage: by brute force over orders."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest

import measurement_layouts as ml
from measurement_layouts.validation.prediction.assessor import point_forecast


def curve_of(scores, outcomes, **options):
    names = [f"i{place}" for place in range(len(scores))]
    known = ml.Evaluation.from_wide(
        pd.DataFrame([outcomes], ["Ann"], names), pd.DataFrame(index=names)
    )
    forecast = point_forecast(np.array([scores]), ["Ann"], names)
    return ml.decisions.risk_coverage(forecast, known, **options)


def area_by_hand(scores, outcomes):
    """Average over all orders that the scores allow."""
    areas = []
    for order in permutations(range(len(scores))):
        own = np.array(scores)[list(order)]
        if (np.diff(own) <= 0).all():
            failed = 1 - np.array(outcomes)[list(order)]
            areas.append((failed.cumsum() / np.arange(1, len(own) + 1)).mean())
    return np.mean(areas)


@pytest.mark.parametrize("seed", range(3))
def test_areas_are_those_of_all_orders(seed):
    rng = np.random.default_rng(seed)
    scores, outcomes = rng.choice([0.2, 0.5, 0.9], 5), rng.integers(0, 2, 5)
    found = curve_of(scores, outcomes).areas.loc["Ann"]
    assert found["area"] == pytest.approx(area_by_hand(scores, outcomes))
    best = min(area_by_hand(each, outcomes) for each in permutations(np.arange(5) / 5))
    assert found["best"] == pytest.approx(best)
    assert found["excess"] >= -1e-12


def test_a_forecast_that_tells_nothing_has_the_failure_rate():
    assert curve_of([0.5] * 4, [1, 0, 0, 1]).areas.loc["Ann", "area"] == pytest.approx(0.5)
    wrong = curve_of([0.1, 0.9, 0.8, 0.2], [1, 0, 0, 1]).areas.loc["Ann", "area"]
    assert wrong > 0.75, "twin: an order turned round is worse than none"


def test_the_largest_share_is_read_off_the_curve():
    found = curve_of([0.9, 0.8, 0.7, 0.6, 0.5], [1, 1, 0, 1, 0])
    assert found.largest(0.75)["Ann"] == pytest.approx(0.8)
    assert found.largest(0.9)["Ann"] == pytest.approx(0.4)
    assert curve_of([0.9, 0.8], [0, 1]).largest(0.9)["Ann"] == 0


def test_all_subjects_are_pooled_and_attempts_counted():
    items = pd.DataFrame(index=["a", "b"])
    won = pd.DataFrame([[3, 0], [1, 1]], ["Ann", "Bob"], items.index)
    tried = pd.DataFrame([[4, 1], [1, 4]], ["Ann", "Bob"], items.index)
    forecast = point_forecast(np.array([[0.9, 0.3], [0.9, 0.6]]), ["Ann", "Bob"], ["a", "b"])
    found = ml.decisions.risk_coverage(forecast, ml.Evaluation(items, won, tried))
    pooled = found.curve[found.curve["subject"] == ""]
    assert pooled["coverage"].tolist() == pytest.approx([0.5, 0.9, 1.0])
    assert pooled["success"].tolist() == pytest.approx([0.8, 5 / 9, 0.5])
    assert found.areas["attempts"].tolist() == [5, 5, 10]


def test_lower_ends_order_otherwise():
    names = ["i0", "i1"]
    known = ml.Evaluation.from_wide(
        pd.DataFrame([[0, 1]], ["Ann"], names), pd.DataFrame(index=names)
    )
    forecast = point_forecast(np.array([[0.9, 0.8]]), ["Ann"], names)
    low = (("subject", "item"), np.array([[0.2, 0.7]]))
    forecast = ml.Forecast(forecast.data.assign(low=low), 0.9)
    by_mean, by_low = (
        ml.decisions.risk_coverage(forecast, known, by=by).largest(0.9)["Ann"]
        for by in ("mean", "low")
    )
    assert (by_mean, by_low) == (0.0, 0.5)
    with pytest.raises(ml.FitError, match="by='high'"):
        ml.decisions.risk_coverage(forecast, known, by="high")
