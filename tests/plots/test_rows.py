"""Rows with intervals: marks are where the tables have them, are explained, and nothing is cut."""

from itertools import pairwise

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from helpers import drawn_fits, joint_fits, small_layouts, small_populations
from helpers.drawn_fits import LONG, bars, named, points
from helpers.made_estimates import is_whole, legend
from helpers.made_raters import made_up as raters

import measurement_layouts as ml
from measurement_layouts import DataError, FitError, plots
from measurement_layouts.inference.population.standing import standing
from measurement_layouts.linking import logistic
from measurement_layouts.plots.rows import rows

mpl.use("Agg")
pytestmark = pytest.mark.usefixtures("tidy_figures")


@pytest.fixture(scope="module")
def fit():
    return drawn_fits.made_up(drawn_fits.layout(), drawn_fits.evaluation())


@pytest.fixture(scope="module")
def rasch():
    return drawn_fits.rasch(68, 69)


@pytest.fixture(scope="module")
def schools():
    draws = {"ability": np.random.default_rng(2).normal(size=(2, 100, 12))}
    return small_populations.crafted(small_populations.schools(), small_populations.cohort(), draws)


def table(count, **columns):
    mean = np.linspace(-1, 1, count)
    named = {"row": [f"row {k}" for k in range(count)], "mean": mean}
    return pd.DataFrame({**named, "low": mean - 0.5, "high": mean + 0.5, **columns})


class TestGrammar:
    def test_marks_show_what_their_columns_say(self):
        flags = {
            "hollow": [True, False, False],
            "cross": [False, True, False],
            "pale": [False, False, True],
            "other": [0.3, np.nan, np.nan],
            "back_low": [-2.0, np.nan, -2.0],
            "back_high": [2.0, np.nan, 2.0],
            "note": ["first", "", "third"],
        }
        words = {name: name for name in ("mean", "pale", "other", "back_low")}
        (panel,) = rows(table(3, **flags), words)
        marks, *others = points(panel)
        assert marks.get_offsets().tolist() == [[-1, 0], [0, 1], [1, 2]]
        assert marks.get_facecolors()[0].tolist() == [1, 1, 1, 1]
        assert marks.get_facecolors()[2, 3] == pytest.approx(0.4)
        assert [one.get_offsets().tolist()[0] for one in others] == [[0.3, 0], [0, 1]]
        assert [text.get_text() for text in panel.texts] == ["first", "third"]
        assert [patch.get_width() for patch in panel.patches if patch.get_width() > 0] == [4, 4]
        entries = ["mean", "hollow: prior-dominated", "crossed: separate modes", "pale"]
        assert legend(panel) == [*entries, "back_low", "other"]
        assert legend(rows(table(3), words)) == ["mean"]

    def test_series_are_side_by_side_and_panels_share_names(self):
        both = pd.concat([table(3, series=name, panel=panel) for name in "ab" for panel in "xy"])
        left, right = rows(both, {"mean": "mean"}, limits={"y": (-5, 5)}, labels={"x": "$x"})
        heights = [one.get_offsets()[:, 1] for one in points(left)]
        assert np.allclose(heights[1] - heights[0], heights[1][0] - heights[0][0])
        assert 0 < heights[1][0] - heights[0][0] < 0.5
        assert named(left.get_yticklabels()) == ["row 0", "row 1", "row 2"]
        assert not right.yaxis.get_tick_params()["labelleft"]
        assert right.get_xlim() == (-5, 5)
        assert left.get_xlabel() == r"\$x"
        assert legend(left)[:2] == ["a", "b"]

    @pytest.mark.parametrize("count", [1, 40, 100, 3000])
    def test_no_figure_grows_without_bound(self, count):
        (panel,) = rows(table(count).assign(row=lambda t: t["row"] + LONG), {"mean": "mean"})
        assert panel.figure.get_figheight() < 20
        assert len(points(panel)[0].get_offsets()) == count
        assert len(panel.get_yticks()) <= 100
        assert is_whole(panel)
        boxes = [text.get_window_extent() for text in panel.get_yticklabels()]
        assert all(above.y0 > below.y0 for above, below in pairwise(boxes))

    def test_given_axes_are_used_and_counted(self):
        figure, axes = plt.subplots(1, 2)
        two = pd.concat([table(3, panel=panel) for panel in "xy"])
        assert rows(two, {"mean": "mean"}, ax=axes)[1] is axes[1]
        assert plt.get_fignums() == [figure.number]
        with pytest.raises(FitError, match="ax= has 2 axes and there are 1 panels"):
            rows(table(3), {"mean": "mean"}, ax=axes)


class TestProfileForest:
    def test_rows_are_those_of_the_table(self, fit):
        axes = plots.profile_forest(fit, prob=0.5)
        order = [name.rsplit(maxsplit=1) for name in named(axes[0].get_yticklabels())]
        assert order[0] == ["all right", "1.00"]
        rates = [float(rate) for _, rate in order]
        assert rates == sorted(rates, reverse=True)
        names = [name.removesuffix(" †").replace(r"\$", "$") for name, _ in order]
        for panel, latent in zip(axes, fit.layout.latents, strict=True):
            expected = fit.profiles(prob=0.5).set_index(["node", "subject"]).loc[latent.name]
            assert np.allclose(points(panel)[0].get_offsets()[:, 0], expected["mean"][names])
            assert np.allclose(bars(panel)[:4, :, 0], expected.loc[names, ["low", "high"]])
        assert [panel.get_xlabel() for panel in axes[:2]] == ["navigation (m)", "left_right"]
        assert -4 < axes[0].get_xlim()[0] < 0 < 40 < axes[0].get_xlim()[1] < 44
        assert "posterior mean, 50% interval" in legend(axes)

    def test_labels_failures_and_doubts(self):
        axes = plots.profile_forest(drawn_fits.labelled(), nodes="skill")
        labels = [panel.get_xlabel() for panel in axes]
        assert labels == [f"skill[{name}] (level)" for name in ("read", "write", "count")]
        assert {"1 failed, not shown", "† not converged"} < set(legend(axes))
        assert is_whole(axes)

    def test_truth_is_at_its_place(self, fitted):
        truth = small_layouts.profiles()
        truth.loc["Bob", "noiseLevel"] = np.nan
        truth.loc["Cyd", "visualAbility"] = 3.8  # beyond the range
        axes = plots.profile_forest(fitted, subjects=["Cyd", "Bob"], truth=truth)
        names = [name.split()[0] for name in named(axes[0].get_yticklabels())]
        for element, panel in zip(fitted.elements, axes, strict=True):
            diamonds = points(panel)[1].get_offsets().filled(np.nan)[:, 0]
            assert np.allclose(diamonds, truth.loc[names, element.name], equal_nan=True)
            assert panel.get_xlim()[0] < np.nanmin(diamonds)
            assert panel.get_xlim()[1] > np.nanmax(diamonds)
        assert "open: truth" in legend(axes)

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"nodes": "hearing"}, "no profile element hearing;"),
            ({"subjects": ["Zoe"]}, "not in this fit:"),
            ({"prob": 90}, "prob=90"),
            ({"truth": pd.DataFrame({"hearing": [1]}, ["Ann"])}, "no profile element hearing"),
            ({"truth": pd.DataFrame({"noiseLevel": ["low"]}, ["Ann"])}, "Ann on noiseLevel:"),
        ],
    )
    def test_errors(self, fitted, arguments, message):
        with pytest.raises((FitError, DataError), match=message):
            plots.profile_forest(fitted, **arguments)


class TestPopulationForest:
    def test_rows_are_those_of_the_table(self, rasch):
        (panel,) = plots.population_forest(rasch, prob=0.8)
        both = [text.split() for text in named(panel.get_yticklabels())]
        expected = standing(rasch, prob=0.8).set_index("subject").loc[[name for name, _ in both]]
        assert sorted(expected.index) == rasch.subjects
        profile, alone = points(panel)
        assert np.allclose(profile.get_offsets()[:, 0], expected["mean"])
        keys = [(float(rate), mean) for (_, rate), mean in zip(both, expected["mean"], strict=True)]
        assert keys == sorted(keys, reverse=True)
        wide = [[patch.get_x(), patch.get_x() + patch.get_width()] for patch in panel.patches]
        assert np.allclose(wide, expected[["population_low", "population_high"]])
        ends = bars(panel)[:, :, 0]
        assert np.allclose(ends[:68], expected[["population_mean"]])
        assert np.allclose(ends[68:], expected[["low", "high"]])
        inside = expected["alone"].between(*panel.get_xlim())
        shown = alone.get_offsets().filled(np.nan)[:, 0]
        assert np.allclose(shown, expected["alone"].where(inside), equal_nan=True)
        share = round(100 * expected["population_weight"].median())
        assert panel.get_title() == f"population's share of a mean: {share}% (median)"
        assert is_whole(panel)

    def test_some_subjects_and_nothing_shared(self, schools, fitted):
        chosen = {"nodes": "ability", "subjects": ["s003", "s001"]}
        (panel,) = plots.population_forest(schools, **chosen)
        assert panel.figure.get_suptitle() == "2 subjects: profiles and their population"
        with pytest.raises(FitError, match="share nothing"):
            plots.population_forest(fitted)


class TestEffects:
    def test_effects_of_items_fall(self, rasch):
        effects = rasch.items().sort_values("mean", ascending=False)
        (panel,) = plots.effects_plot(rasch.items(), layout=rasch.layout)
        assert named(panel.get_yticklabels()) == effects["item"].tolist()
        assert np.allclose(points(panel)[0].get_offsets()[:, 0], effects["mean"])
        assert np.allclose(bars(panel)[:, :, 0], effects[["low", "high"]])
        pale = points(panel)[0].get_facecolors()[:, 3] < 1
        assert pale.tolist() == ((effects["low"] <= 0) & (effects["high"] >= 0)).tolist()
        assert panel.get_xlabel() == "ease"

    def test_single_values_share_a_panel_for_each_unit(self, schools):
        mean = ml.Bias("mean", unit="m", per="population")
        skill = ml.Capability("skill", unit="m", prior=joint_fits.normal(mean, 1.0))
        slope = ml.Slope("slope", per="population")
        layout = ml.Layout("far", ml.Success("ok", logistic(skill, slope)))
        values = {"mean": [40.0, 0.2], "low": [30.0, 0.1], "high": [50.0, 0.3]}
        shared = pd.DataFrame({"node": ["mean", "slope"], "label": "", "level": "", **values})
        axes = plots.effects_plot(shared, layout=layout)
        assert [panel.get_xlabel() for panel in axes] == ["value (m)", "value"]
        assert [named(panel.get_yticklabels()) for panel in axes] == [["mean"], ["slope"]]
        single, levels = plots.effects_plot(schools.population(), nodes=["gain", "ofSchool"])
        assert named(single.get_yticklabels()) == ["gain"]
        assert sorted(named(levels.get_yticklabels())) == ["x", "y", "z"]
        assert levels.get_xlabel() == "ofSchool"

    @pytest.mark.parametrize(
        ("change", "arguments", "message"),
        [
            (lambda t: t, {"nodes": "spread"}, "no effects of spread in the"),
            (lambda t: t, {"prob": 90}, "prob=90; give a number"),
            (lambda t: t.drop(columns="low"), {}, "low.*; give the result of"),
            (lambda t: t[:0], {}, "no rows; give the result of"),
        ],
    )
    def test_other_tables_are_refused(self, rasch, change, arguments, message):
        with pytest.raises((DataError, FitError), match=message):
            plots.effects_plot(change(rasch.items()), **arguments)


def test_importances_keep_their_order():
    methods = {"method": ["b", "b", "a"], "property": ["x", "y", "y"], "importance": [3, 2, 1]}
    found = pd.DataFrame({**methods, "low": 0.5, "high": 4})
    first, second = plots.importance_plot(found)
    assert named(first.get_yticklabels()) == ["x", "y"]
    assert points(first)[0].get_offsets().tolist() == [[3, 0], [2, 1]]
    assert second.get_title() == "a"


@pytest.mark.parametrize("by", ["success", "visualAbility"])
def test_comparisons_have_ranks_and_tied_subjects(fitted, by):
    comparison = ml.compare(fitted, by=by)
    ax = plots.comparison_plot(comparison)
    reading = comparison.readings[0]
    ranking = comparison.ranking[comparison.ranking["reading"] == reading]
    names = [label.removesuffix(" †") for label in named(ax.get_yticklabels())]
    assert names == ranking["subject"].tolist()
    leading = comparison.table[comparison.table["subject"] == names[0]]
    leading = leading[leading["reading"] == reading].set_index("reference").loc[names[1:]]
    drawn = points(ax)[0].get_offsets().filled(np.nan)[:, 0]
    np.testing.assert_allclose(drawn[np.isfinite(drawn)], -leading["difference"])
    bands = [patch.get_y() + 0.5 for patch in ax.patches]
    assert [names[int(row)] for row in bands] == comparison.tied
    assert len(ax.texts) == len(names)


def test_raters_and_the_annotations_that_are_needed():
    model = raters({"planning": 0.9, "inhibitory control": 0.2, "$5 or $6 of memory": 0.6})
    ax = plots.rater_reliability_plot(model, least=0.7)
    expected = model.reliability(least=0.7).sort_values("together", ascending=False)
    assert named(ax.get_yticklabels())[0] == "planning"
    one, together = points(ax)
    assert np.allclose(one.get_offsets()[:, 0], expected["one"])
    assert np.allclose(together.get_offsets()[:, 0], expected["together"])
    assert np.allclose(together.get_facecolors()[:, 3], [1.0, 0.4, 0.4])
    assert named(ax.texts) == [f"{count:.0f}" for count in expected["needed"]]
    assert is_whole(ax)
