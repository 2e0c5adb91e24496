"""Derived nodes: summaries over draws of formulas written by hand, named as the layout does.

Tolerance 1e-12: means over some hundred draws of values of about 1, each rounded to 1e-16.
"""

import numpy as np
import pandas as pd
import pytest
from helpers import hand_written, small_layouts
from scipy.special import expit

import measurement_layouts as ml
from measurement_layouts import DataError, FitError
from measurement_layouts.linking import generalised_mean, logistic

ROUNDING = 1e-12


def summary(draws, prob):
    """Mean, low and high of (draws, ...), last axis."""
    low, high = np.quantile(draws, [(1 - prob) / 2, (1 + prob) / 2], axis=0)
    return np.stack([draws.mean(axis=0), low, high], axis=-1)


def test_every_node_by_hand(fitted, new_items):
    found = fitted.derived(new_items, prob=0.8)
    assert list(found) == [
        "rightLeftEffect",
        "navigationPerformance",
        "visualPerformance",
        "taskPerformance",
    ]
    assert found.attrs == {"prob": 0.8}
    assert found["summary"].to_numpy().tolist() == ["mean", "low", "high"]
    assert found["item"].to_numpy().tolist() == list(new_items.index)
    distance, behind, size, x_pos = (
        new_items[name].to_numpy(float)
        for name in ("rewardDistance", "rewardBehind", "rewardSize", "XPos")
    )
    for subject in fitted.subjects:
        own = {
            name: fitted.posterior[name].sel(subject=subject).to_numpy().reshape(-1, 1)
            for name in hand_written.ANIMAL_AI
        }
        effect = own["rightLeftBias"] * x_pos
        see = expit(own["visualAbility"] - size)
        walk = expit(own["navigationAbility"] - distance * (behind / 2 + 1) + effect)
        failure = float(fitted.constants["meanFailure"].sel(subject=subject))
        done = (1 - own["noiseLevel"]) * walk * see + own["noiseLevel"] * failure
        for name, draws in zip(found, (effect, walk, see, done), strict=True):
            assert found[name].dims == ("subject", "item", "summary")
            ours = found[name].sel(subject=subject).to_numpy()
            assert np.abs(ours - summary(draws, 0.8)).max() < ROUNDING


def test_the_outcome_is_the_forecast(fitted, new_items):
    forecast = fitted.forecast(new_items).data
    found = fitted.derived(new_items, "taskPerformance")
    assert list(found) == ["taskPerformance"]
    for name in ("mean", "low", "high"):
        ours = found["taskPerformance"].sel(summary=name)
        assert (ours.to_numpy() == forecast[name].to_numpy()).all()


@pytest.fixture
def labelled(rng):
    """Labels, units, a part of meta-features only, one of latents only, and one of two labels."""
    skills = ("read", "write")
    demand = ml.MetaFeature("demand", low=0, high=5, unit="level", labels=skills, dim="skill")
    talent = ml.Capability("talent", low=0, high=5, unit="level", labels=skills, dim="skill")
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
    return fit, items, draws.reshape(2, 50, 2)


def test_labels_and_units(labelled):
    fit, items, draws = labelled
    found = fit.derived(items, ["rest", "hard", "able"], subjects=["Bob"])
    assert list(found) == ["rest", "hard", "able"]
    assert found["hard"].dims == found["rest"].dims == ("subject", "item", "skill", "summary")
    assert found["able"].dims == ("subject", "item", "skill", "axis", "summary")
    assert {name: found[name].attrs for name in found} == {
        "rest": {"units": "level"},
        "hard": {"units": "level"},
        "able": {},
    }
    assert found["skill"].to_numpy().tolist() == ["read", "write"]
    demand, place = items.to_numpy()[:, :2], items.to_numpy()[:, 2:]
    for name in ("mean", "low", "high"):  # nothing to be uncertain of, exactly
        assert (found["hard"].sel(summary=name, subject="Bob") == 2 * demand).all()
    rest = summary(draws[1] - 1, 0.9)
    assert np.abs(found["rest"].sel(subject="Bob").to_numpy() - rest).max() < ROUNDING
    able = expit(draws[1][:, None, :, None] - 2 * demand[:, :, None]) * place[:, None, :]
    assert np.abs(found["able"].sel(subject="Bob").to_numpy() - summary(able, 0.9)).max() < ROUNDING


def test_only_the_dimensions_in_use(labelled):
    fit, items, _ = labelled
    assert set(fit.derived(items, "done").coords) == {"subject", "item", "summary"}
    assert fit.derived(items.iloc[:0]).sizes["item"] == 0
    assert fit.derived(items, subjects=[]).sizes["subject"] == 0


@pytest.mark.parametrize("nodes", ["talents", ["rest", "talents"], [], "demand"])
def test_unknown_nodes(labelled, nodes):
    message = r"layout 'letters' has no derived node .*; it has hard, able, rest, done"
    with pytest.raises(FitError, match=message):
        labelled[0].derived(labelled[1], nodes)


def test_errors_of_forecasts(fitted, new_items):
    with pytest.raises(FitError, match="prob=2; give a number between 0 and 1"):
        fitted.derived(new_items, prob=2)
    with pytest.raises(FitError, match="not in this fit: Eve"):
        fitted.derived(new_items, subjects=["Eve"])
    with pytest.raises(DataError, match="XPos: the items have no column"):
        fitted.derived(new_items.drop(columns="XPos"))


def test_a_layout_that_uses_the_name_of_the_dimension(rng):
    demand = ml.MetaFeature("demand", low=0, high=5)
    part = ml.Derived("summary", logistic(ml.Capability("skill", low=0, high=5) - demand))
    layout = ml.Layout("names", ml.Success("done", part * 0.5))
    items = pd.DataFrame({"demand": [0.0, 1.0]})
    fit = small_layouts.crafted(
        layout,
        small_layouts.counts([1, 0], [1, 1], items=items),
        {"skill": rng.uniform(0, 5, (1, 1, 4))},
    )
    with pytest.raises(FitError, match=r"layout 'names' has a node .* 'summary'.*; rename it"):
        fit.derived(items)
    assert list(fit.derived(items, "done")) == ["done"]
