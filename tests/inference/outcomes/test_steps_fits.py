"""Fits of grades, scores and several outcomes: forecasts, scores and all that asks a fit.

The fit is integrated on a grid: two latents, and no sampler.
"""

import numpy as np
import pandas as pd
import pytest
from helpers import graded_layouts as of
from scipy.special import expit, logsumexp

import measurement_layouts as ml
from measurement_layouts import DataError
from measurement_layouts.inference.forecasts.likelihood import Attempted, log_likelihood
from measurement_layouts.linking import logistic

PROFILES = pd.DataFrame({"objectPermanence": [4.0, 8.0], "noise": [0.1, 0.4]}, ["Ann", "Bob"])
GRID = {"method": "grid", "draws": 60, "chains": 2, "seed": 1, "progressbar": False}


@pytest.fixture(scope="module")
def made():
    return of.layout(
        of.success(), of.graded(grades=("lost", "detour", "direct")), of.score(places=5)
    )


@pytest.fixture(scope="module")
def evaluation(made):
    return ml.simulate(made, of.items(14), PROFILES, seed=2, trials=2)


@pytest.fixture(scope="module")
def fit(made, evaluation):
    return ml.fit(made, evaluation, **GRID)


@pytest.fixture(scope="module")
def new():
    return of.items(4, seed=7).rename("new {}".format)


def reached(fit, subject, table):
    """By leaf, probability of each step for every draw: (draws, items, steps)."""
    draws = fit.posterior.sel(subject=subject)
    memory, noise = (draws[name].to_numpy().ravel() for name in ("objectPermanence", "noise"))
    able = expit(0.8 * (memory[:, None] - table["timeHidden"].to_numpy()))
    p = (1 - noise[:, None]) * able + noise[:, None] * 0.4
    return {
        leaf.name: of.reach(leaf, p.ravel(), {}).reshape(*p.shape, -1)[..., 1:-1]
        for leaf in fit.layout.outcomes
    }


def test_forecasts_are_of_reaching_each_step(fit, made, new):
    forecast = fit.forecast(new, prob=0.8)
    frame = forecast.to_frame()
    assert list(frame.columns[:6]) == ["subject", "item", "outcome", "step", "mean", "low"]
    for subject in fit.subjects:
        chances = reached(fit, subject, new)
        for leaf in made.outcomes:
            rows = frame[(frame["subject"] == subject) & (frame["outcome"] == leaf.name)]
            assert rows.loc[rows["item"] == "new arena 2", "step"].tolist() == list(leaf.steps)
            wanted = chances[leaf.name].reshape(len(chances[leaf.name]), -1)
            np.testing.assert_allclose(rows["mean"], wanted.mean(axis=0), rtol=1e-12)
            np.testing.assert_allclose(rows["low"], np.quantile(wanted, 0.1, axis=0), rtol=1e-12)
    assert not frame["trained"].any()


def test_expected_outcomes_are_those_of_all_draws(fit, made, new):
    expected = fit.forecast(new).expected
    assert list(expected.columns) == ["subject", "item", "outcome", "mean", "low", "high"]
    assert len(expected) == 2 * 4 * 3
    for leaf in made.outcomes:
        rows = expected[(expected["outcome"] == leaf.name) & (expected["subject"] == "Bob")]
        draws = reached(fit, "Bob", new)[leaf.name].sum(axis=2) / (
            5 if leaf.name == "credit" else 1
        )
        np.testing.assert_allclose(rows["mean"], draws.mean(axis=0), rtol=1e-12)
        np.testing.assert_allclose(rows["high"], np.quantile(draws, 0.95, axis=0), rtol=1e-12)
        derived = fit.derive(leaf.name, new).sel(subject="Bob").mean(("chain", "draw"))
        np.testing.assert_allclose(rows["mean"], derived, rtol=1e-12)


def test_scores_are_ranked_probability_scores(fit, made, new):
    """By hand, attempt by attempt; and a forecast of other items scores worse."""
    seen = ml.simulate(made, new, PROFILES, seed=4, trials=3)
    forecast = fit.forecast(new)
    found = ml.score_forecast(forecast, seen)
    frame = forecast.to_frame().groupby(["subject", "item", "outcome"])["mean"]
    rows = seen.rows
    for subject in fit.subjects:
        parts = {}
        for leaf in made.outcomes:
            scores = []
            for item in new.index:
                own = (rows.item == item) & (rows.outcome == leaf.name)
                passed = seen.successes.loc[subject].to_numpy()[own]
                chances = frame.get_group((subject, item, leaf.name)).to_numpy()
                for attempt in range(3):  # the attempt with rank `attempt` from the best
                    got = passed > attempt
                    scores.append(((chances - got) ** 2).mean())
            parts[leaf.name] = scores
            alone = ml.score_forecast(forecast, seen, outcome=leaf.name).loc[subject]
            assert abs(alone["brier"] - np.mean(scores)) < 1e-12
            assert alone["trials"] == 12
        whole = np.concatenate(list(parts.values()))
        assert abs(found.loc[subject, "brier"] - whole.mean()) < 1e-12
        assert found.loc[subject, "trials"] == 36
        assert abs(found.loc[subject, "success"] - seen.success_rates()[subject]) < 1e-12
    with pytest.raises(DataError, match="outcome='path2': the forecast has found, p"):
        ml.score_forecast(forecast, seen, outcome="path2")


def test_items_seen_with_any_outcome_are_not_scored(made, evaluation):
    """Ann's scores on the first item are held out, but not what else came of it."""
    rows, trials = evaluation.rows, evaluation.trials.copy()
    trials.loc["Ann", (rows.item == "arena 0") & (rows.outcome == "credit")] = 0
    successes = evaluation.successes.where(trials > 0, 0)
    part = ml.fit(made, ml.Evaluation(evaluation.items, successes, trials), **GRID)
    forecast = part.forecast(of.items(1))
    assert forecast.data["trained"].all()
    with pytest.raises(DataError, match="were trained on: arena 0 · found ≥ 1"):
        ml.score_forecast(forecast, evaluation)
    forecast = part.forecast(of.items(1).assign(timeHidden=9.9))
    with pytest.raises(DataError, match="were trained on: arena 0"):
        ml.score_forecast(forecast, evaluation)


def test_files_hold_all(fit, made, new, tmp_path):
    again = ml.load(fit.save(tmp_path / "fit.nc"), layout=made)
    assert again.layout == made
    pd.testing.assert_frame_equal(again.forecast(new).expected, fit.forecast(new).expected)


@pytest.mark.slow
def test_stores_hold_all(fit, made, evaluation, new, tmp_path):
    stored = ml.fit(made, evaluation, store=tmp_path / "store", **GRID)
    resumed = ml.fit(made, evaluation, store=tmp_path / "store", **GRID)
    for other in (stored, resumed, ml.load(tmp_path / "store")):
        assert other.layout == made
        pd.testing.assert_frame_equal(other.forecast(new).expected, fit.forecast(new).expected)


def test_leave_one_out_takes_items_whole(fit, evaluation):
    found = ml.validation.loo(fit)
    of_ann = found.elpd_i.sel(subject="Ann")
    assert list(of_ann["item"].to_numpy()) == list(evaluation.item_table.index)
    parts = log_likelihood(fit, 0, Attempted.of(fit, 0))
    each = np.concatenate([values for _, values in parts])
    chances = reached(fit, "Ann", of.items(14))
    total = np.zeros((120, 14))
    for leaf in fit.layout.outcomes:
        steps = chances[leaf.name]
        ends = np.ones((*steps.shape[:2], 1))
        own = -np.diff(np.concatenate([ends, steps, 0 * ends], axis=2), axis=2)
        passed = evaluation.successes.loc["Ann"].to_numpy()[evaluation.rows.outcome == leaf.name]
        counts = -np.diff(
            np.pad(passed.reshape(14, -1), ((0, 0), (1, 1)), constant_values=2), axis=1
        )
        counts[:, -1] = passed.reshape(14, -1)[:, -1]
        total += np.where((counts == 1).sum(axis=1) == 2, np.log(2), 0)
        total += (counts * np.log(own)).sum(axis=2)
    np.testing.assert_allclose(each.reshape(14, -1).T, total, rtol=1e-9)
    # importance sampling without smoothing is close where no k is large
    plain = np.log(120) - logsumexp(-total, axis=0)
    assert abs(float(of_ann.sum()) - plain.sum()) < 0.5


@pytest.mark.slow
def test_layouts_of_the_same_outcomes_are_compared(fit, made, evaluation):
    wider = of.layout(
        of.success(), of.graded(3.0, grades=("lost", "detour", "direct")), of.score(0.5, places=5)
    )
    other = ml.fit(wider, evaluation, **GRID)
    table = ml.validation.compare_layouts({"true": fit, "wide": other})
    assert table.index.tolist() == ["true", "wide"]
    assert table.loc["wide", "elpd_diff"] < -5


@pytest.mark.slow
def test_items_are_held_out_whole(made, evaluation):
    methods = {"x": ml.validation.FittedLayout(made, draws=30, method="grid"), "mean": "aggregate"}
    found = ml.validation.cross_validate(methods, evaluation, repeats=1, progressbar=False).scores
    assert found["trials"].tolist() == [3 * 3 * 2] * 4  # of 14 items, 3; 3 outcomes, 2 attempts
    assert found["brier"].between(0.01, 0.25).all()


@pytest.mark.slow
def test_one_latent_is_estimated():
    memory = ml.Capability("memory", low=0, high=10)
    hidden = ml.MetaFeature("timeHidden", low=0, high=10)
    made = ml.Layout("x", ml.Score("credit", logistic(memory - hidden), precision=3))
    seen = ml.simulate(made, of.items(30), pd.DataFrame({"memory": [6.0]}, ["Ann"]), seed=1)
    likely = ml.estimation.estimate(made, seen).table.iloc[0]
    by_grid = ml.fit(made, seen, method="grid", progressbar=False).profiles().iloc[0]
    assert likely["identified"]
    assert abs(likely["estimate"] - 6) < 4 * likely["se"] < 1
    assert abs(likely["estimate"] - by_grid["mean"]) < 0.2 * likely["se"]
