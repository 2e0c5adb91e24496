"""The figure of adaptive tests shows what their histories say."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

import measurement_layouts as ml
from measurement_layouts.linking import logistic
from measurement_layouts.plots import adaptive_plot

mpl.use("Agg")
pytestmark = pytest.mark.usefixtures("tidy_figures")


def _layout(name="looking"):
    sight = ml.Capability("sight", low=0, high=10, unit="octave")
    smallness = ml.MetaFeature("smallness", low=0, high=10, unit="octave")
    noise = ml.Noise("noise")
    return ml.Layout(name, ml.Success("found", (1 - noise) * logistic(sight - smallness)))


def _bank():
    return pd.DataFrame({"smallness": np.linspace(0, 10, 30)}, [f"arena {n}" for n in range(30)])


def _test(share, layout=None, answers=6):
    bank = _bank()
    test = ml.AdaptiveTest(layout or _layout(), bank, random_share=share, seed=2)
    for _ in range(answers):
        (item,) = test.next()
        test.record(item, bank["smallness"][item] < 6)
    return test


def test_lines_are_histories_and_the_design_is_beside_them():
    tests = {"adaptive": _test(0.5), "random": _test(1.0)}
    design = ml.batteries.design(_layout(), _bank(), n=6)
    panels = adaptive_plot(tests, design=design)
    by_title = {panel.get_title(): panel for panel in panels}
    assert set(by_title) == {"sight", "noise"}
    for element, panel in by_title.items():
        lines = panel.get_lines()
        for line, test in zip(lines, tests.values(), strict=False):
            np.testing.assert_array_equal(line.get_ydata(), test.history[f"sd {element}"])
            assert line.get_xdata().tolist() == [1, 2, 3, 4, 5, 6]
        np.testing.assert_array_equal(lines[2].get_ydata(), design.curve[element])
        marked = [len(points.get_offsets()) for points in panel.collections]
        assert marked == [(tests["adaptive"].history["why"] == "random").sum(), 0]
    assert by_title["sight"].get_ylabel() == "posterior sd (oct)"
    assert by_title["noise"].get_ylabel() == "posterior sd"
    assert {text.get_text() for text in panels[0].figure.legends[0].get_texts()} == {
        "adaptive",
        "random",
        "designed before any answer: expected",
    }


def test_tests_without_answers_or_of_several_layouts_are_refused():
    with pytest.raises(ml.DataError, match="no answers yet"):
        adaptive_plot(_test(0.0, answers=0))
    with pytest.raises(ml.DataError, match="several layouts: looking, seeing"):
        adaptive_plot({"one": _test(0.0, answers=1), "two": _test(0.0, _layout("seeing"), 1)})
