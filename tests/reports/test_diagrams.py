"""Diagrams that a page may hold."""

from xml.etree import ElementTree

import measurement_layouts as ml
from measurement_layouts.linking import logistic
from measurement_layouts.reports.diagrams import inline_svg


def test_a_diagram_holds_no_markup_of_its_texts():
    skill = ml.Capability("skill", low=0, high=1, about="</svg><script>alert(1)</script>")
    demand = ml.MetaFeature("demand", low=0, high=1)
    layout = ml.Layout('a "quoted" <b>', ml.Success("done", logistic(skill - demand)))
    drawn = inline_svg(layout, layout._repr_svg_())
    ElementTree.fromstring(drawn.replace("xlink:", ""))
    assert "<script" not in drawn
