"""Expressions written out: brackets where they are needed, and only there."""

import math

import pytest

from measurement_layouts import Bias, Capability, Derived, Layout, MetaFeature, Noise, Success
from measurement_layouts.linking import (
    band,
    generalised_mean,
    guessing,
    linking_function,
    logistic,
    mean_failure,
    mixture,
    presence,
    product,
    total,
)
from measurement_layouts.linking.expression import Constant

a, b, c = (Capability(name, low=0, high=1) for name in "abc")
sharp = MetaFeature("sharp_ness", low=1, high=2)
labelled = Capability("ability", low=0, high=1, labels=("x", "y"))


@linking_function(range=(0, 1))
def survival(ability, demand):
    return ability - demand


@linking_function(range=(0, 1))
def untold(ability, pace=1.0, rest=2.0, *, steps=3):
    return ability


@pytest.mark.parametrize(
    ("expr", "text"),
    [
        (a, "a"),
        (a - (b - c), "a − (b − c)"),
        (a - b - c, "a − b − c"),
        (a + (b - c), "a + b − c"),
        (a - (b + c), "a − (b + c)"),
        ((a + b) * c, "(a + b) × c"),
        (c * (a + b), "c × (a + b)"),
        (a / (b * c), "a / (b × c)"),
        (a / b / c, "a / b / c"),
        (a / (b / c), "a / (b / c)"),
        (a * b / c, "a × b / c"),
        ((a + b) / c, "(a + b) / c"),
        ((-1) * a, "(−1) × a"),
        (-a, "(−1) × a"),
        (a - (-1), "a − (−1)"),
        (a**2, "a^2"),
        ((a**2) ** 2, "(a^2)^2"),
        ((a + b) ** c, "(a + b)^c"),
        (2 ** (a * b), "2^(a × b)"),
        ((a / b) ** 2, "(a / b)^2"),
        (a ** (-2), "a^(−2)"),
        (a - Derived("see", a + b), "a − see"),
        (Constant(1e-7) * a, "1e−07 × a"),
        (logistic(a - b), "logistic(a − b)"),
        (logistic(a - b, 2), "logistic(a − b, 2)"),
        (product(a, b), "product(a, b)"),
        (product(0.5 * a + 0.5 * b, c), "product(0.5 × a + 0.5 × b, c)"),
        (product(labelled, over="dimension"), "product(ability, over=dimension)"),
        (guessing(a, 0.25) * b, "guessing(a, 0.25) × b"),
        (presence(a, b), "presence(a, b)"),
        (mixture(a, by=Noise("noise"), toward=mean_failure), "mixture(a, noise, meanFailure)"),
        (band(a, -math.inf, b), "band(a, −∞, b)"),
        (generalised_mean(a, b, power=-math.inf), "generalised_mean(a, b, power=−∞)"),
        (
            generalised_mean(labelled, power=a - b, over="dimension"),
            "generalised_mean(ability, power=a − b, over=dimension)",
        ),
        (total(a, b - c, -1), "total(a, b − c, −1)"),
        (a - total(labelled * b, over="dimension"), "a − total(ability × b, over=dimension)"),
        (survival(a, b + c), "survival(a, b + c)"),
        (untold(a, rest=4), "untold(a, rest=4)"),
        (untold(a, 3, steps=4), "untold(a, 3, steps=4)"),
        (a - sharp, "a − sharp_ness"),
    ],
)
def test_expressions_as_text(expr, text):
    assert str(expr) == text


def test_a_layout_lists_its_formulas():
    see = Derived("see", logistic(a - sharp + Bias("lean")))
    layout = Layout("looking", Success("found", mixture(see, by=Noise("noise"), toward=0.5)))
    assert str(layout) == (
        "looking\n  see = logistic(a − sharp_ness + lean)\n  found = mixture(see, noise, 0.5)"
    )
    assert repr(layout) == "<Layout 'looking': a, sharp_ness, lean, see, noise, found>"
