"""The items' columns that a layout reads: what they hold beside what is declared."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...evaluations.tables import name_cells, need_columns, read_numbers
from ...layouts import Layout, MetaFeature
from ...linking import units

_FACTS = ["unit", "declared_low", "declared_high", "low", "high", "distinct", "missing", "outside"]
_FACTS += ["constant"]
_ROUNDING = 1e-9  # part of a range that computing a value may have cost


@dataclass(frozen=True, eq=False)
class Columns:
    """Meta-features as they are in the items.

    Attributes
    ----------
    table : DataFrame
        One row per column; see `Check.features`.
    values : DataFrame
        Items by columns; NaN where a meta-feature is undefined or missing.
    usable : ndarray of bool, shape (items,)
        Items on which every meta-feature is defined or needs no value, and in its range.
    problems : list of str
        What a fit would refuse, with the remedy.
    """

    table: pd.DataFrame
    values: pd.DataFrame
    usable: np.ndarray
    problems: list[str]

    @property
    def varying(self) -> list[str]:
        """Columns with more than one value."""
        return list(self.table.index[~self.table["constant"].astype(bool)])


def read_columns(layout: Layout, items: pd.DataFrame) -> Columns:
    """Read the columns of a layout's meta-features, bad cells and all.

    Parameters
    ----------
    layout : Layout
        What declares them.
    items : DataFrame
        Indexed by item.

    Returns
    -------
    Columns
        What they hold.

    Raises
    ------
    DataError
        When a column is missing or repeated.

    Examples
    --------
    >>> from measurement_layouts import Capability, Success
    >>> from measurement_layouts.linking import logistic
    >>> smallness = MetaFeature("smallness", low=0, high=2)
    >>> layout = Layout("looking", Success("found", logistic(Capability("s", 0, 2) - smallness)))
    >>> found = read_columns(layout, pd.DataFrame({"smallness": [0.1, None, 3.0]}))
    >>> found.table[["distinct", "missing", "outside"]]
               distinct  missing  outside
    column
    smallness         2        1        1
    """
    rows, values, problems = {}, {}, list[str]()
    usable = np.ones(len(items), dtype=bool)
    for feature in layout.meta_features:
        need_columns(items.columns, feature.columns, f"{feature.name}: the items have")
        there = np.ones(len(items), dtype=bool)
        if feature.given is not None:
            need_columns(items.columns, feature.given.columns, f"{feature.given}: the items have")
            there = read_numbers(items[list(feature.given.columns)])[0][:, 0] != 0
        for column in feature.columns:
            cells = items[[column]]
            found, foreign = (part[:, 0] for part in read_numbers(cells))
            found = np.where(there, found, np.nan)
            missing, outside = there & np.isnan(found), _outside(feature, found)
            for bad, what in (
                (missing & ~foreign, "is missing"),
                (missing & foreign, "is no number"),
                (outside, f"is not in {_declared(feature)}"),
            ):
                if bad.any():
                    said = name_cells(cells, bad[:, None], "{} ({} = {})")
                    problems.append(f"{column} {what} on {bad.sum()} of {len(items)} items: {said}")
            usable &= ~missing & ~outside
            rows[column] = _row(feature, found, missing, outside)
            values[column] = found
    if not usable.all():
        problems.append(
            f"{(~usable).sum()} of {len(items)} items cannot be used: correct or drop them, widen "
            "the range where the node is declared, or say with given= where it is undefined; all "
            "below is of the others"
        )
    table = pd.DataFrame.from_dict(rows, orient="index", columns=_FACTS).rename_axis("column")
    return Columns(table, pd.DataFrame(values, index=items.index), usable, problems)


def _outside(feature: MetaFeature, values: np.ndarray) -> np.ndarray:
    if feature.levels is not None:
        near = np.isclose(values[:, None], np.array(feature.levels), rtol=1e-6, atol=_ROUNDING)
        return np.asarray(~near.any(axis=1) & ~np.isnan(values))
    declared = feature.range
    slack = _ROUNDING * (declared.high - declared.low) if declared.is_finite else 0.0
    return np.asarray((values < declared.low - slack) | (values > declared.high + slack))


def _declared(feature: MetaFeature) -> str:
    if feature.levels is None:
        return f"its range {feature.range}"
    return f"its levels {', '.join(f'{level:g}' for level in feature.levels)}"


def _row(
    feature: MetaFeature, values: np.ndarray, missing: np.ndarray, outside: np.ndarray
) -> dict[str, object]:
    known = values[~np.isnan(values)]
    return {
        "unit": units.name(feature.unit),
        "declared_low": feature.range.low,
        "declared_high": feature.range.high,
        "low": known.min(initial=np.inf) if len(known) else np.nan,
        "high": known.max(initial=-np.inf) if len(known) else np.nan,
        "distinct": len(np.unique(known)),
        "missing": int(missing.sum()),
        "outside": int(outside.sum()),
        "constant": len(np.unique(known)) <= 1,
    }
