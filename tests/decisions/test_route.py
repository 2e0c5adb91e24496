"""Routes: cheapest by brute force over all assignments."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

import measurement_layouts as ml
from measurement_layouts.validation.prediction.assessor import point_forecast

NAMES = ["small", "middle", "large"]


@pytest.mark.parametrize("seed", range(5))
def test_no_other_assignment_is_cheaper(seed):
    rng = np.random.default_rng(seed)
    chances, prices = rng.uniform(0.5, 1, (3, 4)), rng.integers(1, 6, (3, 4)).astype(float)
    items = list("abcd")
    costs = pd.DataFrame(prices, NAMES, items)
    routing = ml.decisions.route(point_forecast(chances, NAMES, items), costs, success=0.8)
    doable = [place for place in range(4) if (chances[:, place] >= 0.8).any()]
    totals = [
        sum(prices[who, place] for who, place in zip(chosen, doable, strict=True))
        for chosen in product(range(3), repeat=len(doable))
        if all(chances[who, place] >= 0.8 for who, place in zip(chosen, doable, strict=True))
    ]
    assert routing.cost == min(totals)
    assert routing.unrouted == [items[place] for place in range(4) if place not in doable]
    assert routing.expected == pytest.approx(routing.table["mean"].sum())
    assert routing.subjects["items"].sum() == len(doable)
    assert routing.subjects["cost"].sum() == routing.cost
    dearest = max(totals)
    assert dearest > routing.cost or len(set(totals)) == 1, "twin: another choice costs more"


def test_of_equal_costs_the_surer_subject_is_chosen():
    chances = np.array([[0.91, 0.95], [0.99, 0.92]])
    found = ml.decisions.route(point_forecast(chances, ["a", "b"], ["i", "j"]), {"a": 1, "b": 1})
    assert found.table["subject"].tolist() == ["b", "a"]


@pytest.mark.parametrize(
    ("costs", "said"),
    [
        ({"a": 1}, "none of subject b"),
        ({"a": 1, "b": -1}, "costs of b are no finite numbers"),
        ({"a": 1, "b": "much"}, "costs of b are no finite numbers"),
        (pd.DataFrame({"i": [1, 2]}, ["a", "b"]), "none of item j"),
    ],
)
def test_costs_that_are_none_are_refused(costs, said):
    forecast = point_forecast(np.full((2, 2), 0.95), ["a", "b"], ["i", "j"])
    with pytest.raises(ml.DataError, match=said):
        ml.decisions.route(forecast, costs)
