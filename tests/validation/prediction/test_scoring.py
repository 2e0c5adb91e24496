"""Scores against closed forms, scikit-learn and their own identities.

Tolerance 1e-12: every score is a mean of at most a few dozen terms in [0, 1] (or logs of that
size), each rounded to about 1e-16; agreement is a matter of rounding, not of sampling.
"""

import doctest
import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score

from measurement_layouts.validation.prediction import scoring_rules as scoring
from measurement_layouts.validation.prediction.scoring_rules import (
    BrierDecomposition,
    auroc,
    brier,
    decompose_brier,
    expected_calibration_error,
    log_score,
    single_class_reason,
)

ROUNDING = 1e-12
SCORES = [brier, decompose_brier, log_score, auroc, expected_calibration_error]
PUBLISHED_FAULT = ([1.0, 1.0, 1.0, 1.0], [1, 0, 0, 0])


@pytest.fixture
def rng():
    return np.random.default_rng(20240)


@st.composite
def tallies(draw):
    """Forecasts with counts: ends and bin edges often, unattempted rows sometimes."""
    edges = st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.7, math.nextafter(1, 0), 1.0])
    row = st.tuples(edges | st.floats(0, 1), st.integers(0, 8)).flatmap(
        lambda pn: st.tuples(st.just(pn[0]), st.integers(0, pn[1]), st.just(pn[1]))
    )
    rows = draw(st.lists(row, min_size=1, max_size=15).filter(lambda r: any(n for _, _, n in r)))
    return tuple(np.array(column) for column in zip(*rows, strict=True))


def repeated(p, successes, trials):
    """Write counts as one row per trial with a 0/1 outcome."""
    y = np.concatenate([np.arange(n) < s for s, n in zip(successes, trials, strict=True)])
    return np.repeat(p, trials), y.astype(int)


def residual(parts):
    return parts.brier - (parts.calibration + parts.refinement + parts.remainder)


# --- Brier score and its decomposition -----------------------------------------------------------


@given(tallies(), st.integers(1, 25))
@example((np.array(PUBLISHED_FAULT[0]), np.array(PUBLISHED_FAULT[1]), np.ones(4, int)), 10)
@example((np.array([0.0, 0.0, 1.0]), np.array([1, 0, 2]), np.array([1, 1, 3])), 7)
def test_the_parts_add_up_to_the_brier_score(tally, bins):
    assert abs(residual(decompose_brier(*tally, bins=bins))) < ROUNDING


@settings(max_examples=30)
@given(tallies(), st.integers(1, 25))
def test_the_parts_keep_to_their_ranges(tally, bins):
    parts = decompose_brier(*tally, bins=bins)
    assert parts.brier == brier(*tally)
    assert 0 <= parts.calibration <= 1 + ROUNDING
    assert 0 <= parts.refinement <= 0.25 + ROUNDING
    assert -0.25 - ROUNDING <= parts.remainder <= 0.75 + ROUNDING


def test_a_million_equal_forecasts_still_add_up():
    # Adding 0.1 one by one drifts by 1e-12 relative: the sums must be pairwise.
    parts = decompose_brier(np.full(10**6, 0.1), np.ones(10**6))
    assert abs(residual(parts)) < 1e-14
    assert parts.calibration == pytest.approx(0.81, abs=1e-14)
    assert parts.remainder == pytest.approx(0, abs=1e-14)


def test_published_fault_forecasts_of_one_are_in_the_last_bin():
    # brierDecomp's figures for this case are (0.75, 0, 0): it drops p = 1.
    assert decompose_brier(*PUBLISHED_FAULT) == BrierDecomposition(0.75, 0.5625, 0.1875, 0.0)


def half_open_parts(p, y, bins=10):
    """Bin as the published code did, [low, high) throughout: the twin that must fail."""
    p, y = np.asarray(p), np.asarray(y)
    edges = np.linspace(0, 1, bins + 1)
    calibration = refinement = remainder = 0.0
    for low, high in pairwise(edges):
        inside = (low <= p) & (p < high)
        if inside.any():
            share, rate = inside.mean(), y[inside].mean()
            calibration += share * (p[inside].mean() - rate) ** 2
            refinement += share * rate * (1 - rate)
            remainder += share * (p[inside].var() - 2 * np.cov(p[inside], y[inside], ddof=0)[0, 1])
    return BrierDecomposition(float(np.mean((p - y) ** 2)), calibration, refinement, remainder)


def test_twin_half_open_bins_break_the_identity():
    twin = half_open_parts(*PUBLISHED_FAULT)
    assert (twin.brier, twin.calibration, twin.refinement) == (0.75, 0, 0)
    assert residual(twin) == 0.75


def test_twin_without_the_remainder_the_parts_do_not_add_up():
    parts = decompose_brier([0.1, 0.4, 0.6, 0.9], [0, 0, 1, 1], bins=2)
    assert abs(residual(parts)) < ROUNDING
    assert abs(parts.brier - parts.calibration - parts.refinement) > 0.01


def test_below_one_the_half_open_reference_agrees(rng):
    p = rng.uniform(0, 0.999, 300)
    y = rng.binomial(1, p)
    expected, parts = half_open_parts(p, y), decompose_brier(p, y)
    for name in ("brier", "calibration", "refinement", "remainder"):
        assert getattr(parts, name) == pytest.approx(getattr(expected, name), abs=ROUNDING)


def test_decomposition_by_hand_within_one_bin():
    # pbar = 0.5, obar = 0.5: var(p) = 0.25**2, cov(p, y) = 0.125.
    parts = decompose_brier([0.25, 0.75], [0, 1], bins=1)
    assert parts == BrierDecomposition(0.0625, 0.0, 0.25, 0.0625 - 0.25)


def test_a_constant_forecast_has_the_closed_forms():
    q, won, trials = 0.375, 30, 80
    parts = decompose_brier([q], [won], [trials])
    assert parts == BrierDecomposition(q * (1 - q), 0.0, q * (1 - q), 0.0)
    entropy = -(q * math.log(q) + (1 - q) * math.log(1 - q))
    assert log_score([q], [won], [trials]) == pytest.approx(entropy, abs=ROUNDING)
    assert auroc([q], [won], [trials]) == 0.5
    assert expected_calibration_error([q], [won], [trials]) == 0


@pytest.mark.parametrize("bins", [2, 3, 10, 49, 100])
def test_a_forecast_on_an_edge_belongs_to_the_upper_bin(bins):
    # One forecast on each k/bins, the last two in one bin: shares tell the bins apart.
    k = np.arange(bins + 1)
    parts = decompose_brier(k / bins, k % 2, bins=bins)
    last = (1 - 0.5 / bins - 0.5) ** 2  # the last bin holds one success and one failure
    others = np.sum((k[:-2] / bins - k[:-2] % 2) ** 2)
    # summed in another order over up to 101 terms of at most 1
    assert parts.calibration == pytest.approx((others + 2 * last) / (bins + 1), abs=ROUNDING)
    assert parts.refinement == pytest.approx(2 * 0.25 / (bins + 1), abs=ROUNDING)


# --- against scikit-learn ------------------------------------------------------------------------


def test_scores_agree_with_scikit_learn(rng):
    p = rng.choice(np.linspace(0.01, 0.99, 40), size=500)  # with ties
    y = rng.binomial(1, p)
    assert brier(p, y) == pytest.approx(brier_score_loss(y, p), abs=ROUNDING)
    assert log_score(p, y) == pytest.approx(log_loss(y, p), abs=ROUNDING)
    assert auroc(p, y) == pytest.approx(roc_auc_score(y, p), abs=ROUNDING)


def test_counts_agree_with_scikit_learn_weights(rng):
    p, trials = rng.uniform(0.01, 0.99, 60), rng.integers(0, 6, 60)
    won = rng.binomial(trials, p)
    y, weights = np.repeat([1, 0], 60), np.concatenate([won, trials - won])
    both = np.concatenate([p, p])
    for ours, theirs in ((brier, brier_score_loss), (log_score, log_loss), (auroc, roc_auc_score)):
        expected = theirs(y, both, sample_weight=weights)
        assert ours(p, won, trials) == pytest.approx(expected, abs=ROUNDING)


# --- counts and repeated rows --------------------------------------------------------------------


def values(score, *rows):
    result = score(*rows)
    if isinstance(result, BrierDecomposition):
        return [result.brier, result.calibration, result.refinement, result.remainder]
    return [result]


@given(tallies())
def test_counts_score_as_repeated_outcomes(tally):
    rows = repeated(*tally)
    ours, theirs = ([v for score in SCORES for v in values(score, *t)] for t in (tally, rows))
    assert ours == pytest.approx(theirs, rel=ROUNDING, abs=ROUNDING, nan_ok=True)


@pytest.mark.parametrize("score", SCORES)
def test_a_row_without_trials_contributes_nothing(score):
    p, won, trials = [0.2, 0.9, 0.6], [1, 3, 2], [3, 4, 2]
    extra = values(score, [*p, 0.0, 1.0], [*won, 0, 0], [*trials, 0, 0])
    assert extra == values(score, p, won, trials)


@pytest.mark.parametrize("score", SCORES)
def test_inputs_are_not_changed_and_plain_floats_come_back(score):
    p, won, trials = np.array([0.0, 0.5, 1.0]), np.array([0, 1, 2]), np.array([1, 3, 2])
    before = p.copy(), won.copy(), trials.copy()
    assert {type(value) for value in values(score, p, won, trials)} == {float}
    for now, then in zip((p, won, trials), before, strict=True):
        np.testing.assert_array_equal(now, then)


# --- log score -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("p", "successes", "trials", "expected"),
    [
        ([0.0, 1.0], [0, 5], [3, 5], 0.0),  # certain and right: 0 log 0 = 0
        ([1.0], [0], None, math.inf),
        ([0.0], [1], None, math.inf),
        ([1.0, 0.5], [1, 1], [2, 2], math.inf),
        ([0.5, 1.0], [1, 1], None, math.log(2) / 2),
        ([1e-300], [1], None, 300 * math.log(10)),
        ([1e-20], [0], None, 1e-20),  # log1p, not log(1 - p), which is 0
    ],
)
def test_log_score_closed_forms(p, successes, trials, expected):
    score = log_score(p, successes, trials)
    assert score == pytest.approx(expected, rel=ROUNDING, abs=0)
    assert math.copysign(1, score) == 1  # never -0.0


# --- AUROC ---------------------------------------------------------------------------------------


@given(tallies())
def test_auroc_is_the_share_of_pairs_won_with_ties_half(tally):
    p, y = repeated(*tally)
    won, lost = p[y == 1][:, None], p[y == 0][None, :]
    if won.size and lost.size:
        pairs = np.mean((won > lost) + (won == lost) / 2)
        assert auroc(*tally) == pytest.approx(pairs, abs=ROUNDING)
        assert single_class_reason(*tally[1:]) is None
    else:
        assert math.isnan(auroc(*tally))
        assert single_class_reason(*tally[1:]) is not None


def test_auroc_extremes():
    assert auroc([0.1, 0.2, 0.8], [0, 0, 1]) == 1
    assert auroc([0.1, 0.2, 0.8], [1, 1, 0]) == 0
    assert auroc([0.4, 0.4, 0.4], [0, 1, 1]) == 0.5


def test_single_class_reason_names_the_class():
    assert "all 3 trials are failures" in single_class_reason([0, 0], [1, 2])
    assert "all 3 trials are successes" in single_class_reason([1, 1, 1])


# --- expected calibration error ------------------------------------------------------------------


def test_expected_calibration_error_by_hand():
    # [0, 0.5): forecast 0.25, rate 0.5; [0.5, 1]: forecast (0.5 + 1) / 2, rate 0.5.
    p, won, trials = [0.25, 0.5, 1.0], [1, 0, 2], [2, 2, 2]
    expected = (2 * 0.25 + 4 * 0.25) / 6
    assert expected_calibration_error(p, won, trials, bins=2) == pytest.approx(
        expected, abs=ROUNDING
    )


def test_expected_calibration_error_counts_forecasts_of_one():
    assert expected_calibration_error(*PUBLISHED_FAULT) == 0.75


@settings(max_examples=30)
@given(tallies(), st.integers(1, 25))
def test_squared_calibration_error_is_at_most_the_calibration(tally, bins):
    error = expected_calibration_error(*tally, bins=bins)  # Jensen
    assert error**2 <= decompose_brier(*tally, bins=bins).calibration + ROUNDING


def test_examples_in_the_docstrings_run():
    results = doctest.testmod(scoring)
    assert results.attempted >= 6
    assert results.failed == 0
