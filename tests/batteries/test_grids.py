"""Agent characteristic grids: every trial in one cell, cells as asked for."""

import doctest

import numpy as np
import pandas as pd
import pytest

from measurement_layouts.batteries import grids
from measurement_layouts.batteries.grids import characteristic_grid
from measurement_layouts.common.errors import DataError
from measurement_layouts.evaluations.evaluation import Evaluation
from measurement_layouts.inference.posterior import density
from measurement_layouts.layouts import elements
from measurement_layouts.linking.interval import REALS, Interval
from measurement_layouts.validation.prediction import score as comparison


@pytest.fixture
def evaluation():
    items = pd.DataFrame(
        {
            "distance": [0.0, 1.0, 2.5, 2.6, 5.0, 10.0],
            "level": [0, 1, 1, 2, 2, 2],
            "place": ["left", "right", "left", "right", "left", "left"],
        },
        index=list("abcdef"),
    )
    trials = pd.DataFrame([[2, 2, 0, 2, 2, 1]], index=["Ann"], columns=items.index)
    successes = pd.DataFrame([[2, 1, 0, 0, 2, 1]], index=["Ann"], columns=items.index)
    return Evaluation(items, successes, trials)


def test_counts(evaluation):
    grid = characteristic_grid(evaluation, "Ann", "distance", "level", bins=4)
    assert grid.x.edges.tolist() == [0, 2.5, 5, 7.5, 10]
    assert grid.y.levels == ("0", "1", "2")
    assert grid.trials.tolist() == [[2, 0, 0, 0], [2, 0, 0, 0], [0, 2, 2, 1]]
    assert grid.successes.tolist() == [[2, 0, 0, 0], [1, 0, 0, 0], [0, 0, 2, 1]]
    assert np.isnan(grid.rates[grid.trials == 0]).all()
    assert grid.rates[1, 0] == 0.5


def test_frame(evaluation):
    frame = characteristic_grid(evaluation, "Ann", "place", "distance", bins=2).to_frame()
    assert frame.columns.tolist() == ["distance", "place", "successes", "trials", "success"]
    assert frame["distance"].unique().tolist() == ["[0, 5)", "[5, 10]"]
    assert frame["trials"].tolist() == [2, 4, 3, 0]


def test_edges_by_column(evaluation):
    bins = {"distance": [0, 1, 10], "level": 1}
    grid = characteristic_grid(evaluation, "Ann", "distance", "level", bins=bins)
    assert grid.trials.tolist() == [[2, 7]]
    assert grid.trials.sum() == evaluation.trials.loc["Ann"].sum()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("Bob", "distance", "level"), "unknown subject Bob; know Ann"),
        (("Ann", "width", "level"), "no column 'width'; their columns are distance, level, place"),
        (("Ann", "level", "level"), "two different columns"),
        (("Ann", "distance", "level", 0), "bins=0 for distance"),
        (("Ann", "distance", "level", {"distance": [0, 5]}), r"distance: f lie outside .*\[0, 5\]"),
        (("Ann", "distance", "level", {"distance": [5, 0]}), "ascending edges"),
        (("Ann", "place", "level", {"place": [0, 5]}), "place holds no numbers"),
    ],
)
def test_errors(evaluation, arguments, message):
    subject, x, y, *bins = arguments
    with pytest.raises(DataError, match=message):
        characteristic_grid(evaluation, subject, x, y, **({"bins": bins[0]} if bins else {}))


def test_missing_values(evaluation):
    items = evaluation.items.assign(distance=[0, 1, np.nan, 3, 4, 5])
    holed = Evaluation(items, evaluation.successes, evaluation.trials)
    with pytest.raises(DataError, match=r"distance is missing \(NaN\) on c"):
        characteristic_grid(holed, "Ann", "distance", "level")


def test_numbers_are_written_apart():
    assert grids.edge_labels(np.array([-1.86214, -1.2061, 0.256129])) == ["-1.86", "-1.21", "0.26"]
    assert grids.edge_labels(np.array([0.0, 1e6, 2e6])) == ["0", "1000000", "2000000"]
    close = grids.edge_labels(np.array([1.00001, 1.00002]))
    assert len(set(close)) == 2


@pytest.mark.parametrize(
    ("support", "draw"),
    [
        (Interval(0, 1), lambda rng: rng.beta(8, 1, 4000)),
        (Interval(0, np.inf), lambda rng: rng.exponential(1, 4000)),
        (REALS, lambda rng: rng.normal(0, 1, 4000)),
    ],
)
def test_density_integrates_to_one(support, draw):
    """All mass stays inside the support; trapezoids on 4001 points are off by less than 1e-3."""
    draws = draw(np.random.default_rng(1))
    low = support.low if np.isfinite(support.low) else draws.min() - 2
    high = support.high if np.isfinite(support.high) else draws.max() + 2
    at = np.linspace(low, high, 4001)
    assert np.trapezoid(density.density(draws, at, support), at) == pytest.approx(1, abs=1e-3)
    assert density.density(draws, np.array([support.low - 1]), support)[0] in (
        0.0,
        pytest.approx(0),
    )


def test_density_of_one_value():
    at = np.array([0.0, 1.0])
    assert density.density(np.ones(9), at, REALS).tolist() == [0, np.inf]


def test_smooth_follows_a_line_and_ignores_lonely_places():
    x, y = np.array([0.0, 0.0, 1.0]), np.array([1.0, 3.0, 5.0])
    assert comparison.smooth(x, y, np.array([0.0, 1.0]), 0.01) == pytest.approx([2, 5])
    assert comparison.smooth(x, y, np.array([30.0]), 0.01) == pytest.approx([5])


def test_scores_need_a_rate_for_everybody():
    scores = pd.DataFrame({"success": [0.5], "brier": [0.2]}, index=["Ann"])
    with pytest.raises(DataError, match="no rate for Ann"):
        comparison.by_subject({"layout": scores}, success=pd.Series({"Bob": 0.1}))
    with pytest.raises(DataError, match="at least one method"):
        comparison.by_subject({})
    with pytest.raises(DataError, match="hold no brier"):
        comparison.by_subject(scores.assign(brier=np.nan))
    replaced = comparison.by_subject({"layout": scores}, success=pd.Series({"Ann": 0.1}))
    assert replaced["layout"]["success"].tolist() == [0.1]


@pytest.mark.parametrize("module", [density, elements, grids])
def test_examples(module):
    assert doctest.testmod(module, raise_on_error=False).failed == 0
