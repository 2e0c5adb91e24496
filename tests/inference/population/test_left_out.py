"""Marginal likelihoods of an item or a subject that is left out: those of numerical integration."""

import itertools

import numpy as np
import pytest
from helpers import joint_fits
from numpy.polynomial.hermite_e import hermegauss
from scipy.integrate import quad
from scipy.special import expit, logsumexp
from scipy.stats import binom, norm

import measurement_layouts as ml
from measurement_layouts import FitError
from measurement_layouts.inference.population.left_out import LeftOut
from measurement_layouts.linking import logistic

DRAWS = 40


def made_up(layout, subjects, items, seed=2):
    """A fit of made-up draws whose zero sums are zero, and its evaluation."""
    evaluation = joint_fits.evaluation_of(subjects, items)
    draws = joint_fits.random_draws(layout, evaluation, DRAWS, seed)
    if "ease" in draws and layout.nodes["ease"].priors[0].zero_sum_axes:
        draws["ease"] -= draws["ease"].mean(axis=-1, keepdims=True)
    return joint_fits.crafted(layout, evaluation, draws, chains=2), evaluation, draws


def integral(logits, successes, trials, mean, sd):
    """Log of the chance of outcomes whose log-odds share a normal part."""

    def density(score):
        chances = expit(logits + mean + sd * score)
        return np.exp(binom.logpmf(successes, trials, chances).sum() - top) * norm.pdf(score)

    scores = np.linspace(-9, 9, 3601)
    levels = [binom.logpmf(successes, trials, expit(logits + mean + sd * z)).sum() for z in scores]
    together = np.array(levels) + norm.logpdf(scores)
    top, peak = max(levels), scores[together.argmax()]
    value, _ = quad(density, -12, 12, points=[peak - 1, peak, peak + 1], limit=400)
    return np.log(value) + top


@pytest.mark.parametrize("zero_sum", [True, False])
@pytest.mark.parametrize("subjects", [6, 300])
def test_an_item_with_an_ease_of_its_own(subjects, zero_sum):
    """Few subjects leave a wide density of its ease, many a narrow one."""
    fit, evaluation, draws = made_up(joint_fits.rasch(zero_sum), subjects, 5)
    found = LeftOut.of(fit, np.arange(DRAWS)).marginal("item", 0, seed=1)
    assert found.effective == np.inf
    won, tried = (each["i0"].to_numpy() for each in (evaluation.successes, evaluation.trials))
    for draw in (0, 17, DRAWS - 1):
        ease, spread = draws["ease"][draw], draws["easeSpread"][draw]
        mean, sd = (ease[1:].mean(), spread * np.sqrt(1 + 1 / 4)) if zero_sum else (0.0, spread)
        expected = integral(draws["ability"][draw], won, tried, mean, sd)
        assert found.values[draw] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("items", [5, 80])
def test_a_subject_with_an_ability_of_its_own(items):
    fit, evaluation, draws = made_up(joint_fits.rasch(), 7, items)
    found = LeftOut.of(fit, np.arange(DRAWS)).marginal("subject", 3, seed=1)
    won, tried = (each.loc["s3"].to_numpy() for each in (evaluation.successes, evaluation.trials))
    for draw in (0, 17, DRAWS - 1):
        expected = integral(
            draws["ease"][draw], won, tried, draws["mean"][draw], draws["spread"][draw]
        )
        assert found.values[draw] == pytest.approx(expected, abs=1e-6)


def test_an_item_without_anything_of_its_own():
    """Its task's ease is shared with other items, and stays."""
    fit, evaluation, draws = made_up(joint_fits.schooled(), 6, 5)
    found = LeftOut.of(fit, np.arange(DRAWS)).marginal("item", 2, seed=1)
    size = evaluation.items["size"].iloc[2]
    logits = draws["ability"] - size + draws["ofTask"][:, :1] + draws["liking"][:, :, 0]
    won = evaluation.successes["i2"].to_numpy()
    expected = binom.logpmf(won, 1, expit(logits)).sum(axis=1)
    np.testing.assert_allclose(found.values, expected, atol=1e-9)


def test_a_subject_with_several_values_of_its_own():
    """An ability and a liking of each of two tasks; points are right on average."""
    fit, evaluation, draws = made_up(joint_fits.schooled(), 9, 10)
    found = LeftOut.of(fit, np.arange(DRAWS)).marginal("subject", 1, seed=1)
    assert found.effective > 20
    who = evaluation.subject_table.loc["s1"]
    school = sorted("xyz").index(who["school"])
    size = evaluation.items["size"].to_numpy()
    task = np.arange(10) % 2
    won = evaluation.successes.loc["s1"].to_numpy()
    nodes, weights = hermegauss(21)
    grid = np.array(list(itertools.product(nodes, repeat=3)))
    log_weight = np.log(list(itertools.product(weights / weights.sum(), repeat=3))).sum(axis=1)
    apart = np.empty(DRAWS)
    for draw in range(DRAWS):
        location = draws["gain"][draw] * who["tests"] + draws["ofSchool"][draw, school]
        ability = location + draws["spread"][draw] * grid[:, :1]
        liking = 0.5 * grid[:, 1:][:, task]
        logits = ability - size + draws["ofTask"][draw, task] + liking
        levels = binom.logpmf(won, 1, expit(logits)).sum(axis=1)
        apart[draw] = found.values[draw] - logsumexp(levels + log_weight)
    error = apart.std() / np.sqrt(DRAWS)
    assert abs(apart.mean()) < 4 * error
    assert apart.std() < 0.2


def test_too_many_values_of_their_own_are_refused_by_name():
    ability = ml.Capability("ability", prior=ml.Prior("Normal", mu=0, sigma=1))
    part = ml.Bias("part", per=("subject", "item"), prior=ml.Prior("Normal", mu=0, sigma=1))
    ease = ml.Bias("ease", per="item")
    layout = ml.Layout("parts", ml.Success("solved", logistic(ability + ease + part)))
    fit, *_ = made_up(layout, 30, 5)
    whole = LeftOut.of(fit, np.arange(DRAWS))
    with pytest.raises(FitError, match=r"item i0 has 30 values of its own.*split='items'"):
        whole.marginal("item", 0, seed=1)


def test_a_single_subject_leaves_nothing_to_foresee_it_from():
    fit, *_ = made_up(joint_fits.rasch(zero_sum=False), 1, 6)
    whole = LeftOut.of(fit, np.arange(DRAWS))
    with pytest.raises(FitError, match="the fit has only one subject, s0"):
        whole.marginal("subject", 0, seed=1)
