"""Models' choices laid out as an evaluation."""

import numpy as np
import pandas as pd
import pytest

from measurement_layouts.dispositions.pulls import (
    choices,
    effective_votes,
    expected_rates,
    fit_pulls,
)
from measurement_layouts.scenarios.dispositions import simulated_study


@pytest.fixture(scope="module")
def judgments():
    return simulated_study(per_statement=2, models=["sim-05", "sim-16"]).judgments


def test_counts_are_those_of_the_judgments(judgments):
    evaluation, rates = choices(judgments), judgments.model_rates()
    assert evaluation.subjects == judgments.models
    for model in judgments.models:
        own = rates.loc[model]
        done = evaluation.trials.loc[model].loc[own.index]
        assert (done == own["positive"] + own["negative"]).all()
        assert (evaluation.successes.loc[model].loc[own.index] == own["positive"]).all()
    dropped = evaluation.trials.size - len(rates)
    assert (evaluation.trials == 0).to_numpy().sum() == dropped > 0


def test_columns_of_the_items(judgments):
    items, people = choices(judgments).items, judgments.human_rates()
    votes = effective_votes(people)
    assert (items["votesFor"] == votes["positive"]).all()
    assert (items["votesAgainst"] == votes["negative"]).all()
    flags = items.filter(like="trait[")
    assert (flags.sum(axis=1) == 1).all()
    assert (flags.idxmax(axis=1) == "trait[" + people["trait"] + "]").all()
    pulls = fit_pulls(votes, people["trait"])
    own = pulls.loc[people["trait"], ["mean", "spread"]].to_numpy()
    np.testing.assert_array_equal(items[["commonPull", "pullSpread"]], own)
    told = votes.to_numpy().T
    np.testing.assert_array_equal(items["peoplesRate"], expected_rates(*told, *own.T))
    assert items["pullSpreadError"].nunique() == 1


def test_effective_votes_scatter_as_binomial_ones():
    """With a tenth of neutral votes; as they are given, they scatter less (the twin)."""
    rng, votes = np.random.default_rng(1), 10
    rate = rng.uniform(0.1, 0.9, size=40_000)
    neutral = rng.binomial(votes, 0.1, size=len(rate))
    sure = rng.binomial(votes - neutral, (rate - 0.05) / 0.9)
    people = pd.DataFrame(
        {
            "trait": "Empathy",
            "positive": sure + neutral / 2,
            "negative": votes - sure - neutral / 2,
            "neutral": neutral,
            "votes": votes,
        }
    )

    def excess(counts):
        """Mean squared error of the rate over the Binomial variance of so many votes, less 1."""
        total = counts.sum(axis=1)
        squares = total * (counts["positive"] / total - rate) ** 2
        return squares.sum() / (rate * (1 - rate)).sum() - 1

    error = 4 * (2 / len(rate)) ** 0.5
    assert abs(excess(effective_votes(people))) < error
    assert abs(excess(people[["positive", "negative"]])) > error
