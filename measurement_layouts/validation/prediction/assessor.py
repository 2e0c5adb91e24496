"""Assessors: methods that are trained on outcomes and predict the chances of others."""

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
import pandas as pd
import xarray as xr

from ...common.errors import DataError
from ...common.messages import some
from ...evaluations.evaluation import Evaluation
from ...inference.forecasts.forecasting import Forecast


@runtime_checkable
class Assessor(Protocol):
    """Protocol of methods that predict held-out outcomes from the others.

    Two other methods are used if an assessor has them. ``check(items)`` refuses items that it
    cannot read, before anything is computed. ``fitted(training, cells, *, seed)`` returns the
    prediction and a table of the diagnostics of sampling by subject, which `cross_validate`
    reports. If an attribute ``constant`` is True, all items of a subject have the same prediction,
    so that there is no AUROC.

    Examples
    --------
    >>> class Half:
    ...     def predict(self, training, cells, *, seed):
    ...         return np.full(len(cells), 0.5)
    >>> isinstance(Half(), Assessor)
    True
    """

    def predict(self, training: Evaluation, cells: pd.DataFrame, *, seed: int) -> np.ndarray:
        """Predict success of subjects on items.

        Parameters
        ----------
        training : Evaluation
            All items, and the outcomes to learn from, without the held-out ones.
        cells : DataFrame
            Held-out outcomes, one row each: the names of the ``subject`` and of the ``item``, a row
            of ``training.items``, which is a step of an outcome if rows are steps.
        seed : int
            Seed of random numbers.

        Returns
        -------
        ndarray, shape (cells,)
            Probabilities of success, or of reaching the step; NaN where there is none.
        """


def predicted(
    name: str, assessor: Assessor, training: Evaluation, cells: pd.DataFrame, seed: int
) -> tuple[np.ndarray, pd.DataFrame | None]:
    """Predict with an assessor, and check the result.

    Returns
    -------
    ndarray, shape (cells,)
        Probabilities.
    DataFrame or None
        Diagnostics by subject, if the assessor returns them.

    Raises
    ------
    DataError
        When the prediction does not have one probability for each cell.
    """
    method: Any = assessor
    if hasattr(assessor, "fitted"):
        answer, diagnostics = method.fitted(training, cells, seed=seed)
    else:
        answer, diagnostics = method.predict(training, cells, seed=seed), None
    chances = np.asarray(answer, dtype=float)
    if chances.shape != (len(cells),):
        raise DataError(
            f"{name}: predict returned a {type(answer).__name__} of shape {chances.shape} for "
            f"{len(cells)} cells; return an array with a probability for each row of cells"
        )
    wrong = cells[(chances < 0) | (chances > 1)]
    if len(wrong):
        raise DataError(
            f"{name}: the prediction is not a probability on {some(wrong['item'].unique())} "
            f"({some(wrong['subject'].unique())}); return numbers between 0 and 1"
        )
    return chances, diagnostics


def point_forecast(
    means: np.ndarray,
    subjects: Sequence[str],
    items: Sequence[str],
    trained: np.ndarray | bool = False,
) -> Forecast:
    """Return a forecast of probabilities, (subjects, items), without intervals.

    Cells with training outcomes, (subjects, items), are marked, so that they are not scored.

    Examples
    --------
    >>> point_forecast(np.array([[0.5, 0.7]]), ["Ann"], ["a", "b"])
    <Forecast: 1 subject, 2 items, 0 of them outside a declared range, 90% intervals>
    """
    cells = ("subject", "item")
    variables = {
        "mean": (cells, means),
        "low": (cells, np.full_like(means, np.nan)),
        "high": (cells, np.full_like(means, np.nan)),
        "trained": (cells, np.full(means.shape, trained)),
        "extrapolated": ("item", np.zeros(len(items), dtype=bool)),
    }
    return Forecast(xr.Dataset(variables, {"subject": list(subjects), "item": list(items)}), 0.9)
