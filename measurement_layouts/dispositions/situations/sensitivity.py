"""Sensitivity of validation: scenarios with the advice of others, which should be rejected."""

import numpy as np
import pandas as pd

from ...annotation.inputs import read_named
from ...common.errors import AnnotationError
from ...common.options import whole
from ...common.proportions import newcombe
from .validation import rejection_rate


def shuffled_statements(scenarios: pd.DataFrame, *, size: int = 100, seed: int = 1) -> pd.DataFrame:
    """Combine each scenario of a random sample with a different advice, of another scenario.

    Give the result to `validation_sheet`, and validate it as the scenarios were validated.

    Parameters
    ----------
    scenarios : DataFrame
        Scenarios, indexed by name, with ``advice``.
    size : int, default 100
        Number of scenarios to draw; all are drawn if there are fewer.
    seed : int, default 1
        Seed of the sample and of the order.

    Returns
    -------
    DataFrame
        The sample with shuffled ``advice``, and ``advice_from``, the scenario of that advice.

    Raises
    ------
    AnnotationError
        When more than half of the sample have the same advice, or `scenarios` lacks a column or a
        text.

    References
    ----------
    Dispositions paper, Appendix B, which used 100 scenarios.

    Examples
    --------
    >>> scenarios = pd.DataFrame({"advice": ["Wait.", "Wait.", "Ask.", "Go."]}, index=list("abcd"))
    >>> shuffled_statements(scenarios)
             advice advice_from
    scenario
    a          Ask.           c
    b           Go.           d
    c         Wait.           a
    d         Wait.           b
    """
    named = read_named(scenarios, "scenario", ("advice",))
    random = np.random.default_rng(seed)
    drawn = named.iloc[random.permutation(len(named))[: whole("size", size, 1, AnnotationError)]]
    groups = drawn["advice"].str.strip().factorize()[0]
    largest = int(np.bincount(groups).max())
    if 2 * largest > len(groups):
        raise AnnotationError(
            f"{largest} of {len(groups)} scenarios have the advice {drawn['advice'].mode()[0]!r}; "
            "give scenarios of which at most half have the same advice"
        )
    source = derangement(groups, random)
    advice = drawn["advice"].to_numpy()[source]
    return drawn.assign(advice=advice, advice_from=drawn.index.to_numpy()[source])


def derangement(groups: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Permute positions at random so that no position gets an element of its own group.

    Positions are put in random order, group by group, and each gets the element that is as many
    positions before it as the largest group has. If no group has more than half of the positions,
    that one is of another group.

    Parameters
    ----------
    groups : ndarray of int
        Group of each position.
    random : numpy.random.Generator
        Random generator of the order.

    Returns
    -------
    ndarray of int
        Position from which each position gets its element.

    Examples
    --------
    >>> groups = np.array([0, 0, 1, 2])
    >>> given = derangement(groups, np.random.default_rng(1))
    >>> sorted(given.tolist()), (groups[given] == groups).any()
    ([0, 1, 2, 3], np.False_)
    """
    ranks = random.permutation(groups.max() + 1)
    order = random.permutation(len(groups))
    order = order[ranks[groups[order]].argsort(kind="stable")]
    source: np.ndarray = np.empty_like(order)
    source[order] = np.roll(order, np.bincount(groups).max())
    return source


def validation_sensitivity(
    matched: pd.DataFrame, shuffled: pd.DataFrame, *, prob: float = 0.9
) -> pd.DataFrame:
    r"""Compare the rejection rates of scenarios under their own and under shuffled advice.

    Careful annotators reject nearly all scenarios with shuffled advice; a few remain valid because
    the advice of another scenario fits by chance.

    Parameters
    ----------
    matched, shuffled : DataFrame
        Results of `validate_situations` for the scenarios and for `shuffled_statements`.
    prob : float, default 0.9
        Mass of the intervals.

    Returns
    -------
    DataFrame
        Rows ``matched``, ``shuffled`` and their ``difference``: ``scenarios``, ``rejected``,
        ``rate``, ``low`` and ``high``. Intervals are Wilson's, and for the difference Newcombe's,
        as if the scenarios of the two sets were different.

    Raises
    ------
    AnnotationError
        When a frame lacks the column ``verdict``, or `prob` is out of range.

    References
    ----------
    Dispositions paper, Appendix B, which reports 8 % of 2,576 and 87 % of 100. Newcombe (1998),
    Statistics in Medicine 17, 873-890, method 10.

    Examples
    --------
    >>> matched = pd.DataFrame({"verdict": ["kept"] * 2357 + ["rejected"] * 219})
    >>> shuffled = pd.DataFrame({"verdict": ["kept"] * 13 + ["rejected"] * 87})
    >>> validation_sensitivity(matched, shuffled).round(3)
                scenarios  rejected   rate    low   high
    matched          2576       219  0.085  0.076  0.094
    shuffled          100        87  0.870  0.805  0.916
    difference       <NA>      <NA>  0.785  0.719  0.831
    """
    verdicts = {"matched": matched, "shuffled": shuffled}
    rates = {name: rejection_rate(table, prob=prob) for name, table in verdicts.items()}
    table = pd.DataFrame(rates).T
    columns = ["rate", "low", "high"]
    pair = table.loc[["shuffled", "matched"], columns].to_numpy()
    table.loc["difference", columns] = newcombe(*pair)
    return table.astype({"scenarios": "Int64", "rejected": "Int64"})
