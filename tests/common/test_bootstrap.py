"""Means by group over scenarios drawn anew."""

import numpy as np
import pandas as pd
import pytest

from measurement_layouts.common.bootstrap import group_means

OPTIONS = {"prob": 0.9, "resamples": 2000, "seed": 3}


def test_groups_keep_their_size(rng):
    """Two groups far apart: were scenarios drawn from all alike, the mean would vary more."""
    values = pd.DataFrame({"one": np.r_[rng.normal(0, 1, 50), rng.normal(20, 1, 150)]})
    groups = pd.Series(["few"] * 50 + ["many"] * 150)
    found = group_means(values, groups, **OPTIONS)
    width = found.loc[("one", "all"), "high"] - found.loc[("one", "all"), "low"]
    assert width == pytest.approx(2 * 1.645 / np.sqrt(200), rel=0.2)
    assert found.loc[("one", "all"), "mean"] == pytest.approx(values["one"].mean())
    assert found.loc["one", "count"].to_dict() == {"few": 50, "many": 150, "all": 200}


def test_missing_values_do_not_count():
    values = pd.DataFrame({"one": [1.0, np.nan, 3.0, np.nan], "two": [1.0, 1.0, 1.0, np.nan]})
    found = group_means(values, pd.Series(["a", "a", "b", "c"]), **OPTIONS)
    assert found.loc["one", "count"].tolist() == [1, 1, 0, 2]
    np.testing.assert_array_equal(found.loc["one", "mean"], [1, 3, np.nan, 2])
    # no group has two values of the first column: nothing varies within one
    assert found.loc["one", "low"].isna().all()
    assert found.loc[("two", "a"), "low"] == 1


def test_a_groups_draws_depend_on_its_name_and_size_alone(rng):
    values = pd.DataFrame({"one": rng.normal(size=60)})
    groups = pd.Series(["a"] * 40 + ["b"] * 20)
    both = group_means(values, groups, **OPTIONS)
    alone = group_means(values[40:], groups[40:], **OPTIONS)
    assert both.loc[("one", "b"), "low"] == alone.loc[("one", "b"), "low"]
    assert both.loc[("one", "b"), "low"] == alone.loc[("one", "all"), "low"]
