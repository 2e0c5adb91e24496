"""Something unseen of the items: by machine code, by the plain model and by SciPy's quadrature."""

import numpy as np
import pytest
from helpers.densities import Fused, Plain
from scipy.integrate import quad
from scipy.special import expit, gammaln
from scipy.stats import norm

import measurement_layouts as ml
from measurement_layouts.evaluations.subject_data import SubjectData
from measurement_layouts.linking import logistic, total

KINDS = ("a", "b", "c")
TRIALS = 20


def votes():
    """A layout with all that an unseen property can have, and a labelled total beside it."""
    columns = [
        ml.MetaFeature("pull", low=-6, high=6),
        ml.MetaFeature("error", low=0, high=5),
        ml.MetaFeature("for", low=0, high=50),
        ml.MetaFeature("against", low=0, high=50),
    ]
    kind = ml.MetaFeature("kind", levels=(0, 1), labels=KINDS, dim="kinds")
    tilt = ml.Bias("tilt", labels=KINDS, dim="kinds")
    slope = ml.Slope("slope", prior=ml.Prior("HalfNormal", sigma=5))
    stance = ml.Unseen("stance", *columns, ml.Noise("noise"))
    margin = slope * stance + total(tilt * kind, over="kinds")
    return ml.Layout("votes", ml.Success("yes", logistic(margin)))


def battery(rng, items):
    kind = rng.integers(0, 3, items)
    counts = rng.integers(0, 11, items) / 2
    return {
        "pull": np.array([-0.5, 0.0, 2.0])[kind],
        "error": np.full(items, 2.0),
        "for": counts,
        "against": 10 - counts,
        "kind": np.eye(3)[kind],
    }


def point(slope, noise, tilt):
    """Where the sampler has these values: logarithms, log-odds and as they are."""
    return np.array([np.log(slope), np.log(noise / (1 - noise)), *tilt])


def outcomes(rng, items):
    """All of them, none, some, and items that were not attempted."""
    trials = np.where(rng.random(items) < 0.15, 0, TRIALS)
    part = rng.choice([0, 1, 0.3, 0.7], items)
    return SubjectData(rng.binomial(trials, part), trials, {})


def agree(fused, plain, at):
    """To rounding: of the value, and of the largest slope."""
    value, gradient, status = fused(at)
    wanted, slopes = plain(at)
    assert status == 0
    assert np.isfinite([value, *gradient]).all(), at
    np.testing.assert_allclose(value, wanted, rtol=1e-10)
    np.testing.assert_allclose(gradient, slopes, rtol=1e-8, atol=1e-10 * np.abs(slopes).max())


@pytest.fixture(scope="module")
def study():
    rng = np.random.default_rng(7)
    layout, features, data = votes(), battery(rng, 80), outcomes(rng, 80)
    who = layout, features, data
    return *who, Fused(*who), Plain(*who)


def test_value_and_gradient_are_the_plain_models(study, rng):
    *_, fused, plain = study
    order = [latent.name for latent in study[0].latents]
    assert order == ["slope", "noise", "tilt"]
    for _ in range(5):
        agree(fused, plain, rng.normal(size=5))
    agree(fused, plain, point(5.0, 1e-9, [0, 1, -1]))  # 10 log-odds per standard deviation
    agree(fused, plain, point(1e-6, 1 - 1e-9, [9, -9, 0]))
    np.testing.assert_allclose(fused.latents(np.ones(5)), plain.latents(np.ones(5)), rtol=1e-12)


def test_finite_far_out(study):
    """Where outcomes are next to impossible, each costs 27 nats at most."""
    *_, fused, plain = study
    for slope, noise, shift in ((200.0, 1e-6, 0), (1.0, 0.5, 800), (1e3, 0.999, -300)):
        at = point(slope, noise, [shift, -shift, shift])
        value, gradient, status = fused(at)
        assert status == 0
        assert np.isfinite([value, *gradient]).all()
        np.testing.assert_allclose(value, plain(at)[0], rtol=1e-9)


def test_so_many_trials_that_no_place_has_a_number(rng):
    """400 of them, at 27 nats each: e to the -5,000 is 0, and its logarithm must not be."""
    trials = np.full(30, 400)
    who = votes(), battery(rng, 30), SubjectData(rng.binomial(trials, 0.5), trials, {})
    fused, plain = Fused(*who), Plain(*who)
    for at in (point(1e-3, 0.5, [800, -800, 800]), point(1.0, 0.3, [0, 1, -1])):
        agree(fused, plain, at)


def prior_density(at):
    """Of the sampler's point."""
    slope = norm.logpdf(np.exp(at[0]), scale=5) + np.log(2) + at[0]
    noise = -np.log1p(np.exp(-at[1])) - np.log1p(np.exp(at[1]))
    return slope + noise + norm.logpdf(at[2:]).sum()


def by_quadrature(features, data, row, slope, noise, tilt):
    """Log-likelihood of an item's counts: the integral of the card's formula."""
    mean, spread = features["pull"][row], features["error"][row]
    yes, no = features["for"][row], features["against"][row]
    shift = features["kind"][row] @ tilt
    places = np.linspace(mean - 8 * spread, mean + 8 * spread, 40)
    options = {"limit": 400, "epsabs": 0, "epsrel": 1e-9, "points": places}

    def prior(u):
        return np.exp(-(((u - mean) / spread) ** 2) / 2)

    def told(u):
        return prior(u) * expit(u) ** yes * expit(-u) ** no

    def joint(u):
        chance = expit(slope * u + shift)
        found = chance ** data.successes[row] * expit(-slope * u - shift) ** lost
        return found * ((1 - noise) * told(u) / scale + noise * prior(u) / whole)

    lost = data.trials[row] - data.successes[row]
    scale, whole = (quad(part, places[0], places[-1], **options)[0] for part in (told, prior))
    ways = gammaln(data.trials[row] + 1) - gammaln(data.successes[row] + 1) - gammaln(lost + 1)
    return ways + np.log(quad(joint, places[0], places[-1], **options)[0])


def test_the_sum_over_places_is_the_integral():
    """Nats of seven items together.

    Left out is what lies beyond 4.8 standard deviations: 1.6e-6 of the weight, and more where the
    outcome points there (none of 20 for the item with mean 2, at one log-odds per standard
    deviation). A count of 10 out of 20 has a likelihood 0.45 log-odds wide; at 10 per standard
    deviation the places are 0.8 apart, and by the theta series the sum is off by 0.5 %.
    """
    tilt, noise = np.array([0.5, -1.0, 0.0]), 0.2
    counts, rows = np.array([0, 20, 10, 3, 19, 0, 14]), 7
    features = battery(np.random.default_rng(2), rows)
    data = SubjectData(counts, np.full(rows, TRIALS), {})
    fused = Fused(votes(), features, data)
    for slope, limit in ((0.5, 2e-3), (2.5, 1e-5), (5.0, 0.02), (40.0, np.inf)):
        at = point(slope, noise, tilt)
        own = fused(at)[0] - prior_density(at)
        exact = sum(by_quadrature(features, data, row, slope, noise, tilt) for row in range(rows))
        assert abs(own - exact) < limit
    assert abs(own - exact) > 0.2  # twin: 80 log-odds per standard deviation are too steep


def test_nothing_attempted_leaves_the_prior(rng):
    features, none = battery(rng, 4), SubjectData(np.zeros(4, int), np.zeros(4, int), {})
    fused, at = Fused(votes(), features, none), rng.normal(size=5)
    np.testing.assert_allclose(fused(at)[0], prior_density(at), rtol=1e-12)


def test_without_votes_and_noise():
    """A measured difficulty with an error; spread 0 is a binomial with that difficulty."""
    measured, error = (ml.MetaFeature("far", low=0, high=5), ml.MetaFeature("err", low=0, high=2))
    skill = ml.Capability("skill", low=0, high=5)
    hard = ml.Unseen("hard", measured, error)
    layout = ml.Layout("x", ml.Success("ok", logistic(skill - hard)))
    features = {"far": np.array([1.0, 2, 4]), "err": np.array([0.0, 0.0, 1.0])}
    data = SubjectData(np.array([3, 1, 2]), np.array([4, 4, 4]), {})
    assert np.isfinite(Fused(layout, features, data)(np.array([0.4]))[0])
    exact = {name: values[:2] for name, values in features.items()}
    first = SubjectData(data.successes[:2], data.trials[:2], {})
    bare = ml.Layout("y", ml.Success("ok", logistic(skill - measured)))
    np.testing.assert_allclose(
        Fused(layout, exact, first)(np.array([0.4]))[0],
        Fused(bare, {"far": exact["far"]}, first)(np.array([0.4]))[0],
        rtol=1e-12,
    )
