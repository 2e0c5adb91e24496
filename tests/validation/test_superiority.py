"""Probability of superiority and quantiles of differences, against all pairs of draws."""

import numpy as np
import pytest
from scipy.stats import norm

from measurement_layouts.validation import superiority as module
from measurement_layouts.validation.superiority import (
    Ranked,
    gathered,
    quantiles_of_difference,
    superiority,
)

LEVELS = np.array([0.05, 0.5, 0.95])
SHAPES = {
    "normal": lambda rng: rng.normal(size=(2, 1500)),
    "heavy tails": lambda rng: rng.standard_t(4, size=(2, 1500)),
    "at the ends": lambda rng: rng.beta(0.5, 0.5, size=(2, 1500)),
    "a narrow one": lambda rng: rng.normal(size=(2, 1500)) * [[0.05], [1]],
    "skewed": lambda rng: rng.exponential(size=(2, 1500)),
}


def all_pairs(one, other):
    return (one[:, None] > other).mean() + 0.5 * (one[:, None] == other).mean()


@pytest.mark.parametrize("ties", [False, True])
def test_counts_every_pair(rng, ties):
    one, others = rng.normal(size=400), rng.normal(0.4, 2, size=(3, 300))
    if ties:
        one, others = one.round(), others.round()
    found = superiority(np.sort(one), np.sort(others), 400.0, np.full(3, 300.0))
    expected = [all_pairs(one, other) for other in others]
    np.testing.assert_allclose(found.probability, expected, rtol=0, atol=1e-12)


def test_the_order_of_the_draws_does_not_matter(rng):
    """Twin: draw by draw, two sorted chains of one distribution would never cross."""
    draws = np.sort(rng.normal(size=(2, 2000)))
    draws[0] += 0.15
    found = superiority(draws[0], draws[1:], 2000.0, np.array([2000.0])).probability[0]
    assert abs(found - norm.cdf(0.15 / np.sqrt(2))) < 4 * 0.5 / np.sqrt(1000)
    assert (draws[0] > draws[1]).mean() > 0.9


def test_the_error_is_that_of_repeated_samples(rng):
    """Its square is 2 / ESS x .0764 here; 400 repeats know a standard deviation to 3.5 %."""
    draws = np.sort(rng.normal(size=(400, 2, 200)) + np.array([[0.8], [0.0]]))
    found = [superiority(a, b[None], 200.0, np.array([200.0])) for a, b in draws]
    scatter = np.std([one.probability[0] for one in found], ddof=1)
    said = np.mean([one.error[0] for one in found])
    assert abs(said / scatter - 1) < 4 * 0.035
    autocorrelated = [superiority(a, b[None], 50.0, np.array([50.0])).error[0] for a, b in draws]
    assert np.mean(autocorrelated) == pytest.approx(2 * said, rel=1e-6)


def test_draws_that_never_cross_are_not_sure():
    found = superiority(np.arange(10.0) + 50, np.arange(20.0)[None], 8.0, np.array([20.0]))
    assert found.probability[0] == 1
    assert found.error[0] == 1 / 8


@pytest.mark.parametrize("shape", SHAPES)
def test_quantiles_are_those_of_all_pairs(rng, shape):
    """Within a quarter of the Monte Carlo error of 1,000 effective draws (.067 sd or more)."""
    one, other = np.sort(SHAPES[shape](rng))
    gaps = np.subtract.outer(one, other).ravel()
    (found,) = quantiles_of_difference(gathered(one[None]), gathered(other[None]), LEVELS)
    assert np.abs(found - np.quantile(gaps, LEVELS)).max() < 0.25 * 0.067 * gaps.std()


def test_groups_keep_the_mean(rng):
    draws = np.sort(rng.exponential(size=(2, 777)))
    means, weights = gathered(draws)
    np.testing.assert_allclose(means @ weights, draws.mean(axis=1), rtol=1e-12)
    few, shares = gathered(draws[:, :5])
    np.testing.assert_allclose(few @ shares, draws[:, :5].mean(axis=1), rtol=1e-12)


def one_by_one(one, other, levels):
    """Sort all differences of one pair of gathered draws, as one would without haste."""
    (means, weights), (other_means, other_weights) = one, other
    gaps = (means[0][:, None] - other_means[0]).ravel()
    joint = np.outer(weights, other_weights).ravel()
    order = np.argsort(gaps)
    return np.interp(levels, np.cumsum(joint[order]) - joint[order] / 2, gaps[order])


@pytest.mark.parametrize("shape", [*SHAPES, "two modes", "alike", "rounded"])
@pytest.mark.parametrize("levels", [LEVELS, np.array([0.0005, 0.9995]), np.array([0.25, 0.75])])
def test_quantiles_are_those_of_all_differences_sorted(shape, levels, rng):
    more = {
        "two modes": lambda rng: rng.normal(size=(2, 1500)) / 20 + rng.choice([0, 5], (2, 1500)),
        "alike": lambda rng: np.full((2, 1500), 0.5),
        "rounded": lambda rng: rng.normal(size=(2, 1500)).round(1),
    }
    drawn = [np.sort((SHAPES | more)[shape](rng)) for _ in range(40)]
    one, other = (np.concatenate([pair[side : side + 1] for pair in drawn]) for side in (0, 1))
    (means, weights), (other_means, other_weights) = gathered(one), gathered(other)
    found = quantiles_of_difference((means, weights), (other_means, other_weights), levels)
    for place, row in enumerate(found):
        part = slice(place, place + 1)
        exact = one_by_one((means[part], weights), (other_means[part], other_weights), levels)
        # of rounded draws many differences are equal, and which of them comes first is anybody's
        np.testing.assert_allclose(row, exact, rtol=1e-9, atol=2e-3 if shape == "rounded" else 1e-9)


@pytest.mark.parametrize("slack", [-1.0, 1e-6, 2.0])
def test_a_bad_guess_of_where_a_quantile_lies_changes_nothing(slack, rng, monkeypatch):
    one, other = (gathered(np.sort(rng.gamma(0.3, size=(30, 400)))) for _ in range(2))
    expected = quantiles_of_difference(one, other, LEVELS)
    monkeypatch.setattr(module, "_SLACK", slack)
    found = quantiles_of_difference(one, other, LEVELS)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("digits", [1, 9])
@pytest.mark.parametrize("few", [0, 1, 10**6], ids=["together", "mixed", "one by one"])
def test_many_are_compared_as_one_by_one(digits, few, rng, monkeypatch):
    """With ties and without, and each with itself."""
    monkeypatch.setattr(module, "_FEW", few or 10**9)
    draws = np.sort(rng.normal(size=(9, 300)).round(digits))
    ess = rng.uniform(50, 300, 9)
    ranked = Ranked.of(draws)
    for row in range(9):
        for rows in (np.arange(9), np.array([4]), np.array([7, 2, 7])):
            found = ranked.superiority(draws[row], rows, ess[row], ess[rows])
            expected = [all_pairs(draws[row], draws[other]) for other in rows]
            np.testing.assert_allclose(found.probability, expected, rtol=1e-13)
            alone = superiority(draws[row], draws[rows], ess[row], ess[rows])
            np.testing.assert_allclose(found.error, alone.error, rtol=1e-9)


def test_the_error_is_that_of_the_shares(rng):
    """Equations 4 and 5 of DeLong et al., from the shares as they stand there."""
    one, others = np.sort(rng.normal(size=200)), np.sort(rng.normal(0.3, 1, size=(3, 150)))
    found = superiority(one, others, 90.0, np.array([50.0, 60.0, 70.0]))
    for other, ess, error in zip(others, (50, 60, 70), found.error, strict=True):
        own = (one[:, None] > other).mean(axis=1).var() / 90
        theirs = (one[:, None] > other).mean(axis=0).var() / ess
        assert error == pytest.approx(np.sqrt(own + theirs), rel=1e-9)
