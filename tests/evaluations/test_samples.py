"""The sample outcomes are what their card says they are."""

import pandas as pd

import measurement_layouts as ml
from measurement_layouts.linking import logistic, mixture


def test_the_sample_was_drawn_from_the_profiles_that_its_card_states():
    sample = ml.evaluations.mental_addition()
    digits = ml.MetaFeature("digits", low=1, high=8, unit="digit")
    carries = ml.MetaFeature("carries", low=0, high=8, unit="carry")
    digit_span = ml.Capability("digitSpan", low=0, high=9, unit="digit")
    carry_span = ml.Capability("carrySpan", low=0, high=9, unit="carry")
    both = logistic(digit_span - digits, slope=2) * logistic(carry_span - carries, slope=2)
    slips = ml.Noise("slips", low=0, high=0.5)
    layout = ml.Layout("addition", ml.Success("correct", mixture(both, by=slips, toward=0)))
    profiles = pd.DataFrame(
        {"digitSpan": [5.5, 8, 7.5], "carrySpan": [6.5, 2.5, 6.5], "slips": [0.05, 0.05, 0.01]},
        index=["Ann", "Bob", "Cleo"],
    )
    drawn = ml.simulate(layout, sample.items, profiles, seed=1, trials=2)
    pd.testing.assert_frame_equal(sample.successes, drawn.successes, check_names=False)
    other = ml.simulate(layout, sample.items, profiles.iloc[::-1], seed=1, trials=2)
    assert not sample.successes.equals(other.successes.loc[sample.subjects])
