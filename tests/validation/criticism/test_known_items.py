"""Ratios of known items: against optimisation, closed forms and plain simulation."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import binom

from measurement_layouts.validation.criticism.population import known_items
from measurement_layouts.validation.criticism.population.known_items import Pattern, Tails

ITEMS = 30


def pattern(seed=1, trials=1.0):
    """Lay out a pattern of two directions, as if everything were known."""
    rng = np.random.default_rng(seed)
    log_odds = np.linspace(-4, 2, ITEMS)
    directions = np.stack([np.full(ITEMS, 0.5), rng.normal(0, 0.3, ITEMS)], axis=1)
    successes = rng.binomial(int(trials), expit(log_odds)).astype(float)
    own = np.full(ITEMS, trials)
    return Pattern(successes, own, log_odds, directions, np.array([0.4, 0.9]), np.zeros(2))


def density(own, outcomes, places, share):
    """Write the logarithm of the likelihood and the prior, with SciPy's chances of each cell."""
    y, n, log_odds = outcomes, own.trials, own.log_odds + own.directions @ places
    p = 1 / (1 + np.exp(-log_odds))
    m = np.where(log_odds < 0, share, 0.0)
    one = binom.pmf(y, n, p) / binom.pmf(y, n, 0.5) * 0.5**n  # without the coefficient
    prior = own.pull @ places - (own.precision * places**2).sum() / 2
    return prior + np.log(m * (y == n) + (1 - m) * one).sum()


@pytest.mark.parametrize("trials", [1.0, 4.0])
def test_ratios_are_those_of_two_maxima(trials):
    own = pattern(trials=trials)
    rng = np.random.default_rng(2)
    outcomes = rng.binomial(int(trials), expit(own.log_odds), (6, ITEMS)).astype(float)
    outcomes[:3, :6] = trials
    best = []
    for row in outcomes:
        most = [
            max(
                -minimize(
                    lambda u, m=m, y=row: -density(own, y, u, m), at, method="Nelder-Mead"
                ).fun
                for at in ((0, 0), (-2, 0), (2, 1))
            )
            for m in (known_items.SHARE, 0.0)
        ]
        best.append(most[0] - most[1])
    found = own.ratios(outcomes)
    short = np.array(best) - found
    step = np.log1p(known_items.SHARE * (2**trials - 1))  # of the likelihood, at an even chance
    assert short.min() > -0.02
    assert short.max() < 3 * step  # up to three items become hard or easy; see `ratios`
    assert np.corrcoef(best, found)[0, 1] > 0.99
    assert found[:3].min() > found[3:].max()


def test_a_mirrored_pattern_is_that_of_failures():
    own = pattern()
    turned = Pattern(
        1 - own.successes, own.trials, -own.log_odds, -own.directions, own.precision, own.pull
    )
    outcomes = np.random.default_rng(3).integers(0, 2, (5, ITEMS)).astype(float)
    assert own.mirrored.ratios(outcomes) == pytest.approx(turned.ratios(outcomes))
    assert own.mirrored.successes == pytest.approx(1 - own.successes)


def test_a_cell_is_expected_without_its_own_outcome():
    """A uniform chance that was seen to succeed once has the density 2 p; without it, 1 / 2."""
    rng = np.random.default_rng(4)
    draws = np.stack([rng.beta(2, 1, 40_000), rng.beta(1, 2, 40_000), rng.beta(3, 1, 40_000)], 1)
    seen, trials = np.array([1.0, 0.0, 2.0]), np.array([1.0, 1.0, 2.0])
    without = known_items._without_own(seen, trials, np.clip(draws, 1e-6, 1 - 1e-6))
    assert without == pytest.approx(0.5, abs=0.03)
    assert draws.mean(axis=0) == pytest.approx([2 / 3, 1 / 3, 3 / 4], abs=0.01)


def test_small_p_values_are_those_of_many_plain_replicates():
    own = pattern()
    rng = np.random.default_rng(5)
    log_odds = own.log_odds + rng.normal(size=(200_000, 2)) @ own.directions.T
    plain = own.ratios((rng.random(log_odds.shape) < expit(log_odds)).astype(float))
    found = Tails.of((own, seed) for seed in range(50))
    for level in (0.05, 0.005, 0.0005):
        ratio = np.quantile(plain, 1 - level)
        expected = (plain >= ratio).mean()
        chances = found.beyond(ratio)
        error = chances.std() / np.sqrt(len(chances)) + np.sqrt(expected / len(plain))
        assert chances.mean() == pytest.approx(expected, abs=4 * error)
        assert error < 0.2 * expected


def test_all_tests_together_count_the_ratios_of_chance():
    found = Tails(
        np.array([1.0, 3.0]),
        np.array([[0.0, 1.0, 2.0], [0.0, 3.0, 4.0]]),
        np.array([[0.5, 0.3, 0.2], [0.9, 0.06, 0.04]]),
    )
    assert found.alone == pytest.approx([0.5, 0.1])
    assert found.together == pytest.approx([0.6, 0.1])


def test_a_subject_that_tried_nothing_has_nothing_to_show():
    own = Pattern.of(np.zeros(3), np.zeros(3), np.full((100, 3), 0.5), 2)
    found = Tails.of(iter([(own, 1)]))
    assert found.alone == pytest.approx([1])
