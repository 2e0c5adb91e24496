"""Shapley's values against orders written out, and weighted intervals against repeated draws."""

import itertools

import numpy as np
import pytest

from measurement_layouts.inference.explanations.shares import coalitions, weighted


def by_orders(players, worth):
    """Average what each player adds over all orders in which they can come."""
    found = np.zeros(players)
    orders = list(itertools.permutations(range(players)))
    for order in orders:
        inside = frozenset()
        for player in order:
            found[player] += worth[inside | {player}] - worth[inside]
            inside |= {player}
    return found / len(orders)


@pytest.mark.parametrize("players", [1, 2, 3, 5])
def test_they_are_the_mean_over_all_orders(players):
    rng = np.random.default_rng(players)
    subsets = [
        frozenset(some)
        for size in range(players + 1)
        for some in itertools.combinations(range(players), size)
    ]
    worth = {subset: rng.normal() for subset in subsets}
    sets, weights = coalitions(players)
    values = np.array([worth[frozenset(np.flatnonzero(row))] for row in sets])
    np.testing.assert_allclose(weights @ values, by_orders(players, worth), atol=1e-12)


def test_of_many_players_the_sampled_orders_come_close():
    rng = np.random.default_rng(1)
    fails = rng.uniform(0, 0.5, 12)
    sets, weights = coalitions(12)
    values = np.where(sets, 1.0, 1 - fails).prod(axis=1)
    # exact: where parts fail independently, each has an even part of a failure
    failed = (np.arange(2**12)[:, None] >> np.arange(12)) & 1
    chance = np.where(failed, fails, 1 - fails).prod(axis=1)
    exact = (chance[:, None] * failed / np.maximum(failed.sum(axis=1), 1)[:, None]).sum(axis=0)
    found = weights @ values
    assert found.sum() == pytest.approx(values[sets.all(axis=1)][0] - values[0], abs=1e-12)
    np.testing.assert_allclose(found, exact, atol=0.01)
    assert len(sets) < 1600
    assert not sets[0].any()


def test_an_interval_of_weighted_draws_is_that_of_repeated_ones():
    rng = np.random.default_rng(2)
    values, counts = rng.normal(size=400), rng.integers(0, 5, 400)
    mean, low, high = weighted(values, counts / counts.sum(), 0.8)
    repeated = np.repeat(values, counts)
    assert mean == pytest.approx(repeated.mean())
    ends = np.quantile(repeated, [0.1, 0.9], method="inverted_cdf")
    assert (low, high) == pytest.approx(tuple(ends))


def test_without_a_failure_nothing_is_known():
    assert np.isnan(weighted(np.ones(3), np.full(3, np.nan), 0.9)).all()
