"""The test's p values: chi-squared where counts are large, uniform where nothing is missing."""

import numpy as np
import pytest
from helpers import two_demands
from scipy import stats
from scipy.special import expit

import measurement_layouts as ml
from measurement_layouts.validation.criticism.background import Background
from measurement_layouts.validation.criticism.criticise import criticise
from measurement_layouts.validation.criticism.expansion import Chance, Columns, expand

_LEVEL = 0.001  # of each check: a right method fails one check in a thousand


def test_in_a_regular_case_it_is_the_likelihood_ratio_test(rng):
    """Score and likelihood ratio agree to the order of 1 / sqrt(successes)."""
    base = Columns.of(np.column_stack([np.ones(4000), rng.normal(size=4000)]), 100.0)
    extra = rng.normal(size=(4000, 2))
    ones = np.ones(4000, dtype=int)
    successes = rng.binomial(1, expit(base.values @ [0.2, 0.7] + extra @ [0.06, 0.04]))
    small = expand(np.zeros(4000), successes, ones, base)
    large = expand(np.zeros(4000), successes, ones, base.beside(Columns.of(extra, 100.0)))

    def likelihood(found):
        return np.log(np.where(successes == 1, found.chances, 1 - found.chances)).sum()

    ratio = 2 * (likelihood(large) - likelihood(small))
    root = np.sqrt(small.weights)[:, None]
    columns, added = root * base.values, root * extra
    free, _ = np.linalg.qr(added - columns @ np.linalg.lstsq(columns, added, rcond=None)[0])
    statistic, p = Chance.of(successes, ones, small, rng).test(free, free)
    assert statistic == pytest.approx(ratio, rel=0.05)
    expected = stats.chi2.sf(ratio, 2)
    assert p == pytest.approx(expected, abs=4 * np.sqrt(expected / 1000))


def test_several_trials_are_drawn_like_single_ones(rng):
    trials = np.array([1, 3, 40] * 50)
    base = expand(np.full(150, 1.0), trials // 2, trials, Columns.of(np.ones((150, 1)), 1e-3))
    drawn = Chance.of(trials // 2, trials, base, rng).replicates
    assert drawn.mean() == pytest.approx(0, abs=4 / np.sqrt(drawn.size))
    assert drawn.var() == pytest.approx(1, abs=4 * np.sqrt(3 / drawn.size))


def chances_of(runs, seed):
    """By kind, the p values of every property, and whether a run raised any alarm, run by run."""
    evaluation = two_demands.evaluation(120, runs, seed)
    fit = ml.fit(two_demands.layout(), evaluation, **two_demands.SAMPLING)
    every = {"candidates": ([], []), "forms": ([], [])}
    for subject in fit.subjects:
        found = criticise(fit, evaluation, subjects=[subject])
        for kind, (chances, alarms) in every.items():
            table = getattr(found, kind)
            chances.append(table.set_index("property")["p"].sort_index().to_numpy())
            alarms.append(table["flagged"].any())
    return {kind: tuple(map(np.array, found)) for kind, found in every.items()}


@pytest.fixture(scope="module")
def many():
    """Of 120 runs."""
    return chances_of(120, seed=40)


def rejected(chances):
    """Name the checks that p values fail: too many small ones, or not uniform over runs."""
    runs = len(chances)
    faults = []
    for share in (0.05, 0.2):
        count = (chances <= share).sum(axis=1)  # of one run together, as they are dependent
        error = max(count.std(ddof=1), np.sqrt(chances.shape[1] * share)) / np.sqrt(runs)
        if abs(count.mean() - chances.shape[1] * share) > stats.norm.isf(_LEVEL / 2) * error:
            faults.append(f"share of p up to {share}")
    for column in chances.T:
        if stats.kstest(column, "uniform").pvalue < _LEVEL / chances.shape[1]:
            faults.append("uniform")
    return faults


def check(chances, alarms, properties):
    runs = len(chances)
    assert chances.shape == (runs, properties)
    assert not rejected(chances)
    assert alarms.sum() <= stats.binom.isf(_LEVEL, runs, 0.05)
    assert alarms.sum() >= stats.binom.ppf(_LEVEL, runs, 0.05)


@pytest.mark.slow
def test_alarms_are_as_rare_as_promised(many):
    check(*many["candidates"], properties=5)


@pytest.mark.slow
def test_alarms_at_the_forms_in_use_are_as_rare_as_promised(many):
    check(*many["forms"], properties=2)


@pytest.mark.slow
def test_the_check_rejects_residuals_that_the_layout_could_still_explain(monkeypatch):
    """Twin: nothing is projected out, as if the forecast had not been fitted."""
    monkeypatch.setattr(Background, "_free", lambda self, scaled: scaled)
    chances, _ = chances_of(40, seed=20)["candidates"]
    assert rejected(chances)
