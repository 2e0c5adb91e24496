"""Making linking functions: operands, options, checks, and what tells two of them apart."""

import copy
import pickle

import numpy as np
import pytest

from measurement_layouts import Capability, LayoutError, MetaFeature
from measurement_layouts.linking import (
    LinkingFunction,
    arrays,
    band,
    evaluate,
    guessing,
    linking_function,
    logistic,
    mean_failure,
    mixture,
    presence,
    product,
)

a, b = (Capability(name, low=0, high=1) for name in "ab")
wide = Capability("wide", low=-1, high=3)


@linking_function(range=(0, 1), domain={"p": (0, 1)})
def sharpen(p, floor=0.0, *, times=2):
    """A function of this module, which pickle finds by its name."""
    for _ in range(times):
        p = p * p
    return arrays.maximum(p, floor)


def test_numbers_and_arrays_compute_and_nodes_build():
    assert sharpen(0.5) == 0.0625
    np.testing.assert_array_equal(sharpen(np.array([0.5, 0.1]), 0.05), [0.0625, 0.05])
    expr = sharpen(a, times=1)
    assert evaluate(expr, {"a": 0.5}) == 0.25
    assert str(expr.range) == "[0, 1]"
    assert expr == sharpen(p=a, floor=0, times=1.0)


@pytest.mark.parametrize(
    ("build", "complaint"),
    [
        (lambda: mixture(wide, by=a, toward=mean_failure), "mixture:"),
        (lambda: mixture(a, by=wide, toward=mean_failure), "mixture:"),
        (lambda: mixture(a, by=b, toward=1.5), "toward = 1.5 ranges over"),
        (lambda: guessing(wide, 0.2), "guessing:"),
        (lambda: guessing(a, -0.1), "guessing:"),
        (lambda: presence(a, wide), "presence:"),
        (lambda: product(a, wide), "product:"),
        (lambda: product([a, b]), "product:"),
        (lambda: product((a, 0.5)), "product:"),
        (lambda: band(a, 0, 1, min_width=0.001), "band:"),
        (lambda: band(a, 0, 1, min_width=b), "band:"),
        (lambda: sharpen(a, times=float("nan")), "sharpen:"),
        (lambda: sharpen(a, times=object()), "sharpen:"),
        (lambda: sharpen("a", a), "'a' .* cannot be part of an"),
        (lambda: logistic.spanning(3, 3), "spanning:"),
        (lambda: logistic.spanning(3, float("inf")), "must be finite with low <"),
        (lambda: product.build([], [], {"over": None}), "product:"),
    ],
)
def test_operands_and_options_that_do_not_fit_are_refused(build, complaint):
    with pytest.raises(LayoutError, match=complaint):
        build()


@pytest.mark.parametrize(
    ("build", "complaint"),
    [
        (lambda: mixture(a), r"mixture\(p, by, toward\):"),
        (lambda: logistic(a, steepness=2), "logistic.* unexpected"),
        (lambda: logistic(), "logistic.* missing a"),
    ],
)
def test_a_call_that_does_not_fit_the_signature_names_the_function(build, complaint):
    with pytest.raises(TypeError, match=complaint):
        build()


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"range": (1, 0)}, "formula:"),
        ({"range": (0, "one")}, "range="),
        ({"range": 5}, "range=5"),
        ({"range": (0, 1), "domain": {"q": (0, 1)}}, "domain= or same_unit= name"),
        ({"range": (0, 1), "same_unit": ("q",)}, "domain= or same_unit= name q"),
        ({"range": (0, 1), "domain": {"p": (2, 1)}}, r"p=\(2, 1\); give the lower"),
    ],
)
def test_a_decorator_that_does_not_fit_is_refused(options, complaint):
    def formula(p):
        return p

    with pytest.raises(LayoutError, match=complaint):
        linking_function(**options)(formula)


def test_a_check_of_ones_own_sees_operands_and_options():
    def check(p, *, steps):
        if steps > p.range.high:
            raise LayoutError(f"ladder: steps={steps} pass the top of {p}")

    @linking_function(range=(0, 1), check=check)
    def ladder(p, *, steps=1):
        return p

    ladder(a)
    with pytest.raises(LayoutError, match="steps=3 pass the top of a"):
        ladder(a, steps=3)


def test_a_range_can_follow_the_operands():
    @linking_function(range=lambda p, *, by: p * type(p)(by, by), keeps_unit=True, same_unit=("p",))
    def scaled(p, *, by):
        return p * by

    depth = MetaFeature("depth", low=1, high=2, unit="m")
    assert str(scaled(depth, by=3).range) == "[3, 6]"
    assert scaled(depth, by=3).unit == depth.unit


def made(factor, remark):
    if remark:

        @linking_function(range=(0, 1))
        def scale(p, *, by=2):
            """Say something."""
            # and something else
            return factor * p * by

    else:

        @linking_function(range=(0, 5))
        def scale(p, *, by=2):
            return factor * p * by

    return scale


def test_a_digest_tells_formulas_apart_and_overlooks_remarks():
    assert made(2, False).digest == made(2, True).digest
    assert made(2, False).digest != made(3, False).digest  # the value that it closes over
    other = linking_function(range=(0, 1))(lambda p, *, by=2: p * by)
    assert other.digest != made(2, False).digest
    assert made(2, False) == made(2, False)
    assert made(2, False) != made(3, False)
    assert made(2, False)(a) == made(2, False)(a)
    assert made(2, False)(a) != made(3, False)(a)
    assert sharpen != "sharpen"


def test_a_formula_without_a_source_has_no_digest():
    space = {}
    exec("def f(p): return 2 * p", space)
    with pytest.raises(LayoutError, match="f: its source cannot be read; define it in a file"):
        _ = LinkingFunction(space["f"], range=(0, 1)).digest


def test_linking_functions_survive_pickling_by_name():
    for function in (logistic, product, sharpen):
        assert pickle.loads(pickle.dumps(function)) is function
        assert copy.deepcopy(function) is function
    expr = mixture(logistic(a - b), by=0.1, toward=mean_failure) * sharpen(a)
    assert pickle.loads(pickle.dumps(expr)) == expr


def test_a_function_made_inside_another_is_pickled_by_value():
    """What cloudpickle (joblib, Dask) does for a notebook's functions; 3.1.3 drops their source."""
    cloudpickle = pytest.importorskip("cloudpickle")
    local = made(2, False)
    clone = pickle.loads(cloudpickle.dumps(local))
    assert clone is not local
    assert clone == local
    assert clone(0.5) == local(0.5) == 2
    assert pickle.loads(cloudpickle.dumps(local(a))) == local(a)
