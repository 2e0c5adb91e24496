"""Every linking function at 1,000 random points: the papers' formulas in decimals of 60 digits.

Places on the real line are multiples of 2**-20, so that their differences are exact in doubles:
a steep curve would take the rounding of a difference for a step.
"""

import math
from dataclasses import dataclass, field

import numpy as np
import pytest
from helpers import exact_formulas as exact
from helpers.function_cases import CASES, KNOTS, compiled

from measurement_layouts import linking
from measurement_layouts.linking import (
    LinkingFunction,
    band,
    bilogistic,
    generalised_mean,
    guessing,
    logistic,
    logit,
    mixture,
    presence,
    product,
    total,
    uncertain_band,
    walk,
)

POINTS, SLOPES = 1000, 100
EQUAL = 1e-10
inf = math.inf


def real(rng, count):
    """Moderate places, and others of any size and sign."""
    far = rng.choice([-1, 1], count) * 10 ** rng.uniform(-6, 3, count)
    return np.round(np.where(rng.random(count) < 0.5, rng.normal(0, 3, count), far) * 2**20) / 2**20


def chance(rng, count):
    """Probabilities: moderate, and close to 0 and to 1."""
    close = 10 ** -rng.uniform(0, 12, count)
    return rng.choice([rng.uniform(size=count), close, 1 - close])


def amount(rng, count):
    return 10 ** rng.uniform(-9, 3, count)


def positive(rng, count):
    return 10 ** rng.uniform(-2, 1.7, count)


def spread(rng, count):
    """How far an end may be off: below 1e-4 the slope by it is lost in rounding."""
    return 10 ** rng.uniform(-4, 2, count)


def power(rng, count):
    return rng.normal(0, 5, count)


def ends(rng, count):
    """A band's: of any width, some reversed, some without one of them."""
    low = np.round(rng.normal(0, 3, count) * 2**20) / 2**20
    width = np.round(10 ** rng.uniform(-2, 2, count) * 2**20) / 2**20
    high = low + np.where(rng.random(count) < 0.1, -width, width)
    none = rng.random((2, count)) < 0.1
    return np.where(none[0], -inf, low), np.where(none[1], inf, high)


@dataclass(frozen=True)
class Formula:
    """A way to call a linking function, the same in decimals, and what its operands are."""

    function: object
    exact: object
    operands: tuple
    options: dict = field(default_factory=dict)

    def points(self, rng, count):
        found = []
        for draw in self.operands:
            columns = draw(rng, count)
            found += columns if isinstance(columns, tuple) else [columns]
        return found


def formula(name, decimals, *operands, **options):
    """Take the function of a shared case, which is compiled once for all tests."""
    return Formula(FUNCTIONS[name], decimals, operands, options)


def means():
    """Powers from minimum to maximum: of operands, and weighted along labels."""
    for k in (-inf, -50.0, -1.0, 0.0, 1e-6, 0.5, 1.0, 2.0, 50.0, inf):
        yield formula(f"mean {k:g}", exact.generalised_mean, *[amount] * 3, power=k)
        over, weights = f"mean over labels {k:g}, weighted", (3.0, 1.0, 2.0)
        yield formula(over, exact.generalised_mean, *[amount] * 3, power=k, weights=weights)


FUNCTIONS = {case.name: case.function for case in CASES}
FORMULAS = {
    logistic: [
        formula("logistic", exact.sigmoid, real),
        formula("logistic with slope", exact.sigmoid, real, positive),
        formula("logistic spanning", exact.spanning, real, low=-5, high=5),
        formula("logistic spanning, not symmetric", exact.spanning, real, low=0, high=8),
    ],
    logit: [formula("logit", exact.logit, chance)],
    product: [
        formula("product", exact.product, *[chance] * 3),
        formula("product over labels", exact.product, *[chance] * 3),
    ],
    total: [
        formula("total", exact.total, *[real] * 2),
        formula("total over labels", exact.total, *[real] * 3),
    ],
    walk: [formula("walk over steps", exact.walk, *[real] * 3, knots=KNOTS)],
    mixture: [formula("mixture", exact.mixture, *[chance] * 3)],
    presence: [formula("presence", exact.presence, *[chance] * 2)],
    guessing: [formula("guessing", exact.guessing, *[chance] * 2)],
    generalised_mean: [
        *means(),
        formula("power mean over labels", exact.power_mean, *[amount] * 3, power),
    ],
    band: [Formula(band, exact.band, (real, ends, positive))],
    bilogistic: [Formula(bilogistic, exact.bilogistic, (real, ends, positive, positive))],
    uncertain_band: [Formula(uncertain_band, exact.uncertain_band, (real, ends, spread, positive))],
}
NAMES = {function.__name__: function for function in FORMULAS}


def each():
    """A test of linking functions."""
    return pytest.mark.parametrize("name", NAMES)


def cases(name, count):
    """Ways to call a function, and random points that they share out."""
    rng, formulas = np.random.default_rng(3), FORMULAS[NAMES[name]]
    for place, of in enumerate(formulas):
        share = count // len(formulas) + (place < count % len(formulas))
        yield of, of.points(rng, share)


def equal(found, wanted):
    """To 1e-10 of the value; below 1e-50 the decimals run out of digits."""
    np.testing.assert_allclose(found, wanted, rtol=EQUAL, atol=1e-50)


def test_every_linking_function_has_a_formula():
    ours = {value for value in vars(linking).values() if isinstance(value, LinkingFunction)}
    assert ours == set(FORMULAS)


@each()
def test_value(name):
    """By NumPy and by PyTensor."""
    for of, points in cases(name, POINTS):
        wanted = of.exact(*points, **of.options)
        equal(of.function(*points), wanted)
        equal(compiled(of.function, len(points))(*points)[0], wanted)


@each()
def test_slopes(name):
    """By each operand, to 1e-10 of the steepest at the point."""
    for of, points in cases(name, SLOPES):
        wanted = exact.slopes(of.exact, *points, **of.options)
        found = np.array(compiled(of.function, len(points))(*points)[1:])
        finite = np.isfinite(points)
        steepest = np.maximum(1, abs(wanted).max(axis=0))
        assert (abs(found - wanted) * finite <= EQUAL * steepest).all()


@each()
def test_another_formula_is_noticed(name):
    """Twin that must fail: the first operand a ten-thousandth larger."""
    for of, (first, *others) in cases(name, SLOPES):
        wanted = of.exact(first * 1.0001, *others, **of.options)
        with pytest.raises(AssertionError):
            equal(of.function(first, *others), wanted)
