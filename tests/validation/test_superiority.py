"""Probability of superiority and quantiles of differences, against all pairs of draws."""

import numpy as np
import pytest
from scipy.stats import norm

from measurement_layouts.validation.comparison import (
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
