"""Items' places on the scale of a capability: against formulas and a solver, draw by draw."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from helpers import joint_fits, small_layouts, small_populations
from scipy.optimize import brentq
from scipy.special import expit

import measurement_layouts as ml
from measurement_layouts import FitError
from measurement_layouts.inference.population.item_places import item_places
from measurement_layouts.linking import logistic

CHAINS, DRAWS = 2, 60


def summary(draws, prob=0.9):
    """Order statistics over (draws, items), as the table has them."""
    tail = (1 - prob) / 2
    return np.quantile(draws, [0.5, tail, 1 - tail], axis=0, method="inverted_cdf").T


@pytest.fixture(scope="module")
def rasch():
    rng = np.random.default_rng(3)
    ease = rng.normal(size=(CHAINS, DRAWS, 7))
    ability = rng.normal(size=(CHAINS, DRAWS, 12))
    evaluation = small_populations.cohort()
    given = {"ease": ease - ease.mean(-1, keepdims=True), "ability": ability}
    return small_populations.crafted(joint_fits.rasch(), evaluation, given)


@pytest.fixture(scope="module")
def schools():
    rng = np.random.default_rng(4)
    shapes = {"liking": (12, 2), "favour": (3, 2), "ability": (12,)}
    given = {name: rng.normal(size=(CHAINS, DRAWS, *shape)) for name, shape in shapes.items()}
    evaluation = small_populations.cohort()
    return small_populations.crafted(small_populations.schools(), evaluation, given), given


def test_rasch_items_stand_at_minus_their_ease(rasch):
    found = item_places(rasch)
    ease = rasch.posterior["ease"].to_numpy().reshape(-1, 7)
    assert np.allclose(found[["place", "low", "high"]], summary(-ease), atol=1e-6)
    assert found["item"].tolist() == [f"i{k:03d}" for k in range(7)]
    assert (found["reached"] == 1).all()
    assert (found["beyond"] == "").all()
    wider = item_places(rasch, prob=0.99)
    assert np.allclose(wider[["place", "low", "high"]], summary(-ease, 0.99), atol=1e-6)


def test_what_subjects_have_is_averaged_over_them(schools):
    """The average subject: of likings per task, and of schools as often as subjects go there."""
    fit, given = schools
    items, own = small_populations.cohort().items, small_populations.cohort().subject_table
    task = (items["task"] == "b").to_numpy().astype(int)
    school = own["school"].map(["x", "y", "z"].index).to_numpy()
    liking = given["liking"].mean(axis=2)[..., task]
    favour = given["favour"][:, :, school].mean(axis=2)[..., task]
    expected = items["size"].to_numpy() - liking - favour
    found = item_places(fit)[["place", "low", "high"]]
    assert np.allclose(found, summary(expected.reshape(-1, 7)), atol=1e-6)
    without = items["size"].to_numpy() - liking  # schools forgotten
    assert not np.allclose(found, summary(without.reshape(-1, 7)), atol=1e-2)


def test_products_as_a_solver_has_them(fitted):
    """Each subject alone: the other capability, noise and bias are those of the average one."""
    found = item_places(fitted).set_index(["node", "item"])
    layout, constants = fitted.layout, fitted.constants
    own = {
        latent.name: fitted.posterior[latent.name].to_numpy().reshape(-1, 6).T
        for latent in layout.latents
    }
    count = own["noiseLevel"].shape[1]
    chosen = np.unique(np.linspace(0, count - 1, 300).round().astype(int))
    mean = {name: values.mean(axis=0)[chosen] for name, values in own.items()}
    chance = constants[layout.constants[0].name].to_numpy().mean()
    feature = {name: constants[name].to_numpy() for name in ("rewardSize", "rewardDistance")}
    behind, side = (constants[name].to_numpy() for name in ("rewardBehind", "XPos"))
    for item in (0, 9, 20):

        def success(visual, draw, item=item):
            way = feature["rewardDistance"][item] * (0.5 * behind[item] + 1)
            bias = mean["rightLeftBias"][draw] * side[item]
            navigate = expit(mean["navigationAbility"][draw] - way + bias)
            see = expit(visual - feature["rewardSize"][item])
            noise = mean["noiseLevel"][draw]
            return (1 - noise) * navigate * see + noise * chance

        places = []
        for draw in range(len(chosen)):
            low, high = success(0.0, draw) - 0.5, success(1.9, draw) - 0.5
            inside = low < 0 < high
            edge = np.inf if high <= 0 else -np.inf
            places.append(brentq(lambda x, d=draw: success(x, d) - 0.5, 0, 1.9) if inside else edge)
        row = found.loc[("visualAbility", f"item-{item:02d}")]
        expected = summary(np.array(places)[:, None])[0]
        assert row["reached"] == np.isfinite(places).mean()
        if np.isfinite(expected[0]):
            assert row["place"] == pytest.approx(expected[0], abs=1e-6)
        else:
            assert np.isnan(row["place"])
            assert row["beyond"] == ("harder" if expected[0] > 0 else "easier")
        assert row[["low", "high"]].to_numpy(float) == pytest.approx(expected[1:], abs=1e-6)


def labelled_fit(level):
    """Two abilities, both needed; the draws hardly vary."""
    layout = small_layouts.labelled()
    items = pd.DataFrame(
        {"demand[AS]": [0.1, 1.0, 4.9], "demand[CEc]": [0.1, 0.5, 4.9]}, index=list("abc")
    )
    evaluation = ml.Evaluation.from_wide(pd.DataFrame([[1, 1, 0]], ["Ann"], list("abc")), items)
    draws = np.broadcast_to(np.array(level), (1, 2, 20, 2)).copy()
    return small_layouts.crafted(layout, evaluation, {"ability": draws}), items


def test_items_beyond_the_scale():
    """No level is enough where something else is lacking; any is enough for what is easy."""
    fit, _ = labelled_fit([2.0, 0.3])
    found = item_places(fit, "ability[AS]")
    assert found["beyond"].tolist() == ["", "harder", "harder"]
    assert found["place"].isna().tolist() == [False, True, True]
    assert found["reached"].tolist() == [1, 0, 0]
    assert found["low"].tolist()[1:] == [np.inf, np.inf]
    skill, demand = ml.Capability("skill", 0, 5), ml.MetaFeature("demand", low=-9, high=9)
    layout = ml.Layout("one", ml.Success("ok", logistic(skill - demand)))
    items = pd.DataFrame({"demand": [-3.0, 2.0, 7.0]}, index=list("abc"))
    evaluation = ml.Evaluation.from_wide(pd.DataFrame([[1, 1, 0]], ["Ann"], list("abc")), items)
    easy = small_layouts.crafted(layout, evaluation, {"skill": np.full((1, 1, 9), 2.5)})
    found = item_places(easy)
    assert found["beyond"].tolist() == ["easier", "", "harder"]
    assert found["place"][1] == pytest.approx(2.0, abs=1e-6)


def test_what_cannot_be_placed(rasch, fitted):
    with pytest.raises(FitError, match=r"scale of a capability, and noiseLevel is a noise"):
        item_places(fitted, ["visualAbility", "noiseLevel"])
    with pytest.raises(FitError, match=r"no profile element ease"):
        item_places(rasch, "ease")
    with pytest.raises(FitError, match=r"prob=2"):
        item_places(rasch, prob=2)
    bias = ml.Layout("biased", ml.Success("ok", logistic(ml.Bias("lean"))))
    coins = small_layouts.counts([1], [2])
    fit = small_layouts.crafted(bias, coins, {"lean": np.ones((1, 1, 9))})
    with pytest.raises(FitError, match=r"layout 'biased' has no capability with a value"):
        item_places(fit)


def test_several_outcomes_and_the_unseen_are_refused(fitted):
    skill, demand = ml.Capability("skill", 0, 9), ml.MetaFeature("demand", low=0, high=9)
    graded = ml.Graded("grade", logistic(skill - demand), grades=("bad", "good", "best"))
    layout = ml.Layout("graded", graded)
    with pytest.raises(FitError, match=r"'graded' has outcomes in steps"):
        item_places(dataclasses.replace(fitted, layout=layout))
    part = ml.Unseen("part", 0.0, 1.0)
    layout = ml.Layout("unseen", ml.Success("ok", logistic(skill - demand - part)))
    with pytest.raises(FitError, match=r"part is unseen in layout 'unseen'"):
        item_places(dataclasses.replace(fitted, layout=layout))
