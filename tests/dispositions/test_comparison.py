"""Choices compared: the small study by hand, and chance by going through all cases."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from helpers import small_judgments

from measurement_layouts import DataError
from measurement_layouts.dispositions import SituationalJudgments, compare_choices
from measurement_layouts.dispositions.comparison import bucket, same_rate_misalignment

PAIRS = 20_000


def test_small_study_by_hand(judgments):
    found = compare_choices(judgments)
    calm, blunt = found.loc["calm"], found.loc["blunt"]
    np.testing.assert_allclose(calm["misalignment"], [0, 0.4, 0.9 - 8 / 9, 0.65, 0.25, 0.15])
    np.testing.assert_allclose(blunt["misalignment"], [0.3, 0.35, 8 / 9 - 0.2, 0.15, 0.5])
    np.testing.assert_array_equal(calm["aligned"], [1, 1, 1, 0, np.nan, 1])
    np.testing.assert_array_equal(blunt["aligned"], [1, 0, 0, np.nan, np.nan])
    np.testing.assert_allclose(calm["consensus"], [1, 0.6, 8 / 9, 0.65, 0.5, 0.85])
    np.testing.assert_allclose(blunt["confidence"], [0.7, 0.75, 0.8, 0.5, 1])
    assert calm["bucket"].tolist() == ["1", "", "[0.8, 0.9)", "", "", "[0.8, 0.9)"]
    assert found["trait"].loc["blunt"].tolist() == ["empathy"] * 4 + ["assertion"]
    np.testing.assert_allclose(found["corrected"], found["misalignment"] - found["chance"])
    assert found.columns.tolist() == [
        *("trait", "statement", "human", "model_rate", "misalignment", "chance", "corrected"),
        *("aligned", "consensus", "confidence", "bucket"),
    ]


def test_chance_takes_decided_choices_of_both(judgments):
    """On `visit`: 8 decided votes of 10, 5 of them positive; 16 decided samples, 4 positive."""
    chance = compare_choices(judgments).loc[("blunt", "visit"), "chance"]
    wanted = same_rate_misalignment(*np.array([[10], [2], [16], [9]]))
    assert chance == wanted[0]
    assert compare_choices(judgments).loc[("calm", "exam"), "chance"] == 0


@pytest.mark.parametrize(
    ("votes", "neutral", "samples", "positive"),
    [(4, 0, 6, 3), (4, 1, 5, 4), (5, 2, 6, 0), (3, 0, 7, 10), (3, 3, 5, 2), (4, 1, 6, 9)],
)
def test_chance_is_the_mean_over_all_ways_to_deal_out(votes, neutral, samples, positive):
    decided = votes - neutral
    gaps = []
    for places in combinations(range(decided + samples), positive):
        own = sum(place < decided for place in places)
        gaps.append(abs((own + neutral / 2) / votes - (positive - own) / samples))
    found = same_rate_misalignment(*np.array([[votes], [neutral], [samples], [positive]]))
    assert found[0] == pytest.approx(np.mean(gaps), abs=1e-12)


def corrected(people, models, rng):
    """Mean of misalignment less chance, in its standard errors, and the mean itself."""
    votes = rng.integers(8, 11, PAIRS)
    neutral = rng.binomial(votes - 1, 0.1)
    samples = rng.integers(10, 21, PAIRS)
    positive, own = rng.binomial(votes - neutral, people), rng.binomial(samples, models)
    gap = np.abs((positive + neutral / 2) / votes - own / samples)
    found = gap - same_rate_misalignment(votes, neutral, samples, positive + own)
    return found.mean() / (found.std(ddof=1) / np.sqrt(PAIRS)), found.mean()


@pytest.mark.parametrize("rate", [0.02, 0.5, 0.85, None])
def test_corrected_misalignment_of_one_rate_is_nought_on_average(rate, rng):
    rates = rng.beta(0.5, 0.5, PAIRS) if rate is None else np.full(PAIRS, rate)
    assert abs(corrected(rates, rates, rng)[0]) < 4
    # a twin with another rate must be seen
    assert corrected(rates, np.where(rates < 0.5, rates + 0.3, rates - 0.3), rng)[0] > 4


def test_correction_takes_too_much_from_a_badly_misaligned_model(rng):
    """As the card says: rates of 0.1 and 0.87 (with neutral votes) seem to be 0.6 apart."""
    error, found = corrected(np.full(PAIRS, 0.9), np.full(PAIRS, 0.1), rng)
    assert error > 100
    assert found == pytest.approx(0.6, abs=0.02)


def test_buckets_stand_rounding():
    rates = np.array([0.1, 0.2, 8 / 10, 1 - 0.2, 0.3 + 0.6, 1 - 1 / 3 * 0.3, 0.79, 0.999, 1])
    found = bucket(pd.Series(np.maximum(rates, 1 - rates)))
    assert found.tolist() == [
        *("[0.9, 1)", "[0.8, 0.9)", "[0.8, 0.9)", "[0.8, 0.9)", "[0.9, 1)", "[0.9, 1)"),
        *("", "[0.9, 1)", "1"),
    ]


def test_judgments_without_models_are_refused():
    alone = SituationalJudgments.from_long(small_judgments.scenarios(), small_judgments.votes())
    with pytest.raises(DataError, match="no samples of models; give samples="):
        compare_choices(alone)
