"""Worths of items, against sums over all outcomes written out."""

import itertools
from dataclasses import dataclass

import numpy as np
import pytest

from measurement_layouts import Bias
from measurement_layouts.batteries.adaptive.choosing import Chooser
from measurement_layouts.layouts.elements import Element


@dataclass
class Drawn:
    """Draws with given chances on a bank."""

    values: np.ndarray
    weights: np.ndarray
    table: np.ndarray
    shared: bool = False

    @property
    def elements(self):
        return [Element(Bias(f"e{k}")) for k in range(self.values.shape[1])]

    def chances(self, rows, draws, dtype=float):
        return self.table[rows][:, draws].astype(dtype)


@pytest.fixture
def drawn():
    rng = np.random.default_rng(1)
    values = rng.normal(size=(400, 2))
    demands = rng.normal(size=(40, 2))
    slopes = rng.uniform(0.5, 3, (40, 1, 2))
    able = 1 / (1 + np.exp(-slopes * (values[None] - demands[:, None])))
    weights = rng.exponential(size=400)
    return Drawn(values, weights / weights.sum(), able.prod(axis=2) * 0.95 + 0.02)


def entropy(chance):
    return -sum(p * np.log(p) for p in chance if p > 0)


def joint_information(weights, outcomes):
    """Information of several items' outcomes: a list of (outcomes, draws)."""
    found = np.zeros(0)
    own = 0.0
    for pattern in itertools.product(*(range(len(each)) for each in outcomes)):
        chance = np.prod([each[at] for each, at in zip(outcomes, pattern, strict=True)], axis=0)
        found = np.append(found, weights @ chance)
        own -= weights @ (chance * np.log(chance))
    return entropy(found) - own


def two(chance):
    return np.stack([1 - chance, chance])


def best(drawn, open_, flight=(), costs=None, targets=None, ends=(1,)):
    rows = np.arange(len(drawn.table)).reshape(-1, ends[-1])
    costs = np.ones(len(rows)) if costs is None else costs
    return Chooser(rows, list(ends), targets).best(drawn, np.asarray(open_), flight, costs)[0]


def test_the_item_with_the_most_mutual_information_is_chosen(drawn):
    exact = [joint_information(drawn.weights, [two(chance)]) for chance in drawn.table]
    costs, everything = np.ones(40), np.arange(40)
    assert best(drawn, everything, costs=costs) == np.argmax(exact)
    costs[np.argmax(exact)] = 100
    cheap = np.argmax(np.array(exact) / costs)
    assert best(drawn, everything, costs=costs) == cheap


@pytest.mark.parametrize("flight", [[3], [3, 8], [0, 1, 2, 3]])
def test_items_in_flight_are_averaged_over(drawn, flight):
    together = [two(drawn.table[item]) for item in flight]
    exact = [
        joint_information(drawn.weights, [*together, two(chance)]) if item not in flight else 0
        for item, chance in enumerate(drawn.table)
    ]
    open_ = np.setdiff1d(np.arange(40), flight)
    assert best(drawn, open_, flight) == np.argmax(exact)


@pytest.mark.parametrize("targets", [{"e0": 1.0}, {"e0": 1.0, "e1": 3.0}])
def test_targets_are_what_the_outcome_is_expected_to_narrow(drawn, targets):
    def left(chance, element):
        values, found = drawn.values[:, element], 0.0
        for outcome in two(chance):
            mass = drawn.weights @ outcome
            own = drawn.weights * outcome / mass
            found += mass * (own @ (values - own @ values) ** 2)
        return found

    def variance(element):
        values = drawn.values[:, element]
        return drawn.weights @ (values - drawn.weights @ values) ** 2

    exact = [
        sum(
            -weight / 2 * np.log(left(chance, int(name[1])) / variance(int(name[1])))
            for name, weight in targets.items()
        )
        for chance in drawn.table
    ]
    assert best(drawn, range(40), targets=targets) == np.argmax(exact)


def test_grades_and_several_outcomes_are_taken_together(drawn):
    """Rows by item: two steps of a grade, and one success."""
    drawn.table = drawn.table[:39]
    exact = []
    for first, second, other in drawn.table.reshape(13, 3, -1):
        grade = np.stack([1 - first, first * (1 - second), first * second])
        pairs = [one * success for one in grade for success in two(other)]
        mean = [drawn.weights @ pair for pair in pairs]
        own = -sum(drawn.weights @ (pair * np.log(pair)) for pair in pairs)
        exact.append(entropy(mean) - own)
    found = best(drawn, range(13), ends=(2, 3))
    assert found == np.argmax(exact)


def test_few_draws_find_an_item_as_good_as_any_of_a_large_bank():
    rng = np.random.default_rng(3)
    values, demands = rng.uniform(0, 10, (2000, 3)), rng.uniform(0, 10, (3000, 3))
    able = np.ones((3000, 2000))
    for k in range(3):
        able *= 1 / (1 + np.exp(-2 * (values[:, k] - demands[:, k, None])))
    drawn = Drawn(values, np.full(2000, 1 / 2000), able * 0.9 + 0.05)
    found = best(drawn, range(3000))
    mean = drawn.table.mean(axis=1)
    log = np.log(drawn.table), np.log1p(-drawn.table)
    own = (drawn.table * log[0] + (1 - drawn.table) * log[1]).mean(axis=1)
    exact = own - mean * np.log(mean) - (1 - mean) * np.log1p(-mean)
    assert exact[found] > 0.98 * exact.max()
