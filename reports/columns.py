"""The items' columns that a layout reads, each with its values and where these are defined."""

import itertools
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..common.digits import short
from ..evaluations.steps import Rows
from ..inference.fit import Fit
from ..inference.forecasts.support import defined_columns, training_features
from ..layouts import MetaFeature
from ..linking import units

_LITTLE = 0.5  # part of the declared range
_FEW = 12  # values that are shown one by one


@dataclass(frozen=True, eq=False)
class Column:
    """One property of the training items.

    Attributes
    ----------
    name : str
        ``node``, or ``node[label]``.
    feature : MetaFeature
        What declares it.
    place : int or None
        Which of its labels.
    values : ndarray, shape (items,)
        NaN where undefined.
    """

    name: str
    feature: MetaFeature
    place: int | None
    values: np.ndarray

    @property
    def unit(self) -> str:
        """Unit of the property, abbreviated."""
        return units.name(self.feature.unit)

    @property
    def seen(self) -> np.ndarray:
        """Values that are finite numbers."""
        return self.values[np.isfinite(self.values)]

    @property
    def levels(self) -> np.ndarray | None:
        """Values to show one by one, where they are declared as levels and few."""
        declared = self.feature.levels
        if declared is None or len(declared) > _FEW:
            return None
        return np.sort(np.array(declared, dtype=float))

    @property
    def span(self) -> tuple[float, float]:
        """Range to show it over: the declared one, or what was seen where that is far less."""
        declared, seen = self.feature.range, self.seen
        ends = (float(seen.min()), float(seen.max())) if len(seen) else (0.0, 1.0)
        wide = declared.high - declared.low
        if declared.is_finite and not 0 < ends[1] - ends[0] < _LITTLE * wide:
            return declared.low, declared.high
        return ends


def training_items(fit: Fit) -> pd.Index:
    """Names of the items that a fit was made on."""
    names: pd.Index = fit.observed.indexes["item"].map(str)
    return names if fit.layout.steps is None else Rows.read(names).items


def columns(fit: Fit) -> list[Column]:
    """List the columns of a fit's training items, in the layout's order; no measured demands."""
    layout = fit.layout
    values = iter(defined_columns(layout, training_features(fit), len(training_items(fit))).T)
    found = [
        (name, node, None if node.labels is None else place, next(values))
        for node in layout.properties
        for place, name in enumerate(node.columns)
    ]
    return [Column(name, node, *own) for name, node, *own in found if isinstance(node, MetaFeature)]


def counts(column: Column) -> tuple[list[str], list[int]]:
    """Count items by level, or in twenty bins over the range to show.

    Returns
    -------
    list of str, list of int
        What each bin is, and how many items lie in it.
    """
    seen, levels = column.seen, column.levels
    if levels is not None:
        return [short(level) for level in levels], [int((seen == level).sum()) for level in levels]
    low, high = column.span
    ends = (
        np.linspace(min(low, seen.min()), max(high, seen.max()), 21)
        if len(seen)
        else np.arange(21.0)
    )
    number, _ = np.histogram(seen, ends)
    names = [f"{short(a)} to {short(b)}" for a, b in itertools.pairwise(ends)]
    return names, number.tolist()
