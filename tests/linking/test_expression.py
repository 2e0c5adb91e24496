"""The algebra: what expressions compute, and what they refuse."""

import copy
import math
import pickle
import time

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from helpers.function_cases import AS_WRITTEN
from helpers.random_expressions import NODES, node_values, twins
from hypothesis import given

from measurement_layouts import Bias, Capability, Derived, LayoutError, MetaFeature
from measurement_layouts.linking import evaluate, logistic, mean_failure, mixture
from measurement_layouts.linking.evaluation import ancestry
from measurement_layouts.linking.expression import Constant, Operation, as_expr

a, b, c = (Capability(name, low=0, high=2) for name in "abc")
x = MetaFeature("x", low=-1, high=1)


@given(twin=twins(), values=node_values())
def test_expressions_compute_what_numpy_does(twin, values):
    with np.errstate(over="ignore", invalid="ignore"):
        expected = np.broadcast_to(twin.plain(values), 3)
        computed = np.broadcast_to(evaluate(twin.expr, values), 3)
    np.testing.assert_allclose(computed, expected, rtol=1e-9, atol=1e-9)


@given(twin=twins())
def test_expressions_compute_the_same_in_pytensor(twin):
    values = {name: np.array([0.3, 0.5, 0.7]) for name in NODES}
    variables = {name: pt.dvector(name) for name in NODES}
    graph = pt.as_tensor(evaluate(twin.expr, variables))
    compute = pytensor.function(
        [*variables.values()], graph, mode=AS_WRITTEN, on_unused_input="ignore"
    )
    with np.errstate(over="ignore", invalid="ignore"):
        expected = evaluate(twin.expr, values)
        np.testing.assert_allclose(compute(*values.values()), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    "number", [2, 2.0, np.float64(2), np.float32(2), np.int64(2), np.int8(2), True]
)
def test_numbers_of_any_kind_build_expressions_from_either_side(number):
    built = [number + a, a + number, number - a, a - number, number * a, a * number]
    built += [number / a, a / number, number**a, a**number]
    for expr in built:
        assert isinstance(expr, Operation)
    at = {"a": 0.5}
    n = float(number)
    expected = [n + 0.5, 0.5 + n, n - 0.5, 0.5 - n, n / 2, n / 2, n / 0.5, 0.5 / n, n**0.5, 0.5**n]
    assert [float(evaluate(expr, at)) for expr in built] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("build", "complaint"),
    [
        (lambda: a + math.nan, "NaN"),
        (lambda: np.nan * a, "NaN"),
        (lambda: a + "x", r"'x' \(str\) cannot be part"),
        (lambda: a * np.array([1.0, 2.0]), "ndarray.*cannot be part of"),
        (lambda: np.array([1.0, 2.0]) * a, "ndarray.*cannot be part of"),
        (lambda: a + None, "cannot be part of an"),
        (lambda: a - math.inf, "arithmetic with an infinite"),
        (lambda: a / 0, "a / 0: it divides by zero;"),
        (lambda: x**0.5, "x:"),
        (lambda: x**a, "x:"),
        (lambda: bool(a), "a:"),
        (lambda: 1 if a else 2, "use a linking function"),
        (lambda: a and b, "a:"),
        (lambda: a > 1, "a:"),
        (lambda: a <= 1, "a:"),
        (lambda: sorted([a, b]), "cannot be compared"),
        (lambda: evaluate(a + b, {"a": 1}), "b cannot be computed from"),
    ],
)
def test_what_cannot_be_meant_is_refused(build, complaint):
    with pytest.raises(LayoutError, match=complaint):
        build()


@pytest.mark.parametrize("build", [lambda: x**2, lambda: x**-1.0, lambda: a**0.5, lambda: 2**x])
def test_powers_that_have_a_value_are_built(build):
    assert isinstance(build(), Operation)


def test_expressions_built_alike_are_equal():
    def build(last):
        return logistic(a - 2 * b + 1, slope=c) * (a / b) ** last

    assert build(2) == build(2)
    assert hash(build(2)) == hash(build(2.0))
    assert build(2) != build(3)
    assert a - b != b - a
    assert a + b != a - b
    assert logistic(a) != a
    assert a != 1
    assert Constant(2.0) != 2.0
    assert as_expr(-0.0) == as_expr(0)
    assert a != Capability("a", low=0, high=3)
    assert a != Capability("a", low=0, high=2, unit="m")
    assert {build(2): "found"}[build(2)] == "found"


def test_expressions_are_never_changed_and_survive_copies():
    demand = MetaFeature("demand", low=0, high=5, unit="s*level")
    ability = Capability("ability", low=0, high=5, unit="level*s")
    expr = (
        Derived(
            "p", mixture(logistic(ability - demand + Bias("lean")), by=0.1, toward=mean_failure)
        )
        * 0.5
        + c**2
    )
    for clone in (copy.copy(expr), copy.deepcopy(expr), pickle.loads(pickle.dumps(expr))):
        assert clone == expr
        assert str(clone) == str(expr)
        assert clone.unit == expr.unit
        assert clone + 1 == expr + 1  # units of a copy still go with those of the original
    with pytest.raises(AttributeError):
        expr.symbol = "-"


def doubled(times):
    expr = a
    for _ in range(times):
        expr = expr + expr
    return expr


def test_a_shared_part_costs_nothing_however_often_it_is_used():
    """Written out, these have 2**41 parts: any walk that is not memoised would never end."""
    begun = time.perf_counter()
    one, other = doubled(40), doubled(40)
    assert one == other
    assert one != doubled(39) + doubled(40)
    assert hash(one) == hash(other)
    assert evaluate(one, {"a": 1.0}) == 2.0**40
    assert one.range.high == 2.0**41
    assert one.dims == {}
    assert one.size == 2**41 - 1
    assert str(one) == "a formula of 2,199,023,255,551 parts"
    assert len(list(ancestry(one))) == 41
    assert pickle.loads(pickle.dumps(one)) == one
    assert copy.deepcopy(one) == one
    assert repr(one) == f"<{one}>"
    assert time.perf_counter() - begun < 5


def test_a_shared_part_is_computed_once():
    class Counting:
        def __init__(self):
            self.uses = 0

        def __add__(self, other):
            self.uses += 1
            return self

    counter = Counting()
    evaluate(doubled(10), {"a": counter})
    assert counter.uses == 10


def test_named_values_are_handed_out_and_known_ones_taken():
    see = Derived("see", logistic(a))
    both = Derived("both", see * logistic(b))
    found = {}
    value = evaluate(both, {"a": 0.0, "b": 0.0}, named=found)
    assert found == {"see": 0.5, "both": 0.25}
    assert value == 0.25
    assert evaluate(both, {"see": 1.0, "b": 0.0}) == 0.5


def test_truth_values_and_small_integers_compute_as_floats():
    flag, level = MetaFeature("flag", levels=(0, 1)), MetaFeature("level", levels=(0, 5))
    values = {"flag": np.array([True, False]), "level": np.array([100, 100], dtype="int8")}
    np.testing.assert_array_equal(evaluate(flag - flag, values), [0, 0])
    np.testing.assert_array_equal(evaluate(level * level, values), [1e4, 1e4])
    np.testing.assert_array_equal(evaluate(level**-1.0, values), [0.01, 0.01])
    variable = pt.vector(dtype="int8")
    square = evaluate(level * level, {"level": variable})
    compute = pytensor.function([variable], square, mode=AS_WRITTEN)
    np.testing.assert_array_equal(compute(values["level"]), [1e4, 1e4])
