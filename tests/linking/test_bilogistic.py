"""The bilogistic against the propensities paper: Eq. 2 without normalisation, and Theorem B.8."""

import math

import numpy as np
import pytest
from helpers import exact_formulas as exact
from hypothesis import given
from hypothesis import strategies as st

from measurement_layouts import LayoutError, MetaFeature, Propensity
from measurement_layouts.linking import arrays, band, bilogistic

inf = math.inf
ROUNDING = 1e-12
SLOPES = st.floats(0.01, 100)


@given(theta=st.floats(-20, 20), end=st.floats(-20, 20), slope=SLOPES, other=SLOPES)
def test_an_infinite_end_gives_the_two_parameter_logistic_of_the_other(theta, end, slope, other):
    """Equations 20 and 21, at the limit itself."""
    above, below = (
        bilogistic(theta, end, inf, slope, other),
        bilogistic(theta, -inf, end, other, slope),
    )
    assert float(above) == pytest.approx(float(exact.sigmoid(theta - end, slope)), abs=ROUNDING)
    assert float(below) == pytest.approx(float(exact.sigmoid(end - theta, slope)), abs=ROUNDING)


@pytest.mark.parametrize("width", [0.0, 0.5, 2.0, 8.0])
def test_its_maximum_is_below_one_and_at_the_midpoint_for_equal_slopes(width):
    theta = np.linspace(-6, 6, 1201)
    curve = bilogistic(theta, -width / 2, width / 2, 1.5, 1.5)
    assert theta[curve.argmax()] == pytest.approx(0, abs=1e-9)
    assert curve.max() == pytest.approx(arrays.sigmoid(1.5 * width / 2) ** 2, abs=ROUNDING)


def test_normalised_and_sharpened_it_is_the_band():
    """Equations 3 to 5."""
    theta, r = np.linspace(-4, 6, 50), 1.5
    steep = 2.0 + math.expm1(1 / r)
    peak = arrays.sigmoid(steep * r) ** 2
    plain = bilogistic(theta, -0.5, 2.5, steep, steep)
    np.testing.assert_allclose(plain / peak, band(theta, -0.5, 2.5, 2.0), rtol=ROUNDING)


def test_ends_have_the_unit_of_the_propensity():
    risk = Propensity("risk", low=-4, high=4, unit="level")
    low = MetaFeature("low", low=-3, high=3, unit="m")
    with pytest.raises(LayoutError, match="low: it has unit m and is in one bilogistic with risk"):
        bilogistic(risk, low, 2)
