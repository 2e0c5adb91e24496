"""Raters of the simulated study, and the scenarios that they judge."""

import numpy as np
import pandas as pd

from ...common.errors import DataError
from .traits import supports

RATERS = 550
_EAGERNESS = 4.0  # shape of the loads' gamma distribution: its coefficient of variation is 1/2


def rater_pool(rng: np.random.Generator) -> pd.DataFrame:
    """Draw the raters.

    Groups have their shares among the published ratings. Joint frequencies of attributes are not
    published; here attributes are independent.

    Parameters
    ----------
    rng : Generator
        Random generator of the attributes.

    Returns
    -------
    DataFrame
        550 raters, indexed by ``rater``: ``nationality``, ``age``, ``gender``.

    References
    ----------
    Dispositions paper, Table 2 and Appendix C.

    Examples
    --------
    >>> pool = rater_pool(np.random.default_rng(1))
    >>> pool["nationality"].value_counts().to_dict()
    {'US': 300, 'England': 212, 'Other': 38}
    """
    ratings = supports().groupby(["attribute", "group"], sort=False)["ratings"].sum()
    columns = {}
    for attribute in ratings.index.unique("attribute"):
        shares = ratings[attribute] / ratings[attribute].sum()
        ends = (RATERS * shares.cumsum()).round().astype(int)
        groups = np.repeat(shares.index.to_numpy(dtype=object), np.diff(ends, prepend=0))
        columns[attribute] = rng.permutation(groups)
    names = [f"rater-{place + 1:03d}" for place in range(RATERS)]
    return pd.DataFrame(columns, pd.Index(names, name="rater"))


def assigned(rng: np.random.Generator, scenarios: int, annotators: int) -> np.ndarray:
    """Assign different raters to each scenario; some raters judge more scenarios than others.

    Parameters
    ----------
    rng : Generator
        Random generator of loads and assignments.
    scenarios : int
        Number of scenarios.
    annotators : int
        Number of raters of each scenario, at most 550.

    Returns
    -------
    ndarray of int, shape (scenarios, annotators)
        Positions of the raters in the pool.

    Raises
    ------
    DataError
        When `annotators` is above 550.

    Examples
    --------
    >>> assigned(np.random.default_rng(1), scenarios=3, annotators=10).shape
    (3, 10)
    """
    if annotators > RATERS:
        raise DataError(f"annotators={annotators}; give at most {RATERS}, the number of raters")
    eagerness = rng.gamma(_EAGERNESS, size=RATERS)
    # a weighted sample without replacement, by the smallest of exponential waiting times
    arrival = rng.exponential(size=(scenarios, RATERS)) / eagerness
    places: np.ndarray = np.argsort(arrival, axis=1)[:, :annotators]
    return places
