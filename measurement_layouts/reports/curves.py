"""A subject's outcomes by each property of the items: forecast and observed."""

import math
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import xarray as xr

from ..inference.fit import Fit
from ..inference.forecasts.scope import block_of
from ..inference.forecasts.streaming import computed, every_draw, gathered
from ..inference.forecasts.summarising import summary_of
from ..inference.forecasts.training import features_of_items, names_of_items
from ..inference.model.alignment import Features
from ..inference.model.bands import find_bands
from ..inference.posterior.cohort import levels_of_items
from ..layouts import MetaFeature, Unseen
from ..linking.evaluation import ancestry
from .columns import Column, columns
from .outcomes import Outcome, fitted_outcomes

_DRAWS = 250  # of a curve, whose error is then a sixteenth of its sd, at most one pixel
_ITEMS = 40  # most items that a curve is averaged over
_UNSEEN = 100, 12  # draws and items if each forecast is an integral over an unseen node
_STEPS = 21
_BINS = 6
_MEMORY_MIB = 64


@dataclass(frozen=True, eq=False)
class Curve:
    """One outcome of one subject as a function of one property.

    Attributes
    ----------
    outcome : Outcome
        The outcome.
    column : Column
        The property.
    forecast : DataFrame or None
        ``value``, ``mean``, ``low`` and ``high`` of the success probability, or of the expected
        outcome as a fraction of the highest. It is averaged over items, whose other properties keep
        their values. None if the property cannot change alone.
    observed : DataFrame
        One row per level, or per bin of about equally many items: ``value`` (mean), ``trials``,
        ``rate``, its interval ``low`` to ``high``, and ``expected``, the mean forecast of the same
        items.
    """

    outcome: Outcome
    column: Column
    forecast: pd.DataFrame | None
    observed: pd.DataFrame

    @property
    def sway(self) -> float:
        """Range of the mean forecast over the property, or, without one, of ``expected``."""
        moved = self.observed["expected"] if self.forecast is None else self.forecast["mean"]
        return float(np.ptp(moved)) if len(moved) else 0.0


@dataclass(frozen=True, eq=False)
class _Moved:
    """Items on which one property takes each of some values, and the others keep theirs."""

    name: str
    values: np.ndarray
    features: Features  # of the items at the first value, then of those at the second, ...

    @classmethod
    def of(cls, column: Column, features: Features, order: np.ndarray, most: int) -> "_Moved":
        """Select at most `most` items, evenly spaced in an order by difficulty."""
        chosen = order[~np.isnan(column.values[order])]
        if len(chosen) > most:
            chosen = chosen[((np.arange(most) + 0.5) * len(chosen) / most).astype(int)]
        levels = column.levels
        values = np.linspace(*column.span, _STEPS) if levels is None else levels
        tiled = {
            name: np.tile(own[chosen], (len(values), *[1] * (own.ndim - 1)))
            for name, own in features.items()
        }
        own = tiled[column.feature.name] = tiled[column.feature.name].astype(float)
        own[(slice(None), column.place)[: own.ndim]] = np.repeat(values, len(chosen))
        return cls(column.name, values, tiled)

    def average(self, fit: Fit, row: int, outcome: Outcome) -> np.ndarray:
        """Average each draw's expected outcome over the items; shape (values, draws)."""
        own, node = self.features, outcome.node
        mean = fit.layout.mean_of(node)
        rows = len(next(iter(own.values())))
        parts = every_draw(fit, row, own, rows, mean, memory_mib=_MEMORY_MIB)
        every = gathered(parts) / node.range.high
        return np.asarray(every.reshape(len(self.values), -1, every.shape[1]).mean(axis=1))


class Curves:
    """Curves of a fit's subjects, computed one subject at a time.

    Parameters
    ----------
    fit : Fit
        The fit. At most 250 draws of each subject are used (100 if the layout has unseen nodes).
    prob : float
        Mass of the intervals.
    """

    def __init__(self, fit: Fit, prob: float) -> None:
        unseen = any(isinstance(node, Unseen) for node in fit.layout.nodes.values())
        draws, most = _UNSEEN if unseen else (_DRAWS, _ITEMS)
        self._fit, self._prob = _thinned(fit, draws), prob
        self.outcomes = fitted_outcomes(fit)
        self.columns = columns(fit)
        features = features_of_items(fit) | levels_of_items(fit)
        items = len(names_of_items(fit))
        nodes = [outcome.node for outcome in self.outcomes]
        block = block_of(self._fit, features, items)
        values = [computed(self._fit, block, node, memory_mib=_MEMORY_MIB) for node in nodes]
        self._means = [
            summary_of(draws.to_array({}), prob)["mean"] / node.range.high
            for draws, node in zip(values, nodes, strict=True)
        ]
        order = np.argsort(np.mean(self._means, axis=0).mean(axis=0), kind="stable")
        alone = [c for c in self.columns if len(c.seen) and _moves_alone(fit, c)]
        self._moved = {c.name: _Moved.of(c, features, order, most) for c in alone}

    def of(self, row: int) -> list[Curve]:
        """Compute the curves of the subject at position `row`, one per outcome and property."""
        found = []
        for place, outcome in enumerate(self.outcomes):
            read = {part.name for part in ancestry(outcome.node) if isinstance(part, MetaFeature)}
            for column in self.columns:
                if column.feature.name in read:
                    moved = self._moved.get(column.name)
                    drawn = None if moved is None else self._forecast(moved, row, outcome)
                    found.append(Curve(outcome, column, drawn, self._observed(column, row, place)))
        return found

    def _forecast(self, moved: _Moved, row: int, outcome: Outcome) -> pd.DataFrame:
        chances = moved.average(self._fit, row, outcome)
        tail = (1 - self._prob) / 2
        low, high = np.quantile(chances, [tail, 1 - tail], axis=1)
        mean = chances.mean(axis=1)
        return pd.DataFrame({"value": moved.values, "mean": mean, "low": low, "high": high})

    def in_bins(self) -> list[tuple[Outcome, pd.DataFrame]]:
        """Compare forecasts of the fit's items, in bins, with each outcome that was attempted."""
        pairs = zip(self.outcomes, self._means, strict=True)
        return [
            (outcome, outcome.in_bins(means, self._prob))
            for outcome, means in pairs
            if outcome.attempts.any()
        ]

    def _observed(self, column: Column, row: int, place: int) -> pd.DataFrame:
        outcome = self.outcomes[place]
        trials = outcome.attempts[row]
        used = (trials > 0) & np.isfinite(column.values)
        values, trials = column.values[used], trials[used]
        bins = _bins(values)
        count = np.bincount(bins, trials)
        means = {
            name: np.bincount(bins, each)[count > 0] / count[count > 0]
            for name, each in (
                ("value", values * trials),
                ("rate", outcome.gained[row][used]),
                ("square", outcome.squares[row][used]),
                ("expected", self._means[place][row][used] * trials),
            )
        }
        count = count[count > 0].astype(int)
        low, high = outcome.interval(means["rate"], means.pop("square"), count, self._prob)
        return pd.DataFrame({**means, "trials": count, "low": low, "high": high})


def _moves_alone(fit: Fit, column: Column) -> bool:
    """Whether a property can change alone: it is no flag of another, and no end of a band."""
    layout = fit.layout
    flags = {node.given.name for node in layout.meta_features if node.given is not None}
    ends = {
        part.name
        for band in find_bands(layout)
        for end in (band.low, band.high)
        for part in ancestry(end)
    }
    return column.feature.name not in flags | ends


def _thinned(fit: Fit, most: int) -> Fit:
    """Keep at most `most` draws of each subject, evenly spaced."""
    sizes = fit.posterior.sizes
    step = math.ceil(sizes["chain"] * sizes["draw"] / most)
    posterior = fit.posterior.isel(draw=slice(None, None, step)).load()
    groups = {name: fit.data[name].to_dataset() for name in ("observed_data", "constant_data")}
    return replace(fit, data=xr.DataTree.from_dict({"posterior": posterior, **groups}))


def _bins(values: np.ndarray) -> np.ndarray:
    """Assign values to bins: one for each of few values, or bins of about equal counts."""
    different = np.unique(values)
    if len(different) <= _BINS + 2:
        return np.searchsorted(different, values)
    ends = np.unique(np.quantile(values, np.arange(1, _BINS) / _BINS))
    return np.searchsorted(ends, values, side="right")
