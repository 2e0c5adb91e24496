"""The figure of raters shows the table's numbers."""

import matplotlib as mpl
import numpy as np
import pytest
from helpers.made_estimates import nothing_is_cut

from measurement_layouts import plots
from measurement_layouts.annotation.rater_dimension import OneDimension
from measurement_layouts.annotation.rater_model import RaterModel

mpl.use("Agg")
pytestmark = pytest.mark.usefixtures("tidy_figures")


def made_up(together, correlation=0.0):
    """A model whose draws nobody sampled: two raters, three dimensions."""
    random = np.random.default_rng(1)
    found = {}
    for name, share in together.items():
        traits = random.normal(0.6 * share, 0.02, (50, 2, 4))
        draws = random.normal(share, 0.02, 50)
        found[name] = OneDimension(np.full((1, 6), 1 / 6), np.ones((2, 6, 6)), traits, draws, 0, 50)
    return RaterModel(("a",), ("one", "two"), tuple(range(6)), found, "none", correlation)


def test_points_are_the_tables_and_names_are_not_cut():
    model = made_up({"planning": 0.9, "inhibitory control": 0.2, "$5 or $6 of memory": 0.6})
    ax = plots.rater_reliability_plot(model, least=0.7)
    names = [tick.get_text() for tick in ax.get_yticklabels()]
    assert [names[0], names[2]] == ["inhibitory control", "planning"]
    table = model.reliability(least=0.7).sort_values("together")
    intervals, points = ax.collections[2:]
    assert points.get_offsets()[:, 0].tolist() == pytest.approx(table["together"].tolist())
    assert points.get_alpha().tolist() == [0.4, 0.4, 1.0]
    ends = [line[:, 0] for line in intervals.get_segments() if line[:, 1].tolist() == [2.14] * 2]
    assert ends[0] == pytest.approx(table.iloc[2][["together_low", "together_high"]].tolist())
    assert [text.get_text() for text in ax.texts[:3]] == [f"{k:.0f}" for k in table["needed"]]
    nothing_is_cut(ax)


def test_no_number_of_annotations_is_a_sign_of_its_own():
    ax = plots.rater_reliability_plot(made_up({"planning": 0.4}, correlation=0.6))
    assert ax.texts[0].get_text() == "∞"
