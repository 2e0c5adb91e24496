"""Chains that sit where there is next to no mass are sampled again; all others keep their draws."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

import measurement_layouts as ml
from measurement_layouts.evaluations.subject_data import SubjectData
from measurement_layouts.inference.sampling import retries
from measurement_layouts.inference.sampling.draws import SamplingOptions
from measurement_layouts.inference.sampling.engine import Battery, compile_sampler
from measurement_layouts.inference.sampling.modes import without_lost_chains
from measurement_layouts.inference.sampling.nuts import sample
from measurement_layouts.linking import logistic

ITEMS, TRUTH = 1500, {"reach": 4.0, "sight": 6.0}
OPTIONS = SamplingOptions(draws=300, tune=300, chains=4)


def two_demands(high):
    """Two capabilities, uniform up to an end that may be far above all demands."""
    names = ("reach", "sight")
    demands = [ml.MetaFeature(f"{name}Demand", low=0, high=10) for name in names]
    parts = [
        logistic(ml.Capability(name, low=0, high=high) - demand)
        for name, demand in zip(names, demands, strict=True)
    ]
    layout = ml.Layout("two demands", ml.Success("found", parts[0] * parts[1]))
    rng = np.random.default_rng(8)
    items = pd.DataFrame(
        rng.uniform(0, 10, (ITEMS, 2)),
        index=[f"item {place}" for place in range(ITEMS)],
        columns=[demand.name for demand in demands],
    )
    chance = np.prod(expit(np.array(list(TRUTH.values())) - items.to_numpy()), axis=1)
    won = pd.DataFrame([rng.random(ITEMS) < chance], index=["Ann"], columns=items.index).astype(int)
    return layout, ml.Evaluation.from_wide(won, items)


def drawn(high, seed):
    layout, evaluation = two_demands(high)
    battery, data = Battery.of(layout, evaluation), SubjectData.of(evaluation, "Ann")
    return battery, data, sample(compile_sampler(battery), data, OPTIONS, seed)


def lost(draws):
    """Which chains are more than three, that is ten standard deviations, from the truth."""
    far = [abs(draws.posterior[name].mean(axis=1) - value) > 3 for name, value in TRUTH.items()]
    return np.logical_or(*far)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_lost_chains_are_found_and_replaced(seed):
    battery, data, draws = drawn(200.0, seed)
    gone = lost(draws)
    assert gone.any()  # or there is nothing to test
    found = without_lost_chains(battery, data, draws, OPTIONS, seed)
    assert not lost(found).any()
    for name, values in draws.posterior.items():
        np.testing.assert_array_equal(found.posterior[name][~gone], values[~gone])
        assert (found.posterior[name][gone] != values[gone]).all()
    again = without_lost_chains(battery, data, draws, OPTIONS, seed, cores=2)
    np.testing.assert_array_equal(again.posterior["reach"], found.posterior["reach"])
    assert without_lost_chains(battery, data, found, OPTIONS, seed) is found


def test_where_none_is_lost_the_draws_are_left_alone():
    battery, data, draws = drawn(20.0, seed=1)
    assert not lost(draws).any()
    assert without_lost_chains(battery, data, draws, OPTIONS, 1) is draws


def test_a_fit_with_lost_chains_is_the_integrated_posterior(monkeypatch):
    layout, evaluation = two_demands(200.0)
    quiet = {"seed": 4, "progressbar": False, "reruns": 0}
    table = ml.fit(layout, evaluation, **quiet)
    exact = ml.fit(layout, evaluation, method="grid", **quiet).profiles()
    (status,) = table.diagnostics()["status"]
    assert status == "ok"
    found = table.profiles()
    assert (abs(found["mean"] - exact["mean"]) < 4 * exact["sd"] / np.sqrt(found["ess_bulk"])).all()
    monkeypatch.setattr(retries, "without_lost_chains", lambda _battery, _data, draws, *_: draws)
    (status,) = ml.fit(layout, evaluation, **quiet).diagnostics()["status"]
    assert status != "ok"
