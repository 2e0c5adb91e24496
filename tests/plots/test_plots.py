"""Figures: what is drawn is what the tables say, with names, units and errors in order."""

import subprocess
import sys

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from helpers.made_estimates import nothing_is_cut
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.text import Text

from measurement_layouts import (
    Bias,
    Capability,
    DataError,
    Evaluation,
    Fit,
    FitError,
    Layout,
    MetaFeature,
    Noise,
    Success,
    plots,
)
from measurement_layouts.inference.files.store import Store
from measurement_layouts.inference.posterior.assembly import data_alone
from measurement_layouts.inference.sampling.draws import Draws, SamplingOptions, Unit
from measurement_layouts.inference.sampling.engine import Battery
from measurement_layouts.linking import logistic, mean_failure, mixture, product
from measurement_layouts.validation.prediction.score import calibration_curve
from measurement_layouts.validation.prediction.scoring_rules import scores_in_groups

mpl.use("Agg")
SUBJECTS = ["Ann", "costs $5 or $6", "_under_score_", "all right"]
LONG = "a-model-with-a-name-of-more-than-sixty-letters-as-they-do-occur-in-practice-v2"


@pytest.fixture
def rng():
    return np.random.default_rng(7)


pytestmark = pytest.mark.usefixtures("tidy_figures")


@pytest.fixture(scope="module")
def layout():
    distance = MetaFeature("distance", low=0, high=40, unit="m")
    smallness = MetaFeature("smallness", low=0, high=2)
    side = MetaFeature("side", levels=(-1, 0, 1))
    navigation = Capability("navigation", low=0, high=40, unit="m")
    sight = Capability("sight", low=0, high=2)
    go = logistic(navigation - distance + Bias("left_right") * side)
    see = logistic(sight - smallness, slope=4)
    return Layout(
        "two", Success("found", mixture(go * see, by=Noise("noise"), toward=mean_failure))
    )


@pytest.fixture(scope="module")
def evaluation():
    rng = np.random.default_rng(3)
    count = 12
    items = pd.DataFrame(
        {
            "distance": np.linspace(1, 39, count),
            "smallness": rng.permutation(np.linspace(0, 2, count)),
            "side": np.resize([-1, 0, 1], count),
        },
        index=[f"item_{k}" for k in range(count)],
    )
    outcomes = rng.integers(0, 2, (len(SUBJECTS), count))
    outcomes[3] = 1
    return Evaluation.from_wide(pd.DataFrame(outcomes, index=SUBJECTS, columns=items.index), items)


def made_up(layout, evaluation, failures=None):
    """A fit whose draws nobody sampled: each subject's lie in a part of the range of its own."""
    rng = np.random.default_rng(11)
    options = SamplingOptions(draws=50, tune=1, chains=2)
    data = data_alone(layout, Battery.of(layout, evaluation).features, evaluation)
    with Store.open(None, layout, data, options, seed=1, reruns=0) as store:
        fill(store, layout, evaluation, rng, failures or {})
        return Fit.of(store.posterior())


def fill(store, layout, evaluation, rng, failures):
    """Add draws that nobody sampled, and failures."""
    for row, subject in enumerate(evaluation.subjects):
        if subject in failures:
            store.add(Unit(row, 1, 0), None, failures[subject])
            continue
        posterior = {}
        for latent in layout.latents:
            low, high = latent.range.low, latent.range.high
            low, high = (low, high) if np.isfinite(high - low) else (-1.0, 1.0)
            shape = (2, 50, *map(len, latent.dims.values()))
            posterior[latent.name] = low + (high - low) * rng.beta(*rng.uniform(2, 9, 2), shape)
        flat = {name: np.zeros((2, 50)) for name in ("energy", "depth", "logp")}
        draws = Draws(posterior, {"diverging": np.zeros((2, 50), dtype=bool), **flat})
        store.add(Unit(row, 1, 0), draws)


@pytest.fixture(scope="module")
def fit(layout, evaluation) -> Fit:
    return made_up(layout, evaluation)


@pytest.fixture(scope="module")
def labelled_fit() -> Fit:
    names = ("read", "write", "count")
    skill = Capability("skill", low=0, high=5, unit="level", labels=names)
    demand = MetaFeature("demand", low=0, high=5, unit="level", labels=names)
    layout = Layout(
        "labelled", Success("done", product(logistic(skill - demand), over="dimension"))
    )
    rng = np.random.default_rng(5)
    items = pd.DataFrame(rng.uniform(0, 5, (6, 3)), columns=[f"demand[{n}]" for n in names])
    items.index = [f"i{k}" for k in range(6)]
    who = ["A", "B", LONG, "C"]
    outcomes = pd.DataFrame(rng.integers(0, 2, (4, 6)), index=who, columns=items.index)
    return made_up(layout, Evaluation.from_wide(outcomes, items), {"C": "it stopped"})


def points(ax):
    """Scattered points; a legend's empty ones left out."""
    drawn = [item for item in ax.collections if isinstance(item, PathCollection)]
    return [item for item in drawn if len(item.get_offsets())]


def texts(ax):
    return [text.get_text() for text in ax.texts]


class TestCapabilityScatter:
    def test_points_bars_and_colours(self, fit):
        ax = plots.capability_scatter(fit)
        columns = ["mean", "low", "high"]
        table = fit.profiles(prob=0.9).pivot_table(columns, "subject", "node").loc[fit.subjects]
        drawn, hollow = points(ax)
        means = table["mean"][["navigation", "sight"]].to_numpy()
        shown = fit.profiles().query("node in ('navigation', 'sight', 'noise')")
        vague = shown.groupby("subject")["prior_dominated"].any()[fit.subjects].to_numpy()
        assert np.array_equal(hollow.get_offsets(), means[vague])
        assert np.array_equal(drawn.get_offsets(), means)
        assert np.array_equal(drawn.get_array(), table["mean"]["noise"])
        bars = [c for c in ax.collections if isinstance(c, LineCollection)]
        for which, (lines, node) in enumerate(zip(bars, ("navigation", "sight"), strict=True)):
            ends = [segment[:, which] for segment in lines.get_segments()]
            assert np.array_equal(ends, np.column_stack([table["low"][node], table["high"][node]]))
        assert ax.get_title() == (
            f"Cognitive profiles of {len(fit.subjects)} subjects: posterior means, 90% intervals"
        )
        success = fit.diagnostics()["success"]
        assert np.array_equal(np.argsort(drawn.get_sizes()), np.argsort(success.to_numpy()))
        assert ax.get_xlabel() == "navigation (m)"
        assert [other.get_ylabel() for other in ax.get_figure().axes[1:]] == [
            "posterior mean of noise"
        ]
        nothing_is_cut(ax)

    def test_without_noise(self, labelled_fit):
        ax = plots.capability_scatter(labelled_fit, "skill[write]", "skill[read]")
        assert ax.get_figure().axes == [ax]
        assert ax.get_xlabel() == "skill[write] (level)"
        assert plots.capability_scatter(labelled_fit).get_ylabel() == "skill[write] (level)"

    def test_names_are_literal_and_apart(self, fit):
        ax = plots.capability_scatter(fit, names=SUBJECTS)
        assert [text.removesuffix(" †") for text in texts(ax)] == [
            name.replace("$", r"\$") for name in SUBJECTS
        ]
        ax.get_figure().canvas.draw()
        boxes = [Text.get_window_extent(text) for text in ax.texts]
        for place, box in enumerate(boxes):
            assert not any(box.overlaps(other) for other in boxes[place + 1 :])
        assert texts(plots.capability_scatter(fit, names=[])) == []

    def test_automatic_names_leave_out_what_has_no_room(self, layout, evaluation):
        crowd = [f"somebody {k}" for k in range(60)]
        tables = [
            pd.DataFrame(np.resize(t.to_numpy(), (60, t.shape[1])), crowd, t.columns)
            for t in (evaluation.successes, evaluation.trials)
        ]
        ax = plots.capability_scatter(made_up(layout, Evaluation(evaluation.items, *tables)))
        ax.get_figure().canvas.draw()
        boxes = [Text.get_window_extent(text) for text in ax.texts]
        assert 4 < len(boxes) <= 25
        for place, box in enumerate(boxes):
            assert not any(box.overlaps(other) for other in boxes[place + 1 :])

    def test_one_subject(self, layout, evaluation):
        ax = plots.capability_scatter(made_up(layout, evaluation.select(subjects=["Ann"])))
        assert texts(ax) == ["Ann"]  # its draws are few, which is no alarm
        assert "1 subject:" in ax.get_title()

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"x": "hearing"}, "no profile element hearing"),
            ({"colour": "hue"}, "no profile element hue"),
            ({"names": ["Bob"]}, "not in this fit: Bob"),
        ],
    )
    def test_errors(self, fit, arguments, message):
        with pytest.raises(FitError, match=message):
            plots.capability_scatter(fit, **arguments)

    def test_label_must_be_chosen(self, labelled_fit):
        with pytest.raises(FitError, match=r"skill has 3 labels; choose one: skill\[read\]"):
            plots.capability_scatter(labelled_fit, x="skill")


class TestBrierAgainstSuccess:
    @pytest.fixture
    def scores(self, rng):
        success = rng.uniform(0.1, 0.9, 15)
        return {
            method: pd.DataFrame(
                {"success": success, "brier": rng.uniform(0, 0.3, 15)},
                index=[f"s{k}" for k in range(15)],
            )
            for method in ("layout", "_odd_ $name$", "aggregate")
        }

    def test_points_are_the_scores(self, scores):
        ax = plots.brier_against_success(scores)
        for drawn, frame in zip(points(ax), scores.values(), strict=True):
            expected = frame.sort_values("success").to_numpy()
            assert np.array_equal(drawn.get_offsets(), expected)
        entries = [text.get_text().strip() for text in ax.get_legend().get_texts()]
        assert entries[:3] == ["layout", r"_odd_ \$name\$", "aggregate"]
        reference = ax.lines[-1].get_xydata()
        assert np.allclose(reference[:, 1], reference[:, 0] * (1 - reference[:, 0]))
        nothing_is_cut(ax)

    def test_few_subjects_are_joined(self, scores):
        ax = plots.brier_against_success({"layout": scores["layout"].iloc[:4]})
        joined = ax.lines[0].get_xydata()
        assert np.array_equal(joined, points(ax)[0].get_offsets())

    def test_long_frame(self, scores):
        long = pd.concat(
            [
                frame.rename_axis("subject").reset_index().assign(method=m)
                for m, frame in scores.items()
            ]
        )
        drawn = plots.brier_against_success(pd.concat([long, long]))
        expected = plots.brier_against_success(scores)
        for one, other in zip(points(drawn), points(expected), strict=True):
            assert np.allclose(one.get_offsets(), other.get_offsets(), rtol=1e-12)

    def test_errors(self, scores):
        one = scores["layout"]
        with pytest.raises(DataError, match="the scores have no column brier"):
            plots.brier_against_success({"layout": one.drop(columns="brier")})
        with pytest.raises(DataError, match="no rate for s0"):
            plots.brier_against_success({"layout": one}, success=pd.Series({"s1": 0.1}))
        with pytest.raises(DataError, match="no Brier score"):
            plots.brier_against_success({"layout": one.assign(brier=np.nan)})


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
        uniform = axes[0].lines[0].get_ydata()
        assert np.allclose(uniform, 1 / 40)
        assert axes[0].get_xlim() == (0, 40)
        assert [ax.get_xlabel() for ax in axes] == [
            "navigation (m)",
            "left_right",
            "sight",
            "noise",
        ]
        nothing_is_cut(axes)

    def test_long_name(self, labelled_fit):
        axes = plots.prior_posterior(labelled_fit, LONG, nodes="skill[read]")
        assert len(axes) == 1
        nothing_is_cut(axes)

    def test_errors(self, fit):
        with pytest.raises(FitError, match="not in this fit: Bob"):
            plots.prior_posterior(fit, "Bob")


class TestForecastPlot:
    @pytest.fixture
    def items(self, evaluation):
        new = evaluation.items.iloc[:3].assign(distance=[20.5, 30.5, 55.0])
        return pd.concat([evaluation.items, new.set_axis(["new 1", "new 2", "far $$$"])])

    def test_points_intervals_and_outcomes(self, fit, evaluation, items):
        forecast = fit.forecast(items)
        ax = plots.forecast_plot(forecast, "Ann", evaluation)
        frame = forecast.to_frame().query("subject == 'Ann'").sort_values("mean", kind="stable")
        legend = [text.get_text() for text in ax.get_legend().get_texts()]
        assert legend == [
            "90% interval",
            "forecast",
            "forecast of a training item",
            "outside a declared range",
            "success",
            "failure",
        ]
        fresh, seen, outside, won, lost = points(ax)
        assert np.array_equal(
            seen.get_offsets()[:, 1], frame.loc[frame["trained"], "mean"].to_numpy()
        )
        assert len(fresh.get_offsets()) == 2
        assert np.array_equal(
            outside.get_offsets()[:, 1], frame.loc[frame["extrapolated"], "mean"].to_numpy()
        )
        assert len(won.get_offsets()) == evaluation.successes.loc["Ann"].sum()
        assert len(won.get_offsets()) + len(lost.get_offsets()) == 12
        (bars,) = [c for c in ax.collections if isinstance(c, LineCollection)]
        ends = np.array([segment[:, 1] for segment in bars.get_segments()])
        assert np.array_equal(ends, frame[["low", "high"]].to_numpy())
        names = [text.get_text() for text in ax.get_xticklabels()]
        assert names == [item.replace("$", r"\$") for item in frame["item"]]
        nothing_is_cut(ax)

    def test_outside_the_training_items(self, layout, evaluation):
        """Ann attempted the near half: the others are beyond."""
        near = evaluation.items["distance"] <= evaluation.items["distance"].median()
        trials = evaluation.trials * near.to_numpy()
        known = Evaluation(evaluation.items, evaluation.successes * near.to_numpy(), trials)
        forecast = made_up(layout, known).forecast(evaluation.items)
        frame = forecast.to_frame().query("subject == 'Ann'").sort_values("mean", kind="stable")
        ax = plots.forecast_plot(forecast, "Ann")
        marks = dict(
            zip(
                (text.get_text() for text in ax.get_legend().get_texts()[1:]),
                points(ax),
                strict=True,
            )
        )
        drawn = marks["outside the training items"].get_offsets()[:, 1]
        assert np.array_equal(drawn, frame.loc[frame["outside_training"], "mean"].to_numpy())
        assert frame["outside_training"].sum() == (~near).sum()
        nothing_is_cut(ax)

    def test_several_trials(self, fit, evaluation):
        twice = Evaluation(evaluation.items, evaluation.successes, evaluation.trials * 2)
        ax = plots.forecast_plot(fit.forecast(evaluation.items), "Ann", twice)
        rates = points(ax)[-1].get_offsets()[:, 1]
        assert set(rates) <= {0.0, 0.5}
        assert len(rates) == 12

    def test_errors(self, fit, evaluation):
        forecast = fit.forecast(evaluation.items)
        with pytest.raises(FitError, match="not in this forecast: Bob; it has Ann"):
            plots.forecast_plot(forecast, "Bob")
        with pytest.raises(DataError, match="unknown subject Ann"):
            plots.forecast_plot(forecast, "Ann", evaluation.select(subjects=["all right"]))
        renamed = evaluation.items.set_axis([f"x{k}" for k in range(12)])
        with pytest.raises(DataError, match="none of the forecast items x"):
            plots.forecast_plot(fit.forecast(renamed), "Ann", evaluation)


class TestReliability:
    def test_points_are_the_curve(self, fit, evaluation):
        forecast = fit.forecast(evaluation.items)
        ax = plots.reliability(forecast, evaluation, training_items=True)
        curve = calibration_curve(forecast, evaluation, training_items=True)
        (bars,) = ax.containers[:1]
        assert np.allclose(bars.lines[0].get_xydata(), curve[["forecast", "success"]])
        (segments,) = (lines.get_segments() for lines in bars.lines[2])
        ends = np.array([segment[:, 1] for segment in segments])
        assert np.allclose(ends, curve[["low", "high"]])
        assert texts(ax) == [str(count) for count in curve["trials"]]
        nothing_is_cut(ax)

    def test_several_methods(self, fit, evaluation):
        forecast = fit.forecast(evaluation.items)
        ax = plots.reliability({"a": forecast, "b": forecast}, evaluation, training_items=True)
        assert [text.get_text() for text in ax.get_legend().get_texts()] == ["calibrated", "a", "b"]
        assert texts(ax) == []

    def test_training_items_are_refused(self, fit, evaluation):
        with pytest.raises(DataError, match="were trained on"):
            plots.reliability(fit.forecast(evaluation.items), evaluation)


def test_figures_leave_the_fit_alone(fit, evaluation):
    before = fit.data.copy(deep=True)
    frames = evaluation.items.copy(), evaluation.successes.copy(), evaluation.trials.copy()
    plots.profile_forest(fit)
    plots.capability_scatter(fit)
    plots.prior_posterior(fit, "Ann")
    plots.forecast_plot(fit.forecast(evaluation.items), "Ann", evaluation)
    assert fit.data.identical(before)
    for frame, old in zip(
        (evaluation.items, evaluation.successes, evaluation.trials), frames, strict=True
    ):
        pd.testing.assert_frame_equal(frame, old)


def test_given_axes_are_returned_and_no_figure_is_made(fit, evaluation):
    forecast = fit.forecast(evaluation.items)
    figure, ax = plt.subplots()
    scores = pd.DataFrame({"success": [0.5], "brier": [0.2]}, index=["Ann"])
    for drawn in (
        plots.capability_scatter(fit, ax=ax),
        plots.brier_against_success(scores, ax=ax),
        plots.forecast_plot(forecast, "Ann", ax=ax),
        plots.reliability(forecast, evaluation, training_items=True, ax=ax),
    ):
        assert drawn is ax
    assert plt.get_fignums() == [figure.number]


@pytest.mark.slow
def test_importing_plots_imports_little():
    large = ["pymc", "pytensor", "matplotlib.pyplot"]
    code = "import sys, measurement_layouts.plots; "
    code += f"print(set({large}) & sys.modules.keys())"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "set()"


class TestCalibrationCurve:
    def test_agrees_with_the_scores(self, fit, evaluation):
        """Twin of scoring's bins: same calibration term, to rounding."""
        forecast = fit.forecast(evaluation.items)
        curve = calibration_curve(forecast, evaluation, bins=7, training_items=True)
        share = curve["trials"] / curve["trials"].sum()
        calibration = float((share * (curve["forecast"] - curve["success"]) ** 2).sum())
        means, won, tried = (
            table.to_numpy().ravel()
            for table in (forecast.data["mean"], evaluation.successes, evaluation.trials)
        )
        scores = scores_in_groups(means, won, tried - won, bins=7)
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
    @pytest.mark.parametrize("items", range(1, 13))
    def test_interval_holds_the_rate_at_the_ends(self, fit, evaluation, outcome, items):
        """Rounding must not put 0 or 1 outside: matplotlib refuses negative bars."""
        alike = Evaluation(evaluation.items, evaluation.trials * outcome, evaluation.trials)
        chosen = alike.select(items=evaluation.items.index[:items])
        curve = calibration_curve(fit.forecast(chosen.items), chosen, bins=1, training_items=True)
        assert (curve["low"] <= curve["success"]).all()
        assert (curve["high"] >= curve["success"]).all()

    @pytest.mark.parametrize("option", [{"bins": 0}, {"bins": 2.5}, {"prob": 1}])
    def test_errors(self, fit, evaluation, option):
        with pytest.raises(FitError, match=next(iter(option))):
            calibration_curve(fit.forecast(evaluation.items), evaluation, **option)
