"""Errors of estimated abilities."""

import pandas as pd

NARROW = 2.0
"""Width of a 90 % interval, in levels, below which an ability counts as identified."""

_TOP = 5


def recovery(table: pd.DataFrame) -> pd.DataFrame:
    """Compare estimates with the truth, by battery and method.

    Parameters
    ----------
    table : DataFrame
        Result of `estimates.estimates`.

    Returns
    -------
    DataFrame
        Indexed by ``battery``, ``method`` and ``abilities``: ``all``; ``up to 5``, with a true
        value in the range of the levels; ``narrow``, with an interval of less than 2 levels, which
        can be seen without the truth. Columns as in `summary`.

    Notes
    -----
    The results are for the default sizes and ``seed=1``; Monte Carlo errors are 0.01 to 0.05 levels
    and 2 to 4 %.

    If an item demands one ability, curves and layouts have no bias, and their 90 % intervals
    contain 88 to 92 % of the true abilities. Curves of abilities above 5 depend on their anchor:
    their error is 0.45 levels, and that of abilities up to 5 is 0.13.

    On the correlated battery curves are 0.73 levels too low, and 16 % of their intervals contain
    the truth. They do reach their aims (91 %), which are 0.70 levels too low, so that more items
    would not help. The layout with a general level has no bias (0.01), a root mean square error of
    0.22, and 93 % of its intervals contain the truth. Its form is that of the outcomes, with slope
    and noise inferred, and its prior is right as well: abilities vary about a level. If abilities
    are independent and uniform from 2.5 to 5.5, estimates are shrunk towards that level (0.15 too
    high below level 4.5, 0.4 too low above, -0.03 over all), with an error of 0.45 and a coverage
    of 90 %; the curves are then 1.33 too low.

    The layout with separate abilities identifies half of the abilities (``narrow``: -0.05, 88 %).
    The others are only bounded from below: their means depend on the prior's range and are 1.7
    levels too high, and their chains do not converge in so few draws.
    """
    chosen = {
        "all": table,
        "up to 5": table[table["truth"] <= _TOP],
        "narrow": table[table["high"] - table["low"] < NARROW],
    }
    parts = {
        name: part.groupby(["battery", "method"]).apply(lambda rows: pd.Series(summary(rows)))
        for name, part in chosen.items()
    }
    found = pd.concat(parts, names=["abilities"])
    return found.reorder_levels(["battery", "method", "abilities"]).sort_index()


def by_dimension(table: pd.DataFrame) -> pd.DataFrame:
    """Compute the bias by dimension.

    Parameters
    ----------
    table : DataFrame
        Result of `estimates.estimates`.

    Returns
    -------
    DataFrame
        One row per dimension; by battery and method the mean error over subjects, in levels, and
        for curves also that of their aims.
    """
    miss = table["estimate"] - table["truth"]
    aims = (table["aim"] - table["truth"]).xs("curves", level="method", drop_level=False)
    both = pd.concat([miss, aims.rename(index={"curves": "curves without end"}, level="method")])
    means = both.groupby(["battery", "method", "dimension"], sort=False).mean()
    return means.unstack(["battery", "method"]).sort_index(axis=1)


def summary(table: pd.DataFrame) -> dict[str, float]:
    """Compute bias, error and coverage of estimates, with Monte Carlo errors.

    Parameters
    ----------
    table : DataFrame
        Estimates with ``subject`` in the index, and the columns of `estimates.layout_abilities`.

    Returns
    -------
    dict of str to float
        ``counted`` estimates, ``bias`` and ``rmse`` in levels, ``coverage`` of existing intervals
        and their mean ``width``; ``aim_bias`` and ``aim_coverage``, the same for the aims of the
        method; the largest ``rhat``. A subject's abilities are estimated together, so that the
        units of the errors ``bias_se`` and ``coverage_se`` are subjects.

    Examples
    --------
    >>> names = pd.Index(["Ann", "Bob"], name="subject")
    >>> ends = {"low": [2.0, 2.5], "high": [3.5, 4.0]}
    >>> guess = pd.DataFrame({"truth": 3.0, "aim": 3.0, "estimate": [2.8, 3.4], **ends}, names)
    >>> found = summary(guess)
    >>> round(found["bias"], 3), round(found["bias_se"], 3), found["coverage"]
    (0.1, 0.3, 1.0)
    """
    known = table[table["estimate"].notna()]
    miss = known["estimate"] - known["truth"]
    bounded = known[known["low"].notna()]
    inside = bounded["truth"].between(bounded["low"], bounded["high"]).astype(float)
    aimed = bounded["aim"].between(bounded["low"], bounded["high"])
    return {
        "counted": len(known),
        "bias": float(miss.mean()),
        "bias_se": mean_error(miss),
        "rmse": float((miss**2).mean() ** 0.5),
        "coverage": float(inside.mean()),
        "coverage_se": mean_error(inside),
        "width": float((bounded["high"] - bounded["low"]).mean()),
        "aim_bias": float((known["aim"] - known["truth"]).mean()),
        "aim_coverage": float(aimed.mean()),
        "rhat": float(known["rhat"].max()) if "rhat" in known else float("nan"),
    }


def mean_error(values: pd.Series) -> float:
    """Estimate the standard error of a mean over values that are dependent within subjects.

    Parameters
    ----------
    values : Series
        Values with ``subject`` in the index.

    Returns
    -------
    float
        Standard error; NaN with only one subject.

    Examples
    --------
    >>> names = pd.Index(["Ann", "Ann", "Bob", "Bob"], name="subject")
    >>> round(mean_error(pd.Series([1.0, 1.0, 0.0, 0.0], names)), 3)  # as of two values, 0 and 1
    0.5
    """
    sums = (values - values.mean()).groupby("subject").sum()
    size = len(sums)
    if size < 2:
        return float("nan")
    return float((sums**2).sum() ** 0.5 / len(values) * (size / (size - 1)) ** 0.5)
