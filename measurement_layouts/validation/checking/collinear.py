"""Demands that do not vary independently of each other among the items."""

from itertools import combinations

import numpy as np
import pandas as pd

from ...common.findings import Finding
from ...common.messages import from_to, some
from ...layouts import Layout
from ...layouts.opposed import opposed
from .columns import Columns

_STRONG = 0.9  # correlation of demands from which it is reported as a problem
_FOLLOWS = 100.0  # variance inflation from which a demand counts as following from others
_ROUNDING, _EXACT = 1e-12, 1e9  # eigenvalue that counts as 0, and inflation as infinite
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
    sizes, vectors = np.linalg.eigh(values.corr())
    factors = (vectors**2 / sizes.clip(_ROUNDING)).sum(axis=1)
    return pd.Series(np.where(factors < _EXACT, factors, np.inf), values.columns)


def collinear(layout: Layout, columns: Columns) -> tuple[pd.Series, list[Finding]]:
    """Report pairs of demands that are correlated, and demands that follow from several others.

    A pair is reported from a Pearson or Spearman correlation of .9; a demand that is in no such
    pair, from a variance inflation of 100. A chance of
    guessing, or a weight, has a known effect, and may go together with a demand.

    Parameters
    ----------
    layout : Layout
        The layout.
    columns : Columns
        Its columns of items.

    Returns
    -------
    factors : Series
        Variance inflation factors of the demands that vary and are nowhere undefined.
    findings : list of Finding
        Problems.

    Examples
    --------
    >>> from measurement_layouts.scenarios import animal_ai_olympics as aaio
    >>> from measurement_layouts.validation.checking.columns import read_columns
    >>> layout, items = aaio.published_layout(), aaio.simulated_cohort().evaluation.items
    >>> twin = items.assign(rewardSize=items["rewardDistance"] / 2)
    >>> print(*collinear(layout, read_columns(layout, twin))[1])
    rewardDistance and rewardSize are correlated (1.00); their effects cannot be told apart: ...
    """
    beside = [one for one in layout.meta_features if one.name not in opposed(layout)]
    values = columns.values[columns.usable]
    values = values.drop(columns=[name for one in beside for name in one.columns], errors="ignore")
    values = values.loc[:, values.nunique().to_numpy() > 1]
    values = values.loc[:, ~np.isinf(values.to_numpy()).any(axis=0)]
    factors = inflation(values.dropna(axis=1))
    pearson, spearman = (values.corr(method).to_numpy() for method in ("pearson", "spearman"))
    strongest = np.where(abs(pearson) >= abs(spearman), pearson, spearman)
    pairs = list[tuple[float, str, str]]()
    for one, other in combinations(range(len(values.columns)), 2):
        if (size := abs(strongest[one, other])) >= _STRONG:
            pairs.append((size, values.columns[one], values.columns[other]))
    findings = []
    if pairs:
        pairs.sort(key=lambda pair: -pair[0])
        text = f"{some((f'{one} and {other}' for _, one, other in pairs), 3)} are correlated"
        text += f" ({from_to(size for size, *_ in pairs)})"
        findings.append(
            Finding(" and ".join(pairs[0][1:]), "collinear", text, _REMEDY, pairs[0][0])
        )
    paired = {name for _, *names in pairs for name in names}
    follow = factors[factors >= _FOLLOWS].drop(list(paired), errors="ignore")
    if len(follow):
        text = (
            f"{some(follow.index)} follow from each other (variance inflation {follow.max():.3g})"
        )
        findings.append(Finding(str(follow.index[0]), "collinear", text, _REMEDY, follow.max()))
    return factors, findings
