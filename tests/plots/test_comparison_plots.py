"""Figures of comparisons: points where the table has them, names, units and refusals."""

import importlib

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex

import measurement_layouts as ml
from measurement_layouts import plots
from measurement_layouts.validation.comparison import compare_profiles
from measurement_layouts.validation.leave_one_out.compare import LayoutComparison

mpl.use("Agg")
pytestmark = pytest.mark.usefixtures("tidy_figures")


@pytest.fixture(scope="module")
def against_ann(fitted):
    return compare_profiles(fitted, reference="Ann")


@pytest.fixture(scope="module")
def pairs(fitted):
    return compare_profiles(fitted)


def texts(ax):
    return [text.get_text() for text in ax.texts]


class TestComparisonPlot:
    def test_points_and_chances(self, against_ann):
        axes = plots.comparison_plot(against_ann)
        rows = against_ann.rows("visualAbility").set_index("subject")
        names = [label.get_text().removesuffix(" †") for label in axes[0].get_yticklabels()]
        shown = axes[2].collections[-1].get_offsets()
        np.testing.assert_allclose(shown[:, 0], rows.loc[names, "difference"])
        assert axes[2].get_xlabel() == "difference in\nvisualAbility (sd)"
        first = against_ann.rows("navigationAbility").set_index("subject").loc[names]
        assert first["difference"].is_monotonic_increasing
        assert len(texts(axes[2])) == 5
        assert plt.gcf().get_suptitle() == "5 subjects minus Ann"

    def test_pairs_bear_both_names(self, pairs):
        (ax,) = plots.comparison_plot(pairs, nodes="noiseLevel")
        names = {label.get_text().removesuffix(" †") for label in ax.get_yticklabels()}
        assert "Ann \u2212 Bob" in names
        assert len(names) == 15

    def test_two_fits(self, fitted):
        other = ml.Fit.of(fitted)
        plots.comparison_plot(compare_profiles(fitted, other=other), nodes="noiseLevel")
        assert plt.gcf().get_suptitle() == "6 subjects: this fit minus the other"

    def test_refusals(self, against_ann, monkeypatch):
        with pytest.raises(ml.FitError, match="no profile element wit"):
            plots.comparison_plot(against_ann, nodes="wit")
        with pytest.raises(ml.FitError, match="1 axes and there are 4 panels"):
            plots.comparison_plot(against_ann, ax=plt.subplots()[1])
        module = importlib.import_module(plots.comparison_plot.__module__)
        monkeypatch.setattr(module, "_MOST", 4)
        with pytest.raises(ml.FitError, match="there are 5 pairs, more than 4"):
            plots.comparison_plot(against_ann)


def test_layouts_by_subject():
    table = pd.DataFrame(
        {
            "subject": ["Ann", "Ann", "Bob", "Bob"],
            "layout": ["bold", "plain", "plain", "bold"],
            "elpd_diff": [0.0, -3.0, 0.0, -1.0],
            "dse": [0.0, 1.5, 0.0, np.nan],
            "warning": ["", "", "", "1 of 9 items"],
        }
    )
    total = pd.DataFrame(
        {"layout": ["bold", "plain"], "elpd_diff": [0, -2.0], "dse": [0, 2.0], "warning": ""}
    )
    top, below = plots.layout_comparison_plot(LayoutComparison(table, total))
    ends = [line.get_segments()[0][:, 0].tolist() for line in top.collections[3:5]]
    assert ends == [[-6, 2], [-4, 0]]
    bold = below.collections[2]
    np.testing.assert_allclose(bold.get_offsets()[:, 0], [0, -1])
    assert to_hex(bold.get_facecolors()[1]) == "#ffffff"
    assert [text.get_text() for text in below.get_yticklabels()] == ["Ann", "Bob"]
    assert plt.gcf().get_suptitle() == "2 layouts compared by leave-one-out of cells: 2 subjects"


def test_layouts_compared_by_item_have_a_row_for_each():
    """A single point has no standard error, and the axis does not speak of one."""
    table = pd.DataFrame(
        {
            "item": ["sum", "sum", "root", "root"],
            "layout": ["bold", "plain"] * 2,
            "elpd_diff": [0.0, -3.0, -1.0, 0.0],
            "dse": np.nan,
            "warning": "",
        }
    )
    total = pd.DataFrame(
        {"layout": ["bold", "plain"], "elpd_diff": [0, -2.0], "dse": [0, 2.0], "warning": ""}
    )
    top, below = plots.layout_comparison_plot(LayoutComparison(table, total, "item"))
    assert [text.get_text() for text in below.get_yticklabels()] == ["sum", "root"]
    assert below.get_title() == "By item"
    assert "thick line: 1 standard error, thin line: 2" in top.get_xlabel()
    assert "standard error" not in below.get_xlabel()
    assert plt.gcf().get_suptitle() == "2 layouts compared by leave-one-out of items: 2 items"
