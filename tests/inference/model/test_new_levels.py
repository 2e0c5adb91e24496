"""Values at new levels: quantiles of priors, sums to zero, parents of every plate, labels."""

import numpy as np
import pymc as pm
import pytest
from helpers.populations import normal
from scipy import stats
from scipy.special import ndtr

import measurement_layouts as ml
from measurement_layouts.common.errors import FitError
from measurement_layouts.inference.model.cohort import Cohort
from measurement_layouts.inference.model.families import from_scores
from measurement_layouts.inference.model.new_levels import new_values
from measurement_layouts.linking import logistic

DRAWS = 40_000
RNG_SEED = 4
SCORES = np.linspace(-6, 6, 41)
FAMILIES = [
    ("Normal", {"mu": 1.0, "sigma": 2.0}, stats.norm(1, 2)),
    ("Normal", {"mu": 1.0, "tau": 0.25}, stats.norm(1, 2)),
    ("HalfNormal", {"sigma": 3.0}, stats.halfnorm(scale=3)),
    ("HalfNormal", {"tau": 0.25}, stats.halfnorm(scale=2)),
    ("LogNormal", {"mu": -1.9, "sigma": 0.5}, stats.lognorm(0.5, scale=np.exp(-1.9))),
    ("Uniform", {"lower": -1.0, "upper": 4.0}, stats.uniform(-1, 5)),
    ("Uniform", {}, stats.uniform()),
    ("Beta", {"alpha": 1.0, "beta": 9.0}, stats.beta(1, 9)),
    ("Beta", {"mu": 0.25, "sigma": 0.1}, stats.beta(4.4375, 13.3125)),
    ("Beta", {"mu": 0.25, "nu": 8.0}, stats.beta(2, 6)),
    ("Exponential", {"lam": 2.0}, stats.expon(scale=0.5)),
    ("Exponential", {"scale": 2.0}, stats.expon(scale=2)),
    ("Gamma", {"alpha": 2.0, "beta": 3.0}, stats.gamma(2, scale=1 / 3)),
    ("Gamma", {"mu": 2.0, "sigma": 0.5}, stats.gamma(16, scale=1 / 8)),
    (
        "TruncatedNormal",
        {"mu": 0.0, "sigma": 1.0, "lower": 0.0, "upper": 2.0},
        stats.truncnorm(0, 2),
    ),
    ("TruncatedNormal", {"mu": 1.0, "sigma": 2.0, "lower": 0.0}, stats.truncnorm(-0.5, 9e9, 1, 2)),
]
EACH = pytest.mark.parametrize(
    ("family", "parameters", "known"),
    FAMILIES,
    ids=[f"{family}-{'-'.join(parameters)}" for family, parameters, _ in FAMILIES],
)


@EACH
def test_values_have_the_chances_of_their_scores(family, parameters, known):
    values = from_scores("x", ml.Prior(family, **parameters), parameters, SCORES)
    np.testing.assert_allclose(known.cdf(values), ndtr(SCORES), rtol=1e-9, atol=1e-15)
    near = np.abs(SCORES) < 5
    np.testing.assert_allclose(known.sf(values[near]), ndtr(-SCORES[near]), rtol=1e-6)


@EACH
def test_draws_are_distributed_as_pymcs(family, parameters, known):
    scores = np.random.default_rng(1).standard_normal(4000)
    ours = from_scores("x", ml.Prior(family, **parameters), parameters, scores)
    theirs = pm.draw(
        getattr(pm, family).dist(**parameters), 4000, random_seed=2, mode="FAST_COMPILE"
    )
    assert stats.ks_2samp(ours, theirs).pvalue > 0.001


@pytest.mark.parametrize("family", ["VonMises", "StudentT", "SkewNormal", "Laplace"])
def test_another_family_is_refused_by_name(family):
    with pytest.raises(FitError, match=f"heading: its prior is {family}.*\nforecast subjects"):
        from_scores("heading", ml.Prior(family, mu=0), {"mu": 0.0}, SCORES)


def cohort_of(latent, levels, of=None, covariates=None):
    """Levels without outcomes."""
    layout = ml.Layout("any", ml.Success("won", logistic(latent)))
    none = np.zeros(0, dtype=int)
    return Cohort(layout, levels, of or {}, {}, covariates or {}, none, none, none, none)


def drawn(latent, cohort, known, fitted, labels=()):
    scores = np.random.default_rng(RNG_SEED).normal(
        size=(DRAWS, *cohort.size(latent.plates), *labels)
    )
    return new_values(latent, scores, known, cohort, fitted)


def test_fitted_levels_sum_to_zero_and_new_ones_scatter_more():
    spread = ml.Spread("spread")
    task = ml.Category("task")
    prior = ml.Prior("ZeroSumNormal", sigma=spread)
    liking = ml.Bias("liking", per=("subject", task), prior=prior)
    cohort = cohort_of(liking, {"subject": ["Ann"], "item": [], "task": list("abcz")})
    known = {"spread": np.full(DRAWS, 2.0)}
    found = drawn(liking, cohort, known, {"subject": 9, "item": 0, "task": 3})
    np.testing.assert_allclose(found[..., :3].sum(axis=-1), 0, atol=1e-12)
    spreads = 2.0 * np.sqrt([2 / 3, 2 / 3, 2 / 3, 4 / 3])
    np.testing.assert_allclose(found[:, 0].std(axis=0), spreads, rtol=0.02)


def test_both_plates_may_sum_to_zero():
    school, task = ml.Category("school", per="subject"), ml.Category("task")
    prior = ml.Prior("ZeroSumNormal", sigma=0.5, n_zerosum_axes=2)
    favour = ml.Bias("favour", per=(school, task), prior=prior)
    levels = {"subject": ["Ann"], "item": [], "school": list("xyz"), "task": list("abc")}
    cohort = cohort_of(favour, levels, {"school": np.array([2])})
    found = drawn(favour, cohort, {}, {"subject": 9, "item": 0, "school": 2, "task": 3})
    np.testing.assert_allclose(found[:, :2].sum(axis=1), 0, atol=1e-12)
    np.testing.assert_allclose(found.sum(axis=2), 0, atol=1e-12)
    np.testing.assert_allclose(found[:, 2].std(axis=0), 0.5 * (1.5 * 2 / 3) ** 0.5, rtol=0.02)


def test_a_level_has_the_parents_that_it_belongs_to():
    area = ml.Category("area", per=(task := ml.Category("task")))
    of_area = ml.Bias("ofArea", per=area, prior=normal(0, 1))
    ease = ml.Bias("ease", per=task, prior=normal(of_area, 0.1))
    levels = {"subject": [], "item": list("ijk"), "task": list("abc"), "area": list("pq")}
    of = {"task": np.array([0, 1, 2]), "area": np.array([0, 1, 1])}
    cohort = cohort_of(ease, levels, of)
    known = {"ofArea": np.tile([-5.0, 5.0], (DRAWS, 1))}
    found = drawn(ease, cohort, known, {"item": 3, "task": 3, "area": 2})
    np.testing.assert_allclose(found.mean(axis=0), [-5, 5, 5], atol=0.01)
    np.testing.assert_allclose(found.std(axis=0), 0.1, rtol=0.02)


@pytest.mark.parametrize("tested", [-1.0, 2.0])
def test_a_subject_has_its_covariate_and_each_label_its_prior(tested):
    tests = ml.MetaFeature("tests", low=-3, high=3, per="subject")
    gain = ml.Bias("gain", per="population")
    priors = {"a": normal(gain * tests, 1), "b": ml.Prior("HalfNormal", sigma=2)}
    skill = ml.Bias("skill", labels=("a", "b"), dim="kind", prior=priors)
    layout_of = ml.linking.total(skill, over="kind")
    cohort = cohort_of(layout_of, {"subject": ["Ann"], "item": []})
    known = {"gain": np.full(DRAWS, 1.5), "tests": np.array([[tested]])}
    found = drawn(skill, cohort, known, {"subject": 9, "item": 0}, labels=(2,))
    mean = [1.5 * tested, 2 * (2 / np.pi) ** 0.5]
    np.testing.assert_allclose(found[:, 0].mean(axis=0), mean, atol=0.03)
