"""Refusal of items on which a formula is infinite or undefined."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from ...common.errors import DataError
from ...common.messages import some
from ...layouts import Latent, Layout, MetaFeature, Unseen
from ...layouts.checks import inside
from ...linking import Expr
from ...linking.evaluation import ancestry
from ...linking.expression import Constant, SubjectConstant
from .alignment import align, defined, leaves

_POINTS, _SEED = 16, 20231  # random profiles; a part must be finite at one of them at least
_BLOCK = 1024  # number of items that are checked at a time


def refuse_infinite(layout: Layout, items: pd.Index, features: Mapping[str, np.ndarray]) -> None:
    """Refuse items on which a part of the formula is infinite or undefined, for every profile.

    Not checked are parts computed from an infinite value (an end of a band may be infinite) or from
    an unseen property, and items on which a meta-feature of the part is undefined.

    Parameters
    ----------
    layout : Layout
        Layout with the formula.
    items : Index
        Names of the items, for the message.
    features : mapping of str to ndarray
        Values by meta-feature.

    Raises
    ------
    DataError
        When a part is infinite or undefined; the message names the part, the items and their
        values.

    Examples
    --------
    >>> from measurement_layouts import Capability, MetaFeature, Success
    >>> from measurement_layouts.linking import logistic
    >>> size = MetaFeature("size", low=0, high=2)
    >>> skill = Capability("skill", low=0, high=2)
    >>> layout = Layout("looking", Success("found", logistic(skill - 1 / size)))
    >>> refuse_infinite(layout, pd.Index(["pin", "dot"]), {"size": np.array([1.0, 0.0])})
    Traceback (most recent call last):
        ...
    measurement_layouts.common.errors.DataError: 1 / size has no finite value on 1 item(s): ...
    """
    for start in range(0, len(items), _BLOCK):
        block = slice(start, start + _BLOCK)
        columns = {name: values[block] for name, values in features.items()}
        _refuse_in_block(layout, items[block], columns)


def _refuse_in_block(layout: Layout, items: pd.Index, features: Mapping[str, np.ndarray]) -> None:
    rng, dims = np.random.default_rng(_SEED), tuple(layout.dims)
    formulas = [parent for outcome in layout.outcomes for parent in outcome.parents]
    terms = {id(term): term for formula in formulas for term in ancestry(formula)}
    values, finite = dict[int, np.ndarray](), dict[int, np.ndarray]()
    for key, term in terms.items():
        above = [id(parent) for parent in term.parents]
        if isinstance(term, MetaFeature | Latent | SubjectConstant):
            values[key] = _values(term, features, dims, rng)
        elif isinstance(term, Unseen) or not values.keys() >= set(above):
            continue  # it has an axis of places, which the items' values lack
        else:
            with np.errstate(all="ignore"):
                computed = term.compute(tuple(values[parent] for parent in above), dims)
            values[key] = np.asarray(computed, dtype=float)
        finite[key] = _is_finite(values[key], len(items), len(dims))
        if isinstance(term, MetaFeature | Constant):  # these may be infinite as declared
            continue
        of_parents = [finite[parent] for parent in above if parent in finite]
        bad = np.logical_and.reduce([~finite[key], *of_parents])
        if bad.any():
            _refuse_part(term, bad, items, features)


def _refuse_part(
    part: Expr, bad: np.ndarray, items: pd.Index, features: Mapping[str, np.ndarray]
) -> None:
    """Refuse items on which a part is not finite although its meta-features are defined."""
    read = [one for one in leaves(part) if isinstance(one, MetaFeature) and one.name in features]
    for feature in read:
        bad = bad & defined(feature, features, len(items))
    shown = []
    for row in np.flatnonzero(bad).tolist():
        values = {
            name: value
            for feature in read
            for name, value in zip(feature.columns, features[feature.name][[row]].flat, strict=True)
        }
        cells = some(f"{name} = {value:g}" for name, value in values.items())
        shown.append(f"{items[row]} ({cells})" if values else str(items[row]))
    if shown:
        raise DataError(
            f"{part} has no finite value on {len(shown)} item(s): {some(shown)}; "
            "correct or leave out the items, or declare a formula that is finite there"
        )


def _values(
    part: Expr,
    features: Mapping[str, np.ndarray],
    dims: tuple[str, ...],
    rng: np.random.Generator,
) -> np.ndarray:
    """Return a node's values as (points, items, *dims), with length one for axes it lacks."""
    if isinstance(part, MetaFeature) and part.name in features:
        values = align(features[part.name][None], part, dims, leading=1, per_item=True)
        return np.asarray(values)
    labels = (len(part.dims.get(dim, "1")) for dim in dims)
    return inside(part.range, (_POINTS, 1, *labels), rng)


def _is_finite(values: np.ndarray, items: int, dims: int) -> np.ndarray:
    """Return on which items the values of all labels are finite, at one point at least."""
    finite = np.isfinite(values).reshape((1,) * (2 + dims - values.ndim) + values.shape)
    at_some = finite.all(axis=tuple(range(2, 2 + dims))).any(axis=0)
    return np.broadcast_to(at_some, (items,))
