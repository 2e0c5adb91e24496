"""Equations and diagrams that a page may hold."""

from xml.etree import ElementTree

import pytest

import measurement_layouts as ml
from measurement_layouts.linking import logistic
from measurement_layouts.reports.diagrams import inline_svg
from measurement_layouts.reports.equations import mathml, plain
from measurement_layouts.scenarios import (
    adele,
    animal_ai_olympics,
    dispositions,
    object_permanence,
    propensities,
)

SCENARIOS = (adele, animal_ai_olympics, dispositions, object_permanence, propensities)
LAYOUTS = [make for scenario in SCENARIOS for make in scenario.SCENARIO.layouts.values()]


@pytest.mark.parametrize(
    "make", LAYOUTS, ids=lambda make: f"{make.__module__.split('.')[-2]}-{make.__name__}"
)
def test_every_layout_s_equations_become_mathml(make):
    layout = make()
    written = mathml(layout)
    root = ElementTree.fromstring(written)
    names = {part.text for part in root.iter() if part.tag.endswith("}mi")}
    assert {latent.name for latent in layout.latents} <= names
    assert len(root[0]) == len(layout.to_latex().split("\n")) - 2
    assert not any(0xE000 <= ord(letter) <= 0xF8FF for letter in written)


def test_texts_are_escaped():
    @ml.linking.linking_function(range=(0, 1), latex=r"\text{a < b & <script>} <ability>")
    def odd(ability):
        return 0 * ability

    layout = ml.Layout("odd", ml.Success("done", odd(ml.Capability("x", low=0, high=1))))
    written = mathml(layout)
    assert "a\u00a0&lt;\u00a0b\u00a0&amp;\u00a0&lt;script&gt;" in written


@pytest.mark.parametrize(
    "latex", [r"\href{javascript:x}{<ability>}", r"\frac{<ability>", r"\style{x}{<ability>}"]
)
def test_foreign_latex_leaves_the_plain_text(latex):
    @ml.linking.linking_function(range=(0, 1), latex=latex)
    def odd(ability):
        return 0 * ability

    layout = ml.Layout("odd", ml.Success("done", odd(ml.Capability("x", low=0, high=1))))
    assert mathml(layout) is None
    assert "done" in "\n".join(plain(layout))


def test_a_diagram_holds_no_markup_of_its_texts():
    skill = ml.Capability("skill", low=0, high=1, about="</svg><script>alert(1)</script>")
    demand = ml.MetaFeature("demand", low=0, high=1)
    layout = ml.Layout('a "quoted" <b>', ml.Success("done", logistic(skill - demand)))
    drawn = inline_svg(layout, layout._repr_svg_())
    ElementTree.fromstring(drawn.replace("xlink:", ""))
    assert "<script" not in drawn
