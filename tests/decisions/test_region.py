"""Regions with a guarantee: how often it is broken when forecasts are wrong."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

import measurement_layouts as ml
from measurement_layouts.decisions import region
from measurement_layouts.validation.prediction.assessor import point_forecast

STUDIES, ITEMS = 300, 300


def truth(score):
    """Chances of success of items whose forecasts are too high in the middle."""
    return np.clip(score - 0.35 * np.exp(-(((score - 0.8) / 0.08) ** 2)), 0, 1)


def studies(seed):
    """Draw forecasts and outcomes of many subjects, each with items of its own."""
    rng = np.random.default_rng(seed)
    score = rng.beta(3, 0.6, (STUDIES, ITEMS))
    won = (rng.random(score.shape) < truth(score)).astype(int)
    names = [f"s{k}" for k in range(STUDIES)], [f"i{k}" for k in range(ITEMS)]
    known = ml.Evaluation.from_wide(pd.DataFrame(won, *names), pd.DataFrame(index=names[1]))
    return point_forecast(score, *names), known, score, won


@cache
def success_above(threshold):
    """Share that succeeds above a threshold, of all items there are."""
    grid = np.linspace(1e-5, 1 - 1e-5, 20_001)
    weight = grid**2 * (1 - grid) ** (-0.4) * (grid >= threshold)
    return float((weight * truth(grid)).sum() / weight.sum())


@pytest.mark.trust("promises", "a region's guarantee holds")
def test_the_guarantee_is_broken_as_seldom_as_said():
    forecast, known, _, _ = studies(1)
    found = ml.decisions.reliable_region(forecast, known, success=(0.8, 0.9), confidence=0.9)
    for share, own in found.table.groupby("success"):
        claimed = own[own["claimable"]]
        broken = [success_above(each) < share for each in claimed["threshold"]]
        assert sum(broken) <= binom.ppf(0.999, STUDIES, 0.1)
        assert share == 0.9 or len(claimed) > STUDIES / 2, "a guarantee of nothing is none"


def test_without_the_correction_it_is_broken_often():
    """Twin that must fail: the lowest threshold at which the share looks large enough."""
    _, _, score, won = studies(1)
    grid = region._THRESHOLDS
    broken = []
    for own, passed in zip(score, won, strict=True):
        above = own >= grid[:, None]
        share = above @ passed / np.maximum(above.sum(axis=1), 1)
        at = np.flatnonzero((share >= 0.9) & (above.sum(axis=1) > 0))
        if len(at):
            broken.append(success_above(grid[at[-1]]) < 0.9)
    assert sum(broken) > binom.ppf(0.999, STUDIES, 0.1)


def test_thresholds_are_those_of_a_search_by_hand():
    forecast, known, score, won = studies(2)
    table = ml.decisions.reliable_region(forecast, known, success=0.9).table
    grid, error = region._THRESHOLDS, 0.05 / len(region._STARTS)
    for own, passed, threshold in zip(score[:40], won, table["threshold"], strict=False):
        lowest = np.nan
        for start in region._STARTS:
            for level in grid[grid <= start + 1e-9]:
                chosen = own >= level
                n, k = chosen.sum(), passed[chosen].sum()
                if binom.sf(k - 1, n, 0.9) > error:
                    break
                lowest = np.fmin(lowest, level)
        assert np.array_equal(lowest, threshold, equal_nan=True)


def test_a_region_accepts_and_is_checked_on_other_items():
    forecast, known, _, _ = studies(1)
    found = ml.decisions.reliable_region(forecast, known, success=0.8)
    other, outcomes, _, _ = studies(3)
    checked = found.accept(other, 0.8).check(outcomes, fewest=30)
    claimable = found.table.set_index("subject")["claimable"]
    assert (checked.loc[~claimable[checked.index], "accepted"] == 0).all()
    assert (checked["verdict"] == "fails").mean() < 0.1
    with pytest.raises(ml.DataError, match=r"was found for 0\.8"):
        found.accept(other, 0.9)
    with pytest.raises(ml.DataError, match="no subject Zoe"):
        found.accept(point_forecast(np.array([[0.9]]), ["Zoe"], ["a"]), 0.8)


def test_too_few_items_claim_nothing():
    names = [f"i{k}" for k in range(43)]
    for count, claimable in ((43, False), (44, True)):  # .9 ** 44 < .01
        own = [f"i{k}" for k in range(count)]
        known = ml.Evaluation.from_wide(pd.DataFrame(1, ["Ann"], own), pd.DataFrame(index=own))
        forecast = point_forecast(np.full((1, count), 0.99), ["Ann"], own)
        found = ml.decisions.reliable_region(forecast, known, success=0.9)
        assert found.table["claimable"].tolist() == [claimable]
    assert len(names) == 43


def test_several_attempts_are_refused():
    items = pd.DataFrame(index=["a"])
    counts = pd.DataFrame([[3]], ["Ann"], items.index)
    forecast = point_forecast(np.array([[0.9]]), ["Ann"], ["a"])
    with pytest.raises(ml.DataError, match="several attempts"):
        ml.decisions.reliable_region(forecast, ml.Evaluation(items, counts, counts))
