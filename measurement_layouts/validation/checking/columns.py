"""Columns of items that a layout reads: their values, the latents they inform, correlations."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd

from ...common.messages import labels_together
from ...evaluations.tables import name_cells, need_columns, read_numbers
from ...evaluations.words import no_numbers
from ...layouts import Latent, Layout, Measured, MetaFeature
from ...layouts.elements import Element
from ...layouts.nodes import Derived
from ...linking import Expr, units
from ...linking.evaluation import ancestry
from ...linking.expression import Operation

_FACTS = ["unit", "declared_low", "declared_high", "low", "high", "distinct", "missing", "outside"]
_FACTS += ["constant"]
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
    problems : list of str
        Problems that a fit would refuse, each with its remedy.
    """

    table: pd.DataFrame
    values: pd.DataFrame
    usable: np.ndarray
    problems: list[str]

    @property
    def varying(self) -> list[str]:
        """Names of the columns with more than one value."""
        return list(self.table.index[~self.table["constant"].astype(bool)])


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
        cells = items[list(feature.columns)]
        found, foreign = read_numbers(cells)
        found = np.where(there[:, None], found, np.nan)
        missing, outside = there[:, None] & np.isnan(found), _outside(feature, found)
        texts, remark = no_numbers(cells, missing & foreign)
        for bad, what, more in (
            (missing & ~foreign, "is missing", ""),
            (texts, "is not a number", remark),
            (outside, f"is not in {_declared(feature)}", ""),
        ):
            if bad.any():
                names = labels_together(cells.columns[bad.any(axis=0)])
                said = name_cells(cells, bad, "{} ({} = {})") + more
                count = bad.any(axis=1).sum()
                problems.append(f"{names} {what} on {count} of {len(items)} items: {said}")
        usable &= ~(missing | outside).any(axis=1)
        for place, column in enumerate(feature.columns):
            own = found[:, place]
            rows[column] = _row(feature, own, missing[:, place], outside[:, place])
            values[column] = own
    for node in layout.measured:
        levels = [values.pop(name) * level for name, level in _chances(node)]
        means = np.reshape(levels, (len(node.levels), len(node.columns), -1)).sum(axis=0)
        for name, _ in _chances(node):
            del rows[name]
        for name, mean in zip(node.columns, means, strict=True):
            values[name], none = mean, np.isnan(mean)
            rows[name] = _row(node, mean, none, np.zeros_like(none))
    if not usable.all():
        problems.append(
            f"{(~usable).sum()} of {len(items)} items cannot be used: correct or drop them, widen "
            "the range where the node is declared, or declare with given= where it is undefined; "
            "the tables are about the other items"
        )
    table = pd.DataFrame.from_dict(rows, orient="index", columns=_FACTS).rename_axis("column")
    return Columns(table, pd.DataFrame(values, index=items.index), usable, problems)


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


def _chances(node: Measured) -> list[tuple[str, float]]:
    """List the columns of a measured demand's probabilities, and the level of each."""
    each = zip(node.chances, node.levels, strict=True)
    return [(name, level) for chance, level in each for name in chance.columns]


def _row(
    feature: MetaFeature | Measured, values: np.ndarray, missing: np.ndarray, outside: np.ndarray
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
    met = _met(element.latent, users)
    return [
        column
        for feature in layout.properties
        if feature.name in met
        for column in _columns(feature, element)
    ]


def _met(part: Expr, users: dict[int, list[Expr]]) -> set[str]:
    """Go up from a part to the first parts that contain meta-features."""
    found: set[str] = set()
    for user in users.get(id(part), []):
        here = _features(user)
        wider = [above for above in users.get(id(user), []) if _is_sum(user) and _is_sum(above)]
        if isinstance(user, Latent) or not here or wider:
            found |= _met(user, users)
        else:
            found |= here
    return found


def _is_sum(part: Expr) -> bool:
    while isinstance(part, Derived):
        part = part.expression
    return isinstance(part, Operation) and part.symbol in ("+", "-")


def _features(part: Expr) -> set[str]:
    return {node.name for node in ancestry(part) if isinstance(node, MetaFeature | Measured)}


def _columns(feature: MetaFeature | Measured, element: Element) -> tuple[str, ...]:
    if element.labels and feature.dims == element.latent.dims:
        return (feature.columns[element.label_index],)
    return feature.columns


ALIKE = 0.7  # least correlation of a pair that is listed
_EXACT = 1e-12  # share of a column's variance that counts as rounding error
_TINY = 1e-6  # share of a column's spread below which a term is left out of a relation
COLUMNS = ["demands", "pearson", "spearman", "variance_inflation", "relation"]


def inflation(values: pd.DataFrame) -> pd.Series:
    r"""Compute variance inflation factors.

    .. math:: \mathrm{VIF}_k = \frac{1}{1 - R_k^2}

    where :math:`R_k^2` is that of the regression of a column on all others.

    Parameters
    ----------
    values : DataFrame
        Items by columns; all columns are numbers that vary.

    Returns
    -------
    Series
        Factors by column, at least 1; infinite where the others determine the column exactly.

    References
    ----------
    Belsley, D. A., Kuh, E. and Welsch, R. E. (1980), Regression Diagnostics, section 3.1.

    Examples
    --------
    >>> inflation(pd.DataFrame({"a": [0, 0, 1, 1], "b": [0, 1, 0, 1.0]})).tolist()
    [1.0, 1.0]
    """
    scaled = _scaled(values)
    found = {}
    for place, name in enumerate(values.columns):
        left = _leftover(scaled[:, place], np.delete(scaled, place, axis=1))
        found[name] = 1 / left if left > _EXACT else np.inf
    return pd.Series(found, dtype=float)


def relations(values: pd.DataFrame) -> dict[str, tuple[list[str], str]]:
    """Find columns that are linear combinations of columns before them.

    Returns
    -------
    dict
        By column: the others in its relation, and the relation as text.

    Examples
    --------
    >>> size = np.array([1.0, 2.0, 4.0])
    >>> relations(pd.DataFrame({"size": size, "distance": 2 * size + 1}))
    {'distance': (['size'], 'distance = 2 x size + 1 exactly')}
    """
    free, found = list[str](), dict[str, tuple[list[str], str]]()
    for name in values.columns:
        if _leftover(_scaled(values[[name]])[:, 0], _scaled(values[free])) > _EXACT:
            free.append(name)
            continue
        design = np.column_stack([values[free], np.ones(len(values))])
        weights = np.linalg.lstsq(design, values[name].to_numpy(), rcond=None)[0]
        shares = abs(weights) * np.append(values[free].std(), 1) / values[name].std()
        used = [place for place in range(len(free)) if shares[place] > _TINY]
        terms = [_term(weights[place], free[place]) for place in used]
        if shares[-1] > _TINY:
            terms.append(f"{weights[-1]:+.4g}".replace("+", "+ ").replace("-", "- "))
        said = " ".join(terms).removeprefix("+ ")
        found[name] = [free[place] for place in used], f"{name} = {said} exactly"
    return found


def collinear(values: pd.DataFrame, factors: pd.Series) -> pd.DataFrame:
    """List correlated pairs of columns, and groups in which one column follows from the others.

    Parameters
    ----------
    values : DataFrame
        Items by columns that vary; NaN where undefined.
    factors : Series
        Variance inflation factors by column.

    Returns
    -------
    DataFrame
        The strongest first: ``demands`` (names joined by commas), ``pearson`` and ``spearman``
        correlation of a pair (0.7 or more in either, over the items that have both; NaN for a
        group), the largest ``variance_inflation`` among them, and the ``relation``, if it is exact.

    Examples
    --------
    >>> size = np.array([1.0, 2.0, 4.0])
    >>> table = pd.DataFrame({"size": size, "distance": 2 * size + 1})
    >>> collinear(table, inflation(table))[["demands", "pearson", "relation"]]
              demands  pearson                         relation
    0  size, distance      1.0  distance = 2 x size + 1 exactly
    """
    exact = relations(values.dropna(axis=1))
    said = {frozenset([name, *others]): words for name, (others, words) in exact.items()}
    pearson, spearman = (values.corr(method).to_numpy() for method in ("pearson", "spearman"))
    names = list(values.columns)
    rows = []
    for place, other in combinations(range(len(names)), 2):
        one, two = names[place], names[other]
        r, rank = pearson[place, other], spearman[place, other]
        if max(abs(r), abs(rank)) >= ALIKE:
            worst = float(factors.reindex([one, two]).max())
            words = said.pop(frozenset([one, two]), "")
            rows.append((max(abs(r), abs(rank)), [f"{one}, {two}", r, rank, worst, words]))
    rows.sort(key=lambda row: -row[0])
    groups = [
        [", ".join(name for name in names if name in group), np.nan, np.nan, np.inf, words]
        for group, words in said.items()
    ]
    return pd.DataFrame([row for _, row in rows] + groups, columns=COLUMNS)


def _scaled(values: pd.DataFrame) -> np.ndarray:
    """Centre columns and scale them to length 1."""
    centred = values.to_numpy(dtype=float) - values.to_numpy(dtype=float).mean(axis=0)
    return np.asarray(centred / np.linalg.norm(centred, axis=0))


def _leftover(column: np.ndarray, others: np.ndarray) -> float:
    """Compute the share of a column's variance that a regression on others leaves."""
    weights = np.linalg.lstsq(others, column, rcond=None)[0]
    return float(((column - others @ weights) ** 2).sum())


def _term(weight: float, name: str) -> str:
    size = "" if np.isclose(abs(weight), 1) else f"{abs(weight):.4g} x "
    return f"{'-' if weight < 0 else '+'} {size}{name}"
