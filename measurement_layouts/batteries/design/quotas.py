"""Limits of a battery: quotas, pairs that exclude each other, a budget."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...common.errors import DataError
from ...common.messages import some
from ...common.options import whole
from ...evaluations.tables import known_names, need_columns, read_numbers


@dataclass(frozen=True)
class Quota:
    """Least and largest number of items of a kind in a battery.

    Attributes
    ----------
    column : str
        Column of the bank that defines the kind.
    low, high : float, optional
        Limits of the kind: items whose number in the column is in [low, high], without a limit at
        an end that is not given. If neither is given, each value of the column is a kind.
    least : int, default 0
        Least number of items of the kind.
    most : int, optional
        Largest number of items of the kind (default: unlimited).

    Raises
    ------
    DataError
        When the numbers contradict each other, or there is no limit.
    FitError
        When `least` or `most` is not a whole number.

    Examples
    --------
    >>> Quota("demand[QLl]", low=4, high=5, least=3)
    Quota(column='demand[QLl]', low=4, high=5, least=3, most=None)
    >>> Quota("source", most=20)
    Quota(column='source', low=None, high=None, least=0, most=20)
    """

    column: str
    low: float | None = None
    high: float | None = None
    least: int = 0
    most: int | None = None

    def __post_init__(self) -> None:
        whole("least", self.least)
        if self.most is not None:
            whole("most", self.most)
        if self.most is None and not self.least:
            raise DataError(f"{self} has no limit; give least=, most= or both")
        if self.most is not None and self.most < self.least:
            raise DataError(f"{self} has most below least; give most= of at least {self.least}")
        if self.low is not None and self.high is not None and self.high < self.low:
            raise DataError(f"{self} has high below low; give an interval from low to high")


@dataclass(frozen=True, eq=False)
class Limits:
    """Linear bounds on the numbers of times that items are in a battery.

    Attributes
    ----------
    names : list of str
        Names of the bounds, for messages.
    counts : ndarray, shape (bounds, items)
        Contribution of one use of an item to each bound.
    least, most : ndarray, shape (bounds,)
        Bounds of the sums.
    times : ndarray of int, shape (items,)
        Largest number of times that each item may be in the battery.
    """

    names: list[str]
    counts: np.ndarray
    least: np.ndarray
    most: np.ndarray
    times: np.ndarray

    @classmethod
    def of(
        cls,
        bank: pd.DataFrame,
        n: int,
        quotas: Sequence[Quota],
        never_both: Iterable[tuple[object, object]],
        repeats: int,
        costs: np.ndarray,
        budget: float | None,
    ) -> "Limits":
        """Read the limits; an item of a pair is not repeated."""
        rows = [("n", np.ones(len(bank)), 0.0, float(n))]
        if budget is not None:
            rows.append(("budget", costs, 0.0, budget))
        for quota in quotas:
            rows += _kinds(bank, quota)
        times = np.full(len(bank), repeats)
        for pair in never_both:
            both = bank.index.get_indexer(pd.Index(_pair(bank, pair)))
            times[both] = 1
            marks = np.zeros(len(bank))
            marks[both] = 1
            rows.append((f"never both of {some(bank.index[both])}", marks, 0.0, 1.0))
        names, counts, least, most = zip(*rows, strict=True)
        return cls(list(names), np.array(counts), np.array(least), np.array(most), times)


def _kinds(bank: pd.DataFrame, quota: Quota) -> list[tuple[str, np.ndarray, float, float]]:
    """Write a quota as bounds: one, or one for each value of its column."""
    need_columns(bank.columns, [quota.column], "the bank has")
    most = np.inf if quota.most is None else float(quota.most)
    told = f"at least {quota.least}" if quota.least else f"at most {quota.most}"
    if quota.low is None and quota.high is None:
        values = bank[quota.column].astype(str)
        return [
            (f"{told} of {quota.column} {value!r}", own.astype(float), float(quota.least), most)
            for value in values.unique()
            for own in [(values == value).to_numpy()]
        ]
    numbers, _ = read_numbers(bank[[quota.column]])
    low = -np.inf if quota.low is None else quota.low
    high = np.inf if quota.high is None else quota.high
    inside = (numbers[:, 0] >= low) & (numbers[:, 0] <= high)
    name = f"{told} of {quota.column} in [{low:g}, {high:g}]"
    return [(name, inside.astype(float), float(quota.least), most)]


def _pair(bank: pd.DataFrame, pair: tuple[object, object]) -> list[str]:
    """Read the names of two items."""
    names = [pair] if isinstance(pair, str) else list(pair)
    if len(names) != 2 or names[0] == names[1]:
        raise DataError(f"never_both has {pair!r}; give pairs of two different items")
    return known_names(names, bank.index, "item")
