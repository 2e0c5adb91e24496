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
from .ladders import refuse_steps
from .tables import known_names, name_cells, need_columns, read_numbers
from .threads import side_by_side
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
        rows, outcomes, weights = examples(train, successes, trials)
        model = make(seed).fit(rows, outcomes, sample_weight=weights)
        return np.asarray(model.predict_proba(test)[:, 1])

    return predict


def examples(
    columns: np.ndarray, successes: np.ndarray, trials: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Write counts as what classifiers learn from: rows, 1 or 0, and how often each occurred.

    Examples
    --------
    >>> rows, outcomes, weights = examples(np.array([[5.0], [6.0]]), np.ones(2), np.array([1, 3]))
    >>> rows.ravel(), outcomes, weights
    (array([5., 6., 6.]), array([1, 1, 0]), array([1., 1., 2.]))
    """
    rows = np.concatenate([columns, columns])
    outcomes = np.repeat([1, 0], len(columns))
    weights = np.concatenate([successes, trials - successes]).astype(float)
    used = weights > 0
    return rows[used], outcomes[used], weights[used]


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
    threads : bool
        Whether subjects are forecast side by side on threads.

    Examples
    --------
    >>> half = Baseline("a half", lambda train, successes, trials, test, seed: test[:, 0] * 0 + 0.5)
    >>> half.model(np.zeros((1, 1)), np.ones(1), np.ones(1), np.zeros((2, 1)), 0)
    array([0.5, 0.5])
    """

    name: str
    model: Model
    threads: bool = False


LOGISTIC_REGRESSION = Baseline("logistic regression", classifier(_logistic_regression))
"""scikit-learn's, with its default settings."""

BASELINES = (
    Baseline("aggregate", _aggregate),
    LOGISTIC_REGRESSION,
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
    refuse_steps(training.rows, "baseline_forecast")
    names = without_outcomes(training, items, baseline.name)
    table = read_columns(training.items, columns)
    test = table[training.items.index.get_indexer(pd.Index(names))]
    counts = training.successes.to_numpy(), training.trials.to_numpy()

    def one(successes: np.ndarray, trials: np.ndarray) -> np.ndarray:
        used = trials > 0
        return baseline.model(table[used], successes[used], trials[used], test, seed)

    rows = zip(*counts, strict=True)
    means = side_by_side(one, rows) if baseline.threads else [one(*row) for row in rows]
    return point_forecast(np.stack(means), training.subjects, names)


def point_forecast(means: np.ndarray, subjects: Sequence[str], items: Sequence[str]) -> Forecast:
    """Make a forecast of probabilities, (subjects, items), without intervals.

    Examples
    --------
    >>> point_forecast(np.array([[0.5, 0.7]]), ["Ann"], ["a", "b"])
    <Forecast: 1 subject, 2 items, 0 of them outside a declared range, 90% intervals>
    """
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
        {"subject": list(subjects), "item": list(items)},
    )
    return Forecast(data, prob=0.9)


def without_outcomes(training: Evaluation, items: Iterable[object], who: str) -> list[str]:
    """Read which items are to be forecast.

    Raises
    ------
    DataError
        When one of them is unknown or has training outcomes.
    """
    names = known_names(items, training.items.index, "item")
    seen = training.trials[names].sum()
    if seen.any():
        raise DataError(
            f"{who}: {some(seen.index[seen > 0])} are to be forecast and have training "
            "outcomes; set their trials to 0, as masked() does"
        )
    return names


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
    names = evaluation.rows_of(known_names(held_out, evaluation.item_table.index, "item"))
    keep = (~evaluation.items.index.isin(names)).astype("int64")
    return Evaluation(evaluation.items, evaluation.successes * keep, evaluation.trials * keep)


def read_columns(items: pd.DataFrame, columns: Sequence[str]) -> np.ndarray:
    """Read the properties that classifiers predict from, and where they are missing.

    Raises
    ------
    DataError
        When a property has no column, no value at all, or one that is no finite number.

    Examples
    --------
    >>> read_columns(pd.DataFrame({"size": [1.0, None, 3.0]}), ["size"])
    array([[1., 0.],
           [2., 1.],
           [3., 0.]])
    """
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
