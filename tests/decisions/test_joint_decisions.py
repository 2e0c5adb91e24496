"""Decisions of a joint fit: draws of subjects belong together, items are known by name."""

import numpy as np
import pandas as pd
import pytest

import measurement_layouts as ml
from measurement_layouts.linking import logistic


@pytest.fixture(scope="module")
def quiz():
    skill = ml.Capability("skill", prior=ml.Prior("Normal", mu=0, sigma=ml.Spread("spread")))
    ease = ml.Bias("ease", per="item", prior=ml.Prior("Normal", mu=0, sigma=1))
    steps = ml.MetaFeature("steps", low=-3, high=3)
    layout = ml.Layout("quiz", ml.Success("solved", logistic(skill + ease - steps)))
    rng = np.random.default_rng(1)
    people, names = [f"s{k}" for k in range(8)], [f"i{k}" for k in range(30)]
    items = pd.DataFrame({"steps": rng.uniform(-2, 2, 30)}, names)
    odds = np.linspace(-2, 2, 8)[:, None] - items["steps"].to_numpy()
    won = (rng.logistic(size=odds.shape) < odds).astype(int)
    known = ml.Evaluation.from_wide(pd.DataFrame(won, people, names), items)
    fit = ml.fit(layout, known, draws=150, tune=250, chains=2, seed=1, progressbar=False)
    return fit, items


def test_a_claim_and_a_job_of_known_items_average_the_forecast(quiz):
    fit, items = quiz
    mean = fit.forecast(items).data["mean"].mean("item").to_series()
    card = ml.decisions.claim(fit, "s7", items, success=0.5)
    assert card.expected == pytest.approx(mean["s7"])
    assert (card.rests_on, card.items) == (30, 30)
    found = ml.decisions.suitability(fit, items, sampled=False)
    assert found.ranking["expected"].to_dict() == pytest.approx(mean.to_dict())
    assert found.ranking["expected"].is_monotonic_decreasing
    assert (found.limits["easiest"] == items["steps"].min()).all()
    assert (found.limits["gain"] > 0).all()
