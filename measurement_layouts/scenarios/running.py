"""Run a study: fit all subjects, forecast held-out items, write tables and figures."""

from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from .. import plots
from ..common.files import csv_text, write_text
from ..evaluations.evaluation import Evaluation
from ..inference.fit import Fit
from ..inference.fitting import fit
from ..inference.forecasts.forecasting import Forecast
from ..inference.posterior.posterior import success_rates
from ..validation.prediction.cross_validate import Method, cross_validate
from ..validation.prediction.estimators import Estimator
from ..validation.prediction.layouts import FittedLayout
from ..validation.prediction.outcomes import attempted_pairs
from ..validation.prediction.score import score_forecast
from ..validation.prediction.splits import Cells, Fold, Items
from .figures import Figure
from .scenario import Scenario

_HELD_OUT = 0.2


def write_study(
    profiles: Fit, evaluation: Evaluation, folder: Path, *, seed: int, **options: Any
) -> None:
    """Write a fit, then fit again without a fifth of the items, and write forecasts of these.

    For a joint layout, a fifth of the outcomes is held out instead, since such a layout uses the
    outcomes of other subjects on an item.

    Parameters
    ----------
    profiles : Fit
        Fit of all outcomes.
    evaluation : Evaluation
        Items and outcomes.
    folder : Path
        Empty or new folder. It will have ``fit.nc``, ``layout.svg``, tables as CSV files and
        figures as PNG files.
    seed : int
        Seed of the split and of the second fit.
    **options
        Arguments of `fit`.
    """
    layout = profiles.layout
    folder.mkdir(parents=True, exist_ok=True)
    profiles.save(folder / "fit.nc")  # first, since the fit took the longest
    split = Cells(_HELD_OUT) if layout.joint else Items(_HELD_OUT)
    (fold,) = split.draw(evaluation, np.random.default_rng(seed))
    training, unseen = fold.training(evaluation), _unseen(evaluation, fold)
    rows = np.unique(attempted_pairs(evaluation)[1][fold.test])
    held_out = list(evaluation.item_table.index[rows])
    forecast = fit(layout, training, seed=seed, **options).forecast(evaluation.items.loc[held_out])
    aggregate = Estimator("aggregate").forecast(training, held_out)
    scores = {
        layout.name: score_forecast(forecast, unseen),
        "aggregate": score_forecast(aggregate, unseen),
    }
    for ending in ("svg", "png"):
        layout.draw(folder / f"layout.{ending}")
    tables = {
        "profiles": profiles.profiles(),
        "diagnostics": profiles.diagnostics().reset_index(),
        "forecasts": forecast.to_frame(),
        "scores": pd.concat(scores, names=["method"]).reset_index(),
    }
    if layout.joint:
        tables |= {"population": profiles.population(), "items": profiles.items()}
    for name, table in tables.items():
        write_text(folder / f"{name}.csv", csv_text(table))
    for name, axes in _pictures(profiles, forecast, unseen, scores).items():
        figure = np.ravel(axes)[0].get_figure(root=True)
        figure.savefig(folder / f"{name}.png", dpi=150)
        plt.close(figure)


def held_out_figure(
    scenario: Scenario, evaluation: Evaluation, layout: str, repeats: int = 3
) -> tuple[Figure, pd.DataFrame]:
    """Compare a layout's Brier score on held-out items with those of the other methods.

    Returns
    -------
    tuple of Figure and DataFrame
        The figure, which holds if the layout's score is the lowest, and the scores by method.
    """
    methods: dict[str, Method] = {
        name: FittedLayout(make(), method=scenario.method)
        for name, make in scenario.layouts.items()
    }
    methods |= {"aggregate": "aggregate", "logistic regression": "logistic", "forest": "forest"}
    scores = cross_validate(
        methods, evaluation, repeats=repeats, columns=scenario.columns, seed=1, progressbar=False
    ).summary()
    means = scores["mean"].astype(float)
    rivals = means.drop(layout)
    name = f"{layout}: mean Brier on held-out items, lowest of the others ({rivals.idxmin()})"
    goal, lowest = f"below {rivals.min():.4f}", float(rivals.min())
    return Figure(name, float(means[layout]), "<", lowest, goal), scores


def _pictures(
    fit: Fit, forecast: Forecast, unseen: Evaluation, scores: dict[str, pd.DataFrame]
) -> dict[str, Any]:
    """Draw the figures by name; those of one subject show the one with a success nearest 50 %."""
    rates = success_rates(fit)
    middle = str((rates[rates.index.isin(unseen.subjects)] - 0.5).abs().idxmin())
    drawn = {
        "profiles": plots.profile_forest(fit),
        "prior-posterior": plots.prior_posterior(fit, middle),
        "forecast": plots.forecast_plot(forecast, middle, unseen),
        "brier": plots.brier_against_success(scores, success=rates),
        "calibration": plots.calibration_plot(forecast, unseen),
    }
    if fit.layout.joint:
        drawn["population"] = plots.population_forest(fit)
    if sum(latent.kind == "capability" for latent in fit.layout.latents) > 1:
        drawn["capabilities"] = plots.capability_scatter(fit)
    return drawn


def _unseen(evaluation: Evaluation, fold: Fold) -> Evaluation:
    """Return the subjects and outcomes that a fold holds out."""
    people, pair = evaluation.subject_table, attempted_pairs(evaluation)[2]
    cells = evaluation.coded.take(fold.test[pair])
    chosen = np.unique(cells.subject)
    cells = cells.select(subjects=chosen)
    return Evaluation.of_cells(evaluation.items, people.index[chosen], cells, subjects=people)
