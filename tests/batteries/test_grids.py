"""Agent characteristic grids: every trial in one cell, cells as asked for."""

import numpy as np
import pandas as pd
import pytest

from measurement_layouts.batteries import grids
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
        (("Bob", "distance", "level"), "unknown subject\\(s\\): Bob; known: Ann"),
        (("Ann", "width", "level"), "no column width; the columns are distance, level, place"),
        (("Ann", "level", "level"), "two different columns"),
        (("Ann", "distance", "level", 0), "bins=0; give a whole number"),
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
