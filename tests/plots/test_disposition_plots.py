"""Figures of dispositions: what is drawn is what the measures say."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from helpers.drawn_fits import bars, points
from helpers.made_estimates import legend, nothing_is_cut
from matplotlib.collections import PolyCollection

from measurement_layouts import DataError, FitError, dispositions, plots
from measurement_layouts.dispositions.comparison import compare_choices
from measurement_layouts.dispositions.consensus import consensus_steps, rate_steps
from measurement_layouts.dispositions.self_report import self_report_correlations, self_reports
from measurement_layouts.plots import style
from measurement_layouts.plots.self_reports import written_rho
from measurement_layouts.scenarios.dispositions import simulated_study

mpl.use("Agg")
MODELS = ["sim-01", "sim-04", "sim-20"]
GROUPS = {"sim-01": "large", "sim-20": "small", "sim-04": "small"}
ALL = {"divided_below": None}


def alignment_heatmap(judgments, groups=None, **options):
    table = dispositions.directional_alignment(judgments, **options)
    return plots.alignment_heatmap(table, groups)


def rate_distributions(judgments, groups=None, **options):
    return plots.rate_distributions(dispositions.divided_rates(judgments, **options), groups)


def misalignment_plot(judgments, groups=None, **options):
    return plots.misalignment_plot(dispositions.misalignment_by_group(judgments, groups, **options))


def confidence_plot(judgments, groups=None, **options):
    return plots.confidence_plot(dispositions.confidence_by_group(judgments, groups, **options))


def self_report_plot(judgments, groups=None, **options):
    rho = self_report_correlations(judgments, **ALL, **options)
    return plots.self_report_plot(self_reports(judgments, **ALL, **options), rho, groups)


def self_report_panels(judgments, **options):
    options = {"by": "statement", **options}
    rho = self_report_correlations(judgments, **options)
    return plots.self_report_panels(self_reports(judgments, **options), rho)


GROUPED = [
    misalignment_plot,
    confidence_plot,
    alignment_heatmap,
    rate_distributions,
    self_report_plot,
]


pytestmark = pytest.mark.usefixtures("tidy_figures")


@pytest.fixture(scope="module")
def study():
    return simulated_study(per_statement=2, models=MODELS).judgments.select(
        traits=["Empathy", "Impulsiveness"]
    )


@pytest.fixture(scope="module")
def choices(study):
    return compare_choices(study)


def drawn(ax, found):
    """Whether some line of the axes goes through these points, in %."""
    points = 100 * np.column_stack([found.index, found])
    return any(
        line.get_xydata().shape == points.shape and np.allclose(line.get_xydata(), points)
        for line in ax.lines
    )


def over_bins(values, human, bins):
    """Means of values over bins of at least five scenarios, indexed by the mean human rate."""
    table = pd.DataFrame({"values": values, "human": human}).groupby(bins).agg(["mean", "size"])
    table = table[table[("human", "size")] >= 5]
    return pd.Series(table[("values", "mean")].to_numpy(), table[("human", "mean")])


def points_of(ax):
    """Points of all series, together."""
    return np.vstack([item.get_offsets() for item in points(ax)])


class TestMisalignment:
    def test_lines_are_the_measures_means(self, study, choices):
        axes = misalignment_plot(study, groups=GROUPS, resamples=50)
        for panel, trait in zip(axes, study.traits, strict=True):
            part = choices[choices["trait"] == trait]
            wide = part[["misalignment"]].unstack("model")
            human = part["human"].groupby("scenario").first().loc[wide.index]
            bins = rate_steps(human)
            for model in MODELS:
                assert drawn(panel, over_bins(wide["misalignment"][model], human, bins))
            small = wide["misalignment"][["sim-20", "sim-04"]].mean(axis=1)
            assert drawn(panel, over_bins(small, human, bins))
            assert not drawn(panel, over_bins(1.01 * small, human, bins))

    def test_a_band_per_group_holds_its_mean(self, study):
        panel = misalignment_plot(study, groups=GROUPS, resamples=200)[0]
        bands = [item for item in panel.collections if isinstance(item, PolyCollection)]
        means = [line for line in panel.lines if line.get_linewidth() == 2]
        assert len(bands) == len(means) == 2
        for band, line in zip(bands, means, strict=True):
            corners = band.get_paths()[0].vertices
            for x, y in line.get_xydata():
                ends = corners[np.isclose(corners[:, 0], x), 1]
                assert ends.min() <= y <= ends.max()
                assert ends.min() < ends.max()

    def test_bins_are_symmetric(self):
        rates = pd.Series([0, 0.05, 0.1, 0.3, 0.35, 0.4, 0.45, 0.5])
        assert (rate_steps(rates) == 10 - rate_steps(1 - rates)).all()
        assert (consensus_steps(rates) == consensus_steps(1 - rates)).all()
        assert rate_steps(rates).tolist() == [0, 1, 1, 3, 4, 4, 5, 5]


class TestConfidence:
    def test_lines_are_the_rates_means(self, study):
        ax = confidence_plot(study, groups=pd.Series(GROUPS), resamples=50)
        people = study.human_rates()
        wide = study.model_rates()["confidence"].unstack("model").reindex(people.index)
        bins = consensus_steps(people["rate"])
        for model in MODELS:
            assert drawn(ax, over_bins(wide[model], people["consensus"], bins))
        small = wide[["sim-04", "sim-20"]].mean(axis=1)
        assert drawn(ax, over_bins(small, people["consensus"], bins))
        assert legend(ax)[:2] == [
            "large: 1 model, band: 90% interval",
            "small: mean of 2 models, band: 90% interval",
        ]


class TestRateDistributions:
    def test_points_are_revealed_rates(self, study):
        axes = rate_distributions(study, groups=GROUPS)
        table = self_reports(study)
        names = [label.get_text() for label in axes[0].get_yticklabels()]
        for panel, trait in zip(axes, study.traits, strict=True):
            own = 100 * table.xs(trait, level="trait").loc[names]
            shown = points_of(panel)
            assert np.allclose(shown[shown[:, 1].argsort(), 0], own["revealed"], atol=1e-9)
            ends = bars(panel)
            assert np.allclose(ends[ends[:, 0, 1].argsort(), :, 0], own[["low", "high"]])
            assert any(np.allclose(line.get_xdata(), 50) for line in panel.lines)

    def test_a_density_needs_three_models(self, study):
        one = study.select(traits=["Empathy"])
        assert not self._hills(rate_distributions(one, groups=GROUPS)[0])
        (hill,) = self._hills(rate_distributions(one)[0])
        assert np.ptp(hill.get_ydata()) > 0.1

    def _hills(self, panel):
        return [line for line in panel.lines if len(line.get_xdata()) > 2]

    def test_few_divided_scenarios(self, judgments):
        with pytest.raises(DataError, match="five scenarios with a consensus below 70%"):
            rate_distributions(judgments)


class TestSelfReports:
    def test_points_intervals_and_rho(self, study):
        axes = self_report_plot(study)
        table, rho = (
            measure(study, divided_below=None)
            for measure in (self_reports, self_report_correlations)
        )
        for panel, trait in zip(axes, study.traits, strict=True):
            own = table.xs(trait, level="trait")
            both = own["reported"].to_numpy(), 100 * own["revealed"].to_numpy()
            assert np.allclose(points_of(panel), np.column_stack(both))
            assert np.allclose(bars(panel)[:, :, 1], 100 * own[["low", "high"]])
            assert panel.get_title() == f"{trait}\n{written_rho(rho.loc[trait])}"

    def test_panels_by_statement(self, study):
        axes = self_report_panels(study)
        table = self_reports(study, by="statement")
        rho = self_report_correlations(study, by="statement")
        colours = [style.METHODS[place][0] for place in range(2)]
        for panel, model in zip(axes, MODELS, strict=True):
            own = table.loc[model].sort_values("trait", kind="stable")
            both = own["reported"].to_numpy(), 100 * own["revealed"].to_numpy()
            assert np.allclose(points_of(panel), np.column_stack(both))
            above = [text.get_text() for text in panel.texts][::-1]
            assert above == [written_rho(rho.loc[(model, trait)]) for trait in study.traits]
            for trait, colour in zip(study.traits, colours, strict=True):
                part, row = own[own["trait"] == trait], rho.loc[(model, trait)]
                (line,) = (line for line in panel.lines if line.get_color() == colour)
                slope = np.polyfit(part["reported"], 100 * part["revealed"], 1)[0]
                (x, y), (to_x, to_y) = line.get_xydata()
                assert (to_y - y) / (to_x - x) == pytest.approx(slope)
                assert (line.get_linestyle() == "-") == bool(row["low"] > 0 or row["high"] < 0)

    def test_two_models_have_no_rho(self, study):
        axes = self_report_plot(study.select(MODELS[:2], ["Empathy"]))
        assert axes[0].get_title() == "Empathy\nno ρ: fewer than 3 points"


class TestEveryFigure:
    @pytest.mark.parametrize("figure", [*GROUPED, self_report_panels])
    def test_one_model_and_one_trait(self, study, figure):
        nothing_is_cut(figure(study.select(["sim-20"], ["Impulsiveness"])))

    @pytest.mark.parametrize("figure", GROUPED)
    def test_each_model_has_a_group(self, study, figure):
        with pytest.raises(DataError, match="has no group for sim-04; give one for each model"):
            figure(study, {model: "any" for model in ("sim-01", "sim-20")})

    def test_tables_of_other_results_are_refused(self, study):
        by_trait, rates = self_reports(study), dispositions.divided_rates(study, resamples=2)
        by_statement = self_report_correlations(study, by="statement")
        curves = dispositions.misalignment_by_group(study, GROUPS, resamples=2)
        with pytest.raises(DataError, match="curves has no column confidence"):
            plots.confidence_plot(curves)
        with pytest.raises(DataError, match="curves: the table has two rows of Empathy, large"):
            plots.misalignment_plot(pd.concat([curves] * 2))
        with pytest.raises(DataError, match="rates: the table has no rows"):
            plots.rate_distributions(rates.iloc[:0])
        with pytest.raises(DataError, match="correlations: the table has two rows of Empathy"):
            plots.self_report_plot(by_trait, by_statement)
        with pytest.raises(DataError, match="reports has no column statement"):
            plots.self_report_panels(by_trait, by_statement)

    def test_the_legend_states_the_mass_of_the_intervals(self, study):
        rates = dispositions.divided_rates(study, prob=0.5)
        axes = plots.rate_distributions(rates, prob=0.5)
        assert "mean and 50% interval" in legend(axes)
        with pytest.raises(FitError, match="prob=5"):
            plots.rate_distributions(rates, prob=5)

    def test_few_scenarios(self, judgments):
        """Bins of fewer than five scenarios are left out: here, all of them."""
        with pytest.raises(DataError, match="no bin of rates has 5 of the 6 scenarios"):
            misalignment_plot(judgments)

    def test_axes_given(self, study):
        one, two = plt.subplots(1, 2)[1]
        curves = dispositions.misalignment_by_group(study, resamples=2)
        assert list(plots.misalignment_plot(curves, ax=[one, two])) == [one, two]
        confidence = dispositions.confidence_by_group(study, resamples=2)
        assert plots.confidence_plot(confidence, ax=one) is one
