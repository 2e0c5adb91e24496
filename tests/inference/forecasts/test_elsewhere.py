"""Forecasts away from home: widened by what is told of groups, and at home as they were."""

import numpy as np
import pandas as pd
import pytest
from helpers import graded_layouts, small_layouts
from scipy.integrate import quad
from scipy.special import expit, logit
from scipy.stats import norm

import measurement_layouts as ml
from measurement_layouts import DataError, FitError
from measurement_layouts.inference.forecasts.elsewhere import Transfer, stated
from measurement_layouts.linking import logistic

TRAINING = pd.DataFrame(
    {"objects": [2.0, 3.0, 4.0, 5.0], "kind": list("aabb")}, index=["i2", "i3", "i4", "i5"]
)
INSIDE = pd.DataFrame({"objects": [2.5, 4.5], "kind": list("ab")}, index=["in1", "in2"])
FAR = pd.DataFrame({"objects": [5.5, 9.0], "kind": list("bc")}, index=["near", "far"])
NAMES = ("mean", "low", "high")


@pytest.fixture(scope="module")
def fit():
    objects = ml.MetaFeature("objects", low=1, high=9, unit="object")
    memory = ml.Capability("memory", low=0, high=9, unit="object")
    layout = ml.Layout("counting", ml.Success("right", logistic(memory - objects)))
    done = pd.DataFrame(1, index=["Ann", "Bob"], columns=TRAINING.index)
    evaluation = ml.Evaluation(TRAINING, done, done)
    rng = np.random.default_rng(1)
    posterior = {"memory": rng.normal([[[4.0]], [[5.0]]], 0.3, (2, 2, 500))}
    return small_layouts.crafted(layout, evaluation, posterior)


def told(centre=0.0, **parameters):
    draws = {"slope": 1.0, "group_sd": 0.0, "subject_sd": 0.0, "item_sd": 0.0} | parameters
    groups = TRAINING["kind"]
    return Transfer(pd.DataFrame([draws]), centre, pd.DataFrame(), "kind", groups)


@pytest.mark.parametrize("trust", [None, "home", told(group_sd=2.0, slope=0.5)])
def test_forecasts_at_home_are_the_same_to_the_bit(fit, trust):
    """... whatever lies beside them."""
    home = fit.forecast(INSIDE, trust="home").data
    found = fit.forecast(pd.concat([FAR, INSIDE, TRAINING]), trust=trust).data
    for name in NAMES:
        assert (found[name].sel(item=INSIDE.index) == home[name]).all()
    assert (found["elsewhere_sd"].sel(item=TRAINING.index) == 0).all()


def test_a_forecast_widens_as_it_leaves_home(fit):
    """With the distance, up to one standard deviation of the training items."""
    spread = TRAINING["objects"].std(ddof=0)
    items = pd.DataFrame({"objects": 5 + spread * np.array([0, 0.1, 0.5, 1, 2])})
    found = fit.forecast(items.rename(index="new-{}".format)).data.sel(subject="Ann")
    assert found["distance"].to_numpy() == pytest.approx([0, 0.1, 0.5, 1, 2])
    widths = found["elsewhere_sd"].to_numpy()
    assert widths[0] == 0
    assert widths[1:3] / widths[3] == pytest.approx([0.1, 0.5])
    assert widths[4] == widths[3] == pytest.approx(1, abs=0.02)  # of a HalfNormal(1)
    log_odds = logit(np.stack([found["low"], found["high"]]))
    assert (np.diff(np.diff(log_odds, axis=0)[0][:4]) > 0).all()


def test_a_group_never_met_is_away_from_home_inside_the_range(fit):
    items = pd.DataFrame({"objects": [3.5, 3.5], "kind": ["b", "new"]}, index=["met", "unmet"])
    found = fit.forecast(items, trust=told(group_sd=1.0)).data
    assert (found["distance"] == [0, 1]).all()
    home = fit.forecast(items, trust="home").data
    assert (found["low"].sel(item="met") == home["low"].sel(item="met")).all()
    assert (found["low"].sel(item="unmet") < home["low"].sel(item="unmet") - 0.05).all()


def test_means_and_intervals_are_those_of_the_integral(fit):
    """A known ability: the offset alone spreads the chance."""
    one = small_layouts.crafted(
        fit.layout,
        ml.Evaluation(TRAINING, *[pd.DataFrame(1, ["Ann"], TRAINING.index)] * 2),
        {"memory": np.full((1, 2, 1000), 4.0)},
    )
    trust = told(centre=0.5, slope=0.7, group_sd=1.0, subject_sd=0.5, item_sd=0.8)
    item = pd.DataFrame({"objects": [3.0], "kind": ["new"]}, index=["x"])
    found = one.forecast(item, trust=trust).data.sel(subject="Ann", item="x")
    spread = np.sqrt(1 + 0.25 + 0.64)
    steeper = np.sqrt(1 + np.pi * spread**2 / 8)
    middle = steeper * (0.5 + 0.7 * (1.0 - 0.5))
    exact = quad(lambda z: norm.pdf(z) * expit(middle + spread * z), -9, 9)[0]
    assert found["mean"].item() == pytest.approx(exact, abs=2e-3)
    assert exact == pytest.approx(expit(0.5 + 0.7 * (1.0 - 0.5)), abs=0.01)  # the slope's alone
    ends = expit(middle + spread * norm.ppf([0.05, 0.95]))
    assert [found["low"].item(), found["high"].item()] == pytest.approx(ends, abs=5e-3)
    parts = [found[name].item() for name in ("profile_sd", "items_sd", "elsewhere_sd")]
    assert parts == pytest.approx([0, 0.8, np.sqrt(1.25)], abs=1e-9)


def test_a_stated_offset_is_added_to_the_layout_s_log_odds(fit):
    """The integral of a known ability; twin: of a curve made steeper, which keeps the mean."""
    one = small_layouts.crafted(
        fit.layout,
        ml.Evaluation(TRAINING, *[pd.DataFrame(1, ["Ann"], TRAINING.index)] * 2),
        {"memory": np.full((1, 2, 1000), 4.0)},
    )
    item = pd.DataFrame({"objects": [2.0], "kind": ["new"]}, index=["x"])
    for trust in (1.6, told(group_sd=1.6)):
        found = one.forecast(item, trust=trust).data.sel(subject="Ann", item="x")
        ends = expit(2.0 + 1.6 * norm.ppf([0.05, 0.95]))
        mean = quad(lambda z: norm.pdf(z) * expit(2.0 + 1.6 * z), -9, 9)[0]
        added = trust == 1.6
        assert (found["mean"].item() == pytest.approx(mean, abs=2e-3)) == added
        near = [found["low"].item(), found["high"].item()] == pytest.approx(ends, abs=5e-3)
        assert near == added


def test_the_profile_s_part_is_the_spread_of_the_log_odds(fit):
    found = fit.forecast(FAR).data["profile_sd"]
    draws = fit.posterior["memory"].to_numpy().reshape(2, -1)
    assert found.to_numpy() == pytest.approx(np.tile(draws.std(axis=1)[:, None], 2), rel=1e-6)


def test_a_table_shows_the_parts(fit):
    frame = fit.forecast(FAR, trust=1.0).to_frame()
    assert {"distance", "profile_sd", "items_sd", "elsewhere_sd"} <= set(frame)
    assert (frame["elsewhere_sd"] == 1).all()


def test_neither_memory_nor_other_items_change_a_forecast(fit):
    every = pd.concat([TRAINING, INSIDE, FAR])
    whole = fit.forecast(every, trust=told(group_sd=1.0)).data
    tight = fit.forecast(every, trust=told(group_sd=1.0), memory_mib=0.01).data
    alone = fit.forecast(every.iloc[[-1]], trust=told(group_sd=1.0)).data
    assert whole.identical(tight)
    assert whole.sel(item=["far"]).identical(alone)


def test_a_mean_of_a_group_is_as_uncertain_as_its_offset(fit):
    """Twin: offsets of single items average out."""
    items = pd.DataFrame({"objects": 4.5, "kind": "new"}, index=[f"n{i}" for i in range(40)])
    rows = {
        name: fit.group_means(items, "kind", trust=told(**{name: 1.0})).set_index("subject")
        for name in ("group_sd", "subject_sd", "item_sd")
    }
    cell = fit.forecast(items.iloc[[0]], trust=told(group_sd=1.0)).data
    for subject in ("Ann", "Bob"):
        own = cell.sel(subject=subject, item="n0")
        single = float(own["high"] - own["low"])
        ends = {name: row.loc[subject] for name, row in rows.items()}
        width = {name: own["high"] - own["low"] for name, own in ends.items()}
        assert width["group_sd"] == pytest.approx(single, rel=0.1)
        assert width["subject_sd"] == pytest.approx(single, rel=0.1)
        assert width["item_sd"] < 0.6 * single


def test_group_means_at_home_are_means_of_draws(fit):
    found = fit.group_means(INSIDE, {"in1": "g", "in2": "g"}, subjects=["Bob"])
    draws = fit.posterior["memory"].sel(subject="Bob").to_numpy().ravel()
    chances = expit(draws - INSIDE["objects"].to_numpy()[:, None]).mean(axis=0)
    exact = [chances.mean(), *np.quantile(chances, [0.05, 0.95])]
    assert found[["mean", "low", "high"]].to_numpy()[0] == pytest.approx(exact, abs=1e-9)
    assert found[["subject", "group", "items"]].to_numpy().tolist() == [["Bob", "g", 2]]


def test_offsets_of_a_group_are_the_same_whoever_is_asked(fit):
    items = pd.DataFrame({"objects": 4.5, "kind": ["x", "x", "y"]}, index=["n0", "n1", "n2"])
    both = fit.group_means(items, "kind", trust=1.0)
    one = fit.group_means(items, "kind", trust=1.0, subjects=["Bob"])
    pd.testing.assert_frame_equal(both.query("subject == 'Bob'").reset_index(drop=True), one)


@pytest.mark.parametrize("trust", ["away", -1.0, 0, True, float("nan"), [1.0]])
def test_what_trust_cannot_be(fit, trust):
    with pytest.raises(FitError, match=r"trust=.*give what ml\.validation\.transfer returns"):
        fit.forecast(FAR, trust=trust)


def test_items_without_a_group(fit):
    with pytest.raises(DataError, match="item far has no group; give one to each item"):
        fit.group_means(FAR, {"near": "b"})


def test_steps_are_forecast_as_at_home():
    layout = graded_layouts.layout(graded_layouts.score())
    items = graded_layouts.items(2)
    outcomes = pd.DataFrame({"subject": "Ann", "item": items.index, "outcome": 0.5})
    evaluation = ml.Evaluation.of_outcomes(layout, {layout.outcomes[0].name: outcomes}, items)
    rng = np.random.default_rng(1)
    posterior = {latent.name: rng.uniform(0.1, 0.9, (1, 1, 40)) for latent in layout.latents}
    fit = small_layouts.crafted(layout, evaluation, posterior)
    far = items.assign(timeHidden=99.0).rename(index="new {}".format)
    assert fit.forecast(far).data.identical(fit.forecast(far, trust="home").data)
    with pytest.raises(FitError, match="outcomes of several steps, for which forecasts do not"):
        fit.forecast(far, trust=1.0)
    with pytest.raises(DataError, match="outcomes of several steps; group_means needs a layout"):
        fit.group_means(far, dict.fromkeys(far.index, "g"))


def test_a_transfer_in_words():
    told = "<Transfer: stated, a group's offset has sd 0.5 log-odds, the slope is 0.95>"
    assert repr(stated(0.5)) == told
