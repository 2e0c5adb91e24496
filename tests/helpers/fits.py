"""Fits of transformed problems, held against the original's: posteriors and forecasts."""

import numpy as np
import pandas as pd
import xarray as xr

import measurement_layouts as ml
from helpers.posterior_summaries import differences, summarise
from helpers.transformations import Problem

SAMPLING = {"draws": 1000, "tune": 500, "chains": 4, "seed": 1, "progressbar": False}
ERRORS = 4.5
"""Monte Carlo standard errors: the 20 statistics of four latents pass it by chance in 1 of 7,000
seeds (two sides of a normal distribution, Bonferroni's bound)."""


def fitted(problem: Problem, **changes: object) -> ml.Fit:
    """Fit the problem's subject; it must converge."""
    fit = ml.fit(
        problem.layout,
        problem.evaluation,
        subjects=[problem.subject],
        **SAMPLING | changes,
    )
    if fit.diagnostics()["status"].tolist() != ["ok"]:
        raise ValueError(f"the fit is no witness: {fit.diagnostics().iloc[0].to_dict()}")
    return fit


def farthest(layout: ml.Layout, found: xr.Dataset, reference: xr.Dataset) -> float:
    """Largest difference of two posteriors of a layout's latents, in Monte Carlo errors."""
    compared = differences(summarise(layout, found), summarise(layout, reference))
    return max(difference.errors for difference in compared)


def farthest_forecast(
    one: ml.Fit, other: ml.Fit, items: pd.DataFrame, same_items: pd.DataFrame
) -> float:
    """Largest difference of forecasts of the same items, row by row, in Monte Carlo errors.

    A forecast's posterior standard deviation is its 90 % interval's width over 3.3, as of a normal
    distribution; its draws are as effective as those of the worst latent.
    """
    first, second = one.forecast(items).data, other.forecast(same_items).data
    spread = (first["high"] - first["low"]).to_numpy() / 3.3
    errors = spread * np.sqrt(sum(1 / fit.diagnostics()["ess"].min() for fit in (one, other)))
    gap = abs(first["mean"].to_numpy() - second["mean"].to_numpy())
    return float((gap / errors).max())
