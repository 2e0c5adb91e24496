"""Items that a layout cannot use are refused by name, before anything is sampled."""

import numpy as np
import pandas as pd
import pytest
from helpers.fault_cases import OPTIONS, behind, distance, exactly, fault, fit, items, reach, table

import measurement_layouts as ml
from measurement_layouts import DataError, Evaluation
from measurement_layouts.linking import arrays, band, logistic

NUMBERS = (
    "; convert the column (pandas.to_numeric), or code categories as numbers and declare them as "
    "levels="
)
MISSING = "; fill it in, leave out the item, or declare with given= where it is undefined"
INFINITE = "; give a finite number, or declare an infinite range"
NO_VALUE = "; correct or leave out the items, or declare a formula that is finite there"


@ml.linking.linking_function(range=(-100, 100))
def log(demand):
    return arrays.log(demand)


def of_log():
    effort = ml.Capability("effort", low=0, high=5)
    demand = ml.MetaFeature("demand", low=0, high=10)
    return ml.Layout("logs", ml.Success("found", logistic(effort - log(demand))))


def of_slope():
    return ml.Layout("steep", ml.Success("found", logistic(reach - distance, ml.Slope("slope"))))


def of_ratio():
    return ml.Layout("ratio", ml.Success("found", logistic(reach / distance - behind)))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        fault(
            "a meta-feature that is missing",
            lambda: fit(items(distance=[1, np.nan, 7])),
            DataError,
            f"distance is missing (NaN) on 1 item(s): b (distance = missing){MISSING}",
        ),
        fault(
            "an infinite meta-feature",
            lambda: fit(items(distance=[-np.inf, 4, np.inf])),
            DataError,
            f"distance is infinite on 2 item(s): a (distance = -inf), c (distance = inf){INFINITE}",
        ),
        fault(
            "a meta-feature that is text",
            lambda: fit(items(distance=[1, "4 m", 7])),
            DataError,
            f"distance is not a number on 1 item(s): b (distance = '4 m'){NUMBERS}",
        ),
        fault(
            "a meta-feature that never varies",
            lambda: fit(items(distance=[2, 2, 2]), of_slope()),
            DataError,
            "distance is 2 on all 3 items: the effect of a demand that does not vary cannot be "
            "inferred, and reach, slope cannot without it; add items with other values, or give "
            "the layout numbers instead of some of these",
        ),
        fault(
            "the log of a zero demand",
            lambda: fit(items(demand=[1, 0, 7]), of_log()),
            DataError,
            f"log(demand) has no finite value on 1 item(s): b (demand = 0){NO_VALUE}",
        ),
        fault(
            "a division by a zero demand",
            lambda: fit(items(distance=[0, 4, 7]), of_ratio()),
            DataError,
            f"reach / distance has no finite value on 1 item(s): a (distance = 0){NO_VALUE}",
        ),
        fault(
            "a training item outside the range",
            lambda: fit(items(distance=[1, 4, 11])),
            DataError,
            "distance: 1 training item(s) lie outside its declared range [0, 10]: c; widen the "
            "range in the declaration of the node, or leave out those items",
        ),
        fault(
            "an unknown category",
            lambda: fit(items(behind=[0, 1, 2])),
            DataError,
            "behind is not one of its levels 0, 1 on 1 item(s): c (behind = 2); correct the item, "
            "or add the level",
        ),
        fault(
            "a category as text",
            lambda: fit(items(behind=["no", "yes", "no"])),
            DataError,
            "behind is not a number on 3 item(s): a (behind = 'no'), b (behind = 'yes'), c (behind "
            f"= 'no'){NUMBERS}",
        ),
        fault(
            "a missing column",
            lambda: fit(items().drop(columns="distance")),
            DataError,
            "distance: the items have no column distance; the columns are behind; rename one, or "
            "add it",
        ),
        fault(
            "no column at all",
            lambda: fit(items()[[]]),
            DataError,
            "distance: the items have no column distance; the columns are none; rename one, or add "
            "it",
        ),
        fault(
            "a column twice",
            lambda: fit(pd.concat([items(), items()[["distance"]]], axis=1)),
            DataError,
            "items: the column(s) distance occur more than once; rename them",
        ),
    ],
)
def test_refused(call, error, message):
    with exactly(error, message):
        call()


@pytest.mark.parametrize("ask", ["forecast", "check", "simulate"])
def test_every_question_is_refused_alike(ask):
    layout, zero = of_log(), pd.DataFrame({"demand": [0.0, 2.0]}, ["x", "y"])
    outcomes = Evaluation.from_wide(table([[1, 0]], ["Ann"], ["x", "y"]), zero + 1)
    done = ml.fit(layout, outcomes, **OPTIONS)
    known = ml.Evaluation(zero, outcomes.successes, outcomes.trials)
    asked = {
        "forecast": lambda: done.forecast(zero),
        "check": lambda: ml.check(layout, known),
        "simulate": lambda: ml.simulate(
            layout, zero, pd.DataFrame({"effort": [1.0]}, ["s"]), seed=1
        ),
    }
    with exactly(
        DataError, f"log(demand) has no finite value on 1 item(s): x (demand = 0){NO_VALUE}"
    ):
        asked[ask]()


def test_a_demand_near_zero_has_a_log():
    """Twin: what is refused is the value, not the formula."""
    found = fit(items(demand=[1, 1e-9, 7]), of_log())
    assert found.subjects == ["Ann", "Bob"]


def test_an_infinite_end_of_a_band_has_a_value():
    """Twin: infinity is refused where a formula makes it, not where it was declared."""
    low = ml.MetaFeature("low", low=float("-inf"), high=10)
    high = ml.MetaFeature("high", low=0, high=10)
    risk = ml.Propensity("risk", low=-4, high=4)
    layout = ml.Layout("banded", ml.Success("found", band(low, risk, high)))
    properties = items(low=[-np.inf, -2, -1], high=[1, 2, 3])
    assert fit(properties, layout).subjects == ["Ann", "Bob"]


def test_columns_in_any_order_are_the_same():
    ours, turned = fit(), fit(items()[["behind", "distance"]])
    assert ours.data.identical(turned.data)
    new = items().rename(index=str.upper)
    assert ours.forecast(new).data.identical(ours.forecast(new[["behind", "distance"]]).data)


def test_collinear_demands_are_named_before_anything_is_sampled():
    size, sight = ml.MetaFeature("size", low=0, high=20), ml.Capability("sight", low=0, high=20)
    both = logistic(reach - distance) * logistic(sight - size)
    layout = ml.Layout("two", ml.Success("found", both))
    properties = items(size=[3.0, 9.0, 15.0])
    found = ml.check(layout, Evaluation.from_wide(table([[1, 1, 0], [1, 0, 0]]), properties))
    assert found.problems[-1] == (
        "distance and size are correlated (1.00); their effects cannot be told apart: add items "
        "that have one and not the other"
    )
    apart = items(size=[3.0, 9.0, 2.0])
    found = ml.check(layout, Evaluation.from_wide(table([[1, 1, 0], [1, 0, 0]]), apart))
    assert not any("correlated" in problem for problem in found.problems)
