"""ADeLe-Light: what is redundant, and how much of it goes."""

import numpy as np
import pandas as pd
import pytest

from measurement_layouts.scenarios.adele.battery import battery
from measurement_layouts.scenarios.adele.data import load
from measurement_layouts.scenarios.adele.light import PUBLISHED_SIZE, THRESHOLD, light, redundancy


@pytest.fixture(scope="module")
def items():
    return battery(items=300)


def test_redundancy_is_the_average_squared_distance(items):
    levels = items.filter(regex=r"^demand\[").to_numpy() / 5
    squares = ((levels[:, None] - levels) ** 2).sum(axis=-1)
    np.fill_diagonal(squares, np.inf)
    by_hand = np.sort(squares, axis=1)[:, :10].mean(axis=1)
    np.testing.assert_allclose(redundancy(items), by_hand, atol=1e-12)


def test_nine_of_ten_redundant_items_go(items):
    redundant = redundancy(items) < THRESHOLD
    kept = light(items, seed=3)
    assert set(items.index[~redundant]) <= set(kept.index)
    assert len(items) - len(kept) == round(0.9 * redundant.sum())
    assert kept.index.tolist() == [name for name in items.index if name in set(kept.index)]
    pd.testing.assert_frame_equal(kept, items.loc[kept.index])


@pytest.mark.slow
def test_the_size_is_near_the_published_one():
    """Within a tenth. In whole levels, the other scale to read 0.21 in, hardly an item would go."""
    items = battery()
    assert abs(len(light(items)) / PUBLISHED_SIZE - 1) < 0.1
    assert (redundancy(items) < THRESHOLD / 25).mean() < 0.08  # twin


@pytest.mark.slow
def test_real_items_are_as_redundant_as_said(adele_data):
    found = redundancy(load(adele_data).items)
    parts = [(found < limit).mean() for limit in (THRESHOLD / 25, THRESHOLD * 18 / 25, THRESHOLD)]
    assert np.round(parts, 2).tolist() == [0.03, 0.67, 0.81]
