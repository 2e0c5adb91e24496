"""Leave-one-out: ArviZ's numbers, and those of fits that really left the item out."""

import tracemalloc

import arviz_plots
import arviz_stats
import numpy as np
import pandas as pd
import pymc as pm
import pytest
import xarray as xr
from helpers import small_layouts
from scipy.special import betaln, gammaln, logsumexp

import measurement_layouts as ml
from measurement_layouts.inference.forecasts.likelihood import Attempted, log_likelihood
from measurement_layouts.linking import logistic

GRID = {"method": "grid", "seed": 1, "progressbar": False}


def in_memory(fit, subject):
    """Log-likelihood of a subject's attempted items, all at once: (items, chains, draws)."""
    row = fit.subjects.index(subject)
    items, sizes = Attempted.of(fit, row), fit.posterior.sizes
    found = np.full((len(items.names), sizes["chain"], sizes["draw"]), np.nan)
    for places, values in log_likelihood(fit, row, items):
        found[places] = values
    return items, found


def as_pymc_has_it(layout, evaluation, fit, subject):
    """One subject's posterior and PyMC's log-likelihood of it."""
    posterior = fit.posterior.sel(subject=subject, drop=True)
    tree = xr.DataTree.from_dict({"posterior": posterior})
    model = ml.to_pymc(layout, evaluation, subject)
    return pm.compute_log_likelihood(tree, model=model, progressbar=False)


def counted():
    """Counts of attempts, with items that have the same properties, the same outcome, or both."""
    demand = ml.MetaFeature("demand", low=0, high=4)
    layout = ml.Layout("one", ml.Success("ok", logistic(ml.Capability("able", 0, 4) - demand)))
    values = [0.5, 1, 1, 1, 2, 3, 3.5, 3.5]
    items = pd.DataFrame({"demand": values}, index=list("abcdefgh"))
    return layout, small_layouts.counts(
        [5, 3, 3, 4, 2, 0, 0, 0], [5, 4, 4, 4, 3, 0, 2, 2], "Ann", items
    )


@pytest.mark.parametrize("which", ["sampled", "counts"])
def test_numbers_are_arvizs(fitted, animal_ai, cohort, which):
    if which == "sampled":
        layout, evaluation, fit = animal_ai, cohort, fitted
    else:
        layout, evaluation = counted()
        fit = ml.fit(layout, evaluation, **GRID)
    found = ml.validation.loo(fit, subjects=["Ann"])
    tree = as_pymc_has_it(layout, evaluation, fit, "Ann")
    names = list(Attempted.of(fit, fit.subjects.index("Ann")).names)
    group = tree["log_likelihood"].to_dataset().sel(item=names)
    wanted = arviz_stats.loo(
        xr.DataTree.from_dict(
            {"posterior": fit.posterior.sel(subject="Ann"), "log_likelihood": group}
        ),
        pointwise=True,
    )
    for name in ("elpd_i", "pareto_k"):
        ours = found[name].sel(subject="Ann").sel(item=names)
        np.testing.assert_allclose(ours, wanted[name], rtol=0, atol=1e-6)
    for name in ("elpd", "se", "p", "good_k", "n_samples", "n_data_points", "scale", "warning"):
        assert found[name] == pytest.approx(wanted[name], abs=1e-8)
    arviz_plots.plot_khat(found, backend="none")


def test_a_store_and_a_file_give_the_same(fitted, saved, animal_ai, cohort, sampling, tmp_path):
    stored = ml.fit(animal_ai, cohort, subjects=["Bob"], store=tmp_path / "fits", **sampling)
    wanted = ml.validation.loo(fitted, subjects=["Bob"])
    for fit in (stored, ml.load(tmp_path / "fits"), ml.load(saved)):
        found = ml.validation.loo(fit, subjects=["Bob"])
        assert found.elpd_i.identical(wanted.elpd_i)
        assert found.pareto_k.identical(wanted.pareto_k)


# --- fits that left the item out -----------------------------------------------------------------


def mc_error(values):
    """Monte Carlo standard error of the elpd, by the delta method.

    Of an item it is log(sum w p / sum w) with the weights w = 1/p; a draw moves all items.
    """
    likelihood = np.exp(values.reshape(len(values), -1))
    weights = 1 / likelihood
    weights /= weights.sum(axis=1, keepdims=True)
    foreseen = (weights * likelihood).sum(axis=1, keepdims=True)
    deviation = weights * (likelihood - foreseen) / foreseen
    return np.linalg.norm(deviation.sum(axis=0))


def test_a_coin_in_closed_form():
    """Of a uniform p, y of n and all the other tosses: beta-binomial."""
    successes, trials = np.array([1, 3, 0, 4, 2, 2]), np.array([2, 4, 1, 5, 2, 6])
    layout, evaluation = small_layouts.coin(), small_layouts.counts(successes, trials)
    fit = ml.fit(layout, evaluation, **GRID)
    wins, losses = 1 + successes.sum(), 1 + (trials - successes).sum()
    left = betaln(wins - successes, losses - trials + successes)
    ways = gammaln(trials + 1) - gammaln(successes + 1) - gammaln(trials - successes + 1)
    exact = ways + betaln(wins, losses) - left
    _, values = in_memory(fit, "Ann")
    found = ml.validation.loo(fit)
    slack = 4 * mc_error(values)
    assert abs(found.elpd - exact.sum()) < slack < 0.2
    in_sample = logsumexp(values, axis=(1, 2)).sum() - 6 * np.log(values[0].size)
    assert abs(in_sample - exact.sum()) > 3 * slack  # twin: seeing the item is not foreseeing it
    np.testing.assert_allclose(in_sample - found.elpd, found.p)


def test_refits_without_each_item():
    """Every refit is a subject of its own, whose one item was not attempted."""
    demand = ml.MetaFeature("demand", low=-3, high=3)
    able = ml.Capability("able", low=-3, high=3)
    layout = ml.Layout("one", ml.Success("ok", logistic(able - demand)))
    items = pd.DataFrame({"demand": np.linspace(-3, 3, 15)}).rename("item-{}".format)
    outcomes = np.array([1, 1, 0, 1, 1, 1, 0, 1, 1, 0, 0, 1, 0, 0, 0], dtype=float)
    rows = np.where(np.eye(15) == 1, np.nan, outcomes)
    table = pd.DataFrame(
        [outcomes, *rows], index=["all", *(f"without {place}" for place in range(15))],
        columns=items.index,
    )  # fmt: skip
    fit = ml.fit(layout, ml.Evaluation.from_wide(table, items), draws=2000, **GRID)
    draws = fit.posterior["able"].to_numpy().reshape(-1, 16).T[1:]
    chances = 1 / (1 + np.exp(items["demand"].to_numpy()[:, None] - draws))
    exact = np.log(np.where(outcomes[:, None] == 1, chances, 1 - chances).mean(axis=1))
    _, values = in_memory(fit, "all")
    found, slack = ml.validation.loo(fit, subjects=["all"]), 4 * mc_error(values)
    assert abs(found.elpd - exact.sum()) < slack < 0.2
    np.testing.assert_allclose(found.elpd_i, exact, rtol=0, atol=slack)
    in_sample = (logsumexp(values, axis=(1, 2)) - np.log(values[0].size)).sum()
    assert abs(in_sample - exact.sum()) > 3 * slack  # twin
    assert not found.warning


# --- the edges -----------------------------------------------------------------------------------


def crafted(draws, outcomes, layout=None):
    """A coin's fit with given draws, (chains, draws), one toss per outcome."""
    tosses = small_layouts.counts(outcomes, np.ones_like(outcomes))
    return small_layouts.crafted(layout or small_layouts.coin(), tosses, {"p": draws[None]})


def test_an_item_that_decides_the_profile_is_named(rng):
    """Draws that find the one failure next to impossible: the weights' tail has infinite mean."""
    fit = crafted(1 - rng.uniform(0, 1, (2, 500)) ** 6, [1, 1, 1, 0])
    found = ml.validation.loo(fit)
    assert (found.pareto_k > found.good_k).values.tolist() == [False, False, False, True]
    assert found.warning


def many_items(count, draws):
    """A fit of one subject to items that are all different."""
    rng = np.random.default_rng(4)
    demand = ml.MetaFeature("demand", low=0, high=4)
    layout = ml.Layout("one", ml.Success("ok", logistic(ml.Capability("able", 0, 4) - demand)))
    items = pd.DataFrame({"demand": rng.uniform(0, 4, count)}).rename("item-{}".format)
    outcomes = pd.DataFrame(rng.integers(0, 2, (1, count)), ["Ann"], items.index)
    posterior = {"able": rng.normal(2, 0.1, (1, 2, draws // 2))}
    return small_layouts.crafted(layout, ml.Evaluation.from_wide(outcomes, items), posterior)


def growth(compute):
    """Most memory allocated at once, in MiB."""
    tracemalloc.start()
    try:
        compute()
        return tracemalloc.get_traced_memory()[1] / 2**20
    finally:
        tracemalloc.stop()


@pytest.mark.slow
@pytest.mark.parametrize(("count", "draws"), [(1000, 4000), (6000, 1000)])
def test_memory_stays_bounded(count, draws):
    """All items and draws at once take 31 MiB, and 46 MiB."""
    fit = many_items(count, draws)
    ml.validation.loo(many_items(5, 100))  # imports
    whole = count * draws * 8 / 2**20
    assert growth(lambda: ml.validation.loo(fit)) < 24 < whole
    if count == 1000:
        assert growth(lambda: in_memory(fit, "Ann")) > whole  # twin that must fail
