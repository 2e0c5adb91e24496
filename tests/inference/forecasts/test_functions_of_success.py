"""Functions of success: against formulas written by hand on the same draws, and known integrals."""

import numpy as np
import pandas as pd
import pytest
from helpers import graded_layouts, joint_fits, small_layouts
from scipy.special import expit

import measurement_layouts as ml
from measurement_layouts import DataError, FitError
from measurement_layouts.linking import logistic

TRAINING = pd.DataFrame(
    {"objects": [2.0, 3.0, 4.0, 5.0], "kind": list("aabb")}, index=["i2", "i3", "i4", "i5"]
)
NEW = pd.DataFrame(
    {"objects": [2.5, 9.0, 4.0], "kind": list("aba")}, index=["inside", "far", "mid"]
)
OBJECTS = ml.MetaFeature("objects", low=1, high=9)
MEMORY = ml.Capability("memory", low=0, high=9)
NUMBERS = ["mean", "sd", "low", "high"]


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


@pytest.mark.parametrize("memory_mib", [0.05, 256])
def test_numbers_are_those_of_the_formula_on_the_draws(fit, memory_mib):
    chances = expit(memories().T[:, None, :] - NEW["objects"].to_numpy()[:, None])
    forecast = fit.forecast(NEW, memory_mib=memory_mib)
    np.testing.assert_allclose(
        forecast.draws, np.moveaxis(chances.reshape(2, 3, 2, 500), (2, 3), (0, 1)), rtol=1e-12
    )

    def by_hand(values):
        ends = np.quantile(values, [0.05, 0.95], axis=-1)
        return np.stack([values.mean(axis=-1), values.std(axis=-1, ddof=1), *ends], axis=-1)

    for table, values in (
        (forecast.summary(), chances.mean(axis=1)),
        (forecast.pass_at(8), (1 - (1 - chances) ** 8).mean(axis=1)),
        (forecast.all_of(3), (chances**3).mean(axis=1)),
        (forecast.total(), chances.sum(axis=1)),
        (forecast.summary(np.sqrt), np.sqrt(chances).mean(axis=1)),
    ):
        assert table["subject"].tolist() == ["Ann", "Bob"]
        assert (table["items"] == 3).all()
        np.testing.assert_allclose(table[NUMBERS], by_hand(values), rtol=1e-9)
    groups = np.stack([chances[:, [0, 2]].mean(axis=1), chances[:, 1]], axis=1)
    for by in ("kind", NEW["kind"], dict(NEW["kind"])):
        table = forecast.summary(by=by)
        assert table["group"].tolist() == ["a", "b"] * 2
        assert table["items"].tolist() == [2, 1] * 2
        np.testing.assert_allclose(table[NUMBERS], by_hand(groups).reshape(4, 4), rtol=1e-9)
    single = forecast.pass_at(2, by="item", above=0.9)
    both = 1 - (1 - chances) ** 2
    assert single["item"].tolist() == [*NEW.index] * 2
    np.testing.assert_allclose(single[NUMBERS], by_hand(both).reshape(6, 4), rtol=1e-9)
    np.testing.assert_allclose(single["above"], (both > 0.9).mean(axis=-1).ravel())
    assert (forecast.summary(by="item")["mean"] == forecast.data["mean"].to_numpy().ravel()).all()


def test_one_of_several_attempts_with_a_uniform_chance():
    """With p uniform, pass@k is k / (k + 1) and pass^k 1 / (k + 1); means would give 1 - .5^k."""
    skill = ml.Capability("skill", low=0, high=1)
    item = pd.DataFrame(index=["a"])
    layout = ml.Layout("coin", ml.Success("heads", skill))
    uniform = ((np.arange(4000) + 0.5) / 4000).reshape(1, 4, 1000)
    coin = small_layouts.crafted(
        layout, small_layouts.counts([1], [1], items=item), {"skill": uniform}
    )
    forecast = coin.forecast(item)
    for k in (1, 3, 8):
        assert forecast.pass_at(k)["mean"].item() == pytest.approx(k / (k + 1), abs=1e-6)
        assert forecast.all_of(k)["mean"].item() == pytest.approx(1 / (k + 1), abs=1e-6)


@pytest.mark.parametrize("measured", [False, True])
def test_attempts_share_what_is_unseen_of_their_item(measured):
    """All attempts meet the one difficulty of the item: a mean over it of the whole function."""
    skill = ml.Capability("skill", low=-9, high=9)
    if measured:
        hard = ml.Measured("hard", levels=(-2, 2))
        items = pd.DataFrame({"hard -2": [0.3], "hard 2": [0.7]}, index=["a"])
        levels, weights = np.array([-2, 2]), np.array([0.3, 0.7])
    else:
        error = ml.MetaFeature("error", low=0, high=5)
        hard = ml.Unseen("hard", 0 * error, error)
        items = pd.DataFrame({"error": [2.0]}, index=["a"])
        levels = np.linspace(-16, 16, 2001)
        weights = np.exp(-0.5 * (levels / 2) ** 2)
    layout = ml.Layout("hidden", ml.Success("ok", logistic(skill - hard)))
    draws = np.random.default_rng(1).normal(0, 1, (1, 2, 50))
    made = small_layouts.counts([1], [1], items=items)
    forecast = small_layouts.crafted(layout, made, {"skill": draws}).forecast(items)
    each = expit(draws.reshape(-1, 1) - levels)
    exact = np.average(1 - (1 - each) ** 8, axis=1, weights=weights).mean()
    assert forecast.pass_at(8)["mean"].item() == pytest.approx(exact, abs=1e-6)
    of_mean = (1 - (1 - forecast.draws) ** 8).mean().item()
    assert of_mean > exact + 0.05  # twin: the mean chance, as if each attempt met another item
    assert forecast.summary()["mean"].item() == pytest.approx(forecast.draws.mean().item())


def test_calls_that_have_no_answer(fit):
    forecast = fit.forecast(NEW)
    with pytest.raises(DataError, match="item far has no group; give one to each item"):
        forecast.summary(by={"inside": "b"})
    with pytest.raises(DataError, match="column"):
        forecast.summary(by="colour")
    with pytest.raises(FitError, match="k=0; give a whole number of at least 1"):
        forecast.pass_at(0)
    with pytest.raises(DataError, match=r"returned .*; give one that works element by element"):
        forecast.summary(np.sum)
    with pytest.raises(DataError, match="a forecast of a baseline, which has no draws; take those"):
        _ = ml.Forecast(forecast.data, 0.9).draws
    graded = graded_layouts.layout(graded_layouts.score())
    items = graded_layouts.items(2)
    outcomes = pd.DataFrame({"subject": "Ann", "item": items.index, "outcome": 0.5})
    done = ml.Evaluation.of_outcomes(graded, {graded.outcomes[0].name: outcomes}, items)
    rng = np.random.default_rng(1)
    posterior = {latent.name: rng.uniform(0.1, 0.9, (1, 1, 40)) for latent in graded.latents}
    with pytest.raises(DataError, match="several steps; functions of success need a layout with"):
        small_layouts.crafted(graded, done, posterior).forecast(items).total()


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
    items = pd.DataFrame(
        {"objects": 4.5, "kind": "c"}, index=[f"n{number}" for number in range(40)]
    )
    forecast = effects.forecast(items)
    one, mean = forecast.data.sel(item="n0"), forecast.summary(by="kind").set_index("subject")
    for name in ("mean", "low", "high"):
        assert mean[name].to_numpy() == pytest.approx(one[name].to_numpy(), abs=1e-9)
    low, high = (expit(np.array([-0.5, 0.5]) + sign * 1.645 * np.hypot(1, 0.3)) for sign in (-1, 1))
    assert mean["low"].to_numpy() == pytest.approx(low, abs=0.03)
    assert mean["high"].to_numpy() == pytest.approx(high, abs=0.03)
    alone = fit.forecast(items).summary(by="kind")
    assert (alone["high"] - alone["low"] < 0.5 * (high - low)).all()
