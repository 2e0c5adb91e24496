"""The integrated density: priors, items and statistics, against SciPy and by hand.

Tolerance 1e-6, of standard deviations or of the mass: what `quadrature.cubature` promises.
"""

from itertools import pairwise

import numpy as np
import pytest
from helpers import hand_written, small_layouts
from scipy import stats
from scipy.integrate import quad
from scipy.special import expit

import measurement_layouts as ml
from measurement_layouts import FitError, Prior
from measurement_layouts.evaluations.subject_data import SubjectData
from measurement_layouts.inference.sampling.convergence import convergence, faults
from measurement_layouts.inference.sampling.draws import SamplingOptions
from measurement_layouts.inference.sampling.engine import Battery, compile_sampler
from measurement_layouts.inference.sampling.grid.posterior import ExactPosterior, integrate
from measurement_layouts.inference.sampling.grid.quadrature import draw
from measurement_layouts.inference.sampling.nuts import sample
from measurement_layouts.linking import logistic, mean_failure, mixture, presence, product

PROMISED = 1e-6
OPTIONS = SamplingOptions(draws=500)
DEMAND = ml.MetaFeature("demand", low=0, high=5)


def posterior(layout, features, right, tried, failure=0.5):
    data = SubjectData(np.array(right), np.array(tried), {"meanFailure": failure})
    return ExactPosterior(Battery(layout, features, len(tried)), data)


def moments(*given):
    """Mean and standard deviation."""
    mean, variance = posterior(*given).boxes().moments()
    return mean, np.sqrt(variance)


def by_quad(density, *points):
    """Mean and standard deviation of a density in one variable, piece by piece."""
    mass, first, second = (
        sum(quad(lambda x, k=k: x**k * density(x), *ends, epsabs=0)[0] for ends in pairwise(points))
        for k in range(3)
    )
    return first / mass, np.sqrt(second / mass - (first / mass) ** 2)


def test_a_coins_quantiles_are_the_betas():
    flips = posterior(small_layouts.coin(), {}, [3, 0, 9, 4], [5, 0, 12, 7])
    levels = np.array([0.001, 0.05, 0.5, 0.95, 0.999])
    points, _ = draw(flips.boxes(), levels[:, None])
    quantiles = flips([points[:, 0]])[1][:, 0]
    np.testing.assert_allclose(quantiles, stats.beta(17, 9).ppf(levels), atol=PROMISED)
    assert np.abs(quantiles - stats.beta(17, 10).ppf(levels)).max() > 0.01  # must differ


PRIORS = {
    "Normal": (Prior("Normal", mu=1, sigma=2), stats.norm(1, 2), -20, 1, 20),
    "Beta": (Prior("Beta", alpha=0.5, beta=2), stats.beta(0.5, 2), 0, 1e-4, 0.1, 1),
    "HalfNormal": (Prior("HalfNormal", sigma=2), stats.halfnorm(scale=2), 0, 2, 20),
    "LogNormal": (Prior("LogNormal", mu=0, sigma=1), stats.lognorm(1), 0, 1, 10, 100, 1e4),
    "StudentT": (Prior("StudentT", nu=7, mu=0, sigma=1), stats.t(7), -99, -5, 5, 99),
    "VonMises": (Prior("VonMises", mu=3, kappa=2), stats.vonmises(2, 3), -np.pi, 0, np.pi),
    "TruncatedNormal": (
        Prior("TruncatedNormal", mu=0, sigma=1, lower=0.5, upper=3),
        stats.truncnorm(0.5, 3),
        *(0.5, 3),
    ),
}


@pytest.mark.parametrize("name", PRIORS)
@pytest.mark.parametrize("right", [0, 1, 3])
def test_one_item_with_any_prior(name, right):
    """Three trials of one item; also none solved, and all."""
    prior, exact, *points = PRIORS[name]
    layout = ml.Layout("one", ml.Success("ok", logistic(ml.Capability("c", prior=prior) - DEMAND)))
    (mean,), (sd,) = moments(layout, {"demand": np.array([1.5])}, [right], [3])

    def density(x):
        return exact.pdf(x) * expit(x - 1.5) ** right * expit(1.5 - x) ** (3 - right)

    by_scipy = by_quad(density, *points)
    assert abs(mean - by_scipy[0]) < PROMISED * sd
    assert abs(sd / by_scipy[1] - 1) < PROMISED


def test_a_forgotten_prior_is_noticed():
    """Twin that must fail: the likelihood alone, on the prior's range."""
    prior, _, *points = PRIORS["HalfNormal"]
    layout = ml.Layout("one", ml.Success("ok", logistic(ml.Capability("c", prior=prior) - DEMAND)))
    (mean,), _ = moments(layout, {"demand": np.array([1.5])}, [1], [3])
    alone, _ = by_quad(lambda x: expit(x - 1.5) * expit(1.5 - x) ** 2, *points)
    assert abs(mean - alone) > 0.1


def test_outcomes_beyond_the_prior_are_followed():
    """Sure of itself, and wrong: the posterior lies 17 standard deviations out."""
    prior = Prior("Normal", mu=0, sigma=1)
    layout = ml.Layout("far", ml.Success("ok", logistic(ml.Capability("c", prior=prior) - DEMAND)))
    (mean,), (sd,) = moments(layout, {"demand": np.array([18.0])}, [20_000], [80_000])

    def density(x):
        chance = 20_000 * stats.logistic.logcdf(x - 18) + 60_000 * stats.logistic.logsf(x - 18)
        return np.exp(chance + stats.norm.logpdf(x) + 45_125)

    by_scipy = by_quad(density, 16, 16.9, 17, 18)
    assert abs(mean - by_scipy[0]) < 10 * PROMISED * sd
    assert mean > 16


def test_two_capabilities_each_with_items_of_its_own():
    """Independent: the product of two closed forms, along both axes."""
    skill = ml.Capability("skill", low=0, high=1, labels=("read", "write"))
    needed = ml.MetaFeature("needed", levels=(0, 1), labels=("read", "write"))
    layout = ml.Layout("two", ml.Success("ok", product(presence(skill, needed), over="dimension")))
    features = {"needed": np.array([[1.0, 0.0], [0.0, 1.0]])}
    mean, sd = moments(layout, features, [7, 1], [9, 40])
    exact = stats.beta(8, 3), stats.beta(2, 40)
    np.testing.assert_allclose((mean - [one.mean() for one in exact]) / sd, 0, atol=PROMISED)
    np.testing.assert_allclose(sd, [one.std() for one in exact], rtol=PROMISED)


def test_a_bound_that_is_another_latent():
    """Uniform below a uniform bound: a triangle, by a rule for each of its strips."""
    limit = ml.Capability("limit", low=1, high=5)
    skill = ml.Capability("skill", prior=Prior("Uniform", lower=0, upper=limit))
    layout = ml.Layout("below", ml.Success("ok", logistic(skill - DEMAND)))
    mean, sd = moments(layout, {"demand": np.array([2.0])}, [3], [4])
    nodes, weights = np.polynomial.legendre.leggauss(60)
    bound = 3 + 2 * nodes[:, None]
    below = bound * (nodes + 1) / 2
    mass = weights[:, None] * weights * expit(below - 2) ** 3 * expit(2 - below)
    mass /= mass.sum()
    names = [latent.name for latent in layout.latents]
    for name, values in {"limit": bound, "skill": below}.items():
        place = names.index(name)
        assert abs(mean[place] - (mass * values).sum()) < PROMISED
        assert abs(sd[place] ** 2 - (mass * (values - mean[place]) ** 2).sum()) < PROMISED


@pytest.mark.parametrize("name", ["bands", "guesses", "obstacles"])
def test_lp_is_the_density_by_hand(name, rng):
    """Of draws; interpolated, hence 1e-4 nats. On the scale of NUTS, binomial coefficients too."""
    case = getattr(hand_written, name)(rng)
    battery = Battery.of(case.layout, case.evaluation)
    draws = integrate(battery, SubjectData.of(case.evaluation, "Ann"), OPTIONS, seed=1)
    for number in range(0, OPTIONS.draws, 50):
        point = {
            name: latent.unconstrained(draws.posterior[name][2, number])
            for name, latent in case.latents.items()
        }
        assert draws.statistics["lp"][2, number] == pytest.approx(case.log_density(point), abs=1e-4)


def noisy(count=40):
    skill, noise = ml.Capability("skill", low=0, high=5), ml.Noise("noise")
    layout = ml.Layout(
        "noisy", ml.Success("ok", mixture(logistic(skill - DEMAND), by=noise, toward=mean_failure))
    )
    demand = np.linspace(0, 5, count)
    right = np.random.default_rng(3).binomial(1, 0.8 * expit(2.5 - demand) + 0.1)
    return layout, {"demand": demand}, right


def test_items_alike_are_collapsed_and_untried_ones_left_out():
    layout, features, right = noisy(8)
    twice = {"demand": np.append(features["demand"], features["demand"])}
    tried = np.arange(8) % 3
    apart = moments(layout, twice, np.append(right * 0, right * tried), np.append(tried * 0, tried))
    some = tried > 0
    fewer = {"demand": features["demand"][some]}
    short = moments(layout, fewer, (right * tried)[some], tried[some])
    np.testing.assert_allclose(apart, short, rtol=PROMISED)
    other = moments(layout, features, right * tried, np.maximum(tried, 1))
    assert np.abs(np.subtract(apart, other)).max() > 1e-3  # untried is not failed


def test_the_pull_of_the_noise_is_the_subjects_own():
    layout, features, right = noisy()
    near, far = (moments(layout, features, right, right * 0 + 1, pull)[0] for pull in (0.5, 0.9))
    assert np.abs(near - far).max() > 0.01


def test_draws_are_spread_evenly_and_look_independent():
    """Means ten times closer than independent draws', at 500 a chain; R-hat and sizes as theirs."""
    layout, features, right = noisy()
    data = SubjectData(right, np.ones_like(right), {"meanFailure": 0.5})
    battery = Battery(layout, features, len(right))
    mean, variance = ExactPosterior(battery, data).boxes().moments()
    offs = []
    for seed in range(10):
        draws = integrate(battery, data, OPTIONS, seed)
        both = [draws.posterior[latent.name] for latent in layout.latents]
        offs.append([one.mean() for one in both] - mean)
        found = convergence(draws)
        assert found.rhat < 1.01
        assert 1500 < found.ess < 2500
        assert not faults(found, OPTIONS.chains)
    independent = np.sqrt(variance / (OPTIONS.chains * OPTIONS.draws))
    assert (np.sqrt(np.mean(np.square(offs), axis=0)) < independent / 5).all()


def test_a_seed_gives_the_same_draws_and_another_others():
    layout, features, right = noisy()
    data = SubjectData(right, np.ones_like(right), {"meanFailure": 0.5})
    one, same, other = (
        integrate(Battery(layout, features, len(right)), data, OPTIONS, seed) for seed in (1, 1, 2)
    )
    for name in one.posterior:
        assert one.posterior[name].tolist() == same.posterior[name].tolist()
        assert not np.isin(one.posterior[name], other.posterior[name]).any()


def test_statistics_are_those_of_nuts():
    layout, features, right = noisy()
    data = SubjectData(right, np.ones_like(right), {"meanFailure": 0.5})
    battery, options = Battery(layout, features, len(right)), SamplingOptions(4, 20, 2)
    ours = integrate(battery, data, options, seed=1).statistics
    theirs = sample(compile_sampler(battery), data, options, seed=1).statistics
    assert {name: (each.shape, each.dtype) for name, each in ours.items()} == {
        name: (each.shape, each.dtype) for name, each in theirs.items()
    }


def test_a_layout_that_has_no_value_is_refused():
    @ml.linking.linking_function(range=(0, 1), latex="?")
    def nowhere(x):
        return x * np.nan

    skill = ml.Capability("skill", low=0, high=1)
    layout = ml.Layout("nowhere", ml.Success("ok", nowhere(skill)))
    with pytest.raises(FitError, match="posterior of skill cannot be normalised"):
        moments(layout, {}, [1], [2])


def test_three_elements_are_named():
    skills = [ml.Capability(name, low=0, high=1) for name in "abc"]
    layout = ml.Layout("three", ml.Success("ok", product(*skills)))
    with pytest.raises(FitError, match=r"3 profile elements \(a, b, c\), but at most 2"):
        moments(layout, {}, [1], [2])


def test_more_items_than_a_block_holds():
    """2,000 different ones, by SciPy."""
    skill = ml.Capability("c", low=0, high=5)
    layout = ml.Layout("many", ml.Success("ok", logistic(skill - DEMAND)))
    demand = np.linspace(0, 5, 2000)
    right = np.random.default_rng(5).binomial(1, expit(2 - demand))
    (mean,), (sd,) = moments(layout, {"demand": demand}, right, np.ones_like(right))

    def density(x):
        return np.exp(np.log(expit(np.where(right, x - demand, demand - x))).sum() + 1122)

    by_scipy = by_quad(density, mean - 9 * sd, mean, mean + 9 * sd)
    assert abs(mean - by_scipy[0]) < PROMISED * sd
    assert abs(sd / by_scipy[1] - 1) < PROMISED
