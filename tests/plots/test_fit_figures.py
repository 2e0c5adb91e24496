"""Figures of one fit and its forecasts: what is drawn is what the tables say, nothing is cut."""

import subprocess
import sys

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from helpers import drawn_fits
from helpers.drawn_fits import LONG, SUBJECTS, bars, made_up, named, points
from helpers.made_estimates import legend, nothing_is_cut
from matplotlib.text import Text

from measurement_layouts import DataError, Evaluation, FitError, plots
from measurement_layouts.validation.prediction.score import calibration_curve
from measurement_layouts.validation.prediction.scoring_rules import scores_in_groups

mpl.use("Agg")
pytestmark = pytest.mark.usefixtures("tidy_figures")


@pytest.fixture(scope="module")
def evaluation():
    return drawn_fits.evaluation()


@pytest.fixture(scope="module")
def fit(evaluation):
    return made_up(drawn_fits.layout(), evaluation)


def apart(ax):
    """Whether no name covers another."""
    ax.get_figure().canvas.draw()
    boxes = [Text.get_window_extent(text) for text in ax.texts]
    return not any(one.overlaps(other) for k, one in enumerate(boxes) for other in boxes[k + 1 :])


class TestCapabilityScatter:
    def test_points_bars_and_colours(self, fit):
        ax = plots.capability_scatter(fit)
        columns = ["mean", "low", "high"]
        table = fit.profiles(prob=0.9).pivot_table(columns, "subject", "node").loc[fit.subjects]
        marks, *hollow = points(ax)
        means = table["mean"][["navigation", "sight"]].to_numpy()
        shown = fit.profiles().query("node in ('navigation', 'sight', 'noise')")
        vague = shown.groupby("subject")["prior_dominated"].any()[fit.subjects].to_numpy()
        assert np.array_equal(hollow[0].get_offsets(), means[vague])
        assert np.array_equal(marks.get_offsets(), means)
        assert np.array_equal(marks.get_array(), table["mean"]["noise"])
        ends = table[[("low", "navigation"), ("high", "navigation")]]
        assert np.allclose(bars(ax)[:4, :, 0], ends)
        success = fit.diagnostics()["success"].to_numpy()
        assert np.array_equal(np.argsort(marks.get_sizes()), np.argsort(success))
        assert "of 4 subjects: posterior means, 90% intervals" in ax.get_title()
        assert ax.get_xlabel() == "navigation (m)"
        assert ax.get_figure().axes[1].get_ylabel() == "posterior mean of noise"
        nothing_is_cut(ax)

    def test_names_are_literal_and_apart(self, fit):
        ax = plots.capability_scatter(fit, names=SUBJECTS)
        written = {text.removesuffix(" †").replace(r"\$", "$") for text in named(ax.texts)}
        assert written == set(SUBJECTS)
        assert named(plots.capability_scatter(fit, names=[]).texts) == []
        crowd = drawn_fits.evaluation([f"somebody {k}" for k in range(60)])
        ax = plots.capability_scatter(made_up(drawn_fits.layout(), crowd))
        assert 4 < len(ax.texts) <= 25
        assert apart(ax)

    def test_labels_without_noise(self):
        fit = drawn_fits.labelled()
        ax = plots.capability_scatter(fit, "skill[write]", "skill[read]")
        assert ax.get_figure().axes == [ax]
        assert ax.get_xlabel() == "skill[write] (level)"
        with pytest.raises(FitError, match=r"skill has 3 labels; choose one: skill\[read\]"):
            plots.capability_scatter(fit, x="skill")

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"x": "hearing"}, "no profile element hearing"),
            ({"colour": "hue"}, "no profile element hue"),
            ({"names": ["Bob"]}, "not in this fit:"),
        ],
    )
    def test_errors(self, fit, arguments, message):
        with pytest.raises(FitError, match=message):
            plots.capability_scatter(fit, **arguments)


class TestPriorPosterior:
    def test_densities(self, fit):
        axes = plots.prior_posterior(fit, "Ann")
        for ax, latent in zip(axes, fit.layout.latents, strict=True):
            prior, posterior = (line.get_xydata() for line in ax.lines[:2])
            for curve in (prior, posterior):
                inside = np.trapezoid(curve[:, 1], curve[:, 0])
                assert inside == pytest.approx(1, abs=0.02)  # the prior's view holds 99 %
            mean = np.trapezoid(posterior[:, 0] * posterior[:, 1], posterior[:, 0])
            draws = fit.posterior[latent.name].sel(subject="Ann")
            assert mean == pytest.approx(float(draws.mean()), abs=0.03 * np.ptp(prior[:, 0]))
        assert np.allclose(axes[0].lines[0].get_ydata(), 1 / 40)
        assert axes[0].get_xlim() == (0, 40)
        assert [ax.get_xlabel() for ax in axes[:2]] == ["navigation (m)", "left_right"]
        assert legend(axes) == ["prior", "posterior"]
        nothing_is_cut(axes)
        nothing_is_cut(plots.prior_posterior(drawn_fits.labelled(), LONG, nodes="skill[read]"))
        with pytest.raises(FitError, match="not in this fit: Bob"):
            plots.prior_posterior(fit, "Bob")


class TestForecastPlot:
    def test_rows_are_the_forecast(self, fit, evaluation):
        new = evaluation.items.iloc[:3].assign(distance=[20.5, 30.5, 55.0])
        items = pd.concat([evaluation.items, new.set_axis(["new 1", "new 2", "far $$$"])])
        forecast = fit.forecast(items)
        ax = plots.forecast_plot(forecast, "Ann", evaluation)
        frame = forecast.to_frame().query("subject == 'Ann'").sort_values("mean", ascending=False)
        marks, observed = points(ax)
        assert named(ax.get_yticklabels()) == [i.replace("$", r"\$") for i in frame["item"]]
        assert np.array_equal(marks.get_offsets()[:, 0], frame["mean"])
        assert np.array_equal(bars(ax)[:, :, 0], frame[["low", "high"]])
        hollow = (marks.get_facecolors() == 1).all(axis=1)
        assert hollow.tolist() == frame["trained"].tolist()
        orange = marks.get_edgecolors()[:, 0] > 0.5
        assert orange.tolist() == frame["extrapolated"].tolist()
        rates = observed.get_offsets().filled(np.nan)[:, 0]
        expected = evaluation.successes.loc["Ann"].reindex(frame["item"])
        assert np.array_equal(rates, expected, equal_nan=True)
        nothing_is_cut(ax)

    def test_outside_the_training_items_and_several_trials(self, evaluation):
        """Ann attempted the near half, each twice: the others are beyond."""
        near = (evaluation.items["distance"] <= evaluation.items["distance"].median()).to_numpy()
        trials = 2 * evaluation.trials * near
        known = Evaluation(evaluation.items, evaluation.successes * near, trials)
        forecast = made_up(drawn_fits.layout(), known).forecast(evaluation.items)
        frame = forecast.to_frame().query("subject == 'Ann'").sort_values("mean", ascending=False)
        ax = plots.forecast_plot(forecast, "Ann", known)
        pale = points(ax)[0].get_edgecolors()[:, 3] < 1
        assert pale.tolist() == frame["outside_training"].tolist()
        rates = points(ax)[1].get_offsets().filled(np.nan)[:, 0]
        assert set(rates[~np.isnan(rates)]) <= {0.0, 0.5}
        assert np.isnan(rates).sum() == (~near).sum()

    def test_errors(self, fit, evaluation):
        forecast = fit.forecast(evaluation.items)
        with pytest.raises(FitError, match="not in this forecast: Bob; it has Ann"):
            plots.forecast_plot(forecast, "Bob")
        with pytest.raises(DataError, match="unknown subject Ann"):
            plots.forecast_plot(forecast, "Ann", evaluation.select(subjects=["all right"]))
        renamed = evaluation.items.set_axis([f"x{k}" for k in range(12)])
        with pytest.raises(DataError, match="none of the forecast items x"):
            plots.forecast_plot(fit.forecast(renamed), "Ann", evaluation)


class TestBrierAgainstSuccess:
    @pytest.fixture
    def scores(self):
        rng = np.random.default_rng(7)
        columns = {"success": rng.uniform(0.1, 0.9, 15)}
        names = [f"s{k}" for k in range(15)]
        methods = ("layout", "_odd_ $name$", "aggregate")
        return {
            method: pd.DataFrame({**columns, "brier": rng.uniform(0, 0.3, 15)}, names)
            for method in methods
        }

    def test_points_are_the_scores(self, scores):
        ax = plots.brier_against_success(scores)
        for marks, frame in zip(points(ax), scores.values(), strict=True):
            assert np.array_equal(marks.get_offsets(), frame.sort_values("success"))
        assert {"layout", r"_odd_ \$name\$"} < {text.strip() for text in legend(ax)}
        constant = ax.lines[0].get_xydata()
        assert np.allclose(constant[:, 1], constant[:, 0] * (1 - constant[:, 0]))
        nothing_is_cut(ax)
        few = plots.brier_against_success({"layout": scores["layout"].iloc[:4]})
        assert np.array_equal(few.lines[1].get_xydata(), points(few)[0].get_offsets())

    def test_repeats_are_averaged(self, scores):
        named = {m: f.rename_axis("subject").reset_index() for m, f in scores.items()}
        long = pd.concat([frame.assign(method=method) for method, frame in named.items()])
        shown = plots.brier_against_success(pd.concat([long, long]))
        for marks, frame in zip(points(shown), scores.values(), strict=True):
            assert np.allclose(marks.get_offsets(), frame.sort_values("success"))

    def test_errors(self, scores):
        one = scores["layout"]
        with pytest.raises(DataError, match="the scores have no column brier"):
            plots.brier_against_success({"layout": one.drop(columns="brier")})
        with pytest.raises(DataError, match="no rate for s0"):
            plots.brier_against_success({"layout": one}, success=pd.Series({"s1": 0.1}))
        with pytest.raises(DataError, match="no Brier score"):
            plots.brier_against_success({"layout": one.assign(brier=np.nan)})


class TestCalibration:
    def test_points_are_the_curve(self, fit, evaluation):
        forecast = fit.forecast(evaluation.items)
        ax = plots.calibration_plot(forecast, evaluation, training_items=True)
        curve = calibration_curve(forecast, evaluation, training_items=True)
        assert np.allclose(points(ax)[0].get_offsets(), curve[["forecast", "success"]])
        assert np.allclose(bars(ax)[:, :, 1], curve[["low", "high"]])
        both = {"a": forecast, "b": forecast}
        ax = plots.calibration_plot(both, evaluation, training_items=True)
        assert legend(ax) == ["calibrated", "a, 90% interval", "b, 90% interval"]
        nothing_is_cut(ax)
        with pytest.raises(DataError, match="were trained on"):
            plots.calibration_plot(forecast, evaluation)

    def test_agrees_with_the_scores(self, fit, evaluation):
        """Twin of scoring's bins: same calibration term, to rounding."""
        forecast = fit.forecast(evaluation.items)
        curve = calibration_curve(forecast, evaluation, bins=7, training_items=True)
        share = curve["trials"] / curve["trials"].sum()
        calibration = float((share * (curve["forecast"] - curve["success"]) ** 2).sum())
        tables = forecast.data["mean"], evaluation.successes, evaluation.trials
        means, solved, tried = (table.to_numpy().ravel() for table in tables)
        scores = scores_in_groups(means, solved, tried - solved, bins=7)
        assert calibration == pytest.approx(scores["calibration"][0], abs=1e-12)
        assert curve["trials"].sum() == evaluation.trials.to_numpy().sum()

    def test_wilson_interval(self, fit, evaluation):
        """Against SciPy's."""
        from scipy.stats import binomtest

        curve = calibration_curve(fit.forecast(evaluation.items), evaluation, training_items=True)
        for row in curve.itertuples():
            test = binomtest(round(row.success * row.trials), row.trials)
            expected = test.proportion_ci(0.9, method="wilson")
            assert (row.low, row.high) == pytest.approx((expected.low, expected.high), abs=1e-12)

    @pytest.mark.parametrize("outcome", [0, 1])
    @pytest.mark.parametrize("items", [1, 5, 12])
    def test_interval_holds_the_rate_at_the_ends(self, fit, evaluation, outcome, items):
        alike = Evaluation(evaluation.items, evaluation.trials * outcome, evaluation.trials)
        chosen = alike.select(items=evaluation.items.index[:items])
        curve = calibration_curve(fit.forecast(chosen.items), chosen, bins=1, training_items=True)
        assert (curve["low"] <= curve["success"]).all()
        assert (curve["high"] >= curve["success"]).all()

    @pytest.mark.parametrize("option", [{"bins": 0}, {"bins": 2.5}, {"prob": 1}])
    def test_errors(self, fit, evaluation, option):
        with pytest.raises(FitError, match=next(iter(option))):
            calibration_curve(fit.forecast(evaluation.items), evaluation, **option)


def test_figures_leave_the_fit_and_the_settings_alone(fit, evaluation):
    before, settings = fit.data.copy(deep=True), dict(mpl.rcParams)
    figure, ax = plt.subplots()
    forecast = fit.forecast(evaluation.items)
    plots.profile_forest(fit, nodes="sight", ax=ax)
    plots.profile_heatmap(fit, ax=ax)
    assert plots.capability_scatter(fit, ax=ax) is ax
    assert plots.forecast_plot(forecast, "Ann", evaluation, ax=ax) is ax
    assert plots.calibration_plot(forecast, evaluation, training_items=True, ax=ax) is ax
    assert plt.get_fignums() == [figure.number]
    assert fit.data.identical(before)
    assert dict(mpl.rcParams) == settings


def test_names_that_are_gone_have_a_hint():
    with pytest.raises(AttributeError, match=r"no reliability; call ml.plots.calibration_plot"):
        _ = plots.reliability


@pytest.mark.slow
def test_importing_plots_imports_little():
    large = ["pymc", "pytensor", "matplotlib.pyplot"]
    code = "import sys, measurement_layouts.plots; "
    code += f"print(set({large}) & sys.modules.keys())"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "set()"
