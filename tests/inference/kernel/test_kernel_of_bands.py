"""Bands by machine code and by the plain model: finite wherever a sampler can go, and the same.

Widths from none to infinite, slopes from 1e-3 to 1e9, propensities from -1e6 to 1e6.
"""

import itertools

import numpy as np
import pandas as pd
import pytest
from helpers.densities import Fused, Plain, first_compiled

import measurement_layouts as ml
from measurement_layouts.evaluations.subject_data import SubjectData
from measurement_layouts.inference.sampling.engine import Kernel
from measurement_layouts.linking import band, bilogistic, uncertain_band

inf = np.inf
LOW, HIGH = (ml.MetaFeature(end, low=-inf, high=inf) for end in ("low", "high"))
SPREAD = ml.MetaFeature("spread", low=0, high=1e3)
WIDTHS = (0, 1e-9, 0.01, 0.1, 1, 1e3)
ENDS = [(0.5 - w / 2, 0.5 + w / 2) for w in WIDTHS] + [(-inf, 0.5), (0.5, inf), (-inf, inf)]
THETAS = (-1e6, -500.0, -1.0, 0.45, 0.5 - 1e-9, 0.5, 0.5 + 1e-8, 0.5005, 2.0, 1e6)
SLOPES = (1e-3, 1.0, 1e9)
FUNCTIONS = {
    "band": lambda theta, slope: band(theta, LOW, HIGH, slope),
    "bilogistic": lambda theta, slope: bilogistic(theta, LOW, HIGH, slope, 1.5 * slope),
    "uncertain_band": lambda theta, slope: uncertain_band(theta, LOW, HIGH, SPREAD, slope),
}
each = pytest.mark.parametrize("name", FUNCTIONS)


def anywhere(name):
    """A layout whose sampler goes where it is sent: the propensity, and the slope's logarithm."""
    risk = ml.Propensity("risk", prior=ml.Prior("Normal", mu=0, sigma=1e6))
    steep = ml.Slope("steep", prior=ml.Prior("HalfNormal", sigma=1e9))
    return ml.Layout("anywhere", ml.Success("right", FUNCTIONS[name](risk, steep)))


def crossed(layout):
    """Every pair of ends, with every spread where the layout has one: one success, one failure."""
    spreads = (0, 1e-9, 0.5, 1e3) if len(layout.meta_features) == 3 else (0,)
    low, high, spread = np.array([(*ends, s) for ends in ENDS for s in spreads]).T
    once = np.ones(len(low), dtype=int)
    return {"low": low, "high": high, "spread": spread}, SubjectData(once, 2 * once, {})


@each
def test_finite_everywhere_and_equal(name):
    """Tolerance: at zero width, rounding of theta counts 5e8 times, and kills 8 of 16 digits."""
    layout = anywhere(name)
    features, data = crossed(layout)
    fused, plain = Fused(layout, features, data), Plain(layout, features, data)
    for theta, slope in itertools.product(THETAS, SLOPES):
        point = np.array([theta, np.log(slope)])
        value, gradient, status = fused(point)
        wanted, slopes = plain(point)
        assert status == 0
        assert np.isfinite([value, wanted, *gradient, *slopes]).all(), point
        np.testing.assert_allclose(value, wanted, rtol=1e-8)
        scale = max(1, abs(slopes).max())
        np.testing.assert_allclose(gradient / scale, slopes / scale, atol=1e-6)


def small(name):
    """A propensity of ordinary size, and items among which one band has no width."""
    layout = ml.Layout(
        "small", ml.Success("right", FUNCTIONS[name](ml.Propensity("risk", low=-4, high=4), 1.0))
    )
    low = [-inf, -2, -1, 0.5, 2, 0, -3]
    high = [0.5, 1, 2, inf, 3.5, 0, 3]
    items = pd.DataFrame({"low": low, "high": high, "spread": [0, 0.5, 1, 0.2, 0, 0, 0.5]})
    right = pd.DataFrame([[0, 1, 1, 0, 0, 1, 1], [0, 0, 1, 1, 1, 0, 1]], ["Ann", "Bob"])
    return layout, ml.Evaluation.from_wide(right, items)


@each
def test_a_band_without_width_does_not_stop_the_sampler(name):
    layout, evaluation = small(name)
    assert isinstance(first_compiled(layout, evaluation), Kernel)
    fit = ml.fit(layout, evaluation, draws=20, tune=50, chains=2, seed=1, progressbar=False)
    assert fit.posterior["risk"].shape == (2, 20, 2)
    assert np.isfinite(fit.posterior["risk"]).all()
    assert "failed" not in set(fit.diagnostics()["status"])
