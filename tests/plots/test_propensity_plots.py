"""Figures of bands and of what was obtained from models: they show what the tables say."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from helpers.made_estimates import legend, made, nothing_is_cut, scattered
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex

from measurement_layouts import DataError, Evaluation, FitError, plots
from measurement_layouts.linking import band, bilogistic, logistic

mpl.use("Agg")
pytestmark = pytest.mark.usefixtures("tidy_figures")
BANDS = [(-5, 5), (-1.5, 2.5), (0, 1), (0.5, 1)]


@pytest.fixture(scope="module")
def evaluation():
    """Four bands, the first of three items; Bob solves nothing."""
    ends = [(-3, 0)] * 3 + [(-1, 1), (0, 3), (-np.inf, 2)]
    items = pd.DataFrame(ends, columns=["lower", "upper"], index=list("abcdef"))
    return Evaluation.from_wide(
        pd.DataFrame([[1, 0, 0, 1, 1, 1], [0] * 6], index=["Ann", "Bob"], columns=items.index),
        items,
    )


@pytest.fixture(scope="module")
def estimates():
    return made()


class TestItemResponseCurves:
    def test_three_normalisations(self):
        axes = plots.item_response_curves(BANDS)
        for ax, (low, high) in zip(axes, BANDS, strict=True):
            curves = {line.get_label(): line.get_xydata().T for line in ax.lines}
            product = curves["product of two logistics"]
            scaled = curves["product, scaled to a peak of 1"]
            (at, final) = curves["band: scaled, and steeper where narrow"]
            assert np.allclose(product[1], bilogistic(at, low, high))
            assert scaled[1].max() == pytest.approx(1, abs=1e-3)  # the grid may miss the peak
            assert np.allclose(scaled[1] / product[1], scaled[1][0] / product[1][0])
            assert np.array_equal(final, band(at, low, high))
            assert 0.5 <= np.interp(low, at, final) < 0.5657 + 1e-3
        assert product[1].max() < 0.35  # Figure 4: the narrower, the lower
        assert [ax.get_title() for ax in axes][1:3] == ["[−1.5, 2.5]", "[0, 1]"]
        nothing_is_cut(axes)

    def test_one_band_and_one_end(self):
        (ax,) = plots.item_response_curves((-np.inf, 1), slope=2, unit="level")
        at, drawn = ax.lines[-1].get_xydata().T
        assert np.allclose(drawn, logistic(1 - at, 2), rtol=1e-12)
        assert (ax.get_title(), ax.get_xlabel()) == ("(−∞, 1]", "propensity (level)")

    @pytest.mark.parametrize(
        ("bands", "slope", "error", "message"),
        [
            ((1, 1), 1, DataError, r"the band \[1, 1\]"),
            ((-np.inf, np.inf), 1, DataError, "is empty or has no finite end"),
            ([(0, 1, 2)], 1, DataError, "give a pair of numbers"),
            ("ab", 1, DataError, "give a pair of numbers"),
            ((0, 1), 0, FitError, "slope=0"),
        ],
    )
    def test_errors(self, bands, slope, error, message):
        with pytest.raises(error, match=message):
            plots.item_response_curves(bands, slope)


class TestCharacteristicSurface:
    def test_items_of_one_band_are_joined(self, evaluation, estimates):
        axes = plots.characteristic_surface(evaluation, estimates=estimates)
        (drawn,) = scattered(axes[0])[:1]
        assert drawn.get_offsets().tolist() == [[-3, 0], [-1, 1], [0, 3]]
        assert drawn.get_array().tolist() == pytest.approx([1 / 3, 1, 1])
        assert drawn.get_sizes() / drawn.get_sizes()[0] == pytest.approx([1, 1 / 3, 1 / 3])
        assert [ax.get_title() for ax in axes] == ["Ann\n−1.00 ± 0.25", "Bob\nnot identified"]
        assert (axes[0].get_xlabel(), axes[0].get_ylabel()) == ("lower (level)", "upper (level)")
        figure = axes[0].get_figure()
        assert "1 item without a finite band not shown" in figure.get_suptitle()
        assert [ax.get_ylabel() for ax in figure.axes[2:]] == ["success rate"]
        assert legend(axes) == ["90% interval", "estimate", "1 item", "2 items", "3 items"]
        nothing_is_cut(axes)

    @pytest.mark.parametrize("rotated", [False, True])
    def test_estimate_is_a_border(self, evaluation, estimates, rotated):
        axes = plots.characteristic_surface(evaluation, estimates=estimates, rotated=rotated)
        borders = [[line for line in ax.lines if line.get_label() == "estimate"] for ax in axes]
        assert [len(lines) for lines in borders] == [1, 0]
        places = borders[0][0].get_xydata()
        if rotated:
            assert np.allclose(np.abs(places[:, 0] + 1), places[:, 1] / 2)
            assert axes[0].get_ylabel() == "width of the band (level)"
        else:
            assert set(places[:2, 0]) == {-1.0} == set(places[1:, 1])
        assert len(axes[0].patches) == 2
        assert not axes[1].patches

    def test_columns_named_without_estimates(self, evaluation):
        (ax,) = plots.characteristic_surface(
            evaluation, "lower", "upper", subjects=["Ann"], titles={"Ann": "incited to 3"}
        )
        assert (ax.get_title(), ax.get_xlabel()) == ("incited to 3", "lower")
        nothing_is_cut(ax)

    def test_given_axes(self, evaluation, estimates):
        figure, given = plt.subplots(1, 2)
        axes = plots.characteristic_surface(evaluation, estimates=estimates, ax=given)
        assert list(axes) == list(given)
        assert plt.get_fignums() == [figure.number]
        with pytest.raises(FitError, match="2 axes and there are 1 panels"):
            plots.characteristic_surface(
                evaluation, subjects=["Ann"], estimates=estimates, ax=given
            )

    def test_errors(self, evaluation, estimates):
        surface = plots.characteristic_surface
        for arguments, message in (
            ({"subjects": ["Eve"], "estimates": estimates}, "Eve"),
            ({"low": "lower", "high": "top"}, "no column top"),
            ({}, "there are no estimates; give the columns of the items"),
        ):
            with pytest.raises(DataError, match=message):
                surface(evaluation, **arguments)
        unfinite = evaluation.select(items=["f"])
        with pytest.raises(DataError, match="no item has a finite lower and upper"):
            surface(unfinite, low="lower", high="upper")
        alone = made(table=estimates.table.iloc[:1])
        with pytest.raises(FitError, match="not in these estimates: Bob; they are of Ann"):
            surface(evaluation, estimates=alone)


class TestIncitedAgainstObtained:
    @pytest.fixture
    def table(self):
        rows = [
            ("A", -3, -2.2, -2.5, -2.0, True, -2.1),
            ("A", 0, np.nan, np.nan, np.nan, False, -1.3),
            ("A", 3, 2.4, 2.1, np.inf, True, 2.4),
            ("A", None, 0.3, 0.1, 0.5, True, 0.2),
            ("B $", None, np.nan, np.nan, np.nan, False, -1.3),
        ]
        columns = ["model", "incited", "estimate", "low", "high", "identified", "published"]
        return pd.DataFrame(rows, columns=columns)

    def test_columns_may_have_other_names(self, table):
        own = table.rename(columns={"model": "LLM", "incited": "asked for"})
        columns = {"model": "LLM", "incited": "asked for"}
        axes = plots.incited_against_obtained(own, columns=columns)
        assert [ax.get_title() for ax in axes] == ["A", r"B \$"]
        with pytest.raises(
            DataError, match="no column model, incited; the columns are LLM, 'asked"
        ):
            plots.incited_against_obtained(own)

    def test_marks(self, table):
        axes = plots.incited_against_obtained(table, "risk aversion")
        assert [ax.get_title() for ax in axes] == ["A", r"B \$"]
        marks = {drawn.get_label(): drawn for drawn in scattered(axes[0])}
        assert marks["incited"].get_offsets().tolist() == [[-3, -2.2], [3, 2.4]]
        aside = axes[0].get_xticks()[0]
        assert aside < -3
        assert marks["unprompted"].get_offsets().tolist() == [[aside, 0.3]]
        hollow = marks["not identified"]
        assert hollow.get_offsets().tolist() == [[0, axes[0].get_ylim()[0]]]
        assert to_hex(hollow.get_facecolors()[0]) == "#ffffff"
        assert marks["published"].get_offsets()[:, 1].tolist() == [-2.1, -1.3, 2.4, 0.2]
        (bars,) = [c for c in axes[0].collections if isinstance(c, LineCollection)]
        ends = [segment[:, 1].tolist() for segment in bars.get_segments()]
        assert ends == [[-2.5, -2.0], [2.1, axes[0].get_ylim()[1]], [0.1, 0.5]]
        (line,) = [line for line in axes[0].lines if line.get_label() == "as incited"]
        assert np.array_equal(*line.get_xydata().T)
        expected = ["as incited", "incited", "unprompted", "90% interval", "not identified"]
        assert legend(axes) == [*expected, "published"]
        assert "50% interval" in legend(plots.incited_against_obtained(table, prob=0.5))
        assert axes[0].get_xticklabels()[0].get_text() == "none"
        assert axes[0].get_ylabel() == "obtained (level)"
        nothing_is_cut(axes)

    def test_short_intervals_are_not_hidden_by_points(self):
        """Ends of 0.1 about a point lie outside it, on a scale of six levels."""
        at = [-3.0, 0.0, 3.0]
        table = pd.DataFrame({"model": "A", "incited": at, "estimate": at, "identified": True})
        table = table.assign(low=table["estimate"] - 0.1, high=table["estimate"] + 0.1)
        axes = plots.incited_against_obtained(
            pd.concat([table.assign(model=name) for name in "ABCD"])
        )
        (panel, *_), figure = axes, axes[0].figure
        figure.draw_without_rendering()
        lower, upper = (line for line in panel.lines if line.get_marker() == "_")
        assert (lower.get_ydata() == table["low"]).all()
        assert (upper.get_ydata() == table["high"]).all()
        ends = panel.transData.transform([(0.0, -0.1), (0.0, 0.1)])[:, 1]
        apart = (ends[1] - ends[0]) * 72 / figure.dpi  # points
        (size,) = scattered(panel)[0].get_sizes()
        assert np.sqrt(size) < apart < np.sqrt(22)  # 22 was the size that hid them

    def test_infinite_ends_have_no_caps(self, table):
        lower, upper = (
            line
            for line in plots.incited_against_obtained(table)[0].lines
            if line.get_marker() == "_"
        )
        assert lower.get_ydata().tolist() == [-2.5, 2.1, 0.1]
        assert upper.get_ydata().tolist() == [-2.0, 0.5]

    @pytest.mark.slow
    def test_many_models_without_published(self, table):
        one = table[table["model"] == "A"].drop(columns="published")
        many = pd.concat([one.assign(model=f"a-model-with-a-long-name-{k}") for k in range(9)])
        axes = plots.incited_against_obtained(many, "introversion", unit="score")
        assert len(axes) == 9
        assert "published" not in legend(axes)
        assert axes[-1].get_xlabel() == "incited to (score)"
        nothing_is_cut(axes)

    def test_errors(self, table):
        draw = plots.incited_against_obtained
        for wrong, message in (
            (table.drop(columns="identified"), "has no column identified"),
            (table.iloc[:0], "is empty"),
            (pd.concat([table, table.iloc[:1]]), "several rows of A at -3"),
            (table.assign(identified=True), "identified without an estimate: A, B"),
        ):
            with pytest.raises(DataError, match=message):
                draw(wrong)
