"""Any column of the items becomes levels."""

import numpy as np
import pandas as pd
import pytest

from measurement_layouts import DataError
from measurement_layouts.validation.criticism.properties import indicators, is_kind, read_property


def test_few_numbers_are_levels_and_missing_is_the_last_one():
    levels = read_property(pd.DataFrame({"x": [2, np.nan, 0.5, 2]}), "x")
    assert levels.tolist() == ["2", "missing", "0.5", "2"]
    assert levels.cat.categories.tolist() == ["0.5", "2", "missing"]
    assert indicators(levels).tolist() == [[0, 0], [0, 1], [1, 0], [0, 0]]


def test_many_numbers_are_cut_into_six_bins_of_as_many_items():
    items = pd.DataFrame({"x": np.random.default_rng(1).permutation(600) / 7})
    levels = read_property(items, "x")
    assert levels.value_counts().tolist() == [100] * 6
    order = np.argsort(items["x"].to_numpy())
    assert levels.iloc[order].cat.codes.is_monotonic_increasing


def test_ties_stay_in_one_bin():
    values = np.concatenate([np.zeros(50), np.arange(1, 51)])
    levels = read_property(pd.DataFrame({"x": values}), "x")
    assert set(levels[values == 0]) == {levels.cat.categories[0]} == {"0"}


@pytest.mark.parametrize(
    ("column", "levels"),
    [
        ([True, False, True], ("0", "1")),
        (["b", "a", None], ("a", "b", "missing")),
        (["1", "2", "2"], ("1", "2")),
        ([3, 3, 3], ("3",)),
        ([np.nan, np.nan, np.nan], ("missing",)),
    ],
)
def test_truth_values_texts_and_constants(column, levels):
    found = read_property(pd.DataFrame({"x": column}), "x")
    assert tuple(found.cat.categories) == levels


def test_names_of_items_are_no_kind_and_refused():
    names = pd.DataFrame({"x": [f"item {place}" for place in range(40)]})
    assert not is_kind(names["x"])
    assert is_kind(pd.Series(range(40)))
    with pytest.raises(DataError, match="40 different texts on 40 items"):
        read_property(names, "x")


def test_an_unknown_column_is_named_with_those_there_are():
    with pytest.raises(DataError, match="no column y; the columns are x"):
        read_property(pd.DataFrame({"x": [1]}), "y")
