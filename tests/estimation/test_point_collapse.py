"""The collapse of bands onto the line: its plateaus, and how far off its maximum is."""

import numpy as np
import pytest
from helpers.one_band import band_layout, bands_of, chance, evaluation

import measurement_layouts as ml
from measurement_layouts.estimation.collapse import collapse_peak, point_collapse
from measurement_layouts.estimation.estimate import estimate

THETA = -1.5


def test_plateaus_are_those_of_the_formula(rng):
    ends = np.round(bands_of(rng, 30), 1)
    ends[0], ends[1] = (-np.inf, 1.0), (2.0, 2.0)
    trials = rng.integers(0, 4, 30)
    successes = rng.binomial(trials, 0.4)
    table = point_collapse(*ends.T, successes, trials)
    assert (table["high"][:-1].to_numpy() == table["low"][1:].to_numpy()).all()
    for row in table.itertuples():
        x = row.high - 1e-9 if np.isinf(row.low) else (row.low + row.high) / 2
        holds = (ends[:, 0] <= x) & (x <= ends[:, 1])
        assert row.trials == trials[holds].sum()
        expected = successes[holds].sum() / max(row.trials, 1)
        assert row.success == pytest.approx(expected) if row.trials else np.isnan(row.success)


def middle(*bands, **limits):
    peak = collapse_peak(point_collapse(*bands), **limits)
    return (peak["low"] + peak["high"]) / 2


@pytest.mark.parametrize(
    ("bands", "words"),
    [
        (([0, 1], [1, 2], [1], [1]), "give four lists"),
        (([-1], ["far"], [1], [1]), "could not convert string to"),
        (([0, 3], [1, 2], [1, 1], [1, 1]), "1 of 2 band"),
        (([], [], [], []), "0 of 0 band"),
    ],
)
def test_bad_bands_are_refused(bands, words):
    with pytest.raises(ml.DataError, match=words):
        point_collapse(*bands)


@pytest.mark.slow
def test_likelihood_is_unbiased_where_the_collapse_is_not():
    """Figure 6's experiment: a thousand windows with uniform ends in [-5, 5].

    The paper has -1.514 by maximum likelihood, and -1.091 by a collapse fitted in a way that it
    does not describe. Ours is off as well, to the other side.
    """
    rng = np.random.default_rng(9)
    peaks = []
    for _ in range(100):
        ends = bands_of(rng, 1000)
        outcomes = rng.binomial(1, chance(np.array([THETA]), *ends.T)[0])
        peaks.append(middle(*ends.T, outcomes, np.ones(1000), low=-5, high=5))
    error = np.std(peaks) / len(peaks) ** 0.5
    assert abs(np.mean(peaks) - THETA) > 5 * error
    ends = ends[:300]  # enough for a likelihood
    outcomes = rng.binomial(1, chance(np.full(30, THETA), *ends.T))
    estimates = estimate(
        band_layout(), evaluation({"lower": ends[:, 0], "upper": ends[:, 1]}, outcomes)
    )
    ours = estimates.table["estimate"]
    assert abs(ours.mean() - THETA) < 3.3 * ours.std() / len(ours) ** 0.5
    assert ours.std() < 0.1 < abs(np.mean(peaks) - THETA)
