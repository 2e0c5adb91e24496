"""Reading of targets and costs of items for designs and adaptive tests."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd

from ..common.errors import DataError, FitError
from ..common.messages import some
from ..evaluations.tables import need_columns, read_numbers
from ..layouts.elements import Element, find_elements
from ..linking.real import real


def read_target(choice: Sequence[Element], target: object) -> dict[str, float] | None:
    """Read a target as weights by profile element; None where there is none.

    Raises
    ------
    FitError
        When a name is no profile element, or a weight is not above 0.
    """
    if target is None:
        return None
    if isinstance(target, str):
        target = [target]
    if not isinstance(target, Iterable):
        raise FitError(
            f"target={target!r}; give names of latents, or weights by name, as in {{'sight': 2}}"
        )
    weights = target if isinstance(target, Mapping) else dict.fromkeys(target, 1.0)
    find_elements(choice, [str(name) for name in weights])  # refuses names, and none at all
    found: dict[str, float] = {}
    for name, weight in weights.items():
        number = real(weight)
        if number is None or not 0 < number < np.inf:
            raise FitError(f"target[{name!r}]={weight!r}; give a weight above 0")
        found |= {element.name: number for element in find_elements(choice, str(name))}
    return found


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
        own = bank[costs]
    else:
        own = pd.Series(costs, dtype=object)
        own = own.set_axis(own.index.astype(str)).reindex(bank.index)
    prices, _ = read_numbers(own.to_frame("cost"))
    wrong = ~(np.isfinite(prices[:, 0]) & (prices[:, 0] > 0))
    if wrong.any():
        raise DataError(
            f"{wrong.sum()} item(s) have no cost above 0: {some(bank.index[wrong])}; give each a "
            "positive number, or leave it out of the bank"
        )
    return prices[:, 0]
