"""Assessors: the protocol of what learns from outcomes and predicts others."""

from collections.abc import Iterable, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
import pandas as pd
import xarray as xr

from ...common.errors import DataError
from ...common.messages import some
from ...evaluations.evaluation import Evaluation
from ...evaluations.tables import (
    known_names,
    name_cells,
    need_columns,
    read_numbers,
    refuse_repeats,
)
from ...inference.forecasts.forecasting import Forecast


@runtime_checkable
class Assessor(Protocol):
    """Protocol of what predicts held-out outcomes from the others.

    Three more methods are used where there are any. ``check(items)`` refuses items that the
    assessor cannot read, before anything is computed. ``forecast(training, items, *, seed)``
    returns the prediction as a `Forecast`, so that what lies outside the training items is counted.
    ``fitted(training, items, *, seed)`` returns a `Forecast` and a table of the sampling's
    diagnostics by subject, which `cross_validate` reports. An attribute ``constant`` that is True
    says that a subject's items are all predicted alike, so that there is no AUROC.

    Examples
    --------
    >>> class Half:
    ...     def predict(self, training, items, *, seed):
    ...         names = {"subject": training.subjects, "item": training.rows_of(items)}
    ...         return xr.DataArray(0.5, names, list(names))
    >>> isinstance(Half(), Assessor)
    True
    """

    def predict(self, training: Evaluation, items: Sequence[str], *, seed: int) -> xr.DataArray:
        """Predict success of every subject on some items.

        Parameters
        ----------
        training : Evaluation
            All items, and the outcomes to learn from. What is held out has 0 trials: of every
            subject where items are held out, of some where cells are.
        items : sequence of str
            What to predict.
        seed : int
            Of whatever is random.

        Returns
        -------
        DataArray
            Probabilities of success, (subject, item), in any order. NaN, or no row, where a subject
            cannot be predicted. Where rows are steps of outcomes, the items are those of
            ``training.rows_of(items)`` and the probabilities those of reaching each step.
        """


def predicted(
    name: str, assessor: Assessor, training: Evaluation, items: Sequence[str], seed: int
) -> tuple[xr.DataArray, Forecast | None, pd.DataFrame | None]:
    """Let an assessor predict, and check what it returns.

    Parameters
    ----------
    name : str
        What the assessor is called.
    assessor, training, items, seed
        As in `Assessor.predict`.

    Returns
    -------
    DataArray
        Probabilities, (subject, item), in the order of the training's subjects and of the rows.
    Forecast or None
        The same as a forecast, where the assessor makes one.
    DataFrame or None
        Diagnostics by subject, where the assessor samples.

    Raises
    ------
    DataError
        When the prediction is no such array, or holds numbers that are no probabilities.
    """
    forecast: Forecast | None = None
    fits: pd.DataFrame | None = None
    known: Any = assessor
    if hasattr(assessor, "fitted"):
        forecast, fits = known.fitted(training, items, seed=seed)
    elif hasattr(assessor, "forecast"):
        forecast = known.forecast(training, items, seed=seed)
    found = (
        assessor.predict(training, items, seed=seed) if forecast is None else forecast.data["mean"]
    )
    if not isinstance(found, xr.DataArray) or set(found.dims) != {"subject", "item"}:
        has = found.dims if isinstance(found, xr.DataArray) else type(found).__name__
        raise DataError(
            f"{name}: predict returned {has}; return a DataArray with the dimensions subject and "
            "item"
        )
    rows = training.rows_of(items)
    whole = found.transpose("subject", "item").reindex(subject=training.subjects, item=rows)
    wrong = ((whole < 0) | (whole > 1)).to_numpy()
    if wrong.any():
        cells = [f"{rows[column]} ({training.subjects[row]})" for row, column in np.argwhere(wrong)]
        raise DataError(
            f"{name}: the prediction is no probability on {some(cells)}; return numbers between 0 "
            "and 1"
        )
    return whole.drop_vars(set(whole.coords) - {"subject", "item"}), forecast, fits


def point_forecast(
    means: np.ndarray,
    subjects: Sequence[str],
    items: Sequence[str],
    ends: Sequence[np.ndarray] = (),
) -> Forecast:
    """Make a forecast of probabilities, (subjects, items), with the ends of intervals or without.

    Examples
    --------
    >>> point_forecast(np.array([[0.5, 0.7]]), ["Ann"], ["a", "b"])
    <Forecast: 1 subject, 2 items, 0 of them outside a declared range, 90% intervals>
    """
    cells = ("subject", "item")
    low, high = ends or [np.full_like(means, np.nan)] * 2
    data = xr.Dataset(
        {
            "mean": (cells, means),
            "low": (cells, low),
            "high": (cells, high),
            "trained": (cells, np.zeros(means.shape, dtype=bool)),
            "extrapolated": ("item", np.zeros(len(items), dtype=bool)),
        },
        {"subject": list(subjects), "item": list(items)},
    )
    return Forecast(data, prob=0.9)


def blind_forecast(means: np.ndarray, training: Evaluation, rows: Sequence[str]) -> Forecast:
    """Make a forecast of all subjects; NaN where a subject has training outcomes."""
    known = training.attempts[list(rows)].to_numpy() > 0
    return point_forecast(np.where(known, np.nan, means), training.subjects, rows)


def without_outcomes(training: Evaluation, items: Iterable[object], who: str) -> list[str]:
    """Read which items are to be predicted.

    Raises
    ------
    DataError
        When one of them is unknown or has training outcomes of all subjects.
    """
    names = known_names(items, training.item_table.index, "item")
    seen = (training.attempts[training.rows_of(names)] > 0).all()
    if seen.any():
        raise DataError(
            f"{who}: {some(seen.index[seen])} are to be forecast and have training "
            "outcomes; set their trials to 0, as masked() does"
        )
    return names


def read_columns(
    items: pd.DataFrame, columns: Sequence[str], whose: str = "the items"
) -> np.ndarray:
    """Read the properties that baselines predict from, and where they are missing.

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
    need_columns(items.columns, columns, f"{whose} have")
    values, foreign = read_numbers(items[list(columns)])
    missing = np.isnan(values) & ~foreign
    bad = foreign | np.isinf(values) | missing.all(axis=0)
    if bad.any():
        raise DataError(
            f"a baseline predicts from finite numbers, but {whose} hold "
            f"{name_cells(items[list(columns)], bad)}; give numbers, other columns, or no baselines"
        )
    means = values.mean(axis=0, where=~missing)
    gaps = missing[:, missing.any(axis=0)]
    return np.column_stack([np.where(missing, means, values), gaps])


def names_of(columns: Iterable[str]) -> tuple[str, ...]:
    """Read names of columns, each once; a single text is one name.

    Raises
    ------
    DataError
        When a name occurs twice.

    Examples
    --------
    >>> names_of("size"), names_of(["size", "hue"])
    (('size',), ('size', 'hue'))
    """
    names = (columns,) if isinstance(columns, str) else tuple(columns)
    refuse_repeats(names, "column", "the columns to predict from")
    return names
