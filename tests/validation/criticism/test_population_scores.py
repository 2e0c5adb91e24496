"""Score tests of what a population misses, against exact marginal likelihoods."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from scipy.stats import norm

from measurement_layouts.validation.criticism.population import dependence
from measurement_layouts.validation.criticism.population.invariance import Contrast, invariance
from measurement_layouts.validation.criticism.population.louis import (
    ITEM,
    SUBJECT,
    Direction,
    adjusted,
    louis,
)
from measurement_layouts.validation.criticism.population.person_fit import person_fit
from measurement_layouts.validation.criticism.population.residuals import Residuals
from measurement_layouts.validation.criticism.population.saddlepoint import tails

JUDGED = {"alpha": 0.05, "prob": 0.9}
GRID = np.linspace(-6, 6, 241)
EASE = np.array([-1.5, -1.0, -0.5, 0.0, 0.3, 0.8, 1.2, 1.6])


def rasch(outcomes, ease, draws, seed=1):
    """Leave over what exact draws of abilities do, given eases; abilities are standard normal."""
    rng = np.random.default_rng(seed)
    log_odds = GRID[:, None] + ease
    log_mass = norm.logpdf(GRID) + (outcomes @ log_odds.T - np.logaddexp(0, log_odds).sum(axis=1))
    mass = np.exp(log_mass - log_mass.max(axis=1, keepdims=True))
    below = mass.cumsum(axis=1) / mass.sum(axis=1, keepdims=True)
    strata = rng.permuted(np.tile(np.arange(draws), (len(outcomes), 1)), axis=1)
    uniform = (strata + rng.random(strata.shape)) / draws
    places = np.stack([np.searchsorted(*each) for each in zip(below, uniform, strict=True)])
    able = GRID[np.minimum(places, len(GRID) - 1)].T
    chances = expit(able[:, :, None] + ease)
    names = [f"s{row}" for row in range(len(outcomes))]
    items = [f"i{column}" for column in range(len(ease))]
    return Residuals(names, items, outcomes, np.ones_like(outcomes), chances)


def drawn(subjects, ease, seed, extra=0.0):
    """Draw outcomes of a Rasch layout, with something more on the log-odds."""
    rng = np.random.default_rng(seed)
    log_odds = rng.normal(size=(subjects, 1)) + ease + extra
    return (rng.logistic(size=log_odds.shape) < log_odds).astype(float)


def marginal(outcomes, ease, moved):
    """Integrate abilities out; `moved` turns log-odds, (grid, items), into cells' log densities."""
    total = 0.0
    for row, own in enumerate(outcomes):
        each = moved(row, own, GRID[:, None] + ease) + norm.logpdf(GRID)
        total += np.log(np.exp(each).sum() * (GRID[1] - GRID[0]))
    return total


def slopes(likelihood, step=0.02):
    """Differentiate twice at 0."""
    below, at, above = (likelihood(beta) for beta in (-step, 0.0, step))
    return (above - below) / (2 * step), -(above - 2 * at + below) / step**2


def bernoulli(own, log_odds):
    return (own * log_odds - np.logaddexp(0, log_odds)).sum(axis=1)


def test_an_items_level_is_scored_as_the_exact_marginal_likelihood_says():
    outcomes = drawn(30, EASE, seed=3, extra=np.eye(8)[2])
    residuals = rasch(outcomes, EASE, draws=4000)

    def of_level(block):
        return block.leftover.sum(axis=1), block.weights.sum(axis=1)

    tested = louis(residuals, of_level)
    for item in range(3):
        unit = np.eye(8)[item]
        score, information = slopes(
            lambda beta, unit=unit: marginal(
                outcomes, EASE, lambda _, own, odds: bernoulli(own, odds + beta * unit)
            )
        )
        assert tested.score[item, 0] == pytest.approx(score, abs=0.03)
        assert tested.information[item, 0, 0] == pytest.approx(information, rel=0.03)
        # the twin: information as if abilities were known is another number
        assert tested.complete[item, 0, 0] > 1.05 * information


def test_pairs_are_scored_as_the_exact_marginal_likelihood_says():
    outcomes = drawn(30, EASE, seed=4)
    found = dependence.pairs(rasch(outcomes, EASE, draws=8000), **JUDGED).set_index(
        ["item", "other"]
    )
    row = found.iloc[0]
    one, other = (int(name.removeprefix("i")) for name in row.name)

    def moved(beta):
        def of_cells(_, own, odds):
            left = own - expit(odds)
            return bernoulli(own, odds) + np.log1p(beta * left[:, one] * left[:, other])

        return of_cells

    score, information = slopes(lambda beta: marginal(outcomes, EASE, moved(beta)))
    # the expected products of weights stand for the squared products of what is left over
    assert row["effect"] / (row["high"] - row["effect"]) ** 2 * norm.isf(0.05) ** 2 == (
        pytest.approx(score, abs=0.05)
    )
    assert np.sign(row["effect"]) == np.sign(score)
    assert information > 0


def test_slopes_of_persons_are_scored_as_the_exact_marginal_likelihood_says():
    outcomes = drawn(20, EASE, seed=5)
    tested = Direction(lambda block: [block.log_odds], SUBJECT).test(
        rasch(outcomes, EASE, draws=8000)
    )

    def moved(beta):
        def of_cells(_, passed, odds):
            weights = expit(odds) * expit(-odds)
            mean = (weights * odds).sum(axis=1) / weights.sum(axis=1)
            return bernoulli(passed, odds + beta * (odds - mean[:, None]))

        return of_cells

    for row in range(4):
        alone = outcomes[[row]]
        score, _ = slopes(lambda beta, alone=alone: marginal(alone, EASE, moved(beta)))
        assert tested.score[row, 0] == pytest.approx(score, abs=0.02)


def test_scores_of_persons_have_the_stated_variance_over_all_patterns():
    patterns = np.array(list(itertools.product([0.0, 1.0], repeat=8)))
    log_odds = GRID[:, None] + EASE
    each = np.exp(patterns @ log_odds.T - np.logaddexp(0, log_odds).sum(axis=1))
    chance = each @ norm.pdf(GRID)
    chance /= chance.sum()
    residuals = rasch(patterns, EASE, draws=2000)

    def of_level(block):
        return block.leftover.sum(axis=2), block.weights.sum(axis=2)

    slope = Direction(lambda block: [block.log_odds], SUBJECT)
    for tested in (slope.test(residuals), louis(residuals, of_level)):
        score, stated = tested.score[:, 0], tested.information[:, 0, 0]
        assert chance @ score == pytest.approx(0, abs=0.01)
        assert chance @ score**2 == pytest.approx(chance @ stated, rel=0.1)
    # the twin: without what the draws leave open of the ability, it is stated too large
    assert chance @ tested.complete[:, 0, 0] > 1.5 * (chance @ score**2)


def test_rare_sums_have_the_tails_of_the_exact_distribution():
    rng = np.random.default_rng(6)
    chances, weights = rng.uniform(0.02, 0.2, 25), rng.uniform(0.5, 2, 25)
    passed = rng.random((400_000, 25)) < chances
    sums = (passed - chances) @ weights / np.sqrt(chances * (1 - chances) @ weights**2)
    values = np.stack([-chances * weights, (1 - chances) * weights], axis=1)[None]
    points = np.stack([1 - chances, chances], axis=1)[None]
    for x in (2.0, 3.0, 4.0):
        exact = (sums > x).mean()
        (p,) = tails(np.array([x]), values, points)
        assert p / 2 == pytest.approx(exact, rel=0.1)
        assert abs(norm.sf(x) - exact) > 0.1 * exact, "the twin: the normal distribution is off"


@pytest.mark.parametrize(
    "table",
    [
        *("subjects", "slopes", "groups", "pairs", "testlets"),
        pytest.param("levels", marks=pytest.mark.slow),
    ],
)
def test_false_alarms_are_as_stated(table):
    rng = np.random.default_rng(7)
    ease = rng.normal(size=16)
    alarms, ps = [], []
    for number in range(60):
        residuals = rasch(drawn(40, ease, seed=number), ease, draws=200, seed=number)
        rows = judged(table, residuals)
        alarms.append(rows["flagged"].any())
        ps.append(rows["p"].to_numpy())
    assert np.mean(alarms) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 60)
    if table not in ("pairs", "testlets"):  # of which the smallest are shown, or a sum of all
        assert 0.02 < np.mean(np.concatenate(ps) < 0.05) < 0.065


def half(residuals):
    """Hold every other subject against the rest."""
    odd = np.arange(len(residuals.subjects)) % 2 == 1
    return Contrast("batch", ("b",), "a", odd[:, None].astype(float))


def test_items_that_differ_are_left_out_of_what_subjects_are_in_all():
    ease = np.linspace(-1.5, 1.5, 12)
    odd = (np.arange(400) % 2)[:, None]
    extra = 2.0 * (odd - 0.5) * (np.arange(12) < 4)
    residuals = rasch(drawn(400, ease, seed=1, extra=extra), ease, draws=200)
    found = invariance(residuals, [half(residuals)], **JUDGED)
    assert list(found["flagged"]) == [True] * 4 + [False] * 8
    assert (found["anchor"] == ~found["flagged"]).all()
    assert np.abs(found["effect"][4:].mean()) < 0.15
    # the twin: beside all items, those that are alike look harder for the group
    direction = Direction(lambda block: [half(residuals).values], ITEM)
    effect, error = direction.test(residuals).alone()
    assert effect[4:].mean() < -0.4
    assert (np.abs(effect / error)[4:] > 2.9).any()


def judged(table, residuals):
    """Make one of the tables."""
    people = np.arange(len(residuals.subjects))
    two = Contrast("batch", ("b",), "a", (people[:, None] % 2 == 1).astype(float))
    four = Contrast("school", tuple("abcd"), "", (people[:, None] % 4 == range(4)).astype(float))
    if table == "subjects":
        return person_fit(residuals, residuals.subjects, **JUDGED)
    if table == "slopes":
        direction = Direction(lambda block: [block.log_odds], ITEM)
        p = direction.chances(residuals, direction.test(residuals))
        return adjusted(pd.DataFrame({"p": p}), 0.05)
    if table == "pairs":
        return dependence.pairs(residuals, **JUDGED)
    if table == "testlets":
        groups = {str(at): np.arange(at, at + 4) for at in range(0, len(residuals.items), 4)}
        return dependence.testlets(residuals, groups, seed=1, **JUDGED)
    return invariance(residuals, [two if table == "groups" else four], **JUDGED)
