"""Decisions: exact posteriors, brute force over sets, routes and orders, and held-out shares."""

from itertools import combinations, permutations, product

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from helpers.coins import PASSED
from scipy.stats import beta

import measurement_layouts as ml
from measurement_layouts.decisions import NOT_CLAIMABLE
from measurement_layouts.validation.prediction.assessor import point_forecast

NAMES = ["small", "middle", "large"]


@pytest.fixture(scope="module")
def coins():
    """Fit one chance of each subject, uniform before the data: Beta(1 + passed, 1 + failed)."""
    layout = ml.Layout("coin", ml.Success("heads", ml.Capability("p", low=0, high=1)))
    names = [f"i{number}" for number in range(41)]
    rows = [[1] * won + [0] * lost + [None] * (41 - won - lost) for won, lost in PASSED.values()]
    outcomes = pd.DataFrame(rows, list(PASSED), names, dtype=float)
    known = ml.Evaluation.from_wide(outcomes, pd.DataFrame(index=names))
    return ml.fit(layout, known, method="grid", draws=2000, chains=4, seed=1, progressbar=False)


def interval_forecast(mean, low):
    """Make a forecast of one subject from means and lower ends."""
    found = point_forecast(np.array([mean]), ["Ann"], [f"i{place}" for place in range(len(mean))])
    return ml.Forecast(found.data.assign(low=(("subject", "item"), np.array([low]))), 0.9)


def outcomes_of(rows, subjects=("Ann",)):
    names = [f"i{place}" for place in range(len(rows[0]))]
    wide = pd.DataFrame(rows, list(subjects), names)
    return ml.Evaluation.from_wide(wide, pd.DataFrame(index=names))


@pytest.mark.parametrize("confidence", [0.6, 0.8, 0.95])
def test_a_lower_end_accepts_with_the_exact_probability(coins, confidence):
    """Of a Beta posterior, an item is accepted just where P(p >= s) >= c."""
    forecast = coins.forecast(pd.DataFrame(index=["new"]), prob=2 * confidence - 1)
    for success in (0.6, 0.7, 0.8, 0.85, 0.88, 0.92, 0.95):
        accepted = ml.decisions.accept(forecast, success).table.set_index("subject")["accepted"]
        for name, (won, lost) in PASSED.items():
            exact = beta.sf(success, 1 + won, 1 + lost)
            if abs(exact - confidence) > 0.03:  # six Monte Carlo errors of 8,000 draws
                assert accepted[name] == (exact >= confidence)


def test_together_is_the_largest_set_by_brute_force():
    rng = np.random.default_rng(4)
    for _ in range(20):
        mean = rng.uniform(0.3, 1, 8)
        forecast = interval_forecast(mean, np.full(8, np.nan))
        found = ml.decisions.accept(forecast, 0.8, together=True).table["accepted"].to_numpy()
        sizes = [
            size
            for size in range(1, 9)
            if any(mean[list(part)].mean() >= 0.8 for part in combinations(range(8), size))
        ]
        assert found.sum() == max(sizes, default=0)
        assert not found.any() or mean[found].mean() >= 0.8


def test_shares_are_held_against_outcomes():
    mean = np.repeat([0.95, 0.2], [60, 40])
    rows = [[1] * 57 + [0] * 3 + [0] * 40, [1] * 40 + [0] * 20 + [0] * 40]
    forecast = point_forecast(np.array([mean, mean]), ["Ann", "Bob"], [f"i{k}" for k in range(100)])
    accepted = ml.decisions.accept(forecast, 0.9)
    found = accepted.check(outcomes_of(rows, ["Ann", "Bob"]))
    assert found["accepted"].tolist() == [60, 60]
    assert found["coverage"].tolist() == [0.6, 0.6]
    assert found["share"].tolist() == pytest.approx([0.95, 2 / 3])
    assert found["verdict"].tolist() == ["holds", "fails"]
    assert found.loc["Ann", "low"] == pytest.approx(beta.ppf(0.05, 57, 4))
    assert found.loc["Ann", "high"] == pytest.approx(beta.ppf(0.95, 58, 3))
    few = accepted.check(outcomes_of(rows, ["Ann", "Bob"]), fewest=61)
    assert few["verdict"].tolist() == [NOT_CLAIMABLE] * 2
    assert accepted.subjects.loc["Ann"].tolist() == [100, 60, 0.6, pytest.approx(0.95)]


def test_of_calibrated_forecasts_accepted_items_succeed_often_enough():
    """Simulation with known truth: log-odds with a common error that the interval knows of."""
    rng = np.random.default_rng(8)
    subjects, items, sd = 400, 100, 0.7
    centre = rng.normal(1, 2, (subjects, items))
    shift = sd * rng.normal(size=(subjects, 1))
    low = 1 / (1 + np.exp(-(centre - 1.645 * sd)))
    truth = 1 / (1 + np.exp(-(centre + shift)))
    names = [f"s{k}" for k in range(subjects)], [f"i{k}" for k in range(items)]
    forecast = point_forecast(1 / (1 + np.exp(-centre)), *names)
    cells = ("subject", "item")
    forecast = ml.Forecast(forecast.data.assign(low=(cells, low)), 0.9)
    for together in (False, True):
        chosen = ml.decisions.accept(forecast, 0.9, together=together).table["accepted"]
        chosen = chosen.to_numpy().reshape(subjects, items)
        there = chosen.any(axis=1)
        mean = np.where(chosen, truth, 0).sum(axis=1)[there] / chosen.sum(axis=1)[there]
        assert (mean >= 0.9).mean() >= 0.95 - 3 * np.sqrt(0.05 * 0.95 / there.sum())
    daring = ml.decisions.accept(forecast, 0.9, cautious=False, together=True).table["accepted"]
    daring = daring.to_numpy().reshape(subjects, items)
    mean = np.where(daring, truth, 0).sum(axis=1) / np.maximum(daring.sum(axis=1), 1)
    assert (mean[daring.any(axis=1)] >= 0.9).mean() < 0.8, "twin: means know of no common error"


def test_steps_of_outcomes_are_refused():
    frame = pd.DataFrame({"outcome": ["grade"]})
    data = point_forecast(np.array([[0.5]]), ["Ann"], ["i0 grade >= 1"]).data
    graded = ml.Forecast(data, 0.9, frame)
    vars(graded)["rows"] = type("Rows", (), {"outcome": ["grade"]})()
    with pytest.raises(ml.DataError, match="step of grade"):
        ml.decisions.accept(graded)


@pytest.mark.parametrize("success", [0, 1, "most", True])
def test_a_success_that_is_no_share_is_refused(success):
    with pytest.raises(ml.FitError, match="success="):
        ml.decisions.accept(point_forecast(np.array([[0.5]]), ["Ann"], ["i0"]), success)


def test_forecasts_of_trained_cells_are_not_accepted():
    """A baseline's forecast of what it learnt from is NaN."""
    forecast = point_forecast(np.array([[np.nan, 0.99]]), ["Ann"], ["i0", "i1"])
    for together in (False, True):
        chosen = ml.decisions.accept(forecast, 0.9, together=together).table["accepted"]
        assert chosen.tolist() == [False, True]
    assert isinstance(forecast.data, xr.Dataset)


@pytest.mark.parametrize("seed", range(5))
def test_no_other_assignment_is_cheaper(seed):
    rng = np.random.default_rng(seed)
    chances, prices = rng.uniform(0.5, 1, (3, 4)), rng.integers(1, 6, (3, 4)).astype(float)
    items = list("abcd")
    costs = pd.DataFrame(prices, NAMES, items)
    routing = ml.decisions.route(point_forecast(chances, NAMES, items), costs, success=0.8)
    doable = [place for place in range(4) if (chances[:, place] >= 0.8).any()]
    totals = [
        sum(prices[who, place] for who, place in zip(chosen, doable, strict=True))
        for chosen in product(range(3), repeat=len(doable))
        if all(chances[who, place] >= 0.8 for who, place in zip(chosen, doable, strict=True))
    ]
    assert routing["cost"].sum() == min(totals)
    unrouted = routing.index[routing["subject"] == ""].tolist()
    assert unrouted == [items[place] for place in range(4) if place not in doable]
    assert routing.drop(index=unrouted)["mean"].min() >= 0.8
    assert max(totals) > min(totals) or len(set(totals)) == 1, "twin: another choice costs more"


@pytest.mark.parametrize(
    ("costs", "said"),
    [
        ({"a": 1}, "none of subject b"),
        ({"a": 1, "b": -1}, "costs of b are no finite numbers"),
        ({"a": 1, "b": "much"}, "costs of b are no finite numbers"),
        (pd.DataFrame({"i": [1, 2]}, ["a", "b"]), "none of item j"),
    ],
)
def test_costs_that_are_none_are_refused(costs, said):
    forecast = point_forecast(np.full((2, 2), 0.95), ["a", "b"], ["i", "j"])
    with pytest.raises(ml.DataError, match=said):
        ml.decisions.route(forecast, costs)


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
