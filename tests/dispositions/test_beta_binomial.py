"""Hierarchical beta-binomial posteriors: held against SciPy, quadrature and simulation."""

import numpy as np
import pandas as pd
import pytest
from scipy import integrate, stats
from scipy.special import betaln, digamma, expit, logit

from measurement_layouts import DataError, FitError
from measurement_layouts.dispositions import rate_posteriors
from measurement_layouts.dispositions.beta_binomial import hyperposterior

COUNTS = np.array([[9.0, 1.0], [7.5, 2.5], [10.0, 0.0], [4.0, 6.0]])
MASS = 0.9
GROUPS, ROWS, VOTES = 60, 12, 10


def posteriors(counts, groups=None):
    table = pd.DataFrame(counts, columns=["positive", "negative"])
    names = ["calm"] * len(counts) if groups is None else groups
    return rate_posteriors(table, pd.Series(names, table.index))


def test_density_is_the_product_of_betabinomials_and_the_prior():
    counts, times = np.array([[3.0, 7.0], [10.0, 0.0], [5.0, 5.0]]), np.array([4, 1, 2])
    found = hyperposterior(counts, times)
    wanted = stats.logistic.logpdf(found.logit_mu) + stats.logistic.logpdf(found.log_k)
    for (positive, negative), often in zip(counts, times, strict=True):
        trials = positive + negative
        wanted += often * stats.betabinom.logpmf(positive, trials, found.alpha, found.beta)
    # where k is e^20, logarithms of gamma functions are 1e10, and rounded at 1e-6
    assert np.ptp(np.log(found.weight) - wanted) < 1e-5
    assert found.weight.sum() == pytest.approx(1, abs=1e-12)


def test_integrals_are_those_of_adaptive_quadrature():
    """In mu and the shrinkage k / (1 + k), whose prior is flat on the unit square."""

    def integrand(places):
        mu, shrinkage = places.T[:, :, None]
        k = shrinkage / (1 - shrinkage)
        alpha, beta = mu * k, (1 - mu) * k
        first, second = alpha + COUNTS[:, 0], beta + COUNTS[:, 1]
        likelihood = np.exp((betaln(first, second) - betaln(alpha, beta)).sum(axis=1))
        mean = first / (first + second)
        square = mean * (first + 1) / (first + second + 1)
        odds = digamma(first) - digamma(second)
        return likelihood[:, None] * np.hstack([np.ones_like(mu), mu, mean, square, odds])

    done = integrate.cubature(integrand, [0, 0], [1, 1], rtol=1e-6)
    _, mu, *others = done.estimate / done.estimate[0]
    mean, square, odds = np.reshape(others, (3, len(COUNTS)))
    rates = posteriors(COUNTS)
    table = rates.summary()
    np.testing.assert_allclose(table["mean"], mean, atol=1e-5)
    np.testing.assert_allclose(table["sd"], np.sqrt(square - mean**2), atol=1e-5)
    np.testing.assert_allclose(rates.hyperparameters["mu"], [mu], atol=1e-5)
    np.testing.assert_allclose(rates.logits()["mean"], odds, atol=1e-4)


@pytest.mark.parametrize("concentration", [0.02, 1, 30, 3000])
@pytest.mark.parametrize("rows", [1, 5, 1500])
def test_grid_finds_the_density_wherever_it_is(concentration, rows, rng):
    """A much finer grid on a wider box changes nothing."""
    positive = rng.binomial(20, rng.beta(0.3 * concentration, 0.7 * concentration, rows))
    pairs = np.column_stack([positive, 20.0 - positive])
    counts, times = np.unique(pairs, axis=0, return_counts=True)
    found = hyperposterior(counts, times)
    axes = []
    for places in (found.logit_mu, found.log_k):
        room = np.ptp(places) / 2
        axes.append(np.linspace(max(places.min() - room, -22), min(places.max() + room, 22), 200))
    logit_mu, log_k = (axis.ravel() for axis in np.meshgrid(*axes))
    alpha, beta = np.exp(log_k) * expit(logit_mu), np.exp(log_k) * expit(-logit_mu)
    density = stats.logistic.logpdf(logit_mu) + stats.logistic.logpdf(log_k)
    for (one, other), often in zip(counts, times, strict=True):
        density += often * (betaln(alpha + one, beta + other) - betaln(alpha, beta))
    weight = np.exp(density - density.max())
    wanted = [((alpha + one) / (alpha + beta + 20)) @ weight / weight.sum() for one, _ in counts]
    np.testing.assert_allclose(found.moments(counts)[0], wanted, atol=2e-5)


def simulated(rng):
    """Groups drawn from the prior itself: their rates, and counts."""
    mu, shrinkage = rng.uniform(size=(2, GROUPS, 1))
    k = shrinkage / (1 - shrinkage)
    rates = rng.beta(mu * k, (1 - mu) * k, (GROUPS, ROWS)).ravel()
    positive = rng.binomial(VOTES, rates)
    return rates, np.column_stack([positive, VOTES - positive]).astype(float)


def distance(table, rates, counts):
    """How far coverage is from what it should be, in standard errors over groups.

    Only rows with both kinds of counts: other rates may be within rounding of 0 or 1.
    """
    inside = (table["low"] <= rates) & (rates <= table["high"])
    surplus = np.where((counts > 0).all(axis=1), inside - MASS, 0).reshape(GROUPS, ROWS)
    by_group = surplus.sum(axis=1)
    return by_group.sum() / np.sqrt((by_group**2).sum())


@pytest.mark.slow
def test_intervals_hold_the_rate_as_often_as_they_say(rng):
    rates, counts = simulated(rng)
    groups = np.repeat(np.arange(GROUPS), ROWS)
    assert abs(distance(posteriors(counts, groups).summary(prob=MASS), rates, counts)) < 3
    # twins that the check must refuse
    assert distance(posteriors(3 * counts, groups).summary(prob=MASS), rates, counts) < -3
    moved = counts + np.array([3.0, 0.0])
    assert distance(posteriors(moved, groups).summary(prob=MASS), rates, counts) < -3


def test_draws_are_of_the_posterior_that_is_summarised(rng):
    rates = posteriors(COUNTS)
    table, logits = rates.summary(prob=MASS), rates.logits()
    count = 20_000
    draws = rates.draws(count, seed=3)
    limit = 4 / np.sqrt(count)
    assert (np.abs(draws.mean(axis=0) - table["mean"]) < limit * table["sd"]).all()
    tail = limit * np.sqrt(0.05 * 0.95)
    assert (np.abs((draws < table["low"].to_numpy()).mean(axis=0) - 0.05) < tail).all()
    assert (np.abs((draws > table["high"].to_numpy()).mean(axis=0) - 0.05) < tail).all()
    # at a count of 0 the log-odds' tail is too long for such a comparison
    kept = (COUNTS > 0).all(axis=1)
    odds, logits = logit(draws[:, kept]), logits[kept]
    assert (np.abs(odds.mean(axis=0) - logits["mean"]) < limit * logits["sd"]).all()
    spread = (odds - odds.mean(axis=0)) ** 2
    error = limit * spread.std(axis=0)
    assert (np.abs(spread.mean(axis=0) - logits["sd"] ** 2) < error).all()
    # rows of a group share mu and k, which ties them to each other
    assert np.corrcoef(draws.T)[0, 1] > 0.03  # 4 standard errors


def test_predictions_are_mixtures_of_betabinomials():
    rates = posteriors(COUNTS)
    hyper = rates.groups[0].hyper
    alpha, beta = hyper.alpha + COUNTS[0, 0], hyper.beta + COUNTS[0, 1]
    wanted = [stats.betabinom.pmf(number, 5, alpha, beta) @ hyper.weight for number in range(6)]
    np.testing.assert_allclose(rates.predicted(5)[0], wanted, atol=1e-12)
    np.testing.assert_allclose(rates.predicted(1)[:, 1], rates.summary()["mean"], atol=1e-12)


def test_groups_do_not_touch_each_other():
    counts = np.array([[9.0, 1.0], [0.0, 10.0], [8.0, 2.0], [1.0, 9.0]])
    both = posteriors(counts, ["a", "b", "a", "b"]).summary()
    alone = posteriors(counts[[0, 2]]).summary()
    np.testing.assert_array_equal(both.iloc[[0, 2]], alone)
    together = posteriors(counts).summary()
    assert together["mean"].iloc[2] < both["mean"].iloc[2] - 0.01


def test_few_observations_are_pulled_to_the_group():
    """What is left of nothing is the group's mean."""
    counts = np.array([[8.0, 2.0]] * 20 + [[0.0, 0.0], [0.0, 1.0]])
    table = posteriors(counts).summary()
    assert table["mean"].iloc[20] == pytest.approx(0.8, abs=0.03)
    assert table["mean"].iloc[21] > 0.7
    hyper = posteriors(counts).hyperparameters.loc["calm"]
    assert hyper["rows"] == 22
    assert hyper["mu"] == pytest.approx(0.8, abs=0.03)


def test_log_odds_that_do_not_exist_are_missing():
    missing = posteriors([[10, 0], [10, 0], [5, 5]]).logits()
    assert missing["mean"].isna().tolist() == [True, True, False]
    assert missing["sd"].notna().tolist() == [False, False, True]
    assert posteriors([[10, 0], [4, 6], [5, 5]]).logits().notna().all(axis=None)


def test_draws_depend_on_the_seed_alone():
    rates = posteriors(COUNTS)
    np.testing.assert_array_equal(rates.draws(10, seed=1), rates.draws(10, seed=1))
    assert not np.array_equal(rates.draws(10, seed=1), rates.draws(10, seed=2))


@pytest.mark.parametrize(
    ("counts", "by", "message"),
    [
        ({"positive": [1.0]}, ["a"], "has no column negative"),
        ({"positive": [], "negative": []}, [], "no rows"),
        ({"positive": [1, -1], "negative": [1, 1]}, ["a", "a"], "counts of 1 are negative"),
        ({"positive": [1, 1], "negative": [1, None]}, ["a", "a"], "counts of 1 are negative"),
        ({"positive": [1, 1], "negative": [1, 1]}, ["a", None], "1 without a name"),
        ({"positive": [1, 1], "negative": [1, 1]}, ["a"], "by= has 1 rows"),
    ],
)
def test_unusable_counts_are_refused(counts, by, message):
    with pytest.raises(DataError, match=message):
        rate_posteriors(pd.DataFrame(counts), pd.Series(by))


def test_unusable_options_are_refused():
    rates = posteriors(COUNTS)
    with pytest.raises(FitError, match="prob=1"):
        rates.summary(prob=1)
    with pytest.raises(FitError, match="draws=0"):
        rates.draws(0)
    with pytest.raises(FitError, match="trials=0"):
        rates.predicted(0)
