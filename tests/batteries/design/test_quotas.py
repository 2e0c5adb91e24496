"""Quotas, pairs and sources: held, or refused by name."""

import numpy as np
import pandas as pd
import pytest

import measurement_layouts as ml
from measurement_layouts.batteries import Quota, design
from measurement_layouts.linking import logistic, product

LABELS = ("a", "b", "c", "d")


def needed():
    demand = ml.MetaFeature("demand", low=0, high=5, labels=LABELS)
    ability = ml.Capability("ability", low=0, high=6, labels=LABELS)
    success = product(logistic(ability - demand, 2), over="dimension")
    return ml.Layout("needed", ml.Success("ok", success))


@pytest.fixture
def bank(rng):
    levels = rng.binomial(5, 0.3, (400, len(LABELS)))
    found = pd.DataFrame(levels, columns=[f"demand[{label}]" for label in LABELS])
    found["source"] = rng.choice(list("wxyz"), 400, p=[0.7, 0.1, 0.1, 0.1])
    return found.set_axis([f"i{number}" for number in range(400)])


def held(battery, quota):
    if quota.low is None and quota.high is None:
        counts = battery[quota.column].value_counts()
        return counts.max() <= (quota.most or np.inf) and counts.min() >= quota.least
    count = battery[quota.column].between(quota.low, quota.high).sum()
    return quota.least <= count <= (np.inf if quota.most is None else quota.most)


def demands(least=3):
    return [
        Quota(f"demand[{label}]", low=low, high=high, least=least)
        for label in LABELS
        for low, high in ((0, 1), (4, 5))
    ]


def test_quotas_are_held(bank):
    """Twin: without them they are not."""
    quotas = [*demands(5), Quota("source", most=8), Quota("demand[a]", low=2, high=2, most=1)]
    battery = design(needed(), bank, n=24, quotas=quotas).battery
    assert len(battery) == 24
    assert all(held(battery, quota) for quota in quotas)
    free = design(needed(), bank, n=24).battery
    assert not all(held(free, quota) for quota in quotas)


def test_quotas_that_just_fit_are_held(bank):
    """As many items as are there at the top; n as small as the quotas allow, or nearly."""
    there = (bank["demand[a]"] >= 4).sum()
    quotas = [*demands(1), Quota("demand[a]", low=4, high=5, least=int(there), most=int(there))]
    battery = design(needed(), bank, n=int(there) + 4, quotas=quotas).battery
    assert all(held(battery, quota) for quota in quotas)
    assert len(battery) == there + 4


def test_quotas_cost_little(bank):
    """A few quotas raise the expected standard deviations by less than a tenth."""
    free, bound = (
        design(needed(), bank, n=40, quotas=quotas).latents["after"].mean()
        for quotas in ((), demands(2))
    )
    assert bound < 1.1 * free


def test_never_both(bank):
    free = design(needed(), bank, n=12).battery.index
    pairs = list(zip(free[::2], free[1::2], strict=True))
    battery = design(needed(), bank, n=12, never_both=pairs, repeats=2).battery
    for pair in pairs:
        assert battery.index.isin(pair).sum() <= 1
    assert len(battery) == 12


@pytest.mark.trust("promises", "a quota that cannot be held is named")
def test_an_infeasible_quota_is_named(bank):
    few = int((bank["demand[b]"] >= 5).sum())
    quotas = [*demands(), Quota("demand[b]", low=5, high=5, least=few + 1)]
    name = rf"at least {few + 1} of demand\[b\] in \[5, 5\] cannot be met: the bank has {few}; ask"
    with pytest.raises(ml.DataError, match=name):
        design(needed(), bank, n=30, quotas=quotas)


def test_quotas_that_contradict_each_other_are_named(bank):
    quotas = [
        Quota("demand[a]", low=0, high=1, least=6),
        Quota("demand[a]", low=2, high=5, least=5),
    ]
    with pytest.raises(ml.DataError, match=r"no battery meets n=10 and 2 quotas together.*a\]"):
        design(needed(), bank, n=10, quotas=quotas)
    assert len(design(needed(), bank, n=11, quotas=quotas).battery) == 11


def test_a_source_without_room_is_named(bank):
    quotas = [Quota("source", most=2), Quota("source", least=3)]
    with pytest.raises(ml.DataError, match="at least 3 of source"):
        design(needed(), bank, n=30, quotas=quotas)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({}, "has no limit"),
        ({"least": 3, "most": 2}, "most below least"),
        ({"low": 2, "high": 1, "least": 1}, "high below low"),
    ],
)
def test_quotas_that_are_none(wrong, message):
    with pytest.raises(ml.DataError, match=message):
        Quota("size", **wrong)
