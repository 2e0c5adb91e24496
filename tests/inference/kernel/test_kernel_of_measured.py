"""Measured demands: machine code and the plain model against all levels, one after the other."""

import itertools

import numpy as np
import pytest
from helpers.densities import Fused, Plain
from scipy.special import expit
from scipy.stats import binom

import measurement_layouts as ml
from measurement_layouts.evaluations.subject_data import SubjectData
from measurement_layouts.linking import guessing, logistic, mixture, product, total

KINDS = ("reading", "reasoning")
LEVELS = (0, 1, 2.5, 4)
ITEMS = 30


def demand(levels=LEVELS, kinds=KINDS):
    return ml.Measured("demand", levels=levels, labels=kinds)


def ability():
    return ml.Capability("ability", low=0, high=5, labels=KINDS)


def all_needed():
    """A product of dimensions, with guesses and lapses around it."""
    together = product(logistic(ability() - demand(), slope=2), over="dimension")
    chance = ml.MetaFeature("chance", low=0, high=0.5)
    lapses = mixture(guessing(together, chance), by=ml.Noise("noise"), toward=0.5)
    return ml.Layout("all needed", ml.Success("right", lapses))


def additive():
    """A margin that adds the dimensions up."""
    weight = ml.Slope("weight", labels=KINDS, prior=ml.Prior("HalfNormal", sigma=1))
    margin = ml.Derived("margin", ml.Bias("ease") - total(weight * demand(), over="dimension"))
    return ml.Layout("additive", ml.Success("right", logistic(margin)))


def one_demand():
    """No labels, the demand in two places of one margin, and another measured demand beside."""
    able = ml.Capability("able", low=0, high=5)
    hard, rare = ml.Measured("hard", levels=LEVELS), ml.Measured("rare", levels=(0, 1))
    solves = logistic(able - hard - 0.1 * hard * hard)
    knows = logistic(ml.Bias("known") - 2 * rare)
    return ml.Layout("one demand", ml.Success("right", solves * knows))


def all_needed_by_hand(point, features):
    able, noise = 5 * expit(point[:2]), expit(point[2])
    chance = features["chance"]

    def right(levels):
        p = expit(2 * (able - levels)).prod()
        return (1 - noise) * (chance + (1 - chance) * p) + noise * 0.5

    prior = np.log(expit(point) * expit(-point)).sum()
    return right, prior


def additive_by_hand(point, features):
    ease, weight = point[0], np.exp(point[1:])
    prior = -0.5 * ease**2 - 0.5 * (weight**2).sum() + point[1:].sum()
    prior += -0.5 * np.log(2 * np.pi) + 2 * np.log(np.sqrt(2 / np.pi))
    return lambda levels: expit(ease - weight @ levels) + 0 * features["reading"], prior


def one_demand_by_hand(point, features):
    able, known = 5 * expit(point[0]), point[1]
    prior = np.log(expit(point[0]) * expit(-point[0])) + binom.logpmf(0, 0, 0.5)
    prior += -0.5 * known**2 - 0.5 * np.log(2 * np.pi)

    def right(levels):
        hard, rare = levels
        return expit(able - hard - 0.1 * hard**2) * expit(known - 2 * rare) + 0 * features["hard"]

    return right, prior


def battery(layout, rng):
    """Probabilities of levels, some of them 0; and what else the layout wants."""
    found = {"chance": rng.choice([0.0, 0.25], ITEMS)}
    for node in layout.measured:
        shape = (ITEMS, *map(len, node.dims.values()))
        chances = rng.dirichlet(np.full(len(node.levels), 0.5), shape)
        chances[:5] = np.eye(len(node.levels))[0]
        for place, feature in enumerate(node.chances):
            found[feature.name] = np.ascontiguousarray(chances[..., place])
    return found


def by_hand(layout, by, point, features, data, *, each=False):
    """Log-posterior: a sum over all combinations of levels, inside the logarithm of an item.

    With `each`, trials meet levels of their own.
    """
    slots, chances = [], []
    for node in layout.measured:
        for label in range(len(node.labels or [0])):
            slots.append(node.levels)
            columns = [features[part.name].reshape(ITEMS, -1)[:, label] for part in node.chances]
            chances.append(np.stack(columns, axis=1))
    shown = {**features, "reading": np.zeros(ITEMS), "hard": np.zeros(ITEMS)}
    right, prior = by(point, shown)
    places = list(itertools.product(*(range(len(levels)) for levels in slots)))
    weights = [
        np.prod([q[:, at] for q, at in zip(chances, p, strict=True)], axis=0) for p in places
    ]
    levels = [np.array([own[at] for own, at in zip(slots, p, strict=True)]) for p in places]
    if each:
        mean = sum(w * right(at) for w, at in zip(weights, levels, strict=True))
        found = binom.pmf(data.successes, data.trials, mean)
    else:
        found = sum(
            w * binom.pmf(data.successes, data.trials, right(at))
            for w, at in zip(weights, levels, strict=True)
        )
    return prior + np.log(found).sum()


CASES = {
    "all needed": (all_needed, all_needed_by_hand, 3),
    "additive": (additive, additive_by_hand, 3),
    "one demand": (one_demand, one_demand_by_hand, 2),
}


def slopes_by_differences(density, point, step=1e-5):
    return [
        (density(point + step * way) - density(point - step * way)) / (2 * step)
        for way in np.eye(len(point))
    ]


@pytest.mark.parametrize("most", [1, pytest.param(6, marks=pytest.mark.slow)])
@pytest.mark.parametrize("case", CASES)
def test_the_density_is_the_sum_over_all_levels(case, most, rng):
    make, by, length = CASES[case]
    layout = make()
    features = battery(layout, rng)
    trials = rng.integers(0, most + 1, ITEMS)
    data = SubjectData(rng.binomial(trials, 0.4), trials, {})
    form = layout.several if most > 1 else layout
    fused, plain = Fused(form, features, data), Plain(form, features, data)
    for _ in range(3):
        point = rng.normal(size=length)
        exact = by_hand(layout, by, point, features, data)
        value, gradient, status = fused(point)
        wanted, slopes = plain(point)
        assert status == 0
        np.testing.assert_allclose([value, wanted], exact, rtol=1e-10)
        np.testing.assert_allclose(gradient, slopes, rtol=1e-9, atol=1e-9)
        numerical = slopes_by_differences(lambda at: by_hand(layout, by, at, features, data), point)
        np.testing.assert_allclose(gradient, numerical, rtol=1e-5, atol=1e-5)


def test_draws_of_many_levels_are_near_the_sum_over_all(rng):
    """1,296 combinations are drawn from: success probabilities are off by .01 at most.

    Of 128 draws at random, one would be off by sqrt(var / 128), about .02 here.
    """
    kinds = ("a", "b", "c", "d")
    hard = demand(range(6), kinds)
    margin = ml.Bias("ease") - total(hard, over="dimension") / 4
    layout = ml.Layout("additive", ml.Success("right", logistic(2 * margin)))
    true = rng.integers(0, 6, (ITEMS, 4, 1))
    chances = np.exp(-0.5 * (true - np.arange(6)) ** 2)
    chances /= chances.sum(axis=-1, keepdims=True)
    features = {part.name: chances[..., at] for at, part in enumerate(hard.chances)}
    data = SubjectData(np.ones(1, dtype=int), np.ones(1, dtype=int), {})
    places = np.array(list(itertools.product(range(6), repeat=4)))
    off = []
    for item in range(ITEMS):
        own = {name: values[[item]] for name, values in features.items()}
        fused, ease = Fused(layout, own, data), 2.5
        prior = -0.5 * ease**2 - 0.5 * np.log(2 * np.pi)
        found = np.exp(fused(np.array([ease]))[0] - prior)
        weights = np.prod([chances[item, at, places[:, at]] for at in range(4)], axis=0)
        off.append(found - weights @ expit(2 * (ease - places.mean(axis=1))))
    assert np.abs(off).max() < 0.01
    assert np.abs(off).mean() < 0.003
