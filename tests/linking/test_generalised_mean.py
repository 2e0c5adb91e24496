"""The generalised mean against SciPy, and the theory of power means."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from measurement_layouts import Capability, LayoutError, MetaFeature
from measurement_layouts.linking import evaluate, generalised_mean

inf = math.inf
ROUNDING = 1e-12
PARTS = st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=6)
POWERS = [-inf, -50.0, -3.0, -1.0, -0.5, -1e-6, 0.0, 1e-6, 0.5, 1.0, 2.0, 50.0, inf]
ABILITY = Capability("ability", low=0, high=1, labels=("a", "b", "c"))


@pytest.mark.parametrize("power", [-50.0, -3.0, -1.0, -0.5, 0.5, 1.0, 2.0, 50.0])
@given(parts=PARTS)
def test_equals_scipy(power, parts):
    """SciPy raises to the power and back: at 50 it loses a few digits more than we do."""
    weights = [1.0 + i for i in range(len(parts))]
    mean = generalised_mean(*parts, power=power, weights=weights)
    assert float(mean) == pytest.approx(stats.pmean(parts, power, weights=weights), rel=1e-11)


@given(parts=PARTS)
def test_named_means_equal_scipy(parts):
    assert float(generalised_mean(*parts, power=0)) == pytest.approx(stats.gmean(parts), rel=1e-12)
    assert float(generalised_mean(*parts, power=-1)) == pytest.approx(stats.hmean(parts), rel=1e-12)
    assert float(generalised_mean(*parts, power=1)) == pytest.approx(np.mean(parts), rel=1e-12)
    assert float(generalised_mean(*parts, power=-inf)) == min(parts)
    assert float(generalised_mean(*parts, power=inf)) == max(parts)


@given(parts=PARTS)
def test_grows_with_the_power_and_stays_among_its_parts(parts):
    """The power mean inequality; a slack of rounding where parts are nearly equal."""
    means = [float(generalised_mean(*parts, power=power)) for power in POWERS]
    for lower, higher in itertools.pairwise(means):
        assert lower <= higher * (1 + ROUNDING)
    assert means[0] == min(parts)
    assert means[-1] == max(parts)


def test_weights_are_scaled_and_repeat_parts():
    parts = 0.2, 0.7
    weighted = generalised_mean(*parts, power=-2, weights=(2, 1))
    assert float(weighted) == pytest.approx(float(generalised_mean(0.2, 0.2, 0.7, power=-2)))
    rescaled = generalised_mean(*parts, power=-2, weights=[20, 10])
    assert float(weighted) == pytest.approx(float(rescaled))


def test_along_an_axis_keeps_it_with_length_one():
    matrix = np.random.default_rng(1).uniform(0.1, 1, (4, 5, 3))
    mean = generalised_mean(matrix, power=0, over=-2, weights=(1, 2, 3, 4, 5))
    assert mean.shape == (4, 1, 3)
    expected = stats.gmean(matrix, axis=1, weights=np.array([1, 2, 3, 4, 5])[:, None] * np.ones(3))
    np.testing.assert_allclose(mean[:, 0], expected, rtol=ROUNDING)


def test_keeps_the_unit_of_its_parts():
    reach = Capability("reach", low=0, high=4, unit="m")
    depth = MetaFeature("depth", low=1, high=9, unit="m")
    mean = generalised_mean(reach, depth, power=2)
    assert mean.unit == reach.unit
    assert str(mean.range) == "[0, 9]"
    with pytest.raises(LayoutError, match="in one generalised_mean with reach"):
        generalised_mean(reach, MetaFeature("wait", low=1, high=9, unit="s"), power=2)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"power": math.nan}, "power is NaN"),
        ({"power": "mean"}, "power='mean'; give a number"),
        ({"power": (1, 2)}, r"power=\(1, 2\); give a"),
        ({"power": 0, "weights": (1, 2)}, r"weights=\(1, 2\); give one"),
        ({"power": 0, "weights": (1, 2), "over": "dimension"}, "per label of 'dimension'"),
        ({"power": 0, "weights": (1, 0, 2), "over": "dimension"}, "positive"),
        ({"power": 0, "weights": (1, -1, 2), "over": "dimension"}, "positive"),
        ({"power": 0, "weights": (1, 1e-10, 2), "over": "dimension"}, "none over 1e.09 times"),
        ({"power": 0, "over": "side"}, "over='side', but the label"),
    ],
)
def test_options_that_cannot_be_meant_are_refused_at_declaration(options, complaint):
    with pytest.raises(LayoutError, match=complaint):
        generalised_mean(ABILITY, **options)


def test_operands_are_checked_too():
    with pytest.raises(
        LayoutError, match="joins the labels of one operand, but 2 operands were given"
    ):
        generalised_mean(ABILITY, ABILITY, power=0, over="dimension")
    below = MetaFeature("below", low=-1, high=1)
    with pytest.raises(
        LayoutError, match=r"p = below ranges over \[-1, 1\], but must be within \[0"
    ):
        generalised_mean(below, power=0)
    with pytest.raises(LayoutError, match="no operand given"):
        generalised_mean(power=0, weights=Capability("w", low=0, high=1))


def test_weighs_labels_in_a_layout():
    mean = generalised_mean(ABILITY, power=1, weights=(1, 1, 2), over="dimension")
    value = evaluate(mean, {"ability": np.array([[0.2, 0.4, 1.0]])}, ("dimension",))
    np.testing.assert_allclose(value, [[0.65]], rtol=ROUNDING)
