"""Figures of demands show the tables' numbers, and nothing is cut."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from helpers.made_estimates import nothing_is_cut
from matplotlib.collections import PatchCollection
from matplotlib.colors import to_hex, to_rgb

from measurement_layouts import FitError, plots
from measurement_layouts.batteries.demands import demand_profile

mpl.use("Agg")
pytestmark = pytest.mark.usefixtures("tidy_figures")
NAMES = ["demand[QLl]", "demand[MS]", "demand[KNf]"]


@pytest.fixture(scope="module")
def items():
    rng = np.random.default_rng(2)
    table = pd.DataFrame(rng.integers(0, 6, (120, 3)), columns=NAMES)
    return table.assign(**{"demand[MS]": 0}).set_axis([f"i{k}" for k in range(120)])


def areas(ax):
    """Colour and area of every piece of a rosette, in order, from its corners."""
    (drawn,) = (item for item in ax.collections if isinstance(item, PatchCollection))
    found = []
    for path, face in zip(drawn.get_paths(), drawn.get_facecolors(), strict=True):
        x, y = path.to_polygons(closed_only=True)[0].T
        found.append((to_hex(face), abs(np.dot(x[:-1], y[1:]) - np.dot(x[1:], y[:-1])) / 2))
    return found


class TestDemandProfilePlot:
    def test_areas_are_shares(self, items):
        profile = demand_profile(items, NAMES)
        (ax,) = plots.demand_profile_plot(profile)
        found = areas(ax)
        whole = 0.9 * np.pi * (1 - 0.15**2) / 3
        shares = profile.shares.to_numpy().ravel()
        expected = shares[shares > 0]
        assert len(found) == len(expected) == 6 + 1 + 6
        # matplotlib's arcs are cubic curves, drawn here as polygons of short edges
        assert np.allclose([area / whole for _, area in found], expected, rtol=5e-3)
        assert found[6][0] == "#ffffff"  # nobody is asked to read minds
        light = [np.dot(to_rgb(face), [0.299, 0.587, 0.114]) for face, _ in found[:6]]
        assert all(np.diff(light) < -0.05)  # darker level by level, in grey too
        nothing_is_cut(ax)

    def test_names_titles_and_legend(self, items):
        profiles = {
            "costs $5 or $6": demand_profile(items, NAMES),
            "half": demand_profile(items[:60], NAMES, levels=range(8)),
        }
        axes = plots.demand_profile_plot(profiles)
        assert [ax.get_title() for ax in axes] == [r"costs \$5 or \$6: 120 items", "half: 60 items"]
        assert [text.get_text() for text in axes[1].texts] == ["QLl", "MS", "KNf"]
        legend = axes[0].get_figure().legends[0]
        assert [text.get_text() for text in legend.get_texts()] == [*"01234567"]
        nothing_is_cut(axes)

    def test_given_axes(self, items):
        _, given = plt.subplots(1, 2)
        profile = demand_profile(items, NAMES)
        axes = plots.demand_profile_plot({"a": profile, "b": profile}, ax=given)
        assert list(axes) == list(given)
        assert given[0].get_legend() is not None
        with pytest.raises(FitError, match="2 axes and there are 1 panels"):
            plots.demand_profile_plot(profile, ax=given)

    def test_nothing_to_draw(self):
        with pytest.raises(FitError, match="no demand profile"):
            plots.demand_profile_plot({})
