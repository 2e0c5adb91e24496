"""Suitability: against chances in closed form, and resampled jobs by hand."""

import numpy as np
import pandas as pd
import pytest
from helpers import joint_fits
from helpers.coins import PASSED
from scipy.special import expit
from scipy.stats import beta

import measurement_layouts as ml
from measurement_layouts.decisions.suitability import tied_sets
from measurement_layouts.linking import logistic

COIN = pd.DataFrame(index=["throw", "another"])


@pytest.fixture(scope="module")
def sums():
    """Two demands, of which one limits Ann and the other Bob; Cy is as Ann."""
    steps, digits = (ml.MetaFeature(name, low=0, high=10) for name in ("steps", "digits"))
    memory, care = (ml.Capability(name, low=0, high=10) for name in ("memory", "care"))
    chance = logistic(memory - steps) * logistic(care - digits)
    layout = ml.Layout("sums", ml.Success("right", chance))
    rng = np.random.default_rng(2)
    values = rng.integers(0, 11, (120, 2)).astype(float)
    items = pd.DataFrame(values, [f"i{k}" for k in range(120)], ["steps", "digits"])
    able = {"Ann": (4.0, 8.0), "Bob": (8.0, 3.0), "Cy": (4.0, 8.0)}
    odds = {name: np.array(own) - values for name, own in able.items()}
    won = [(rng.random(120) < (1 / (1 + np.exp(-own))).prod(axis=1)) * 1 for own in odds.values()]
    known = ml.Evaluation.from_wide(pd.DataFrame(won, list(able), items.index), items)
    options = {"draws": 500, "chains": 2, "seed": 1, "progressbar": False}
    return ml.fit(layout, known, method="grid", **options)


def test_order_is_that_of_independent_posteriors(coins):
    found = ml.decisions.suitability(coins, COIN, sampled=False)
    rng = np.random.default_rng(5)
    exact = {name: rng.beta(1 + won, 1 + lost, 400_000) for name, (won, lost) in PASSED.items()}
    for name, own in exact.items():
        row = found.ranking.loc[name]
        won, lost = PASSED[name]
        assert row["expected"] == pytest.approx((1 + won) / (2 + won + lost), abs=0.003)
        assert row["low"] == pytest.approx(beta.ppf(0.05, 1 + won, 1 + lost), abs=0.01)
        for other, theirs in exact.items():
            if other != name:
                share = (own > theirs).mean()
                assert found.orders.loc[name, other] == pytest.approx(share, abs=0.025)
    assert found.tied == [["Bob", "Ann", "Cy"], ["Dee"]] or found.tied[-1] == ["Dee"]
    assert found.ranking["best"].sum() == pytest.approx(1)
    assert found.ranking["rank"].sum() == pytest.approx(10)
    assert repr(found).endswith("items are the job; fitted apart, so draws are paired at random>")


def test_order_of_a_joint_fit_is_that_of_each_draw():
    """Subjects and items of one draw; the twin pairs draws at random."""
    rng = np.random.default_rng(3)
    common, ease = rng.normal(size=(2000, 1)), rng.normal(0, 0.5, (2000, 4))
    ability = [0.5, 0.25, 0.0] + common + 0.2 * rng.normal(size=(2000, 3))
    outcomes = pd.DataFrame([[0, 1, 1, 0], [1, 0, 0, 1], [0, 1, 0, 0]], list("abc"), list("wxyz"))
    known = ml.Evaluation.from_wide(outcomes, pd.DataFrame(index=outcomes.columns))
    layout = joint_fits.rasch(zero_sum=False)
    made = joint_fits.random_draws(layout, known, 2000, seed=3)
    fit = joint_fits.crafted(layout, known, made | {"ability": ability, "ease": ease})
    found = ml.decisions.suitability(fit, known.items, sampled=False, demands=[])
    success = expit(ability[:, :, None] + ease[:, None]).mean(axis=2)
    ahead = (success[:, :, None] > success[:, None]).mean(axis=0)
    orders = found.orders.loc[list("abc"), list("abc")].to_numpy()
    np.testing.assert_allclose(orders[~np.eye(3, dtype=bool)], ahead[~np.eye(3, dtype=bool)])
    best = (success.argmax(axis=1)[:, None] == range(3)).mean(axis=0)
    np.testing.assert_allclose(found.ranking["best"].loc[list("abc")], best)
    assert found.tied == [["a", "b"], ["c"]]
    assert (rng.permutation(success[:, 0]) > success[:, 2]).mean() < 0.75
    assert "paired at random" not in repr(found)


def test_a_resampled_job_widens_as_the_bayesian_bootstrap_does(sums):
    """With chances that are nearly known, the spread over jobs is that of weighted means."""
    items = pd.DataFrame({"steps": np.resize([0.0, 9.0], 24), "digits": 0.0})
    sample, whole = (
        ml.decisions.suitability(sums, items, sampled=each, demands=[]) for each in (True, False)
    )
    (own,) = (sums.forecast(items).data["mean"].sel(subject="Ann").to_numpy(),)
    rng = np.random.default_rng(9)
    weights = rng.dirichlet(np.ones(24), 20_000)
    alone = (weights @ own).std()
    widths = [each.ranking.loc["Ann"] for each in (sample, whole)]
    wide, narrow = ((row["high"] - row["low"]) / 3.29 for row in widths)
    assert wide == pytest.approx(np.hypot(alone, narrow), rel=0.15)
    assert narrow < 0.8 * wide, "twin: without resampling the job's own uncertainty is missing"


def test_what_a_sample_shares_does_not_blur_the_order(sums):
    """Ann and Bob are set the same resampled jobs."""
    items = pd.DataFrame({"steps": np.resize([0.0, 10.0], 12), "digits": 0.0})
    found = ml.decisions.suitability(sums, items, demands=[])
    low, high = found.ranking.loc["Bob", ["low", "high"]]
    assert low < found.ranking.loc["Ann", "high"], "the intervals overlap"
    assert found.orders.loc["Bob", "Ann"] > 0.95
    assert high > low


def test_the_demand_that_limits_is_named_first(sums):
    items = pd.DataFrame({"steps": [6.0, 7.0], "digits": [6.0, 5.0]})
    limits = ml.decisions.suitability(sums, items, sampled=False).limits
    first = limits.groupby("subject").first()
    assert first["demand"].to_dict() == {"Ann": "steps", "Bob": "digits", "Cy": "steps"}
    assert (limits["easiest"] == 0).all()
    assert (first["first"] > 0.9).all()
    row = limits.iloc[0]
    base, easier = (
        sums.forecast(table).data["mean"].sel(subject="Ann").mean().item()
        for table in (items, items.assign(steps=0.0))
    )
    assert row["gain"] == pytest.approx(easier - base, abs=1e-9)


def test_a_job_of_levels_weighs_them(sums):
    table = ml.decisions.job({"steps": {2: 0.75, 8: 0.25}, "digits": {1: 1.0}})
    assert table["weight"].tolist() == [0.75, 0.25]
    found = ml.decisions.suitability(sums, table, weights="weight", sampled=False, demands=[])
    means = sums.forecast(table).data["mean"].sel(subject="Bob").to_numpy()
    assert found.ranking.loc["Bob", "expected"] == pytest.approx(means @ [0.75, 0.25])
    same = pd.DataFrame({"steps": [2.0, 2.0, 2.0, 8.0], "digits": 1.0})
    repeated = ml.decisions.suitability(sums, same, sampled=False, demands=[])
    assert repeated.ranking["expected"].equals(found.ranking["expected"]) or np.allclose(
        repeated.ranking["expected"], found.ranking["expected"]
    )


def test_tied_sets_are_read_from_their_leaders():
    ahead = np.array([[0.5, 0.6, 0.8, 0.97], [0.4, 0.5, 0.7, 0.95]])
    ahead = np.vstack([ahead, [0.2, 0.3, 0.5, 0.8], [0.03, 0.05, 0.2, 0.5]])
    assert tied_sets(ahead, 0.9).tolist() == [1, 1, 1, 2]
    assert tied_sets(ahead, 0.75).tolist() == [1, 1, 2, 3]
    assert tied_sets(ahead, 0.99).tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"weights": "much"}, ml.DataError, "weights='much'"),
        ({"weights": "steps"}, ml.DataError, "weights in steps"),
        ({"demands": ["speed"]}, ml.DataError, "unknown demand.*speed"),
        ({"confidence": 0.4}, ml.FitError, "at least 0.5"),
        ({"subjects": ["Zoe"]}, ml.FitError, "Zoe"),
    ],
)
def test_what_makes_no_sense_is_refused(sums, options, error, said):
    items = pd.DataFrame({"steps": [-1.0, 7.0], "digits": [6.0, 5.0]})
    with pytest.raises(error, match=said):
        ml.decisions.suitability(sums, items, **options)


@pytest.mark.parametrize(
    "levels", [{}, {"steps": {}}, {"steps": {1: 0.5}}, {"steps": {1: -1, 2: 2}}]
)
def test_jobs_that_are_none_are_refused(levels):
    with pytest.raises(ml.DataError, match="job"):
        ml.decisions.job(levels)


@pytest.mark.parametrize(
    ("tied", "words"),
    [
        ([1], "1 subject"),
        ([1, 2], "2 subjects, all distinguished at 90%"),
        ([1, 1], "2 subjects, none distinguished at 90% from the first"),
        ([1, 1, 2], "3 subjects in 2 sets that are distinguished at 90%"),
    ],
)
def test_subjects_that_are_distinguished_are_not_called_tied(tied, words):
    ranking = pd.DataFrame({"tied": tied, "expected": 0.5}, pd.Index(list("abc")[: len(tied)]))
    found = ml.decisions.Suitability(ranking, pd.DataFrame(), pd.DataFrame(), 0.9, 0.9, True)
    assert found.in_words() == words
    assert f"<Suitability: {words}, a " in repr(found)
    assert "tied" not in repr(found)
