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


def test_the_product_without_normalisation_is_not_one_at_the_midpoint():
    """Twin that must fail: the blue curve of the paper's figure 2."""
    plain = arrays.sigmoid(3.0) * arrays.sigmoid(3.0)
    assert plain < 0.91
    assert float(band(1.0, -2.0, 4.0)) == 1


@given(theta=PLACES, low=PLACES, width=st.floats(0, 2e3), slope=SLOPES)
def test_is_a_probability_and_never_above_its_midpoint(theta, low, width, slope):
    assert 0 <= float(band(theta, low, low + width, slope)) <= 1


@given(r=HALF_WIDTHS)
def test_ends_stay_between_a_half_and_the_bound_of_theorem_b6(r):
    assert 0.5 - ROUNDING <= at_the_end(r) <= HIGHEST_END + ROUNDING


def test_the_bound_of_theorem_b6_is_reached_at_half_width_one():
    assert pytest.approx(0.5657, abs=5e-5) == HIGHEST_END
    assert at_the_end(1.0) == pytest.approx(HIGHEST_END, abs=ROUNDING)
    assert at_the_end(0.9) < HIGHEST_END
    assert at_the_end(1.1) < HIGHEST_END


def test_a_fixed_slope_violates_the_bound():
    """Twin that must fail: without the sharpening of narrow bands, their ends pass 0.5657."""
    r = 0.2
    assert arrays.sigmoid(2 * r) / (2 * arrays.sigmoid(r) ** 2) > 0.9


@given(r=HALF_WIDTHS, slope=SLOPES)
def test_ends_equal_lemma_b1(r, slope):
    assert at_the_end(r, slope) == pytest.approx(lemma_b1(r, slope), abs=ROUNDING)


@pytest.mark.parametrize("r", [0.05, 0.1, 0.15])
def test_ends_of_narrow_bands_approach_a_half_as_proposition_b3_says(r):
    """Theorem B.2; the next term of the expansion is of the order of exp(-3 a' r)."""
    excess = math.exp(-(1 + math.expm1(1 / r)) * r)
    assert at_the_end(r) - 0.5 == pytest.approx(excess, abs=2 * excess**3 + ROUNDING)


@pytest.mark.parametrize("r", [5.0, 10.0, 20.0, 1e3, 1e6])
def test_ends_of_wide_bands_approach_a_half_as_proposition_b5_says(r):
    """Theorem B.4; the terms left out are of relative order r**-2 and exp(-a r)."""
    excess = math.exp(-r - 1) * (1 - 1 / (2 * r))
    assert at_the_end(r) - 0.5 == pytest.approx(excess, rel=1 / r**2 + 3 * excess, abs=ROUNDING)


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


def test_no_end_at_all_succeeds_always():
    np.testing.assert_array_equal(band(np.array([-1e3, 0.0, 1e3]), -inf, inf, 3.0), 1.0)


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


def test_reads_the_values_of_the_papers_figure():
    """Figure 2: a band [-2, 4] of slope 1; its ends are near one half, its midpoint is 1."""
    theta = np.array([-10.0, -2.0, 1.0, 4.0, 12.0])
    np.testing.assert_allclose(
        band(theta, -2.0, 4.0), exact.band(theta, -2.0, 4.0), rtol=ROUNDING, atol=ROUNDING
    )
