"""Joint layouts with grades, several outcomes, unseen properties and mean failures."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.special import expit, roots_hermitenorm
from scipy.stats import binom, norm

import measurement_layouts as ml
from measurement_layouts.inference.cells import CellEvaluator
from measurement_layouts.inference.model.cohort import Cohort
from measurement_layouts.linking import logistic, mean_failure, mixture

PERSONS, EASES, GAP = 120, np.array([0.8, 0.0, -0.8]), 1.2
SAMPLING = {"draws": 300, "tune": 400, "chains": 2, "seed": 1, "progressbar": False}


def ability():
    return ml.Capability("ability", prior=ml.Prior("Normal", mu=0, sigma=ml.Spread("sd")))


def names(prefix, count):
    return [f"{prefix}{number}" for number in range(count)]


def test_graded_responses_of_a_population_are_those_of_quadrature():
    """Means within half a posterior sd of the mode of the marginal density, which is near them."""
    rng = np.random.default_rng(5)
    cuts = GAP * np.array([-1, 0, 1])
    margin = rng.normal(0, 1, (PERSONS, 1)) + EASES
    grades = (rng.random((PERSONS, 3, 1)) < expit(margin[..., None] - cuts)).sum(axis=2)
    persons, items = names("p", PERSONS), list("abc")
    ease = ml.Bias("ease", per="item", prior=ml.Prior("Normal", mu=0, sigma=2))
    answer = ml.Graded("answer", logistic(ability() + ease), grades=tuple("0123"), gap=GAP)
    layout = ml.Layout("graded", answer)
    table = pd.DataFrame(grades, persons, items)
    evaluation = ml.Evaluation.of_outcomes(layout, {"answer": table}, pd.DataFrame(index=items))
    fit = ml.fit(layout, evaluation, **SAMPLING)
    nodes, weights = roots_hermitenorm(41)

    def negative(point):
        *eases, log_sd = point
        above = expit(np.exp(log_sd) * nodes[:, None, None] + np.reshape(eases, (3, 1)) - cuts)
        ends = np.concatenate([np.ones((41, 3, 1)), above, np.zeros((41, 3, 1))], axis=2)
        chances = (ends[..., :-1] - ends[..., 1:])[:, np.arange(3), grades]
        marginal = np.log(chances.prod(axis=2).T @ (weights / weights.sum())).sum()
        prior = norm.logpdf(eases, 0, 2).sum() + norm.logpdf(np.exp(log_sd)) + log_sd
        return -(marginal + prior)

    mode = minimize(negative, np.zeros(4))
    table = fit.items().set_index("item")
    assert table["trials"].tolist() == [PERSONS] * 3
    assert (np.abs(table["mean"] - mode.x[:3]) < 0.5 * table["sd"]).all()
    (sd,) = fit.population().to_dict("records")
    assert abs(sd["mean"] - np.exp(mode.x[3])) < 0.5 * sd["sd"]


def unseen_cohort():
    rng = np.random.default_rng(2)
    subjects, items = names("s", 3), names("i", 4)
    size = ml.MetaFeature("size", low=-2, high=2)
    hard = ml.Unseen("hard", size, ml.Spread("scatter"))
    layout = ml.Layout("scatter", ml.Success("solved", logistic(ability() - hard)))
    table = pd.DataFrame({"size": rng.uniform(-1, 1, 4)}, items)
    trials = pd.DataFrame(rng.integers(1, 6, (3, 4)), subjects, items)
    successes = pd.DataFrame(rng.binomial(trials, 0.5), subjects, items)
    return layout, ml.Evaluation(table, successes, trials), rng.normal(size=3)


def test_a_property_of_a_subject_on_an_item_is_averaged_in_its_outcome():
    layout, evaluation, skill = unseen_cohort()
    cohort = Cohort.of_evaluation(layout, evaluation)
    cells = CellEvaluator(cohort)
    values = {"sd": np.ones(1), "ability": skill[None], "scatter": np.full(1, 0.8)}
    draws = cells.draws_by_level(values)
    nodes, weights = roots_hermitenorm(60)
    hard = evaluation.items["size"].to_numpy()[:, None] + 0.8 * nodes
    given = expit(skill[:, None, None] - hard)
    counts = (each.to_numpy()[..., None] for each in (evaluation.successes, evaluation.trials))
    marginal = (binom.pmf(*counts, given) * weights / weights.sum()).sum(axis=-1)
    ways = binom.logpmf(cohort.successes, cohort.trials, 0.5) + cohort.trials * np.log(2)
    expected = np.log(marginal).sum() - ways.sum()
    np.testing.assert_allclose(cells.log_likelihood(draws), expected, atol=1e-5)
    mean = (given * weights / weights.sum()).sum(axis=-1)
    np.testing.assert_allclose(cells.chances(draws)[:, 0], mean.ravel(), atol=1e-5)


def test_repeated_attempts_scatter_in_simulations():
    """All trials of a subject on an item share what is unseen; variance by quadrature."""
    layout, _, _ = unseen_cohort()
    items = pd.DataFrame({"size": 0.0}, names("i", 400))
    who = pd.DataFrame(index=names("s", 5))
    truth = ml.validation.draw_truth(layout, items, who, seed=1)
    truth["ability"][:], truth["scatter"] = 0.0, 1.5
    rates = ml.simulate(layout, items, truth, seed=2, trials=20).successes.to_numpy() / 20
    nodes, weights = roots_hermitenorm(60)
    chance, weights = expit(1.5 * nodes), weights / weights.sum()
    variance = weights @ (chance - 0.5) ** 2 + weights @ (chance * (1 - chance)) / 20
    assert rates.var() == pytest.approx(variance, rel=0.1)
    assert variance > 4 * 0.25 / 20  # of binomial counts


def test_mean_failures_of_a_simulated_cohort_follow_from_its_chances():
    noise = ml.Noise("noise", per="population", prior=ml.Prior("Beta", alpha=1, beta=4))
    size = ml.MetaFeature("size", low=-2, high=2)
    chance = mixture(logistic(ability() - size), by=noise, toward=mean_failure)
    layout = ml.Layout("lapses", ml.Success("solved", chance))
    items = pd.DataFrame({"size": np.linspace(-1, 1, 5)}, names("i", 5))
    truth = ml.validation.draw_truth(layout, items, pd.DataFrame(index=names("s", 4)), seed=1)
    truth["noise"] = 0.4
    outcomes = ml.simulate(layout, items, truth, seed=3, trials=20_000)
    able = expit(truth["ability"].to_numpy()[:, None] - items["size"].to_numpy()).mean(axis=1)
    # the mean m of the chances is 0.6 * able + 0.4 * (1 - m)
    expected = (0.6 * able + 0.4) / 1.4
    rates = (outcomes.successes / outcomes.trials).mean(axis=1)
    np.testing.assert_allclose(rates, expected, atol=0.01)
