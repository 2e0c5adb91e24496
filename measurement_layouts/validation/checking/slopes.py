"""Logistics that are far too steep, or far too flat, for the items."""

import math
from collections.abc import Iterator

import numpy as np
from scipy.special import expit

from ...common.findings import Finding
from ...common.messages import labels_together
from ...inference.evaluator import Evaluator
from ...inference.model.prior import draw_prior
from ...layouts import Derived, Latent, Layout, Measured, MetaFeature, Unseen
from ...layouts.opposed import SQUASHING
from ...layouts.plates import ITEM
from ...linking.evaluation import ancestry
from ...linking.expression import Constant
from ...linking.function import Call
from .columns import Columns

_DRAWS, _FEW = 100, 10  # draws from the prior, at most and at least
_MOST = 2**21  # most log-odds in memory at a time
_DECILES = (0.1, 0.9)  # of items and profiles, between which a width is computed
_WIDTH = 2 * float(np.log(9))  # log-odds from a chance of 10 % to one of 90 %
_STEEP = 8.0  # widths within the central items and profiles, from which a slope is reported
_FLAT = 0.25  # widths, up to which a slope is reported
_USUAL = 10.0  # log-odds over the range of the items that the documentation recommends


def about_slopes(layout: Layout, columns: Columns) -> list[Finding]:
    r"""Report logistics whose slope is far too steep, or far too flat, for the items.

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
    >>> print(*about_slopes(layout, read_columns(layout, pd.DataFrame({"words": range(400)}))))
    right: slope 2 is far too steep for words: success falls from 90 % to 10 % over 1/182 of ...
    """
    nodes = dict[int, str]()
    for node in layout.parts:  # parents before children: the first node is the nearest
        for part in ancestry(node) if isinstance(node, Derived) else ():
            nodes.setdefault(id(part), str(node.name))
    findings = list[Finding]()
    for part in layout.parts:
        if isinstance(part, Call) and part.function.name == "logistic" and _is_margin(part):
            where = nodes.get(id(part), str(layout.outcome.name))
            findings += _about(part, where, layout, columns)
    return findings


def _is_margin(call: Call) -> bool:
    """Return whether a latent and a property of items meet in the margin of a logistic."""
    nodes = list(ancestry(call.arguments[0]))
    functions = {node.function.name for node in nodes if isinstance(node, Call)}
    return (
        any(isinstance(node, Latent) for node in nodes)
        and bool(_properties(call))
        and not any(isinstance(node, Unseen) for node in nodes)
        and not functions & {*SQUASHING, "logit"}
    )


def _properties(call: Call) -> list[MetaFeature | Measured]:
    """List the properties of items in a margin."""
    nodes = ancestry(call.arguments[0], stop_at=lambda part: isinstance(part, Measured))
    kinds = MetaFeature | Measured
    return [p for p in nodes if isinstance(p, kinds) and getattr(p, "per", ITEM) == ITEM]


def _about(call: Call, where: str, layout: Layout, columns: Columns) -> Iterator[Finding]:
    """Report the labels of one logistic that are too steep, and those that are too flat."""
    log_odds, slope = _log_odds(call, layout, columns)
    if not len(log_odds):
        return
    items, profiles = (np.ptp(np.quantile(log_odds, _DECILES, at), 0) / _WIDTH for at in (0, 2))
    profiles = np.median(profiles, axis=0)
    spans = np.median(np.ptp(log_odds, axis=0), axis=1)
    least = np.minimum(np.quantile(items, 0.05, axis=1), profiles)
    most = np.maximum(np.quantile(items, 0.95, axis=1), profiles)
    steep = np.flatnonzero(least >= _STEEP)
    flat = np.flatnonzero((most <= _FLAT) & (items.min(axis=1) > 0))
    for how, labels in (("steep", steep), ("flat", flat)):
        if not len(labels):
            continue
        span, names = spans[labels].max(), labels_together(_names(call, labels, len(spans)))
        ends = 100 * expit(np.quantile(log_odds[:, labels], (0.01, 0.99)))
        effects = {
            "steep": f"success falls from 90 % to 10 % over 1/{span / _WIDTH:.0f} of the range of "
            "the items, so that only the few near the boundary inform the profile, and intervals "
            "are far too narrow where success falls more slowly",
            "flat": f"for nearly all items and profiles success is between {ends[0]:.0f} and "
            f"{ends[1]:.0f} %, so that outcomes inform the profile little",
        }
        usual, formula = slope * _USUAL / span, call.arguments[1]
        text = f"{where}: slope {slope:.3g} is far too {how} for {names}: {effects[how]}"
        remedy = "write slope=" if isinstance(formula, Constant) else f"let {formula} be near "
        remedy += f"{usual:.2g}, ten divided by the range"
        yield Finding(where, "slope", text, remedy, usual)


def _names(call: Call, labels: np.ndarray, count: int) -> list[str]:
    """Name the columns of the items in some labels of a margin, each once."""
    names = list[str]()
    for label in labels:
        for node in _properties(call):
            by_label = node.label_dims and len(node.columns) == count
            names += node.columns[label : label + 1] if by_label else node.columns
    return list(dict.fromkeys(names))


def _log_odds(call: Call, layout: Layout, columns: Columns) -> tuple[np.ndarray, float]:
    """Compute slope times margin at draws of the prior: (items, labels, draws); median slope.

    Items on which a property of the margin is undefined are left out.
    """
    names = [name for node in _properties(call) for name in node.columns]
    table = columns.values[columns.usable & columns.values[names].notna().all(axis=1)]
    size = len(table), *map(len, layout.dims.values())
    features = {constant.name: np.full(len(table), 0.5) for constant in layout.constants}
    for covariate in layout.covariates:
        labels = map(len, covariate.dims.values())
        features[covariate.name] = np.full((len(table), *labels), covariate.stand_in)
    for node in layout.properties:
        numbers = table[list(node.columns)].to_numpy(dtype=float)
        features[node.name] = numbers if node.label_dims else numbers[:, 0]
    count = max(_FEW, min(_DRAWS, _MOST // max(1, math.prod(size))))
    draws = {
        name: np.moveaxis(values[:count], 0, -1)[None]
        for name, values in draw_prior(layout).items()
    }
    with np.errstate(all="ignore"):
        evaluator = Evaluator(layout, call.arguments, features, len(table))
        margin, slope = (values.reshape(len(values), -1, count) for values in evaluator(draws))
        return (margin * slope)[evaluator.row], float(np.nanmedian(slope))
