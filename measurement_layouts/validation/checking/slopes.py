"""Logistics that are far too steep, or far too flat, for the items."""

import math
import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ...common.messages import labels_together
from ...inference.model.alignment import align
from ...inference.model.prior import draw_prior
from ...layouts import Derived, Latent, Layout, Measured, MetaFeature, Unseen
from ...layouts.opposed import SQUASHING
from ...layouts.plates import ITEM
from ...linking import evaluate
from ...linking.evaluation import ancestry
from ...linking.expression import Constant
from ...linking.function import Call
from .columns import Columns

_DRAWS, _FEW = 100, 10  # draws from the prior, at most and at least
_MOST = 2**21  # most log-odds in memory at a time
_WIDTH = 2 * float(np.log(9))  # log-odds from a chance of 10 % to one of 90 %
_STEEP = 8.0  # widths within the central items and profiles, from which a slope is reported
_FLAT = 0.25  # widths, up to which a slope is reported
_USUAL = 10.0  # log-odds over the range of the items that the documentation recommends


@dataclass(frozen=True, eq=False)
class _Curve:
    """One logistic of a layout, at draws of the profile and on the usable items.

    Attributes
    ----------
    call : Call
        The logistic.
    where : str
        Name of the node that it is part of.
    columns : list of list of str
        By label, the columns of the items that the margin depends on.
    log_odds : ndarray, shape (draws, items, labels)
        Slope times margin.
    slope : float
        Median slope.
    """

    call: Call
    where: str
    columns: list[list[str]]
    log_odds: np.ndarray
    slope: float

    @cached_property
    def spans(self) -> tuple[np.ndarray, np.ndarray]:
        """Widths between deciles 1 and 9 of the items at each draw, and of the draws."""
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # an item may be undefined everywhere
            items, profiles = (
                np.subtract(*np.nanquantile(self.log_odds, (0.9, 0.1), axis)) / _WIDTH
                for axis in (1, 0)
            )
            return items, np.nanmedian(profiles, axis=0)

    def steep(self) -> np.ndarray:
        """Find the labels with which most items are almost certain for almost every profile."""
        items, profiles = self.spans
        least = np.minimum(np.quantile(items, 0.05, axis=0), profiles)
        return np.flatnonzero(least >= _STEEP)

    def flat(self) -> np.ndarray:
        """Find the labels with which success hardly depends on the items and the profile."""
        items, profiles = self.spans
        most = np.maximum(np.quantile(items, 0.95, axis=0), profiles)
        return np.flatnonzero((most <= _FLAT) & (items.min(axis=0) > 0))

    def range(self, label: int) -> float:
        """Compute the log-odds between the hardest and the easiest item, at the median profile."""
        found = self.log_odds[:, :, label]
        return float(np.median(np.nanmax(found, axis=1) - np.nanmin(found, axis=1)))


def about_slopes(layout: Layout, columns: Columns) -> list[str]:
    r"""Describe logistics whose slope is far too steep, or far too flat, for the items.

    .. math:: w = \frac{q_{0.9}(a m) - q_{0.1}(a m)}{2 \log 9}

    is the number of times that the fall of success from 90 % to 10 % is contained in the log-odds,
    between two quantiles of the items, or of the profiles drawn from the prior. A slope `a` is too
    steep if w is at least 8 for both: nearly every item is then certain to be passed or failed, and
    the outcomes of one or two items decide the estimate. It is too flat if w is at most 1/4 for
    both. The slope of ten divided by the range has a w of 1.8 on items that are evenly spaced.
    Quantiles are not affected by single extreme items. If the slope is estimated, it is described
    only if 95 % of the draws of its prior are too steep, or too flat.

    Margins that contain another probability or an unseen property are not examined.

    Examples
    --------
    >>> import pandas as pd
    >>> from measurement_layouts import Capability, Success
    >>> from measurement_layouts.linking import logistic
    >>> from measurement_layouts.validation.checking.columns import read_columns
    >>> words = MetaFeature("words", low=0, high=400)
    >>> span = Capability("span", low=0, high=500)
    >>> layout = Layout("reading", Success("right", logistic(span - words, slope=2)))
    >>> about_slopes(layout, read_columns(layout, pd.DataFrame({"words": range(20, 401, 20)})))
    ['right: slope 2 is far too steep for words, which is 20 to 400: success falls from 90 % ...']
    """
    said = []
    for curve in _curves(layout, columns):
        for chosen, steep in ((curve.steep(), True), (curve.flat(), False)):
            if len(chosen):
                said.append(_told(curve, chosen, columns, steep=steep))
    return said


def _curves(layout: Layout, columns: Columns) -> list[_Curve]:
    where = dict[int, str]()
    for node in layout.parts:  # parents before children: the first node is the nearest
        for part in ancestry(node) if isinstance(node, Derived) else ():
            where.setdefault(id(part), str(node.name))
    return [
        _curve(part, where.get(id(part), layout.outcome.name), layout, columns)
        for part in layout.parts
        if isinstance(part, Call) and part.function.name == "logistic" and _is_margin(part)
    ]


def _is_margin(call: Call) -> bool:
    """Return whether a latent and a property of items meet in the margin of a logistic."""
    parts = list(ancestry(call.arguments[0]))
    functions = {part.function.name for part in parts if isinstance(part, Call)}
    return (
        any(isinstance(part, Latent) for part in parts)
        and bool(_properties(call))
        and not any(isinstance(part, Unseen) for part in parts)
        and not functions & {*SQUASHING, "logit"}
    )


def _properties(call: Call) -> list[MetaFeature | Measured]:
    """List the properties of items in a margin."""
    found = ancestry(call.arguments[0], stop_at=lambda part: isinstance(part, Measured))
    kinds = MetaFeature | Measured
    return [p for p in found if isinstance(p, kinds) and getattr(p, "per", ITEM) == ITEM]


def _curve(call: Call, where: str, layout: Layout, columns: Columns) -> _Curve:
    dims, table = tuple(layout.dims), columns.values[columns.usable]
    known: dict[str, Any] = {node.name: node.stand_in for node in layout.covariates}
    known |= {constant.name: 0.5 for constant in layout.constants}
    for node in layout.properties:
        values = table[list(node.columns)].to_numpy(dtype=float)
        values = values if node.label_dims else values[:, 0]
        known[node.name] = align(values, node, dims, per_item=True)
    drawn, found, slopes = draw_prior(layout), [], []
    labels = math.prod(map(len, call.arguments[0].dims.values()))
    count = max(_FEW, min(_DRAWS, _MOST // max(1, len(table) * labels)))
    for draw in range(count):
        profile = {
            latent.name: align(drawn[latent.name][draw], latent, dims, per_item=False)
            for latent in layout.latents
        }
        with np.errstate(all="ignore"):
            margin, slope = (evaluate(part, known | profile, dims) for part in call.arguments)
            values = np.asarray(margin * slope, dtype=float)
        found.append(np.broadcast_to(values, (len(table), *values.shape[1:])))
        slopes.append(np.nanmedian(slope))
    log_odds = np.reshape(found, (count, len(table), -1))
    each = [
        [
            column
            for node in _properties(call)
            for column in (
                node.columns[label : label + 1]
                if node.label_dims and len(node.columns) == log_odds.shape[2]
                else node.columns
            )
        ]
        for label in range(log_odds.shape[2])
    ]
    return _Curve(call, where, each, log_odds, float(np.median(slopes)))


def _told(curve: _Curve, chosen: np.ndarray, columns: Columns, *, steep: bool) -> str:
    """Describe a slope that is too steep, or too flat, for some labels."""
    met = {column: None for label in chosen for column in curve.columns[label]}
    seen = columns.table.loc[list(met)]
    low, high, unit = seen["low"].min(), seen["high"].max(), seen["unit"].iloc[0]
    span = max(curve.range(label) for label in chosen)
    plain = len(curve.columns[chosen[0]]) == 1 and math.isclose(span, curve.slope * (high - low))
    which = f", which is {low:.4g} to {high:.4g} {unit}".rstrip() if plain else ""
    within = f"{(high - low) * _WIDTH / span:.2g} {unit}".rstrip() + ", " if plain else ""
    if steep:
        how, said = (
            "steep",
            f"success falls from 90 % to 10 % over {within}1/{span / _WIDTH:.0f} of "
            f"{'this' if plain else 'their joint'} range, so that only the few items near the "
            "boundary inform the profile, and intervals are far too narrow where success falls "
            "more slowly",
        )
    else:
        ends = np.nanquantile(curve.log_odds[:, :, chosen], (0.01, 0.99))
        least, most = 100 / (1 + np.exp(-ends))
        how, said = (
            "flat",
            f"for nearly all items and profiles success is between {least:.0f} and {most:.0f} %, "
            "so that outcomes inform the profile little",
        )
    slope, usual = curve.call.arguments[1], f"{curve.slope * _USUAL / span:.2g}"
    remedy = "write slope=" if isinstance(slope, Constant) else f"let {slope} be near "
    return (
        f"{curve.where}: slope {curve.slope:.3g} is far too {how} for "
        f"{labels_together(met)}{which}: {said}; {remedy}{usual}, ten divided by the range"
    )
