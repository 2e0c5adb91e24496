"""Demands that do not vary independently of each other among the items."""

from itertools import combinations

import numpy as np
import pandas as pd

from ...common.findings import Finding
from ...common.messages import from_to, some

_STRONG = 0.9  # correlation of demands from which it is reported as a problem
_FOLLOWS = 100.0  # variance inflation from which a demand counts as following from others
_EXACT = 1e-12  # share of a column's variance that counts as rounding error
_REMEDY = "their effects cannot be told apart: add items that have one and not the other"


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
    centred = (values - values.mean()).to_numpy(dtype=float)
    scaled = centred / np.linalg.norm(centred, axis=0)
    factors = {}
    for position, name in enumerate(values.columns):
        others = np.delete(scaled, position, axis=1)
        weights = np.linalg.lstsq(others, scaled[:, position], rcond=None)[0]
        unexplained = float(((scaled[:, position] - others @ weights) ** 2).sum())
        factors[name] = 1 / unexplained if unexplained > _EXACT else np.inf
    return pd.Series(factors, dtype=float)


def about_demands(values: pd.DataFrame, factors: pd.Series) -> list[Finding]:
    """Report pairs of demands that are correlated, and demands that follow from several others.

    A pair is reported from a Pearson or Spearman correlation of .9; a demand that is in no such
    pair, from a variance inflation of 100. The pairs of two labelled demands are one finding.

    Parameters
    ----------
    values : DataFrame
        Items by demands that vary; NaN where undefined.
    factors : Series
        Variance inflation factors of the columns without NaN.

    Examples
    --------
    >>> size = np.array([1.0, 2.0, 4.0])
    >>> table = pd.DataFrame({"size": size, "distance": 2 * size + 1})
    >>> print(*about_demands(table, inflation(table)))
    size and distance are correlated (1.00); their effects cannot be told apart: add items ...
    """
    pearson, spearman = (values.corr(method).to_numpy() for method in ("pearson", "spearman"))
    strongest = np.where(abs(pearson) >= abs(spearman), pearson, spearman)
    pairs = dict[tuple[str, str], list[tuple[str, float]]]()
    paired = set[str]()
    for one, other in combinations(range(len(values.columns)), 2):
        if abs(strongest[one, other]) >= _STRONG:
            names = values.columns[one], values.columns[other]
            nodes = names[0].partition("[")[0], names[1].partition("[")[0]
            pairs.setdefault(nodes, []).append((" and ".join(names), strongest[one, other]))
            paired.update(names)
    findings = []
    for together in pairs.values():
        sizes = sorted(abs(r) for _, r in together)
        text = f"{some((pair for pair, _ in together), 3)} are correlated ({from_to(sizes)})"
        findings.append(Finding(together[0][0], "collinear", text, _REMEDY, sizes[-1]))
    follow = factors[factors >= _FOLLOWS].drop(list(paired), errors="ignore")
    if len(follow):
        text = (
            f"{some(follow.index)} follow from each other (variance inflation {follow.max():.3g})"
        )
        findings.append(Finding(str(follow.index[0]), "collinear", text, _REMEDY, follow.max()))
    return findings
