"""Every score refuses the same input, and says what there is, what is needed and what to do."""

import math

import numpy as np
import pytest

from measurement_layouts.validation.prediction.scoring_rules import (
    ScoreError,
    auroc,
    brier,
    decompose_brier,
    expected_calibration_error,
    log_score,
    single_class_reason,
)

SCORES = [brier, decompose_brier, log_score, auroc, expected_calibration_error]

BAD_INPUT = {
    "p above 1": (([0.5, 1.5, math.nan], [0, 1, 1]), r"p .* row 1 \(1\.5\), row 2 \(nan\); .*clip"),
    "p below 0": (([-0.1, 0.5], [0, 1]), r"p is not a probability .* row 0 \(-0\.1\)"),
    "p rounded above 1": (([math.nextafter(1, 2)], [1]), r"row 0 \(1\.0000000000000002\)"),
    "p infinite": (([math.inf], [1]), r"row 0 \(inf\)"),
    "many bad rows": (([2.0] * 8, [1] * 8), r"row 4 \(2\) and 3 more"),
    "bad p, no trial": (([0.5, 2.0], [1, 0], [1, 0]), r"p .* row 1 \(2\)"),
    "p too short": (([0.5], [0, 1]), r"p has shape \(1,\); it needs \(2,\), like successes"),
    "trials too long": (([0.5], [0], [1, 1]), r"trials has shape \(2,\); it needs \(1,\)"),
    "draws of p": (([[0.5], [0.6]], [1]), r"p has shape \(2, 1\).*averaging over posterior draws"),
    "scalar successes": (([0.5], 1), r"successes has shape \(\); it needs \(items,\)"),
    "words": ((["high"], [1]), r"p is not numeric; it needs real numbers"),
    "object words": ((np.array(["high"], dtype=object), [1]), r"p is not numeric"),
    "complex": (([0.5 + 0j], [1]), r"p is not numeric"),
    "ragged": (([[0.5], [0.1, 0.2]], [1]), r"p is not numeric"),
    "nothing": ((None, [1]), r"p has shape \(\)"),
    "more successes": (
        ([0.5, 0.5], [1, 5], [1, 3]),
        r"successes .* 0\.\.trials at row 1 \(5 of 3\)",
    ),
    "counts, no trials": (([0.5], [4]), r"row 0 \(4 of 1\); .*pass trials="),
    "negative success": (([0.5], [-1]), r"successes .* row 0 \(-1 of 1\)"),
    "rate": (([0.5], [0.3], [10]), r"successes is not a whole number .* row 0 \(0\.3 of 10\)"),
    "missing success": (([0.5], [math.nan]), r"row 0 \(nan of 1\); give successes 0 and trials 0"),
    "negative trials": (([0.5], [0], [-2]), r"trials is not a whole number .* row 0 \(-2\)"),
    "half trials": (([0.5], [0], [1.5]), r"trials is not a whole number .* row 0 \(1\.5\)"),
    "missing trials": (([0.5], [0], [math.nan]), r"trials .* row 0 \(nan\)"),
    "endless trials": (([0.5], [0], [math.inf]), r"trials .* row 0 \(inf\)"),
    "no trial": (([0.5, 0.5], [0, 0], [0, 0]), r"no trial in 2 rows; a score needs one: leave out"),
    "no rows": (([], []), r"no trial in 0 rows"),
}


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize(("rows", "message"), BAD_INPUT.values(), ids=BAD_INPUT.keys())
def test_bad_input_is_refused_by_every_score(score, rows, message):
    with pytest.raises(ScoreError, match=message):
        score(*rows)


@pytest.mark.parametrize("score", [decompose_brier, expected_calibration_error])
@pytest.mark.parametrize("bins", [0, -3, 2.5, None, "10"])
def test_bins_must_be_a_whole_number_from_one(score, bins):
    with pytest.raises(ScoreError, match=r"bins is .*needs a whole number from 1 up"):
        score([0.5], [1], bins=bins)


def test_single_class_reason_refuses_what_the_scores_refuse():
    with pytest.raises(ScoreError, match=r"row 0 \(2 of 1\)"):
        single_class_reason([2])
    assert issubclass(ScoreError, ValueError)
