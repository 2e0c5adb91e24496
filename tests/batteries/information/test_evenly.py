"""Profiles that stand for all: chosen evenly, they know a mean better than taken blindly."""

import numpy as np

from measurement_layouts.batteries.information.sensitivity import evenly


def tails(drawn):
    """What few draws decide: 40 where the first element is far out, 1 elsewhere."""
    return np.where(np.abs(drawn[:, 0]) > 2, 40.0, 1.0)


def misses(drawn, choose, count=200, times=12):
    """How far means over chosen draws are from the mean over all, root mean square."""
    found = [tails(drawn[choose(np.random.default_rng(k))]).mean() for k in range(times)]
    return np.sqrt(np.mean((np.array(found) - tails(drawn).mean()) ** 2))


def test_a_mean_that_few_draws_decide_is_known_better():
    for elements, gain in ((1, 3.5), (3, 1.7), (9, 1.2)):
        drawn = np.random.default_rng(1).normal(size=(4000, elements))
        even = misses(drawn, lambda rng, drawn=drawn: evenly(drawn, 200, rng))
        blind = misses(drawn, lambda rng: rng.choice(4000, 200, replace=False))
        assert blind > gain * even


def test_correlations_are_those_of_all():
    """Of elements that go together, as under a population; twin: when each is shuffled."""
    rng = np.random.default_rng(2)
    drawn = rng.multivariate_normal(np.zeros(3), 0.2 * np.eye(3) + 0.8, 4000)
    found = [
        np.corrcoef(drawn[evenly(drawn, 200, np.random.default_rng(k))], rowvar=False)[0, 1]
        for k in range(6)
    ]
    assert abs(np.mean(found) - 0.8) < 0.03
    assert np.std(found) < 0.05


def test_each_draw_is_chosen_once_and_the_seed_decides():
    drawn = np.random.default_rng(3).normal(size=(500, 2))
    first, again, other = (evenly(drawn, 100, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert len(set(first)) == 100
    assert (first == again).all()
    assert set(first) != set(other)
    few = evenly(drawn[:30], 100, np.random.default_rng(1))
    assert (len(few), set(few) <= set(range(30))) == (100, True)
