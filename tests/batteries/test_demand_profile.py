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


@pytest.mark.parametrize(
    ("change", "columns", "options", "message"),
    [
        ({}, ["QLq"], {}, "the items have no column QLq"),
        ({}, [], {}, "200 items and 0 columns"),
        ({}, ["QLl", "QLl"], {}, "occur more than once"),
        ({"QLl": 75.0}, ["QLl"], {}, r"200 demand\(s\) are none of"),
        ({"QLl": np.nan}, ["QLl"], {}, "0 on QLl: missing"),
        ({"QLl": "3"}, ["QLl"], {}, "a demand is a number, but 0"),
        ({}, ["QLl"], {"levels": [0, 0]}, "give different finite"),
        ({}, ["QLl"], {"levels": "low"}, "levels='low'; give"),
    ],
)
def test_errors(items, change, columns, options, message):
    with pytest.raises(DataError, match=message):
        demand_profile(items.assign(**change), columns, **options)
