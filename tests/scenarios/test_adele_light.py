"""ADeLe-Light: what is redundant, and how much of it goes."""

import numpy as np
import pandas as pd
import pytest

from measurement_layouts import DataError
from measurement_layouts.scenarios.adele.battery import battery, simulated_cohort
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


def test_an_item_is_no_neighbour_of_itself():
    """Also where more items than neighbours are alike."""
    rare = pd.DataFrame({"demand[AS]": [0] * 30 + [5]})
    found = redundancy(rare)
    assert (found.iloc[:30] == 0).all()
    assert found.iloc[30] == 1


def test_nine_of_ten_redundant_items_go(items):
    redundant = redundancy(items) < THRESHOLD
    kept = light(items, seed=3)
    assert set(items.index[~redundant]) <= set(kept.index)
    assert len(items) - len(kept) == round(0.9 * redundant.sum())
    assert kept.index.tolist() == [name for name in items.index if name in set(kept.index)]
    pd.testing.assert_frame_equal(kept, items.loc[kept.index])


def test_the_seed_decides(items):
    one, again, other = (light(items, seed=seed) for seed in (1, 1, 2))
    pd.testing.assert_frame_equal(one, again)
    assert not one.equals(other)


def test_outcomes_are_reduced_by_name():
    evaluation = simulated_cohort(items=200).evaluation
    kept = light(evaluation.items)
    assert evaluation.select(items=kept.index).items.equals(kept)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda table: table[["task"]], "items have no demands; give columns such as demand"),
        (lambda table: table.head(10), "10 items cannot have 10 neighbours each"),
        (
            lambda table: table.assign(**{"demand[AS]": np.nan}),
            r"no level for .* on demand\[AS\]: missing",
        ),
    ],
)
def test_items_that_cannot_be_reduced(items, change, message):
    with pytest.raises(DataError, match=message):
        light(change(items))


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
