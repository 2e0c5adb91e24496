"""Ranges: no value that the operands allow ever lies outside."""

import math

import numpy as np
import pytest
from helpers.random_expressions import node_values, twins
from hypothesis import given
from hypothesis import strategies as st

from measurement_layouts import Bias, Capability, LayoutError, MetaFeature
from measurement_layouts.linking import guessing, mean_failure, mixture, presence, product
from measurement_layouts.linking.interval import REALS, UNIT, Interval

inf = math.inf
ENDS = st.sampled_from([-inf, -3.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, inf]) | st.floats(-5, 5)


@st.composite
def intervals_and_points(draw):
    low, high = sorted((draw(ENDS), draw(ENDS)))
    if math.isinf(low) and low == high:
        low, high = -inf, inf
    inside = st.floats(max(low, -1e6), min(high, 1e6))
    return Interval(low, high), draw(inside)


def holds(interval, value):
    return interval.low - 1e-9 * abs(value) <= value <= interval.high + 1e-9 * abs(value)


@given(one=intervals_and_points(), other=intervals_and_points())
def test_arithmetic_holds_every_result(one, other):
    (a, x), (b, y) = one, other
    assert holds(a + b, x + y)
    assert holds(a - b, x - y)
    assert holds(a * b, x * y)
    assert holds(a.hull(b), x)
    if y != 0:
        assert holds(a / b, x / y)


@given(base=intervals_and_points(), exponent=st.integers(-3, 4))
def test_whole_powers_hold_every_result(base, exponent):
    interval, x = base
    if abs(x) > 1e-50 or exponent >= 0:
        assert holds(interval ** Interval(exponent, exponent), x**exponent)


@given(base=intervals_and_points(), exponent=intervals_and_points())
def test_other_powers_hold_every_result(base, exponent):
    (a, x), (b, y) = base, exponent
    if x > 0:
        with np.errstate(over="ignore"):
            assert holds(a**b, float(np.float64(x) ** y))


@pytest.mark.parametrize(
    ("range_", "expected"),
    [
        (Interval(-1, 2) ** Interval(2, 2), "[0, 4]"),
        (Interval(-2, -1) ** Interval(-2, -2), "[0.25, 1]"),
        (Interval(-1, 2) ** Interval(-2, -2), "[0.25, inf]"),
        (Interval(-1, 2) ** Interval(-1, -1), "[-inf, inf]"),
        (Interval(0, 2) ** Interval(0, 0), "[1, 1]"),
        (Interval(0, 2) ** Interval(0.5, 2), "[0, 4]"),
        (Interval(0, 2) ** Interval(-1, 1), "[0, inf]"),
        (Interval(-1e200, 1e200) ** Interval(3, 3), "[-inf, inf]"),
        (Interval(0, 1e200) ** Interval(2, 2), "[0, inf]"),
        (Interval(0, inf) * Interval(0, 1), "[0, inf]"),
        (Interval(0, 0) * REALS, "[0, 0]"),
        (Interval(1, 2) / Interval(0, 4), "[0.25, inf]"),
        (Interval(1, 2) / Interval(-4, 0), "[-inf, -0.25]"),
        (Interval(-1, 2) / Interval(0, 4), "[-inf, inf]"),
        (Interval(1, inf) / Interval(1, inf), "[0, inf]"),
        (Interval(1, 2) / Interval(-1, 1), "[-inf, inf]"),
        (Interval(-inf, 1) + Interval(2, inf), "[-inf, inf]"),
        (Interval(inf, inf) - Interval(inf, inf), "[-inf, inf]"),
        (REALS - REALS, "[-inf, inf]"),
    ],
)
def test_known_ranges(range_, expected):
    assert repr(range_) == expected


def test_ends_are_told_apart_where_it_matters():
    assert repr(Interval(0, 1.0000001)) == "[0, 1.0000001]"
    assert Interval(0, 1 + 1e-12) in UNIT
    assert Interval(0, 1.0000001) not in UNIT


@pytest.mark.parametrize("ends", [(1, 0), (math.nan, 1), (0, math.nan)])
def test_reversed_ends_are_refused(ends):
    with pytest.raises(LayoutError, match="reversed or not a number"):
        Interval(*ends)


@given(twin=twins(), values=node_values())
def test_the_range_of_an_expression_holds_all_its_values(twin, values):
    with np.errstate(over="ignore", invalid="ignore"):
        computed = np.broadcast_to(twin.plain(values), 3)
    range_ = twin.expr.range
    for value in computed:
        slack = 1e-9 * (1 + abs(value))
        assert range_.low - slack <= value <= range_.high + slack


SOME = MetaFeature("some", low=0.2, high=0.4)
MANY = MetaFeature("many", low=0.5, high=0.9)


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        (mixture(SOME, by=MANY, toward=0.9), "[0.2, 0.9]"),
        (mixture(SOME, by=MANY, toward=mean_failure), "[0, 1]"),
        (presence(SOME, MANY), "[0.28, 0.7]"),
        (guessing(SOME, MANY), "[0.6, 0.94]"),
        (product(SOME, MANY), "[0.1, 0.36]"),
        (0.5 * SOME + 0.5 * MANY, "[0.35, 0.65]"),
        (Bias("lean") - SOME, "[-inf, inf]"),
        (1 / Capability("pace", low=0, high=2), "[0.5, inf]"),
    ],
)
def test_known_ranges_of_linking_functions(expr, expected):
    assert repr(expr.range) == expected
