"""Comparing layouts: the one that made the data wins, ArviZ agrees, and only like is compared."""

import arviz_plots
import arviz_stats
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from helpers import small_layouts

import measurement_layouts as ml
from measurement_layouts import DataError, FitError
from measurement_layouts.linking import logistic

GRID = {"method": "grid", "seed": 1, "progressbar": False}


def layouts():
    """One that knows what makes items hard, one that takes them as alike, one that errs."""
    reach = ml.MetaFeature("reach", low=-3, high=3)
    colour = ml.MetaFeature("colour", low=-3, high=3)
    able, luck = ml.Capability("able", low=-3, high=3), ml.Capability("luck", low=0, high=1)
    return {
        "alike": ml.Layout("alike", ml.Success("ok", luck)),
        "hard": ml.Layout("hard", ml.Success("ok", logistic(able - reach, slope=2))),
        "wrong": ml.Layout("wrong", ml.Success("ok", logistic(able - colour, slope=2))),
    }


@pytest.fixture(scope="module")
def outcomes():
    """Made by the layout that knows."""
    rng = np.random.default_rng(8)
    items = pd.DataFrame(rng.uniform(-3, 3, (60, 2)), columns=["reach", "colour"])
    items = items.rename("item-{}".format)
    profiles = pd.DataFrame({"able": [1.0, -1.0, 0.0]}, index=["Ann", "Bob", "Cyd"])
    made = ml.simulate(layouts()["hard"], items, profiles, seed=3)
    successes = made.successes.astype(float)
    successes.loc["Cyd", successes.columns[40:]] = np.nan
    return ml.Evaluation.from_wide(successes, items)


@pytest.fixture(scope="module")
def fits(outcomes):
    return {name: ml.fit(layout, outcomes, **GRID) for name, layout in layouts().items()}


@pytest.fixture(scope="module")
def compared(fits):
    return ml.validation.compare_layouts(fits)


def test_the_layout_that_made_the_data_wins(compared):
    assert compared.index.tolist() == ["hard", "alike", "wrong"]
    assert (compared["elpd_diff"] < -4 * compared["dse"])[1:].all()
    assert compared["weight"].iloc[0] > 0.9
    arviz_plots.plot_compare(compared, backend="none")


def test_arviz_agrees(fits):
    """One subject's log-likelihoods by hand, and all that ArviZ makes of them."""
    trees = {}
    for name, fit in fits.items():
        posterior = fit.posterior.sel(subject="Ann")
        if name == "alike":
            chances = np.repeat(posterior["luck"].to_numpy()[..., None], 60, axis=-1)
        else:
            demand = fit.constants["reach" if name == "hard" else "colour"].to_numpy()
            chances = 1 / (1 + np.exp(2 * (demand - posterior["able"].to_numpy()[..., None])))
        failures = 1 - fit.observed["successes"][fit.observed["subject"] == "Ann"].to_numpy()
        values = xr.Dataset({"ok": (("chain", "draw", "item"), np.log(abs(failures - chances)))})
        trees[name] = xr.DataTree.from_dict({"posterior": posterior, "log_likelihood": values})
    theirs = arviz_stats.compare(trees, round_to="none")
    ours = ml.validation.compare_layouts(fits, subjects="Ann")
    assert ours.index.tolist() == theirs.index.tolist()
    numbers = theirs.select_dtypes("number").columns.drop("weight")
    np.testing.assert_allclose(ours[numbers], theirs[numbers], rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(ours["weight"], theirs["weight"], atol=2e-3)
    texts = ["diag_diff", "diag_elpd"]
    assert (ours[texts] == theirs[texts]).all(axis=None)


def refit(outcomes, change):
    successes, trials = outcomes.successes.copy(), outcomes.trials.copy()
    change(successes, trials)
    return ml.fit(layouts()["alike"], ml.Evaluation(outcomes.items, successes, trials), **GRID)


def test_other_outcomes_are_refused(fits, outcomes):
    def leave_out(successes, trials):
        successes.loc["Bob", "item-7"] = trials.loc["Bob", "item-7"] = 0

    def flip(successes, trials):
        successes.loc["Bob", "item-7"] = 1 - successes.loc["Bob", "item-7"]

    def count(successes, trials):
        trials.loc["Bob", "item-7"] = 4

    for change in (leave_out, flip, count):
        pair = {"hard": fits["hard"], "other": refit(outcomes, change)}
        wanted = "'hard' and 'other' have other outcomes, such as Bob's on item-7;"
        with pytest.raises(DataError, match=wanted):
            ml.validation.compare_layouts(pair)
        ml.validation.compare_layouts(pair, subjects=["Ann", "Cyd"])


def test_no_ranking_where_nearly_all_cells_are_bad(rng):
    tosses = small_layouts.counts([0, 0, 0], [1, 1, 1])
    draws = 1 - rng.uniform(0, 1, (1, 2, 500)) ** 6
    fit = small_layouts.crafted(small_layouts.coin(), tosses, {"p": draws})
    with pytest.raises(FitError, match=r"for 3 of 3 cells.*split=ml.validation.Cells\(folds=10\)"):
        ml.validation.compare_layouts({"coin": fit})
    assert ml.validation.loo(fit).warning
