"""Capabilities read as hours, the trend through them, and their figure."""

import math

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from helpers import joint_fits, small_layouts
from helpers.made_estimates import legend

import measurement_layouts as ml
from measurement_layouts import DataError, FitError, plots
from measurement_layouts.estimation.horizons import horizon_trend, time_horizons
from measurement_layouts.linking import logistic

mpl.use("Agg")
pytestmark = pytest.mark.usefixtures("tidy_figures")
DATES = pd.Series(pd.to_datetime(["2024-01-01", "2025-03-01"]), ["Ann", "Bob"])


@pytest.fixture(scope="module")
def fit():
    """Three subjects with made-up draws of a horizon."""
    skill = ml.Capability("skill", low=-12, high=14, unit="doubling")
    hours = ml.MetaFeature("logHours", low=-2, high=10, unit="doubling")
    layout = ml.Layout("hours", ml.Success("done", logistic(skill - hours, ml.Slope("slope"))))
    items = pd.DataFrame({"logHours": [1.0, 3.0]}, ["a", "b"])
    outcomes = pd.DataFrame([[1, 0], [1, 1], [0, 0]], ["Ann", "Bob", "Cid"], items.index)
    rng = np.random.default_rng(2)
    draws = {
        "skill": rng.normal([[[0]], [[3]], [[-2]]], 0.5, (3, 2, 400)),
        "slope": np.ones((3, 2, 400)),
    }
    evaluation = ml.Evaluation.from_wide(outcomes, items)
    return small_layouts.crafted(layout, evaluation, draws)


def many(count=87, seed=3):
    rng = np.random.default_rng(seed)
    days = np.sort(rng.integers(0, 950, count))
    y = -2 + days / 150 + rng.normal(0, 1.2, count)
    error = rng.uniform(0.3, 1.5, count)
    return pd.DataFrame(
        {
            "hours": np.exp2(y),
            "low": np.exp2(y - 1.6 * error),
            "high": np.exp2(y + 1.6 * error),
            "doublings": y,
            "sd": error,
            "released": pd.Timestamp("2023-06-13") + pd.to_timedelta(days, unit="D"),
        },
        [f"model-{number}-of-many" for number in range(count)],
    )


def test_horizons_are_quantiles_of_the_draws(fit):
    table = time_horizons(fit, prob=0.8)
    draws = fit.posterior["skill"].sel(subject="Bob").to_numpy().ravel()
    expected = np.exp2(np.quantile(draws, [0.5, 0.1, 0.9]))
    assert table.loc["Bob", ["hours", "low", "high"]].to_numpy(float) == pytest.approx(expected)
    assert table.loc["Bob", "sd"] == pytest.approx(draws.std(ddof=1))


def test_those_without_a_date_are_left_out(fit):
    assert list(time_horizons(fit, DATES).index) == ["Ann", "Bob"]
    with pytest.raises(DataError, match="index released by subject"):
        time_horizons(fit, DATES.set_axis(["x", "y"]))


@pytest.mark.parametrize(("options", "message"), [({"prob": 1}, "prob"), ({"node": "x"}, "x")])
def test_options_of_horizons(fit, options, message):
    with pytest.raises(FitError, match=message):
        time_horizons(fit, **options)


def test_several_capabilities(animal_ai, cohort):
    draws = {latent.name: np.full((6, 1, 5), 0.5) for latent in animal_ai.latents}
    with pytest.raises(FitError, match="name one with node="):
        time_horizons(small_layouts.crafted(animal_ai, cohort, draws))


def drawn_lines(count, forget_scatter=False):
    """How many 90 % intervals hold the true rate; the twin weighs by the errors alone."""
    covered = 0
    for seed in range(count):
        rng = np.random.default_rng(seed)
        days = np.sort(rng.integers(0, 900, 12))
        error = rng.uniform(0.1, 1.0, 12)
        y = -1 + 2.4 * days / 365.25 + rng.normal(0, 0.8, 12) + rng.normal(0, error)
        dates = pd.Timestamp("2023-01-01") + pd.to_timedelta(days, unit="D")
        if forget_scatter:
            t = days / 365.25
            weight = 1 / error**2
            centred = t - (weight * t).sum() / weight.sum()
            information = (weight * centred**2).sum()
            rate = (weight * centred * y).sum() / information
            covered += abs(rate - 2.4) < 1.645 / math.sqrt(information)
        else:
            trend = horizon_trend(pd.DataFrame({"released": dates, "doublings": y, "sd": error}))
            covered += trend.low < 12 / 2.4 < trend.high
    return covered


@pytest.mark.slow
def test_trends_hold_the_truth_nine_times_in_ten():
    """Of 200 intervals; three standard errors are 6.4 points."""
    assert 0.9 - 0.064 < drawn_lines(200) / 200 < 0.9 + 0.064
    assert drawn_lines(200, forget_scatter=True) / 200 < 0.9 - 0.064  # the twin


def test_a_line_without_errors():
    table = many(5).assign(sd=0.01)
    days = (table["released"] - table["released"].iloc[0]).dt.days
    trend = horizon_trend(table.assign(doublings=days * 12 / 365.25 / 7))
    assert trend.months == pytest.approx(7, abs=0.1)
    assert (trend.line["low"] < trend.line["high"]).all()
    assert "doubling every 7" in repr(trend)


def test_horizons_that_fall():
    table = many(30)
    trend = horizon_trend(table.assign(doublings=-table["doublings"]))
    assert trend.months == trend.high == math.inf


def test_a_common_error_of_a_joint_fit_moves_the_line_alone():
    """It is in the level of the line, but not in its slope; the twin takes it for independent."""
    layout, names = joint_fits.rasch(), [f"m{number}" for number in range(8)]
    outcomes = pd.DataFrame(np.tile([0, 1], (8, 1)), names, ["x", "y"])
    evaluation = ml.Evaluation.from_wide(outcomes, pd.DataFrame(index=outcomes.columns))
    rng, days = np.random.default_rng(3), np.arange(8) * 100
    dates = pd.Series(pd.Timestamp("2024-01-01") + pd.to_timedelta(days, unit="D"), names)
    ability = days / 210 + rng.normal(size=(4000, 1)) + 0.2 * rng.normal(size=(4000, 8))
    made = joint_fits.random_draws(layout, evaluation, 4000, seed=3)
    fit = joint_fits.crafted(layout, evaluation, made | {"ability": ability})
    table = time_horizons(fit, dates, node="ability").iloc[::-1]
    independent_errors = pd.DataFrame({"released": dates, "doublings": days / 210, "sd": 0.2})
    trend, alone = horizon_trend(table), horizon_trend(independent_errors)
    assert trend.low == pytest.approx(alone.low, rel=0.03)
    assert trend.high == pytest.approx(alone.high, rel=0.03)
    wide, narrow = (np.log2(one.line["high"] / one.line["low"]).mean() for one in (trend, alone))
    assert wide == pytest.approx(np.hypot(2 * 1.645, narrow), rel=0.1)
    independent = table.copy()
    independent.attrs.clear()
    assert horizon_trend(independent).high > 1.2 * trend.high
    with pytest.raises(DataError, match="new is not in the joint fit of m0"):
        horizon_trend(table.rename({"m3": "new"}))


def test_too_few_for_a_trend():
    with pytest.raises(DataError, match=r"2 horizon\(s\) at 2 date\(s\).*at least 3"):
        horizon_trend(many(2))
    with pytest.raises(DataError, match="released"):
        horizon_trend(many(4).drop(columns="released"))


def boxes(ax):
    ax.figure.draw_without_rendering()
    return [mpl.text.Text.get_window_extent(note) for note in ax.texts]


@pytest.mark.parametrize("count", [1, 10, pytest.param(87, marks=pytest.mark.slow)])
def test_nothing_is_cut_and_no_name_covers_another(count):
    table = many(count)
    ax = plots.horizon_plot(table)
    bottom, top = ax.get_ylim()
    assert bottom < table["low"].min() < table["high"].max() < top
    first, last = ax.get_xlim()
    days = mpl.dates.date2num(table["released"])
    assert first < days.min() <= days.max() < last
    names = boxes(ax)
    assert names
    for number, one in enumerate(names):
        assert not any(one.overlaps(other) for other in names[number + 1 :])
        assert ax.get_window_extent().padded(2).containsx(one.x0)


def test_what_is_drawn_is_the_table():
    table = many(4)
    ax = plots.horizon_plot(table)
    points = np.asarray(ax.collections[-1].get_offsets())
    assert points[:, 1] == pytest.approx(table["hours"].to_numpy())
    assert points[:, 0] == pytest.approx(mpl.dates.date2num(table["released"]))
    ends = np.array(ax.collections[0].get_segments())[:, :, 1]
    assert ends == pytest.approx(table[["low", "high"]].to_numpy())


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (1 / 60, 40, ["1 min", "10 min", "1 h", "8 h", "40 h"]),
        (0.5, 3, ["30 min", "1 h", "2 h", "4 h"]),
        (1e-9, 1e7, ["1 s", "10 s", "1 min", "10 min", "1 h", "8 h", "40 h", "160 h", "1,000 h"]),
    ],
)
def test_ticks_are_words(low, high, words):
    table = many(1).assign(low=low, hours=(low * high) ** 0.5, high=high)
    labels = [label.get_text() for label in plots.horizon_plot(table).get_yticklabels()]
    assert set(words) <= set(labels)
    assert 3 <= len(labels) <= 9


def test_a_fit_and_dates(fit):
    ax = plots.horizon_plot(time_horizons(fit, DATES))
    assert ax.get_title() == "Time horizons of 2 subjects, 90% intervals"
    assert not legend(ax)
    expected = time_horizons(fit, DATES)["hours"].to_numpy()
    assert np.asarray(ax.collections[-1].get_offsets())[:, 1] == pytest.approx(expected)


def test_the_trend_is_explained():
    table = many(4)
    ax = plots.horizon_plot(table, trend=horizon_trend(table), prob=0.95)
    (words,) = legend(ax)
    assert words.startswith("doubling every")
    assert "95%" in ax.get_title()


def test_given_axes_are_used():
    ax = plt.subplots()[1]
    assert plots.horizon_plot(many(3), ax=ax) is ax


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.drop(columns="low"), "low"),
        (lambda t: t.drop(columns="released"), "no column released"),
        (lambda t: t.assign(released=pd.NaT), "no subject has a date"),
        (lambda t: t.assign(low=0.0), "0 < low <= hours"),
        (lambda t: t.assign(high=t["low"] / 2), "correct or drop"),
        (lambda t: t.assign(high=np.inf), "all finite"),
    ],
)
def test_tables_that_cannot_be_drawn(change, message):
    with pytest.raises(DataError, match=message):
        plots.horizon_plot(change(many(3)))
