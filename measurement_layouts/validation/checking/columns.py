"""Columns of items that a layout reads: values, unusable cells, and the latents they inform."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...common.findings import Finding
from ...common.messages import labels_together
from ...evaluations.tables import name_cells, need_columns, read_numbers
from ...evaluations.words import no_numbers
from ...layouts import Layout, Measured, MetaFeature
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
    nodes, values = dict[str, MetaFeature | Measured](), dict[str, np.ndarray]()
    findings = list[Finding]()
    unusable = dict[str, dict[str, int]](missing={}, outside={})
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
        nodes |= dict.fromkeys(feature.columns, feature)
        values |= dict(zip(feature.columns, numbers.T, strict=True))
        for what, bad in (("missing", missing), ("outside", outside)):
            unusable[what] |= dict(zip(feature.columns, bad.sum(axis=0), strict=True))
    for node in layout.measured:
        chances = [[values.pop(name) for name in chance.columns] for chance in node.chances]
        means = np.tensordot(node.levels, chances, 1)
        nodes |= dict.fromkeys(node.columns, node)
        values |= dict(zip(node.columns, means, strict=True))
    if not usable.all():
        text = f"{(~usable).sum()} of {len(items)} items cannot be used"
        remedy = (
            "correct or drop them, widen the range where the node is declared, or declare with "
            "given= where it is undefined; the tables are about the other items"
        )
        findings.append(Finding("items", "unusable", text, remedy))
    frame = pd.DataFrame(values, index=items.index)
    facts = {
        "unit": [units.name(nodes[name].unit) for name in values],
        "declared_low": [nodes[name].range.low for name in values],
        "declared_high": [nodes[name].range.high for name in values],
        "low": frame.min(),
        "high": frame.max(),
        "distinct": frame.nunique(),
        **{what: [counts.get(name, 0) for name in values] for what, counts in unusable.items()},
    }
    return Columns(pd.DataFrame(facts, frame.columns), frame, usable, findings)


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
    inside = {id(formula): (formula, *ancestry(formula)) for formula in layout.parts}
    above = [parent for formula in layout.parts if _is_sum(formula) for parent in formula.parents]
    sums = {id(parent) for parent in above if _is_sum(parent)}
    meeting, names = set[int](), set[str]()
    for formula in layout.parts:  # parents before children
        features = {n.name for n in inside[id(formula)] if isinstance(n, MetaFeature | Measured)}
        if meeting & {id(parent) for parent in formula.parents}:
            meeting.add(id(formula))
        elif features and element.latent in inside[id(formula)] and id(formula) not in sums:
            meeting.add(id(formula))
            names |= features
    columns = list[str]()
    for feature in layout.properties:
        if feature.name not in names:
            continue
        if element.labels and feature.dims == element.latent.dims:
            columns.append(feature.columns[element.label_index])
        else:
            columns += feature.columns
    return columns


def _is_sum(formula: Expr) -> bool:
    while isinstance(formula, Derived):
        formula = formula.expression
    return isinstance(formula, Operation) and formula.symbol in ("+", "-")
