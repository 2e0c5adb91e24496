"""References against posteriors that no sampler drew: a closed form, and integration by hand."""

import numpy as np
import pandas as pd
import pytest
from helpers.posterior_summaries import QUANTILES
from helpers.reference_cases import CASES
from scipy import stats
from scipy.special import expit

ERRORS = 4.5  # 15 comparisons pass it by chance in 1 of 10,000 seeds


def hold(reference, exact):
    for kind, value in exact.items():
        found, error = reference[kind]
        assert abs(found - value) < ERRORS * error, kind


def test_the_coin_is_a_beta_distribution():
    exact = stats.beta(1 + 16, 1 + 24 - 16)
    known = {"mean": exact.mean(), "sd": exact.std()}
    known |= {name: exact.ppf(prob) for name, prob in QUANTILES.items()}
    reference = CASES["coin"].read()["elements"]["p"]
    hold(reference, known)
    with pytest.raises(AssertionError):  # twin that must fail: one head more
        hold(reference, {"mean": stats.beta(18, 9).mean()})


def softplus_mean(distance, steepness, spread):
    """Mean of a logistic over errors of an end that are uniform within the spread."""
    ends = [np.logaddexp(0, steepness * (distance + error)) for error in (spread, -spread)]
    return (ends[0] - ends[1]) / (2 * steepness * spread)


def propensity_posterior(slope=8.0):
    """The recommended layout's posterior on a grid of (propensity, noise), written by hand."""
    table = pd.read_csv(CASES["propensity"].outcomes, index_col=0)
    bands = table.groupby(["lower", "upper"])["successes"].agg(["sum", "count"]).reset_index()
    low, high = bands["lower"].to_numpy() - 0.5, bands["upper"].to_numpy() + 0.5
    half = (high - low) / 2
    steepness = slope + np.expm1(1 / half)
    theta, noise = np.linspace(-9, 9, 3601), (np.arange(500) + 0.5) / 500
    inside = softplus_mean(theta[:, None] - low, steepness, 0.5)
    inside *= softplus_mean(high - theta[:, None], steepness, 0.5) / expit(steepness * half) ** 2
    log = stats.norm(0, 2).logpdf(theta)[:, None] + stats.beta(1, 9).logpdf(noise)
    for place, (right, tried) in enumerate(bands[["sum", "count"]].to_numpy()):
        p = inside[:, place, None] * (1 - noise) + noise / 3
        log += right * np.log(p) + (tried - right) * np.log1p(-p)
    mass = np.exp(log - log.max())
    return {"propensity": (theta, mass.sum(axis=1)), "noise": (noise, mass.sum(axis=0))}


def summary(places, mass):
    """Statistics of a density on an even grid; quantiles lie between cells' ends."""
    mass = mass / mass.sum()
    mean = mass @ places
    ends = np.cumsum(mass)
    found = {"mean": mean, "sd": np.sqrt(mass @ (places - mean) ** 2)}
    half = (places[1] - places[0]) / 2
    return found | {name: np.interp(prob, ends, places + half) for name, prob in QUANTILES.items()}


def test_the_propensity_is_integrated_by_hand():
    reference = CASES["propensity"].read()["elements"]
    for element, (places, mass) in propensity_posterior().items():
        hold(reference[element], summary(places, mass))
    with pytest.raises(AssertionError):  # twin that must fail: another slope
        hold(reference["propensity"], summary(*propensity_posterior(slope=3)["propensity"]))
