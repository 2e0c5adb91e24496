"""The loader of fraction subtraction, its battery, and the DINA model by EM."""

import itertools

import numpy as np
import pandas as pd
import pytest

from measurement_layouts.scenarios import fraction_subtraction as fractions
from measurement_layouts.scenarios.fraction_subtraction import FILES

NEEDED = pd.DataFrame(
    [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [0, 1, 1], [1, 0, 1]] * 2,
    columns=["read", "write", "count"],
)
PUPILS = 4000


@pytest.fixture(scope="module")
def real():
    from helpers.real_folders import study

    return fractions.load(study("fraction_subtraction", *FILES.checksums))


def test_the_real_data(real):
    assert real.successes.shape == (536, 20)
    assert (real.trials == 1).all(axis=None)
    assert list(real.items.columns) == list(fractions.SCENARIO.columns)
    assert real.items.loc["T10"].tolist() == [0, 1, 0, 0, 1, 0, 1, 1]
    assert real.subjects[0] == "pupil-001"


def simulated(seed=1):
    """Outcomes under the DINA model, with known skills, slips and guesses."""
    rng = np.random.default_rng(seed)
    has = rng.random((PUPILS, 3)) < [0.8, 0.5, 0.3]
    able = ~((~has[:, None, :]) & NEEDED.to_numpy(bool)).any(axis=2)
    slip, guess = np.linspace(0.05, 0.2, 12), np.linspace(0.2, 0.02, 12)
    answers = rng.random(able.shape) < np.where(able, 1 - slip, guess)
    return pd.DataFrame(answers.astype(int)), has, slip, guess


def test_dina_recovers_shares_slips_and_guesses():
    answers, has, slip, guess = simulated()
    found = fractions.dina(answers, NEEDED)
    # three standard errors of a share among the fewest pupils that inform one, about a sixth
    slack = 3 * np.sqrt(0.25 / (PUPILS / 6))
    assert found.masteries.mean().to_numpy() == pytest.approx(has.mean(axis=0), abs=slack)
    assert found.items["slip"].to_numpy() == pytest.approx(slip, abs=slack)
    assert found.items["guess"].to_numpy() == pytest.approx(guess, abs=slack)
    assert ((found.masteries.to_numpy() > 0.5) == has).mean() > 0.9


def test_the_log_likelihood_is_that_of_the_model():
    answers, _, _, _ = simulated()
    few = answers.iloc[:60]
    found = fractions.dina(few, NEEDED)
    sets = np.array(list(itertools.product((0, 1), repeat=3)))
    able = np.array([[all(have >= need) for need in NEEDED.to_numpy()] for have in sets])
    chance = np.where(able, 1 - found.items["slip"].to_numpy(), found.items["guess"].to_numpy())
    right = few.to_numpy()[:, None, :]
    given = np.where(right, chance, 1 - chance).prod(axis=2)
    # at the maximum the posterior's mean over pupils is the prior again
    share = np.full(8, 1 / 8)
    for _ in range(3000):
        weight = share * given
        share = (weight / weight.sum(axis=1, keepdims=True)).mean(axis=0)
    assert found.log_likelihood == pytest.approx(np.log(given @ share).sum(), abs=0.5)
