"""Numbers of the user's own: draws of formulas written by hand, at levels and on items.

Tolerance 1e-12: values of about 1, each rounded to 1e-16.
"""

import arviz_stats
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from helpers import hand_written, joint_fits, small_layouts
from scipy.special import expit
from scipy.stats import norm

import measurement_layouts as ml
from measurement_layouts import DataError, FitError
from measurement_layouts.linking import generalised_mean, logistic

ROUNDING = 1e-12
SKILLS = ("read", "write")


def test_every_node_on_items_by_hand(fitted, new_items):
    distance, behind, size, x_pos = (
        new_items[name].to_numpy(float)
        for name in ("rewardDistance", "rewardBehind", "rewardSize", "XPos")
    )
    for subject in fitted.subjects:
        own = {
            name: fitted.posterior[name].sel(subject=subject).to_numpy()[..., None]
            for name in hand_written.ANIMAL_AI
        }
        effect = own["rightLeftBias"] * x_pos
        see = expit(own["visualAbility"] - size)
        walk = expit(own["navigationAbility"] - distance * (behind / 2 + 1) + effect)
        failure = float(fitted.constants["meanFailure"].sel(subject=subject))
        by_hand = {
            "rightLeftEffect": effect,
            "navigationPerformance": walk,
            "visualPerformance": see,
            "taskPerformance": (1 - own["noiseLevel"]) * walk * see + own["noiseLevel"] * failure,
        }
        for name, draws in by_hand.items():
            found = fitted.derive(name, new_items, subjects=[subject])
            assert found.dims == ("chain", "draw", "subject", "item")
            assert np.abs(found.to_numpy()[:, :, 0] - draws).max() < ROUNDING
    forecast = fitted.forecast(new_items)
    assert forecast.draws.identical(fitted.derive("taskPerformance", new_items))


@pytest.fixture
def labelled(rng):
    """Labels, units, a part of meta-features only, one of latents only, and one of two labels."""
    demand = ml.MetaFeature("demand", low=0, high=5, unit="level", labels=SKILLS, dim="skill")
    talent = ml.Capability("talent", low=0, high=5, unit="level", labels=SKILLS, dim="skill")
    place = ml.MetaFeature("place", levels=(0, 1), labels=("x", "y", "z"), dim="axis")
    hard = ml.Derived("hard", 2 * demand)
    rest = ml.Derived("rest", talent - 1)
    able = ml.Derived("able", logistic(talent - hard) * place)
    both = generalised_mean(able, power=1, over="skill")
    layout = ml.Layout(
        "letters",
        ml.Success(
            "done",
            generalised_mean(both, power=1, over="axis")
            * logistic(generalised_mean(rest + 1, power=1, over="skill") - 1),
        ),
    )
    columns = [*demand.columns, *place.columns]
    items = pd.DataFrame(rng.choice(2, (4, 5)).astype(float), columns=columns, index=list("abcd"))
    items.iloc[3] = items.iloc[0]
    draws = rng.uniform(1, 5, (2, 2, 25, 2))
    outcomes = pd.DataFrame([[1, 0, 1, 0], [1, 1, 1, 0]], ["Ann", "Bob"], items.index)
    fit = small_layouts.crafted(layout, ml.Evaluation.from_wide(outcomes, items), {"talent": draws})
    return fit, items, draws


def test_labels_and_units(labelled):
    fit, items, draws = labelled
    demand, place = items.to_numpy()[:, :2], items.to_numpy()[:, 2:]
    hard, able = (fit.derive(name, items, subjects=["Bob"]) for name in ("hard", "able"))
    assert hard.dims == ("chain", "draw", "subject", "item", "skill")
    assert able.dims == (*hard.dims, "axis")
    assert (hard.attrs, able.attrs) == ({"units": "level"}, {})
    assert (hard == 2 * demand).all()
    wanted = expit(draws[1][:, :, None, :, None] - 2 * demand[:, :, None]) * place[:, None, :]
    assert np.abs(able.to_numpy()[:, :, 0] - wanted).max() < ROUNDING
    rest = fit.derive("rest")  # of latents only, so that no items are needed
    assert rest.dims == ("chain", "draw", "subject", "skill")
    assert (rest.sel(subject="Bob") == draws[1] - 1).all()
    talent = fit.layout.nodes["talent"]
    mean = fit.derive(generalised_mean(talent, power=1, over="skill"), subjects=["Bob"])
    np.testing.assert_allclose(mean[:, :, 0], draws[1].mean(axis=-1))


def test_what_is_selected_is_what_all_have(labelled):
    """One subject, some draws, items and labels, in another order, against everything at once."""
    fit, items, _ = labelled
    lazy = fit.derive("able", items)
    everything = lazy.to_numpy()
    selected = lazy.isel(chain=1, draw=[7, 2], item=slice(3, 0, -1), skill=[1], axis=2)
    assert (selected.to_numpy() == everything[1][[7, 2]][:, :, 3:0:-1, [1], 2]).all()
    assert (lazy.sel(subject="Bob", item="c") == everything[:, :, 1, 2]).all()
    assert fit.derive("able", items.iloc[:0]).sizes["item"] == 0
    assert fit.derive("able", items, subjects=[]).sizes["subject"] == 0
    assert len(ml.summarise(fit.derive("able", items, subjects=[]))) == 0


@pytest.fixture(scope="module")
def quiz():
    """A joint fit: abilities, eases of items of a kind, a slope that all share."""
    ability = ml.Capability("ability", prior=ml.Prior("Normal", mu=0, sigma=ml.Spread("sd")))
    kind = ml.Category("kind")
    family = ml.Category("family", per=kind)
    mood = ml.Effect("mood", per=family, prior=ml.Prior("Normal", mu=0, sigma=1))
    shift = ml.Effect("shift", per=kind, prior=ml.Prior("Normal", mu=0, sigma=1))
    ease = ml.Effect("ease", per="item", prior=ml.Prior("Normal", mu=0, sigma=1))
    slope = ml.Slope("slope", per="population", prior=ml.Prior("LogNormal", mu=0, sigma=0.5))
    layout = ml.Layout(
        "quiz", ml.Success("solved", logistic(slope * ability + ease + shift + mood))
    )
    items = pd.DataFrame({"kind": ["x", "y", "x"], "family": ["f", "g", "f"]}, index=list("abc"))
    outcomes = pd.DataFrame([[1, 0, 1], [0, 1, 0], [1, 1, 1]], ["Ann", "Bob", "Cy"], items.index)
    rng = np.random.default_rng(4)
    draws = {
        "ability": rng.normal(size=(1000, 3)),
        "ease": rng.normal(size=(1000, 3)),
        "shift": rng.normal(size=(1000, 2)),
        "mood": rng.normal(size=(1000, 2)),
        "slope": np.exp(rng.normal(size=1000)),
        "sd": np.ones(1000),
    }
    return joint_fits.crafted(layout, ml.Evaluation.from_wide(outcomes, items), draws), draws, items


def test_levels_are_dimensions(quiz):
    fit, draws, _ = quiz
    node = fit.layout.nodes
    difficulty = fit.derive(-node["ease"] / node["slope"])
    assert difficulty.dims == ("chain", "draw", "item")
    by_hand = -draws["ease"] / draws["slope"][:, None]
    np.testing.assert_allclose(difficulty.to_numpy().reshape(1000, 3), by_hand)
    gap = fit.derive("shift")
    gap = gap.sel(kind="x") - gap.sel(kind="y")
    assert (gap.to_numpy().ravel() == draws["shift"] @ [1, -1]).all()
    both = fit.derive(node["shift"] + node["mood"])  # each kind has the mood of its family
    assert both.dims == ("chain", "draw", "kind")
    np.testing.assert_allclose(both.to_numpy().reshape(1000, 2), draws["shift"] + draws["mood"])
    margin = fit.derive(node["slope"] * node["ability"] + node["ease"] + node["shift"])
    assert margin.dims == (
        "chain",
        "draw",
        "subject",
        "item",
    )  # each item has the shift of its kind
    wanted = (draws["slope"][:, None] * draws["ability"])[:, :, None]
    wanted = wanted + (draws["ease"] + draws["shift"][:, [0, 1, 0]])[:, None, :]
    np.testing.assert_allclose(margin.to_numpy().reshape(wanted.shape), wanted)


def test_correlations_draw_by_draw(quiz):
    fit, draws, _ = quiz
    ability = fit.layout.nodes["ability"]
    found = fit.correlation("ability", ability**3).to_numpy().ravel()
    by_hand = [np.corrcoef(values, values**3)[0, 1] for values in draws["ability"]]
    np.testing.assert_allclose(found, by_hand)
    with pytest.raises(FitError, match="give two quantities with a value for each of at least thr"):
        fit.correlation("ability", "shift")


def test_summaries_are_those_of_a_normal_posterior_and_of_arviz(rng):
    """Memory ~ Normal(4, .5): seconds are 2^memory - 1, and memory is above 4.4 seconds' worth."""
    draws = xr.DataArray(rng.normal(4, 0.5, (4, 50_000)), dims=("chain", "draw"))
    (row,) = ml.summarise(2**draws - 1, prob=0.8, above=20).itertuples()
    error = 4 / np.sqrt(200_000)
    assert row.above == pytest.approx(norm.sf(np.log2(21), 4, 0.5), abs=error)
    ends = 2 ** norm.ppf([0.1, 0.9], 4, 0.5) - 1
    assert [row.low, row.high] == pytest.approx(ends, rel=3 * error)
    two = xr.concat([draws, draws * 2], pd.Index(["Ann", "Bob"], name="subject"))
    ours = ml.summarise(two)
    theirs = arviz_stats.summary(
        two.to_dataset(name="x"), kind="stats", ci_kind="eti", ci_prob=0.9, round_to="none"
    )
    assert ours["subject"].tolist() == ["Ann", "Bob"]
    np.testing.assert_allclose(ours[["mean", "sd", "low", "high"]], theirs, rtol=1e-5)


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("talents", "layout 'letters' has no"),
        (ml.Capability("wit", low=0, high=1) + 1, "has no node wit; it has"),
        ("done", "uses demand, a property of"),
        (ml.Capability("talent", low=0, high=1), "talent has labels .*use the"),
    ],
)
def test_expressions_that_cannot_be_evaluated(labelled, expression, message):
    with pytest.raises(FitError, match=message):
        labelled[0].derive(expression)


def test_errors_of_forecasts_and_of_summaries(fitted, new_items):
    with pytest.raises(FitError, match="not in this fit: Eve"):
        fitted.derive("taskPerformance", new_items, subjects=["Eve"])
    with pytest.raises(DataError, match="XPos: the items have no column"):
        fitted.derive("taskPerformance", new_items.drop(columns="XPos"))
    draws = fitted.derive("visualAbility")
    for wrong, message in (
        ({"draws": draws, "prob": 2}, "prob=2; give a number between 0 and 1"),
        ({"draws": draws, "above": "high"}, "above='high'; give draws with the dimensions chain"),
        ({"draws": draws.mean("draw")}, "draws have the dimensions chain, subject"),
        ({"draws": 3}, "draws: this is an int, not a DataArray; give draws, such as fit.derive"),
    ):
        with pytest.raises(FitError, match=message):
            ml.summarise(**wrong)
