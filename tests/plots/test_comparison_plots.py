"""Figure of a comparison: points where the table has them, tied subjects, ranks and refusals."""

import importlib

import matplotlib as mpl
import numpy as np
import pytest

import measurement_layouts as ml
from measurement_layouts import plots

mpl.use("Agg")
pytestmark = pytest.mark.usefixtures("tidy_figures")


@pytest.mark.parametrize("by", ["success", "visualAbility"])
def test_points_ranks_and_tied_subjects(fitted, by):
    comparison = ml.compare(fitted, by=by)
    ax = plots.comparison_plot(comparison)
    reading = comparison.readings[0]
    ranking = comparison.ranking[comparison.ranking["reading"] == reading]
    names = [label.get_text().removesuffix(" †") for label in ax.get_yticklabels()]
    assert names == ranking["subject"].tolist()
    leading = comparison.table[comparison.table["subject"] == names[0]]
    expected = -leading[leading["reading"] == reading]["difference"]
    points = [points for points in ax.collections if hasattr(points, "get_sizes")]
    drawn = np.concatenate([point.get_offsets().filled(np.nan) for point in points[:2]])
    np.testing.assert_allclose(np.sort(drawn[:, 0])[:5], np.sort(expected))
    bands = [patch.get_y() + 0.5 for patch in ax.patches]
    assert [names[int(row)] for row in bands] == comparison.tied
    assert len(ax.texts) == len(names)


def test_too_many_subjects_are_refused(fitted, monkeypatch):
    module = importlib.import_module(plots.comparison_plot.__module__)
    monkeypatch.setattr(module, "_MOST", 4)
    with pytest.raises(ml.FitError, match="there are 6 subjects, more than 4"):
        plots.comparison_plot(ml.compare(fitted, by="visualAbility"))
