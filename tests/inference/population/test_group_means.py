"""Means over groups of items: those of the draws, as uncertain as what the items share."""

import numpy as np
import pandas as pd
import pytest
from helpers import graded_layouts, joint_fits, small_layouts
from scipy.special import expit

import measurement_layouts as ml
from measurement_layouts import DataError
from measurement_layouts.linking import logistic

TRAINING = pd.DataFrame(
    {"objects": [2.0, 3.0, 4.0, 5.0], "kind": list("aabb")}, index=["i2", "i3", "i4", "i5"]
)
NEW = pd.DataFrame({"objects": [2.5, 9.0], "kind": list("ab")}, index=["inside", "far"])
OBJECTS = ml.MetaFeature("objects", low=1, high=9)
MEMORY = ml.Capability("memory", low=0, high=9)


def evaluation():
    done = pd.DataFrame(1, index=["Ann", "Bob"], columns=TRAINING.index)
    return ml.Evaluation(TRAINING, done, done)


def memories():
    """Draw the memory of Ann and Bob: normal about 4 and 5 with sd 0.3."""
    return np.random.default_rng(1).normal([4.0, 5.0], 0.3, (1000, 2))


@pytest.fixture(scope="module")
def fit():
    layout = ml.Layout("counting", ml.Success("right", logistic(MEMORY - OBJECTS)))
    draws = memories().T.reshape(2, 2, 500)
    return small_layouts.crafted(layout, evaluation(), {"memory": draws})


def test_group_means_are_means_of_the_formula_also_beyond_the_training_items(fit):
    means = fit.group_means(NEW, dict.fromkeys(NEW.index, "g"), subjects=["Bob"])
    draws = fit.posterior["memory"].sel(subject="Bob").to_numpy().ravel()
    chances = expit(draws - NEW["objects"].to_numpy()[:, None])
    exact = [chances.mean(), *np.quantile(chances.mean(axis=0), [0.05, 0.95])]
    assert means[["mean", "low", "high"]].to_numpy()[0] == pytest.approx(exact, abs=1e-9)
    assert means[["subject", "group", "items"]].to_numpy().tolist() == [["Bob", "g", 2]]
    far = fit.forecast(NEW, subjects=["Bob"]).data.sel(subject="Bob", item="far")
    ends = [chances[1].mean(), *np.quantile(chances[1], [0.05, 0.95])]
    assert [float(far[name]) for name in ("mean", "low", "high")] == pytest.approx(ends, abs=1e-9)


def test_items_without_a_group(fit):
    with pytest.raises(DataError, match="item far has no group; give one to each item"):
        fit.group_means(NEW, {"inside": "b"})


def test_outcomes_of_several_steps_have_no_group_means():
    layout = graded_layouts.layout(graded_layouts.score())
    items = graded_layouts.items(2)
    outcomes = pd.DataFrame({"subject": "Ann", "item": items.index, "outcome": 0.5})
    done = ml.Evaluation.of_outcomes(layout, {layout.outcomes[0].name: outcomes}, items)
    rng = np.random.default_rng(1)
    posterior = {latent.name: rng.uniform(0.1, 0.9, (1, 1, 40)) for latent in layout.latents}
    graded = small_layouts.crafted(layout, done, posterior)
    with pytest.raises(DataError, match="outcomes of several steps; group_means needs a layout"):
        graded.group_means(items, dict.fromkeys(items.index, "g"))


def test_the_effect_of_a_new_group_widens_its_mean_as_much_as_one_item(fit):
    """The spread of kinds is 1; twin: without the effect, the mean is that of the memory alone."""
    ease = ml.Bias(
        "ease",
        per=ml.Category("kind"),
        prior=ml.Prior("Normal", mu=0, sigma=ml.Spread("easeSpread")),
    )
    layout = ml.Layout("kinds", ml.Success("right", logistic(MEMORY - OBJECTS + ease)))
    eases = np.random.default_rng(2).normal(0, 0.1, (1000, 2))
    draws = {"memory": memories(), "ease": eases, "easeSpread": np.ones(1000)}
    effects = joint_fits.crafted(layout, evaluation(), draws)
    items = pd.DataFrame({"objects": 4.5, "kind": "c"}, index=[f"n{place}" for place in range(40)])
    one = effects.forecast(items.iloc[[0]]).data.sel(item="n0")
    mean = effects.group_means(items, "kind").set_index("subject")
    for name in ("mean", "low", "high"):
        assert mean[name].to_numpy() == pytest.approx(one[name].to_numpy(), abs=1e-9)
    low, high = (expit(np.array([-0.5, 0.5]) + sign * 1.645 * np.hypot(1, 0.3)) for sign in (-1, 1))
    assert mean["low"].to_numpy() == pytest.approx(low, abs=0.03)
    assert mean["high"].to_numpy() == pytest.approx(high, abs=0.03)
    alone = fit.group_means(items, "kind")
    assert (alone["high"] - alone["low"] < 0.5 * (high - low)).all()
