"""Routing of each item to the cheapest subject that will probably succeed."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..common.errors import DataError
from ..common.messages import many, some
from ..inference.forecasts.forecasting import Forecast
from ..inference.given import refuse_no_forecast
from .accept import accept

UNROUTED = ""
"""Subject of an item for which no subject is accepted."""


@dataclass(frozen=True, eq=False, repr=False)
class Routing:
    """Assignment of items to subjects, with its cost.

    It is made by `route`.

    Attributes
    ----------
    table : DataFrame
        Indexed by item: ``subject`` (empty when no subject is accepted), its ``cost``, and ``mean``
        and ``low`` of the forecast; these are NaN when there is no subject.
    subjects : DataFrame
        Indexed by subject: the number of ``items`` that are routed to it, their total ``cost``, the
        ``expected`` number of successes, the number of items for which it is ``accepted``, and
        ``alone``, the cost of all items if it did all of them.
    success : float
        Required chance of success.

    Examples
    --------
    >>> from measurement_layouts.validation.prediction.assessor import point_forecast
    >>> chances = np.array([[0.95, 0.5], [0.99, 0.97]])
    >>> forecast = point_forecast(chances, ["small", "large"], ["easy", "hard"])
    >>> route(forecast, {"small": 1, "large": 10})
    <Routing: 2 of 2 items routed at a cost of 11, 1.92 successes expected>
    """

    table: pd.DataFrame
    subjects: pd.DataFrame
    success: float

    @property
    def unrouted(self) -> list[str]:
        """Items for which no subject is accepted."""
        return list(self.table.index[self.table["subject"] == UNROUTED])

    @property
    def cost(self) -> float:
        """Total cost of all routed items, in the unit of the costs."""
        return float(self.table["cost"].sum())

    @property
    def expected(self) -> float:
        """Expected number of successes on the routed items."""
        return float(self.table["mean"].sum())

    def __repr__(self) -> str:
        routed = len(self.table) - len(self.unrouted)
        return (
            f"<Routing: {routed} of {many(len(self.table), 'item')} routed at a cost of "
            f"{self.cost:g}, {self.expected:.3g} successes expected>"
        )


def route(
    forecast: Forecast,
    costs: Mapping[str, float] | pd.Series | pd.DataFrame,
    *,
    success: float = 0.9,
    cautious: bool = True,
) -> Routing:
    r"""Give each item to the cheapest subject that is accepted for it.

    .. math:: s(i) = \operatorname*{arg\,min}_{s:\, q_c(p_{si}) \ge \mathrm{success}} C_{si}

    with the rule of `accept`. Of subjects with the same cost, the one with the highest mean is
    chosen. This is the cheapest way to do all items that can be done at the required success.

    Parameters
    ----------
    forecast : Forecast
        Forecast of all subjects on the items.
    costs : mapping, Series or DataFrame
        Costs of an item, in one unit: a finite number of at least 0 for each subject, or a table
        with a row for each subject and a column for each item.
    success, cautious
        As in `accept`.

    Returns
    -------
    Routing
        Assignment of items to subjects, its costs, the expected successes, and the items that are
        not routed.

    Raises
    ------
    DataError
        When `forecast` is something else, a cost is missing, negative or not finite, or rows are
        steps of outcomes.
    FitError
        When `success` is not between 0 and 1.

    Examples
    --------
    >>> from measurement_layouts.validation.prediction.assessor import point_forecast
    >>> chances = np.array([[0.95, 0.5, 0.1], [0.99, 0.97, 0.6]])
    >>> forecast = point_forecast(chances, ["small", "large"], ["easy", "hard", "hardest"])
    >>> routing = route(forecast, {"small": 1, "large": 10})
    >>> routing.table["subject"].to_dict()
    {'easy': 'small', 'hard': 'large', 'hardest': ''}
    >>> routing.subjects
             items  cost  expected  accepted  alone
    subject
    small        1   1.0      0.95         1    3.0
    large        1  10.0      0.97         2   30.0
    """
    refuse_no_forecast(forecast)
    accepted = accept(forecast, success=success, cautious=cautious)
    subjects, items = (forecast.data[name].to_numpy() for name in ("subject", "item"))
    prices = _prices(costs, subjects, items)
    shape = len(subjects), len(items)
    allowed, mean, low = (
        accepted.table[name].to_numpy().reshape(shape) for name in ("accepted", "mean", "low")
    )
    order = np.lexsort((-mean, np.where(allowed, prices, np.inf)), axis=0)[0]
    there = allowed.any(axis=0)
    cell = order, np.arange(len(items))
    table = pd.DataFrame(
        {
            "subject": np.where(there, subjects[order], UNROUTED),
            "cost": np.where(there, prices[cell], np.nan),
            "mean": np.where(there, mean[cell], np.nan),
            "low": np.where(there, low[cell], np.nan),
        },
        index=pd.Index(items, name="item"),
    )
    own = there & (order == np.arange(len(subjects))[:, None])
    return Routing(
        table,
        pd.DataFrame(
            {
                "items": own.sum(axis=1),
                "cost": np.where(own, prices, 0).sum(axis=1),
                "expected": np.where(own, mean, 0).sum(axis=1),
                "accepted": allowed.sum(axis=1),
                "alone": prices.sum(axis=1),
            },
            index=pd.Index(subjects, name="subject"),
        ),
        accepted.success,
    )


def _prices(
    costs: Mapping[str, float] | pd.Series | pd.DataFrame, subjects: np.ndarray, items: np.ndarray
) -> np.ndarray:
    """Read costs as (subjects, items)."""
    table = costs if isinstance(costs, pd.DataFrame) else pd.DataFrame({"": pd.Series(costs)})
    columns = items if isinstance(costs, pd.DataFrame) else [""]
    table = table.set_axis(table.index.map(str), axis=0)
    for what, names, known in (("subject", subjects, table.index), ("item", columns, table)):
        missing = [name for name in names if name not in known]
        if missing:
            raise DataError(f"costs: there are none of {what} {some(missing)}; give one for each")
    values = table.loc[subjects, columns].apply(pd.to_numeric, errors="coerce").to_numpy(float)
    wrong = ~(np.isfinite(values) & (values >= 0))
    if wrong.any():
        raise DataError(
            f"costs of {some(subjects[wrong.any(axis=1)])} are no finite numbers from 0; give one "
            "for each, in one unit"
        )
    return np.broadcast_to(values, (len(subjects), len(items)))
