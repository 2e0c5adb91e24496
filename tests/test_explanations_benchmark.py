"""The benchmark of explanations: its truth, and that wrong names and wrong shares are caught."""

from dataclasses import replace

import elsewhere_explanations as bench
import numpy as np
import pytest

FEW = {"agents": 4, "items": 12, "seed": 3, "draws": 100, "tune": 200}


@pytest.fixture(scope="module")
def few():
    return bench.explained(**FEW)


def test_true_shares_are_those_of_many_tosses():
    rng = np.random.default_rng(1)
    profile, item = np.array([[3.0, 5.0, 4.0, 0.3]]), np.array([[4.0, 4.0, 4.5]])
    failed = bench.tossed(rng, np.repeat(profile, 200_000, axis=0), item)[:, 0]
    failed = failed[failed.any(axis=1)]
    blame = (failed / failed.sum(axis=1, keepdims=True)).mean(axis=0)
    np.testing.assert_allclose(bench.true_shares(profile, item)[0], blame, atol=0.005)


def test_what_is_named_first_is_mostly_true_and_a_wrong_name_is_not(few):
    right = few.right(few.named).mean()
    best = few.right(few.true.argmax(axis=1)).mean()
    assert right > best - 0.15  # of few failures
    wrong = few.right((few.named + 1) % 3).mean()  # the twin: the next part is named
    assert wrong < right - 0.2


def test_wrong_shares_are_not_calibrated(few):
    _, worst = bench.calibration(few)
    turned = replace(few, stated=np.roll(few.stated, 1, axis=1))
    assert bench.calibration(turned)[1] > max(worst, 4.0)


def test_rows_have_their_goals():
    lines = bench.rows(**(FEW | {"agents": 2, "items": 6}))
    assert [line.figure.relation for line in lines] == ["<=", ">=", "<=", ">="]
    assert lines[0].figure.bound == bench.WITHIN
