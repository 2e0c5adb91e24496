"""Suspicion: exact conditional tests, false alarms, and cheats that are found."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

import measurement_layouts as ml
from measurement_layouts.linking import logistic
from measurement_layouts.validation.criticism.population import known_items

SUBJECTS, ITEMS = 80, 60


def drawn(seed):
    """Draw outcomes of a layout with one demand, and the chances behind them."""
    rng = np.random.default_rng(seed)
    steps = np.linspace(-5, 5, ITEMS)
    chances = 1 / (1 + np.exp(steps - rng.uniform(-1.5, 1.5, (SUBJECTS, 1))))
    return steps, chances, (rng.random(chances.shape) < chances).astype(int)


def fitted(steps, outcomes, draws=200):
    ability = ml.Capability("ability", low=-8, high=8)
    layout = ml.Layout(
        "quiz", ml.Success("solved", logistic(ability - ml.MetaFeature("steps", low=-9, high=9)))
    )
    items = pd.DataFrame({"steps": steps}, [f"i{k}" for k in range(len(steps))])
    people = [f"s{k}" for k in range(len(outcomes))]
    known = ml.Evaluation.from_wide(pd.DataFrame(outcomes, people, items.index), items)
    options = {"method": "grid", "draws": draws, "seed": 1, "progressbar": False}
    return ml.fit(layout, known, **options)


@pytest.fixture(scope="module")
def honest():
    steps, _, outcomes = drawn(1)
    return ml.validation.suspicion(fitted(steps, outcomes))


@pytest.fixture(scope="module")
def cheats():
    """The first ten know some hard items by heart, the next ten fail easy ones on purpose."""
    steps, chances, outcomes = drawn(2)
    for row in range(20):
        order = np.argsort(chances[row])
        outcomes[row, order[:20:2] if row < 10 else order[-20::2]] = row < 10
    return ml.validation.suspicion(fitted(steps, outcomes))


@pytest.mark.trust("promises", "suspicion accuses honest subjects as seldom as said")
def test_honest_subjects_are_accused_as_seldom_as_said(honest):
    alarms = (honest.table["verdict"] != "").sum()
    assert alarms <= binom.ppf(0.999, SUBJECTS, honest.alpha)
    for name in ("memorised_p", "sandbagged_p"):
        assert 0.35 < honest.table[name].mean() < 0.65
    assert not honest.warning


def test_cheats_are_found_on_their_side(cheats):
    table = cheats.table
    assert (table["verdict"].iloc[:10] == "memorised").sum() >= 9
    assert (table["verdict"].iloc[10:20] == "sandbagged").sum() >= 9
    assert (table["verdict"].iloc[20:] != "").sum() <= binom.ppf(0.999, 60, 0.05)
    surprising = cheats.items[cheats.items["subject"] == "s0"]
    assert surprising["chance"].is_monotonic_increasing
    assert (surprising["chance"] < 0.5).all()
    told = "\n".join(cheats.in_words())
    assert "s0 has too many unexpected successes: it passes" in told
    assert "s10 has too many unexpected failures: it fails" in told
    assert "10 memorised" in repr(cheats) or "memorised and" in repr(cheats)


def patterns(log_odds, total, count, rng):
    """Draw patterns of independent outcomes given their sum, which no ability plays a part in."""
    odds = np.exp(log_odds)
    ways = np.zeros((len(odds) + 1, total + 1))  # sums over the items from one on
    ways[-1, 0] = 1
    for place in reversed(range(len(odds))):
        ways[place] = ways[place + 1]
        ways[place, 1:] += odds[place] * ways[place + 1, :-1]
    found, left = np.zeros((count, len(odds))), np.full(count, total)
    for place in range(len(odds)):
        passing = np.where(left > 0, odds[place] * ways[place + 1, left - 1], 0) / ways[place, left]
        found[:, place] = rng.random(count) < passing
        left = left - found[:, place].astype(int)
    return found


def ratios(outcomes, steps):
    """Compare likelihoods by brute force: the largest over abilities on a grid."""
    gap = np.linspace(-8, 8, 161)[:, None] - steps
    log_p, log_q = -np.logaddexp(0, -gap), -np.logaddexp(0, gap)
    m = np.where(gap < 0, known_items.SHARE, 0)
    learnt = outcomes @ np.log(m + (1 - m) * np.exp(log_p)).T
    learnt += (1 - outcomes) @ (np.log1p(-m) + log_q).T
    return learnt.max(axis=1) - (outcomes @ log_p.T + (1 - outcomes) @ log_q.T).max(axis=1)


@pytest.mark.parametrize("side", ["memorised", "sandbagged"])
def test_p_values_are_those_of_the_exact_conditional_test(honest, side):
    """Given the number of successes, outcomes do not depend on the ability: an exact test."""
    steps, _, outcomes = drawn(1)
    if side == "sandbagged":
        steps, outcomes = -steps, 1 - outcomes
    rng = np.random.default_rng(3)
    exact, found = np.empty(SUBJECTS), honest.table[f"{side}_p"].to_numpy()
    for total in np.unique(outcomes.sum(axis=1)):
        others = ratios(patterns(-steps, total, 2000, rng), steps)
        for row in np.flatnonzero(outcomes.sum(axis=1) == total):
            exact[row] = (others >= ratios(outcomes[[row]], steps) - 0.005).mean()
    assert np.corrcoef(exact, found)[0, 1] > 0.98
    assert np.abs(exact - found).mean() < 0.05
    near = exact < 0.1
    assert near.any()
    assert np.abs(exact - found)[near].max() < 0.05


def test_without_a_share_nobody_is_found(monkeypatch):
    """Twin that must fail: where next to nothing is taken as known, cheats look like others."""
    steps, chances, outcomes = drawn(2)
    for row in range(10):
        outcomes[row, np.argsort(chances[row])[:20:2]] = 1
    monkeypatch.setattr(known_items, "SHARE", 1e-9)
    found = ml.validation.suspicion(fitted(steps, outcomes))
    assert (found.table["verdict"] == "").all()


def test_a_subject_is_judged_by_its_own_seed_alone(honest):
    steps, _, outcomes = drawn(1)
    fit = fitted(steps, outcomes)
    names = ["memorised_p", "sandbagged_p"]
    some = ml.validation.suspicion(fit, subjects=["s7", "s3"]).table
    pd.testing.assert_frame_equal(some[names], honest.table.loc[["s7", "s3"], names])
    assert (some["p_adjusted"] <= honest.table.loc[["s7", "s3"], "p_adjusted"]).all()
    other = ml.validation.suspicion(fit, subjects=["s7"], seed=2).table
    assert other["memorised_p"].iloc[0] != some["memorised_p"].iloc[0]


def test_whoever_has_no_easy_item_is_not_suspected_of_failing_on_purpose():
    _, _, outcomes = drawn(4)
    outcomes[:3] = 0
    table = ml.validation.suspicion(fitted(np.linspace(4, 9, ITEMS), outcomes[:3])).table
    assert (table["easy"] == 0).all()
    assert (table["sandbagged_p"] > 0.5).all()
    assert (table["verdict"] == "").all()


def test_a_layout_that_is_wrong_is_named_rather_than_everybody():
    steps, _, outcomes = drawn(4)
    outcomes[:, -20::2] = 1  # items that are easy for everybody
    found = ml.validation.suspicion(fitted(steps, outcomes))
    assert (found.table["verdict"] != "").mean() > 0.5
    assert "the layout 'quiz' is wrong about the difficulty" in found.warning
    assert found.in_words()[-1] == found.warning


def test_options_that_make_no_sense_are_refused():
    steps, _, outcomes = drawn(4)
    fit = fitted(steps, outcomes[:2], draws=20)
    with pytest.raises(ml.FitError, match="draws"):
        ml.validation.suspicion(fit)
    with pytest.raises(ml.FitError, match="alpha="):
        ml.validation.suspicion(fit, alpha=1)
    with pytest.raises(ml.FitError, match="Zoe"):
        ml.validation.suspicion(fit, subjects=["Zoe"])


@pytest.mark.slow
def test_in_a_population_cheats_are_found_beside_eases_that_are_inferred():
    """Nothing is known of the items: their difficulty is what all subjects make of them."""
    _, chances, outcomes = drawn(6)
    rng = np.random.default_rng(7)
    for row in range(4):  # each knows others: those that all know would seem easy
        outcomes[row, rng.choice(np.argsort(chances[row])[:20], 10, replace=False)] = 1
    skill = ml.Capability("skill", prior=ml.Prior("Normal", mu=0, sigma=ml.Spread("spread")))
    ease = ml.Bias("ease", per="item", prior=ml.Prior("Normal", mu=0, sigma=ml.Spread("eases")))
    layout = ml.Layout("quiz", ml.Success("solved", logistic(skill + ease)))
    names = [f"i{k}" for k in range(ITEMS)]
    wide = pd.DataFrame(outcomes, [f"s{row:02}" for row in range(SUBJECTS)], names)
    known = ml.Evaluation.from_wide(wide, pd.DataFrame(index=names))
    fit = ml.fit(layout, known, draws=200, tune=400, chains=2, seed=1, progressbar=False)
    table = ml.validation.suspicion(fit).table
    assert (table["verdict"].iloc[:4] == "memorised").sum() >= 3
    assert (table["verdict"].iloc[4:] != "").sum() <= binom.ppf(0.999, SUBJECTS - 4, 0.05)
