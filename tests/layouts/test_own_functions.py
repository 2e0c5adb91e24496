"""Linking functions of one's own: a layout is refused where one gives no such numbers."""

import numpy as np
import pytest

from measurement_layouts import Capability, Layout, LayoutError, MetaFeature, Success
from measurement_layouts.linking import arrays, linking_function, logistic, product

A_B_C = ("a", "b", "c")


def layout_of(formula, labels=None):
    function = linking_function(range=(0, 1))(formula)
    skill = Capability("skill", low=0, high=2, labels=labels)
    demand = MetaFeature("demand", low=0, high=2, labels=labels)
    made = function(skill - demand)
    return Layout(
        "own", Success("passed", made if labels is None else product(made, over="dimension"))
    )


def raising(x):
    raise KeyError("nothing here")


def misshapen(x):
    return np.zeros((7, 5, 3))


def reducing(x):
    return arrays.sigmoid(arrays.sum(x, axis=-1))


def text(x):
    return "0.5"


def beyond(x):
    return x * 0 + 2


def truth_of_an_array(x):
    return 1.0 if x > 0 else 0.0


@pytest.mark.parametrize(
    ("formula", "labels", "complaint"),
    [
        (raising, None, r"raising\(skill − demand\):"),
        (misshapen, None, "misshapen gives an array of"),
        (reducing, A_B_C, "reducing gives an array of"),
        (text, None, "the formula of text gives"),
        (beyond, None, "beyond declares the range"),
        (truth_of_an_array, None, "raised ValueError:"),
    ],
)
def test_a_formula_that_gives_no_such_numbers_is_refused(formula, labels, complaint):
    with pytest.raises(LayoutError, match=complaint):
        layout_of(formula, labels)


@pytest.mark.parametrize("value", [None, "a", [1.0], np.array(["a"]), 1j, np.timedelta64(1, "s")])
def test_what_is_no_number_is_no_operand(value):
    with pytest.raises(
        LayoutError, match=r"logistic: margin is .*; give a node, a number or an arr"
    ):
        logistic(value)


@pytest.mark.parametrize("value", [10**400, np.timedelta64(1, "s")])
def test_what_no_float_holds_stands_in_no_expression(value):
    with pytest.raises(
        LayoutError, match="cannot be part of an expression; use a node or a number"
    ):
        Capability("skill", low=0, high=2) * value
    with pytest.raises(LayoutError, match=r"low=.* is not a number; give a number in the unit"):
        Capability("skill", low=value, high=2)
