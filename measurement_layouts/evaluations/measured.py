"""Probabilities of measured levels, as columns of items."""

import numpy as np
import pandas as pd
import xarray as xr

from ..common.errors import DataError
from ..common.messages import many, some
from ..common.names import plain
from ..layouts.outcomes.measured import chance_name

_ROUNDING = 1e-6  # of probabilities that add up to 1
_DIMS = ("item", "dimension", "level")


def measured_columns(demands: xr.DataArray) -> pd.DataFrame:
    r"""Write probabilities of levels as columns of items, for a layout with `Measured` demands.

    Parameters
    ----------
    demands : DataArray
        Probabilities of levels, with the dimensions ``item``, ``dimension`` and ``level`` in any
        order, or without ``dimension`` for a demand without labels. All dimensions need
        coordinates, and levels must be numbers. The name of the array is the name of the demand.

    Returns
    -------
    DataFrame
        One row per item, and one column for each level and label with a name such as ``demand
        3[reading]``: the probability that the item has this level on this dimension. Probabilities
        add up to 1 over levels.

    Raises
    ------
    DataError
        When `demands` is something else, the array has other dimensions, no name or no coordinates,
        items repeat, or the probabilities of an item on a dimension are missing, negative, or do
        not add up to 1.

    Examples
    --------
    >>> coordinates = {"item": ["a", "b"], "dimension": ["reading"], "level": [0, 1]}
    >>> demands = xr.DataArray([[[0.8, 0.2]], [[0.1, 0.9]]], coordinates, name="demand")
    >>> measured_columns(demands)
          demand 0[reading]  demand 1[reading]
    item
    a                   0.8                0.2
    b                   0.1                0.9
    """
    _refuse_others(demands)
    labelled = "dimension" in demands.dims
    table = demands.transpose("item", *_DIMS[1 if labelled else 2 :])
    items = pd.Index([plain(str(item)) for item in table["item"].values], name="item")
    if not items.is_unique:
        twice = some(items[items.duplicated()].unique())
        raise DataError(f"{demands.name}: the items {twice} occur twice; give each once")
    labels = [plain(str(label)) for label in table["dimension"].values] if labelled else [""]
    values = np.asarray(table.values, dtype=float).reshape(len(items), len(labels), -1)
    totals = values.sum(axis=2)
    bad = ~(np.isfinite(values) & (values >= 0)).all(axis=2) | ~(abs(totals - 1) <= _ROUNDING)
    if bad.any():
        cells = [
            f"{items[row]}{f' on {labels[at]}' if labelled else ''} ({values[row, at].tolist()})"
            for row, at in np.argwhere(bad)
        ]
        raise DataError(
            f"{demands.name}: the probabilities of the levels are missing, negative or do not add "
            f"up to 1 in {len(cells)} cell(s): {some(cells, 3)}; correct them, or leave the items "
            "out"
        )
    values = values / totals[:, :, None]
    columns = {
        f"{chance_name(str(demands.name), float(level))}{f'[{label}]' if labelled else ''}": values[
            :, at, place
        ]
        for place, level in enumerate(table["level"].values)
        for at, label in enumerate(labels)
    }
    return pd.DataFrame(columns, index=items)


def with_levels(items: pd.DataFrame, demands: xr.DataArray) -> pd.DataFrame:
    """Put probabilities of levels among the items' columns; see `Evaluation.with_measured`."""
    columns = measured_columns(demands)
    missing = items.index.difference(columns.index, sort=False)
    if len(missing):
        raise DataError(
            f"{demands.name}: {many(len(missing), 'item')} of the evaluation have no "
            f"probabilities of levels: {some(missing)}; add them, or leave the items out with "
            "evaluation.select(items=...)"
        )
    others = items.drop(columns=columns.columns, errors="ignore")
    return pd.concat([others, columns.loc[items.index]], axis=1)


def _refuse_others(demands: object) -> None:
    """Refuse objects that are not arrays of probabilities of levels."""
    if not isinstance(demands, xr.DataArray):
        raise DataError(
            f"measured demands are a {type(demands).__name__}; give an xarray.DataArray of "
            f"probabilities with the dimensions {', '.join(_DIMS)}, as Ratings.demands() makes it"
        )
    if set(demands.dims) not in (set(_DIMS), {"item", "level"}):
        raise DataError(
            f"measured demands have the dimensions {', '.join(map(str, demands.dims))}; give "
            f"{', '.join(_DIMS)}, or item and level for a demand without labels"
        )
    if demands.name is None:
        raise DataError(
            "measured demands have no name, which must be that of a demand of the layout; name "
            "the array, as in demands.rename('demand')"
        )
    bare = [str(dim) for dim in demands.dims if dim not in demands.coords]
    if bare or not np.issubdtype(demands["level"].dtype, np.number):
        raise DataError(
            f"{demands.name}: {some(bare) or 'level'} has no names or numbers; give coordinates: "
            "names of the items, labels of the dimensions, and the levels as numbers"
        )
