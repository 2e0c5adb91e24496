"""Ranks of coins' chances among exact draws from their Beta posteriors, and among wrong ones."""

import numpy as np
import pandas as pd
import pytest
from helpers import small_layouts
from scipy.stats import binom

import measurement_layouts as ml
from measurement_layouts.validation.calibration.result import LOG_LIKELIHOOD
from measurement_layouts.validation.calibration.run import ranks

COINS, TOSSES = 200, 20


@pytest.fixture(scope="module")
def truth():
    chances = np.random.default_rng(1).random(COINS)
    return pd.DataFrame({"p": chances}, [f"coin {number}" for number in range(COINS)])


@pytest.fixture(scope="module")
def heads(truth):
    return np.random.default_rng(2).binomial(TOSSES, truth["p"].to_numpy())


@pytest.fixture(scope="module")
def evaluation(truth, heads):
    items = pd.DataFrame(index=["toss"])
    counts = pd.DataFrame(heads[:, None], truth.index, items.index)
    return ml.Evaluation(items, counts, counts * 0 + TOSSES)


@pytest.fixture(scope="module")
def judged(truth, evaluation):
    """From draws (coins, chains, draws) to the verdict."""

    def judge(draws, alpha=0.01):
        layout = small_layouts.coin()
        fit = small_layouts.crafted(layout, evaluation, {"p": draws})
        found = ranks(fit, truth, fit.subjects, np.random.default_rng(3))
        status = fit.diagnostics()[["status", "reason"]]
        return ml.validation.SimulationBasedCalibration(layout, found, status, alpha)

    return judge


def exact(heads, tosses=TOSSES):
    rng = np.random.default_rng(4)
    return rng.beta(1 + heads, 1 + tosses - heads, (2, 600, COINS)).transpose(2, 0, 1)


@pytest.fixture(scope="module")
def right(judged, heads):
    """The verdict on draws from the posterior itself."""
    return judged(exact(heads))


def test_draws_from_the_posterior_are_calibrated(right):
    found = right
    table = found.table()
    assert found.calibrated
    assert (table["p"] > 0.01).all()
    error = np.sqrt(0.09 / COINS)
    assert ((table["coverage"] - 0.9).abs() < 3 * error).all()


def test_each_rank_counts_the_draws_below(right, truth, heads):
    draws = exact(heads)
    found = right.ranks.set_index(["simulation", "quantity"])
    own = found.xs("p", level="quantity").loc[truth.index]
    assert (own["draws"] == 99).mean() > 0.9  # independent draws: many effective ones
    for flat, true, count, rank in zip(
        draws.reshape(COINS, -1), truth["p"], own["draws"], own["rank"], strict=True
    ):
        places = ((np.arange(count) + 0.5) * len(flat) / count).astype(int)
        assert rank == (flat[places] < true).sum()
    within = own["position"] * (own["draws"] + 1) - own["rank"]
    assert within.between(0, 1).all()
    likely = found.xs(LOG_LIKELIHOOD, level="quantity").loc[truth.index]
    by_hand = binom.logpmf(heads, TOSSES, truth["p"])
    assert likely["truth"].to_numpy() == pytest.approx(by_hand, abs=1e-9)
