"""Figures of designed batteries: every number drawn is one of the design's."""

import numpy as np
import pandas as pd
import pytest

import measurement_layouts as ml
from measurement_layouts import plots
from measurement_layouts.linking import logistic, product


@pytest.fixture(scope="module")
def designed():
    labels = ("a", "b", "c")
    demand = ml.MetaFeature("demand", low=0, high=5, labels=labels)
    ability = ml.Capability("ability", low=0, high=6, labels=labels)
    able = product(logistic(ability - demand, 2), over="dimension")
    layout = ml.Layout("needed", ml.Success("ok", able))
    levels = np.random.default_rng(1).integers(0, 6, (200, 3))
    bank = pd.DataFrame(levels, [*map(str, range(200))], [f"demand[{name}]" for name in labels])
    return ml.batteries.design(layout, bank, n=20, target=["ability[a]", "ability[b]"])


def test_lines_are_parts_of_the_prior(designed):
    ax = plots.design_plot(designed)
    shares = designed.curve / designed.latents["before"]
    for line, name in zip(ax.lines, shares.columns, strict=True):
        assert np.allclose(line.get_ydata(), shares[name])
        assert line.get_linestyle() == ("--" if name == "ability[c]" else "-")
    names = [text.get_text() for text in ax.texts]
    assert names[-1].startswith("ability[c]  ")  # the least known is named at the top
    heights = [text.xyann[1] for text in ax.texts]
    assert min(np.diff(heights)) > 0.04
    assert ax.get_title() == "needed: what 20 of 200 items tell"


def test_circles_are_in_proportion(designed):
    ax = plots.chosen_items_plot(designed)
    assert [text.get_text() for text in ax.get_yticklabels()] == ["a", "b", "c"]
    every, chosen = (ax.collections[place].get_sizes() for place in (0, 1))
    column = designed.battery["demand[a]"]
    counts = np.array([(column == level).sum() for level in range(6)])
    assert np.allclose(chosen / chosen.sum(), counts / 20)
    there = np.array([(designed.bank["demand[a]"] == level).sum() for level in range(6)])
    assert np.allclose(every / every.sum(), there / 200)
    row = [int(text.get_text()) for text in ax.texts if text.xy[1] == 0]
    assert row == counts[counts > 0].tolist()


def test_many_values_are_shown_in_ranges():
    sight = ml.Capability("sight", low=0, high=10)
    smallness = ml.MetaFeature("smallness", low=0, high=10)
    layout = ml.Layout("looking", ml.Success("found", logistic(sight - smallness)))
    bank = pd.DataFrame({"smallness": np.linspace(0, 10, 40)}, index=range(40))
    ax = plots.chosen_items_plot(ml.batteries.design(layout, bank, n=9))
    assert sum(int(text.get_text()) for text in ax.texts) == 9
    assert ax.get_yticklabels()[0].get_text() == "smallness  0 to 10"
    nearness = ml.MetaFeature("nearness", low=-10, high=0)
    layout = ml.Layout("looking", ml.Success("found", logistic(sight - nearness)))
    bank = pd.DataFrame({"nearness": np.linspace(-10, 0, 40)}, index=range(40))
    ax = plots.chosen_items_plot(ml.batteries.design(layout, bank, n=9))
    assert ax.get_yticklabels()[0].get_text() == "nearness  \u221210 to 0"


def test_nothing_to_draw_over():
    layout = ml.Layout("coin", ml.Success("heads", ml.Capability("p", low=0, high=1)))
    found = ml.batteries.design(layout, pd.DataFrame(index=["toss"]), n=1)
    with pytest.raises(ml.DataError, match="uses no column of the bank"):
        plots.chosen_items_plot(found)
