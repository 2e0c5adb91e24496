"""Items on which a part of the formula has no finite value, such as the log of a demand of 0."""

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

_POINTS, _SEED = 16, 20231  # profiles; a value at one of them is enough
_BLOCK = 1024  # items at a time


def refuse_infinite(layout: Layout, items: pd.Index, features: Mapping[str, np.ndarray]) -> None:
    """Refuse items on which a part of the formula is infinite or undefined, for every profile.

    Parameters
    ----------
    layout : Layout
        Whose formula.
    items : Index
        Their names, for the message.
    features : mapping of str to ndarray
        By meta-feature, as read.

    Raises
    ------
    DataError
        Naming the part, the items and what they have. A part made of something infinite (an end of
        a band may be) is left alone, and so are items on which a meta-feature is undefined.

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
        _refuse_in(layout, items[block], {name: found[block] for name, found in features.items()})


def _refuse_in(layout: Layout, items: pd.Index, features: Mapping[str, np.ndarray]) -> None:
    rng = np.random.default_rng(_SEED)
    dims, parts = tuple(layout.dims), {}
    for leaf in layout.outcomes:
        for parent in leaf.parents:
            parts.update({id(part): part for part in ancestry(parent)})
    values, finite, made_of = dict[int, np.ndarray](), dict[int, np.ndarray](), _made_of(parts)
    for own, part in parts.items():
        if any(isinstance(one, Unseen) for one in made_of[own]):
            continue  # it has as many values as there are places
        if isinstance(part, MetaFeature | Latent | SubjectConstant):
            values[own] = _values(part, features, dims, rng)
        else:
            with np.errstate(all="ignore"):
                above = tuple(values[id(parent)] for parent in part.parents)
                values[own] = np.asarray(part.compute(above, dims), dtype=float)
        finite[own] = _is_finite(values[own], len(items), len(dims))
        above_finite = [finite[id(parent)] for parent in part.parents if id(parent) in finite]
        bad = np.logical_and.reduce([~finite[own], *above_finite])
        read = [one for one in made_of[own] if isinstance(one, MetaFeature)]
        for feature in read:
            if feature.given is not None:
                bad &= features[feature.given.name] != 0
        if bad.any() and not isinstance(part, MetaFeature | Constant):  # said as it is
            raise DataError(
                f"{part} has no finite value on {bad.sum()} item(s): "
                f"{some(_shown(int(row), items, read, features) for row in np.flatnonzero(bad))}; "
                "correct or drop the items, or declare a formula that has a value there"
            )


def _made_of(parts: Mapping[int, Expr]) -> dict[int, list[Expr]]:
    """Nodes that each part is computed from, by the part."""
    found = dict[int, list[Expr]]()
    for own, part in parts.items():
        above = [one for parent in part.parents for one in found.get(id(parent), [])]
        if isinstance(part, MetaFeature | Unseen):
            above = [part]
        found[own] = list({id(one): one for one in above}.values())
    return found


def _values(
    part: Expr,
    features: Mapping[str, np.ndarray],
    dims: tuple[str, ...],
    rng: np.random.Generator,
) -> np.ndarray:
    """Lay a node's values out as (points, items, *dims), of length one where it has no axis."""
    own = [dim in part.dims for dim in dims]
    if isinstance(part, MetaFeature):
        where = (None, slice(None), *(slice(None) if there else None for there in own))
        return features[str(part.name)][where]
    labels = (len(part.dims[dim]) if there else 1 for dim, there in zip(dims, own, strict=True))
    return inside(part.range, (_POINTS, 1, *labels), rng)


def _is_finite(values: np.ndarray, items: int, dims: int) -> np.ndarray:
    """Say on which items all labels have a value, at one point at least."""
    there = np.isfinite(values).reshape((1,) * (2 + dims - values.ndim) + values.shape)
    at_some = there.all(axis=tuple(range(2, 2 + dims))).any(axis=0)
    return np.broadcast_to(at_some, (items,)).copy()


def _shown(
    row: int, items: pd.Index, read: list[MetaFeature], features: Mapping[str, np.ndarray]
) -> str:
    cells = [
        f"{column} = {value:g}"
        for feature in read
        for column, value in zip(
            feature.columns, np.ravel(features[feature.name][row]), strict=True
        )
    ]
    return f"{items[row]} ({some(cells)})" if cells else str(items[row])
