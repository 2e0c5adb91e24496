"""Reading of targets and costs of items for designs and adaptive tests."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd

from ..common.errors import DataError, FitError
from ..common.messages import some
from ..common.options import positive
from ..evaluations.tables import need_columns, read_numbers
from ..layouts.elements import Element, find_elements


def read_target(choice: Sequence[Element], target: object) -> dict[str, float] | None:
    """Read a target as weights by profile element; None where there is none.

    Raises
    ------
    FitError
        When a name is no profile element, or a weight is not above 0.
    """
    if target is None:
        return None
    if not isinstance(target, Iterable):
        raise FitError(
            f"target={target!r}; give names of latents, or weights by name, as in {{'sight': 2}}"
        )
    names = [target] if isinstance(target, str) else target
    weights = names if isinstance(names, Mapping) else dict.fromkeys(names, 1.0)
    find_elements(choice, [str(name) for name in weights])  # refuses names, and none at all
    return {
        element.name: positive(f"target[{name!r}]", weight, such_as=2)
        for name, weight in weights.items()
        for element in find_elements(choice, str(name))
    }


def read_costs(
    bank: pd.DataFrame, costs: str | Mapping[object, float] | pd.Series | None
) -> np.ndarray:
    """Read the cost of each item of a bank, from a column or by name (default: 1).

    Raises
    ------
    DataError
        When there is no such column, or an item has no cost above 0.
    """
    if costs is None:
        return np.ones(len(bank))
    if isinstance(costs, str):
        need_columns(bank.columns, [costs], "the bank has")
        costs = bank[costs]
    costs = pd.Series(costs, dtype=object)
    table = costs.set_axis(costs.index.astype(str)).reindex(bank.index).to_frame("cost")
    prices = read_numbers(table)[0][:, 0]
    wrong = ~(np.isfinite(prices) & (prices > 0))
    if wrong.any():
        raise DataError(
            f"{wrong.sum()} item(s) have no cost above 0: {some(bank.index[wrong])}; give each a "
            "positive number, or leave it out of the bank"
        )
    return prices
