"""Every linking function: NumPy against PyTensor, an oracle, and finite gradients at the extremes.

The functions and points are in `function_cases`: adding a linking function means one row there.
`test_functions_by_hand.py` compares the gradients' values with decimals.
"""

import math

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from helpers.function_cases import AS_IN_THE_MODEL, AS_WRITTEN, CASES, compiled, cross

from measurement_layouts import linking
from measurement_layouts.linking import (
    LinkingFunction,
    band,
    bilogistic,
    generalised_mean,
    uncertain_band,
)

inf = math.inf
ROUNDING = 1e-12  # a formula is some ten operations on numbers of the size of its result


def each(cases):
    return pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in cases])


def not_finite(case, function, mode=AS_IN_THE_MODEL):
    """Name the values and gradients that are not finite on the extremes."""
    points = cross(*case.extremes)
    value, *gradients = compiled(function, len(points), mode)(*points)
    found = {"value": value, **{f"d/d operand {i}": g for i, g in enumerate(gradients)}}
    return [name for name, numbers in found.items() if not np.isfinite(numbers).all()]


def test_every_linking_function_has_a_case():
    ours = {value for value in vars(linking).values() if isinstance(value, LinkingFunction)}
    tested = {case.made_of or case.function for case in CASES}
    assert ours <= tested


@each(CASES)
def test_numpy_equals_pytensor(case):
    points = cross(*case.extremes)
    value, *_ = compiled(case.function, len(points))(*points)
    np.testing.assert_allclose(case.function(*points), value, rtol=ROUNDING, atol=ROUNDING)


@each(CASES)
def test_value_and_gradients_are_finite_everywhere(case):
    assert not_finite(case, case.function) == []


@each(case for case in CASES if case.naive is not None)
def test_the_naive_formula_is_not_finite_everywhere(case):
    """Twin that must fail: on these points the textbook formula overflows or divides by zero."""
    with np.errstate(all="ignore"):
        assert not_finite(case, case.naive, AS_WRITTEN) != []


@each(CASES)
def test_whole_numbers_compute_as_their_floats_do(case):
    """Levels are often read as small integers, where products would wrap around."""
    points = [np.array([0, 1, 1, 0], dtype="int8") for _ in case.extremes]
    if case.function in (band, bilogistic, uncertain_band):
        points[2] = points[1] + np.int8(3)
    expected = case.function(*(point.astype(float) for point in points))
    np.testing.assert_allclose(case.function(*points), expected, rtol=ROUNDING)
    variables = [pt.vector(dtype="int8") for _ in points]
    value = pytensor.function(variables, case.function(*variables), mode=AS_WRITTEN)(*points)
    np.testing.assert_allclose(value, expected, rtol=ROUNDING, atol=ROUNDING)


def test_a_mixture_of_numpy_and_pytensor_computes():
    theta = pt.dvector()
    ends = np.array([-inf, 0.0, 1.0]), np.array([1.0, inf, 1.0])
    compute = pytensor.function([theta], band(theta, *ends), mode=AS_IN_THE_MODEL)
    points = np.array([0.2, 0.4, 1.5])
    np.testing.assert_allclose(compute(points), band(points, *ends), rtol=ROUNDING)
    mean = generalised_mean(theta, np.array([0.5, 0.6, 0.7]), 1.0, power=-1)
    compute = pytensor.function([theta], mean, mode=AS_IN_THE_MODEL)
    expected = generalised_mean(points, np.array([0.5, 0.6, 0.7]), 1.0, power=-1)
    np.testing.assert_allclose(compute(points), expected, rtol=ROUNDING)
