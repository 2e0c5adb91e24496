"""The figure of raters shows the table's numbers."""

import matplotlib as mpl
import pytest
from helpers.made_estimates import nothing_is_cut
from helpers.made_raters import made_up

from measurement_layouts import plots

mpl.use("Agg")
pytestmark = pytest.mark.usefixtures("tidy_figures")


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
