"""The columns of the items that a layout uses, with their values."""

import itertools
from dataclasses import dataclass

import numpy as np

from ..common.digits import short
from ..inference.fit import Fit
from ..inference.forecasts.training import defined_columns, features_of_items, names_of_items
from ..layouts import MetaFeature
from ..linking import units

_LITTLE = 0.5  # of the declared range; values that cover less are shown over their own range
_FEW = 12  # most levels that are shown one by one


@dataclass(frozen=True, eq=False)
class Column:
    """One property of the training items.

    Attributes
    ----------
    name : str
        Name of the column, ``node`` or ``node[label]``.
    feature : MetaFeature
        Node that declares the column.
    place : int or None
        Position of the label; None for a node without labels.
    values : ndarray, shape (items,)
        Values of the items; NaN where the property is undefined.
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
        """Values of the items on which the property is defined."""
        return self.values[np.isfinite(self.values)]

    @property
    def levels(self) -> np.ndarray | None:
        """Levels to show one by one; None if none are declared, or too many."""
        declared = self.feature.levels
        if declared is None or len(declared) > _FEW:
            return None
        return np.sort(np.array(declared, dtype=float))

    @property
    def span(self) -> tuple[float, float]:
        """Range to show: the declared one, or that of the values if it is less than half of it."""
        declared, seen = self.feature.range, self.seen
        ends = (float(seen.min()), float(seen.max())) if len(seen) else (0.0, 1.0)
        wide = declared.high - declared.low
        if declared.is_finite and not 0 < ends[1] - ends[0] < _LITTLE * wide:
            return declared.low, declared.high
        return ends


def columns(fit: Fit) -> list[Column]:
    """List the columns of a fit's items in the layout's order, without measured demands."""
    layout = fit.layout
    values = iter(defined_columns(layout, features_of_items(fit), len(names_of_items(fit))).T)
    found = [
        (name, node, None if node.labels is None else place, next(values))
        for node in layout.properties
        for place, name in enumerate(node.columns)
    ]
    return [Column(name, node, *own) for name, node, *own in found if isinstance(node, MetaFeature)]


def counts(column: Column) -> tuple[list[str], list[int]]:
    """Count items by level, or in twenty bins of the range to show.

    Returns
    -------
    list of str, list of int
        Name of each level or bin, and its number of items.
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
