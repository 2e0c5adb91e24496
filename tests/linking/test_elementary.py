"""NumPy's elementary functions of nodes build expressions that compute what NumPy does."""

import itertools
import json
import math
import pickle

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
import scipy.special
from helpers.function_cases import AS_WRITTEN

import measurement_layouts as ml
from measurement_layouts import LayoutError
from measurement_layouts.linking import Expr, evaluate, logistic

inf = math.inf
ROUNDING = 1e-14  # one or two operations, each rounded to 2**-53

distance = ml.MetaFeature("distance", low=1, high=60, unit="m")
size = ml.MetaFeature("size", low=0.25, high=8, unit="m")
x = ml.MetaFeature("x", low=-1, high=1)
y = ml.MetaFeature("y", low=0, high=3)

WHOLE = np.linspace(-1, 1, 41)
POSITIVE = np.geomspace(1e-3, 3, 41)
UNARY = [
    *((ufunc, x, WHOLE) for ufunc in (np.exp, np.expm1, np.absolute, np.fabs, np.square)),
    (np.negative, x, WHOLE),
    *((ufunc, y, POSITIVE) for ufunc in (np.log, np.log1p, np.log2, np.log10, np.sqrt)),
    (np.reciprocal, y, POSITIVE),
]
BINARY = [*(np.add, np.subtract, np.multiply, np.divide, np.true_divide), *(np.maximum, np.minimum)]


def of(ufuncs):
    return pytest.mark.parametrize(
        ("ufunc", "node", "points"), [pytest.param(*one, id=one[0].__name__) for one in ufuncs]
    )


@of(UNARY)
def test_functions_of_one_node_compute_what_numpy_does(ufunc, node, points):
    """With NumPy's arrays and PyTensor's variables, within the range that the expression states."""
    expr = ufunc(node)
    assert isinstance(expr, Expr)
    wanted = ufunc(points)
    np.testing.assert_allclose(
        evaluate(expr, {node.name: points}), wanted, rtol=ROUNDING, atol=ROUNDING
    )
    variable = pt.dvector()
    graph = evaluate(expr, {node.name: variable})
    compute = pytensor.function([variable], graph, mode=AS_WRITTEN)
    np.testing.assert_allclose(compute(points), wanted, rtol=ROUNDING, atol=ROUNDING)
    ends = np.linspace(node.range.low, node.range.high, 2001)
    with np.errstate(divide="ignore"):
        values = ufunc(ends)
    assert (expr.range.low, expr.range.high) == pytest.approx((values.min(), values.max()))


@pytest.mark.parametrize("ufunc", BINARY, ids=lambda ufunc: ufunc.__name__)
def test_functions_of_two_compute_what_numpy_does(ufunc):
    """Of nodes, and of a node and a number on either side."""
    rng = np.random.default_rng(1)
    known = {"distance": rng.uniform(1, 60, 50), "size": rng.uniform(0.25, 8, 50)}
    for left, right in ((distance, size), (distance, 3.0), (np.float64(3), size)):
        expr = ufunc(left, right)
        values = [known[one.name] if isinstance(one, Expr) else one for one in (left, right)]
        np.testing.assert_allclose(evaluate(expr, known), ufunc(*values), rtol=ROUNDING)
        ends = [one.range if isinstance(one, Expr) else None for one in (left, right)]
        corners = itertools.product(
            *(
                [one] if end is None else [end.low, end.high]
                for end, one in zip(ends, (left, right), strict=True)
            )
        )
        found = [float(ufunc(*corner)) for corner in corners]
        assert (expr.range.low, expr.range.high) == pytest.approx((min(found), max(found)))


def test_a_range_that_overflows_or_ends_at_zero_is_infinite():
    far = ml.MetaFeature("far", low=0, high=1000)
    assert np.exp(far).range.high == inf
    assert np.log(far).range.low == -inf
    assert np.log1p(far).range.low == 0


def test_units():
    assert np.sqrt(distance * size).unit == distance.unit
    assert np.square(distance).unit == distance.unit**2
    assert np.maximum(distance, size).unit == np.absolute(distance - size).unit == distance.unit
    assert ml.linking.expression.units.is_pure(np.log(distance / size).unit)


def test_written_as_text():
    assert str(np.log(distance / size)) == "log(distance / size)"


@pytest.mark.parametrize(
    ("build", "complaint"),
    [
        (lambda: np.log(x), "log:"),
        (lambda: np.log2(x), "log2:"),
        (lambda: np.log1p(x - 1), "log1p:"),
        (lambda: np.sqrt(x), "x:"),
        (lambda: np.log(distance), "log:"),
        (lambda: np.exp(distance / y), "exp:"),
        (lambda: np.maximum(distance, x), "x:"),
        (lambda: np.sin(x), "x:"),
        (lambda: np.isnan(x), "x:"),
        (lambda: np.add.reduce(x), "x:"),
        (lambda: np.log(x, where=True), "x:"),
        (lambda: np.float64(1) < x, "x:"),
        (lambda: np.log(np.array([1.0]) * y), "ndarray.*cannot be part of"),
    ],
)
def test_what_has_no_value_or_no_expression_is_refused_on_its_line(build, complaint):
    with pytest.raises(LayoutError, match=complaint):
        build()


def test_numbers_of_numpy_are_no_nodes():
    assert (np.float64(1) == x) is False
    assert (np.float64(1) != x) is True
    assert np.log(x + 2) == np.log(x + 2)
    assert np.log(x + 2) != np.log2(x + 2)


def test_scipys_logistic_is_the_linking_function():
    assert scipy.special.expit(x) == logistic(x)


def sight():
    """Uses every function, of latents and of meta-features."""
    reach = ml.Capability("reach", low=0.5, high=9)
    keen = ml.Bias("keen")
    octaves = np.log2(distance / size) - np.log10(distance / size) + np.log(distance / size)
    bent = np.sqrt(reach) + np.log1p(reach) - np.reciprocal(reach) + np.square(keen) / 8
    turned = np.expm1(-np.absolute(keen * x)) + np.exp(-np.maximum(keen, y)) - np.minimum(reach, y)
    return ml.Layout("sight", ml.Success("seen", scipy.special.expit(bent + turned - octaves / 3)))


def test_a_layout_is_written_and_read_back():
    layout = sight()
    read = ml.Layout.from_dict(json.loads(json.dumps(layout.to_dict())))
    assert read == layout
    assert read.fingerprint == layout.fingerprint
    assert pickle.loads(pickle.dumps(layout)) == layout
    assert "log2" in layout.to_mermaid()
