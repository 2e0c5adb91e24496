"""Weighted sums and means of an estimated power by machine code: what the plain model computes."""

import numpy as np
from helpers.densities import Fused, Plain, random_outcomes

import measurement_layouts as ml
from measurement_layouts.linking import generalised_mean, guessing, logistic

LABELS = tuple("abcdef")
ITEMS = 300
DEMAND = ml.MetaFeature("demand", levels=tuple(range(6)), unit="level", labels=LABELS)


def estimated_power():
    power = ml.Bias("exponent", prior=ml.Prior("Normal", mu=0, sigma=2))
    ability = ml.Capability("ability", low=0, high=6, unit="level", labels=LABELS)
    met = logistic(ability - DEMAND, ml.Slope("slope"))
    mean = generalised_mean(met, power=power, over="dimension")
    return ml.Layout("mean", ml.Success("ok", guessing(mean, 0.2)))


def pair(layout, rng):
    features = {"demand": rng.integers(0, 6, (ITEMS, len(LABELS))).astype(float)}
    data = random_outcomes(layout, rng, ITEMS)
    return Fused(layout, features, data), Plain(layout, features, data)


def differences(fused, plain, point):
    """Of the value, and of the slopes relative to the largest."""
    value, gradient, status = fused(point)
    wanted, slopes = plain(point)
    assert status == 0
    assert np.isfinite([value, *gradient]).all()
    return abs(value / wanted - 1), abs(gradient - slopes).max() / max(1, abs(slopes).max())


def test_mean_of_an_estimated_power(rng):
    """Tolerance of the slopes: at powers of 1e-6, rounding of 1e-16 is divided by the power."""
    fused, plain = pair(estimated_power(), rng)
    assert estimated_power().latents[-1].name == "exponent"
    for power in (-20, -1, -1e-3, -2e-6, -1e-9, 0, 1e-7, 2e-6, 1e-4, 0.5, 1, 20):
        point = fused.start + rng.normal(0, 1, len(fused.start))
        point[-1] = power
        value, slopes = differences(fused, plain, point)
        assert value < 1e-10
        assert slopes < 1e-8
