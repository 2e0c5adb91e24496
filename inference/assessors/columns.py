"""Columns that an assessor predicts from."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pandas as pd
import xarray as xr

from ..baselines import read_columns
from ..data import Evaluation
from ..forecasts.forecasting import Forecast
from ..tables import refuse_repeats


@dataclass(frozen=True)
class OnColumns(ABC):
    """An assessor that learns from properties of items.

    Parameters
    ----------
    columns : sequence of str
        Properties to predict from.
    """

    columns: Sequence[str]

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", names_of(self.columns))

    def check(self, items: pd.DataFrame) -> None:
        """Refuse items whose properties cannot be read.

        Raises
        ------
        DataError
            When a property is missing or holds no finite numbers.
        """
        read_columns(items, self.columns)

    def predict(self, training: Evaluation, items: Sequence[str], *, seed: int) -> xr.DataArray:
        """Predict success, as an `Assessor` does.

        Raises
        ------
        DataError
            When a property cannot be read, or an item has training outcomes.
        """
        return self._forecast(training, items, seed).data["mean"]

    @abstractmethod
    def _forecast(self, training: Evaluation, items: Sequence[str], seed: int) -> Forecast:
        """Forecast the items; only the means are used."""


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
