"""Posteriors against the truth: a closed form, and PyMC's own sampler.

The errors of estimates from draws are scaled by their Monte Carlo standard error, from the
effective sample size of each. Limit: 4 of them; a normal error exceeds that once in 16,000, so the
six estimates of a test raise a false alarm in less than 4 of 10,000 seeds.
"""

import arviz_stats
import numpy as np
import pytest
from arviz_stats.base import array_stats
from helpers import folders, small_layouts
from scipy import stats

import measurement_layouts as ml
from measurement_layouts.inference.model.pymc_model import to_pymc

LIMIT = 4
SUCCESSES, TRIALS = [3, 0, 9, 4], [5, 0, 12, 7]  # 16 of 24; the second item was not attempted
QUANTILES = [0.05, 0.25, 0.5, 0.75, 0.95]


def error(draws, exact):
    """Of a mean over draws (chain, draw), in Monte Carlo standard errors."""
    size = array_stats.ess(draws[None], method="mean")[0]
    return (draws.mean() - exact) / (draws.std() / np.sqrt(size))


def errors(draws, exact):
    """Of the mean and of five quantiles' levels, against a known distribution."""
    levels = [error((draws < exact.ppf(q)).astype(float), q) for q in QUANTILES]
    return np.abs([error(draws, exact.mean()), *levels])


@pytest.fixture(scope="module")
def tossed():
    evaluation = small_layouts.counts(SUCCESSES, TRIALS)
    fit = ml.fit(small_layouts.coin(), evaluation, draws=1500, chains=4, seed=1, progressbar=False)
    return fit.posterior["p"].sel(subject="Ann").to_numpy()


def test_a_coin_has_its_beta_posterior(tossed):
    """Uniform prior, 16 successes of 24 trials: Beta(1 + 16, 1 + 8)."""
    assert errors(tossed, stats.beta(17, 9)).max() < LIMIT


def test_a_fit_of_one_item_and_no_meta_feature(tossed):
    """All subjects share the compiled layout; so do batteries of any length."""
    evaluation = small_layouts.counts([40], [50])
    fit = ml.fit(small_layouts.coin(), evaluation, draws=1500, chains=4, seed=1, progressbar=False)
    draws = fit.posterior["p"].sel(subject="Ann").to_numpy()
    assert errors(draws, stats.beta(41, 11)).max() < LIMIT
    forecast = fit.forecast(evaluation.items).data
    assert forecast["mean"].item() == pytest.approx(draws.mean(), abs=1e-12)
    assert not forecast["extrapolated"].any()


@pytest.mark.slow
def test_pymcs_own_sampler_agrees(animal_ai, cohort):
    """Two samplers, two implementations of the gradient, one posterior.

    Means, squares and spreads of four latents: 12 comparisons, false alarm in 8 of 10,000 seeds.
    """
    import pymc as pm

    options = {"draws": 1000, "tune": 700, "chains": 4, "progressbar": False}
    ours = ml.fit(animal_ai, cohort, subjects=["Bob"], seed=1, **options).posterior.sel(
        subject="Bob"
    )
    other = ml.fit(animal_ai, cohort, subjects=["Cyd"], seed=1, **options).posterior.sel(
        subject="Cyd"
    )
    with to_pymc(animal_ai, cohort, "Bob"):
        theirs = pm.sample(random_seed=2, cores=2, target_accept=0.9, **options)["posterior"]

    def difference(one, two):
        size = [array_stats.ess(x[None], method="mean")[0] for x in (one, two)]
        spread = np.sqrt(one.var() / size[0] + two.var() / size[1])
        return abs(one.mean() - two.mean()) / spread

    def differences(fit):
        for latent in animal_ai.latents:
            one, two = fit[latent.name].to_numpy(), theirs[latent.name].to_numpy()
            yield difference(one, two)
            yield difference(one**2, two**2)
            yield difference(abs(one - two.mean()), abs(two - two.mean()))

    assert max(differences(ours)) < LIMIT
    assert max(differences(other)) > 2 * LIMIT  # twin that must fail: another subject's profile


def test_arviz_labels_are_subjects_and_elements(shared_fit):
    """ArviZ takes the tree as it is, and its means are those of our tables."""
    layout, evaluation = folders.labelled()
    alone = small_layouts.crafted(
        layout,
        evaluation,
        {
            "skill": np.random.default_rng(1).uniform(0, 5, (3, 2, 50, 3)),
            "luck": np.random.default_rng(2).uniform(0, 1, (3, 2, 50)),
        },
    )
    for fit in (alone, shared_fit):
        means = arviz_stats.summary(fit.data, kind="stats", round_to="none")["mean"]
        table = fit.profiles()
        labels = table["subject"] + table["label"].where(
            table["label"] == "", ", " + table["label"]
        )
        ours = table["mean"].set_axis(table["node"] + "[" + labels + "]")
        np.testing.assert_allclose(means[ours.index], ours, rtol=1e-12)
        for name, variable in fit.posterior.data_vars.items():
            assert variable.dims[:2] == ("chain", "draw"), name
