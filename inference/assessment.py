"""Forecasts held against outcomes."""

from collections.abc import Hashable

import numpy as np
import pandas as pd
import xarray as xr

from . import scoring
from .data import Evaluation
from .errors import DataError
from .forecasts.forecasting import Forecast
from .wording import many, some


def score(
    forecast: Forecast, evaluation: Evaluation, *, training_items: bool = False
) -> pd.DataFrame:
    """Score forecasts against outcomes the fit has not seen.

    Parameters
    ----------
    forecast : Forecast
        Forecasts of some subjects on some items.
    evaluation : Evaluation
        Outcomes; subjects and items are joined by name.
    training_items : bool
        Whether items that the fit was made on may be scored too; such scores flatter.

    Returns
    -------
    DataFrame
        Indexed by subject with an outcome: ``trials``, ``success``, ``brier`` and its parts
        ``calibration``, ``refinement`` and ``remainder``, ``log_score`` (lower is better),
        ``auroc`` (NaN when all outcomes are alike), ``ece`` (10 bins), and ``remark``.

    Raises
    ------
    DataError
        When forecast and evaluation share no subject or item with an outcome, or an item was
        trained on.

    Examples
    --------
    >>> from measurement_layouts.inference.baselines import BASELINES, baseline_forecast, masked
    >>> items = pd.DataFrame(index=["a", "b", "c", "d"])
    >>> outcomes = pd.DataFrame([[1, 0, 1, 0]], index=["Ann"], columns=items.index)
    >>> evaluation = Evaluation.from_wide(outcomes, items)
    >>> training = masked(evaluation, ["c", "d"])
    >>> aggregate = baseline_forecast(BASELINES[0], training, ["c", "d"], [], seed=1)
    >>> score(aggregate, evaluation)[["trials", "brier"]]
             trials  brier
    subject
    Ann           2   0.25
    """
    chosen, successes, trials = matched(forecast, evaluation, training_items=training_items)
    means = chosen["mean"].to_numpy()
    rows: dict[Hashable, dict[str, object]] = {}
    for place, subject in enumerate(trials.index):
        done = trials.iloc[place].to_numpy()
        if done.any():
            rows[subject] = _scores(means[place], successes.iloc[place].to_numpy(), done)
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("subject")


def matched(
    forecast: Forecast, evaluation: Evaluation, *, training_items: bool = False
) -> tuple[xr.Dataset, pd.DataFrame, pd.DataFrame]:
    """Join forecasts and outcomes by name, and refuse outcomes the fit has seen.

    Parameters
    ----------
    forecast, evaluation, training_items
        As in `score`.

    Returns
    -------
    Dataset, DataFrame, DataFrame
        The forecast of the shared subjects and items, their successes and their trials.

    Raises
    ------
    DataError
        When forecast and evaluation share no subject or item with an outcome, or an item was
        trained on.
    """
    known = evaluation.trials
    subjects = [name for name in forecast.data["subject"].to_numpy() if name in known.index]
    items = [name for name in forecast.data["item"].to_numpy() if name in known.columns]
    if not subjects or not items:
        raise DataError(
            "nothing to score: the forecast and the evaluation share "
            f"{many(len(subjects), 'subject')} and {many(len(items), 'item')}; give both the same "
            "names"
        )
    chosen = forecast.data.sel(subject=subjects, item=items)
    trials = known.loc[subjects, items]
    successes = evaluation.successes.loc[subjects, items]
    leaked = chosen["trained"].to_numpy() & (trials.to_numpy() > 0)
    if leaked.any() and not training_items:
        found = [f"{items[column]} ({subjects[row]})" for row, column in np.argwhere(leaked)]
        raise DataError(
            f"{len(found)} outcome(s) to be scored were trained on: {some(found)}; forecast items "
            "held out from the fit, or pass training_items=True to score the fit on its own data"
        )
    if not trials.to_numpy().any():
        raise DataError("nothing to score: none of the forecast items was attempted; add outcomes")
    return chosen, successes, trials


def _scores(
    probability: np.ndarray, successes: np.ndarray, trials: np.ndarray
) -> dict[str, object]:
    parts = scoring.decompose_brier(probability, successes, trials)
    return {
        "trials": int(trials.sum()),
        "success": successes.sum() / trials.sum(),
        "brier": parts.brier,
        "calibration": parts.calibration,
        "refinement": parts.refinement,
        "remainder": parts.remainder,
        "log_score": scoring.log_score(probability, successes, trials),
        "auroc": scoring.auroc(probability, successes, trials),
        "ece": scoring.expected_calibration_error(probability, successes, trials),
        "remark": scoring.single_class_reason(successes, trials) or "",
    }
