"""Figures of comparisons: points where the table has them, names, units and refusals."""

import importlib

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest

import measurement_layouts as ml
from measurement_layouts import plots
from measurement_layouts.validation.comparison import compare_profiles

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

    def test_refusals(self, against_ann, monkeypatch):
        with pytest.raises(ml.FitError, match="no profile element wit"):
            plots.comparison_plot(against_ann, nodes="wit")
        with pytest.raises(ml.FitError, match="1 axes and there are 4 panels"):
            plots.comparison_plot(against_ann, ax=plt.subplots()[1])
        module = importlib.import_module(plots.comparison_plot.__module__)
        monkeypatch.setattr(module, "_MOST", 4)
        with pytest.raises(ml.FitError, match="there are 5 pairs, more than 4"):
            plots.comparison_plot(against_ann)
