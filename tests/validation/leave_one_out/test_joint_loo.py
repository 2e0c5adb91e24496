"""Leave-one-out where subjects share something: one subject's item, foreseen from all others."""

import numpy as np
import pandas as pd
import pytest

import measurement_layouts as ml
from measurement_layouts.linking import logistic


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
    sure = found.pareto_k.to_numpy() < 0.3
    assert sure.mean() > 0.5
    elpds = found.elpd_i.to_numpy()
    np.testing.assert_allclose(elpds[sure], by_hand.ravel()[sure], atol=0.05)


@pytest.mark.parametrize("unit", ["cell", "item", "subject"])
def test_two_grades_are_a_success(unit):
    """A step of grades is left out as a success is; both are fitted on their own."""
    rng = np.random.default_rng(1)
    outcomes = pd.DataFrame(rng.integers(0, 2, (8, 6)), [*"abcdefgh"]).add_prefix("i")
    items = pd.DataFrame(index=outcomes.columns)
    mean, spread = ml.Effect("mean"), ml.Spread("spread")
    ability = ml.Capability("ability", prior=ml.Prior("Normal", mu=mean, sigma=spread))
    ease = ml.Effect("ease", per="item", prior=ml.Prior("Normal", mu=0, sigma=1))
    solved = logistic(ability + ease)
    elpd = []
    for outcome in (
        ml.Success("solved", solved),
        ml.Graded("solved", solved, grades=("no", "yes")),
    ):
        layout = ml.Layout(type(outcome).__name__, outcome)
        evaluation = ml.Evaluation.of_outcomes(layout, {"solved": outcomes}, items)
        fit = ml.fit(layout, evaluation, draws=2000, tune=500, seed=1, progressbar=False)
        elpd.append(ml.validation.loo(fit, unit=unit).elpd_i.to_numpy())
    np.testing.assert_allclose(*elpd, atol=0.2)  # about four Monte Carlo errors
