"""Assessors: the protocol of methods that are trained on outcomes and predict others."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
import pandas as pd
import xarray as xr

from ...common.errors import DataError
from ...common.given import refuse_other
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
    """Protocol of methods that predict held-out outcomes from the others.

    Three other methods are used if an assessor has them. ``check(items)`` refuses items that it
    cannot read, before anything is computed. ``forecast(training, items, *, seed)`` returns the
    prediction as a `Forecast`, which counts the items outside the training items.
    ``fitted(training, items, *, seed)`` returns a `Forecast` and a table of the diagnostics of
    sampling by subject, which `cross_validate` reports. If an attribute ``constant`` is True, all
    items of a subject have the same prediction, so that there is no AUROC.

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
        """Predict success of each subject on some items.

        Parameters
        ----------
        training : Evaluation
            All items, and the outcomes to learn from. Held-out outcomes have 0 trials: those of all
            subjects if items are held out, or those of some if cells are held out.
        items : sequence of str
            Names of the items to predict.
        seed : int
            Seed of random numbers.

        Returns
        -------
        DataArray
            Probabilities of success, (subject, item), in any order. NaN, or no row, for subjects
            that cannot be predicted. If rows are steps of outcomes, the items are those of
            ``training.rows_of(items)``, and the probabilities are those of reaching each step.
        """


class Forecaster(ABC):
    """Base of assessors that predict the means of their forecasts."""

    def predict(self, training: Evaluation, items: Sequence[str], *, seed: int) -> xr.DataArray:
        """Predict success, as an `Assessor` does; errors are those of `forecast`."""
        return self.forecast(training, items, seed=seed).data["mean"]

    @abstractmethod
    def forecast(self, training: Evaluation, items: Sequence[str], *, seed: int) -> Forecast:
        """Forecast success, for `score`."""


class Fitter(ABC):
    """Base of assessors that predict the means of their forecasts, and diagnose their fits."""

    def predict(self, training: Evaluation, items: Sequence[str], *, seed: int) -> xr.DataArray:
        """Predict success, as an `Assessor` does; errors are those of `fitted`."""
        return self.fitted(training, items, seed=seed)[0].data["mean"]

    @abstractmethod
    def fitted(
        self, training: Evaluation, items: Sequence[str], *, seed: int
    ) -> tuple[Forecast, pd.DataFrame]:
        """Forecast success, and return the diagnostics of the fit."""


def predicted(
    name: str, assessor: Assessor, training: Evaluation, items: Sequence[str], seed: int
) -> tuple[xr.DataArray, Forecast | None, pd.DataFrame | None]:
    """Predict with an assessor, and check the result.

    Parameters
    ----------
    name : str
        Name of the assessor, for messages.
    assessor, training, items, seed
        As in `Assessor.predict`.

    Returns
    -------
    DataArray
        Probabilities, (subject, item), in the order of the training's subjects and of the rows.
    Forecast or None
        The forecast, if the assessor returns one.
    DataFrame or None
        Diagnostics by subject, if the assessor returns them.

    Raises
    ------
    DataError
        When the prediction is not such an array, or its values are not probabilities.
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
            f"{name}: the prediction is not a probability on {some(cells)}; return numbers between "
            "0 and 1"
        )
    return whole.drop_vars(set(whole.coords) - {"subject", "item"}), forecast, fits


def point_forecast(
    means: np.ndarray,
    subjects: Sequence[str],
    items: Sequence[str],
    ends: Sequence[np.ndarray] = (),
) -> Forecast:
    """Return a forecast of probabilities, (subjects, items), optionally with ends of intervals.

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
    """Return a forecast of all subjects, which is NaN where a subject has training outcomes."""
    known = training.attempts[list(rows)].to_numpy() > 0
    return point_forecast(np.where(known, np.nan, means), training.subjects, rows)


def without_outcomes(training: Evaluation, items: Iterable[object], who: str) -> list[str]:
    """Read the names of the items to predict.

    Raises
    ------
    DataError
        When an item is unknown or has training outcomes of all subjects.
    """
    names = known_names(items, training.item_table.index, "item")
    seen = (training.attempts[training.rows_of(names)] > 0).all()
    if seen.any():
        raise DataError(
            f"{who}: {some(seen.index[seen])} are to be forecast, but have training outcomes of "
            "all subjects; set their trials to 0, as masked() does"
        )
    return names


def read_columns(
    items: pd.DataFrame, columns: Sequence[str], whose: str = "the items"
) -> np.ndarray:
    """Read the properties that baselines predict from, with indicators of missing values.

    Missing values are replaced by the mean of their column. A column of 0 and 1 that marks them is
    added for each column with missing values.

    Raises
    ------
    DataError
        When a property has no column, no values, or a value that is not a finite number.

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
            f"a baseline predicts from finite numbers, but {whose} have "
            f"{name_cells(items[list(columns)], bad)}; give numbers, other columns, or no baselines"
        )
    means = values.mean(axis=0, where=~missing)
    gaps = missing[:, missing.any(axis=0)]
    return np.column_stack([np.where(missing, means, values), gaps])


def names_of(columns: Iterable[str]) -> tuple[str, ...]:
    """Read names of columns; a single text is one name.

    Raises
    ------
    DataError
        When `columns` is something else, or a name is repeated.

    Examples
    --------
    >>> names_of("size"), names_of(["size", "hue"])
    (('size',), ('size', 'hue'))
    """
    refuse_other("columns", columns, Iterable, "names", "give names of columns of the items")
    names = (columns,) if isinstance(columns, str) else tuple(columns)
    refuse_repeats(names, "column", "the columns to predict from")
    return names
