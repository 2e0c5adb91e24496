"""Levels of one rater, whose reliability is stated instead of measured."""

from collections.abc import Mapping, Sequence

import pandas as pd
import xarray as xr

from ..common.errors import AnnotationError
from .ratings import Ratings
from .rubric import DEMAND_LEVELS

_ONE = "rater"


def stated_reliability(
    table: pd.DataFrame,
    *,
    reliability: "float | Mapping[str, float]",
    levels: Sequence[float] = DEMAND_LEVELS,
    seed: int = 1,
) -> xr.DataArray:
    r"""Turn the levels of one rater, whose reliability is stated, into chances of true levels.

    .. math:: \frac{\mathrm{Var}(t)}{\mathrm{Var}(y)} = \text{reliability}, \qquad
       t_i = E[y_i \mid z_i], \quad z_i \sim N(0, 1)

    This is the model of `RaterModel` with one rater: its levels are right on average, and its noise
    leaves the stated share of their variance to the truth.

    Parameters
    ----------
    table : DataFrame
        Levels, one row per item and one column per dimension; ``demand[code]`` is the dimension
        ``code``. A missing level gives the chances of any item.
    reliability : float or mapping of str to float
        Between 0 and 1; one for all dimensions, or by dimension.
    levels : sequence of float, default 0 to 5
        Of the rubrics, ascending.
    seed : int, default 1
        Of the draws.

    Returns
    -------
    DataArray
        ``demand``: chances, with the dims item, dimension and level; sums over level are 1.

    Raises
    ------
    AnnotationError
        When a reliability is out of range or missing, or a cell holds something that is no level.

    References
    ----------
    Lord and Novick (1968), Statistical Theories of Mental Test Scores, chapter 3: reliability.

    Examples
    --------
    >>> table = pd.DataFrame({"planning": [0, 1, 1, 2, 2, 2, 3, 3, 4]}, index=list("abcdefghi"))
    >>> demands = stated_reliability(table, reliability=0.6)
    >>> demands.sel(item="i", dimension="planning").round(1).values.tolist()
    [0.0, 0.0, 0.2, 0.5, 0.3, 0.0]
    """
    ratings = Ratings.from_wide({_ONE: table}, levels=levels)
    wrong = ratings.problems[ratings.problems["found"] != ""]
    if len(wrong):
        first = wrong.iloc[0]
        raise AnnotationError(
            f"column {first['column']!r}, item {first['item']!r}: {first['found']!r} is no level; "
            f"give one of {', '.join(f'{level:g}' for level in ratings.levels)}, or leave it empty"
        )
    return ratings.demands(reliability={_ONE: reliability}, seed=seed)
