"""Whose outcomes agree with nobody's: found where the others agree, and hardly ever wrongly."""

import itertools

import numpy as np
import pandas as pd
import pytest
from helpers import graded_layouts, two_demands
from scipy import stats
from scipy.special import expit

import measurement_layouts as ml
from measurement_layouts.evaluations.steps import expanded
from measurement_layouts.validation.checking.check import check
from measurement_layouts.validation.criticism import agreement as module
from measurement_layouts.validation.criticism.agreement import (
    agreement,
    covariances,
    outcomes_by_item,
    told_agreement,
)
from measurement_layouts.validation.criticism.criticise import criticise

_LEVEL = 0.001  # of each check: a right method fails one check in a thousand
SPREADS = {1.5: 0.9, 2.0: 0.95, 2.5: 0.95}
"""Of items' difficulties in logits, with the share of permuted subjects that is to be found."""


def rasch(rng, subjects=11, items=100, spread=2.0):
    chances = expit(rng.normal(0, 1.2, (subjects, 1)) - rng.normal(0, spread, items))
    return (rng.random((subjects, items)) < chances).astype(float)


def uneven(rng, spread=2.0):
    """Two demands multiply, subjects differ in slope, and guess in up to 30 % of items."""
    slope = np.exp(rng.normal(0, 0.3, (11, 1)))
    chances = 1.0
    for _ in range(2):
        margin = rng.normal(0.5, 1.2, (11, 1)) - rng.normal(0, spread, 100)
        chances = chances * expit(slope * margin)
    noise = rng.uniform(0, 0.3, (11, 1))
    return (rng.random((11, 100)) < (1 - noise) * chances + noise / 4).astype(float)


def flags(outcomes):
    names = [f"s{place}" for place in range(len(outcomes))]
    return agreement(names, outcomes, prob=0.9, seed=1)["flagged"].to_numpy()


def rates(make, runs, seed):
    """Flags in clean data, and of one subject whose items are permuted."""
    alarms, found = [], []
    for run in range(runs):
        rng = np.random.default_rng([seed, run])
        outcomes = make(rng)
        alarms.append(flags(outcomes))
        outcomes[0] = rng.permutation(outcomes[0])
        found.append(flags(outcomes)[0])
    return np.concatenate(alarms), np.array(found)


def rare(alarms):
    return alarms.sum() <= stats.binom.isf(_LEVEL, len(alarms), 0.01)


@pytest.mark.slow
@pytest.mark.parametrize("spread", SPREADS)
def test_permuted_subjects_are_found_as_often_as_the_card_says(spread):
    alarms, found = rates(lambda rng: rasch(rng, spread=spread), 100, seed=2)
    assert rare(alarms)
    assert found.sum() >= stats.binom.ppf(_LEVEL, 100, SPREADS[spread])


@pytest.mark.slow
@pytest.mark.parametrize("make", [lambda rng: rasch(rng, spread=1), uneven])
def test_weak_or_uneven_agreement_raises_no_more_alarms(make):
    alarms, found = rates(make, 120, seed=3)
    assert rare(alarms)
    assert found.mean() > 0.25


@pytest.mark.slow
def test_the_check_of_alarms_fails_without_what_others_show(monkeypatch):
    """Twin: whoever is not above chance is flagged, however little is to be expected."""
    monkeypatch.setattr(module, "_RARE", 1.0)
    alarms, _ = rates(lambda rng: rasch(rng, spread=1), 60, seed=3)
    assert not rare(alarms)


@pytest.mark.slow
def test_nine_of_twelve_permuted_are_found_where_items_are_many():
    hits, alarms = 0, 0
    for run in range(20):
        rng = np.random.default_rng([4, run])
        outcomes = rasch(rng, 12, 400)
        for row in range(9):
            outcomes[row] = rng.permutation(outcomes[row])
        found = flags(outcomes)
        hits, alarms = hits + found[:9].sum(), alarms + found[9:].sum()
    assert hits >= 0.85 * 180
    assert alarms == 0


def test_nobody_is_named_where_agreement_cannot_be_expected(rng):
    clean = rasch(rng, 12)
    constant = clean.copy()
    constant[0], constant[1] = 1, 0
    table = agreement(list("abcdefghijkl"), constant, prob=0.9, seed=1)
    assert not table["flagged"].any()
    assert table["p"].isna().tolist() == [True, True] + [False] * 10
    assert not flags(
        rng.integers(0, 2, (12, 100)).astype(float)
    ).any()  # nobody agrees with anybody
    apart = np.full((12, 1200), np.nan)  # nobody shares an item
    for row in range(12):
        apart[row, row * 100 : row * 100 + 100] = clean[row]
    assert not flags(apart).any()
    assert not flags(clean[:2]).any()


def test_groups_that_agree_only_among_themselves_are_left_in_peace(rng):
    outcomes = np.concatenate([rasch(rng, 6, 300), rasch(rng, 6, 300)])
    assert not flags(outcomes).any()
    outcomes[0] = rng.permutation(outcomes[0])
    assert np.flatnonzero(flags(outcomes)).tolist() == [0]


def test_several_are_named_together(rng):
    outcomes = rasch(rng, 12, 200)
    for row in (2, 7):
        outcomes[row] = rng.permutation(outcomes[row])
    table = agreement(list("abcdefghijkl"), outcomes, prob=0.9, seed=1)
    (said,) = told_agreement(table)
    assert said.startswith(
        "the outcomes of 2 subjects agree with no other's (c, h), least those of "
    )
    assert "on 200 items that it shares with 11 other subjects); items may be" in said


def test_missing_outcomes_and_grades(rng):
    outcomes = rasch(rng, 30, 300)
    outcomes[rng.random(outcomes.shape) < 0.5] = np.nan
    known = np.flatnonzero(np.isfinite(outcomes[3]))
    outcomes[3, known] = rng.permutation(outcomes[3, known])
    assert np.flatnonzero(flags(outcomes)).tolist() == [3]
    margin = rng.normal(0, 1.2, (11, 1)) - rng.normal(0, 2, 150) + rng.logistic(size=(11, 150))
    grades = np.digitize(margin, [-1.5, 0, 1.5]) / 3
    assert not flags(grades).any()
    grades[5] = rng.permutation(grades[5])
    assert np.flatnonzero(flags(grades)).tolist() == [5]


def test_covariances_are_mokkens_and_their_variance_that_of_all_orders():
    """For 0/1 outcomes Loevinger's H has a closed form; seven items have 5,040 orders."""
    own, other = np.array([1.0, 0, 1, 1, 0, 0, 1]), np.array([1.0, 1, 1, 0, 0, 0, 1])
    both, most, variance = covariances(own, other)
    easy, hard = max(own.mean(), other.mean()), min(own.mean(), other.mean())
    loevinger = ((own * other).mean() - easy * hard) / (hard * (1 - easy))
    assert both / most == pytest.approx(loevinger)
    orders = [covariances(np.array(order), other)[0] for order in itertools.permutations(own)]
    assert np.mean(orders) == pytest.approx(0, abs=1e-12)
    assert variance == pytest.approx(np.var(orders))


def test_check_and_criticise_name_the_subject():
    items, layout = two_demands.items(300, 1), two_demands.layout()
    profiles = two_demands.subjects(11, 2).assign(noise=0.1)
    clean = ml.simulate(layout, items, profiles, seed=3)
    outcomes = clean.successes.copy()
    outcomes.loc["s4"] = np.random.default_rng(0).permutation(outcomes.loc["s4"])
    mixed = ml.Evaluation(items, outcomes, clean.trials)
    found = check(layout, mixed)
    (problem,) = (text for text in found.problems if "agree with no other" in text)
    assert problem.startswith("the outcomes of s4 agree with no other subject's (agreement ")
    assert "on 300 items that it shares with 10 other subjects)" in problem
    assert problem.endswith("check the reading of the file, item by item")
    assert "agree with no other subject's, item by item: in 1 of 11" in " ".join(str(found).split())
    fit = ml.fit(layout, mixed, **(two_demands.SAMPLING | {"draws": 100, "tune": 200}))
    told = criticise(fit, mixed, candidates=["colour"], subjects=["s4", "s5"])
    assert told.agreement["agreement"].tolist() == found.subjects["agreement"].iloc[4:6].tolist()
    assert problem in told.suggestions()
    assert repr(told).endswith("1 subject agreeing with no other, at 5% over all>")
    assert not any("agree with no other" in text for text in check(layout, clean).problems)


def test_several_outcomes_of_an_item_are_one(rng):
    layout = graded_layouts.layout(graded_layouts.success(), graded_layouts.graded())
    rows = expanded(layout.steps, graded_layouts.items(2))
    steps = ml.Evaluation(
        rows,
        pd.DataFrame([[1, 1, 1, 0, 0, 1, 0, 0], [0] * 8], ["a", "b"], rows.index),
        pd.DataFrame([[1, 1, 1, 1, 1, 1, 1, 0], [1, 0, 0, 0, 0, 0, 0, 0]], ["a", "b"], rows.index),
    )
    found = outcomes_by_item(steps.successes.to_numpy(), steps.trials.to_numpy(), steps.rows)
    by_hand = (np.array([1 - 0.5, 0 - 0.5]) + np.array([2 / 3 - 0.5, 1 / 3 - 0.5])) / 2
    np.testing.assert_allclose(found[0], by_hand)
    assert np.isnan(found[1]).tolist() == [False, True]
