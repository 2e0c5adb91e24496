"""The people of the simulated study: who they are, and which scenarios they judge."""

import numpy as np
import pandas as pd

from ...common.errors import DataError
from .traits import supports

RATERS = 550
_EAGERNESS = 4.0  # shape of the loads' gamma distribution: its coefficient of variation is 1/2


def rater_pool(rng: np.random.Generator) -> pd.DataFrame:
    """Draw the raters.

    Groups have the shares that they have among the published ratings. How the attributes go
    together is not published; here they are independent.

    Parameters
    ----------
    rng : Generator
        Decides who has which attributes.

    Returns
    -------
    DataFrame
        550 rows, indexed by ``rater``: ``nationality``, ``age``, ``gender``.

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
    """Assign different raters to each scenario; some take on more scenarios than others.

    Parameters
    ----------
    rng : Generator
        Decides loads and assignments.
    scenarios : int
        How many there are.
    annotators : int
        Raters of each, at most 550.

    Returns
    -------
    ndarray of int
        Places in the pool, shape (scenarios, annotators).

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
        raise DataError(f"annotators={annotators}; there are {RATERS} raters: give at most so many")
    eagerness = rng.gamma(_EAGERNESS, size=RATERS)
    # the first to arrive, where everybody comes at their own rate: weighted, without replacement
    arrival = rng.exponential(size=(scenarios, RATERS)) / eagerness
    places: np.ndarray = np.argsort(arrival, axis=1)[:, :annotators]
    return places
