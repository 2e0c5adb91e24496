"""A fit with its log-likelihood, as ArviZ takes it."""

import arviz_stats
import numpy as np
import pandas as pd
import pytest
from helpers import graded_layouts as of
from helpers import small_layouts
from scipy.stats import binom

import measurement_layouts as ml

GRID = {"method": "grid", "draws": 60, "chains": 2, "seed": 1, "progressbar": False}


@pytest.fixture(scope="module")
def graded():
    """A fit to grades and scores, where items have several rows."""
    made = of.layout(of.success(), of.graded(), of.score(places=5))
    profiles = pd.DataFrame({"objectPermanence": [4.0, 8.0], "noise": [0.1, 0.4]}, ["Ann", "Bob"])
    return ml.fit(made, ml.simulate(made, of.items(14), profiles, seed=2, trials=2), **GRID)


def agree_with_arviz(fit, subject):
    """ArviZ's leave-one-out from the tree, item by item, is that of `validation.loo`."""
    tree = fit.with_log_likelihood(subjects=[subject])
    theirs = arviz_stats.loo(tree, pointwise=True)
    ours = ml.validation.loo(fit, subjects=[subject])
    for name in ("elpd_i", "pareto_k"):
        own = ours[name].sel(subject=subject).sel(item=theirs.elpd_i["item"].to_numpy())
        np.testing.assert_allclose(own, theirs[name], rtol=0, atol=1e-6)
    for name in ("elpd", "se", "p", "n_data_points"):
        np.testing.assert_allclose(ours[name], theirs[name], atol=1e-8)


@pytest.mark.parametrize("subject", ["Ann", "Dot", "nil"])  # Dot attempted half of the items
def test_arviz_leaves_out_the_same(fitted, subject):
    agree_with_arviz(fitted, subject)


@pytest.mark.filterwarnings("ignore:Estimated shape parameter of Pareto")  # which is compared
@pytest.mark.parametrize("subject", ["Ann", "Bob"])
def test_an_item_is_left_out_with_all_its_outcomes(graded, subject):
    agree_with_arviz(graded, subject)
    found = graded.with_log_likelihood()["log_likelihood"]
    assert (list(found.data_vars), found.sizes["cell"]) == (["outcomes"], 28)


def test_tosses_of_a_coin():
    """By the Binomial's own formula."""
    fit = ml.fit(small_layouts.coin(), small_layouts.counts([3, 0, 5], [4, 0, 9]), **GRID)
    values = fit.with_log_likelihood()["log_likelihood"]["heads"].to_numpy()
    chances = fit.posterior["p"].to_numpy()
    np.testing.assert_allclose(values, binom.logpmf([3, 5], [4, 9], chances), atol=1e-9)


def test_a_store_gives_the_same(fitted, animal_ai, cohort, sampling, tmp_path):
    stored = ml.fit(animal_ai, cohort, subjects=["Bob"], store=tmp_path / "fits", **sampling)
    wanted = fitted.with_log_likelihood(subjects=["Bob"])["log_likelihood"]
    found = ml.load(tmp_path / "fits").with_log_likelihood(subjects=["Bob"])["log_likelihood"]
    np.testing.assert_array_equal(*(next(iter(one.data_vars.values())) for one in (wanted, found)))
    assert stored.subjects == ["Bob"]
