"""Sensitivity of validation: do annotators reject scenarios under the advice of others."""

import numpy as np
import pandas as pd

from ...annotation.inputs import read_named, whole
from ...annotation.resampling import difference
from ...common.errors import AnnotationError
from .validation import RATE, rejection_rate


def shuffled_statements(scenarios: pd.DataFrame, *, size: int = 100, seed: int = 1) -> pd.DataFrame:
    """Give a random sample of scenarios each the advice of another one, never its own.

    Lay the result out with `validation_sheet` and validate it as the scenarios were.

    Parameters
    ----------
    scenarios : DataFrame
        Indexed by scenario, with ``advice``.
    size : int, default 100
        Scenarios to draw; all where there are fewer.
    seed : int, default 1
        Of the sample and of the order.

    Returns
    -------
    DataFrame
        The sample, its ``advice`` shuffled, and the scenario it is ``advice_from``.

    Raises
    ------
    AnnotationError
        When more than half of the sample have one advice.

    References
    ----------
    Dispositions paper, Appendix B: 100 scenarios.

    Examples
    --------
    >>> scenarios = pd.DataFrame({"advice": ["Wait.", "Wait.", "Ask.", "Go."]}, index=list("abcd"))
    >>> shuffled_statements(scenarios)
             advice advice_from
    scenario
    a           Go.           d
    b          Ask.           c
    c         Wait.           a
    d         Wait.           b
    """
    named = read_named(scenarios, "scenario", ("advice",))
    random = np.random.default_rng(seed)
    drawn = named.iloc[random.permutation(len(named))[: whole("size", size)]]
    own = drawn["advice"].str.strip().factorize()[0]
    most = int(np.bincount(own).max())
    if 2 * most > len(own):
        raise AnnotationError(
            f"{most} of {len(own)} scenarios have the advice {drawn['advice'].mode()[0]!r}; give "
            "scenarios of which no more than half have one advice"
        )
    given = derangement(own, random)
    advice = drawn["advice"].to_numpy()[given]
    return drawn.assign(advice=advice, advice_from=drawn.index.to_numpy()[given])


def derangement(groups: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Permute places at random so that no place gets one of its own group.

    A place that got one swaps with a place of another group that got one of another group. As long
    as no group has more than half of the places there is such a place, and every swap settles one.

    Parameters
    ----------
    groups : ndarray of int
        Of each place.
    random : numpy.random.Generator
        Permutes and picks.

    Returns
    -------
    ndarray of int
        For each place, whence it gets.

    Examples
    --------
    >>> groups = np.array([0, 0, 1, 2])
    >>> given = derangement(groups, np.random.default_rng(1))
    >>> sorted(given.tolist()), (groups[given] == groups).any()
    ([0, 1, 2, 3], np.False_)
    """
    given = random.permutation(len(groups))
    for place in np.flatnonzero(groups[given] == groups):
        group = groups[place]
        if groups[given[place]] != group:
            continue  # an earlier swap settled it
        others = np.flatnonzero((groups != group) & (groups[given] != group))
        other = random.choice(others)
        given[[place, other]] = given[[other, place]]
    return given


def validation_sensitivity(
    matched: pd.DataFrame, shuffled: pd.DataFrame, *, prob: float = 0.9
) -> pd.DataFrame:
    r"""Compare the rejection rates of scenarios under their own and under shuffled advice.

    Annotators who attend to the task reject nearly all shuffled ones; a few remain valid because
    the advice of another scenario happens to fit.

    Parameters
    ----------
    matched, shuffled : DataFrame
        What `validate_situations` returns, for the scenarios and for `shuffled_statements`.
    prob : float, default 0.9
        Of the intervals.

    Returns
    -------
    DataFrame
        Rows ``matched``, ``shuffled`` and their ``difference``: ``scenarios``, ``rejected``,
        ``rate``, ``low`` and ``high``. Intervals are Wilson's, and Newcombe's of the difference, as
        if scenarios of the two sets were different ones.

    Raises
    ------
    AnnotationError
        When a frame or `prob` is not as it should be.

    References
    ----------
    Dispositions paper, Appendix B: 8 % of 2,576 and 87 % of 100. Newcombe (1998), Statistics in
    Medicine 17, 873-890, method 10.

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
    rates = {
        "matched": rejection_rate(matched, prob=prob),
        "shuffled": rejection_rate(shuffled, prob=prob),
    }
    one, two = ((rate["rate"], rate["low"], rate["high"]) for rate in rates.values())
    rates["difference"] = pd.Series(difference(two, one), RATE[2:])
    table = pd.DataFrame(rates).T[list(RATE)]
    return table.astype({"scenarios": "Int64", "rejected": "Int64"})
