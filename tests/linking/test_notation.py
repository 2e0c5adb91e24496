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
A, B, C = (rf"\mathrm{{{name}}}" for name in "abc")


@linking_function(range=(0, 1), latex=r"e^{-<demand>/<ability>}")
def survival(ability, demand):
    return ability - demand


@linking_function(range=(0, 1))
def untold(ability, pace=1.0, rest=2.0, *, steps=3):
    return ability


@pytest.mark.parametrize(
    ("expr", "text", "latex"),
    [
        (a, "a", A),
        (a - (b - c), "a − (b − c)", rf"{A} - \left({B} - {C}\right)"),
        (a - b - c, "a − b − c", f"{A} - {B} - {C}"),
        (a + (b - c), "a + b − c", f"{A} + {B} - {C}"),
        (a - (b + c), "a − (b + c)", rf"{A} - \left({B} + {C}\right)"),
        ((a + b) * c, "(a + b) × c", rf"\left({A} + {B}\right) \cdot {C}"),
        (c * (a + b), "c × (a + b)", rf"{C} \cdot \left({A} + {B}\right)"),
        (a / (b * c), "a / (b × c)", rf"\frac{{{A}}}{{{B} \cdot {C}}}"),
        (a / b / c, "a / b / c", rf"\frac{{\frac{{{A}}}{{{B}}}}}{{{C}}}"),
        (a / (b / c), "a / (b / c)", rf"\frac{{{A}}}{{\frac{{{B}}}{{{C}}}}}"),
        (a * b / c, "a × b / c", rf"\frac{{{A} \cdot {B}}}{{{C}}}"),
        ((a + b) / c, "(a + b) / c", rf"\frac{{{A} + {B}}}{{{C}}}"),
        ((-1) * a, "(−1) × a", rf"\left(-1\right) \cdot {A}"),
        (-a, "(−1) × a", rf"\left(-1\right) \cdot {A}"),
        (a - (-1), "a − (−1)", rf"{A} - \left(-1\right)"),
        (a**2, "a^2", f"{A}^{{2}}"),
        ((a**2) ** 2, "(a^2)^2", rf"\left({A}^{{2}}\right)^{{2}}"),
        ((a + b) ** c, "(a + b)^c", rf"\left({A} + {B}\right)^{{{C}}}"),
        (2 ** (a * b), "2^(a × b)", f"2^{{{A} \\cdot {B}}}"),
        ((a / b) ** 2, "(a / b)^2", rf"\left(\frac{{{A}}}{{{B}}}\right)^{{2}}"),
        (a ** (-2), "a^(−2)", f"{A}^{{-2}}"),
        (a - Derived("see", a + b), "a − see", rf"{A} - \mathrm{{see}}"),
        (Constant(1e-7) * a, "1e−07 × a", rf"1 \cdot 10^{{-7}} \cdot {A}"),
        (logistic(a - b), "logistic(a − b)", rf"\sigma\left({A} - {B}\right)"),
        (
            logistic(a - b, 2),
            "logistic(a − b, 2)",
            rf"\sigma\left(2 \cdot \left({A} - {B}\right)\right)",
        ),
        (product(a, b), "product(a, b)", rf"{A} \cdot {B}"),
        (
            product(0.5 * a + 0.5 * b, c),
            "product(0.5 × a + 0.5 × b, c)",
            rf"\left(0.5 \cdot {A} + 0.5 \cdot {B}\right) \cdot {C}",
        ),
        (
            product(labelled, over="dimension"),
            "product(ability, over=dimension)",
            r"\prod_{\text{dimension}} \mathrm{ability}",
        ),
        (
            guessing(a, 0.25) * b,
            "guessing(a, 0.25) × b",
            rf"\left(0.25 + \left(1 - 0.25\right) \cdot {A}\right) \cdot {B}",
        ),
        (presence(a, b), "presence(a, b)", rf"\mu\left({A},\; {B}\right)"),
        (
            mixture(a, by=Noise("noise"), toward=mean_failure),
            "mixture(a, noise, meanFailure)",
            rf"\omega\left[\mathrm{{noise}}\right]\left({A},\; \nu\right)",
        ),
        (
            band(a, -math.inf, b),
            "band(a, −∞, b)",
            rf"\mathrm{{band}}\left({A};\; -\infty, {B}\right)",
        ),
        (
            generalised_mean(a, b, power=-math.inf),
            "generalised_mean(a, b, power=−∞)",
            rf"M^{{-\infty}}\left({A}, {B}\right)",
        ),
        (
            generalised_mean(labelled, power=a - b, over="dimension"),
            "generalised_mean(ability, power=a − b, over=dimension)",
            rf"M^{{{A} - {B}}}_{{\text{{dimension}}}}\left(\mathrm{{ability}}\right)",
        ),
        (total(a, b - c, -1), "total(a, b − c, −1)", rf"{A} + {B} - {C} + \left(-1\right)"),
        (
            a - total(labelled * b, over="dimension"),
            "a − total(ability × b, over=dimension)",
            rf"{A} - \left(\sum_{{\text{{dimension}}}} \mathrm{{ability}} \cdot {B}\right)",
        ),
        (
            survival(a, b + c),
            "survival(a, b + c)",
            rf"e^{{-\left({B} + {C}\right)/{A}}}",
        ),
        (untold(a, rest=4), "untold(a, rest=4)", None),
        (untold(a, 3, steps=4), "untold(a, 3, steps=4)", None),
        (a - sharp, "a − sharp_ness", rf"{A} - \mathrm{{sharp\_ness}}"),
    ],
)
def test_text_and_latex(expr, text, latex):
    assert str(expr) == text
    if latex is not None:
        assert expr.latex() == latex


def test_a_layout_lists_its_formulas():
    see = Derived("see", logistic(a - sharp + Bias("lean")))
    layout = Layout("looking", Success("found", mixture(see, by=Noise("noise"), toward=0.5)))
    assert str(layout) == (
        "looking\n  see = logistic(a − sharp_ness + lean)\n  found = mixture(see, noise, 0.5)"
    )
    assert repr(layout) == "<Layout 'looking': a, sharp_ness, lean, see, noise, found>"
