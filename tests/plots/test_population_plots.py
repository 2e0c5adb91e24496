"""Figures of a population: they show what the tables say, and nothing is cut."""

from itertools import pairwise

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from helpers import joint_fits, small_layouts, small_populations
from helpers.made_estimates import is_whole
from matplotlib.collections import LineCollection

import measurement_layouts as ml
from measurement_layouts import DataError, FitError, plots
from measurement_layouts.inference.population.item_places import item_places
from measurement_layouts.inference.population.standing import standing
from measurement_layouts.linking import logistic, product

mpl.use("Agg")
pytestmark = pytest.mark.usefixtures("tidy_figures")
LONG = "an-item-with-a-name-of-more-than-sixty-letters-as-they-do-occur-in-practice"


def made_up(subjects, items, seed=5):
    """A Rasch fit of draws made up."""
    rng = np.random.default_rng(seed)
    evaluation = small_populations.cohort(subjects, items)
    ability = rng.normal(0.3, 1, subjects) + 0.4 * rng.normal(size=(2, 100, subjects))
    ease = rng.normal(0, 1.5, items) + 0.2 * rng.normal(size=(2, 100, items))
    given = {
        "ability": ability,
        "ease": ease,
        "mean": 0.3 + 0.1 * rng.normal(size=(2, 100)),
        "spread": 1 + 0.05 * rng.random(size=(2, 100)),
    }
    return small_populations.crafted(joint_fits.rasch(), evaluation, given)


@pytest.fixture(scope="module")
def rasch():
    return made_up(68, 69)


@pytest.fixture(scope="module")
def schools():
    return small_populations.crafted(
        small_populations.schools(),
        small_populations.cohort(),
        {"ability": np.random.default_rng(2).normal(size=(2, 100, 12))},
    )


def overlapping(texts):
    """Count neighbours among texts that cover each other, after they were drawn."""
    boxes = [text.get_window_extent() for text in texts if text.get_text()]
    return sum(
        min(one.x1, other.x1) - max(one.x0, other.x0) > 1
        and min(one.y1, other.y1) - max(one.y0, other.y0) > 1
        for one, other in pairwise(boxes)
    )


def points(ax, marker="o"):
    """Marks of one kind: where they are, (x, y)."""
    found = [line.get_xydata() for line in ax.lines if line.get_marker() == marker]
    return np.concatenate([np.zeros((0, 2)), *(part for part in found if len(part))])


def bars(ax):
    """Ends of all intervals, in the order drawn."""
    parts = [np.array(one.get_segments()) for one in ax.collections if type(one) is LineCollection]
    return np.concatenate(parts)


def named(ticks):
    return [tick.get_text() for tick in ticks]


def legend(figure):
    return [text.get_text() for one in figure.legends for text in one.get_texts()]


class TestWrightMap:
    def test_items_stand_where_the_table_has_them(self, rasch):
        left, right = plots.wright_map(rasch, prob=0.8)
        table = item_places(rasch, prob=0.8).sort_values("place")
        assert np.allclose(points(right)[:, 1], table["place"])
        assert np.allclose(bars(right)[:, :, 1], table[["low", "high"]])
        assert named(right.get_xticklabels()) == table["item"].tolist()[::2]
        assert left.get_ylim() == right.get_ylim()
        assert (left.get_title(), right.get_title()) == ("68 subjects", "69 items")
        assert "80% interval" in " ".join(legend(left.figure))
        assert is_whole(left.figure)
        assert not overlapping(right.get_xticklabels())

    def test_subjects_are_counted(self, rasch):
        left, _ = plots.wright_map(rasch)
        counted = np.array([patch.get_width() for patch in left.patches])
        means = rasch.posterior["ability"].to_numpy().mean(axis=(0, 1))
        edges = [patch.get_y() for patch in left.patches]
        edges.append(edges[-1] + left.patches[-1].get_height())
        assert counted.sum() == 68
        assert counted.tolist() == np.histogram(means, edges)[0].tolist()
        assert left.xaxis_inverted()

    def test_many_items_are_named_in_part(self):
        fit = made_up(30, 200)
        _, right = plots.wright_map(fit)
        assert len(points(right)) == 200
        assert len(right.get_xticks()) <= 40
        assert right.get_xlabel() == "40 of 200 items are named"
        assert is_whole(right.figure)
        assert not overlapping(right.get_xticklabels())

    def test_items_beyond_the_scale_are_triangles_at_its_ends(self):
        skill = ml.Capability("skill", 0, 5, labels=("AS", "CEc"))
        demand = ml.MetaFeature("demand", low=-9, high=9, labels=("AS", "CEc"))
        layout = ml.Layout(
            "two", ml.Success("ok", product(logistic(skill - demand), over="dimension"))
        )
        items = pd.DataFrame(
            {"demand[AS]": [-8.0, 2.0, 3.0, 2.5], "demand[CEc]": [-8.0, -8.0, 8.0, -8.0]},
            index=["easy", LONG, "hard", "$fair_1$"],
        )
        outcomes = pd.DataFrame([[1, 1, 0, 0]], ["Ann"], items.index)
        evaluation = ml.Evaluation.from_wide(outcomes, items)
        draws = 2 + np.random.default_rng(1).normal(0, 0.1, (1, 2, 50, 2))
        fit = small_layouts.crafted(layout, evaluation, {"skill": draws})
        axes = plots.wright_map(fit)
        assert len(axes) == 4
        right = axes[1]
        order = named(right.get_xticklabels())
        assert (order[0], order[2], order[3]) == ("easy", r"\$fair_1\$", "hard")
        assert points(right, "v")[:, 0].tolist() == [0]
        assert points(right, "^")[:, 0].tolist() == [3]
        low, high = right.get_ylim()
        assert low < points(right, "v")[0, 1] < points(right, "^")[0, 1] < high
        assert legend(right.figure)[-2:] == ["too hard at any level", "too easy at any level"]
        assert is_whole(right.figure)

    def test_axes_of_ones_own(self, rasch):
        figure, given = plt.subplots(1, 2)
        axes = plots.wright_map(rasch, ax=given)
        assert axes.tolist() == given.tolist()
        assert not figure.legends
        said = [text.get_text() for text in given[-1].get_legend().get_texts()]
        assert said[-1] == "item: level of even success, 90% interval"
        with pytest.raises(FitError, match="ax= has 1 axes and there are 2 panels"):
            plots.wright_map(rasch, ax=given[:1])


class TestPopulationForest:
    def test_rows_are_those_of_the_table(self, rasch):
        (panel,) = plots.population_forest(rasch, prob=0.8)
        table = standing(rasch, prob=0.8).set_index("subject")
        shown = [text.split()[0] for text in named(panel.get_yticklabels())]
        assert sorted(shown) == rasch.subjects
        rows = table.loc[shown]
        assert np.allclose(points(panel)[:, 0], rows["mean"])
        wide = np.array(
            [[patch.get_x(), patch.get_x() + patch.get_width()] for patch in panel.patches]
        )
        assert np.allclose(wide, rows[["population_low", "population_high"]])
        ends = bars(panel)[:, :, 0]
        assert np.allclose(ends[:68], rows[["population_mean"]])
        assert np.allclose(ends[68:], rows[["low", "high"]])
        inside = rows["alone"].between(*panel.get_xlim())
        assert np.allclose(points(panel, "D")[:, 0], rows["alone"][inside])
        share = round(100 * table["population_weight"].median())
        assert panel.get_title() == f"population's share of a mean: {share}% (median)"
        assert is_whole(panel.figure)
        assert not overlapping(panel.get_yticklabels())

    def test_subjects_stand_by_success_then_by_mean(self, rasch):
        (panel,) = plots.population_forest(rasch)
        rows = [text.split() for text in named(panel.get_yticklabels())]
        means = points(panel)[:, 0]
        keys = [(float(rate), mean) for (_, rate), mean in zip(rows, means, strict=True)]
        assert keys == sorted(keys)

    def test_some_subjects(self, schools):
        (panel,) = plots.population_forest(schools, nodes="ability", subjects=["s003", "s001"])
        shown = [text.split()[0] for text in named(panel.get_yticklabels())]
        assert sorted(shown) == ["s001", "s003"]
        assert panel.figure.get_suptitle() == "2 subjects: profiles and their population"
        assert is_whole(panel.figure)

    def test_both_lines_of_the_title_are_centred_on_each_other(self, rasch):
        """Above one panel; above several the heading is in the middle of the figure."""
        (panel,) = plots.population_forest(rasch)
        panel.figure.draw_without_rendering()
        box = panel.get_position()
        heading = panel.figure._suptitle.get_position()[0]
        assert heading == pytest.approx((box.x0 + box.x1) / 2, abs=0.01)
        assert abs(heading - 0.5) > 0.03  # names at the left
        assert plots.wright_map(rasch)[0].figure._suptitle.get_position()[0] == 0.5

    def test_a_crowd_has_no_names(self):
        (panel,) = plots.population_forest(made_up(300, 9))
        assert named(panel.get_yticklabels()) == []
        assert panel.get_ylabel() == "300 subjects by success rate"
        assert len(points(panel)) == 300
        assert panel.figure.get_figheight() < 12
        assert is_whole(panel.figure)

    def test_nothing_shared(self, fitted):
        with pytest.raises(FitError, match="share nothing"):
            plots.population_forest(fitted)


class TestCaterpillar:
    def test_effects_rise(self, rasch):
        table = rasch.items()
        (panel,) = plots.caterpillar_plot(table, layout=rasch.layout)
        ordered = table.sort_values("mean")
        assert named(panel.get_yticklabels()) == ordered["item"].tolist()
        found = points(panel)
        found = found[found[:, 1].argsort()]
        assert np.allclose(found[:, 0], ordered["mean"])
        drawn = bars(panel)
        drawn = drawn[drawn[:, 0, 1].argsort()]
        assert np.allclose(drawn[:, :, 0], ordered[["low", "high"]])
        assert panel.get_xlabel() == "ease"
        assert is_whole(panel.figure)
        assert not overlapping(panel.get_yticklabels())

    def test_pale_where_the_interval_contains_zero(self):
        table = pd.DataFrame(
            {
                "node": "ease",
                "label": "",
                "level": list("abc"),
                "mean": [1.0, 0.1, -1.0],
                "low": [0.5, -0.5, -2.0],
                "high": [1.5, 0.6, -0.5],
            }
        )
        (panel,) = plots.caterpillar_plot(table)
        of = {line.get_label(): list(line.get_ydata()) for line in panel.lines}
        assert of["mean and 90% interval"] == [0, 2]
        assert of["mean and 90% interval that contains 0"] == [1]
        for draw in (plots.caterpillar_plot, plots.weights_plot):
            legend = draw(table, prob=0.5)[0].figure.legends[0]
            assert legend.get_texts()[0].get_text() == "mean and 50% interval"
            figure, given = plt.subplots(layout="constrained")
            draw(table, prob=0.5, ax=given)
            assert not figure.legends
            own = given.get_legend()
            assert own.get_texts()[0].get_text() == "mean and 50% interval"
            figure.draw_without_rendering()
            texts = [given.xaxis.label, *given.get_xticklabels()]
            assert own.get_window_extent().y1 <= min(t.get_window_extent().y0 for t in texts) + 2
            assert is_whole(figure)
            with pytest.raises(FitError, match="prob=90; give a number between 0 and 1"):
                draw(table, prob=90)

    def test_a_panel_for_each_node_and_units(self, schools):
        table = schools.items()
        assert {"school", "task"} < set(table.columns)
        table.loc[0, "school"] = LONG
        table = pd.concat([table, table.assign(node="ease", label="AS")])
        axes = plots.caterpillar_plot(table)
        assert [panel.get_xlabel() for panel in axes] == ["favour", "ease[AS]"]
        assert {"x, b", "y, a"} < set(named(axes[0].get_yticklabels()))
        assert is_whole(axes[0].figure)
        (one,) = plots.caterpillar_plot(table, nodes="ease")
        assert one.get_xlabel() == "ease[AS]"
        far = ml.Bias("favour", unit="m", per="item")
        skill = ml.Capability("skill", 0, 5, unit="m")
        layout = ml.Layout("far", ml.Success("ok", logistic(skill + far)))
        assert plots.caterpillar_plot(table, layout=layout)[0].get_xlabel() == "favour (m)"

    def test_many_effects_are_named_in_part(self):
        table = made_up(3, 500).items()
        (panel,) = plots.caterpillar_plot(table)
        assert len(panel.get_yticks()) == 100
        assert panel.get_ylabel() == "100 of 500 are named"
        assert is_whole(panel.figure)
        assert not overlapping(panel.get_yticklabels())

    def test_other_tables_are_refused(self, rasch):
        table = rasch.items()
        with pytest.raises(DataError, match=r"no effects of spread in the table; it has ease$"):
            plots.caterpillar_plot(table, nodes="spread")
        with pytest.raises(DataError, match=r"no column low; give the result of fit.items\(\)"):
            plots.caterpillar_plot(table.drop(columns="low"))
        with pytest.raises(DataError, match=r"no rows; give the result of fit.items\(\)"):
            plots.caterpillar_plot(table[:0])


class TestWeights:
    def test_rows_are_those_of_the_table(self, schools):
        table = schools.population()
        (panel,) = plots.weights_plot(table)
        expected = ["schoolSpread", "ofSchool: x", "ofSchool: y", "ofSchool: z"]
        shown = named(panel.get_yticklabels())[::-1]
        assert set(expected) < set(shown)
        assert len(shown) == len(table)
        names = table["node"].str.cat(
            table["level"].where(table["level"] == "", ": " + table["level"])
        )
        assert shown == names.tolist()
        found = points(panel)
        assert np.allclose(found[found[:, 1].argsort()][::-1, 0], table["mean"])
        assert is_whole(panel.figure)
        (few,) = plots.weights_plot(table, nodes=["gain", "mean"])
        assert named(few.get_yticklabels()) == ["mean", "gain"]

    def test_a_panel_for_each_unit(self):
        mean = ml.Bias("mean", unit="m", per="population")
        spread = ml.Spread("spread", unit="m", prior=ml.Prior("HalfNormal", sigma=3.0))
        skill = ml.Capability("skill", unit="m", prior=joint_fits.normal(mean, spread))
        slope = ml.Slope("slope", per="population")
        layout = ml.Layout("far", ml.Success("ok", logistic(skill, slope)))
        table = pd.DataFrame(
            {
                "node": ["mean", "spread", "slope"],
                "label": "",
                "level": "",
                "mean": [40.0, 9.0, 0.2],
                "low": [30.0, 7.0, 0.1],
                "high": [50.0, 11.0, 0.3],
            }
        )
        axes = plots.weights_plot(table, layout=layout)
        assert [panel.get_xlabel() for panel in axes] == ["value (m)", "value"]
        assert [named(panel.get_yticklabels()) for panel in axes] == [["spread", "mean"], ["slope"]]
        assert is_whole(axes[0].figure)
        with pytest.raises(FitError, match="ax= has 1 axes and there are 2 panels"):
            plots.weights_plot(table, layout=layout, ax=plt.subplots()[1])
