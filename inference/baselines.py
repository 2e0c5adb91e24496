"""Forecasts that know no layout: what a layout has to beat."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from .data import Evaluation
from .errors import DataError
from .forecasts.forecasting import Forecast
from .tables import known_names, name_cells, need_columns, read_numbers
from .wording import some

type Model = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray, int], np.ndarray]


def _aggregate(
    train: np.ndarray, successes: np.ndarray, trials: np.ndarray, test: np.ndarray, seed: int
) -> np.ndarray:
    return np.full(len(test), successes.sum() / trials.sum())


def classifier(make: Callable[[int], Any]) -> Model:
    """Wrap a scikit-learn classifier; outcomes of one class or without columns by their mean."""

    def predict(
        train: np.ndarray, successes: np.ndarray, trials: np.ndarray, test: np.ndarray, seed: int
    ) -> np.ndarray:
        if not train.shape[1] or successes.sum() in (0, trials.sum()):
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

    return LogisticRegression(max_iter=10_000)  # columns of any scale converge


def _random_forest(seed: int) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(random_state=seed)


@dataclass(frozen=True)
class Baseline:
    """A way of forecasting each subject from its own training outcomes.

    Attributes
    ----------
    name : str
        Name in tables.
    model : callable
        Takes the training items' columns (rows, columns), their successes and trials (rows,), the
        columns of the items to forecast and a seed; returns their probabilities of success.

    Examples
    --------
    >>> half = Baseline("a half", lambda train, successes, trials, test, seed: test[:, 0] * 0 + 0.5)
    >>> half.model(np.zeros((1, 1)), np.ones(1), np.ones(1), np.zeros((2, 1)), 0)
    array([0.5, 0.5])
    """

    name: str
    model: Model


BASELINES = (
    Baseline("aggregate", _aggregate),
    Baseline("logistic regression", classifier(_logistic_regression)),
    Baseline("random forest", classifier(_random_forest)),
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
        All items; those to be forecast have 0 trials in it, as `masked` leaves them.
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
        When an item to be forecast has training outcomes or is unknown, or a property has no
        column, no value at all, or one that is no finite number.

    Notes
    -----
    A value that is missing is replaced by its column's mean, and a column of 0 and 1 says where: so
    properties that are undefined on some items can be predicted from.

    Examples
    --------
    >>> items = pd.DataFrame({"size": [1, 2, 3, 4]}, index=["a", "b", "c", "d"])
    >>> outcomes = pd.DataFrame([[1, 0, 1, 0]], index=["Ann"], columns=items.index)
    >>> training = masked(Evaluation.from_wide(outcomes, items), ["d"])
    >>> aggregate = baseline_forecast(BASELINES[0], training, ["d"], ["size"], seed=1)
    >>> aggregate.data["mean"].to_numpy().round(3)
    array([[0.667]])
    """
    names = known_names(items, training.items.index, "item")
    seen = training.trials[names].sum()
    if seen.any():
        raise DataError(
            f"{baseline.name}: {some(seen.index[seen > 0])} are to be forecast and have training "
            "outcomes; set their trials to 0, as masked() does"
        )
    table = pd.DataFrame(_numbers(training.items, columns), training.items.index)
    test = table.loc[names].to_numpy()
    means = np.empty((len(training.subjects), len(names)))
    for row in range(len(means)):
        trials = training.trials.iloc[row].to_numpy()
        used = trials > 0
        successes = training.successes.iloc[row].to_numpy()
        means[row] = baseline.model(
            table.to_numpy()[used], successes[used], trials[used], test, seed
        )
    cells = ("subject", "item")
    nothing = np.full_like(means, np.nan)
    data = xr.Dataset(
        {
            "mean": (cells, means),
            "low": (cells, nothing),
            "high": (cells, nothing),
            "trained": (cells, np.zeros(means.shape, dtype=bool)),
            "extrapolated": ("item", np.zeros(len(names), dtype=bool)),
        },
        {"subject": training.subjects, "item": names},
    )
    return Forecast(data, prob=0.9)


def masked(evaluation: Evaluation, held_out: Iterable[object]) -> Evaluation:
    """Take away the outcomes of some items; the items stay.

    Parameters
    ----------
    evaluation : Evaluation
        All outcomes.
    held_out : iterable
        Names of items.

    Returns
    -------
    Evaluation
        With 0 trials on those items.

    Raises
    ------
    DataError
        When an item is unknown, or a subject is left without outcomes.

    Examples
    --------
    >>> items = pd.DataFrame(index=["a", "b"])
    >>> outcomes = pd.DataFrame([[1, 0]], index=["Ann"], columns=items.index)
    >>> masked(Evaluation.from_wide(outcomes, items), ["b"]).trials.loc["Ann"].tolist()
    [1, 0]
    """
    names = known_names(held_out, evaluation.items.index, "item")
    keep = (~evaluation.items.index.isin(names)).astype("int64")
    return Evaluation(evaluation.items, evaluation.successes * keep, evaluation.trials * keep)


def _numbers(items: pd.DataFrame, columns: Sequence[str]) -> np.ndarray:
    """Read the properties that classifiers predict from, and where they are missing."""
    need_columns(items.columns, columns, "the items have")
    values, foreign = read_numbers(items[list(columns)])
    missing = np.isnan(values) & ~foreign
    bad = foreign | np.isinf(values) | missing.all(axis=0)
    if bad.any():
        raise DataError(
            "a baseline predicts from finite numbers, but the items hold "
            f"{name_cells(items[list(columns)], bad)}; give numbers, other columns, or no baselines"
        )
    means = values.mean(axis=0, where=~missing)
    gaps = missing[:, missing.any(axis=0)]
    return np.column_stack([np.where(missing, means, values), gaps])
