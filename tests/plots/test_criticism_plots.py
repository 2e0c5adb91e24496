"""What is drawn of a criticism is what its tables say, and nothing is cut."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from helpers import two_demands
from helpers.made_estimates import nothing_is_cut
from matplotlib.collections import LineCollection, PathCollection, QuadMesh
from matplotlib.patches import Rectangle

import measurement_layouts as ml
from measurement_layouts.plots import criticism_map, residual_plot
from measurement_layouts.validation.criticism.criticise import criticise

mpl.use("Agg")
pytestmark = pytest.mark.usefixtures("tidy_figures")
LONG = "a-model-with-a-name-of-more-than-sixty-letters-as-they-do-occur-in-practice-v2"


@pytest.fixture(scope="module")
def found():
    items = two_demands.items(200, seed=3).assign(always="yes")
    profiles = pd.DataFrame(
        {"strength": 3.5, "memory": 4.0, "noise": 0.1, "litBias": [-3.0, 0.0]}, index=["Ann", LONG]
    )
    evaluation = ml.simulate(two_demands.layout("lit"), items, profiles, seed=4)
    return criticise(ml.fit(two_demands.layout(), evaluation, **two_demands.SAMPLING), evaluation)


def test_the_map_is_the_table(found):
    ax = criticism_map(found)
    who = found.fit.subjects
    names = [label.get_text() for label in ax.get_xticklabels()]
    (mesh,) = ax.findobj(QuadMesh)
    drawn = np.ma.filled(mesh.get_array().astype(float), np.nan).reshape(len(who), len(names))
    wanted = found.candidates.pivot_table(
        index="subject", columns="property", values="gain", dropna=False
    ).loc[who, names]
    np.testing.assert_allclose(drawn, wanted)
    flagged = found.candidates[found.candidates["flagged"]]
    frames = [patch for patch in ax.patches if isinstance(patch, Rectangle)]
    places = {
        (names.index(row["property"]), who.index(row["subject"])) for _, row in flagged.iterrows()
    }
    assert {frame.get_xy() for frame in frames} == places
    written = [text.get_text() for text in ax.texts]
    assert f"{flagged['gain'].iloc[0]:.0f} *" in written
    assert written.count("\u2013") == found.candidates["gain"].isna().sum() == 2
    nothing_is_cut(ax.figure)


def test_a_map_without_alarms_can_be_drawn(found):
    quiet = criticise(found.fit, found.evaluation, candidates=["colour"], subjects=[LONG])
    ax = criticism_map(quiet)
    assert not ax.patches
    nothing_is_cut(ax.figure)


@pytest.mark.parametrize("by", [None, "colour"])
def test_residuals_are_the_table(found, by):
    ax = residual_plot(found, "Ann", "lit", by)
    names = ["lit"] if by is None else ["lit", by]
    table = found.residuals("Ann", *names).reset_index()
    points = np.concatenate([dots.get_offsets() for dots in ax.findobj(PathCollection)])
    lines = np.concatenate([line.get_segments() for line in ax.findobj(LineCollection)])
    assert sorted(points[:, 1]) == pytest.approx(sorted(table["observed"]))
    wanted = table[["low", "high"]].sort_values(["low", "high"])
    drawn = pd.DataFrame(lines[:, :, 1]).sort_values([0, 1])
    np.testing.assert_allclose(drawn, wanted)
    np.testing.assert_allclose(lines[:, 0, 0], points[:, 0])
    ticks = [label.get_text() for label in ax.get_xticklabels()]
    level, counts = ticks[0].split("\n")
    assert list(map(int, counts.split(", "))) == table.loc[table["lit"] == level, "items"].tolist()
    nothing_is_cut(ax.figure)


def test_they_draw_where_they_are_told(found):
    _, (left, right) = plt.subplots(1, 2)
    assert criticism_map(found, ax=left) is left
    assert residual_plot(found, LONG, "size", ax=right) is right
