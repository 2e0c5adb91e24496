"""What is drawn of characteristic curves is what their tables say, and nothing is cut."""

from dataclasses import replace

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from helpers import one_dominant, small_layouts
from helpers.made_estimates import legend, nothing_is_cut, scattered
from matplotlib.collections import LineCollection

import measurement_layouts as ml
from measurement_layouts import DataError, FitError
from measurement_layouts.batteries.characteristic import characteristic_curves
from measurement_layouts.plots import (
    ability_radar,
    curve_panels,
    curve_plot,
    curves_by_subject,
    scaling_plot,
)

mpl.use("Agg")
pytestmark = pytest.mark.usefixtures("tidy_figures")


@pytest.fixture(scope="module")
def curves():
    """Three subjects; `nil` never succeeds, so that it has no curves."""
    rng = np.random.default_rng(2)
    items = one_dominant.battery(600, rng)
    found, _ = one_dominant.outcomes(items, np.array([[2.0, 3.0, 4.0], [1.2, 3.5, 2.5]]), rng)
    wide = found.successes.T.assign(nil=0).T
    return characteristic_curves(ml.Evaluation.from_wide(wide, items), one_dominant.NAMES)


def test_one_curve(curves):
    ax = curve_plot(curves, "s0", "logic")
    bins, row = curves.bins_of("s0", "logic"), curves.row("s0", "logic")
    (drawn,) = scattered(ax)
    assert np.allclose(drawn.get_offsets(), bins[["level", "rate"]])
    most = drawn.get_sizes().argmax()
    assert most == bins["items"].to_numpy().argmax()
    bars = next(c for c in ax.collections if isinstance(c, LineCollection))
    ends = [segment[:, 1].tolist() for segment in bars.get_segments()]
    assert np.allclose(ends, bins[["rate_low", "rate_high"]])
    line = {one.get_label(): one for one in ax.lines}
    interval = line["ability and 90% interval"].get_xdata()
    assert np.allclose(interval, row[["low", "ability", "high"]].astype(float))
    at, height = line["curve"].get_data()
    inside = ~np.isnan(height)
    assert (at[inside].min(), at[inside].max()) == (1, 5)
    assert np.allclose(height[inside], curves.curve("s0", "logic", at[inside])["success"])
    counts = [text.get_text() for text in ax.texts]
    assert counts == [*map(str, bins["items"]), "items"]
    assert ax.get_title().startswith(f"s0, logic: ability {row['ability']:#.3g} [")
    nothing_is_cut(ax)


def test_no_curve_is_said(curves):
    ax = curve_plot(curves, "nil", "logic")
    assert ax.get_title() == "nil, logic: ability no curve"
    assert len(scattered(ax)) == 1
    with pytest.raises(FitError, match="the dimension taste"):
        curve_plot(curves, "nil", "taste")


def test_panels(curves):
    axes = curve_panels(curves, "s1")
    titles = [ax.get_title() for ax in axes]
    assert [title.split(":")[0] for title in titles] == one_dominant.NAMES
    assert len({ax.get_xlim() for ax in axes}) == 1
    assert "its 90% band" in legend(axes)
    nothing_is_cut(axes)


def test_all_subjects_from_the_highest_ability(curves):
    ax = curves_by_subject(curves, "memory")
    assert [name.split(":")[0] for name in legend(ax)[-3:]] == ["s1", "s0", "nil"]
    assert legend(ax)[-1] == "nil: no curve"
    nothing_is_cut(ax)
    bins, table = (frame[frame["subject"] == "nil"] for frame in (curves.bins, curves.table))
    alone = replace(curves, bins=bins, table=table, draws=curves.draws.sel(subject=["nil"]))
    with pytest.raises(FitError, match="no subject has a curve"):
        curves_by_subject(alone, "memory")


def test_radar(curves):
    ax = ability_radar(curves, subjects=["s0", "s1"])
    own = [line for line in ax.lines if line.get_label() == "s1"]
    drawn = own[0].get_ydata()
    assert np.allclose(drawn[:-1], curves.abilities.loc["s1"])
    assert drawn[-1] == drawn[0]
    bars = [line.get_ydata() for line in ax.lines if len(line.get_xdata()) == 2]
    low_high = curves.table[curves.table["subject"] != "nil"][["low", "high"]]
    assert np.allclose(bars, np.minimum(low_high, ax.get_ylim()[1]))
    assert legend(ax) == ["s0", "s1"]
    nothing_is_cut(ax)
    for subjects, message in (
        (["nil"], "no curve in any dimension"),
        (["s0", "s0"], "2 profiles"),
        (["Eve"], "the subject Eve"),
    ):
        with pytest.raises(FitError, match=message):
            ability_radar(curves, subjects=subjects)
    with pytest.raises(FitError, match="make polar axes"):
        ability_radar(curves, subjects=["s0"], ax=plt.subplots()[1])


def test_radar_of_a_layout():
    """Posterior means of its capabilities; one below 0 lies off the centre."""
    names = ("sums", "words", "maps")
    layout = small_layouts.labelled(names)
    items = pd.DataFrame({f"demand[{name}]": [1.0, 2] for name in names}, ["a", "b"])
    wide = pd.DataFrame([[1, 0], [1, 1]], ["s0", "s1"], items.index)
    draws = np.random.default_rng(1).normal([-1.5, 2, 4], 0.3, (2, 2, 50, 3))
    evaluation = ml.Evaluation.from_wide(wide, items)
    fit = small_layouts.crafted(layout, evaluation, {"ability": draws})
    ax = ability_radar(fit, subjects=["s1"])
    (own,) = (line for line in ax.lines if line.get_label() == "s1")
    assert np.allclose(own.get_ydata()[:-1], draws[1].mean((0, 1)))
    assert [label.get_text() for label in ax.get_xticklabels()] == list(names)
    assert ax.get_ylim()[0] == -2
    assert ax.get_title() == "Posterior means, 90% intervals"
    nothing_is_cut(ax)
    other = small_layouts.crafted(
        small_layouts.coin(), small_layouts.counts([1], [2]), {"p": draws[:1, :, :, 0]}
    )
    with pytest.raises(FitError, match="capabilities p; three in one unit are needed"):
        ability_radar(other)


def test_scaling(curves):
    sizes = pd.Series({"s1": 70.0, "s0": 1.0, "nil": 7, "unknown": 3}, name="parameters")
    families = pd.Series({"s0": "A", "s1": "A", "nil": "B"})
    axes = scaling_plot(curves, sizes, families, dimensions=["memory", "logic"])
    first = axes[0].lines[0]
    assert first.get_xdata().tolist() == [1, 70]
    assert np.allclose(first.get_ydata(), curves.abilities.loc[["s0", "s1"], "memory"])
    assert [ax.get_title() for ax in axes] == ["memory", "logic"]
    assert (axes[0].get_xscale(), axes[0].get_xlabel()) == ("log", "parameters")
    assert legend(axes) == ["A", "B"]
    nothing_is_cut(axes)
    for wrong, grouped, message in (
        (sizes.drop(["s0", "s1", "nil"]), None, "index sizes by subject"),
        (sizes * 0, None, "not positive numbers: s1, s0, nil"),
        (sizes, families.drop("s1"), "no family for s1"),
    ):
        with pytest.raises(DataError, match=message):
            scaling_plot(curves, wrong, grouped)


def test_scaling_of_performance(curves):
    """Success rates of a table by group, with the table's own ends."""
    items = pd.DataFrame({"kind": ["sum", "word"] * 20}, [f"q{n}" for n in range(40)])
    wide = pd.DataFrame(np.arange(80).reshape(2, 40) % 3 > 0, ["small", "large"], items.index)
    rates = ml.Evaluation.from_wide(wide, items).group_rates("kind")
    sizes = pd.Series({"large": 70.0, "small": 1.0})
    axes = scaling_plot(rates, sizes, dimensions=["word"])
    (panel,) = axes
    own = rates[rates["group"] == "word"].set_index("subject").loc[["small", "large"]]
    assert np.allclose(panel.lines[0].get_ydata(), own["mean"])
    (bars,) = (c for c in panel.collections if isinstance(c, LineCollection))
    ends = [segment[:, 1].tolist() for segment in bars.get_segments()]
    assert np.allclose(ends, own[["low", "high"]])
    assert (panel.get_ylabel(), panel.get_ylim(), panel.get_title()) == ("success", (0, 1), "word")
    assert panel.figure.get_suptitle() == "Performance and size, 90% intervals"
    (panel,) = scaling_plot(rates, sizes, dimensions=["word"], prob=0.5)
    assert panel.figure.get_suptitle() == "Performance and size, 50% intervals"
    nothing_is_cut(axes)
    with pytest.raises(DataError, match="a table of performance has"):
        scaling_plot(rates.drop(columns="low"), sizes)


def test_scaling_of_a_profile():
    """Posterior means of capabilities in their unit; hollow where the prior dominates."""
    layout = small_layouts.labelled(("sums", "words"))
    items = pd.DataFrame({"demand[sums]": [1.0, 2], "demand[words]": [2.0, 1]}, ["a", "b"])
    wide = pd.DataFrame([[1, 0], [1, 1]], ["small", "large"], items.index)
    draws = np.random.default_rng(1).beta(4, 2, (2, 2, 50, 2)) * [[[[3, 2]]], [[[5, 4]]]]
    evaluation = ml.Evaluation.from_wide(wide, items)
    fit = small_layouts.crafted(layout, evaluation, {"ability": draws})
    sizes = pd.Series({"small": 1.0, "large": 70.0})
    axes = scaling_plot(fit, sizes)
    table = fit.profiles().set_index(["label", "subject"])
    for panel, label in zip(axes, ("sums", "words"), strict=True):
        means = table.loc[label].loc[["small", "large"], "mean"]
        assert np.allclose(panel.lines[0].get_ydata(), means)
        assert panel.get_title() == f"ability[{label}]"
    assert axes[0].get_ylim() == axes[1].get_ylim()  # one node
    assert axes[0].get_ylabel() == "posterior mean"
    assert len(scaling_plot(fit, sizes, dimensions=["ability[words]"])) == 1
    nothing_is_cut(axes)
    (narrow, _) = scaling_plot(fit, sizes, prob=0.5)
    assert narrow.figure.get_suptitle() == "Profile and size, 50% intervals"
    (bars,) = (c for c in narrow.collections if isinstance(c, LineCollection))
    half = fit.profiles(prob=0.5).set_index(["label", "subject"]).loc["sums"]
    ends = [segment[:, 1].tolist() for segment in bars.get_segments()]
    assert np.allclose(ends, half.loc[["small", "large"], ["low", "high"]])
    with pytest.raises(FitError, match="no profile element taste"):
        scaling_plot(fit, sizes, dimensions=["taste"])
