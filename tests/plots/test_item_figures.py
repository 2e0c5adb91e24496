"""Items beside subjects: Wright map, item curves, information and reliability, against formulas."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from helpers import drawn_fits, small_layouts
from helpers.drawn_fits import LONG, bars, named, points
from helpers.made_estimates import is_whole, legend
from scipy.special import expit, logit

import measurement_layouts as ml
from measurement_layouts import FitError, plots
from measurement_layouts.inference.population.item_information import information, item_curves
from measurement_layouts.inference.population.item_places import item_places
from measurement_layouts.linking import logistic, product

mpl.use("Agg")
pytestmark = pytest.mark.usefixtures("tidy_figures")


@pytest.fixture(scope="module")
def rasch():
    return drawn_fits.rasch(68, 69)


def dots(ax, marker="o"):
    """Marks of one kind: where they are, (x, y)."""
    return np.concatenate([line.get_xydata() for line in ax.lines if line.get_marker() == marker])


class TestWrightMap:
    def test_items_stand_where_the_table_has_them(self, rasch):
        left, right = plots.wright_map(rasch, prob=0.8)
        table = item_places(rasch, prob=0.8).sort_values("place")
        assert np.allclose(dots(right)[:, 1], table["place"])
        assert np.allclose(bars(right)[:, :, 1], table[["low", "high"]])
        assert named(right.get_xticklabels()) == table["item"].tolist()[::2]
        assert left.get_ylim() == right.get_ylim()
        assert (left.get_title(), right.get_title()) == (
            "68 subjects, reliability 0.84",
            "69 items",
        )
        assert "80% interval" in " ".join(legend(left))
        assert is_whole(left)

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
        fit = drawn_fits.rasch(30, 200)
        _, right = plots.wright_map(fit)
        assert len(dots(right)) == 200
        assert len(right.get_xticks()) <= 40
        assert right.get_xlabel() == "40 of 200 items are named"
        assert is_whole(right)

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
        assert dots(right, "v")[:, 0].tolist() == [0]
        assert dots(right, "^")[:, 0].tolist() == [3]
        low, high = right.get_ylim()
        assert low < dots(right, "v")[0, 1] < dots(right, "^")[0, 1] < high
        assert legend(right)[-2:] == ["too hard at any level", "too easy at any level"]
        assert is_whole(right)

    def test_axes_of_ones_own(self, rasch):
        figure, given = plt.subplots(1, 2)
        axes = plots.wright_map(rasch, ax=given)
        assert axes.tolist() == given.tolist()
        assert not figure.legends
        assert legend(given)[-1] == "item: 90% interval"
        with pytest.raises(FitError, match="ax= has 1 axes and there are 2 panels"):
            plots.wright_map(rasch, ax=given[:1])


def eases(fit):
    """Draws of the items' ease, shape (items, draws)."""
    return fit.posterior["ease"].stack(sample=("chain", "draw")).to_numpy()


class TestInformation:
    def test_curves_are_logistic(self, rasch):
        """Of a Rasch model: success is expit(ability + ease), and the draws are those used."""
        chosen = rasch.item_names[[3, 50]]
        table = item_curves(rasch, "ability", chosen)
        levels = table["level"].unique()
        for item, ease in zip(chosen, eases(rasch)[[3, 50]], strict=True):
            own = table[table["item"] == item]
            chances = expit(levels[:, None] + ease)
            assert np.allclose(own["success"], chances.mean(axis=1), atol=0.01)
            assert np.allclose(own["low"], np.quantile(chances, 0.05, axis=1), atol=0.02)
        with pytest.raises(FitError, match="no item x in this fit"):
            item_curves(rasch, "ability", ["x"])

    def test_information_is_that_of_bernoulli_trials(self, rasch):
        table = information(rasch)
        chances = expit(table["level"].to_numpy()[:, None, None] + eases(rasch))
        expected = np.median((chances * (1 - chances)).sum(axis=1), axis=1)
        assert np.allclose(table["information"], expected, rtol=0.02)
        assert np.allclose(table["se"], table["information"] ** -0.5)
        assert np.allclose(table["score"], chances.sum(axis=1).mean(axis=1), rtol=0.01)

    def test_raw_scores_of_equal_items_are_logits(self):
        """Of n items of ease 0, s successes are logit(s / n), with error 1 / sqrt(n p (1 - p))."""
        fit = drawn_fits.rasch(20, 9)
        fit.data["posterior"]["ease"][:] = 0.0
        table = fit.raw_scores()
        share = table["score"] / 9
        assert np.allclose(table["estimate"], logit(share), atol=0.02)
        assert np.allclose(table["se"], (9 * share * (1 - share)) ** -0.5, rtol=0.02)

    def test_reliability_is_a_share_of_variance(self, rasch):
        (row,) = rasch.reliability().itertuples()
        draws = rasch.posterior["ability"].stack(sample=("chain", "draw")).to_numpy()
        draws = draws if draws.shape[0] == 68 else draws.T
        error, between = draws.var(axis=1, ddof=1).mean(), draws.mean(axis=1).var(ddof=1)
        assert row.reliability == pytest.approx(between / (between + error), rel=0.01)
        with pytest.raises(FitError, match="the fit has one; fit two or more"):
            drawn_fits.rasch(1, 5).reliability()


class TestItemCurves:
    def test_points_are_success_rates_of_groups(self, rasch):
        item = str(rasch.item_names[7])
        (panel,) = plots.item_curves(rasch, [item])
        means = rasch.profiles()["mean"].to_numpy()
        solved = rasch.coded.tables[0][:, 7]
        groups = np.array_split(np.argsort(means, kind="stable"), 6)
        shown = points(panel)[0].get_offsets()
        assert len(shown) == 6
        assert shown[:, 0].mean() == pytest.approx(np.mean([means[g].mean() for g in groups]), 0.1)
        assert (shown[:, 1] * 68 / 6).sum() == pytest.approx(solved.sum(), rel=0.1)
        curve = item_curves(rasch, "ability", [item])
        assert np.allclose(panel.lines[0].get_ydata(), curve["success"])
        assert is_whole(panel)
        assert len(plots.item_curves(rasch)) == 12

    def test_information_has_a_peak_where_the_error_is_least(self, rasch):
        left, right = plots.information_plot(rasch)
        table = information(rasch)
        assert np.allclose(left.lines[0].get_ydata(), table["information"])
        assert np.allclose(right.lines[0].get_ydata(), table["se"])
        assert len(left.lines[1].get_xdata()) == 68
        assert is_whole(left)
