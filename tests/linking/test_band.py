"""The band against the propensities paper: section 3.2 and appendices B.2 to B.4.

Half-widths go down to 0.05: narrower bands are widened to the least width, which is tested apart.
"""

import math

import numpy as np
import pytest
from helpers import exact_formulas as exact
from hypothesis import given
from hypothesis import strategies as st

from measurement_layouts import LayoutError
from measurement_layouts.linking import arrays, band

inf = math.inf
ROUNDING = 1e-12
HALF_WIDTHS = st.floats(0.05, 1e6)
PLACES = st.floats(-1e3, 1e3)
SLOPES = st.floats(0.01, 100)
HIGHEST_END = 1 / (2 * (arrays.sigmoid(math.e) ** 2 + (1 - arrays.sigmoid(math.e)) ** 2))


def at_the_end(r, slope=1.0):
    return float(band(r, -r, r, slope))


def lemma_b1(r, slope=1.0):
    s = exact.sigmoid((slope + math.expm1(1 / r)) * r)
    return float(1 / (2 * (s**2 + (1 - s) ** 2)))


@given(middle=PLACES, r=HALF_WIDTHS, slope=SLOPES)
def test_is_one_at_the_midpoint_of_every_width(middle, r, slope):
    low, high = middle - r, middle + r
    assert float(band((low + high) / 2, low, high, slope)) == pytest.approx(1, abs=ROUNDING)


@given(r=HALF_WIDTHS)
def test_ends_stay_between_a_half_and_the_bound_of_theorem_b6(r):
    assert 0.5 - ROUNDING <= at_the_end(r) <= HIGHEST_END + ROUNDING


@given(r=HALF_WIDTHS, slope=SLOPES)
def test_ends_equal_lemma_b1(r, slope):
    assert at_the_end(r, slope) == pytest.approx(lemma_b1(r, slope), abs=ROUNDING)


@given(offset=st.floats(0, 50), middle=st.integers(-100, 100), r=st.floats(0.05, 100))
def test_is_symmetric_about_the_midpoint(offset, middle, r):
    ends = middle - r, middle + r
    below, above = float(band(middle - offset, *ends)), float(band(middle + offset, *ends))
    assert below == pytest.approx(above, rel=1e-6, abs=ROUNDING)  # rounding of the place, times a'


@given(theta=st.floats(-20, 20), end=st.floats(-20, 20), slope=SLOPES)
def test_an_infinite_end_gives_the_two_parameter_logistic_exactly(theta, end, slope):
    assert float(band(theta, end, inf, slope)) == pytest.approx(
        float(exact.sigmoid(theta - end, slope)), abs=ROUNDING
    )
    assert float(band(theta, -inf, end, slope)) == pytest.approx(
        float(exact.sigmoid(end - theta, slope)), abs=ROUNDING
    )


@pytest.mark.parametrize("slope", [0.3, 1.0, 4.0])
def test_wide_bands_converge_to_the_two_parameter_logistic(slope):
    """Theorem B.9: a' exceeds the slope by about 1/r, which moves the curve by that much."""
    theta = np.linspace(-5, 5, 41)
    errors = []
    for width in (1e2, 1e4, 1e6):
        error = np.abs(band(theta, -1.0, -1.0 + width, slope) - band(theta, -1.0, inf, slope)).max()
        mirrored = band(-theta, 1.0 - width, 1.0, slope)
        np.testing.assert_allclose(
            mirrored, band(theta, -1.0, -1.0 + width, slope), rtol=1e-9, atol=ROUNDING
        )
        assert error < 6 * 2 / width  # the largest margin times 1/r
        errors.append(error)
    assert errors[0] > errors[1] > errors[2]


def test_a_low_end_at_infinity_or_a_high_one_at_minus_infinity_never_succeeds():
    theta = np.array([-1e3, 0.0, 1e3])
    np.testing.assert_array_equal(band(theta, inf, inf), 0.0)
    np.testing.assert_array_equal(band(theta, -inf, -inf), 0.0)
    np.testing.assert_array_equal(band(theta, inf, 3.0), 0.0)


@given(theta=st.floats(-3, 3), middle=st.floats(-2, 2), width=st.floats(-5, 0.1))
def test_bands_under_the_least_width_are_widened_about_their_centre(theta, middle, width):
    """Width zero and reversed bands too; the centre's rounding counts 2.4e7 times at width 0.1."""
    low, high = middle - width / 2, middle + width / 2
    centre = low / 2 + high / 2
    narrow, least = band(theta, low, high), band(theta, centre - 0.05, centre + 0.05)
    assert float(narrow) == pytest.approx(float(least), abs=1e-6)


def test_the_least_width_can_be_chosen():
    assert float(band(0.5, 0.0, 0.0, min_width=1.0)) == float(band(0.5, -0.5, 0.5))
    assert float(band(0.5, 0.0, 0.0)) < 1e-12
    with pytest.raises(LayoutError, match=r"band: min_width=0; give a width of at least 0\.01"):
        band(0.5, 0.0, 0.0, min_width=0)
    assert float(band(0.004, 0.0, 0.0, min_width=0.01)) == pytest.approx(1)
