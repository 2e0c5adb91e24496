"""Agent characteristic grids: every trial in one cell, cells as asked for."""

import pandas as pd
import pytest

from measurement_layouts.batteries.grids import characteristic_grid
from measurement_layouts.common.errors import DataError
from measurement_layouts.evaluations.evaluation import Evaluation


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
    successes, trials = characteristic_grid(evaluation, "Ann", "distance", "level", bins=4)
    assert trials.columns.left.tolist() == [0, 2.5, 5, 7.5]
    assert trials.index.tolist() == ["0", "1", "2"]
    assert trials.to_numpy().tolist() == [[2, 0, 0, 0], [2, 0, 0, 0], [0, 2, 2, 1]]
    assert successes.to_numpy().tolist() == [[2, 0, 0, 0], [1, 0, 0, 0], [0, 0, 2, 1]]


def test_cells_of_a_cut_property(evaluation):
    """Cells have the order of the categories, and a text has one cell per value."""
    cut = pd.cut(evaluation.items["distance"], [0, 1, 10], include_lowest=True)
    items = evaluation.items.assign(far=cut.cat.rename_categories(["near", "far"]))
    _, trials = characteristic_grid(
        Evaluation(items, evaluation.successes, evaluation.trials), "Ann", "far", "place"
    )
    assert trials.index.tolist() == ["left", "right"]
    assert trials.sum().to_dict() == {"near": 4, "far": 5}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("Bob", "distance", "level"), r"unknown subject\(s\): Bob;"),
        (("Ann", "width", "level"), "no column width; the"),
        (("Ann", "level", "level"), "two different columns"),
        (("Ann", "distance", "level", 0), "bins=0; give a whole number"),
    ],
)
def test_errors(evaluation, arguments, message):
    subject, x, y, *bins = arguments
    with pytest.raises(DataError, match=message):
        characteristic_grid(evaluation, subject, x, y, **({"bins": bins[0]} if bins else {}))
