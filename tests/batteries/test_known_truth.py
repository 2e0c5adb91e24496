"""Abilities that outcomes were drawn with come back, and what the slices cost."""

import numpy as np
import pytest
from helpers import one_dominant

from measurement_layouts.batteries.characteristic import characteristic_curves

NAMES = one_dominant.NAMES


def test_another_mix_of_demands_moves_performance_and_not_ability():
    """Section 2.2: five times the items of level 5, the same ability within Monte Carlo error."""
    rng = np.random.default_rng(4)
    ability = np.full((1, 3), 3.5)
    found = []
    for shares in (None, np.array([1, 1, 1, 1, 5]) / 9):
        items = one_dominant.battery(6000, rng, shares)
        evaluation, _ = one_dominant.outcomes(items, ability, rng)
        table = characteristic_curves(evaluation, NAMES).table
        error = (table["high"] - table["low"]) / (2 * 1.645)
        found.append((evaluation.success_rates().iloc[0], table["ability"], error))
    (rate, plain, se), (harder, other, other_se) = found
    assert rate - harder > 0.2
    assert (abs(plain - other) < 4 * np.hypot(se, other_se)).all()
    assert (np.hypot(se, other_se) < 0.1).all()  # so 4 of them would not hide a change of 0.4


@pytest.mark.slow
def test_abilities_are_recovered():
    """Bias and coverage of 90 % intervals, within three Monte Carlo standard errors."""
    rng = np.random.default_rng(3)
    items = one_dominant.battery(1500, rng)
    evaluation, truth = one_dominant.outcomes(items, rng.uniform(1, 5, (120, 3)), rng)
    truth = truth.ravel()
    table = characteristic_curves(evaluation, NAMES).table
    miss = table["ability"] - truth

    def unbiased(miss):
        return abs(miss.mean()) < 3 * miss.std() / np.sqrt(len(miss)) + 0.005

    def covers(low, high):
        share = ((low <= truth) & (truth <= high)).mean()
        return abs(share - 0.9) < 3 * np.sqrt(0.09 / len(truth))

    assert unbiased(miss)
    assert miss.std() < 0.1
    assert covers(table["low"], table["high"])
    middle, half = (table["low"] + table["high"]) / 2, (table["high"] - table["low"]) / 2
    assert not covers(middle - 0.8 * half, middle + 0.8 * half)  # twin: shorter intervals
    alone = [
        characteristic_curves(evaluation, [name], resamples=2).table["ability"] for name in NAMES
    ]
    blind = np.stack(alone, axis=1).ravel() - truth  # twin: other demands are not looked at
    assert not unbiased(blind)
