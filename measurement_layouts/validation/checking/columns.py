"""Columns of items that a layout reads: values, unusable cells, and the latents they inform."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...common.findings import Finding
from ...common.messages import labels_together
from ...evaluations.tables import name_cells, need_columns, read_numbers
from ...evaluations.words import no_numbers
from ...layouts import Latent, Layout, Measured, MetaFeature
from ...layouts.elements import Element
from ...layouts.nodes import Derived
from ...linking import Expr, units
from ...linking.evaluation import ancestry
from ...linking.expression import Operation

_ROUNDING = 1e-9  # rounding error that is allowed, as a fraction of a range


@dataclass(frozen=True, eq=False)
class Columns:
    """Meta-features as read from the items.

    Attributes
    ----------
    table : DataFrame
        One row per column; see `Check.features`. For a measured demand, of the expected level.
    values : DataFrame
        Items by columns; NaN where a meta-feature is undefined or missing.
    usable : ndarray of bool, shape (items,)
        Items on which every meta-feature is defined or needs no value, and in its range.
    findings : list of Finding
        Cells that a fit would refuse.
    """

    table: pd.DataFrame
    values: pd.DataFrame
    usable: np.ndarray
    findings: list[Finding]

    @property
    def varying(self) -> list[str]:
        """Names of the columns with more than one value."""
        return list(self.table.index[self.table["distinct"] > 1])


def read_columns(layout: Layout, items: pd.DataFrame) -> Columns:
    """Read the columns of a layout's meta-features, including unusable cells.

    Parameters
    ----------
    layout : Layout
        Layout that declares the meta-features.
    items : DataFrame
        Properties, indexed by item.

    Returns
    -------
    Columns
        Values, and problems.

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
    >>> columns = read_columns(layout, pd.DataFrame({"smallness": [0.1, None, 3.0]}))
    >>> columns.table[["distinct", "missing", "outside"]]
               distinct  missing  outside
    smallness         2        1        1
    """
    rows, values, findings = {}, {}, list[Finding]()
    usable = np.ones(len(items), dtype=bool)
    for feature in layout.meta_features:
        need_columns(items.columns, feature.columns, f"{feature.name}: the items have")
        there = np.ones(len(items), dtype=bool)
        if feature.given is not None:
            need_columns(items.columns, feature.given.columns, f"{feature.given}: the items have")
            there = read_numbers(items[list(feature.given.columns)])[0][:, 0] != 0
        cells = items[list(feature.columns)]
        numbers, foreign = read_numbers(cells)
        numbers = np.where(there[:, None], numbers, np.nan)
        missing, outside = there[:, None] & np.isnan(numbers), _outside(feature, numbers)
        texts, remark = no_numbers(cells, missing & foreign)
        for bad, what, more in (
            (missing & ~foreign, "is missing", ""),
            (texts, "is not a number", remark),
            (outside, f"is not in {_declared(feature)}", ""),
        ):
            if bad.any():
                names = labels_together(cells.columns[bad.any(axis=0)])
                count = f"{bad.any(axis=1).sum()} of {len(items)} items"
                where = name_cells(cells, bad, "{} ({} = {})") + more
                findings.append(Finding(names, "unusable", f"{names} {what} on {count}: {where}"))
        usable &= ~(missing | outside).any(axis=1)
        for position, column in enumerate(feature.columns):
            values[column] = numbers[:, position]
            counts = missing[:, position].sum(), outside[:, position].sum()
            rows[column] = _row(feature, values[column], *counts)
    for node in layout.measured:
        chances = [name for chance in node.chances for name in chance.columns]
        levels = np.repeat(node.levels, len(node.columns))
        weighted = [values.pop(name) * level for name, level in zip(chances, levels, strict=True)]
        rows = {name: row for name, row in rows.items() if name not in chances}
        means = np.reshape(weighted, (len(node.levels), len(node.columns), -1)).sum(axis=0)
        for name, mean in zip(node.columns, means, strict=True):
            values[name], rows[name] = mean, _row(node, mean, np.isnan(mean).sum(), 0)
    if not usable.all():
        text = f"{(~usable).sum()} of {len(items)} items cannot be used"
        remedy = (
            "correct or drop them, widen the range where the node is declared, or declare with "
            "given= where it is undefined; the tables are about the other items"
        )
        findings.append(Finding("items", "unusable", text, remedy))
    table = pd.DataFrame.from_dict(rows, orient="index", columns=_FACTS)
    return Columns(table, pd.DataFrame(values, index=items.index), usable, findings)


_FACTS = ["unit", "declared_low", "declared_high", "low", "high", "distinct", "missing", "outside"]


def _row(
    feature: MetaFeature | Measured, values: np.ndarray, missing: int, outside: int
) -> list[object]:
    """List the facts about a column."""
    there = values[~np.isnan(values)]
    ends = (there.min(), there.max()) if len(there) else (np.nan, np.nan)
    declared = units.name(feature.unit), feature.range.low, feature.range.high
    return [*declared, *ends, len(np.unique(there)), int(missing), int(outside)]


def _outside(feature: MetaFeature, values: np.ndarray) -> np.ndarray:
    if feature.levels is not None:
        near = np.isclose(values[..., None], np.array(feature.levels), rtol=1e-6, atol=_ROUNDING)
        return np.asarray(~near.any(axis=-1) & ~np.isnan(values))
    declared = feature.range
    slack = _ROUNDING * (declared.high - declared.low) if declared.is_finite else 0.0
    return np.asarray((values < declared.low - slack) | (values > declared.high + slack))


def _declared(feature: MetaFeature) -> str:
    if feature.levels is None:
        return f"its range {feature.range}"
    return f"its levels {', '.join(f'{level:g}' for level in feature.levels)}"


def informed_by(layout: Layout, element: Element) -> list[str]:
    """List the items' columns that a profile element is compared with in the formula.

    These are the meta-features of the smallest part of the formula that contains both the latent
    and a meta-feature; a sum counts as one part, in whatever order it is written. A latent on which
    another latent's prior depends has the columns of that other latent as well.

    Parameters
    ----------
    layout : Layout
        The layout.
    element : Element
        A profile element of the layout; of a labelled meta-feature only the element's label counts.

    Returns
    -------
    list of str
        Names of columns, in the order of the layout.

    Examples
    --------
    >>> from measurement_layouts.layouts.elements import elements
    >>> from measurement_layouts.scenarios import animal_ai_olympics as aaio
    >>> layout = aaio.published_layout()
    >>> {element.name: len(informed_by(layout, element)) for element in elements(layout)}
    {'navigationAbility': 3, 'rightLeftBias': 1, 'visualAbility': 1, 'noiseLevel': 4}
    """
    users: dict[int, list[Expr]] = {}
    for part in layout.parts:
        for parent in part.parents:
            users.setdefault(id(parent), []).append(part)
    opposed = _beside(element.latent, users)
    columns = list[str]()
    for feature in layout.properties:
        if feature.name in opposed:
            own_label = element.labels and feature.dims == element.latent.dims
            label = (
                slice(element.label_index, element.label_index + 1) if own_label else slice(None)
            )
            columns += feature.columns[label]
    return columns


def _beside(part: Expr, users: dict[int, list[Expr]]) -> set[str]:
    """Name the meta-features of the first parts above a part that contain some."""
    names: set[str] = set()
    for user in users.get(id(part), []):
        features = {n.name for n in ancestry(user) if isinstance(n, MetaFeature | Measured)}
        wider = any(_is_sum(user) and _is_sum(above) for above in users.get(id(user), []))
        climbs = isinstance(user, Latent) or not features or wider
        names |= _beside(user, users) if climbs else features
    return names


def _is_sum(part: Expr) -> bool:
    while isinstance(part, Derived):
        part = part.expression
    return isinstance(part, Operation) and part.symbol in ("+", "-")
