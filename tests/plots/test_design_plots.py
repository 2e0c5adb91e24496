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
