"""Demands that go together over the items, and so cannot be told apart."""

import numpy as np
import pandas as pd

ALIKE = 0.7  # correlation from which a pair is listed
_EXACT = 1e-12  # part of a column's variance that is no more than rounding
_TINY = 1e-6  # part of a column's spread that is left out of a relation
COLUMNS = ["demands", "pearson", "spearman", "variance_inflation", "relation"]


def inflation(values: pd.DataFrame) -> pd.Series:
    r"""Compute variance inflation factors.

    .. math:: \mathrm{VIF}_k = \frac{1}{1 - R_k^2}

    with :math:`R_k^2` of the regression of a column on all others.

    Parameters
    ----------
    values : DataFrame
        Items by columns, all of them numbers that vary.

    Returns
    -------
    Series
        At least 1, by column; infinite where the others say it exactly.

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
    """Find columns that are sums of multiples of columns before them.

    Returns
    -------
    dict
        By column: the others in its relation, and the relation in words.

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
    """List pairs of columns that go together, and groups of which one follows from the others.

    Parameters
    ----------
    values : DataFrame
        Items by columns that vary; NaN where undefined.
    factors : Series
        Variance inflation by column.

    Returns
    -------
    DataFrame
        The strongest first: ``demands`` (names joined by commas), ``pearson`` and ``spearman``
        correlation of a pair (0.7 or more in either, over the items that have both; NaN for a
        group), the largest ``variance_inflation`` among them, and the ``relation``, where exact.

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
    for place, one in enumerate(names):
        for step, two in enumerate(names[place + 1 :]):
            other = place + 1 + step
            r, rank = pearson[place, other], spearman[place, other]
            if not max(abs(r), abs(rank)) >= ALIKE:
                continue
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
    """Centre columns, and give them length 1."""
    centred = values.to_numpy(dtype=float) - values.to_numpy(dtype=float).mean(axis=0)
    return np.asarray(centred / np.linalg.norm(centred, axis=0))


def _leftover(column: np.ndarray, others: np.ndarray) -> float:
    """Share of a column's variance that a regression on others leaves."""
    weights = np.linalg.lstsq(others, column, rcond=None)[0]
    return float(((column - others @ weights) ** 2).sum())


def _term(weight: float, name: str) -> str:
    size = "" if np.isclose(abs(weight), 1) else f"{abs(weight):.4g} x "
    return f"{'-' if weight < 0 else '+'} {size}{name}"
