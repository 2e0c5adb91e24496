"""Coordinates that are stretched along few directions: found in draws, and the same posterior."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from helpers import shared_layouts
from helpers.populations import cohort_data, exam_layout, normal
from scipy.linalg import eigvalsh
from scipy.special import expit
from scipy.stats import beta

import measurement_layouts as ml
from measurement_layouts.inference.model.cohort import Cohort
from measurement_layouts.inference.sampling import joint_nuts
from measurement_layouts.inference.sampling.convergence import rhat_ess
from measurement_layouts.inference.sampling.directions import Directions, find_directions
from measurement_layouts.inference.sampling.draws import SamplingOptions
from measurement_layouts.inference.sampling.engine import Kernel
from measurement_layouts.inference.sampling.nuts import columns, run_chains
from measurement_layouts.inference.sampling.unbounded import LogDensity
from measurement_layouts.linking import logistic, mixture

HEADS, TRIALS = np.array([0, 1, 3, 9, 12]), np.array([3, 5, 9, 9, 20])
COINS = [f"coin {number}" for number in range(len(HEADS))]


def some_directions(length, count):
    """Directions that mix all coordinates, one of them compressed."""
    rng = np.random.default_rng(4)
    vectors = np.linalg.qr(rng.normal(size=(length, count)))[0].T
    scale, stretch = rng.uniform(0.5, 2, length), np.array([3.0, 0.4, 2.0])[:count, None]
    return Directions(vectors * scale * (stretch - 1), vectors / scale)


def moved(directions, point):
    """The point of the log-density, by the formula of the class."""
    return point + directions.out.T @ directions.into @ point


def test_density_and_gradient_are_those_at_the_moved_point():
    model = Kernel(Cohort.of_evaluation(exam_layout(), cohort_data())).on()
    plain = LogDensity(model)
    directions = some_directions(plain.size, 3)
    stretched = LogDensity(directions.stretched(model))
    point = np.random.default_rng(1).normal(size=plain.size) / 2
    value, gradient = stretched.with_gradient(point)
    there = moved(directions, point)
    expected, slopes = plain.with_gradient(there)
    assert value == pytest.approx(expected, abs=1e-9)
    steps = 1e-5 * np.eye(plain.size)
    numeric = [(stretched(point + step) - stretched(point - step)) / 2e-5 for step in steps]
    np.testing.assert_allclose(gradient, numeric, atol=1e-5)
    assert np.abs(gradient - slopes).max() > 0.1
    np.testing.assert_allclose(directions.inverse(there), point, atol=1e-12)


@pytest.mark.parametrize(("doublings", "draws"), [(10, 4_000), (2, 40_000)])
def test_posteriors_of_coins_are_beta_distributions(doublings, draws):
    """Shares of draws below the ends of the exact central 90 %; points not moved miss them."""
    chance = ml.Bias("chance", per="item", low=0, high=1, prior=ml.Prior("Beta", alpha=1, beta=1))
    came = [np.arange(count) < heads for heads, count in zip(HEADS, TRIALS, strict=True)]
    tosses = pd.DataFrame({"item": np.repeat(COINS, TRIALS), "outcome": np.concatenate(came)})
    evaluation = ml.Evaluation.from_long(tosses.assign(subject="Ann"), repeats="trials")
    layout = ml.Layout("coins", ml.Success("heads", chance))
    cohort = Cohort.of_evaluation(layout, evaluation)
    kernel = Kernel(cohort)
    plain = kernel.on()
    directions = some_directions(len(COINS), 2)
    model = directions.stretched(plain)
    options = SamplingOptions(draws=draws, tune=500, chains=1)
    drawn, steps = run_chains(model, options, 5, 1, 1, points=True, doublings=doublings)
    depths = columns(steps, "depth", options)
    assert depths.max() <= doublings
    (points,) = columns(steps, "unconstrained_draw", options, (len(COINS),))
    order = kernel.order(["item"])[[cohort.levels["item"].index(coin) for coin in COINS]]
    (chances,) = columns(drawn, "chance", options, (len(COINS),))
    there = np.array([moved(directions, point) for point in points])
    np.testing.assert_allclose(expit(there), chances, atol=1e-12)
    for end in (0.05, 0.95):
        exact = beta.ppf(end, 1 + HEADS, 1 + TRIALS - HEADS)
        np.testing.assert_allclose((chances[:, order] < exact).mean(axis=0), end, atol=0.02)
    unmoved = expit(points)[:, order]
    assert np.abs((unmoved < exact).mean(axis=0) - 0.95).max() > 0.05


@dataclasses.dataclass
class Normal:
    """Log-density of a normal distribution, by its precision."""

    precision: np.ndarray

    def at_all(self, points):
        slopes = -points @ self.precision
        return (points * slopes).sum(axis=1) / 2, slopes


def hierarchy(closeness, subjects=30):
    """Precision of three shared values and two of each subject, which are near the first one."""
    precision = np.diag([1.0, 2.0, 3.0, *[1.0, 1.5] * subjects])
    shared, own = np.arange(3), 3 + np.arange(2 * subjects).reshape(-1, 2)
    for first, second in own:
        precision[first, second] = precision[second, first] = 0.3
        for value, weight in ((first, 1.0), (second, 0.4)):
            apart = np.zeros(len(precision))
            apart[[0, value]] = weight, -1.0
            precision += closeness * np.outer(apart, apart)
    return precision, shared, own


def found_in(precision, shared, own):
    """Directions of a normal distribution, from as many draws as a short chain has."""
    rng = np.random.default_rng(6)
    points = rng.multivariate_normal(np.zeros(len(precision)), np.linalg.inv(precision), size=200)
    return find_directions(Normal(precision), points, shared, own)


def test_a_shared_value_is_made_independent_of_the_subjects_values():
    """A normal distribution, whose covariance in the sampler's coordinates is known."""
    precision, shared, own = hierarchy(closeness=4.0)
    found = found_in(precision, shared, own)
    covariance = np.linalg.inv(precision)
    assert len(found.out) == 1
    ratio = 1 / eigvalsh(np.linalg.inv(covariance[:3, :3]), np.diag(np.diag(precision)[:3]))
    assert found.longest == pytest.approx(np.sqrt(ratio.max()), rel=1e-6)

    def correlations(directions):
        back = np.array([directions.inverse(row) for row in np.eye(len(precision))]).T
        now = back @ covariance @ back.T
        along = directions.into[0] @ now
        return along[3:] / np.sqrt((along @ directions.into[0]) * np.diag(now)[3:])

    assert np.abs(correlations(found)).max() < 1e-6
    out = np.where(np.arange(len(precision)) < 3, found.out, 0)
    assert correlations(dataclasses.replace(found, out=out))[::2].min() > 0.2  # the twin


@dataclasses.dataclass
class OneDirection:
    """Log-density of independent standard normal values, some of which are nearly equal."""

    together: np.ndarray
    closeness: float

    def at_all(self, points):
        near = points[:, self.together]
        pull = self.closeness * (near - near.mean(axis=1, keepdims=True))
        slopes = -points
        slopes[:, self.together] -= pull
        return (points * slopes).sum(axis=1) / 2, slopes


def test_a_direction_is_found_among_many_shared_values():
    """Of 1,200 values, the common part of a hundred is long: by the closed form of its variance."""
    together, length = np.arange(100), 1200
    points = np.random.default_rng(2).normal(size=(200, length))
    density = OneDirection(together, closeness=50.0)
    directions = find_directions(density, points, np.arange(length), np.zeros((4, 0), dtype=int))
    assert len(directions.out) == 1
    assert directions.longest == pytest.approx(np.sqrt(1 + 50 * 99 / 100), rel=1e-6)


def ridge():
    """A layout of two abilities of each subject in which all eases and a mean can be exchanged."""
    mean = ml.Bias("mean", per="population", prior=normal(0, 3))
    ability = ml.Capability("ability", prior=normal(mean, ml.Spread("spread")))
    ease = ml.Bias("ease", per="item", prior=normal(0, 3))
    slip = ml.Noise("slip", prior=ml.Prior("Beta", alpha=1, beta=9))
    return ml.Layout("ridge", ml.Success("solved", mixture(logistic(ability + ease), slip, 0.5)))


def explained():
    """A layout of one ability in which a weight trades with all eases."""
    ability = ml.Capability("ability", prior=normal(0, ml.Spread("spread")))
    weight, length = ml.Bias("weight", per="population"), ml.MetaFeature("length", low=-2, high=2)
    chance = logistic(ability - weight * length + shared_layouts.zero_sum("ease"))
    return ml.Layout("explained", ml.Success("solved", chance))


@pytest.mark.slow
@pytest.mark.parametrize(("layout", "value"), [(ridge(), "mean"), (explained(), "weight")])
def test_a_joint_fit_is_stretched_where_shared_values_are_correlated(layout, value):
    """A shared value and all eases: more effective draws, and the same posterior."""
    rng = np.random.default_rng(8)
    names = [f"i{number}" for number in range(10)], [f"s{number}" for number in range(40)]
    log_odds = rng.normal(0, 1, (40, 1)) + np.linspace(-2, 2, 10)
    outcomes = (rng.logistic(size=(40, 10)) < log_odds).astype(int)
    evaluation = ml.Evaluation.from_wide(
        pd.DataFrame(outcomes, names[1], names[0]),
        pd.DataFrame({"length": rng.permutation(np.linspace(-2, 2, 10))}, names[0]),
    )
    cohort = Cohort.of_evaluation(layout, evaluation)
    form = joint_nuts.joint_form(cohort)
    assert form.directions is not None
    options = SamplingOptions(draws=1000, tune=500, chains=1)
    found = {}
    for directions in (form.directions, None):
        model = dataclasses.replace(form, directions=directions).compiled()
        drawn, steps = run_chains(model, options, 9, 1, 1)
        draws = columns(drawn, value, options)[0]
        count = columns(steps, "n_steps", options).sum()
        found[directions is None] = draws, effective(draws) / count
    (stretched, often), (plain, seldom) = found[False], found[True]
    assert often > 1.5 * seldom
    error = np.hypot(*(one.std() / effective(one) ** 0.5 for one in (stretched, plain)))
    assert abs(stretched.mean() - plain.mean()) < 4 * error


def effective(draws):
    """Effective draws of one chain."""
    return float(rhat_ess(draws[None]).ess_bulk)
