"""Forecasts held against outcomes."""

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from . import scoring
from .data import Evaluation
from .errors import DataError
from .forecasting import Forecast
from .wording import some

if TYPE_CHECKING:
    from collections.abc import Hashable


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
        Indexed by subject: ``trials``, ``success``, ``brier`` and its parts ``calibration``,
        ``refinement`` and ``remainder``, ``log_score`` (lower is better), ``auroc`` (NaN when all
        outcomes are alike), ``ece`` (10 bins), and ``remark``.

    Raises
    ------
    DataError
        When forecast and evaluation share no subject or item with an outcome, or an item was
        trained on.
    """
    subjects = [name for name in forecast.data["subject"].values if name in evaluation.subjects]
    items = [name for name in forecast.data["item"].values if name in evaluation.items.index]
    if not subjects or not items:
        raise DataError(
            f"nothing to score: the forecast and the evaluation share {len(subjects)} subject(s) and "
            f"{len(items)} item(s); give both the same names"
        )
    chosen = forecast.data.sel(subject=subjects, item=items)
    trials = evaluation.trials.loc[subjects, items]
    successes = evaluation.successes.loc[subjects, items]
    leaked = chosen["trained"].to_numpy() & (trials.to_numpy() > 0)
    if leaked.any() and not training_items:
        found = [f"{items[column]} ({subjects[row]})" for row, column in np.argwhere(leaked)]
        raise DataError(
            f"{len(found)} outcome(s) to be scored were trained on: {some(found)}; forecast items "
            "held out from the fit, or pass training_items=True to score the fit on its own data"
        )
    rows: dict[Hashable, dict[str, object]] = {}
    for subject in subjects:
        done = trials.loc[subject].to_numpy()
        if done.sum():
            probability = chosen["mean"].sel(subject=subject).to_numpy()
            rows[subject] = _scores(probability, successes.loc[subject].to_numpy(), done)
    if not rows:
        raise DataError("nothing to score: none of the forecast items was attempted; add outcomes")
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("subject")


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
