"""Transformed problems have the posterior and the forecasts that they had, fitted as users do.

Where the same machine code runs on the same numbers, to the bit; where sums are rounded otherwise,
or the random stream is another, within Monte Carlo error.
"""

import numpy as np
import pytest
from helpers.fits import ERRORS, farthest, farthest_forecast, fitted
from helpers.transformations import UNCHANGED, random_problem

from measurement_layouts.scenarios import animal_ai_olympics as aaio

BITS = [
    "renaming items",
    "permuting columns",
    "adding an unused column",
    "adding an item nobody attempted",
    "adding subjects",
]
WITHIN_ERROR = [
    "permuting items",
    "repeated items against counts",
    "splitting trials over two items",
    "renaming the subject",
]


@pytest.fixture(scope="module")
def original():
    """The published layout, whose noise pulls towards the subject's own mean failure."""
    rng = np.random.default_rng(20263)
    problem = random_problem(aaio.published_layout(), rng, items=60)
    return problem, fitted(problem)


@pytest.mark.parametrize("name", BITS)
def test_to_the_bit(original, name, rng):
    problem, fit = original
    transformed = UNCHANGED[name](problem, rng)
    other = fitted(transformed)
    assert other.posterior.isel(subject=0).equals(fit.posterior.isel(subject=0))
    features = problem.items.drop(columns=["successes", "trials"])
    same = transformed.items.drop(columns=["successes", "trials"]).iloc[: len(features)]
    forecasts = [fit.forecast(features).data, other.forecast(same).data]
    for kind in ("mean", "low", "high"):
        np.testing.assert_array_equal(forecasts[0][kind].to_numpy(), forecasts[1][kind].to_numpy())


@pytest.mark.parametrize("name", WITHIN_ERROR)
def test_within_monte_carlo_error(original, name, rng):
    problem, fit = original
    other = fitted(UNCHANGED[name](problem, rng))
    posteriors = [found.posterior.isel(subject=0) for found in (other, fit)]
    assert farthest(problem.layout, *posteriors) < ERRORS
    features = problem.items.drop(columns=["successes", "trials"])
    assert farthest_forecast(fit, other, features, features) < ERRORS
