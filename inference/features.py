"""Meta-features: from columns of items to arrays that a layout can compute with."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from ..layouts import Layout, MetaFeature, Node
from ..linking.arrays import Array
from .errors import DataError
from .wording import some

type Features = dict[str, np.ndarray]


def read_features(layout: Layout, items: pd.DataFrame) -> Features:
    """Read the layout's meta-features from the items' columns.

    Returns
    -------
    dict of str to ndarray
        By name, shape (items,) or (items, labels), float.

    Raises
    ------
    DataError
        When a column is missing or repeated, a value is no number, missing, infinite where the
        range is not, or not among the levels; columns and rows are named.
    """
    return {feature.name: _read(feature, items) for feature in layout.meta_features}


def outside_range(layout: Layout, features: Mapping[str, np.ndarray]) -> pd.DataFrame:
    """Say which items lie outside the declared range of which meta-feature.

    Returns
    -------
    DataFrame
        Boolean, one row per item in order, one column per meta-feature.
    """
    columns = {}
    for feature in layout.meta_features:
        values = features[feature.name]
        outside = (values < feature.range.low) | (values > feature.range.high)
        columns[feature.name] = outside.reshape(len(values), -1).any(axis=1)
    return pd.DataFrame(columns)


def check_training(layout: Layout, items: pd.DataFrame, features: Mapping[str, np.ndarray]) -> None:
    """Refuse items outside the declared ranges, and a property that never varies.

    Raises
    ------
    DataError
        Naming the meta-feature and the items.
    """
    outside = outside_range(layout, features)
    for feature in layout.meta_features:
        values = features[feature.name]
        if outside[feature.name].any():
            rows = items.index[outside[feature.name].to_numpy()]
            raise DataError(
                f"{feature.name}: {len(rows)} training item(s) lie outside its declared range "
                f"{feature.range}: {some(rows)}; widen the range where the node is declared, or leave "
                "those items out"
            )
        if np.ptp(values, axis=0).max() == 0 and np.isfinite(values).all():
            raise DataError(
                f"{feature.name} is {values.flat[0]:g} on all {len(items)} items: a property that "
                "never varies cannot tell what a subject owes to it; add items with other values, or "
                "leave the meta-feature out of the layout"
            )


def align(
    value: Array, node: Node, dims: tuple[str, ...], *, leading: int = 0, per_item: bool
) -> Array:
    """Lay a node's value out as ``(leading..., item, *dims)`` for `linking.evaluate`.

    Works on NumPy arrays and PyTensor variables alike.
    """
    own = node.label_dims
    order = sorted(own, key=dims.index)
    first = leading + per_item
    if order != list(own):
        axes = [*range(first), *(first + own.index(dim) for dim in order)]
        value = value.transpose(*axes)
    index = [slice(None)] * leading + [slice(None) if per_item else None]
    index += [slice(None) if dim in own else None for dim in dims]
    return value[tuple(index)]


def _read(feature: MetaFeature, items: pd.DataFrame) -> np.ndarray:
    missing = [column for column in feature.columns if column not in items.columns]
    if missing:
        raise DataError(
            f"{feature.name}: the items have no column {some(missing)}; their columns are "
            f"{some(items.columns, 12)}; rename one, or add it"
        )
    table = items[list(feature.columns)]
    if table.shape[1] != len(feature.columns):
        raise DataError(f"{feature.name}: a column of the items has this name twice; keep one")
    try:
        values = table.to_numpy(dtype=float)
    except (TypeError, ValueError) as error:
        raise DataError(
            f"{feature.name}: not all its values are numbers ({error}); code categories as numbers "
            "and declare them as levels="
        ) from error
    _refuse(
        np.isnan(values), feature, items, values, "is missing (NaN)", "fill it in, or drop the item"
    )
    infinite = ((values == np.inf) & np.isfinite(feature.range.high)) | (
        (values == -np.inf) & np.isfinite(feature.range.low)
    )
    _refuse(
        infinite, feature, items, values, "is infinite", "give a number, or declare an infinite end"
    )
    if feature.levels is not None:
        unknown = ~np.isclose(values[..., None], np.array(feature.levels), rtol=0, atol=1e-12).any(
            -1
        )
        levels = ", ".join(f"{level:g}" for level in feature.levels)
        _refuse(
            unknown,
            feature,
            items,
            values,
            f"is none of its levels {levels}",
            "correct the item, or declare the level",
        )
    return values if feature.labels is not None else values[:, 0]


def _refuse(
    bad: np.ndarray,
    feature: MetaFeature,
    items: pd.DataFrame,
    values: np.ndarray,
    what: str,
    remedy: str,
) -> None:
    if bad.any():
        cells = [
            f"{items.index[row]} ({feature.columns[column]} = {values[row, column]:g})"
            for row, column in np.argwhere(bad)
        ]
        raise DataError(f"{feature.name} {what} on {len(cells)} item(s): {some(cells)}; {remedy}")
