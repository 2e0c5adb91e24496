"""Leave-one-out where subjects share something: one subject's item, foreseen from all others."""

import numpy as np
import pytest
from helpers import shared_layouts

import measurement_layouts as ml

LAYOUT = shared_layouts.explanatory()


@pytest.fixture(scope="module")
def evaluation():
    return shared_layouts.simulated(LAYOUT, 12, 8)[0]


@pytest.fixture(scope="module")
def fit(evaluation):
    return ml.fit(LAYOUT, evaluation, draws=200, tune=300, chains=2, seed=1, progressbar=False)


def test_leave_one_out_of_a_cell(fit, evaluation):
    """Against importance weights by hand, unsmoothed: cells whose k is small."""
    found = ml.validation.loo(fit)
    draws = {name: fit.posterior[name] for name in ("ability", "weight", "ofTask", "ease")}
    length = evaluation.items["length"].to_xarray()
    task = evaluation.items["task"].to_xarray()
    logit = (
        draws["ability"]
        - draws["weight"] * length
        + draws["ofTask"].sel(task=task).drop_vars("task")
        + draws["ease"]
    ).transpose("subject", "item", "chain", "draw")
    chance = 1 / (1 + np.exp(-logit.to_numpy().reshape(12, 8, -1)))
    hit = evaluation.successes.to_numpy()[:, :, None]
    likelihood = np.where(hit == 1, chance, 1 - chance)
    by_hand = np.log(1 / (1 / likelihood).mean(axis=-1))
    sure = found.pointwise["k"].to_numpy() < 0.3
    assert sure.mean() > 0.5
    np.testing.assert_allclose(found.pointwise["elpd"].to_numpy()[sure], by_hand[sure], atol=0.05)
