"""Priors that the outcomes contradict are named; priors that the truth comes from are not."""

import numpy as np
import pandas as pd
import pytest

import measurement_layouts as ml
from measurement_layouts.linking import logistic


def normal(mu, sigma):
    return ml.Prior("Normal", mu=mu, sigma=sigma)


def evaluation(margin, seed=2):
    rng = np.random.default_rng(seed)
    solved = (rng.random(margin.shape) < 1 / (1 + np.exp(-margin))).astype(int)
    table = pd.DataFrame(solved).rename("m{}".format).rename(columns="q{}".format)
    return ml.Evaluation.from_wide(table, pd.DataFrame(index=table.columns))


def rasch(**given):
    mean = ml.Bias("mean", per="population", prior=normal(0, 5))
    ability = ml.Capability("ability", prior=normal(mean, ml.Spread("spread")))
    ease = ml.Bias("ease", per="item", **given)
    return ml.Layout("Rasch", ml.Success("solved", logistic(ability + ease)))


def fitted(layout, given):
    options = {"draws": 300, "tune": 500, "chains": 2, "seed": 1, "progressbar": False}
    return ml.fit(layout, given, **options)


@pytest.fixture(scope="module")
def agents():
    """Eight agents on items that are mostly all or nothing: the spread of their ease is 4."""
    rng = np.random.default_rng(2)
    return evaluation(rng.normal(4, 0.3, (8, 1)) + rng.normal(0, 4, 150))


def eased(prior):
    return {"prior": normal(0, ml.Spread("easeSpread", **prior))}


def test_a_spread_that_its_prior_excludes_is_named(agents):
    fit = fitted(rasch(**eased({"prior": ml.Prior("HalfNormal", sigma=1)})), agents)
    table = fit.population().set_index("node")
    assert table["prior_conflict"].to_dict() == {
        "mean": False,
        "spread": False,
        "easeSpread": True,
    }
    reasons = fit.diagnostics()["reason"]
    assert reasons.str.contains("easeSpread: the outcomes and the prior disagree").all()


def test_the_default_prior_covers_the_spread_of_all_or_nothing_items(agents):
    by_default, by_hand = (
        fitted(rasch(**eased(prior)), agents)
        for prior in ({}, {"prior": ml.Prior("HalfNormal", sigma=2.5)})
    )
    table = by_default.population().set_index("node")
    assert not table["prior_conflict"].any()
    assert table.at["easeSpread", "low"] < 4 < table.at["easeSpread", "high"]
    assert not by_default.diagnostics()["reason"].str.contains("disagree").any()
    expected = by_hand.population().set_index("node")
    assert table["mean"].to_dict() == pytest.approx(expected["mean"].to_dict())


def test_many_values_are_named_together(agents):
    fit = fitted(rasch(), agents)  # each ease is standard normal
    assert fit.diagnostics()["reason"].str.contains(r"ease\[.*\] \(and of .* more of 150\)").all()


def test_values_of_single_subjects_are_named():
    margin = np.repeat([[0.5], [6.0], [-0.2]], 200, axis=1)
    layout = ml.Layout("leaning", ml.Success("right", logistic(ml.Bias("lean"))))
    reasons = fitted(layout, evaluation(margin)).diagnostics()["reason"]
    assert reasons.str.contains("lean: the outcomes and the prior disagree").tolist() == [
        False,
        True,
        False,
    ]


def test_values_from_their_priors_are_rarely_named():
    """Conjugate posteriors, of which the rate is known: 1 % of values, whatever the data say."""
    from measurement_layouts.inference.posterior.conflicts import surprise

    rng = np.random.default_rng(1)
    prior = rng.standard_normal(4000)
    for error in (0.1, 1.0, 2.0):
        learnt = 1 / (1 + error**2)
        means = learnt * (rng.standard_normal(2000) + error * rng.standard_normal(2000))
        draws = means[:, None] + (1 - learnt) ** 0.5 * rng.standard_normal((2000, 1000))
        rate = (abs(surprise(draws[:, None, None], prior)) > 2.576).mean()
        assert rate == pytest.approx(0.01, abs=4 * (0.01 / 2000) ** 0.5)
