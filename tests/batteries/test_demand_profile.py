"""Demand profiles count what the items say."""

import numpy as np
import pandas as pd
import pytest

from measurement_layouts import DataError
from measurement_layouts.batteries.demands import demand_profile


@pytest.fixture
def items():
    rng = np.random.default_rng(4)
    return pd.DataFrame(rng.integers(0, 6, (200, 3)), columns=["QLl", "MS", "KNf"])


def test_counts_shares_and_means(items):
    profile = demand_profile(items, ["MS", "QLl"])
    assert list(profile.counts.index) == ["MS", "QLl"]
    for name, row in profile.counts.iterrows():
        assert row.tolist() == np.bincount(items[name], minlength=6).tolist()
        assert profile.means[name] == pytest.approx(items[name].mean(), rel=1e-12)
    assert profile.items == 200
    assert np.allclose(profile.shares.sum(axis=1), 1, rtol=1e-12)


def test_any_scale(items):
    longer = demand_profile(items + 5, ["QLl"], levels=range(11))
    assert longer.counts.loc["QLl", 5:].tolist() == np.bincount(items["QLl"]).tolist()
    halves = demand_profile(items / 2, ["QLl"], levels=[2.5, 2, 1.5, 1, 0.5, 0])
    assert halves.counts.columns.tolist() == [0, 0.5, 1, 1.5, 2, 2.5]
    assert halves.means["QLl"] == pytest.approx(items["QLl"].mean() / 2, rel=1e-12)


@pytest.mark.parametrize(
    ("change", "columns", "options", "message"),
    [
        ({}, ["QLq"], {}, "the items have no column QLq"),
        ({}, [], {}, "200 items and 0 columns"),
        ({}, ["QLl", "QLl"], {}, "occur more than once"),
        ({"QLl": 75.0}, ["QLl"], {}, r"200 demand\(s\) are none of the levels 0, 1, 2, 3, 4, 5"),
        ({"QLl": np.nan}, ["QLl"], {}, "0 on QLl: missing"),
        ({"QLl": "3"}, ["QLl"], {}, "a demand is a number, but 0 on QLl: '3'"),
        ({}, ["QLl"], {"levels": [0, 0]}, "give different finite numbers"),
        ({}, ["QLl"], {"levels": "low"}, "levels='low'; give different finite numbers"),
    ],
)
def test_errors(items, change, columns, options, message):
    with pytest.raises(DataError, match=message):
        demand_profile(items.assign(**change), columns, **options)
