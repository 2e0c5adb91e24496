"""Figures of one subject's likelihood and collapse: the curve, its maxima and its gaps."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from helpers.made_estimates import legend, made, nothing_is_cut, scattered, two_hills

from measurement_layouts import DataError, FitError, plots
from measurement_layouts.plots import style

mpl.use("Agg")
pytestmark = pytest.mark.usefixtures("tidy_figures")


@pytest.fixture(scope="module")
def estimates():
    return made()


class TestLikelihoodCurve:
    def test_curve_and_maxima(self, estimates):
        ax = plots.likelihood_curve(estimates, "Ann")
        (line,) = [line for line in ax.lines if line.get_label() == "log-likelihood"]
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
        threshold = next(line for line in ax.lines if "threshold" in line.get_label())
        assert threshold.get_ydata()[0] == pytest.approx(-(1.6448536**2) / 2)
        assert {"estimate", "maxima not shown: 1"} <= set(legend(ax))
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
        line = next(line for line in ax.lines if line.get_label() == "log-likelihood")
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
        steps = ax.lines[0].get_xydata()
        assert steps[:4].tolist() == [[-2, 0.2], [-1, 0.2], [-1, 0.8], [0, 0.8]]
        assert np.isnan(steps[4]).all()  # nobody was tried there
        assert steps[5:].tolist() == [[1, 0.5], [3, 0.5]]
        lines = {line.get_label(): line.get_xdata()[0] for line in ax.lines[1:]}
        assert lines == {"estimate: −1.00 ± 0.25": -1.0, "truth: −1.5": -1.5}
        (peak,) = ax.patches
        assert (peak.get_x(), peak.get_width()) == (-1, 1)
        assert peak.get_label() == "its peak: −1.00 to 0.00, 0.80 of 10 trials"
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
        assert ax.lines[0].get_xdata()[-1] == ax.get_xlim()[1]

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
