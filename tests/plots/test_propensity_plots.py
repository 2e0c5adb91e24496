"""Figures of bands and of what was obtained from models: they show what the tables say."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from helpers.drawn_fits import bars
from helpers.made_estimates import legend, made, nothing_is_cut, scattered, two_hills
from matplotlib.colors import to_hex

from measurement_layouts import DataError, Evaluation, FitError, plots
from measurement_layouts.linking import band, bilogistic, logistic
from measurement_layouts.plots import style

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


class TestBandCurves:
    def test_three_normalisations(self):
        axes = plots.band_curves(BANDS)
        for ax, (low, high) in zip(axes, BANDS, strict=True):
            product, scaled, (at, final) = (line.get_xydata().T for line in ax.lines[:3])
            assert np.allclose(product[1], bilogistic(at, low, high))
            assert scaled[1].max() == pytest.approx(1, abs=1e-3)  # the grid may miss the peak
            assert np.allclose(scaled[1] / product[1], scaled[1][0] / product[1][0])
            assert np.array_equal(final, band(at, low, high))
            assert 0.5 <= np.interp(low, at, final) < 0.5657 + 1e-3
        assert product[1].max() < 0.35  # Figure 4: the narrower, the lower
        assert [ax.get_title() for ax in axes][1:3] == ["[−1.5, 2.5]", "[0, 1]"]
        nothing_is_cut(axes)

    def test_one_band_and_one_end(self):
        (ax,) = plots.band_curves((-np.inf, 1), slope=2, unit="level")
        at, drawn = ax.lines[2].get_xydata().T
        assert np.allclose(drawn, logistic(1 - at, 2), rtol=1e-12)
        assert (ax.get_title(), ax.get_xlabel()) == ("(−∞, 1]", "propensity (level)")

    @pytest.mark.parametrize(
        ("bands", "slope", "error", "message"),
        [
            ((1, 1), 1, DataError, r"the band \[1, 1\]"),
            ((-np.inf, np.inf), 1, DataError, "is empty or has no finite"),
            ([(0, 1, 2)], 1, DataError, "give a pair of numbers"),
            ("ab", 1, DataError, "give a pair of numbers"),
            ((0, 1), 0, FitError, "slope=0"),
        ],
    )
    def test_errors(self, bands, slope, error, message):
        with pytest.raises(error, match=message):
            plots.band_curves(bands, slope)


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
        assert legend(axes) == ["estimate", "90% interval", "1 item", "2 items", "3 items"]
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
        incited, unprompted, hollow, published = scattered(axes[0])
        assert incited.get_offsets().tolist() == [[-3, -2.2], [None, None], [3, 2.4]]
        aside = axes[0].get_xticks()[0]
        assert aside < -3
        assert unprompted.get_offsets().tolist() == [[aside, 0.3]]
        assert hollow.get_offsets().tolist() == [[0, axes[0].get_ylim()[0]]]
        assert to_hex(hollow.get_facecolors()[0]) == "#ffffff"
        assert published.get_offsets()[:, 1].tolist() == [-2.1, -1.3, 2.4, 0.2]
        top = axes[0].get_ylim()[1]
        assert bars(axes[0])[:, :, 1].tolist() == [[-2.5, -2.0], [2.1, top], [0.1, 0.5]]
        assert np.array_equal(*axes[0].lines[0].get_xydata().T)
        mass = "90% interval"
        expected = ["as incited", f"incited, {mass}", f"unprompted, {mass}", "not identified"]
        assert legend(axes) == [*expected, "published"]
        assert axes[0].get_xticklabels()[0].get_text() == "none"
        assert axes[0].get_ylabel() == "obtained (level)"
        nothing_is_cut(axes)

    def test_short_intervals_have_caps(self):
        """Ends of 0.1 about a point."""
        at = [-3.0, 0.0, 3.0]
        table = pd.DataFrame({"model": "A", "incited": at, "estimate": at, "identified": True})
        table = table.assign(low=table["estimate"] - 0.1, high=table["estimate"] + 0.1)
        (panel,) = plots.incited_against_obtained(table)
        lower, upper = (line for line in panel.lines if line.get_marker() == "_")
        assert lower.get_ydata().tolist() == table["low"].tolist()
        assert upper.get_ydata().tolist() == table["high"].tolist()

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
            (table.iloc[:0], "has no rows"),
            (pd.concat([table, table.iloc[:1]]), "several rows of A at -3"),
            (table.assign(identified=True), "identified without an estimate: A, B"),
        ):
            with pytest.raises(DataError, match=message):
                draw(wrong)


class TestLikelihoodCurve:
    def test_curve_and_maxima(self, estimates):
        ax = plots.likelihood_curve(estimates, "Ann")
        line, threshold = ax.lines[:2]
        at, ratio = line.get_xydata().T
        assert np.allclose(ratio, two_hills(at) + 50)
        assert at[0] < -1.41
        assert 2.0 < at[-1] < 7.0  # the maximum 1000 nats below is not waited for
        (marks,) = scattered(ax)
        assert np.allclose(marks.get_offsets(), [[-1, 0], [2, -3]], atol=1e-6)
        assert [text.get_text() for text in ax.texts] == ["−1", "2: 3 nats below"]
        assert -30 < ax.get_ylim()[0] < -20  # not down the cliff
        (shaded,) = ax.patches
        assert (shaded.get_x(), shaded.get_x() + shaded.get_width()) == pytest.approx(
            (-1.41, -0.59)
        )
        assert threshold.get_ydata()[0] == pytest.approx(-(1.6448536**2) / 2)
        assert {"estimate", "local maximum; not shown: 1"} <= set(legend(ax))
        assert ax.get_xlabel() == "risk (level)"
        nothing_is_cut(ax)

    def test_a_needle_is_drawn_in_full(self):
        """A maximum 1e-8 wide has its height; evenly spaced places alone would miss it."""

        def needle(values):
            values = np.asarray(values, dtype=float)
            return 5 * np.exp(-(((values - 0.3) / 1e-8) ** 2)) - values**2

        modes = pd.DataFrame({"subject": "Ann", "at": [0.3, 0.0], "below": [0.0, 4.91]})
        estimates = made(modes=modes, curves={"Ann": needle}, ranges={"Ann": [(-0.5, 0.5)]})
        ax = plots.likelihood_curve(estimates, "Ann")
        line = ax.lines[0]
        at, ratio = line.get_xydata().T
        assert np.ptp(at[ratio > -1]) < 1e-7
        even = np.linspace(at[0], at[-1], len(at))
        assert needle(even).max() < 0.01 < needle(at).max()

    def test_nobody_knows_where(self, estimates):
        ax = plots.likelihood_curve(estimates, "Bob")
        assert ax.get_title() == "Bob: not identified"
        assert len(ax.patches) == 2
        assert not scattered(ax)
        assert ax.get_xlim()[0] < -4.7
        nothing_is_cut(ax)

    def test_errors(self, estimates):
        with pytest.raises(FitError, match="not in these estimates: Eve; they are of Ann, Bob"):
            plots.likelihood_curve(estimates, "Eve")


class TestCollapsePlot:
    @pytest.fixture
    def collapse(self):
        rows = [(-2, -1, 0.2, 5), (-1, 0, 0.8, 10), (0, 1, np.nan, 0), (1, 3, 0.5, 4)]
        return pd.DataFrame(rows, columns=["low", "high", "success", "trials"])

    def test_steps_and_lines(self, collapse, estimates):
        ax = plots.collapse_plot(collapse, estimates, "Ann", truth=-1.5)
        before, after, *marks = (line.get_xydata().tolist() for line in ax.lines)
        assert before == [[-2, 0.2], [-1, 0.2], [-1, 0.8], [0, 0.8]]
        assert after == [[1, 0.5], [3, 0.5]]  # between them nobody was tried
        assert [mark[0][0] for mark in marks] == [-1.0, -1.5]
        assert {"estimate: −1.00 ± 0.25", "truth: −1.5"} < set(legend(ax))
        (peak,) = ax.patches
        assert (peak.get_x(), peak.get_width()) == (-1, 1)
        assert "its peak: −1.00 to 0.00, 0.80 of 10 trials" in legend(ax)
        assert (ax.get_xlabel(), ax.get_title()) == (
            "risk (level)",
            "Ann: point collapse and estimate",
        )
        nothing_is_cut(ax)

    def test_of_equal_pieces_the_widest_is_the_peak(self, collapse):
        equal = collapse.assign(success=[0.8, 0.8, np.nan, 0.8], trials=[5, 5, 0, 5])
        ax = plots.collapse_plot(equal)
        assert (ax.patches[0].get_x(), ax.patches[0].get_width()) == (1, 2)
        assert ax.get_xlabel() == "propensity"

    def test_without_success_there_is_no_peak(self, collapse, estimates):
        ax = plots.collapse_plot(collapse.assign(success=0.0), estimates, "Bob")
        assert not ax.patches
        assert legend(ax) == ["point collapse", "estimate: not identified"]

    def test_ends_without_limit(self, collapse):
        ax = plots.collapse_plot(collapse.replace({"high": {3.0: np.inf}}))
        assert np.isfinite(ax.get_xlim()).all()
        assert ax.lines[1].get_xdata()[-1] == ax.get_xlim()[1]

    def test_errors(self, collapse, estimates):
        with pytest.raises(DataError, match="the collapse has no column trials"):
            plots.collapse_plot(collapse.drop(columns="trials"))
        with pytest.raises(DataError, match="no piece with trials"):
            plots.collapse_plot(collapse.assign(trials=0))
        with pytest.raises(FitError, match="choose one with subject="):
            plots.collapse_plot(collapse, estimates)
        with pytest.raises(FitError, match="not in these estimates: Eve"):
            plots.collapse_plot(collapse, estimates, "Eve")


def test_a_name_with_a_dollar_is_written_as_it_stands():
    """Words are made harmless once, though a title does so with all of its text."""
    _, ax = plt.subplots()
    style.title(ax, f"{style.words('$5 or $6')}: $7")
    assert ax.get_title() == r"\$5 or \$6: \$7"
    ax.figure.canvas.draw()
    plt.close(ax.figure)
