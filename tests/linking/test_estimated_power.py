"""The mean of an estimated power against fixed powers, SciPy, and decimals near power 0."""

import json

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from helpers import exact_formulas as exact
from hypothesis import given
from hypothesis import strategies as st
from pytensor.compile.mode import Mode
from scipy import stats

from measurement_layouts import (
    Bias,
    Capability,
    Layout,
    LayoutError,
    MetaFeature,
    Prior,
    Propensity,
    Success,
)
from measurement_layouts.linking import evaluate, generalised_mean, logistic

ROUNDING = 1e-12
PLAIN = Mode(linker="py", optimizer="fast_run")
POWERS = [-20.0, -2.0, -0.5, -1e-3, -1e-5, 0.0, 1e-5, 1e-3, 0.5, 1.0, 3.0, 20.0]
PARTS = st.lists(st.just(0.0) | st.floats(1e-12, 50), min_size=1, max_size=18)
LABELS = ("a", "b", "c")
ABILITY = Capability("ability", low=0, high=1, labels=LABELS)
EXPONENT = Bias("exponent", prior=Prior("Normal", mu=0, sigma=2))


@given(power=st.sampled_from(POWERS), parts=PARTS)
def test_equals_the_generalised_mean_of_a_fixed_power(power, parts):
    """Tolerance: a part of 0 counts as 1e-300, whose 18th root is 2e-17."""
    found = float(generalised_mean(np.array(parts), power=np.array([power]), over=-1)[0])
    wanted = float(generalised_mean(np.array(parts), power=power, over=-1)[0])
    assert found == pytest.approx(wanted, rel=1e-9, abs=1e-9)


@pytest.fixture(scope="module")
def derivatives():
    """Value and slopes by parts and power, as the plain model computes them."""
    parts, power = pt.dvector(), pt.dscalar()
    value = generalised_mean(parts, power=power, over=-1)[0]
    slopes = pytensor.grad(value, [parts, power])
    return pytensor.function([parts, power], [value, *slopes], mode=PLAIN)


NEAR = [sign * size for size in (1e-9, 9.99e-7, 1.001e-6, 1e-5, 1e-4, 1e-3) for sign in (-1, 1)]


@pytest.mark.parametrize("power", [0.0, *NEAR])
def test_near_power_zero_equals_sixty_digits(power, derivatives):
    """Slopes by the power too: a difference of decimals over 1e-12, second order in that.

    Tolerance: beside the series, where it ends, rounding of 1e-16 is divided by 1e-6.
    """
    parts, h = np.array([1e-8, 0.003, 0.2, 0.7, 0.99]), 1e-12
    value, _, slope = derivatives(parts, power)
    assert value == pytest.approx(float(exact.power_mean(*parts, power)), rel=ROUNDING)
    wanted = exact_slope(parts, power, h)
    assert slope == pytest.approx(wanted, rel=1e-8)


def exact_slope(parts, power, h):
    with exact.decimal.localcontext(exact._CONTEXT):
        decimals = [exact.Decimal(part) for part in parts]
        up, down = (mean_of(decimals, exact.Decimal(power) + s) for s in (+_of(h), -_of(h)))
        return float((up - down) / (2 * _of(h)))


def _of(number):
    return exact.Decimal(float(number))


def mean_of(parts, power):
    return (sum(part**power for part in parts) / len(parts)) ** (1 / power)


def test_one_power_for_each_draw():
    """Draws of the power (draw, 1, 1) against parts (draw, item, label)."""
    rng = np.random.default_rng(3)
    known = {"ability": rng.uniform(size=(5, 1, 3)), "exponent": rng.normal(size=(5, 1, 1))}
    known["ease"] = rng.uniform(size=(4, 3))
    ease = MetaFeature("ease", low=0, high=1, labels=LABELS)
    mean = generalised_mean(ABILITY * ease, power=EXPONENT, over="dimension")
    value = evaluate(mean, known, ("dimension",))
    assert value.shape == (5, 4, 1)
    for draw, power in enumerate(known["exponent"].ravel()):
        parts = known["ability"][draw] * known["ease"]
        wanted = generalised_mean(parts, power=float(power), over=-1)
        np.testing.assert_allclose(value[draw], wanted, rtol=1e-12)


@pytest.mark.parametrize(
    ("operands", "complaint"),
    [
        ((logistic(EXPONENT), EXPONENT), "dimensions of"),
        ((ABILITY, ABILITY), "the power ability has a"),
        ((ABILITY, Propensity("pull", low=0, high=2, unit="m")), "the power pull has unit m"),
        ((ABILITY - 1, EXPONENT), r"ranges over \[-1, 0\], but"),
    ],
)
def test_operands_that_cannot_be_meant_are_refused(operands, complaint):
    mean_parts, power = operands
    with pytest.raises(LayoutError, match=complaint):
        generalised_mean(mean_parts, power=power, over="dimension")


@pytest.mark.parametrize("weights", [None, (3.0, 1.0)])
def test_estimated_powers_of_operands_and_weights_equal_scipy(weights):
    """Two operands and draws of their power, in a layout that was written and read back."""
    reach, grip = (Capability(name, low=0.1, high=1) for name in ("reach", "grip"))
    mean = generalised_mean(reach, grip, power=EXPONENT, weights=weights)
    layout = Layout.from_dict(json.loads(json.dumps(Layout("l", Success("ok", mean)).to_dict())))
    powers = np.array([-3.0, -0.5, 2.0])[:, None]
    known = {"reach": np.full((3, 1), 0.2), "grip": np.full((3, 1), 0.9), "exponent": powers}
    value = evaluate(layout.outcome.expression, known, ())
    wanted = [stats.pmean([0.2, 0.9], power, weights=weights) for power in powers.ravel()]
    np.testing.assert_allclose(value.ravel(), wanted, rtol=1e-12)
