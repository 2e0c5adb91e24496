"""Claims: against Beta posteriors in closed form."""

import numpy as np
import pandas as pd
import pytest
from helpers.coins import PASSED
from scipy.stats import beta

import measurement_layouts as ml
from measurement_layouts.linking import logistic

ITEMS = pd.DataFrame(index=[f"i{number}" for number in range(41)])


def needed(won, lost, success, confidence, failures):
    """Count outcomes until the Beta posterior crosses the confidence."""
    holds = beta.sf(success, 1 + won, 1 + lost) >= confidence
    for count in range(1, 300):
        more = (1 + won, 1 + lost + count) if failures else (1 + won + count, 1 + lost)
        if (beta.sf(success, *more) >= confidence) != holds:
            return count
    return None


@pytest.mark.trust("promises", "a claim says what would overturn it")
@pytest.mark.parametrize("subject", ["Ann", "Bob", "Cy"])
@pytest.mark.parametrize(("success", "confidence"), [(0.8, 0.75), (0.85, 0.5), (0.9, 0.9)])
def test_a_claim_is_that_of_the_closed_form(coins, subject, success, confidence):
    won, lost = PASSED[subject]
    card = ml.decisions.claim(coins, subject, ITEMS, success=success, confidence=confidence)
    exact = beta.sf(success, 1 + won, 1 + lost)
    assert card.probability == pytest.approx(exact, abs=0.02)
    assert card.holds == (exact >= confidence)
    assert (card.rests_on, card.passed) == (won + lost, won)
    assert card.worth == pytest.approx(won + lost + 2, rel=0.05)
    assert card.expected == pytest.approx((1 + won) / (2 + won + lost), abs=0.003)
    if card.holds:
        expected = needed(won, lost, success, confidence, failures=True)
        assert card.established_by is None
        told = card.overturned_by is not None
        assert told or expected > 3, "few failures can be told from 8,000 draws"
        assert not told or abs(card.overturned_by - expected) <= 1
    else:
        expected = needed(won, lost, success, confidence, failures=False)
        assert card.overturned_by is None
        assert card.established_by is None or abs(card.established_by - expected) <= 2


def test_successes_would_not_overturn(coins):
    """Twin: weights of the other outcome never cross the confidence."""
    from measurement_layouts.decisions.claim import _needed

    draws = np.random.default_rng(1).beta(31, 1, 8000)
    assert _needed(draws, 0.9, 0.8, 1 - draws) == 2
    assert _needed(draws, 0.9, 0.8, draws) is None


def test_what_draws_cannot_tell_is_not_told(coins):
    card = ml.decisions.claim(coins, "Dee", ITEMS, success=0.9)
    assert card.probability == 0
    assert card.established_by is None
    assert "do not determine how many" in str(card)
    assert "< 0.01" in repr(card)


def test_it_rests_on_attempts_within_the_kind():
    steps = ml.MetaFeature("steps", low=0, high=10)
    layout = ml.Layout("sums", ml.Success("right", logistic(ml.Capability("skill", 0, 10) - steps)))
    items = pd.DataFrame({"steps": np.arange(10.0)}, [f"i{place}" for place in range(10)])
    outcomes = pd.DataFrame([[1, 1, 1, 1, 0, 1, 0, 0, 0, 0]], ["Ann"], items.index)
    known = ml.Evaluation.from_wide(outcomes, items)
    found = ml.fit(layout, known, method="grid", seed=1, progressbar=False)
    card = ml.decisions.claim(found, "Ann", pd.DataFrame({"steps": [3.0, 5.0]}), success=0.5)
    assert (card.items, card.rests_on, card.passed) == (2, 3, 2)
    far = ml.decisions.claim(found, "Ann", pd.DataFrame({"steps": [9.5]}), success=0.5)
    assert (far.rests_on, far.passed, far.outside) == (0, 0, 1)
    assert "; 1 of 1 outside its training items." in str(far)
    assert card.outside == 0
    assert "outside" not in str(card)
    draws = found.posterior["skill"].to_numpy().ravel()
    chances = 1 / (1 + np.exp(np.array([[3.0], [5.0]]) - draws))
    assert card.probability == (chances.mean(axis=0) >= 0.5).mean()


@pytest.mark.parametrize(
    ("subject", "options", "error", "said"),
    [
        (["Ann"], {}, ml.FitError, "one subject"),
        ("Zoe", {}, ml.FitError, "Zoe"),
        ("Ann", {"success": 1}, ml.FitError, "success="),
        ("Ann", {"confidence": 0}, ml.FitError, "confidence="),
    ],
)
def test_claims_of_nothing_are_refused(coins, subject, options, error, said):
    with pytest.raises(error, match=said):
        ml.decisions.claim(coins, subject, ITEMS, **options)


def test_a_kind_without_items_is_refused(coins):
    with pytest.raises(ml.DataError, match="no item"):
        ml.decisions.claim(coins, "Ann", ITEMS.head(0))
