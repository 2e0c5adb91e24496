"""Probabilities of levels beside an evaluation."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import measurement_layouts as ml
from measurement_layouts import DataError
from measurement_layouts.evaluations.measured import measured_columns

COORDINATES = {"item": ["a", "b"], "dimension": ["reading", "logic"], "level": [0, 1, 2.5]}
CHANCES = np.array([[[0.2, 0.3, 0.5], [1, 0, 0]], [[0, 0.5, 0.5], [0.1, 0.1, 0.8]]])


def demands(values=CHANCES, name="demand", **coordinates):
    return xr.DataArray(values, COORDINATES | coordinates, name=name)


def answers():
    items = pd.DataFrame({"demand 0[logic]": [9, 9], "size": [1, 2]}, index=["b", "a"])
    return ml.Evaluation.from_wide(pd.DataFrame([[1, 0]], ["Ann"], ["a", "b"]), items)


def test_columns_follow_the_items_and_replace_older_ones():
    found = answers().with_measured(demands().transpose("level", "item", "dimension"))
    assert found.items.index.tolist() == ["b", "a"]
    assert found.items.columns[0] == "size"
    assert found.items["demand 2.5[reading]"].tolist() == [0.5, 0.5]
    assert found.items["demand 0[logic]"].tolist() == [0.1, 1.0]
    assert len(found.items.columns) == 1 + 6


def test_rounding_is_taken_out():
    found = measured_columns(demands(CHANCES + 1e-7))
    logic = found[[name for name in found if name.endswith("[logic]")]]
    np.testing.assert_allclose(logic.sum(axis=1), 1, rtol=0, atol=1e-15)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (lambda: pd.DataFrame(), "measured demands are a"),
        (lambda: demands().rename(item="task"), "have the dimensions task,"),
        (lambda: demands(name=None), "have no name,"),
        (lambda: demands().drop_vars("item"), "demand:"),
        (lambda: demands(level=["x", "y", "z"]), "demand:"),
        (lambda: demands(item=["a", "a"]), "the items a occur twice"),
        (lambda: demands(CHANCES * [1, 1, 1.2]), r"to 1 in 3 cell\(s\): a on"),
        (lambda: demands(np.where(CHANCES == 0.8, np.nan, CHANCES)), r"1 cell\(s\): b on logic"),
        (lambda: demands()[:1], "1 item of the evaluation"),
    ],
)
def test_what_is_refused(given, told):
    with pytest.raises(DataError, match=told):
        answers().with_measured(given())
