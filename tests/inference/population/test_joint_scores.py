"""Scores and log-likelihoods of joint fits: cells are held out, not whole items."""

import numpy as np
import pandas as pd
import pytest
from helpers.joint_fits import crafted, outcomes, random_draws, rasch
from scipy.special import expit

import measurement_layouts as ml


@pytest.fixture(scope="module", params=["named", "numbered"])
def study(request):
    table = outcomes(12, 8)
    if request.param == "numbered":
        table.columns = range(8)
    held = np.random.default_rng(2).random(table.shape) < 0.3
    held[np.arange(12), (np.arange(12) + 1) % 8] = True  # something of every subject
    items = pd.DataFrame(index=table.columns)
    training = ml.Evaluation.from_wide(table.where(~held), items)
    layout = rasch()
    draws = random_draws(layout, training, 800, seed=3)
    return crafted(layout, training, draws), draws, table, held, items


def test_held_out_cells_of_known_items_are_scored(study):
    fit, draws, table, held, items = study
    new = ml.Evaluation.from_wide(table.where(held), items)
    scores = ml.score_forecast(fit.forecast(items), new)
    chances = expit(draws["ability"][:, :, None] + draws["ease"][:, None]).mean(axis=0)
    chosen = held & table.notna().to_numpy()
    brier = ((chances - table.to_numpy()) ** 2)[chosen].mean()
    total = np.average(scores["brier"], weights=scores["trials"])
    assert total == pytest.approx(brier)
    assert scores["trials"].sum() == chosen.sum()


def test_cells_that_the_subject_was_trained_on_are_refused(study):
    fit, _, table, held, items = study
    row, column = np.argwhere(~held & table.notna().to_numpy())[0]
    leaky = held.copy()
    leaky[row, column] = True
    new = ml.Evaluation.from_wide(table.where(leaky), items)
    with pytest.raises(ml.DataError, match=rf"1 outcome.*{table.columns[column]} \(s{row}\)"):
        ml.score_forecast(fit.forecast(items), new)
