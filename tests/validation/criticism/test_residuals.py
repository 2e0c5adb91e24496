"""Observed success beside the posterior predictive distribution."""

import numpy as np
import pandas as pd
import pytest
from helpers import two_demands
from scipy import stats

import measurement_layouts as ml
from measurement_layouts import DataError, FitError
from measurement_layouts.validation.criticism.criticise import criticise


@pytest.fixture(scope="module")
def found():
    """Twenty subjects, three trials an item, a quarter of the items not attempted by the first."""
    evaluation = two_demands.evaluation(120, 20, seed=70, trials=3)
    trials = evaluation.trials.copy()
    trials.iloc[0, ::4] = 0
    part = ml.Evaluation(evaluation.items, evaluation.successes.where(trials > 0, 0), trials)
    fit = ml.fit(two_demands.layout(), part, **two_demands.SAMPLING)
    return criticise(fit, part)


def test_items_trials_and_rates_are_those_of_the_outcomes(found):
    evaluation = found.evaluation
    for subject in ("s0", "s1"):
        table = found.residuals(subject, "colour")
        trials, successes = (
            frame.loc[subject].groupby(evaluation.items["colour"]).sum()
            for frame in (evaluation.trials, evaluation.successes)
        )
        pd.testing.assert_series_equal(table["trials"], trials, check_names=False)
        np.testing.assert_allclose(table["observed"], successes / trials)
    assert found.residuals("s0", "colour")["items"].sum() == 90
    assert found.table["p"].notna().all()


def test_expected_rates_are_the_forecast(found):
    forecast = found.fit.forecast(found.evaluation.items, subjects=["s1"])
    mean = forecast.data["mean"].to_series().groupby(found.evaluation.items["colour"].to_numpy())
    np.testing.assert_allclose(found.residuals("s1", "colour")["expected"], mean.mean(), rtol=1e-6)


@pytest.mark.slow
def test_intervals_hold_about_what_they_say(found):
    """At least: the profile was inferred from the same outcomes, and counts are whole numbers."""
    inside = [
        ~found.residuals(subject, name)["surprising"]
        for subject in found.fit.subjects[::2]
        for name in ("colour", "size", "lit")
    ]
    held = np.concatenate(inside)
    assert held.sum() >= stats.binom.ppf(0.001, len(held), found.prob)
    shifted = []  # twin: intervals for another subject hold less
    for subject, other in zip(found.fit.subjects[::2], found.fit.subjects[1::2], strict=True):
        one, two = (found.residuals(who, "colour") for who in (subject, other))
        shifted += [(one["low"] <= two["observed"]) & (two["observed"] <= one["high"])]
    assert np.concatenate(shifted).mean() < 0.6


def test_cells_of_two_properties_are_levels_in_combination(found):
    table = found.residuals("s1", "colour", "rare")
    assert table.index.names == ["colour", "rare"]
    assert table["items"].sum() == 120
    assert ((table["low"] <= table["high"]) & (table["low"] >= 0) & (table["high"] <= 1)).all()


def test_what_is_not_there_is_named(found):
    with pytest.raises(DataError, match="no property was named"):
        found.residuals("s1")
    with pytest.raises(DataError, match="no column taste"):
        found.residuals("s1", "taste")
    with pytest.raises(FitError, match="Zoe"):
        found.residuals("Zoe", "colour")
