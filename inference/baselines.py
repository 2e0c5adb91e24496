"""Forecasts that know no layout: what a layout has to beat."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from .data import Evaluation
from .errors import DataError
from .forecasting import Forecast
from .wording import some

type Model = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray, int], np.ndarray]


def _aggregate(
    train: np.ndarray, successes: np.ndarray, trials: np.ndarray, test: np.ndarray, seed: int
) -> np.ndarray:
    return np.full(len(test), successes.sum() / trials.sum())


def _classifier(make: Callable[[int], Any]) -> Model:
    """Wrap a scikit-learn classifier; outcomes of one class are forecast by their mean."""

    def predict(
        train: np.ndarray, successes: np.ndarray, trials: np.ndarray, test: np.ndarray, seed: int
    ) -> np.ndarray:
        if successes.sum() in (0, trials.sum()):
            return _aggregate(train, successes, trials, test, seed)
        rows = np.concatenate([train, train])
        outcomes = np.repeat([1, 0], len(train))
        weights = np.concatenate([successes, trials - successes]).astype(float)
        used = weights > 0
        model = make(seed).fit(rows[used], outcomes[used], sample_weight=weights[used])
        return np.asarray(model.predict_proba(test)[:, 1])

    return predict


def _logistic_regression(seed: int) -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression()


def _random_forest(seed: int) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(random_state=seed)


@dataclass(frozen=True)
class Baseline:
    """A way of forecasting each subject from its own training outcomes."""

    name: str
    model: Model


BASELINES = (
    Baseline("aggregate", _aggregate),
    Baseline("logistic regression", _classifier(_logistic_regression)),
    Baseline("random forest", _classifier(_random_forest)),
)
"""The mean, and scikit-learn's classifiers with their default settings."""


def baseline_forecast(
    baseline: Baseline,
    training: Evaluation,
    items: Sequence[str],
    columns: Sequence[str],
    *,
    seed: int,
) -> Forecast:
    """Forecast items of an evaluation by a baseline that sees the training outcomes only.

    Parameters
    ----------
    baseline : Baseline
        How to forecast.
    training : Evaluation
        All items; those to be forecast have 0 trials in it.
    items : sequence of str
        What to forecast.
    columns : sequence of str
        Properties to predict from.
    seed : int
        Of the random forest.

    Returns
    -------
    Forecast
        Means; intervals are NaN.

    Raises
    ------
    DataError
        When an item to be forecast has training outcomes.
    """
    seen = training.trials[list(items)].sum()
    if seen.any():
        raise DataError(
            f"{baseline.name}: {some(seen.index[seen > 0])} are to be forecast and have training "
            "outcomes; set their trials to 0"
        )
    table = training.items[list(columns)]
    test = table.loc[list(items)].to_numpy(dtype=float)
    means = np.empty((len(training.subjects), len(items)))
    for row, subject in enumerate(training.subjects):
        trials = training.trials.loc[subject].to_numpy()
        used = trials > 0
        successes = training.successes.loc[subject].to_numpy()
        means[row] = baseline.model(
            table.to_numpy(dtype=float)[used], successes[used], trials[used], test, seed
        )
    cells = ("subject", "item")
    nothing = np.full_like(means, np.nan)
    data = xr.Dataset(
        {
            "mean": (cells, means),
            "low": (cells, nothing),
            "high": (cells, nothing),
            "trained": (cells, np.zeros(means.shape, dtype=bool)),
            "extrapolated": ("item", np.zeros(len(items), dtype=bool)),
        },
        {"subject": training.subjects, "item": list(items)},
    )
    return Forecast(data, prob=0.9)


def masked(evaluation: Evaluation, held_out: pd.Index) -> Evaluation:
    """Take away the outcomes of some items; the items stay."""
    keep = (~evaluation.items.index.isin(held_out)).astype("int64")
    return Evaluation(evaluation.items, evaluation.successes * keep, evaluation.trials * keep)
