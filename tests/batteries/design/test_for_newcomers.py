"""Batteries for newcomers to a population: against the posteriors of simulated newcomers."""

import numpy as np
import pandas as pd
import pytest
from helpers import joint_fits
from helpers.populations import normal

import measurement_layouts as ml
from measurement_layouts.batteries import Quota, design
from measurement_layouts.batteries.design.start import Newcomers
from measurement_layouts.linking import logistic

SLOPE, SPREAD, MEAN = 1.5, 1.5, 5.0
DEMAND = ml.MetaFeature("demand", low=0, high=10)
EASE = np.random.default_rng(8).normal(0, 1, 12)
"""Of the items that were fitted."""


def together(**options):
    """Abilities about a mean of the population, and items with an ease of their own."""
    about = ml.Bias("mean", per="population")
    if options.get("people"):
        about = about + ml.Bias("gain", per="population") * ml.MetaFeature(
            "tests", low=-3, high=3, per="subject"
        )
    margin = ml.Capability("ability", prior=normal(about, ml.Spread("spread"))) - DEMAND
    if options.get("eased", True):
        ease = ml.Bias("ease", per="item", prior=normal(0, ml.Spread("easeSpread")))
        margin = margin + ease
    if options.get("liking"):
        liking = ml.Bias("liking", per=("subject", ml.Category("task")), prior=normal(0, 0.5))
        margin = margin + liking
    return ml.Layout("together", ml.Success("solved", logistic(SLOPE * margin)))


def alone():
    """One subject by itself, about whom the prior knows less."""
    ability = ml.Capability("ability", prior=normal(MEAN, 2 * SPREAD))
    return ml.Layout("alone", ml.Success("solved", logistic(SLOPE * (ability - DEMAND))))


def items(kind, count=12):
    return pd.DataFrame({"demand": np.linspace(1, 9, count)}, [f"{kind}{k}" for k in range(count)])


def population(count, rng, apart):
    """What a fit could say of the population: its draws."""
    return {
        "mean": rng.normal(MEAN, 0.3, count),
        "spread": np.abs(rng.normal(SPREAD, 0.1, count)),
        "easeSpread": np.abs(rng.normal(apart, 0.1, count)),
        "ease": rng.normal(apart * EASE, 0.3, (count, len(EASE))),
    }


def fitted(layout=None, apart=1.0, **draws):
    """A joint fit of four others, of given draws."""
    layout, rng = layout or together(), np.random.default_rng(5)
    who = pd.DataFrame({"tests": [0.5, -0.5, 1.0, 0.0]}, [*"abcd"])
    table = pd.DataFrame(rng.integers(0, 2, (4, 12)), who.index, items("old").index)
    known = ml.Evaluation.from_wide(table, items("old").assign(task="x"), subjects=who)
    every = population(400, rng, apart) | {"ability": rng.normal(MEAN, SPREAD, (400, 4))} | draws
    made = joint_fits.random_draws(layout, known, 400, seed=1)
    return joint_fits.crafted(layout, known, {name: every.get(name, made[name]) for name in made})


def realised(battery, rng, apart=1.0, subjects=300, draws=6000):
    """Mean posterior sd of simulated newcomers: draws of all that is unknown, weighted.

    Each newcomer has a population, an ability and items that are drawn as all the others are.
    """
    every = population(draws + subjects, rng, apart)
    ability = rng.normal(every["mean"], every["spread"])
    old = items("old").index
    ease = [
        every["ease"][:, old.get_loc(name)] if name in old else rng.normal(0, every["easeSpread"])
        for name in battery.index
    ]
    margin = ability[:, None] + np.stack(ease, axis=1) - battery["demand"].to_numpy()
    chance = (1 / (1 + np.exp(-SLOPE * margin))).clip(1e-9, 1 - 1e-9)
    right = rng.random((subjects, len(battery))) < chance[draws:]
    log = right @ np.log(chance[:draws]).T + ~right @ np.log1p(-chance[:draws]).T
    weights = np.exp(log - log.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    assert np.median(1 / (weights**2).sum(axis=1)) > 300
    own = ability[:draws]
    return np.sqrt(weights @ own**2 - (weights @ own) ** 2).mean()


@pytest.mark.trust("oracles", "a design for newcomers to a population, by simulated newcomers")
@pytest.mark.parametrize(("kind", "n"), [("old", 5), ("old", 10), ("new", 5), ("new", 10)])
def test_expected_sd_is_that_of_simulated_newcomers(kind, n, rng):
    """Within 8 %, as for a subject alone: 300 newcomers and 200 draws know theirs to 2 or 3 %.

    Twin: without the population, more is left open.
    """
    found = design(together(), items(kind), n, given=fitted())
    exact = realised(found.battery, rng)
    assert found.latents.loc["ability", "after"] == pytest.approx(exact, rel=0.08)
    assert found.latents.loc["ability", "before"] == pytest.approx(1.54, rel=0.05)
    assert len(found.curve) == n + 1
    without = design(alone(), items(kind), n)
    assert without.latents.loc["ability", "after"] > 1.08 * exact or kind == "new"


@pytest.mark.trust("oracles", "a design on items whose own effects are unknown")
def test_items_that_nobody_has_tried_tell_less(rng, monkeypatch):
    """Eases of new items scatter by 2: the sd is within 8 %, and known items are preferred.

    Twin: with one draw of the effects in place of their average, answers would tell far more.
    """
    fit = fitted(apart=2.0)
    both = pd.concat([items("new"), items("old")])
    assert design(together(), both, 8, given=fit).battery.index.str.startswith("old").all()
    found = design(together(), items("new"), 10, given=fit)
    exact = realised(found.battery, rng, apart=2.0, subjects=150, draws=20_000)
    assert found.latents.loc["ability", "after"] == pytest.approx(exact, rel=0.08)
    every = Newcomers._targets
    monkeypatch.setattr(Newcomers, "_targets", lambda self: [next(iter(every(self)))])
    wrong = design(together(), items("new"), 10, given=fit)
    assert wrong.latents.loc["ability", "after"] < 0.85 * exact


def test_a_population_without_effects_of_items():
    """One item that is as good as a threshold, asked again and again: as for a known subject."""
    layout = together(eased=False)
    fit = fitted(layout)
    found = design(layout, items("new"), 9, given=fit, repeats=9)
    assert len(found.battery) == 9
    assert found.battery.index.has_duplicates
    prior = normal(MEAN, float(found.latents.loc["ability", "before"]))
    one = ml.Capability("ability", prior=prior)
    same = ml.Layout("one", ml.Success("solved", logistic(SLOPE * (one - DEMAND))))
    known = design(same, items("new"), 9, repeats=9)
    after = known.latents.loc["ability", "after"]
    assert found.latents.loc["ability", "after"] == pytest.approx(after, rel=0.04)


def test_quotas_costs_and_the_seed():
    fit = fitted()
    quotas = [Quota("demand", high=2, least=2), Quota("demand", low=8, most=1)]
    first, again = (
        design(together(), items("new"), 8, given=fit, quotas=quotas, seed=4) for _ in range(2)
    )
    pd.testing.assert_frame_equal(first.battery, again.battery)
    pd.testing.assert_frame_equal(first.curve, again.curve)
    assert (first.battery["demand"] <= 2).sum() >= 2
    assert (first.battery["demand"] >= 8).sum() <= 1


def test_newcomers_of_whom_something_is_known():
    """Who had good results at school is given harder items; twin: who had bad ones."""
    layout = together(people=True)
    fit = fitted(layout, gain=np.random.default_rng(2).normal(1.5, 0.05, 400))
    asked = {
        tests: design(
            layout, items("new"), 4, given=fit, subject=pd.DataFrame({"tests": [tests]}, ["Zed"])
        ).battery["demand"]
        for tests in (-2.0, 2.0)
    }
    assert asked[-2.0].mean() + 3 < asked[2.0].mean()
    with pytest.raises(ml.DataError, match="tests"):
        design(layout, items("new"), 4, given=fit)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        (
            {"subject": "a"},
            ml.FitError,
            "joint fit with this subject, and a battery is designed for new",
        ),
        ({"subject": "Zed"}, ml.FitError, "joint fit without this subject, .* leave subject out"),
        ({"subject": pd.DataFrame(index=["a"])}, ml.DataError, "a is in this fit already"),
        (
            {"subject": pd.DataFrame(index=["Y", "Z"])},
            ml.DataError,
            "the evaluation has 2 subjects",
        ),
        ({"bank": items("old").assign(demand=2.0)}, ml.DataError, "old0 is in the fit with demand"),
        ({"bank": items("new").assign(demand=12.0)}, ml.DataError, "outside its declared range"),
    ],
)
def test_what_a_population_cannot_start_is_refused(options, error, message):
    options = {"bank": items("new"), "given": fitted()} | options
    with pytest.raises(error, match=message):
        design(together(), **options)


def test_layouts_that_are_refused():
    with pytest.raises(
        ml.LayoutError, match=r"share mean, spread, .*; give the joint fit of others"
    ):
        design(together(), items("new"))
    liking = together(liking=True)
    with pytest.raises(ml.LayoutError, match="each subject has a value of liking"):
        design(liking, items("new").assign(task="x"), given=fitted(liking))
    with pytest.raises(ml.FitError, match="given is a fit of layout 'together'"):
        design(alone(), items("new"), given=fitted())
    people = pd.DataFrame({"tests": [1.0]}, ["Zed"])
    with pytest.raises(ml.FitError, match="layout 'alone' does not use"):
        design(alone(), items("new"), subject=people)
