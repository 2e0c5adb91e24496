"""Leave-one-out where subjects share something: one subject's item, foreseen from all others."""

import numpy as np

import measurement_layouts as ml


def test_leave_one_out_of_a_cell(shared_fit, shared_data):
    """Against importance weights by hand, unsmoothed: cells whose k is small."""
    found = ml.validation.loo(shared_fit)
    draws = {name: shared_fit.posterior[name] for name in ("ability", "weight", "ofTask", "ease")}
    length = shared_data.items["length"].to_xarray()
    task = shared_data.items["task"].to_xarray()
    logit = (
        draws["ability"]
        - draws["weight"] * length
        + draws["ofTask"].sel(task=task).drop_vars("task")
        + draws["ease"]
    ).transpose("subject", "item", "chain", "draw")
    chance = 1 / (1 + np.exp(-logit.to_numpy().reshape(12, 8, -1)))
    hit = shared_data.successes.to_numpy()[:, :, None]
    likelihood = np.where(hit == 1, chance, 1 - chance)
    by_hand = np.log(1 / (1 / likelihood).mean(axis=-1))
    sure = found.pointwise["k"].to_numpy() < 0.3
    assert sure.mean() > 0.5
    np.testing.assert_allclose(found.pointwise["elpd"].to_numpy()[sure], by_hand[sure], atol=0.05)
