"""Whom the data cannot place: no number, but the values that fit, and why."""

import numpy as np
import pytest
from helpers.one_band import band_layout, bands_of, chance, endless_layout, evaluation, skill_layout

import measurement_layouts as ml
from measurement_layouts.estimation.estimate import estimate
from measurement_layouts.linking import band

DEMANDS = np.linspace(0, 5, 40)
ENDS = np.array([[-3.0, 0.0], [-1.0, 2.0], [0.0, 3.0]])


def row_of(layout, columns, successes, trials=1, **options):
    estimates = estimate(layout, evaluation(columns, successes, trials), **options)
    row = estimates.table.iloc[0]
    if not row["identified"]:
        assert row[["estimate", "se", "low", "high"]].isna().all()
        assert len(estimates.unidentified) == 1
    return row, estimates.ranges["subject-0"]


def banded(layout, successes, trials=1, ends=ENDS, **options):
    return row_of(layout, {"lower": ends[:, 0], "upper": ends[:, 1]}, successes, trials, **options)


def test_failing_everything_leaves_two_rays():
    row, pieces = banded(endless_layout(), [0, 0, 0], 5)
    assert not row["identified"]
    (low, below), (above, high) = pieces
    assert (low, high) == (-np.inf, np.inf)
    allowed = f"below {below:.4g} or above {above:.4g}"
    assert row["reason"] == f"no success on 3 items: anything {allowed} fits"
    assert below < -3 < 3 < above
    assert row["log_likelihood"] == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(
    ("solved", "words"), [(True, "no failure on 40 items:"), (False, "no success on")]
)
def test_a_capability_of_who_solved_everything_or_nothing_has_one_limit(solved, words):
    row, (piece,) = row_of(skill_layout(), {"demand": DEMANDS}, np.full(40, int(solved)))
    assert not row["identified"]
    assert row["reason"].startswith(words)
    assert (piece[1] == 5) == solved
    assert (piece[0] == 0) != solved


def test_a_range_that_ends_too_early_is_not_an_estimate():
    """Some failures, and still the likelihood rises up to the end."""
    row, (piece,) = row_of(skill_layout(), {"demand": DEMANDS}, DEMANDS < 4.8)
    assert not row["identified"]
    assert row["reason"].startswith("the data set no limit on the upper side: anything above 4.")
    assert piece[1] == 5


def test_an_interval_that_the_range_cuts_is_one():
    solved = np.append(np.ones(38), [0, 0]) * (np.arange(40) % 8 > 0)
    row, _ = row_of(skill_layout(), {"demand": DEMANDS}, solved)
    assert row["identified"]
    assert row["high"] == 5 > row["estimate"]
    assert row["reason"] == "the interval ends where the range does"


def test_bands_all_alike_have_mirror_images():
    risk = ml.Propensity("risk", low=-9, high=9)
    layout = ml.Layout("alike", ml.Success("right", band(risk, -2, 2)))
    row, pieces = row_of(layout, {}, [20], [40])
    assert not row["identified"]
    assert len(pieces) == 2
    assert row["reason"].startswith("2 places fit equally well: -2.0")
    # one item more, elsewhere, and one of the two is left
    columns = {"lower": [-2.0, -1.0], "upper": [2.0, 4.0]}
    row, _ = row_of(band_layout(), columns, [20, 9], [40, 10])
    assert row["identified"]
    assert 1 < row["estimate"] < 3


def coverage(estimates, truth, shrink=1.0):
    """Part of the compatible sets that hold the truth; the sets may be shrunk."""
    inside = []
    for subject, theta in zip(estimates.subjects, truth, strict=True):
        pieces = np.array(estimates.ranges[subject])
        middle, half = pieces.mean(axis=1), shrink * np.ptp(pieces, axis=1) / 2
        inside.append((np.abs(theta - middle) <= half).any())
    return np.mean(inside)


@pytest.mark.slow
def test_the_compatible_set_holds_the_truth_as_often_as_it_says():
    """Over subjects drawn anywhere, those whom the data cannot place included."""
    rng = np.random.default_rng(8)
    ends = bands_of(rng, 40, least=1.0)
    truth = rng.uniform(-4, 4, 800)
    outcomes = rng.binomial(1, chance(truth, *ends.T))
    columns = {"lower": ends[:, 0], "upper": ends[:, 1]}
    estimates = estimate(band_layout(), evaluation(columns, outcomes))
    error = (0.9 * 0.1 / len(truth)) ** 0.5
    # 0.01 beside Monte Carlo error: the chi-square limit is off by about 1 / items
    assert abs(coverage(estimates, truth) - 0.9) < 3.3 * error + 0.01
    assert coverage(estimates, truth, shrink=0.8) < 0.9 - 3.3 * error - 0.01
