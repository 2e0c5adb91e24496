"""Scales are open-ended: batteries, curves and figures on levels 5 to 10 and -5 to 5."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from helpers import small_layouts

import measurement_layouts as ml
from measurement_layouts.annotation import open_ended, pooled
from measurement_layouts.batteries import (
    characteristic_curves,
    demand_correlations,
    demand_profile,
    judge_benchmark,
)
from measurement_layouts.linking import logistic
from measurement_layouts.scenarios import adele, propensities

mpl.use("Agg")
pytestmark = pytest.mark.usefixtures("tidy_figures")
SCALES = [(5, 10), (-5, 5)]


def answered(low, high, ability):
    """1,200 items on all levels of a scale, and outcomes of a logistic of slope 1.5."""
    rng = np.random.default_rng(4)
    items = pd.DataFrame({"logic": low + np.arange(1200) % (high - low + 1)})
    solved = rng.random(1200) < logistic(ability - items["logic"].to_numpy(), 1.5)
    return ml.Evaluation.from_wide(pd.DataFrame([solved], ["Ann"]), items.assign(volume=low))


@pytest.mark.parametrize(("low", "high", "ability"), [(5, 10, 7.4), (-5, 5, -1.2)])
def test_abilities_on_other_scales(low, high, ability):
    evaluation = answered(low, high, ability)
    curves = characteristic_curves(
        evaluation, ["logic", "volume"], resamples=50, lowest=min(low, 0)
    )
    row = curves.row("Ann", "logic")
    assert row["low"] - 0.1 < ability < row["high"] + 0.1
    assert row["high"] - row["low"] < 0.6
    at = curves.curve("Ann", "logic", np.array([ability]))
    assert at["success"].item() == pytest.approx(0.5, abs=0.06)
    assert curves.bins["level"].unique().tolist() == list(range(low, high + 1))


def test_a_scale_moved_is_the_same_scale():
    """Ability, interval, curve and bins move with the levels; the twin forgets where it begins."""
    evaluation = answered(0, 10, 4.2)
    moved = ml.Evaluation(evaluation.items - 5, evaluation.successes, evaluation.trials)
    options = {"columns": ["logic", "volume"], "resamples": 20}
    zero = characteristic_curves(evaluation, **options)
    five = characteristic_curves(moved, **options, lowest=-5)
    columns = ["ability", "low", "high"]
    pd.testing.assert_frame_equal(five.table[columns] + 5, zero.table[columns])
    there = np.linspace(0, 11, 12)
    one, other = zero.curve("Ann", "logic", there), five.curve("Ann", "logic", there - 5)
    pd.testing.assert_frame_equal(one.drop(columns="level"), other.drop(columns="level"))
    assert five.curve("Ann", "logic")["level"].iloc[[0, -1]].tolist() == [-5, 6]
    with pytest.raises(ml.DataError, match="give whole numbers from 0 to 19"):
        characteristic_curves(moved, **options)
    with pytest.raises(ml.FitError, match=r"lowest=0\.5; give a whole number"):
        characteristic_curves(moved, **options, lowest=0.5)


@pytest.mark.parametrize(("low", "high"), SCALES)
def test_figures_of_curves_show_the_scale(low, high):
    curves = characteristic_curves(
        answered(low, high, (low + high) / 2), ["logic", "volume"], resamples=20, lowest=min(low, 0)
    )
    for ax in (
        ml.plots.curve_panels(curves, "Ann", "logic")[0],
        ml.plots.curve_panels(curves, "Ann")[0],
        ml.plots.curves_by_subject(curves, "logic"),
    ):
        first, last = ax.get_xlim()
        assert first <= min(low, 0)
        assert last >= high
        ticks = [tick for tick in ax.get_xticks() if first <= tick <= last]
        assert min(ticks) == min(low, 0)


@pytest.mark.parametrize(("low", "high"), SCALES)
def test_profiles_count_declared_levels(low, high):
    levels = range(low, high + 1)
    rng = np.random.default_rng(2)
    items = pd.DataFrame(rng.integers(low, high + 1, (400, 3)), columns=list("abc"))
    profile = demand_profile(items, list("abc"), levels=levels)
    assert profile.levels == list(levels)
    assert profile.counts.loc["a"].tolist() == [(items["a"] == level).sum() for level in levels]
    assert profile.means["a"] == pytest.approx(items["a"].mean())
    with pytest.raises(ml.DataError, match="none of the levels 0, 1, 2, 3, 4, 5"):
        demand_profile(items, list("abc"))
    (ax,) = ml.plots.demand_profile_plot(profile)
    fills = {tuple(colour) for colour in ax.collections[0].get_facecolor()}
    assert len(fills) == len(levels)
    assert (1.0, 1.0, 1.0, 1.0) not in fills
    judged = judge_benchmark(items, ["a"], list("abc"), levels=levels, low=low + 1)
    above = [level for level in levels if level > min(low, 0)]
    assert judged.table.loc["a", "covered"] == len(above)
    assert judged.sensitivity == 1
    assert demand_correlations(items, list("abc")).between.loc["a", "a"] == pytest.approx(1)


def test_propensities_from_minus_five_to_five():
    rng = np.random.default_rng(5)
    ends = np.sort(rng.integers(-5, 6, (300, 2)), axis=1)
    items = pd.DataFrame(ends.astype(float), columns=["lower", "upper"])
    layout = propensities.recommended_layout(5)
    truth = pd.DataFrame({"propensity": [4.1], "noise": [0.03]}, ["Ann"])
    evaluation = ml.simulate(layout, items, truth, seed=1)
    row = ml.fit(layout, evaluation, method="grid", seed=1, progressbar=False).profiles().iloc[0]
    assert row["low"] - 0.1 < 4.1 < row["high"] + 0.1
    one = propensities.published_layout(5)
    estimates = ml.estimation.estimate(one, evaluation)
    (surface,) = ml.plots.characteristic_surface(evaluation, subjects=["Ann"], estimates=estimates)
    assert surface.get_xlim()[0] < -5 < 5 < surface.get_xlim()[1]
    shown = pd.DataFrame({"model": "A", "incited": [-5, 5], "estimate": [-4.0, 4.0]})
    shown = shown.assign(low=shown["estimate"] - 1, high=shown["estimate"] + 1, identified=True)
    (panel,) = ml.plots.incited_against_obtained(shown)
    assert panel.get_ylim()[0] < -5 < 5 < panel.get_ylim()[1]


def test_annotated_bands_beyond_three():
    one, two = (pd.DataFrame({"low": [-5, at], "high": [at, 5]}, list("ab")) for at in (-4, 4))
    assert pooled({"one": one, "two": two}, ends=(-5, 5))["low"].tolist() == [-5, 0]
    assert open_ended(one, ends=(-5, 5))["low"].tolist() == [-np.inf, -4]


@pytest.mark.parametrize(("low", "high"), SCALES)
def test_the_circle_begins_at_the_scale_s_lowest_level(low, high):
    evaluation = answered(low, high, (low + high) / 2)
    items = evaluation.items.assign(space=evaluation.items["logic"].to_numpy()[::-1])
    three = ml.Evaluation(items, evaluation.successes, evaluation.trials)
    curves = characteristic_curves(three, ["logic", "volume", "space"], resamples=20, lowest=low)
    bottom, top = ml.plots.ability_radar(curves).get_ylim()
    assert bottom == low
    assert top > max(high, curves.table["ability"].max())


@pytest.mark.parametrize(("low", "high"), SCALES)
@pytest.mark.parametrize("declared", ["abilities", "demands"])
def test_the_circle_of_a_fit_begins_at_the_scale_s_lowest_level(low, high, declared):
    """That of the abilities where these have a range, and otherwise that of the demands."""
    labels = ("sums", "words", "maps")
    ends = {"low": low, "high": high} if declared == "abilities" else {}
    own = ends or {"prior": ml.Prior("Normal", mu=low + 2, sigma=2)}
    skill = ml.Capability("skill", unit="level", labels=labels, **own)
    demand = ml.MetaFeature("demand", low=low, high=high, unit="level", labels=labels)
    able = ml.linking.product(logistic(skill - demand), over="dimension")
    items = pd.DataFrame({f"demand[{label}]": [low, low + 1] for label in labels}, ["a", "b"])
    evaluation = ml.Evaluation.from_wide(pd.DataFrame([[1, 0]], ["Ann"], items.index), items)
    draws = np.random.default_rng(1).normal(low + 2.5, 0.1, (1, 2, 50, 3))
    layout = ml.Layout("quiz", ml.Success("solved", able))
    fit = small_layouts.crafted(layout, evaluation, {"skill": draws})
    assert ml.plots.ability_radar(fit).get_ylim()[0] == low


LAYOUTS = [adele.capability_layout, adele.additive_layout, adele.population_layout]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts_of_the_general_scales_take_a_highest_level(layout):
    five, ten = layout(), layout(highest=10)
    assert layout(highest=5).fingerprint == five.fingerprint != ten.fingerprint
    features = [feature for one in (five, ten) for feature in one.meta_features]
    ends = {(one.low, one.high) for one in features if one.name == "demand"}
    assert ends == {(0, 5), (0, 10)}


def test_batteries_of_the_general_scales_take_a_highest_level():
    """Level 10 is read, fitted, and refused where the scale ends at 5."""
    row = {"benchmark": "Quiz", "task": "logic"} | dict.fromkeys(adele.DEMANDS, 0)
    levels = np.arange(120) % 11
    table = pd.DataFrame([row] * 120).assign(instance_id=[f"q{n}" for n in range(120)], QLl=levels)
    table["UG"] = 90.0 + 10 * (np.arange(120) % 2)
    solved = np.random.default_rng(3).random(120) < logistic(7.0 - levels, 2.0)
    table = table.assign(Ann=solved.astype(int))
    with pytest.raises(ml.DataError, match="give whole levels of 0 to 5"):
        adele.read_battery(table, ["Ann"])
    with pytest.raises(ml.FitError, match=r"highest=9\.5; give a whole number"):
        adele.read_battery(table, ["Ann"], highest=9.5)
    evaluation = adele.read_battery(table, ["Ann"], highest=10)
    assert evaluation.items["demand[QLl]"].tolist() == levels.tolist()
    layout = adele.additive_layout(spread=1.0, highest=10)
    fit = ml.fit(layout, evaluation, draws=200, tune=200, chains=2, seed=1, progressbar=False)
    ends = evaluation.items.loc[["q0", "q10"]].set_axis(["easy", "hard"])
    easy, hard = fit.forecast(ends).data["mean"].to_numpy().ravel()
    assert easy > 0.9 > 0.1 > hard
