"""The benchmark of explanations: its truth, and that wrong names and wrong shares are caught."""

from dataclasses import replace

import elsewhere_explanations as bench
import numpy as np
import pytest
from helpers import small_layouts


def all_but_known(evaluation, profiles, seed):
    """Draw profiles close to the true ones, as a fit to very many items would."""
    rng = np.random.default_rng(seed)
    able = np.clip(profiles[:, None, :] + rng.normal(0, 0.1, (len(profiles), 60, 4)), 0, 9)
    able[..., -1] = np.clip(profiles[:, None, -1] + rng.normal(0, 0.005, able.shape[:2]), 0, 1)
    draws = able.reshape(len(profiles), 2, 30, 4)
    posterior = {name: draws[..., place] for place, name in enumerate(bench.LATENTS)}
    return small_layouts.crafted(bench.layout(), evaluation, posterior)


FEW = {"agents": 8, "items": 3, "seed": 3, "training": 4, "fit": all_but_known}


@pytest.fixture(scope="module")
def few():
    return bench.explained(**FEW)


def test_weak_agents_have_one_weak_ability():
    profiles = bench.weak_from(np.random.default_rng(1), 50)[:, :3]
    assert ((profiles < 4.5).sum(axis=1) == 1).all()


def test_true_shares_are_those_of_many_tosses():
    rng = np.random.default_rng(1)
    profile, item = np.array([[3.0, 5.0, 4.0, 0.3]]), np.array([[4.0, 4.0, 4.5]])
    failed = bench.tossed(rng, np.repeat(profile, 200_000, axis=0), item)[:, 0]
    failed = failed[failed.any(axis=1)]
    blame = (failed / failed.sum(axis=1, keepdims=True)).mean(axis=0)
    np.testing.assert_allclose(bench.true_shares(profile, item)[0], blame, atol=0.005)


def test_stated_shares_are_those_of_the_true_profile_where_it_is_all_but_known(few):
    assert np.abs(few.stated - few.true).max() < 0.05


def test_a_wrong_name_is_seldom_true(few):
    right = few.right(few.named).mean()
    assert right == few.right(few.true.argmax(axis=1)).mean()
    wrong = few.right((few.named + 1) % 3).mean()  # the twin: the next part is named
    assert wrong < right - 0.2


def test_wrong_shares_are_not_calibrated(few):
    many = replace(
        few,
        **{
            name: np.repeat(getattr(few, name), 40, axis=0)
            for name in ("agent", "failed", "stated", "low", "high", "true", "named")
        },
    )
    rng = np.random.default_rng(2)
    which = (rng.random((len(many.agent), 1)) < many.true.cumsum(axis=1)).argmax(axis=1)
    blamed = np.eye(4, dtype=bool)[which]  # one part is to blame each time, as the shares say
    tossed = replace(many, failed=blamed, agent=np.arange(len(which)))
    apart, worst = bench.calibration(tossed)
    assert worst < 4.5
    assert apart < 0.05
    turned = replace(tossed, stated=np.roll(tossed.stated, 1, axis=1))
    assert bench.calibration(turned)[1] > 10


def test_rows_have_their_goals(few):
    lines = bench.rows_of(few, few)
    assert [line.figure.relation for line in lines] == ["<=", ">=", ">=", "<=", ">="]
    assert lines[0].figure.bound == bench.WITHIN
    assert lines[0].holds
