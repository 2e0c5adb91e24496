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
from measurement_layouts import FitError, plots
from measurement_layouts.inference.population.item_places import item_places
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
