"""How far groups left out are off: against brute force, and known truth."""

import numpy as np
import pytest
from scipy.special import expit, log_expit, logsumexp

from measurement_layouts.validation.prediction.misfit import (
    LeftOut,
    log_marginal,
    parted,
    posterior_of_misfit,
)

NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(21)
WEIGHTS = WEIGHTS / WEIGHTS.sum()
GROUPS, SUBJECTS, ITEMS = 12, 6, 8


def exact(successes, trials, log_odds, **variances):
    """Give a group whose forecasts' variances are known."""
    subjects, items = np.shape(trials)
    known = {
        "common": 0.0,
        "by_subject": np.zeros(subjects),
        "by_item": np.zeros(items),
        "rest": np.zeros((subjects, items)),
    } | variances
    return LeftOut("g", np.asarray(successes), np.asarray(trials), np.asarray(log_odds), **known)


def by_brute_force(left, slope, group_sd, subject_sd, item_sd, centre):
    """Add up over a grid of all offsets: one of the group, two subjects' and two items'."""
    axes = np.meshgrid(*[np.arange(len(NODES))] * 5, indexing="ij", sparse=True)
    offset, ann, bob, first, second = (NODES[own] for own in axes)
    steeper = np.sqrt(1 + np.pi * (group_sd**2 + subject_sd**2 + item_sd**2) / 8)
    slope, centre, about = steeper * slope, steeper * centre, centre
    spread = np.sqrt(group_sd**2 + slope**2 * left.common)
    total = sum(np.log(WEIGHTS[own]) for own in axes)
    for row, mine in enumerate((ann, bob)):
        of_subject = np.sqrt(subject_sd**2 + slope**2 * left.by_subject[row])
        for column, theirs in enumerate((first, second)):
            of_item = np.sqrt(item_sd**2 + slope**2 * left.by_item[column])
            at = centre + slope * (left.log_odds[row, column] - about)
            at = at + spread * offset + of_subject * mine + of_item * theirs
            won, tried = left.successes[row, column], left.trials[row, column]
            total = total + won * log_expit(at) + (tried - won) * log_expit(-at)
    return logsumexp(total)


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(
    "point", [(1.0, 0.5, 0.3, 0.4), (0.6, 1.2, 0.5, 0.2), (1.4, 0.2, 0.1, 0.7)]
)
def test_the_likelihood_is_that_of_brute_force(point, turned):
    left = exact(
        [[9, 14], [3, 17]],
        [[20, 20], [20, 20]],
        [[0.5, 1.0], [-0.5, 0.8]],
        common=0.04,
        by_subject=np.array([0.02, 0.05]),
        by_item=np.array([0.03, 0.0]),
    )
    if turned:  # the longer side is eliminated: here there is none
        left = exact(
            left.successes.T,
            left.trials.T,
            left.log_odds.T,
            common=0.04,
            by_subject=left.by_item,
            by_item=left.by_subject,
        )
    (ours,) = log_marginal(left, np.array([point]), 0.2)
    assert ours == pytest.approx(by_brute_force(left, *point, 0.2), abs=0.02)  # Laplace's error


def test_a_spread_that_is_left_out_is_noticed():
    """Twin that must fail."""
    left = exact([[19, 1], [1, 19]], np.full((2, 2), 20), np.zeros((2, 2)))
    point = (1.0, 0.5, 0.3, 1.0)
    (ours,) = log_marginal(left, np.array([(*point[:3], 0.1)]), 0.0)
    assert abs(ours - by_brute_force(left, *point, 0.0)) > 1


def test_more_items_than_subjects_and_the_other_way_round(rng):
    """Either side is eliminated: the same number."""
    won = rng.binomial(1, 0.6, (3, 7))
    left = exact(won, np.ones((3, 7)), rng.normal(size=(3, 7)), rest=rng.uniform(0, 1, (3, 7)))
    other = exact(won.T, np.ones((7, 3)), left.log_odds.T, rest=left.rest.T)
    ours = log_marginal(left, np.array([[0.8, 1.0, 0.5, 0.3]]), 0.1)
    theirs = log_marginal(other, np.array([[0.8, 1.0, 0.3, 0.5]]), 0.1)
    assert ours == pytest.approx(theirs, abs=1e-8)


def test_parts_of_the_variance():
    """Offsets in common, of subjects and of items, drawn with known variances."""
    rng = np.random.default_rng(5)
    common, own = rng.normal(0, 1, 4000), rng.normal(0, 0.5, (40, 4000))
    of_items, rest = rng.normal(0, 0.7, (30, 4000)), rng.normal(0, 0.3, (40, 30, 4000))
    every = [common + mine + of_items + each for mine, each in zip(own, rest, strict=True)]
    left = parted("g", np.ones((40, 30)), np.ones((40, 30)), every)
    assert left.common == pytest.approx(1.0, rel=0.1)
    assert left.by_subject.mean() == pytest.approx(0.25, rel=0.1)
    assert left.by_item.mean() == pytest.approx(0.49, rel=0.1)
    assert left.variance.mean() == pytest.approx(1 + 0.25 + 0.49 + 0.09, rel=0.05)


def simulated(seed, *, slope, spreads, groups=GROUPS):
    """Simulate groups whose forecasts are off by known spreads."""
    rng = np.random.default_rng(seed)
    group, subject, item = spreads
    found = []
    steeper = np.sqrt(1 + np.pi * np.square(spreads).sum() / 8)
    for _ in range(groups):
        log_odds = rng.normal(0, 1, (SUBJECTS, 1)) + rng.normal(0, 1.2, ITEMS)
        off = rng.normal(0, group) + rng.normal(0, subject, (SUBJECTS, 1))
        chance = expit(steeper * slope * log_odds + off + rng.normal(0, item, ITEMS))
        found.append(exact(rng.binomial(1, chance), np.ones_like(chance), log_odds))
    return found


def test_few_groups_keep_the_prior_and_many_replace_it():
    few, many = (
        posterior_of_misfit(
            simulated(1, slope=1, spreads=(0.2, 0, 0), groups=count), centre=0, seed=1
        )["group_sd"].quantile(0.95)
        for count in (2, 24)
    )
    assert many < 0.7 < few


def test_what_cannot_be_told_is_left_out():
    one = [exact(np.ones((1, 3)), np.ones((1, 3)), np.zeros((1, 3)))] * 2
    found = posterior_of_misfit(one, centre=0, seed=1, draws=20)
    assert (found[["subject_sd", "item_sd"]] == 0).all(axis=None)


def test_one_seed_gives_the_same_draws():
    groups = simulated(2, slope=1, spreads=(1, 0, 0), groups=3)
    one, same, other = (posterior_of_misfit(groups, centre=0, seed=seed) for seed in (1, 1, 2))
    assert one.equals(same)
    assert not one.equals(other)


@pytest.mark.slow
def test_spreads_are_recovered_and_slopes_on_the_way():
    """Intervals of 90 % hold the spread about so often; one twice as large is not held.

    The slope is drawn towards 1, by n / (n + 3) of its logarithm, and lies about there.
    """
    studies, held, twin = 10, [], []
    for slope, spreads in ((0.6, (1.0, 0.0, 0.0)), (1.0, (0.8, 0.4, 0.5))):
        slopes = []
        for seed in range(studies):
            groups = simulated(seed, slope=slope, spreads=spreads)
            found = posterior_of_misfit(groups, centre=0, seed=1)
            low, high = found["group_sd"].quantile([0.05, 0.95])
            held.append(low <= spreads[0] <= high)
            twin.append(low <= 2 * spreads[0] <= high)
            slopes.append(np.log(found["slope"]).mean())
        drawn = GROUPS / (GROUPS + 3) * np.log(slope)
        error = 3 * np.std(slopes, ddof=1) / np.sqrt(studies)
        assert np.mean(slopes) == pytest.approx(drawn, abs=error)
    error = 3 * np.sqrt(0.9 * 0.1 / len(held))
    assert np.mean(held) > 0.9 - error
    assert np.mean(twin) < 0.9 - error
