"""Scores against scikit-learn, closed forms and their own identities."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score

from measurement_layouts.validation.prediction.scoring_rules import scores_in_groups

ROUNDING = 1e-12  # sums of at most some hundred terms in [0, 1]


def scored(p, won, trials=None, **options):
    """Score one group, as floats by name."""
    trials = np.ones(len(p)) if trials is None else np.asarray(trials)
    found = scores_in_groups(np.asarray(p, float), np.asarray(won), trials - won, **options)
    return {name: float(values[0]) for name, values in found.items()}


@st.composite
def tallies(draw):
    """Forecasts with counts; ends and edges of bins often, and rows without trials."""
    edges = st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.7, math.nextafter(1, 0), 1.0])
    row = st.tuples(edges | st.floats(0, 1), st.integers(0, 8)).flatmap(
        lambda pn: st.tuples(st.just(pn[0]), st.integers(0, pn[1]), st.just(pn[1]))
    )
    rows = draw(st.lists(row, min_size=1, max_size=15).filter(lambda r: any(n for _, _, n in r)))
    return tuple(np.array(column) for column in zip(*rows, strict=True))


@given(tallies(), st.integers(1, 25))
def test_parts_keep_to_their_ranges_and_counts_are_repeated_outcomes(tally, bins):
    p, won, trials = tally
    ours = scored(p, won, trials, bins=bins)
    assert 0 <= ours["calibration"] <= 1 + ROUNDING
    assert -ROUNDING <= ours["refinement"] <= 0.25 + ROUNDING
    assert -0.25 - ROUNDING <= ours["remainder"] <= 0.75 + ROUNDING
    assert ours["ece"] ** 2 <= ours["calibration"] + ROUNDING  # Jensen
    y = np.concatenate([np.arange(n) < s for s, n in zip(won, trials, strict=True)]).astype(int)
    single = scored(np.repeat(p, trials), y, bins=bins)
    assert ours == pytest.approx(single, rel=ROUNDING, abs=ROUNDING, nan_ok=True)


def test_the_remainder_is_the_variance_and_covariance_within_bins(rng):
    p = rng.uniform(0, 0.999, 300)
    y = rng.binomial(1, p)
    expected = 0.0
    for low in np.arange(10) / 10:
        inside = (low <= p) & (p < low + 0.1)
        covariance = np.cov(p[inside], y[inside], ddof=0)
        expected += inside.mean() * (covariance[0, 0] - 2 * covariance[0, 1])
    assert scored(p, y)["remainder"] == pytest.approx(expected, abs=ROUNDING)


def test_scores_agree_with_scikit_learn(rng):
    p, trials = rng.choice(np.linspace(0.01, 0.99, 40), 60), rng.integers(0, 6, 60)
    won = rng.binomial(trials, p)
    y, weights = np.repeat([1, 0], 60), np.concatenate([won, trials - won])
    rules = {"brier": brier_score_loss, "log_score": log_loss, "auroc": roc_auc_score}
    for name, rule in rules.items():
        expected = rule(y, np.tile(p, 2), sample_weight=weights)
        assert scored(p, won, trials)[name] == pytest.approx(expected, abs=ROUNDING)


@pytest.mark.parametrize(
    ("p", "won", "trials", "expected"),
    [
        ([0.0, 1.0], [0, 5], [3, 5], 0.0),  # certain and right: 0 log 0 = 0
        ([1.0], [0], None, math.inf),
        ([0.0], [1], None, math.inf),
        ([0.5, 1.0], [1, 1], None, math.log(2) / 2),
        ([1e-20], [0], None, 1e-20),  # log1p, not log(1 - p), which is 0
    ],
)
def test_log_scores_of_certain_forecasts(p, won, trials, expected):
    score = scored(p, won, trials)["log_score"]
    assert score == pytest.approx(expected, rel=ROUNDING, abs=0)
    assert math.copysign(1, score) == 1  # never -0.0


def test_groups_and_resamples_are_scored_as_each_alone(rng):
    p, group = rng.integers(0, 11, 120) / 10, rng.integers(0, 3, 120)
    trials = rng.integers(0, 4, 120)
    won, times = rng.binomial(trials, 0.4), rng.integers(0, 3, (120, 5))
    lost = trials - won
    found = scores_in_groups(p, won[:, None] * times, lost[:, None] * times, group)
    for one in range(3):
        for draw in range(5):
            rows = group == one
            weights = times[rows, draw]
            alone = scores_in_groups(p[rows], won[rows] * weights, lost[rows] * weights)
            for name, values in alone.items():
                assert found[name][one, draw] == pytest.approx(values[0], abs=ROUNDING)
