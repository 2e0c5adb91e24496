"""What an assessor is: something that learns from outcomes and predicts others."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
import xarray as xr

from ..data import Evaluation
from ..errors import DataError
from ..wording import some


@runtime_checkable
class Assessor(Protocol):
    """Whatever predicts success on items held out from the outcomes on the others.

    One that also has a method ``check(items)`` is asked to refuse items that it cannot read, before
    anything is computed.

    Examples
    --------
    >>> class Half:
    ...     def predict(self, training, items, *, seed):
    ...         names = {"subject": training.subjects, "item": list(items)}
    ...         return xr.DataArray(0.5, names, list(names))
    >>> isinstance(Half(), Assessor)
    True
    """

    def predict(self, training: Evaluation, items: Sequence[str], *, seed: int) -> xr.DataArray:
        """Predict success of every subject on some items.

        Parameters
        ----------
        training : Evaluation
            All items, and the outcomes to learn from; items to be predicted have 0 trials.
        items : sequence of str
            What to predict.
        seed : int
            Of whatever is random.

        Returns
        -------
        DataArray
            Probabilities of success, (subject, item), in any order. NaN, or no row, where a subject
            cannot be predicted.
        """


def predicted(
    name: str, assessor: Assessor, training: Evaluation, items: Sequence[str], seed: int
) -> xr.DataArray:
    """Let an assessor predict, and check what it says.

    Parameters
    ----------
    name : str
        What the assessor is called.
    assessor, training, items, seed
        As in `Assessor.predict`.

    Returns
    -------
    DataArray
        (subject, item), in the order of the training's subjects and of the items.

    Raises
    ------
    DataError
        When the prediction is no such array, or holds numbers that are no probabilities.
    """
    found = assessor.predict(training, items, seed=seed)
    if not isinstance(found, xr.DataArray) or set(found.dims) != {"subject", "item"}:
        has = found.dims if isinstance(found, xr.DataArray) else type(found).__name__
        raise DataError(
            f"{name}: predict returned {has}; return a DataArray with the dimensions subject and "
            "item"
        )
    whole = found.transpose("subject", "item").reindex(subject=training.subjects, item=list(items))
    wrong = ((whole < 0) | (whole > 1)).to_numpy()
    if wrong.any():
        cells = [
            f"{items[column]} ({training.subjects[row]})" for row, column in np.argwhere(wrong)
        ]
        raise DataError(
            f"{name}: the prediction is no probability on {some(cells)}; return numbers between 0 "
            "and 1"
        )
    return whole.drop_vars(set(whole.coords) - {"subject", "item"})
