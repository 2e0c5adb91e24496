"""A latent of each subject that is integrated out: against sums over a fine grid, and its draws."""

import numpy as np
import pandas as pd
import pytest
from helpers.populations import cohort_data, exam_layout
from scipy.special import expit, logsumexp
from scipy.stats import halfnorm, kstest, norm

import measurement_layouts as ml
from measurement_layouts.inference.model.cohort import Cohort
from measurement_layouts.inference.model.joint_terms import Places
from measurement_layouts.inference.sampling.inner import Inner, find_places, single_latent
from measurement_layouts.inference.sampling.joint import JointKernel
from measurement_layouts.inference.sampling.modes import LogDensity
from measurement_layouts.linking import logistic

_FINE = np.linspace(-14, 14, 4001)


@pytest.fixture(scope="module")
def cohort():
    return Cohort.of_evaluation(exam_layout(), cohort_data())


def _places(count):
    return Places("ability", np.linspace(-9, 9, count))


def _logs(cohort, values):
    """Log-density of each subject's ability and outcomes on the fine grid, by hand."""
    successes, trials = np.zeros((2, 12, 7))
    successes[cohort.subject, cohort.item] = cohort.successes
    trials[cohort.subject, cohort.item] = cohort.trials
    chance = expit(_FINE + values["ease"][:, None])
    counted = successes @ np.log(chance) + (trials - successes) @ np.log1p(-chance)
    mean = values["mean"] + values["gain"] * cohort.covariates["tests"]
    return counted + norm.logpdf(_FINE, mean[:, None], values["spread"])


@pytest.mark.slow
@pytest.mark.trust("oracles", "closed forms: an ability integrated out")
def test_the_density_is_a_sum_over_a_fine_grid(cohort):
    kernel = JointKernel(cohort, places=_places(40))
    density = LogDensity(kernel.compiled())
    at = np.random.default_rng(2).normal(size=density.size) * 0.5
    mean, gain, spread, scale = (float(at[part.offset]) for part in kernel.parts[:4])
    raw = at[kernel.parts[4].offset :][:7][kernel.order(["item"])]
    total, count = raw[:-1].sum(), 7
    moved = total / (count**0.5 + count)
    ease = np.append(raw[:-1], moved - total / count**0.5) - moved
    values = {"mean": mean, "gain": gain, "spread": np.exp(spread), "ease": ease}
    logs = _logs(cohort, values)
    expected = logsumexp(logs + np.log(_FINE[1] - _FINE[0]), axis=1).sum()
    expected += norm.logpdf([mean, gain]).sum() + norm.logpdf(raw[-1])
    expected += halfnorm.logpdf(np.exp([spread, scale])).sum() + spread + scale
    expected += norm.logpdf(raw[:-1], 0, np.exp(scale)).sum()
    coefficients = np.log([{0: 1, 1: 1, 2: 2 if s == 1 else 1}[n] for s, n in _cells(cohort)])
    assert density(at) == pytest.approx(expected + coefficients.sum(), abs=1e-6)
    few = LogDensity(JointKernel(cohort, places=_places(5)).compiled())
    assert abs(few(at) - density(at)) > 1e-3  # the twin: places too far apart


def _cells(cohort):
    return zip(cohort.successes.tolist(), cohort.trials.tolist(), strict=True)


def test_its_gradient_is_that_of_differences(cohort):
    density = LogDensity(JointKernel(cohort, places=_places(40)).compiled())
    at = np.random.default_rng(4).normal(size=density.size) * 0.5
    _, gradient = density.with_gradient(at)
    steps = 1e-5 * np.eye(density.size)
    slopes = [(density(at + step) - density(at - step)) / 2e-5 for step in steps]
    assert np.abs(gradient - slopes).max() < 1e-6


def test_draws_have_the_distribution_given_what_is_shared(cohort):
    values = {"mean": 0.3, "gain": 0.5, "spread": 0.8, "easeSpread": 1.0}
    values["ease"] = np.linspace(-1, 1, 7)
    shared = {name: np.broadcast_to(one, (1, 4000, *np.shape(one))) for name, one in values.items()}
    latent = single_latent(cohort.layout)
    drawn = Inner(cohort, latent, _places(40)).draw(shared, seed=1)[0]
    density = np.exp(_logs(cohort, values))
    below = np.cumsum(density, axis=1) / density.sum(axis=1, keepdims=True)
    for subject in (0, 5, 11):
        found = kstest(drawn[:, subject], lambda x, s=subject: np.interp(x, _FINE, below[s]))
        assert found.pvalue > 1e-3
    shifted = kstest(drawn[:, 0] + 0.1, lambda x: np.interp(x, _FINE, below[0]))
    assert shifted.pvalue < 1e-3  # the twin: a tenth off


def test_places_reach_beyond_the_draws_and_are_no_more_than_needed(cohort):
    latent = single_latent(cohort.layout)
    draws = np.random.default_rng(1).normal([0.0, 2.0], [0.5, 0.5], (200, 2))
    places = find_places(latent, draws, np.full(200, 2.0))
    assert places.at[0] < draws.min() - 1
    assert places.at[-1] > draws.max() + 1
    assert np.diff(places.at).max() < 0.65
    assert len(places.at) % 8 == 0  # each number is compiled, so there are few
    assert find_places(latent, draws, np.linspace(0.001, 2, 200)) is None  # too many


@pytest.mark.slow
@pytest.mark.trust("oracles", "the plain model: a spread that may be next to nothing")
def test_a_spread_next_to_nothing_has_no_mode_of_its_own():
    """Coins: subjects hardly differ. Places farther apart than they would each draw all mass."""
    mean = ml.Bias("mean", per="population")
    able = ml.Capability("able", prior=ml.Prior("Normal", mu=mean, sigma=ml.Spread("spread")))
    effects = ml.Prior("ZeroSumNormal", sigma=ml.Spread("easeSpread"))
    ease = ml.Bias("ease", per="item", prior=effects)
    layout = ml.Layout("coins", ml.Success("heads", logistic(able + ease)))
    rng = np.random.default_rng(1)
    heads = pd.DataFrame(rng.integers(0, 2, (12, 8)), columns=[f"i{at}" for at in range(8)])
    evaluation = ml.Evaluation.from_wide(heads, pd.DataFrame(index=heads.columns))
    cohort = Cohort.of_evaluation(layout, evaluation)
    far = Places("able", np.linspace(-6, 6, 13))
    density = LogDensity(JointKernel(cohort, places=far).compiled())
    at = np.zeros(density.size)
    levels = []
    for log_spread in (-1.0, -8.0, -20.0):
        at[1] = log_spread
        levels.append(density(at) - log_spread)  # without the change of variables
    assert max(levels[1:]) < levels[0] + 3
    fit = ml.fit(layout, evaluation, draws=500, tune=500, seed=1, progressbar=False)
    found = fit.population().set_index("node").loc["spread"]
    assert found["rhat"] < 1.05
    assert found["low"] > 1e-3
