"""Share of the items' difficulty that demands explain: by hand, and against simulated truth."""

import numpy as np
import pandas as pd
import pytest
from helpers import joint_fits
from helpers.populations import normal, zero_sum
from scipy.special import expit, logit

import measurement_layouts as ml
from measurement_layouts import FitError
from measurement_layouts.linking import logistic, mixture
from measurement_layouts.validation.criticism.explained import in_words

DRAWS, SUBJECTS, ITEMS = 100, 7, 9
P = "population"
SIZE = ml.MetaFeature("size", low=0, high=2)
TASK = ml.Category("task")


def layout(*extra, demand=True, noise=None):
    """Abilities against a weighed demand, and what items have of their own."""
    margin = ml.Capability("ability", prior=normal(ml.Bias("mean", per=P), ml.Spread("spread")))
    if demand:
        margin = margin - ml.Bias("weight", per=P) * SIZE
    for part in extra:
        margin = margin + part
    chance = logistic(margin)
    if noise is not None:
        chance = mixture(chance, by=noise, toward=0.5)
    return ml.Layout("explained", ml.Success("solved", chance))


EASE = ml.Bias("ease", per="item", prior=zero_sum(ml.Spread("easeSpread")))
OF_TASK = ml.Bias("ofTask", per=TASK, prior=normal(ml.Bias("taskMean", per=P), 0.7))


def made_up(declared, seed=4, **given):
    """A fit of made-up draws, its draws and its evaluation."""
    evaluation = joint_fits.evaluation_of(SUBJECTS, ITEMS)
    draws = joint_fits.random_draws(declared, evaluation, DRAWS, seed) | given
    fit = joint_fits.crafted(declared, evaluation, draws, chains=2)
    return fit, draws, evaluation.items["size"].to_numpy()


def test_an_ease_beside_a_demand():
    """In log-odds both parts are plain; new items differ by the spread."""
    fit, draws, size = made_up(layout(EASE))
    of_demand = (draws["weight"][:, None] * size).var(axis=1)
    found = ml.validation.explained(fit)
    expected = of_demand / (of_demand + draws["ease"].var(axis=1))
    np.testing.assert_allclose(found.loc["these items", "share"], expected.mean(), rtol=1e-9)
    expected_new = of_demand / (of_demand + draws["easeSpread"] ** 2)
    np.testing.assert_allclose(found.loc["new items", "share"], expected_new.mean(), rtol=1e-9)
    first = found.loc["these items"]
    assert first["share"] == pytest.approx(expected.mean())
    assert first["low"] == pytest.approx(np.quantile(expected, 0.05))
    assert first["demands_sd"] == pytest.approx(np.sqrt(of_demand).mean())
    assert first["own_sd"] == pytest.approx(draws["ease"].std(axis=1).mean())
    means = np.mean([draws["weight"].mean() ** 2 * size.var(), draws["ease"].mean(0).var()], 0)
    assert abs(means - first["share"]) > 0.05  # the twin: of posterior means, not of draws


def test_final_log_odds_are_averaged_over_subjects():
    """Under a noise the parts do not add up; tasks' eases are counted from their mean."""
    noise = ml.Noise("noise", per=P, prior=ml.Prior("Beta", alpha=1, beta=9))
    fit, draws, size = made_up(
        layout(EASE, OF_TASK, noise=noise), noise=np.linspace(0.05, 0.4, DRAWS)
    )
    found = ml.validation.explained(fit)
    task, shares = np.arange(ITEMS) % 2, []
    for draw in range(DRAWS):
        one = {name: values[draw] for name, values in draws.items()}
        plain = one["ability"][:, None] - one["weight"] * size
        difficulty = []
        for own in (one["taskMean"], one["ease"] + one["ofTask"][task]):
            chance = expit(plain + own) * (1 - one["noise"]) + 0.5 * one["noise"]
            difficulty.append(logit(chance).mean(axis=0))
        demands, rest = difficulty[0].var(), (difficulty[1] - difficulty[0]).var()
        shares.append(demands / (demands + rest))
    np.testing.assert_allclose(found.loc["these items", "share"], np.mean(shares), rtol=1e-9)


def test_new_items_have_new_tasks():
    """The variance of new own parts is that of tasks and of items together."""
    fit, draws, size = made_up(layout(EASE, OF_TASK))
    of_demand = (draws["weight"][:, None] * size).var(axis=1)
    expected = of_demand / (of_demand + draws["easeSpread"] ** 2 + 0.7**2)
    found = ml.validation.explained(fit).loc["new items", "share"]
    assert abs(found - expected.mean()) < 0.01


def test_without_demands_nothing_is_explained():
    found = ml.validation.explained(made_up(layout(EASE, demand=False))[0])
    np.testing.assert_allclose(found["share"], 0, atol=1e-12)


def test_without_effects_of_items_the_reason_is_given():
    fit, *_ = made_up(layout())
    with pytest.raises(FitError, match="no own effects of items"):
        ml.validation.explained(fit)


def test_words():
    found = ml.validation.explained(made_up(layout(EASE))[0], prob=0.8)
    here, there = (found.loc[name] for name in ("these items", "new items"))
    text = in_words(found, 0.8)
    assert f"explain {here['share']:.0%} of the variance" in text
    assert f"(80% interval {here['low']:.0%} to {here['high']:.0%})" in text
    assert f"and {there['share']:.0%} (" in text


def simulated(share, seed, subjects=12, items=25):
    """A study in which demands explain a share of a variance of 1, and its true shares."""
    rng = np.random.default_rng([seed, round(100 * share)])
    size = rng.uniform(0, 2, items)
    own = rng.normal(0, np.sqrt(1 - share), items)
    part = np.sqrt(share) * (size - size.mean()) / size.std()
    logits = rng.normal(0.3, 1, (subjects, 1)) - part + own - own.mean()
    solved = (rng.random((subjects, items)) < expit(logits)).astype(int)
    names = [f"i{place}" for place in range(items)]
    table = pd.DataFrame(solved, [f"s{place}" for place in range(subjects)], names)
    evaluation = ml.Evaluation.from_wide(table, pd.DataFrame({"size": size}, names))
    return evaluation, {"these items": share / (share + own.var()), "new items": share}


@pytest.mark.slow
def test_intervals_cover_the_true_share():
    """About .90 of 36; a spread that is left out of the variances, and posterior means, do not."""
    studies, covered, twins = 12, [], []
    for share in (0.2, 0.5, 0.8):
        for study in range(studies):
            evaluation, truth = simulated(share, study)
            fit = ml.fit(
                layout(EASE),
                evaluation,
                draws=200,
                tune=300,
                chains=2,
                seed=study,
                progressbar=False,
            )
            table = ml.validation.explained(fit)
            for name, value in truth.items():
                covered.append(table["low"][name] <= value <= table["high"][name])
            ease = fit.posterior["ease"].mean(("chain", "draw")).to_numpy().var()
            weights = fit.posterior["weight"].to_numpy().ravel()
            of_demand = weights**2 * evaluation.items["size"].to_numpy().var()
            low, high = np.quantile(of_demand / (of_demand + ease), [0.05, 0.95])
            twins.append(low <= truth["new items"] <= high)
    error = np.sqrt(0.9 * 0.1 / (3 * studies))
    assert abs(np.mean(covered) - 0.9) < 3 * error
    assert np.mean(twins) < 0.9 - 3 * error, np.mean(twins)
