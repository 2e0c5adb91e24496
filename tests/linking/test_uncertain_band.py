"""The uncertain band against the mean that it stands for, of the propensities paper's band.

Where both ends are finite, the steepness and the peak are those of the width as annotated.
"""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate
from scipy.special import expit

from measurement_layouts import LayoutError, MetaFeature, Propensity
from measurement_layouts.linking import band, uncertain_band

inf = math.inf
ROUNDING = 1e-12
THETAS = np.array([-4.0, -1.2, 0.0, 0.4, 1.0, 2.9])
BANDS = {"wide": (-2, 3), "level": (0, 1), "narrow": (0.2, 0.5), "zero": (1.0, 1.0)}


def fixed(low, high, slope):
    """The band's centre, half-width, steepness and peak, as annotated."""
    r = max(high - low, 0.1) / 2
    steep = slope + math.expm1(1 / r)
    return (low + high) / 2, r, steep, expit(steep * r) ** 2


def by_quadrature(theta, low, high, spread, slope):
    """Integrate over the error of one end and then of the other: they are independent."""
    centre, r, steep, peak = fixed(low, high, slope)

    def mean(distance):
        turn = min(max(-distance, -spread), spread)  # where a steep logistic rises
        parts = [
            integrate.quad(lambda e: expit(steep * (distance + e)), *ends, epsabs=1e-13, limit=500)
            for ends in ((-spread, turn), (turn, spread))
        ]
        return sum(value for value, _ in parts) / (2 * spread)

    return mean(theta - centre + r) * mean(centre + r - theta) / peak


@pytest.mark.parametrize("name", BANDS)
@pytest.mark.parametrize(("spread", "slope"), [(0.5, 1.0), (1.0, 0.3), (2.5, 4.0)])
def test_is_the_mean_over_errors_of_the_ends_by_quadrature(name, spread, slope):
    wanted = [by_quadrature(theta, *BANDS[name], spread, slope) for theta in THETAS]
    found = uncertain_band(THETAS, *BANDS[name], spread, slope)
    np.testing.assert_allclose(found, wanted, atol=1e-8)  # what quad claims at steps 1e-9 wide


ENDS = st.floats(-20, 20) | st.sampled_from([-inf, inf])


@given(st.floats(-30, 30), ENDS, st.floats(0, 20) | st.just(inf), st.floats(0.01, 100))
def test_without_spread_it_is_the_band(theta, low, width, slope):
    low = low if low < inf else -inf
    high = low + width if low > -inf else 2.0
    wanted = float(band(theta, low, high, slope))
    assert float(uncertain_band(theta, low, high, 0.0, slope)) == pytest.approx(
        wanted, rel=ROUNDING, abs=1e-300
    )
    assert float(uncertain_band(theta, low, high, 1e-13, slope)) == pytest.approx(wanted, abs=1e-8)


@pytest.mark.parametrize("slope", [0.5, 3.0])
def test_a_missing_end_leaves_the_mean_logistic_of_the_other(slope):
    for theta in THETAS:
        mean, _ = integrate.quad(lambda e, t=theta: expit(slope * (t - 1 - e)), -2, 2)
        assert float(uncertain_band(theta, 1.0, inf, 2.0, slope)) == pytest.approx(mean / 4)
        assert float(uncertain_band(2 - theta, -inf, 1.0, 2.0, slope)) == pytest.approx(mean / 4)
    np.testing.assert_array_equal(uncertain_band(THETAS, -inf, inf, 2.0, slope), 1.0)


def test_what_no_spread_can_be():
    risk = Propensity("risk", low=-4, high=4, unit="level")
    with pytest.raises(
        LayoutError, match=r"spread = .1 ranges over \[-1, -1\], but must be within"
    ):
        uncertain_band(risk, 0, 1, -1)
    metres = MetaFeature("off", low=0, high=1, unit="m")
    with pytest.raises(LayoutError, match="off: it has unit m and is in one uncertain_band with"):
        uncertain_band(risk, 0, 1, metres)
    with pytest.raises(LayoutError, match=r"a band: min_width=0; give a width of at least"):
        uncertain_band(risk, 0, 1, 0.5, min_width=0)
